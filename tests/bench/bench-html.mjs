// SPDX-License-Identifier: GPL-2.0-or-later
// bench-html.mjs - how long a browser takes for a page: until it is drawn first, and for a step of the wheel.
//
// usage: node bench-html.mjs PAGE.html; prints the first paint and the steps' 95th percentile, both in seconds
import { openPage, withBrowser } from "../html/browser.mjs";

const [pageFile] = process.argv.slice(2);
const PAGES = 3,
	STEPS = 60;

// From the wheel until the frame that it has caused is drawn; in and out again.
const steps = (page) =>
	page.evaluate(async (nr) => {
		const canvas = document.querySelector(".canvas canvas"),
			box = canvas.getBoundingClientRect(),
			times = [];
		const drawn = () =>
			new Promise((done) =>
				requestAnimationFrame(() => {
					const { port1, port2 } = new MessageChannel();
					port1.onmessage = done;
					port2.postMessage(null);
				}),
			);
		for (let i = 0; i < nr; i++) {
			await drawn();
			const start = performance.now();
			canvas.dispatchEvent(
				new WheelEvent("wheel", {
					deltaY: i < nr / 2 ? -100 : 100,
					clientX: box.left + 500,
					clientY: box.top + 100,
					cancelable: true,
				}),
			);
			await drawn();
			times.push(performance.now() - start);
		}
		return times;
	}, STEPS);

const rank = (values, part) => values.sort((a, b) => a - b)[Math.floor((values.length - 1) * part)];

await withBrowser(async (browser) => {
	const paints = [],
		zooms = [];
	for (let i = 0; i < PAGES; i++) {
		const { page } = await openPage(browser, pageFile);
		paints.push(await page.evaluate(() => performance.getEntriesByName("painted")[0].startTime));
		zooms.push(...(await steps(page)));
		await page.close();
	}
	console.log((rank(paints, 0.5) / 1000).toFixed(3), (rank(zooms, 0.95) / 1000).toFixed(4));
});
