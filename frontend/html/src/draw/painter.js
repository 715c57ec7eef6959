// SPDX-License-Identifier: GPL-2.0-or-later
// painter.js - the canvas of the timeline, drawn anew, once for each frame at most, when something that it
// shows has changed.
import { effect } from "@preact/signals";
import { COUNTER, LANE, SLICES, sliceName, tickName } from "../rows.js";
import { axisMarks } from "./axis.js";
import { Columns, drawLane } from "./lanes.js";
import { drawCounter, drawTicks } from "./ticks.js";

const FONT = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const SMALL = "11px system-ui, 'DejaVu Sans', sans-serif";
const AXIS = 26; // pixels, above the rows

export class Painter {
	constructor(view, search, theme) {
		this.view = view;
		this.search = search;
		this.theme = theme;
		this.canvas = null;
		this.asked = 0;
		this.columns = new Columns();
		theme.onChange(() => this.ask());
	}

	// From now on on this one, which has as much room as its parent.
	attach(canvas) {
		this.canvas = canvas;
		this.ctx = canvas.getContext("2d", { alpha: false });
		const observer = new ResizeObserver(() => this.resize());
		observer.observe(canvas.parentElement);
		this.resize();
		const stop = effect(() => {
			const { view } = this;
			for (const signal of [
				view.range,
				view.scroll,
				view.size,
				view.layout,
				view.selection,
				view.picked,
				view.hover,
			])
				signal.value;
			this.search.wanted.value;
			this.ask();
		});
		return () => {
			stop();
			observer.disconnect();
		};
	}

	resize() {
		const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
		const ratio = devicePixelRatio || 1;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.ratio = ratio;
		this.view.size.value = { width, height: height - AXIS };
		this.view.scrollBy(0);
		this.paint();
	}

	ask() {
		this.asked ||= requestAnimationFrame(() => this.paint());
	}

	paint() {
		const { ctx, view, theme } = this;
		cancelAnimationFrame(this.asked);
		this.asked = 0;
		this.width = view.size.peek().width;
		this.height = view.size.peek().height;
		this.range = { ...view.range.peek(), width: this.width };
		ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		ctx.fillStyle = theme.back;
		ctx.fillRect(0, 0, this.width, this.height + AXIS);
		this.marks = axisMarks(view.trace.about, this.range, this.width);
		this.paintRows();
		this.paintSelection();
		this.paintAxis();
	}

