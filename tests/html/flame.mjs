// SPDX-License-Identifier: GPL-2.0-or-later
// flame.mjs - pictures of hvtrace flame in a browser: zoom, search, what is told.
//
// usage: node flame.mjs SVG HOSTILE-SVG
import { end, openFile, result, same, withBrowser } from "./browser.mjs";

const [picture, hostile] = process.argv.slice(2);

// Of all frames: what they are called, and where they are drawn.
const framesOf = (page) =>
	page.evaluate(() =>
		[...document.querySelectorAll("#frames > g")].map((g) => {
			const rect = g.querySelector("rect"),
				[x, y, width] = ["x", "y", "width"].map((name) => Number(rect.getAttribute(name)));
			return {
				name: g.querySelector("title").textContent.split("\n")[0],
				x,
				y,
				width,
				shown: g.style.display !== "none",
				fill: rect.getAttribute("fill"),
				label: g.querySelector("text")?.textContent ?? "",
			};
		}),
	);

const frameAt = (page, i) => page.locator("#frames > g").nth(i);

// Of the frames the widest one in the third row from below: it has callers and callees.
function oneWithin(frames) {
	const rows = [...new Set(frames.map((frame) => frame.y))].sort((a, b) => b - a);
	const row = frames.map((frame, i) => ({ ...frame, i })).filter((frame) => frame.y === rows[2]);
	return row.sort((a, b) => b.width - a.width)[0];
}

const inside = (frame, outer) =>
	frame.x + frame.width / 2 > outer.x && frame.x + frame.width / 2 < outer.x + outer.width;

async function zooms(page, before) {
	const one = oneWithin(before),
		all = await page.evaluate(() => document.documentElement.viewBox.baseVal.width - 24);
	await frameAt(page, one.i).click();
	const after = await framesOf(page);
	result(Math.abs(after[one.i].width - all) < 1, "a click makes a frame as wide as the picture", after[one.i]);
	same(after[one.i].label, one.name, "with all of its name");
	const wrong = after.filter((frame, i) => {
		const old = before[i];
		const related = inside(old.y < one.y ? old : one, old.y < one.y ? one : old);
		return i !== one.i && Math.min(old.width, one.width) > 1 && frame.shown !== (old.y === one.y ? false : related);
	});
	same(wrong, [], "callers and callees of it are seen, and nothing else");
	const caller = before.findIndex((frame) => frame.y > one.y && inside(one, frame));
	await frameAt(page, caller).click();
	result(
		(await framesOf(page))[caller].width > all - 1 && (await framesOf(page))[one.i].width < all - 1,
		"a click on its caller goes back to that",
	);
	await page.getByText("Reset zoom").click();
	const back = await framesOf(page);
	result(
		back.every((frame, i) => frame.shown && Math.abs(frame.width - before[i].width) < 0.01),
		"and all of it can be had again",
	);
}

async function searches(page, before) {
	await page.keyboard.press("Control+f");
	await page.keyboard.type("^vfs_read_1");
	const after = await framesOf(page);
	same(
		after.filter((frame, i) => frame.fill !== before[i].fill).map((frame) => frame.name),
		before.filter((frame) => /^vfs_read_1/.test(frame.name)).map((frame) => frame.name),
		"the search paints what matches",
	);
	const told = await page.getByText("% matched").textContent();
	const bottom = Math.max(...before.map((frame) => frame.y)),
		all = before.filter((frame) => frame.y === bottom).reduce((sum, frame) => sum + frame.width, 0);
	result(
		Number.parseFloat(told) > 0 && Number.parseFloat(told) <= 100 && all > 0,
		"and tells how much that is",
		told,
	);
	await page.keyboard.press("Control+a");
	await page.keyboard.type(".");
	const everything = Number.parseFloat(await page.getByText("% matched").textContent());
	result(everything > 95 && everything <= 100, "all of it, if all matches", everything);
	await page.keyboard.press("Escape");
	same(
		(await framesOf(page)).filter((frame, i) => frame.fill !== before[i].fill),
		[],
		"until it is over",
	);
}

async function tells(page, before) {
	const one = oneWithin(before);
	await frameAt(page, one.i).hover();
	const told = await page.locator("#told").textContent();
	result(told.startsWith(one.name) && /\d %/.test(told) && /call/.test(told), "what the mouse is on is told", told);
}

await withBrowser(async (browser) => {
	const { page, wrong } = await openFile(browser, picture),
		frames = await framesOf(page);
	await tells(page, frames);
	await zooms(page, frames);
	await searches(page, frames);
	same(wrong, [], "nothing goes wrong, and nothing is fetched");
	const other = await openFile(browser, hostile);
	same(
		(await framesOf(other.page)).map((frame) => frame.name),
		["</script><img/src=x/onerror=alert(1)>"],
		"markup in a name is text",
	);
	await frameAt(other.page, 0).click();
	same(other.wrong, [], "and no script");
});
end();
