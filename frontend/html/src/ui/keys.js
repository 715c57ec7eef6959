// SPDX-License-Identifier: GPL-2.0-or-later
// keys.js - what keys do, one row each; the page's help is made of them.

export function keyRows(view, search, focusSearch) {
	const middle = () => (view.range.value.from + view.range.value.to) / 2;
	return [
		{ keys: ["w", "+", "="], shown: "W  +", what: "zoom in", run: () => view.zoom(1 / 1.5, middle()) },
		{ keys: ["s", "-"], shown: "S  \u2212", what: "zoom out", run: () => view.zoom(1.5, middle()) },
		{ keys: ["a", "ArrowLeft"], shown: "A  \u2190", what: "earlier", run: () => view.pan(-0.2) },
		{ keys: ["d", "ArrowRight"], shown: "D  \u2192", what: "later", run: () => view.pan(0.2) },
		{ keys: ["ArrowUp"], shown: "\u2191", what: "rows above", run: () => view.scrollBy(-60) },
		{ keys: ["ArrowDown"], shown: "\u2193", what: "rows below", run: () => view.scrollBy(60) },
		{
			keys: ["PageUp"],
			shown: "Page up",
			what: "a page of rows above",
			run: () => view.scrollBy(-view.size.value.height),
		},
		{
			keys: ["PageDown"],
			shown: "Page down",
			what: "a page of rows below",
			run: () => view.scrollBy(view.size.value.height),
		},
		{ keys: ["0", "Home"], shown: "0", what: "the whole trace", run: () => view.all() },
		{ keys: ["z"], shown: "Z", what: "zoom to the selection, or to what is picked", run: () => zoomToChosen(view) },
		{ keys: ["f", "/"], shown: "/", what: "search: a part of a name, or /a regular expression/", run: focusSearch },
		{ keys: ["n", "Enter"], shown: "N", what: "the next one that was found", run: () => search.step(1) },
		{ keys: ["N", "p"], shown: "\u21e7N", what: "the one before", run: () => search.step(-1) },
		{ keys: ["Escape"], shown: "Esc", what: "nothing is selected, picked or searched for", run: () => clear(view) },
		{ keys: ["?"], shown: "?", what: "this list", run: () => (view.help.value = !view.help.value) },
	];
}

function zoomToChosen(view) {
	if (view.selection.value) view.show(view.selection.value.from, view.selection.value.to);
	else if (view.picked.value) view.zoomToPicked();
}

function clear(view) {
	if (view.help.value) view.help.value = false;
	else {
		view.selection.value = null;
		view.picked.value = null;
		view.term.value = "";
	}
}

// What has the focus keeps the keys that it knows itself.
function isKept(event) {
	const { target, key } = event;
	if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, dialog")) return true;
	if (key === "Enter") return target.closest("button, summary, tr") !== null;
	return /^(Arrow|Page|Home)/.test(key) && target.closest(".scroll") !== null;
}

export function listen(rows) {
	const byKey = new Map(rows.flatMap((row) => row.keys.map((key) => [key, row])));
	addEventListener("keydown", (event) => {
		const row = byKey.get(event.key);
		if (!row || isKept(event)) return;
		event.preventDefault();
		row.run();
	});
}
