// SPDX-License-Identifier: GPL-2.0-or-later
// ticks.js - points, and counters, between two times; of those in one pixel one is drawn.
import { above } from "../data/columns.js";

const ROOM = 9; // pixels to the next one, for a name to be written behind it

export function drawTicks(ctx, ticks, { from, to, width }, y, height, style) {
	const { theme, row, wanted, nameOf, charWidth } = style;
	const scale = width / (to - from);
	const names = [];
	for (let i = ticks.first(from); i < ticks.n && ticks.time[i] <= to;) {
		const x = Math.floor((ticks.time[i] - from) * scale);
		const j = Math.max(above(ticks.time, ticks.n, from + (x + 1) / scale), i + 1);
		let one = i;
		if (wanted) while (one < Math.min(j, i + 64) && !wanted[ticks.name[one]]) one++;
		const meant = one < Math.min(j, i + 64);
		ctx.globalAlpha = wanted && !meant ? 0.15 : Math.min(1, 0.55 + 0.15 * Math.log2(j - i));
		ctx.fillStyle = theme.ofTick(row, ticks.name[meant ? one : i]).css;
		ctx.fillRect(x, y, j - i > 1 ? 1 : 2, height);
		const next = j < ticks.n ? (ticks.time[j] - from) * scale : width;
		if (next - x > ROOM * charWidth) names.push(i, x, next - x);
		i = j;
	}
	ctx.globalAlpha = 1;
	ctx.fillStyle = theme.text;
	for (let k = 0; k < names.length; k += 3) {
		const text = nameOf(names[k]),
			fits = Math.floor((names[k + 2] - 10) / charWidth);
		ctx.fillText(text.length <= fits ? text : `${text.slice(0, fits - 1)}\u2026`, names[k + 1] + 5, y + height - 4);
	}
}

// Steps, between its least and its largest value.
export function drawCounter(ctx, ticks, { from, to, width }, y, height, theme) {
	const scale = width / (to - from),
		values = ticks.more.subarray(0, ticks.n);
	const least = values.reduce((a, b) => Math.min(a, b), 0),
		most = values.reduce((a, b) => Math.max(a, b), least + 1);
	const level = (value) => y + height - ((value - least) / (most - least)) * height;
	ctx.fillStyle = theme.accent;
	ctx.globalAlpha = 0.5;
	for (let i = Math.max(ticks.first(from) - 1, 0); i < ticks.n && ticks.time[i] <= to;) {
		const x = Math.max(Math.floor((ticks.time[i] - from) * scale), 0);
		const j = Math.max(above(ticks.time, ticks.n, from + (x + 1) / scale), i + 1);
		const end = j < ticks.n ? Math.min((ticks.time[j] - from) * scale, width) : width;
		const top = level(ticks.more[j - 1]);
		ctx.fillRect(x, top, Math.max(end - x, 1), y + height - top);
		i = j;
	}
	ctx.globalAlpha = 1;
}
