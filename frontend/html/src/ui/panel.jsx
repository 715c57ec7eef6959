// SPDX-License-Identifier: GPL-2.0-or-later
// panel.jsx - what is below the timeline: details of one thing, and what the selection comes to.
import { useSignal, useSignalEffect } from "@preact/signals";
import { duration, moment } from "../data/times.js";
import { flameProfile } from "../flame.js";
import { statistics } from "../stats.js";
import { Details } from "./details.jsx";
import { Flame } from "./flame.jsx";
import { Statistics } from "./statistics.jsx";

const PAUSE = 120; // ms without a change of the selection, before it is added up

const TABS = [
	["details", "Details"],
	["statistics", "Statistics"],
	["flame", "Flame graph"],
];

// "0.5 ms from 12.345678901 on": of what the numbers are.
export function subjectName(view) {
	const { trace } = view,
		selection = view.selection.value;
	if (!selection) return `the whole trace, ${duration(trace.length, trace.about.ns)}`;
	const rows = selection.rows ? `, ${selection.rows.length} row${selection.rows.length > 1 ? "s" : ""}` : "";
	return `${duration(selection.to - selection.from, trace.about.ns)} from ${moment(trace.about, selection.from)} on${rows}`;
}

// Where rows are not chosen, the time on vCPUs is drawn.
function flameRows(view) {
	return view.selection.value?.rows ?? view.groups.filter((group) => group.cpu).flatMap((group) => group.rows);
}

function flameNote(view) {
	return view.selection.value?.rows ? "" : " \u00b7 time on vCPUs";
}

// What is made of the selection once it has not changed for a while, and somebody looks.
function useOfSelection(view, panel, make) {
	const made = useSignal(undefined);
	useSignalEffect(() => {
		view.selection.value;
		if (view.panel.value !== panel) return undefined;
		const timer = setTimeout(() => (made.value = make(view.subject())), PAUSE);
		return () => clearTimeout(timer);
	});
	return made;
}

const LEAST = 120; // pixels, of the panel and of what is above it
const KEY_STEP = 40;

// Between the timeline and the panel: a drag, or a key, makes one of them larger.
function Handle() {
	const set = (height) => {
		const most = innerHeight - 2 * LEAST - 96;
		document
			.getElementById("page")
			.style.setProperty("--panel-height", `${Math.max(LEAST, Math.min(height, most))}px`);
	};
	const down = (event) => event.currentTarget.setPointerCapture(event.pointerId);
	const move = (event) => event.currentTarget.hasPointerCapture(event.pointerId) && set(innerHeight - event.clientY);
	const key = (event) => {
		const by = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP }[event.key];
		if (!by) return;
		event.preventDefault();
		event.stopPropagation();
		set(event.currentTarget.parentElement.clientHeight + by);
	};
	return (
		<div
			class="handle"
			role="separator"
			aria-orientation="horizontal"
			aria-label="Height of the panel"
			tabIndex={0}
			onPointerDown={down}
			onPointerMove={move}
			onKeyDown={key}
		/>
	);
}

export function Panel({ view, texts }) {
	const { trace } = view,
		shown = view.panel.value;
	const sums = useOfSelection(view, "statistics", (subject) => statistics(trace, subject));
	const profile = useOfSelection(view, "flame", ({ from, to }) =>
		flameProfile(trace, { from, to, rows: flameRows(view) }, subjectName(view)),
	);
	return (
		<section class="panel">
			<Handle />
			<div class="tabs" role="tablist">
				{TABS.map(([id, title]) => (
					<button key={id} role="tab" aria-selected={shown === id} onClick={() => (view.panel.value = id)}>
						{title}
					</button>
				))}
				<span class="subject">
					{shown !== "details" && `of ${subjectName(view)}${shown === "flame" ? flameNote(view) : ""}`}
				</span>
				{view.selection.value && (
					<button class="plain" onClick={() => (view.selection.value = null)}>
						Whole trace
					</button>
				)}
			</div>
			<div class="content" role="tabpanel">
				{shown === "details" && <Details view={view} texts={texts} />}
				{shown === "statistics" && <Statistics view={view} statistics={sums} />}
				{shown === "flame" && <Flame profile={profile} />}
			</div>
		</section>
	);
}
