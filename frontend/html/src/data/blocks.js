// SPDX-License-Identifier: GPL-2.0-or-later
// blocks.js - the streams of a page: what frontend/export/html-stream.c has written.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function decodeBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const value = new Uint8Array(128);
	for (let i = 0; i < 64; i++) value[DIGITS.charCodeAt(i)] = i;
	const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
	const bytes = new Uint8Array((text.length / 4) * 3 - padding);
	for (let i = 0, at = 0; i < text.length; i += 4, at += 3) {
		const bits =
			(value[text.charCodeAt(i)] << 18) |
			(value[text.charCodeAt(i + 1)] << 12) |
			(value[text.charCodeAt(i + 2)] << 6) |
			value[text.charCodeAt(i + 3)];
		bytes[at] = bits >> 16;
		bytes[at + 1] = bits >> 8;
		bytes[at + 2] = bits;
	}
	return bytes;
}

export function inflate(parts) {
	const unpacked = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate-raw"));
	return new Response(unpacked).arrayBuffer();
}

// All bytes of one stream; its elements are taken out of the page. Rejects what is not all there.
export async function readStream(name) {
	const elements = [...document.querySelectorAll(`script[class="${name}"]`)];
	const parts = elements.map((element) => decodeBase64(element.textContent));
	for (const element of elements) element.remove();
	if (!parts.length) throw new Error(`${name}: not there`);
	return new Uint8Array(await inflate(parts));
}
