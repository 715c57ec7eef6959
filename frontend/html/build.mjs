// SPDX-License-Identifier: GPL-2.0-or-later
// build.mjs - the page of `hvtrace report --html` out of its modules: one file, in two parts between which
// hvtrace writes a trace. It fetches nothing: scripts are named by their hashes, and nothing else may run.
//
// usage: node build.mjs NODE_MODULES HEAD TAIL LICENCES
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

const [modules, headFile, tailFile, licencesFile] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const read = (...path) => readFileSync(join(...path), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function bundle(entry) {
	const { outputFiles, metafile } = await esbuild.build({
		entryPoints: [join(here, entry)],
		bundle: true,
		write: false,
		metafile: true,
		minify: true,
		format: "iife",
		target: ["chrome103", "firefox113", "safari16.4"],
		jsx: "automatic",
		jsxImportSource: "preact",
		nodePaths: [modules],
		legalComments: "none",
		charset: "ascii",
	});
	return { text: outputFiles[0].text.trim(), inputs: Object.keys(metafile.inputs) };
}

// speedscope's release: its page, whose style and script are in files, and whose font is.
function speedscope() {
	const release = join(modules, "speedscope/dist/release"),
		files = readdirSync(release);
	const only = (pattern) => {
		const found = files.filter((file) => pattern.test(file));
		if (found.length !== 1) throw new Error(`speedscope has ${found.length} files ${pattern}`);
		return found[0];
	};
	const font = only(/\.woff2$/);
	const style = read(release, only(/^speedscope-.*\.css$/))
		.replace(/\/\*#.*\*\//, "")
		.replace(`./${font}`, `data:font/woff2;base64,${readFileSync(join(release, font)).toString("base64")}`);
	const script = read(release, only(/^speedscope-.*\.js$/)).replace(/\/\/# sourceMappingURL.*/, "");
	if (/<\/script/i.test(script)) throw new Error("speedscope's script cannot stand in a page");
	const prelude = read(here, "speedscope-prelude.js");
	const page = `<!doctype html><html><head><meta charset="utf-8"><title>speedscope</title><style>${style}</style></head>
<body><script>${prelude}</script><script>${script}</script></body></html>`;
	return { packed: deflateRawSync(page, { level: 9 }).toString("base64"), hashes: [hash(prelude), hash(script)] };
}

// Of all that is in the page.
function licences(inputs) {
	const names = new Set(["speedscope"]);
	for (const input of inputs) {
		const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
		if (found) names.add(found[1]);
	}
	return [...names]
		.sort()
		.map((name) => {
			const { version, license } = JSON.parse(read(modules, name, "package.json"));
			const file = readdirSync(join(modules, name)).find((one) => /^licen[cs]e/i.test(one));
			if (!file) throw new Error(`${name} comes without its licence`);
			return `${name} ${version} (${license})\n\n${read(modules, name, file).trim()}`;
		})
		.concat([
			`Source Code Pro (OFL-1.1)\n\n${read(modules, "speedscope/dist/release/source-code-pro.LICENSE.md").trim()}`,
		])
		.join(`\n\n${"-".repeat(72)}\n\n`)
		.replaceAll("<", "(")
		.replaceAll(">", ")");
}

const script = await bundle("src/main.jsx"),
	style = await bundle("style.css"),
	flame = speedscope();
const policy = [
	"default-src 'none'",
	`script-src ${[hash(script.text), ...flame.hashes].join(" ")} 'wasm-unsafe-eval'`,
	"style-src 'unsafe-inline'",
	"img-src data:",
	"font-src data:",
	"frame-src blob:",
	"base-uri 'none'",
	"form-action 'none'",
];
const parts = {
	CSP: policy.join("; "),
	STYLE: style.text,
	SCRIPT: script.text,
	LICENCES: licences([...script.inputs, ...style.inputs]),
	SPEEDSCOPE: flame.packed,
};
const page = read(here, "page.html").replace(/@(CSP|STYLE|SCRIPT|LICENCES|SPEEDSCOPE)@/g, (_, name) => parts[name]);
const [head, tail] = page.split("@DATA@\n");
writeFileSync(headFile, head);
writeFileSync(tailFile, tail);
writeFileSync(licencesFile, `${parts.LICENCES}\n`);
