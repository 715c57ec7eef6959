// SPDX-License-Identifier: GPL-2.0-or-later
// columns.js - what a row of the timeline has, in typed arrays that grow, in the order of time.

function grown(array, room) {
	const more = new array.constructor(room);
	more.set(array);
	return more;
}

// The first index whose value is above x, among n that are in order.
export function above(values, n, x) {
	let low = 0,
		high = n;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (values[middle] > x) high = middle;
		else low = middle + 1;
	}
	return low;
}

// Slices that do not overlap.
export class Lane {
	n = 0;
	start = new Float64Array(16);
	end = new Float64Array(16);
	name = new Uint32Array(16);
	busy = null; // what of the time before each one is within slices; see seal()

	begin(time, name) {
		if (this.n === this.start.length) {
			this.start = grown(this.start, 2 * this.n);
			this.end = grown(this.end, 2 * this.n);
			this.name = grown(this.name, 2 * this.n);
		}
		this.start[this.n] = time;
		this.end[this.n] = Infinity;
		this.name[this.n++] = name;
	}

	// The last one ends; one that has taken no time at all stays.
	finish(time) {
		this.end[this.n - 1] = Math.max(time, this.start[this.n - 1]);
	}

	// There comes nothing any more.
	seal() {
		this.busy = new Float64Array(this.n + 1);
		for (let i = 0; i < this.n; i++) this.busy[i + 1] = this.busy[i] + this.end[i] - this.start[i];
	}

	// The first one that ends behind this time.
	first(time) {
		return above(this.end, this.n, time);
	}

	// The one that is there; -1: none.
	at(time) {
		const i = above(this.start, this.n, time) - 1;
		return i >= 0 && this.end[i] >= time ? i : -1;
	}
}

// Slices within slices: a lane for each depth.
export class Nest {
	lanes = [];
	depth = 0;

	begin(time, name) {
		if (this.depth === this.lanes.length) this.lanes.push(new Lane());
		this.lanes[this.depth++].begin(time, name);
	}

	finish(time) {
		if (this.depth) this.lanes[--this.depth].finish(time);
	}

	// Goes on with what is open in another one.
	follow(other, time) {
		while (this.depth) this.finish(time);
		for (let d = 0; other && d < other.depth; d++) {
			const lane = other.lanes[d];
			this.begin(time, lane.name[lane.n - 1]);
		}
	}

	seal(time) {
		while (this.depth) this.finish(time);
		for (const lane of this.lanes) lane.seal();
	}
}

// Points: each with a name, and something else that is known of it.
export class Ticks {
	n = 0;
	time = new Float64Array(16);
	name = new Uint32Array(16);
	more = new Float64Array(16);

	put(time, name, more) {
		if (this.n === this.time.length) {
			this.time = grown(this.time, 2 * this.n);
			this.name = grown(this.name, 2 * this.n);
			this.more = grown(this.more, 2 * this.n);
		}
		this.time[this.n] = time;
		this.name[this.n] = name;
		this.more[this.n++] = more;
	}

	// The first one behind this time, or at it.
	first(time) {
		return above(this.time, this.n, time - 1e-9);
	}
}
