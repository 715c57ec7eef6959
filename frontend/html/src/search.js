// SPDX-License-Identifier: GPL-2.0-or-later
// search.js - slices and ticks by their names, in the order of time.
import { computed, effect } from "@preact/signals";
import { above } from "./data/columns.js";
import { basicRows } from "./rows.js";

// "/x.*y/" is a regular expression, everything else a part of a name. NULL: it is none, or empty.
export function matcher(term) {
	if (!term) return null;
	const expression = /^\/(.+)\/$/.exec(term);
	if (!expression) {
		const lower = term.toLowerCase();
		return (text) => text.toLowerCase().includes(lower);
	}
	try {
		const compiled = new RegExp(expression[1], "i");
		return (text) => compiled.test(text);
	} catch {
		return null;
	}
}

// By numbers of names: which are meant; one set for those of tasks, one for all else.
function matchingNames(trace, matches) {
	const names = new Uint8Array(trace.names.length),
		tasks = new Uint8Array(trace.tasks.length);
	trace.names.forEach((name, i) => (names[i] = matches(name)));
	trace.tasks.forEach((task, i) => (tasks[i] = matches(task.label)));
	return { names, tasks };
}

// What may be found: columns of times and names, and which of the names are wanted.
function sourcesOf(view, wanted) {
	const sources = [];
	const add = (row, lane, time, name, n) => {
		const names = row.what === "task" ? wanted.tasks : wanted.names;
		sources.push({ row, lane, time, name, n, names, order: sources.length });
	};
	for (const row of basicRows(view.groups)) {
		row?.lanes.forEach((lane, depth) => add(row, depth, lane.start, lane.name, lane.n));
		if (row?.what === "event" || row?.what === "call") add(row, 0, row.ticks.time, row.ticks.name, row.ticks.n);
	}
	return sources;
}

// From there on in the direction; -1: none.
function nearest({ name, names, n }, i, direction) {
	for (; i >= 0 && i < n; i += direction) if (names[name[i]]) return i;
	return -1;
}

function countWithin({ name, names }, from, to) {
	let count = 0;
	for (let i = from; i < to; i++) count += names[name[i]];
	return count;
}

// How many of a source stand before something: by time, then by the order of sources.
function before(source, { time, order, i }) {
	if (source.order === order) return i;
	return source.order < order ? above(source.time, source.n, time) : above(source.time, source.n, time - 0.5);
}

const isBefore = (a, b) => a.time < b.time || (a.time === b.time && a.order < b.order);

export class Search {
	constructor(view) {
		this.view = view;
		this.wanted = computed(() => {
			const matches = matcher(view.term.value);
			return matches && matchingNames(view.trace, matches);
		});
		this.sources = computed(() => (this.wanted.value ? sourcesOf(view, this.wanted.value) : []));
		this.count = computed(() =>
			this.sources.value.reduce((sum, source) => sum + countWithin(source, 0, source.n), 0),
		);
		this.at = null; // { time, order, i } of what was found last, as long as it is searched for
		effect(() => {
			this.sources.value;
			view.match.value = -1;
		});
	}

	// Whether a name of a row is one of those; null: nothing is searched for.
	test(row) {
		const wanted = this.wanted.value;
		return wanted && row.what !== "vcpu" ? (row.what === "task" ? wanted.tasks : wanted.names) : null;
	}

	// The closest one of all sources, beside what is at.
	closest(at, direction) {
		let best = null;
		for (const source of this.sources.value) {
			const first = before(source, at) + (source.order === at.order ? direction : direction < 0 ? -1 : 0),
				i = nearest(source, first, direction);
			if (i < 0) continue;
			const one = { time: source.time[i], order: source.order, i };
			if (!best || (direction > 0 ? isBefore(one, best) : isBefore(best, one))) best = one;
		}
		return best;
	}

	// The next one, or with -1 the one before, from what was found last or what is seen on; around the ends.
	step(direction) {
		const { view } = this,
			sources = this.sources.value;
		if (!this.count.value) return;
		const start = view.match.value < 0 ? { time: view.range.value.from, order: -1, i: 0 } : this.at;
		const end = { time: direction > 0 ? -1 : Infinity, order: -1, i: 0 };
		this.at = this.closest(start, direction) ?? this.closest(end, direction);
		view.match.value = sources.reduce((sum, source) => sum + countWithin(source, 0, before(source, this.at)), 0);
		const { row, lane } = sources[this.at.order];
		view.pick(row, lane, this.at.i);
		view.goToPicked();
	}
}
