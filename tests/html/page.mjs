// SPDX-License-Identifier: GPL-2.0-or-later
// page.mjs - the page of hvtrace report --html, against what hvtrace report --json says.
//
// usage: node page.mjs PAGE JSON [HOSTILE DAMAGED]
import { readFileSync } from "node:fs";
import { end, openFile, openPage, result, same, withBrowser } from "./browser.mjs";

const [pageFile, jsonFile, hostileFile, damagedFile] = process.argv.slice(2);

// --- what the records say ---------------------------------------------------------------------------

// Times in nanoseconds, which numbers have no room for as seconds.
const records = readFileSync(jsonFile, "utf8")
	.split("\n")
	.filter(Boolean)
	.map((line) => ({ ...JSON.parse(line), at: BigInt(/"time":(\d+)\.(\d{9})/.exec(line).slice(1).join("")) }));
const start = records[0].at;

// Calls that begin and end in the trace, of function_graph: { name, from, to }, from the first record on.
function wholeCalls() {
	const open = new Map(),
		calls = [];
	for (const record of records) {
		const key = `${record.pid ? record.pid : `idle ${record.cpu}`} ${record.fields?.depth}`;
		if (record.event === "funcgraph_entry") open.set(key, record);
		else if (record.event === "funcgraph_exit" && open.get(key)?.fields.func === record.fields.func) {
			calls.push({
				name: record.function,
				from: Number(open.get(key).at - start),
				to: Number(record.at - start),
			});
			open.delete(key);
		}
	}
	return { calls, open: new Set([...open.values()].map((record) => record.function)) };
}

