// SPDX-License-Identifier: GPL-2.0-or-later
// theme.js - colours of the canvas; those of everything else are in style.css, where these come from, too.

const DARK_TEXT = "#1b1f24";
const SHADES = 7;

function fromHsl(hue, saturation, lightness) {
	const most = saturation * Math.min(lightness, 1 - lightness);
	return [0, 8, 4].map((n) => {
		const k = (n + hue / 30) % 12;
		return Math.round(255 * (lightness - most * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	});
}

export class Theme {
	constructor(about) {
		this.about = about;
		this.scheme = matchMedia("(prefers-color-scheme: dark)");
		this.read();
	}

	onChange(then) {
		this.scheme.addEventListener("change", () => {
			this.read();
			then();
		});
	}

	read() {
		const style = getComputedStyle(document.documentElement);
		for (const name of ["back", "line", "text", "faint", "accent", "group", "selection", "lost", "window"])
			this[name] = style.getPropertyValue(`--${name}`).trim();
		this.sliceText = DARK_TEXT;
		this.cache = new Map();
	}

	// Colours are texts, for the canvas, and words as they stand in the memory of a picture, without the alpha.
	cached(key, make) {
		let colour = this.cache.get(key);
		if (!colour) {
			const rgb = make();
			colour = { css: `rgb(${rgb.join(" ")})`, word: rgb[0] | (rgb[1] << 8) | (rgb[2] << 16) };
			this.cache.set(key, colour);
		}
		return colour;
	}

	// Of the part of the kernel, as in the pictures of hvtrace flame; a shade for each name.
	ofName(name) {
		const { parts, subsystems } = this.about;
		if (name >= parts.length) return this.ofHue(name - parts.length);
		return this.cached(name, () =>
			subsystems[parts[name]].rgb.map((c) => Math.min(255, c + 3 * ((name % SHADES) - (SHADES >> 1)))),
		);
	}

	// Tasks, vCPUs and events: neighbours differ.
	ofHue(number) {
		return this.cached(`hue ${number}`, () => fromHsl((number * 137.5 + 210) % 360, 0.52, 0.68));
	}

	// One of style.css: "#1f2328"
	ofStyle(name) {
		return this.cached(name, () => [1, 3, 5].map((at) => parseInt(this[name].slice(at, at + 2), 16)));
	}

	ofSlice(row, name) {
		switch (row.what) {
			case "task":
			case "vcpu":
				return this.ofHue(name);
			case "window":
				return this.ofStyle("window");
			default:
				return this.ofName(name);
		}
	}

	ofTick(row, name) {
		return row.what === "lost" ? this.ofStyle("lost") : this.ofName(name);
	}
}
