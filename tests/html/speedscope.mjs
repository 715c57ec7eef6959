// SPDX-License-Identifier: GPL-2.0-or-later
// speedscope.mjs - files of hvtrace export --to speedscope, as a user opens them in speedscope.
//
// usage: node speedscope.mjs MANY HOSTILE BROKEN
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { end, openFile, result, same, withBrowser } from "./browser.mjs";

const [many, hostile, broken] = process.argv.slice(2);
const RELEASE = resolve(process.env.O, "html/node_modules/speedscope/dist/release");

// Its own files are no surprise.
const surprises = (wrong) => wrong.filter((text) => !text.startsWith("fetches file:") || !text.includes(RELEASE));

async function open(browser, path) {
	const { page, wrong } = await openFile(browser, `${RELEASE}/index.html`);
	await page.locator("input[type=file]").setInputFiles(path);
	return { page, wrong };
}

async function imports(browser, path, name) {
	const { page, wrong } = await open(browser, path),
		profiles = JSON.parse(readFileSync(path, "utf8")).profiles.length;
	await page.waitForFunction(() => document.querySelector("canvas") && document.title !== "speedscope");
	result(true, `${name}: speedscope draws it`);
	const shown = await page.evaluate(() => document.body.innerText);
	result(profiles < 2 || shown.includes(`/${profiles})`), `${name}: all of its ${profiles} profiles`, shown.slice(0, 200));
	same(surprises(wrong), [], `${name}: and has nothing to complain about`);
	await page.close();
}

// So what is asked of the others can be missing.
async function refuses(browser, path) {
	const { page } = await open(browser, path);
	await page.waitForFunction(() => document.body.innerText.includes("Something went wrong"));
	result(true, "what is no such file it refuses");
	await page.close();
}

await withBrowser(async (browser) => {
	await imports(browser, many, "many");
	await imports(browser, hostile, "hostile");
	await refuses(browser, broken);
});
end();
