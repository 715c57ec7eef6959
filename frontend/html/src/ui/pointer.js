// SPDX-License-Identifier: GPL-2.0-or-later
// pointer.js - what a mouse does on the timeline: the wheel zooms, a drag selects, with shift it moves.

const STEP = 1.2; // of a notch of a wheel
const NOTCH = 100;
const STILL = 4; // pixels that a click may move

export class Pointer {
	constructor(view, painter) {
		this.view = view;
		this.painter = painter;
		this.drag = null;
	}

	attach(canvas) {
		const on = (type, handle) =>
			canvas.addEventListener(type, (event) => handle.call(this, event), { passive: false });
		on("wheel", this.wheel);
		on("pointerdown", this.down);
		on("pointermove", this.move);
		on("pointerup", this.up);
		on("pointerleave", () => (this.view.hover.value = null));
		on("dblclick", this.double);
	}

	wheel(event) {
		event.preventDefault();
		const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? NOTCH / 3 : 1,
			{ width } = this.view.size.value;
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			this.view.pan(((event.deltaX || event.deltaY) * unit) / width);
			return;
		}
		const { time } = this.painter.find(event.offsetX, 0);
		this.view.zoom(STEP ** ((event.deltaY * unit) / NOTCH), time);
	}

	down(event) {
		if (event.button > 1) return;
		event.preventDefault();
		event.currentTarget.focus();
		event.currentTarget.setPointerCapture(event.pointerId);
		const found = this.painter.find(event.offsetX, event.offsetY);
		const moves = event.shiftKey || event.button === 1;
		this.drag = { x: event.offsetX, y: event.offsetY, found, moves, range: this.view.range.value, far: false };
	}

	move(event) {
		const { drag } = this;
		if (!drag) {
			const { hit } = this.painter.find(event.offsetX, event.offsetY);
			this.view.hover.value = hit && { ...hit, x: event.clientX, y: event.clientY };
			return;
		}
		drag.far ||= Math.abs(event.offsetX - drag.x) > STILL;
		if (!drag.far) return;
		this.view.hover.value = null;
		if (drag.moves) this.shift(event.offsetX);
		else this.select(this.painter.find(event.offsetX, event.offsetY), event.offsetY);
	}

	shift(x) {
		const { from, to } = this.drag.range,
			by = ((this.drag.x - x) / this.view.size.value.width) * (to - from);
		this.view.show(from + by, to + by);
	}

	// From the axis it goes through all rows.
	select(found, y) {
		const { drag, view } = this;
		const [from, to] = [drag.found.time, found.time].sort((a, b) => a - b);
		const [top, bottom] = [this.rowY(drag.y), this.rowY(y)].sort((a, b) => a - b);
		const rows = drag.found.onAxis
			? null
			: view.layout.value.shown
					.filter((one) => one.row && one.y < bottom + 1 && one.y + one.height > top)
					.map((one) => one.row);
		view.selection.value = {
			from: Math.max(from, 0),
			to: Math.min(to, view.trace.length),
			rows: rows?.length ? rows : null,
		};
		if (view.panel.value === "details") view.panel.value = "statistics";
	}

	rowY(y) {
		return y - (this.painter.canvas.clientHeight - this.view.size.value.height) + this.view.scroll.value;
	}

	up() {
		const { drag, view } = this;
		this.drag = null;
		if (!drag || drag.far) return;
		if (drag.found.hit) view.pick(drag.found.hit.row, drag.found.hit.lane, drag.found.hit.i);
		else {
			view.picked.value = null;
			view.selection.value = null;
		}
	}

	double() {
		if (this.view.picked.value) this.view.zoomToPicked();
	}
}
