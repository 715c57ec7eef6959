// SPDX-License-Identifier: GPL-2.0-or-later
// flame.js - what a flame graph does in a browser: a click zooms to a frame, Ctrl-F searches, and what is
// below the mouse is told above the picture. Without it the picture is the same.
(() => {
	"use strict";

	const SVG = "http://www.w3.org/2000/svg",
		XHTML = "http://www.w3.org/1999/xhtml";
	const MARGIN = 12,
		LETTER = 7,
		PAD = 3; // as in render-flame.c
	const FOUND = "#e65bd3",
		FONT = "12px 'DejaVu Sans', Helvetica, Arial, sans-serif";

	const svg = document.currentScript.closest("svg");
	const told = svg.querySelector("#told"),
		heading = told.textContent;
	const width = svg.viewBox.baseVal.width,
		whole = { x: MARGIN, width: width - 2 * MARGIN, y: Infinity, percent: 100 };
	const frames = [...svg.querySelectorAll("#frames > g")].map(readFrame);
	let seen = whole; // what has all of the width

	function readFrame(g) {
		const rect = g.querySelector("rect"),
			title = g.querySelector("title").textContent;
		const number = (name) => Number(rect.getAttribute(name));
		return {
			g,
			rect,
			title,
			text: g.querySelector("text"),
			name: title.split("\n", 1)[0],
			percent: Number(/, ([\d.]+) %/.exec(title.slice(title.indexOf("\n")))[1]),
			fill: rect.getAttribute("fill"),
			x: number("x"),
			y: number("y"),
			width: number("width"),
		};
	}

	// --- zoom -------------------------------------------------------------------------------------

	// Places are rounded, and of what is wide enough half a pixel was taken away to tell it from the next one.
	function within(inner, outer) {
		const room = outer.width > 2.5 ? 0.65 : 0.11;
		return inner.x >= outer.x - 0.11 && inner.x + inner.width <= outer.x + outer.width + room;
	}

	function writeLabel(frame, x, room) {
		const letters = Math.floor((room - 5) / LETTER);
		let text = frame.name;
		if (letters < 3 || (letters < 6 && text.length > letters)) text = "";
		else if (text.length > letters) text = `${text.slice(0, letters - 2)}..`;
		if (!frame.text && text) {
			frame.text = document.createElementNS(SVG, "text");
			frame.text.setAttribute("y", frame.y + 13);
			frame.g.append(frame.text);
		}
		if (!frame.text) return;
		frame.text.textContent = text;
		frame.text.setAttribute("x", x + PAD);
	}

	function place(frame, x, width) {
		frame.g.style.display = "";
		frame.rect.setAttribute("x", x.toFixed(2));
		frame.rect.setAttribute("width", width.toFixed(2));
		writeLabel(frame, x, width);
	}

	// What calls it is as wide as all; what it calls as wide as its part of it; nothing else is seen.
	function zoom(to) {
		const scale = whole.width / to.width;
		seen = to;
		for (const frame of frames) {
			const calls = frame.y > to.y && within(to, frame);
			frame.g.style.opacity = calls ? "0.55" : "";
			if (calls) place(frame, whole.x, whole.width);
			else if (frame.y <= to.y && within(frame, to))
				place(frame, whole.x + (frame.x - to.x) * scale, frame.width * scale);
			else frame.g.style.display = "none";
		}
		reset.style.display = to === whole ? "none" : "";
		tellMatches();
	}

	// --- search -----------------------------------------------------------------------------------

	let pattern = null;

	// Frames within others that match, too, are not counted twice. Widths have gaps, so titles tell.
	function share(matching) {
		let sum = 0,
			end = -Infinity;
		for (const frame of [...matching].sort((a, b) => a.x - b.x || b.width - a.width)) {
			if (frame.x + frame.width / 2 < end) continue;
			sum += frame.percent;
			end = frame.x + frame.width;
		}
		return sum / Math.max(seen.percent, 0.01);
	}

	function tellMatches() {
		if (!pattern) {
			matched.textContent = "";
			return;
		}
		const matching = frames.filter((frame) => frame.fill !== frame.rect.getAttribute("fill"));
		const shown = matching.filter((frame) => frame.y <= seen.y && within(frame, seen));
		matched.textContent = `${(100 * share(shown)).toFixed(2)} % matched`;
	}

	function search(expression) {
		try {
			pattern = expression ? new RegExp(expression) : null;
			input.style.color = "";
		} catch {
			input.style.color = "#c00";
			return;
		}
		for (const frame of frames) frame.rect.setAttribute("fill", pattern?.test(frame.name) ? FOUND : frame.fill);
		tellMatches();
	}

	// --- what is added to the picture ---------------------------------------------------------------

	function addText(x, y, text, act) {
		const element = document.createElementNS(SVG, "text");
		for (const [name, value] of Object.entries({ x, y, "text-anchor": "end", fill: "#444" }))
			element.setAttribute(name, value);
		element.style.font = FONT;
		element.textContent = text;
		if (act) {
			element.style.cursor = "pointer";
			element.addEventListener("click", act);
		}
		svg.append(element);
		return element;
	}

	function addInput() {
		const box = document.createElementNS(SVG, "foreignObject"),
			field = document.createElementNS(XHTML, "input");
		for (const [name, value] of Object.entries({ x: width - MARGIN - 190, y: 8, width: 190, height: 26 }))
			box.setAttribute(name, value);
		Object.assign(field, {
			type: "search",
			placeholder: "Search (Ctrl-F): a regular expression",
			spellcheck: false,
		});
		Object.assign(field.style, { width: "100%", boxSizing: "border-box", font: FONT });
		field.addEventListener("input", () => search(field.value));
		box.append(field);
		svg.append(box);
		return field;
	}

	const input = addInput();
	const matched = addText(width - MARGIN, 48, "");
	const reset = addText(width - MARGIN - 200, 25, "Reset zoom", () => zoom(whole));
	reset.style.display = "none";

	for (const frame of frames) {
		frame.g.style.cursor = "pointer";
		frame.g.addEventListener("click", () => zoom(frame));
		frame.g.addEventListener("mouseenter", () => (told.textContent = frame.title.replaceAll("\n", " \u00b7 ")));
		frame.g.addEventListener("mouseleave", () => (told.textContent = heading));
	}
	document.addEventListener("keydown", (event) => {
		if (event.key === "f" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			input.select();
		} else if (event.key === "Escape") {
			input.value = "";
			search("");
			zoom(whole);
		}
	});
})();
