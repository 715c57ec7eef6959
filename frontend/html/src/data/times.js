// SPDX-License-Identifier: GPL-2.0-or-later
// times.js - times as texts. Within the page they are counted from the first record on.

const UNITS = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "\u00b5s"],
	[1, "ns"],
];

function trimmed(value, digits) {
	return value.toFixed(digits).replace(/\.?0+$/, "");
}

// "1.25 ms"; what is no nanoseconds has no unit.
export function duration(ns, isNs = true) {
	if (!isNs) return Math.round(ns).toLocaleString("en");
	const [unit, name] = UNITS.find(([unit]) => Math.abs(ns) >= unit) ?? UNITS[3];
	const value = ns / unit;
	return `${unit === 1 ? Math.round(value) : trimmed(value, value >= 100 ? 1 : value >= 10 ? 2 : 3)} ${name}`;
}

// "12.345678901", as hvtrace report has it with all digits.
export function moment(about, ns) {
	const at = BigInt(about.base) + BigInt(Math.round(ns));
	if (!about.ns) return String(at);
	return `${at / 1000000000n}.${String(at % 1000000000n).padStart(9, "0")}`;
}

// What marks of an axis say that are step apart: the same digits for all.
export function axisLabels(about, from, step) {
	if (!about.ns) return { anchor: 0, anchorLabel: "", label: (ns) => moment(about, ns) };
	const [unit, name] = UNITS.find(([unit]) => step * 10 >= unit) ?? UNITS[3];
	const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
	// A thousand of the unit has the anchor; seconds need none.
	const whole = unit === 1e9 ? 0n : BigInt(unit * 1000);
	const start = BigInt(about.base) + BigInt(Math.floor(from));
	const anchor = whole ? start - (start % whole) : 0n;
	const offset = Number(anchor - BigInt(about.base));
	const places = unit === 1e9 ? 0 : { 1e6: 0, 1e3: 3, 1: 6 }[unit];
	const seconds = `${anchor / 1000000000n}.${String(anchor % 1000000000n)
		.padStart(9, "0")
		.slice(0, places)}`;
	return {
		anchorLabel: whole ? `${seconds.replace(/\.$/, "")} s` : "",
		label: (ns) => `${whole ? "+" : ""}${((ns - offset) / unit).toFixed(digits)} ${name}`,
	};
}
