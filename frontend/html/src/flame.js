// SPDX-License-Identifier: GPL-2.0-or-later
// flame.js - the calls of a part of the time as a profile in speedscope's own file format. Those of vCPUs are
// time on them, those of tasks are from where they begin to where they end, sleep included.
import { walk } from "./stats.js";

// A frame is the end of a path of functions.
class Stacks {
	constructor() {
		this.weights = new Map(); // by path
	}

	add(path, weight) {
		const key = path.join(" ");
		this.weights.set(key, (this.weights.get(key) ?? 0) + weight);
	}
}

// Its own time is what is left of it.
function addCalls(stacks, lanes, from, to) {
	const self = [];
	walk(lanes, from, to, (depth, name, time, stack) => {
		self[depth] = time;
		if (depth) self[depth - 1] -= time;
		return () => self[depth] > 0 && stacks.add(stack.slice(0, depth + 1), self[depth]);
	});
}

// Of the tracer function: how often each was called by whom.
function addHits(stacks, ticks, from, to) {
	for (let i = ticks.first(from); i < ticks.n && ticks.time[i] <= to; i++)
		stacks.add(ticks.more[i] ? [ticks.more[i], ticks.name[i]] : [ticks.name[i]], 1);
}

function profileOf(trace, stacks, unit, name) {
	const frames = [],
		index = new Map();
	const frame = (number) => {
		if (!index.has(number)) {
			index.set(number, frames.length);
			frames.push({ name: trace.names[number] });
		}
		return index.get(number);
	};
	const samples = [],
		weights = [];
	let sum = 0;
	for (const [key, weight] of stacks.weights) {
		samples.push(key.split(" ").map((number) => frame(Number(number))));
		weights.push(weight);
		sum += weight;
	}
	return {
		$schema: "https://www.speedscope.app/file-format-schema.json",
		exporter: "hvtrace",
		name,
		shared: { frames },
		profiles: [{ type: "sampled", name, unit, startValue: 0, endValue: sum, samples, weights }],
	};
}

// null: there are no calls in it.
export function flameProfile(trace, { from, to, rows }, name) {
	const stacks = new Stacks();
	for (const row of rows) if (row?.what === "function") addCalls(stacks, row.lanes, from, to);
	if (stacks.weights.size) return profileOf(trace, stacks, trace.about.ns ? "nanoseconds" : "none", name);
	for (const row of rows) if (row?.what === "call") addHits(stacks, row.ticks, from, to);
	return stacks.weights.size ? profileOf(trace, stacks, "none", name) : null;
}
