// SPDX-License-Identifier: GPL-2.0-or-later
// lanes.js - slices of one lane between two times. What takes it is how many pixels there are, not how
// many slices: those that are narrower than a pixel are drawn as one, as dark as they fill it.
import { above } from "../data/columns.js";

const NARROW = 1.5; // pixels
const LABEL = 28; // pixels from which on there is room for a name
const FAINT = 0.18; // what there is at all is seen

// How much of the time from a to b is within slices, from the i-th to the one before the j-th.
function busy(lane, i, j, a, b) {
	let sum = lane.busy[j] - lane.busy[i];
	if (i < j) sum -= Math.max(0, a - lane.start[i]) + Math.max(0, lane.end[j - 1] - b);
	return Math.max(sum, 0);
}

// What is drawn of a lane: wide(i, x, width) or narrow(i, x, how full, the number behind the last one).
export function eachSlice(lane, { from, to, width }, wide, narrow) {
	const scale = width / (to - from),
		pixel = 1 / scale;
	let i = lane.first(from - 1e-9);
	while (i < lane.n && lane.start[i] <= to) {
		const length = (lane.end[i] - lane.start[i]) * scale;
		if (length >= NARROW) {
			const x = Math.max((lane.start[i] - from) * scale, -2),
				end = Math.min((lane.end[i] - from) * scale, width + 2);
			wide(i, x, end - x);
			i++;
			continue;
		}
		const x = Math.floor((lane.start[i] - from) * scale),
			a = from + x * pixel,
			b = a + pixel;
		let j = Math.max(above(lane.start, lane.n, b), i + 1);
		// A wide one that begins within the pixel is drawn by itself.
		if (j - 1 > i && (lane.end[j - 1] - lane.start[j - 1]) * scale >= NARROW) j--;
		narrow(i, x, Math.max(busy(lane, i, j, a, b) * scale, FAINT), j);
		i = j;
	}
}

// The first of some that a search wants; -1: none. Many are not looked at one by one.
function firstWanted(lane, i, j, names) {
	const step = Math.max(1, Math.floor((j - i) / 64));
	for (; i < j; i += step) if (names[lane.name[i]]) return i;
	return -1;
}

function drawText(ctx, text, x, y, room, charWidth) {
	const fits = Math.floor(room / charWidth);
	if (fits < 3) return;
	ctx.fillText(text.length <= fits ? text : `${text.slice(0, fits - 1)}\u2026`, x, y);
}

// Columns of a pixel, each of its own colour: as a picture of one line, which is drawn as high as a lane.
// Rectangles one by one take the browser much longer.
export class Columns {
	constructor() {
		this.canvas = new OffscreenCanvas(1, 1);
		this.ctx = this.canvas.getContext("2d");
		this.resize(1);
	}

	resize(width) {
		this.canvas.width = width;
		this.image = new ImageData(width, 1);
		this.words = new Uint32Array(this.image.data.buffer);
	}

	begin(width) {
		if (width !== this.canvas.width) this.resize(width);
		else this.words.fill(0);
		this.used = false;
	}

	put(x, { word }, full) {
		this.words[x] = word | (Math.round(full * 255) << 24);
		this.used = true;
	}

	draw(ctx, y, height) {
		if (!this.used) return;
		this.ctx.putImageData(this.image, 0, 0);
		ctx.imageSmoothingEnabled = false;
		ctx.drawImage(this.canvas, 0, 0, this.canvas.width, 1, 0, y, this.canvas.width, height);
	}
}

const FADED = 0.22; // what a search does not want

export function drawLane(ctx, lane, range, y, height, style) {
	const { theme, row, nameOf, wanted, charWidth, columns } = style;
	const labels = [];
	columns.begin(Math.max(1, Math.ceil(range.width)));
	eachSlice(
		lane,
		range,
		(i, x, w) => {
			ctx.globalAlpha = wanted && !wanted[lane.name[i]] ? FADED : 1;
			ctx.fillStyle = theme.ofSlice(row, lane.name[i]).css;
			ctx.fillRect(x, y, Math.max(w - (w > 4 ? 1 : 0), 1), height);
			if (w >= LABEL) labels.push(i, Math.max(x, 0), Math.min(w, range.width - Math.max(x, 0)));
		},
		(i, x, full, j) => {
			const one = wanted ? firstWanted(lane, i, j, wanted) : i;
			const seen = one < 0 ? full * FADED : wanted ? 1 : full;
			columns.put(x, theme.ofSlice(row, lane.name[Math.max(one, i)]), Math.min(seen, 1));
		},
	);
	ctx.globalAlpha = 1;
	columns.draw(ctx, y, height);
	ctx.fillStyle = theme.sliceText;
	for (let k = 0; k < labels.length; k += 3)
		drawText(ctx, nameOf(lane.name[labels[k]]), labels[k + 1] + 4, y + height - 4, labels[k + 2] - 8, charWidth);
}