	paintRows() {
		const { ctx, view, theme } = this,
			scroll = view.scroll.peek();
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, AXIS, this.width, this.height);
		ctx.clip();
		ctx.translate(0, AXIS - scroll);
		ctx.fillStyle = theme.line;
		for (const { x } of this.marks.marks) ctx.fillRect(Math.round(x), scroll, 1, this.height);
		ctx.font = FONT;
		this.charWidth ??= ctx.measureText("0").width;
		for (const entry of view.layout.peek().shown)
			if (entry.y + entry.height >= scroll && entry.y <= scroll + this.height) this.paintRow(entry);
		this.paintPicked();
		ctx.restore();
	}

	style(row) {
		const { trace } = this.view;
		return {
			theme: this.theme,
			row,
			wanted: this.search.test(row),
			charWidth: this.charWidth,
			columns: this.columns,
			nameOf: row.kind === SLICES ? (name) => sliceName(trace, row, name) : (i) => tickName(trace, row, i),
		};
	}

	paintRow({ y, height, row, section }) {
		const { ctx, theme } = this;
		ctx.fillStyle = theme.line;
		ctx.fillRect(0, y + height - 1, this.width, 1);
		if (section) {
			ctx.fillStyle = theme.group;
			ctx.fillRect(0, y, this.width, height - 1);
		} else if (row.kind === SLICES) {
			const style = this.style(row),
				top = row.head ? y + 4 : y + 3;
			row.lanes.forEach((lane, d) => drawLane(ctx, lane, this.range, top + d * LANE, LANE - 1, style));
		} else if (row.kind === COUNTER) {
			drawCounter(ctx, row.ticks, this.range, y + 3, height - 6, theme);
		} else {
			drawTicks(ctx, row.ticks, this.range, y + 3, LANE - 1, this.style(row));
		}
	}

	// Where something is, on the canvas of rows.
	place({ row, lane, i }) {
		const entry = this.view.layout.peek().shown.find((one) => one.row === row);
		if (!entry) return null;
		const { from, to, width } = this.range,
			scale = width / (to - from);
		if (row.kind !== SLICES)
			return { x: (row.ticks.time[i] - from) * scale - 1, y: entry.y + 2, w: 4, h: entry.height - 5 };
		const { start, end } = row.lanes[lane],
			x = Math.max((start[i] - from) * scale, -4);
		return {
			x,
			y: entry.y + (row.head ? 4 : 3) + lane * LANE,
			w: Math.max(Math.min((end[i] - from) * scale, width + 4) - x - 1, 2),
			h: LANE - 1,
		};
	}

	paintPicked() {
		const { ctx, theme } = this;
		for (const [one, width] of [
			[this.view.hover.peek(), 1],
			[this.view.picked.peek(), 2],
		]) {
			const at = one && this.place(one);
			if (!at) continue;
			ctx.strokeStyle = theme.text;
			ctx.lineWidth = width;
			ctx.strokeRect(at.x + 0.5, at.y + 0.5, at.w, at.h - 1);
		}
	}

	paintSelection() {
		const { ctx, theme } = this,
			selection = this.view.selection.peek();
		if (!selection) return;
		const { from, to, width } = this.range,
			scale = width / (to - from);
		const x = Math.max((selection.from - from) * scale, 0),
			end = Math.min((selection.to - from) * scale, width);
		if (end < 0 || x > width) return;
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, AXIS, width, this.height);
		ctx.clip();
		ctx.translate(0, AXIS - this.view.scroll.peek());
		ctx.fillStyle = theme.selection;
		if (!selection.rows) ctx.fillRect(x, this.view.scroll.peek(), Math.max(end - x, 1), this.height);
		else
			for (const entry of this.view.layout.peek().shown)
				if (selection.rows.includes(entry.row)) ctx.fillRect(x, entry.y, Math.max(end - x, 1), entry.height);
		ctx.restore();
		ctx.fillStyle = theme.accent;
		ctx.fillRect(x, AXIS, 1, this.height);
		ctx.fillRect(end - 1, AXIS, 1, this.height);
	}

	paintAxis() {
		const { ctx, theme } = this;
		ctx.fillStyle = theme.group;
		ctx.fillRect(0, 0, this.width, AXIS);
		ctx.fillStyle = theme.line;
		ctx.fillRect(0, AXIS - 1, this.width, 1);
		ctx.font = SMALL;
		const { anchor, marks } = this.marks;
		const kept = anchor ? ctx.measureText(anchor).width + 14 : 0;
		for (const { x, label } of marks) {
			ctx.fillStyle = theme.faint;
			ctx.fillRect(Math.round(x), AXIS - 7, 1, 6);
			if (x + 4 >= kept) ctx.fillText(label, x + 4, 16);
		}
		ctx.fillStyle = theme.text;
		ctx.fillText(anchor, 5, 16);
	}

	// What is at a point of the canvas: { entry, time, and row, lane, i if there is a slice or tick }.
	find(x, y) {
		const { from, to, width } = this.range,
			time = from + (x / width) * (to - from),
			rowY = y - AXIS + this.view.scroll.peek();
		const entry =
			y < AXIS ? null : this.view.layout.peek().shown.find((one) => rowY >= one.y && rowY < one.y + one.height);
		return {
			entry,
			time,
			onAxis: y < AXIS,
			hit: entry?.row ? this.hit(entry, time, rowY, (to - from) / width) : null,
		};
	}

	hit({ row, y }, time, rowY, pixel) {
		if (row.kind !== SLICES) return this.nearestTick(row, time, pixel);
		const lane = Math.floor((rowY - y - (row.head ? 4 : 3)) / LANE),
			slices = row.lanes[lane];
		if (!slices) return null;
		let i = slices.at(time);
		if (i < 0) i = slices.first(time - 2 * pixel);
		return i < slices.n && slices.start[i] <= time + 2 * pixel ? { row, lane, i } : null;
	}

	nearestTick(row, time, pixel) {
		const { ticks } = row;
		let i = ticks.first(time);
		if (row.kind === COUNTER) return i ? { row, lane: 0, i: i - 1 } : null;
		if (i === ticks.n || (i && time - ticks.time[i - 1] < ticks.time[i] - time)) i--;
		return i >= 0 && Math.abs(ticks.time[i] - time) <= 4 * pixel ? { row, lane: 0, i } : null;
	}
}
