// SPDX-License-Identifier: GPL-2.0-or-later
// details.jsx - what is known of the slice or tick that is picked.
import { duration, moment } from "../data/times.js";
import { SLICES, sliceName, tickName } from "../rows.js";

// Who ran on a vCPU, or where a task ran.
function other(trace, group, time) {
	const of = group.cpu ?? group.task,
		lane = of?.running,
		i = lane ? lane.at(time) : -1;
	if (i < 0) return [];
	return group.cpu ? [["task", trace.tasks[lane.name[i]].label]] : [["vCPU", String(lane.name[i])]];
}

function sliceFacts(trace, { row, lane, i }) {
	const slices = row.lanes[lane],
		{ about } = trace;
	return [
		["name", sliceName(trace, row, slices.name[i])],
		["kind", row.what === "vcpu" || row.what === "task" ? "runs" : row.what],
		["begins", moment(about, slices.start[i])],
		["ends", moment(about, slices.end[i])],
		["takes", duration(slices.end[i] - slices.start[i], about.ns)],
		...(row.nested ? [["depth", String(lane)]] : []),
		...(row.nested && lane ? [["called by", callerOf(trace, row, lane, slices.start[i])]] : []),
	];
}

function callerOf(trace, row, lane, time) {
	const outer = row.lanes[lane - 1],
		i = outer.at(time);
	return i < 0 ? "?" : sliceName(trace, row, outer.name[i]);
}

function textOf(trace, texts, number) {
	if (!texts) return "\u2026";
	return new TextDecoder().decode(texts.subarray(trace.textAt[number], trace.textAt[number + 1]));
}

function tickFacts(trace, texts, { row, i }) {
	const { ticks } = row,
		facts = [
			["name", row.what === "counter" ? row.label : tickName(trace, row, i)],
			["kind", row.what],
			["time", moment(trace.about, ticks.time[i])],
		];
	if (row.what === "event") facts.push(["says", textOf(trace, texts, ticks.more[i])]);
	if (row.what === "call" && ticks.more[i]) facts.push(["called by", trace.names[ticks.more[i]]]);
	if (row.what === "counter") facts.push(["value", String(ticks.more[i])]);
	return facts;
}

export function Details({ view, texts }) {
	const picked = view.picked.value;
	if (!picked) return <p class="empty">Click on a slice or an event to see what is known of it.</p>;
	const { trace } = view,
		{ row } = picked;
	const facts = row.kind === SLICES ? sliceFacts(trace, picked) : tickFacts(trace, texts.value, picked);
	facts.push(["in", row.group.label], ...other(trace, row.group, view.pickedTime().from));
	return (
		<div class="details">
			<dl>{facts.map(([what, value]) => [<dt key={what}>{what}</dt>, <dd key={`${what} is`}>{value}</dd>])}</dl>
			<div class="actions">
				<button onClick={() => view.zoomToPicked()}>Zoom to it</button>
				<button onClick={() => (view.term.value = facts[0][1])}>Find all of this name</button>
			</div>
		</div>
	);
}
