// SPDX-License-Identifier: GPL-2.0-or-later
// header.jsx - what the trace is, and the search.
import { duration } from "../data/times.js";

function plural(n, what) {
	return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}

function Facts({ trace }) {
	const { about } = trace;
	const facts = [
		about.uname,
		plural(about.records, "record"),
		duration(trace.length, about.ns),
		plural(trace.cpus.length, "vCPU"),
		plural(trace.tasks.filter((task) => task.records).length, "task"),
	];
	return <p class="facts">{facts.filter(Boolean).join(" \u00b7 ")}</p>;
}

function SearchBox({ view, search }) {
	const count = search.count.value,
		at = view.match.value;
	const input = (event) => (view.term.value = event.currentTarget.value);
	const key = (event) => {
		if (event.key === "Enter") search.step(event.shiftKey ? -1 : 1);
		else if (event.key === "Escape") {
			view.term.value = "";
			event.currentTarget.blur();
		} else return;
		event.preventDefault();
	};
	return (
		<div class="search" role="search">
			<input
				id="search"
				type="search"
				placeholder="Function, event or task  ( / )"
				aria-label="Search"
				spellcheck={false}
				value={view.term.value}
				onInput={input}
				onKeyDown={key}
			/>
			<output>
				{view.term.value &&
					`${at < 0 ? "" : `${(at + 1).toLocaleString("en")} of `}${count.toLocaleString("en")}`}
			</output>
			<button
				title="The one before (Shift+N)"
				aria-label="Previous"
				disabled={!count}
				onClick={() => search.step(-1)}
			>
				{"\u2191"}
			</button>
			<button title="The next one (N)" aria-label="Next" disabled={!count} onClick={() => search.step(1)}>
				{"\u2193"}
			</button>
		</div>
	);
}

export function Header({ view, search }) {
	const middle = () => (view.range.value.from + view.range.value.to) / 2;
	const file = view.trace.about.file.split("/").pop();
	return (
		<header>
			<div class="title">
				<h1>{file}</h1>
				<Facts trace={view.trace} />
			</div>
			<SearchBox view={view} search={search} />
			<div class="buttons">
				<span class="span" title="What is seen of the time">
					{duration(view.range.value.to - view.range.value.from, view.trace.about.ns)}
				</span>
				<button title="Zoom in (W)" aria-label="Zoom in" onClick={() => view.zoom(1 / 1.5, middle())}>
					+
				</button>
				<button title="Zoom out (S)" aria-label="Zoom out" onClick={() => view.zoom(1.5, middle())}>
					{"\u2212"}
				</button>
				<button title="The whole trace (0)" onClick={() => view.all()}>
					All
				</button>
				<button title="Keys (?)" aria-label="Help" onClick={() => (view.help.value = true)}>
					?
				</button>
			</div>
		</header>
	);
}
