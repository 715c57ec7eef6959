// SPDX-License-Identifier: GPL-2.0-or-later
// axis.js - the marks of the time axis.
import { scaleLinear } from "d3-scale";
import { axisLabels } from "../data/times.js";

const APART = 120; // pixels
const ROUND = 10n ** 15n; // times are within what numbers have room for: 11 days

// { anchor: text, marks: [{ x, label }] }: marks are round in the time that is told, not within the page.
export function axisMarks(about, { from, to }, width) {
	const base = Number(BigInt(about.base) % ROUND);
	const scale = scaleLinear([base + from, base + to], [0, width]);
	const ticks = scale.ticks(Math.max(2, Math.floor(width / APART))).filter((tick) => Number.isInteger(tick));
	const step = ticks.length > 1 ? ticks[1] - ticks[0] : to - from;
	const { anchorLabel, label } = axisLabels(about, from, step);
	return { anchor: anchorLabel, marks: ticks.map((tick) => ({ x: scale(tick), label: label(tick - base) })) };
}
