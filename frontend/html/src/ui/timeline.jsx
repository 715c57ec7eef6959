// SPDX-License-Identifier: GPL-2.0-or-later
// timeline.jsx - the rows with their labels, and what is told of what the mouse is on.
import { useEffect, useRef } from "preact/hooks";
import { describe } from "../rows.js";
import { Pointer } from "./pointer.js";

function Label({ entry, view }) {
	const style = { transform: `translateY(${entry.y}px)`, height: `${entry.height}px` };
	if (entry.section)
		return (
			<div class="label section" style={style}>
				{entry.section}
			</div>
		);
	const { row, group } = entry;
	if (!row.head)
		return (
			<div class="label" style={style}>
				<span title={row.label}>{row.label}</span>
			</div>
		);
	const open = view.open.value.has(group.id);
	return (
		<button
			class="label head"
			style={style}
			aria-expanded={open}
			onClick={() => view.toggle(group.id)}
			title={group.label}
		>
			<span class="arrow">{open ? "\u25be" : "\u25b8"}</span>
			<span>{group.label}</span>
		</button>
	);
}

function Labels({ view }) {
	const scroll = view.scroll.value,
		{ height } = view.size.value;
	const shown = view.layout.value.shown.filter((one) => one.y + one.height >= scroll && one.y <= scroll + height);
	const wheel = (event) => {
		event.preventDefault();
		view.scrollBy(event.deltaY);
	};
	return (
		<div class="labels" onWheel={wheel}>
			<div style={{ transform: `translateY(${-scroll}px)` }}>
				{shown.map((entry) => (
					<Label key={`${entry.group?.id} ${entry.y}`} entry={entry} view={view} />
				))}
			</div>
		</div>
	);
}

// A scroll bar as the browser has them.
function ScrollBar({ view }) {
	const ref = useRef();
	useEffect(() => {
		if (Math.abs(ref.current.scrollTop - view.scroll.value) > 1) ref.current.scrollTop = view.scroll.value;
	});
	const scrolled = () => {
		view.scroll.value = ref.current.scrollTop;
	};
	return (
		<div class="scrollbar" ref={ref} onScroll={scrolled} tabIndex={-1}>
			<div style={{ height: `${view.layout.value.height}px` }} />
		</div>
	);
}

function Tip({ view }) {
	const hover = view.hover.value;
	if (!hover) return null;
	const left = hover.x > innerWidth - 320,
		up = hover.y > innerHeight - 80;
	const style = {
		[left ? "right" : "left"]: `${(left ? innerWidth - hover.x : hover.x) + 12}px`,
		[up ? "bottom" : "top"]: `${(up ? innerHeight - hover.y : hover.y) + 14}px`,
	};
	return (
		<div class="tip" style={style}>
			{describe(view.trace, hover.row, hover.lane, hover.i)}
		</div>
	);
}

export function Timeline({ view, painter }) {
	const canvas = useRef();
	useEffect(() => {
		new Pointer(view, painter).attach(canvas.current);
		return painter.attach(canvas.current);
	}, []);
	return (
		<main class="timeline">
			<div class="corner">{view.trace.about.clock ? `clock ${view.trace.about.clock}` : ""}</div>
			<Labels view={view} />
			<div class="canvas">
				<canvas ref={canvas} tabIndex={0} aria-label="Timeline: W and S zoom, A and D move, ? lists all keys" />
			</div>
			<ScrollBar view={view} />
			<Tip view={view} />
		</main>
	);
}
