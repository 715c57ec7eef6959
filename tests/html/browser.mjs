// SPDX-License-Identifier: GPL-2.0-or-later
// browser.mjs - Debian's Chromium without a window, and results in TAP. To be imported.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const PATIENCE = 60_000; // ms until a condition has to hold

const { chromium } = createRequire(resolve(process.env.O, "html/node_modules/x.js"))("playwright-core");

let count = 0,
	failed = false;

export function result(good, name, more) {
	if (!good) failed = true;
	if (!good && more !== undefined) console.log(`# ${JSON.stringify(more)}`.slice(0, 400));
	console.log(`${good ? "ok" : "not ok"} ${++count} - ${name}`);
}

// The same after JSON: what differs is shown.
export function same(got, want, name) {
	result(JSON.stringify(got) === JSON.stringify(want), name, { got, want });
}

export function end() {
	console.log(`1..${count}`);
	process.exitCode = failed ? 1 : 0;
}

export async function withBrowser(use) {
	const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
	try {
		await use(browser);
	} finally {
		await browser.close();
	}
}

// A file, and what went wrong in it: errors that it tells or has, questions that it asks, and what it fetches.
// Before it begins, before() is called in it.
export async function openFile(browser, path, before = () => {}) {
	const page = await browser.newPage({ viewport: { width: 1400, height: 860 } }),
		address = pathToFileURL(resolve(path)).href,
		wrong = [];
	page.setDefaultTimeout(PATIENCE);
	await page.addInitScript(before);
	page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
	page.on("pageerror", (error) => wrong.push(error.message));
	page.on("dialog", (dialog) => {
		wrong.push(`dialog ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => {
		const url = request.url();
		if (url !== address && !url.startsWith("blob:") && !url.startsWith("data:")) wrong.push(`fetches ${url}`);
	});
	await page.goto(address);
	return { page, wrong };
}

// The page of hvtrace report --html, once it is drawn.
export async function openPage(browser, path, before) {
	const opened = await openFile(browser, path, before);
	await opened.page.waitForFunction(() => performance.getEntriesByName("painted").length);
	return opened;
}
