// SPDX-License-Identifier: GPL-2.0-or-later
// flame.jsx - the flame graph of the selection: speedscope as npm has it, in a frame of its own, to which
// profiles are sent (speedscope-prelude.js).
import { useSignalEffect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { inflate } from "../data/blocks.js";

let made = null; // the address of speedscope's page: once for all

async function makePage() {
	const element = document.getElementById("speedscope");
	const packed = Uint8Array.from(atob(element.textContent), (char) => char.charCodeAt(0));
	const page = await inflate([packed]);
	return `${URL.createObjectURL(new Blob([page], { type: "text/html" }))}#view=left-heavy`;
}

export function Flame({ profile }) {
	const frame = useRef(),
		loaded = useSignal(false);
	useEffect(() => {
		made ??= makePage();
		made.then((address) => {
			if (frame.current) frame.current.src = address;
		});
	}, []);
	useSignalEffect(() => {
		if (loaded.value && profile.value) frame.current.contentWindow.postMessage(JSON.stringify(profile.value), "*");
	});
	const nothing = profile.value === null;
	return (
		<>
			{nothing && (
				<p class="empty">No calls were recorded there: a flame graph is of function_graph or function.</p>
			)}
			<iframe
				ref={frame}
				title="Flame graph"
				hidden={nothing}
				onLoad={(event) => (loaded.value = event.currentTarget.src !== "")}
			/>
		</>
	);
}