// The function that is called most often of those whose calls all end, and not within themselves.
function commonest({ calls, open }) {
	const counts = new Map();
	for (const { name } of calls) if (!open.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function eventCounts() {
	const counts = {};
	for (const { system, event } of records)
		if (system !== "ftrace") counts[`${system}:${event}`] = (counts[`${system}:${event}`] ?? 0) + 1;
	return Object.fromEntries(Object.entries(counts).sort());
}

// --- what the page says -----------------------------------------------------------------------------

async function opens(page) {
	const got = await page.evaluate(() => ({
		records: hvtrace.view.trace.about.records,
		vcpus: hvtrace.view.trace.cpus.map((cpu) => cpu.number),
		tasks: hvtrace.view.trace.tasks.filter((task) => task.pid).map((task) => task.pid),
	}));
	same(got.records, records.length, "it has all records");
	same(
		got.vcpus,
		[...new Set(records.map((record) => record.cpu))].sort((a, b) => a - b),
		"and the vCPUs",
	);
	const pids = [...new Set(records.map((record) => record.pid))].filter(Boolean);
	same(
		pids.filter((pid) => !got.tasks.includes(pid)),
		[],
		"and all tasks that recorded something",
	);
}

async function countsEvents(page) {
	const got = await page.evaluate(() =>
		Object.fromEntries(
			hvtrace
				.statistics()
				.filter((row) => row.what === "event")
				.map((row) => [row.name, row.count])
				.sort(),
		),
	);
	for (const name of Object.keys(got)) if (name.startsWith("ftrace:")) delete got[name];
	same(got, eventCounts(), "it counts the events");
}

const sumsOf = (page, name) =>
	page.evaluate((name) => {
		const row = hvtrace.statistics().find((one) => one.name === name && one.what === "function");
		return row && { count: row.count, each: Math.round(row.mean * row.count), max: row.max };
	}, name);

function clipped(calls, from, to) {
	const times = calls
		.filter((call) => (call.to > from || call.from >= from) && call.from <= to)
		.map((call) => Math.min(call.to, to) - Math.max(call.from, from));
	return { count: times.length, each: times.reduce((a, b) => a + b, 0), max: Math.max(...times) };
}

async function sumsUp(page, calls, name) {
	await page.evaluate(() => (hvtrace.view.selection.value = null));
	const of = calls.filter((call) => call.name === name),
		length = Number(records.at(-1).at - start);
	same(await sumsOf(page, name), clipped(of, 0, length), `statistics of everything: ${name}`);
	// From within a call to within another one.
	const [first, last] = [of[of.length >> 2], of[(of.length * 3) >> 2]];
	const [from, to] = [Math.ceil((first.from + first.to) / 2), Math.floor((last.from + last.to) / 2)].sort(
		(a, b) => a - b,
	);
	await page.evaluate(([from, to]) => (hvtrace.view.selection.value = { from, to, rows: null }), [from, to]);
	same(await sumsOf(page, name), clipped(of, from, to), "and of a selection");
	await page.getByRole("tab", { name: "Statistics" }).click();
	await page.getByRole("cell", { name, exact: true }).first().waitFor();
	result(true, "which the table shows");
}

const callsOf = (name) => records.filter((record) => record.event === "funcgraph_entry" && record.function === name);

async function searches(page, name) {
	await page.keyboard.press("/");
	await page.keyboard.type(`/^${name}$/`);
	await page.keyboard.press("Enter");
	const nr = callsOf(name).length;
	await page.locator("output", { hasText: `of ${nr.toLocaleString("en")}` }).waitFor();
	result(true, `the search finds every call of ${name}`);
	await page.getByRole("definition").filter({ hasText: name }).first().waitFor();
	await page.keyboard.press("Enter");
	await page.locator("output", { hasText: /^2 of / }).waitFor();
	await page.keyboard.press("Shift+Enter");
	await page.locator("output", { hasText: /^1 of / }).waitFor();
	result(true, "one after the other, and back");
	const times = await page.evaluate(() => {
		const { view, search } = hvtrace;
		return Array.from({ length: search.count.value }, (_, i) => {
			if (i) search.step(1);
			return view.pickedTime().from;
		});
	});
	const began = callsOf(name).map((record) => Number(record.at - start));
	same(times, began, "all of them, by their times");
	await page.keyboard.press("Escape");
}

// With the wheel, where the mouse is, until it goes no further.
async function zooms(page) {
	const seen = () =>
		page.evaluate(() => ({
			...hvtrace.view.range.value,
			marks: hvtrace.painter.marks.marks.map((mark) => mark.label),
		}));
	await page.keyboard.press("0");
	const all = await seen();
	await page.mouse.move(800, 300);
	for (let i = 0; i < 200 && (await seen()).marks.some((label) => !/^\+\d+ ns$/.test(label)); i++)
		await page.mouse.wheel(0, -400);
	const near = await seen();
	result(
		near.marks.length > 1 && near.marks.every((label) => /^\+\d+ ns$/.test(label)),
		"the wheel zooms to nanoseconds",
		near,
	);
	result(near.to - near.from <= 1000 && near.from >= all.from && near.to <= all.to, "within what there is", near);
	await page.keyboard.press("d");
	result((await seen()).from > near.from, "a key moves on");
	await page.keyboard.press("0");
	same((await seen()).to, all.to, "and a key shows all");
}

async function drags(page) {
	const canvas = await page.locator(".canvas canvas").boundingBox();
	await page.mouse.move(canvas.x + 300, canvas.y + 10);
	await page.mouse.down();
	await page.mouse.move(canvas.x + 600, canvas.y + 10, { steps: 4 });
	await page.mouse.up();
	const got = await page.evaluate(() => {
		const { selection, range, size } = hvtrace.view,
			pixel = (range.value.to - range.value.from) / size.value.width;
		return [selection.value.from / pixel, selection.value.to / pixel].map(Math.round);
	});
	same(got, [300, 600], "a drag selects");
}

async function drawsFlames(page) {
	await page.getByRole("tab", { name: "Flame graph" }).click();
	const frame = page.frameLocator("iframe");
	await frame.getByText("Left Heavy").first().waitFor();
	result(true, "speedscope draws a flame graph of it");
}

async function tellsEvent(page) {
	const picked = await page.evaluate(() => {
		const { view } = hvtrace,
			row = view.groups.flatMap((group) => group.rows).find((one) => one.what === "event");
		if (!row) return null;
		view.pick(row, 0, 0);
		return view.trace.names[row.ticks.name[0]];
	});
	if (!picked) return;
	await page.getByRole("definition").filter({ hasText: picked }).waitFor();
	await page.getByRole("definition").filter({ hasText: "=" }).first().waitFor();
	result(true, "an event tells its fields");
}

async function helps(page) {
	await page.keyboard.press("?");
	await page.getByText("zoom in", { exact: true }).waitFor();
	await page.getByText("Licences").click();
	await page.getByText("Copyright").first().waitFor();
	result(true, "its help lists keys and licences");
	await page.keyboard.press("Escape");
}

async function looksAt(browser) {
	const { page, wrong } = await openPage(browser, pageFile),
		graph = wholeCalls(),
		name = commonest(graph);
	await opens(page);
	await countsEvents(page);
	await zooms(page);
	if (name) await searches(page, name);
	await drags(page);
	if (name) {
		await drawsFlames(page);
		await sumsUp(page, graph.calls, name);
	}
	await tellsEvent(page);
	await helps(page);
	same(wrong, [], "nothing goes wrong, and nothing is fetched");
	await page.close();
}

async function survives(browser) {
	const { page, wrong } = await openPage(browser, hostileFile);
	await page.getByRole("cell", { name: "</script><img/src=x/onerror=alert(1)>" }).first().waitFor();
	result(true, "markup in a name is text");
	same(await page.locator("img, b").count(), 0, "and makes no element");
	await page.getByRole("tab", { name: "Flame graph" }).click();
	await page.frameLocator("iframe").getByText("Left Heavy").first().waitFor();
	same(wrong, [], "and no script");
	await page.close();
	const older = await openPage(browser, hostileFile, () => delete Uint8Array.fromBase64);
	same(older.wrong, [], "a browser that knows no base64 shows it, too");
	await older.page.close();
	const damaged = await openFile(browser, damagedFile);
	await damaged.page.getByText("This page is damaged").waitFor();
	result(true, "a page of which a part is missing says so");
	await damaged.page.close();
}

await withBrowser(async (browser) => {
	await looksAt(browser);
	if (hostileFile) await survives(browser);
});
end();
