// SPDX-License-Identifier: GPL-2.0-or-later
// stats.js - what a part of the time comes to: of slices what lies within it.
import { SLICES, sliceName } from "./rows.js";

const WHATS = {
	function: "function",
	call: "call",
	event: "event",
	window: "window",
	marker: "marker",
	task: "task",
	vcpu: "vCPU",
};

class Sums {
	constructor() {
		this.byName = new Map();
	}

	of(row, name) {
		const key = `${row.what} ${name}`;
		let sum = this.byName.get(key);
		if (!sum) this.byName.set(key, (sum = { row, name, count: 0, total: 0, each: 0, self: 0, max: 0 }));
		return sum;
	}
}

// Calls of a function within itself are not counted twice in its total.
function within(stack, depth, name) {
	for (let d = 0; d < depth; d++) if (stack[d] === name) return true;
	return false;
}

// The first slice that is within, from there on; one that has taken no time may be where it begins.
function firstWithin(lane, from) {
	let i = lane.first(from);
	while (i && lane.start[i - 1] >= from) i--;
	return i;
}

// Slices of a nest, each before those within it: visit(depth, name, its time between from and to, the names
// from the outermost on), which may give what is to be called behind those.
export function walk(lanes, from, to, visit) {
	const at = lanes.map((lane) => firstWithin(lane, from)),
		stack = [];
	const down = (depth, end) => {
		const lane = lanes[depth];
		if (!lane) return;
		for (let i = at[depth]; i < lane.n && lane.end[i] <= end && lane.start[i] <= to; i = at[depth]) {
			at[depth] = i + 1;
			stack[depth] = lane.name[i];
			const leave = visit(depth, lane.name[i], Math.min(lane.end[i], to) - Math.max(lane.start[i], from), stack);
			down(depth + 1, lane.end[i]);
			leave?.();
		}
	};
	down(0, Infinity);
}

function addSlices(sums, row, from, to) {
	walk(row.lanes, from, to, (depth, name, time, stack) => {
		const sum = sums.of(row, name);
		sum.count++;
		sum.each += time;
		if (!within(stack, depth, name)) sum.total += time;
		sum.max = Math.max(sum.max, time);
		sum.self += time;
		if (depth) sums.of(row, stack[depth - 1]).self -= time;
	});
}

function addTicks(sums, row, from, to) {
	const { ticks } = row;
	for (let i = ticks.first(from); i < ticks.n && ticks.time[i] <= to; i++) sums.of(row, ticks.name[i]).count++;
}

// Rows of a table.
export function statistics(trace, { from, to, rows }) {
	const sums = new Sums();
	for (const row of rows) {
		if (!row || !WHATS[row.what]) continue;
		if (row.kind === SLICES) addSlices(sums, row, from, to);
		else addTicks(sums, row, from, to);
	}
	return [...sums.byName.values()].map((sum) => ({
		what: WHATS[sum.row.what],
		name: sliceName(trace, sum.row, sum.name),
		count: sum.count,
		timed: sum.row.kind === SLICES,
		total: sum.total,
		self: sum.self,
		mean: sum.each / sum.count,
		max: sum.max,
	}));
}
