// SPDX-License-Identifier: GPL-2.0-or-later
// main.jsx - the page: reads what hvtrace has written into it, and shows it.
import { signal } from "@preact/signals";
import { render } from "preact";
import { readStream } from "./data/blocks.js";
import { decodeRecords } from "./data/records.js";
import { Painter } from "./draw/painter.js";
import { Theme } from "./draw/theme.js";
import { Search } from "./search.js";
import { statistics } from "./stats.js";
import { Header } from "./ui/header.jsx";
import { Help } from "./ui/help.jsx";
import { keyRows, listen } from "./ui/keys.js";
import { Overview } from "./ui/overview.jsx";
import { Panel } from "./ui/panel.jsx";
import { Timeline } from "./ui/timeline.jsx";
import { View } from "./view.js";

function App({ view, search, painter, theme, keys, texts }) {
	return (
		<>
			<Header view={view} search={search} />
			<Overview view={view} theme={theme} />
			<Timeline view={view} painter={painter} />
			<Panel view={view} texts={texts} />
			<Help view={view} keys={keys} />
		</>
	);
}

async function readTrace() {
	const about = JSON.parse(new TextDecoder().decode(await readStream("about")));
	return decodeRecords(await readStream("records"), about);
}

function start(trace) {
	document.title = `${trace.about.file.split("/").pop()} \u2013 hvtrace`;
	const theme = new Theme(trace.about),
		view = new View(trace),
		search = new Search(view),
		painter = new Painter(view, search, theme),
		keys = keyRows(view, search, () => document.getElementById("search").select()),
		texts = signal(null);
	document.getElementById("page").replaceChildren();
	render(<App {...{ view, search, painter, theme, keys, texts }} />, document.getElementById("page"));
	listen(keys);
	// They are long, and nobody sees them at first.
	requestAnimationFrame(() => setTimeout(() => readStream("texts").then((bytes) => (texts.value = bytes))));
	return { view, search, painter, statistics: () => statistics(trace, view.subject()) };
}

// Tests and the bench ask it.
addEventListener("DOMContentLoaded", async () => {
	try {
		globalThis.hvtrace = start(await readTrace());
		requestAnimationFrame(() => setTimeout(() => performance.mark("painted")));
	} catch (error) {
		document.getElementById("page").textContent =
			`This page is damaged, or not all of it is there (${error.message}).`;
		throw error;
	}
});
