// SPDX-License-Identifier: GPL-2.0-or-later
// rows.js - what the timeline shows, from top to bottom: a group for each vCPU and task, and in it a row
// for each kind of thing that it has.
import { duration } from "./data/times.js";

export const LANE = 16; // pixels of a slice's height

// How a row is drawn, and counted.
export const SLICES = "slices",
	TICKS = "ticks",
	COUNTER = "counter";

function sliceRow(group, label, what, lanes, more = {}) {
	return { group, label, what, kind: SLICES, lanes, height: Math.max(lanes.length, 1) * LANE + 6, ...more };
}

function tickRow(group, label, what, ticks, more = {}) {
	return { group, label, what, kind: TICKS, ticks, lanes: [], height: LANE + 6, ...more };
}

function callRows(trace, group, calls) {
	return [...calls].map(([buffer, nest]) =>
		sliceRow(
			group,
			trace.about.buffers[buffer] ? `functions of ${trace.about.buffers[buffer]}` : "functions",
			"function",
			nest.lanes,
			{ nested: true },
		),
	);
}

function windowRow(group, label, what, nest) {
	return nest.lanes.length ? [sliceRow(group, label, what, nest.lanes, { nested: true })] : [];
}

function pointRows(group, of) {
	const rows = [];
	if (of.hits.n) rows.push(tickRow(group, "calls", "call", of.hits));
	if (of.events.n) rows.push(tickRow(group, "events", "event", of.events));
	return rows;
}

function cpuGroup(trace, cpu) {
	const group = { id: `cpu${cpu.number}`, label: `CPU ${cpu.number}`, section: "vCPUs", cpu };
	group.head = sliceRow(group, group.label, "task", [cpu.running], { head: true });
	group.rows = [
		...callRows(trace, group, cpu.calls),
		...windowRow(group, "interrupts off", "window", cpu.irqs),
		...windowRow(group, "preemption off", "window", cpu.preempt),
		...windowRow(group, "on the host", "host", cpu.host),
		...pointRows(group, cpu),
	];
	if (cpu.lost.n) group.rows.push(tickRow(group, "lost records", "lost", cpu.lost));
	return group;
}

function taskGroup(trace, task) {
	const group = { id: `task${task.key}`, label: task.label, section: "Tasks", task };
	group.head = sliceRow(group, group.label, "vcpu", [task.running], { head: true });
	group.rows = [
		...callRows(trace, group, task.calls),
		...windowRow(group, "markers", "marker", task.markers),
		...windowRow(group, "wakeup latency", "window", task.wakeup),
		...pointRows(group, task),
	];
	return group;
}

function counterGroup(trace) {
	const group = { id: "counters", label: "Counters", section: "Counters" };
	group.head = null;
	group.rows = trace.counters.map((counter) =>
		tickRow(group, `${trace.names[counter.name]} (${counter.tgid})`, "counter", counter.values, {
			kind: COUNTER,
			height: 3 * LANE,
		}),
	);
	return group;
}

// Groups in their order: busy tasks first.
export function makeGroups(trace) {
	const tasks = trace.tasks
		.filter((task) => task.records)
		.sort((a, b) => (a.pid === 0) - (b.pid === 0) || b.records - a.records);
	const groups = [...trace.cpus.map((cpu) => cpuGroup(trace, cpu)), ...tasks.map((task) => taskGroup(trace, task))];
	return trace.counters.length ? [...groups, counterGroup(trace)] : groups;
}

// What is shown, and where: rows with their y.
export function layOut(groups, isOpen) {
	const shown = [];
	let y = 0,
		section = "";
	for (const group of groups) {
		if (group.section !== section) {
			section = group.section;
			shown.push({ y, height: 24, section });
			y += 24;
		}
		if (group.head) {
			shown.push({ y, height: 24, row: group.head, group });
			y += 24;
		}
		if (!isOpen(group.id) && group.head) continue;
		for (const row of group.rows) {
			shown.push({ y, height: row.height, row, group });
			y += row.height;
		}
	}
	return { shown, height: y };
}

// The rows that statistics of everything are of: none of them has what another has.
export function basicRows(groups) {
	const rows = [];
	for (const group of groups) {
		if (group.cpu) rows.push(group.head, ...group.rows.filter((row) => row.what !== "function"));
		else if (group.task) rows.push(...group.rows.filter((row) => row.kind === SLICES));
	}
	return rows;
}

// What a slice of a row is called.
export function sliceName(trace, row, name) {
	if (row.what === "task") return trace.tasks[name].label;
	if (row.what === "vcpu") return `CPU ${name}`;
	return trace.names[name];
}

export function tickName(trace, row, i) {
	const { ticks } = row;
	if (row.what === "counter") return String(ticks.more[i]);
	if (row.what === "lost") return ticks.more[i] < 0 ? "some lost" : `${ticks.more[i]} lost`;
	return trace.names[ticks.name[i]];
}

export function describe(trace, row, lane, i) {
	if (row.kind !== SLICES) return tickName(trace, row, i);
	const { start, end, name } = row.lanes[lane];
	return `${sliceName(trace, row, name[i])} ${duration(end[i] - start[i], trace.about.ns)}`;
}
