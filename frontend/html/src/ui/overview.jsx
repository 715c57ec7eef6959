// SPDX-License-Identifier: GPL-2.0-or-later
// overview.jsx - how many records there are over the whole time, and which part of it is seen.
import { useEffect, useRef } from "preact/hooks";

function paint(canvas, counts, theme) {
	const { clientWidth: width, clientHeight: height } = canvas;
	canvas.width = width;
	canvas.height = height;
	const ctx = canvas.getContext("2d"),
		sums = new Float64Array(width);
	counts.forEach((n, i) => (sums[Math.min(width - 1, Math.floor((i / counts.length) * width))] += n));
	const most = sums.reduce((a, b) => Math.max(a, b), 1);
	ctx.fillStyle = theme.accent;
	ctx.globalAlpha = 0.55;
	sums.forEach((n, x) => {
		const h = n && Math.max(1, Math.sqrt(n / most) * (height - 4));
		ctx.fillRect(x, height - h, 1, h);
	});
}

export function Overview({ view, theme }) {
	const canvas = useRef(),
		drag = useRef(null);
	useEffect(() => {
		const again = () => paint(canvas.current, view.trace.overview, theme);
		again();
		addEventListener("resize", again);
		theme.onChange(again);
	}, []);
	const { extent } = view.trace,
		{ from, to } = view.range.value;
	const timeAt = (event) => {
		const box = canvas.current.getBoundingClientRect();
		return ((event.clientX - box.left) / box.width) * extent;
	};
	const centre = (time) => {
		const { from, to } = view.range.value;
		view.show(time - (to - from) / 2, time + (to - from) / 2);
	};
	const down = (event) => {
		event.currentTarget.setPointerCapture(event.pointerId);
		const at = timeAt(event);
		drag.current = at >= from && at <= to ? at - (from + to) / 2 : 0;
		centre(at - drag.current);
	};
	const move = (event) => drag.current !== null && centre(timeAt(event) - drag.current);
	const up = () => (drag.current = null);
	const style = { left: `${(from / extent) * 100}%`, width: `max(3px, ${((to - from) / extent) * 100}%)` };
	return (
		<div class="overview" onPointerDown={down} onPointerMove={move} onPointerUp={up}>
			<canvas ref={canvas} aria-hidden="true" />
			<div class="window" style={style} />
		</div>
	);
}
