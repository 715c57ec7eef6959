// SPDX-License-Identifier: GPL-2.0-or-later
// view.js - the part of time that is seen, and what of it is chosen: signals, that what shows them follows.
import { computed, signal } from "@preact/signals";
import { basicRows, layOut, makeGroups } from "./rows.js";

const SMALLEST = 10; // ns, from one side to the other
const OPEN_TASKS = 3; // so few are open at first

export class View {
	constructor(trace) {
		this.trace = trace;
		this.groups = makeGroups(trace);
		this.range = signal({ from: 0, to: trace.extent });
		this.scroll = signal(0);
		this.size = signal({ width: 0, height: 0 });
		this.open = signal(new Set(this.openAtFirst()));
		this.layout = computed(() => layOut(this.groups, (id) => this.open.value.has(id)));
		this.selection = signal(null); // { from, to, rows: null or those that it is of }
		this.picked = signal(null); // { row, lane, i }: a slice or tick
		this.hover = signal(null); // the same, with x and y
		this.term = signal("");
		this.match = signal(-1); // how many stand before the one that was found last; -1: none was
		this.panel = signal("statistics");
		this.help = signal(false);
	}

	openAtFirst() {
		const tasks = this.groups.filter((group) => group.task);
		return this.groups
			.filter((group) => group.cpu || (tasks.length <= OPEN_TASKS && group.task))
			.map((group) => group.id);
	}

	toggle(id) {
		const open = new Set(this.open.value);
		if (!open.delete(id)) open.add(id);
		this.open.value = open;
	}

	show(from, to) {
		const { extent } = this.trace;
		const span = Math.min(Math.max(to - from, SMALLEST), extent);
		const start = Math.min(Math.max((from + to - span) / 2, 0), extent - span);
		this.range.value = { from: start, to: start + span };
	}

	// By a factor, around a time that stays where it is.
	zoom(factor, at) {
		const { from, to } = this.range.value;
		const span = Math.min(Math.max((to - from) * factor, SMALLEST), this.trace.extent);
		const start = at - ((at - from) / (to - from)) * span;
		this.show(start, start + span);
	}

	// By a part of what is seen.
	pan(part) {
		const { from, to } = this.range.value;
		const by = (to - from) * part;
		this.show(from + by, to + by);
	}

	all() {
		this.show(0, this.trace.extent);
	}

	scrollBy(pixels) {
		const most = Math.max(0, this.layout.value.height - this.size.value.height);
		this.scroll.value = Math.min(Math.max(this.scroll.value + pixels, 0), most);
	}

	// Rows whose group is closed are opened, and it is scrolled to them.
	reveal(row) {
		if (!row.head && !this.open.value.has(row.group.id)) this.toggle(row.group.id);
		const placed = this.layout.value.shown.find((entry) => entry.row === row);
		const { height } = this.size.value;
		if (placed && (placed.y < this.scroll.value || placed.y + placed.height > this.scroll.value + height)) {
			this.scroll.value = 0;
			this.scrollBy(placed.y - height / 3);
		}
	}

	pick(row, lane, i) {
		this.picked.value = { row, lane, i };
		this.panel.value = "details";
	}

	pickedTime() {
		const { row, lane, i } = this.picked.value;
		if (row.kind !== "slices") return { from: row.ticks.time[i], to: row.ticks.time[i] };
		return { from: row.lanes[lane].start[i], to: row.lanes[lane].end[i] };
	}

	// So that it can be seen what is around it.
	zoomToPicked() {
		const { from, to } = this.pickedTime();
		const margin = Math.max((to - from) / 3, 50);
		this.show(from - margin, to + margin);
	}

	// Moves there, if it is not to be seen.
	goToPicked() {
		const { from, to } = this.pickedTime(),
			seen = this.range.value,
			span = seen.to - seen.from;
		this.reveal(this.picked.value.row);
		if (from >= seen.from && to <= seen.to) return;
		if (to - from > span) this.zoomToPicked();
		else this.show((from + to - span) / 2, (from + to + span) / 2);
	}

	// What statistics are of.
	subject() {
		const { from, to, rows } = this.selection.value ?? { from: 0, to: this.trace.length };
		return { from, to, rows: rows ?? basicRows(this.groups) };
	}
}
