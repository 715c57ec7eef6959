// SPDX-License-Identifier: GPL-2.0-or-later
// help.jsx - keys and mouse, and whose work is in the page.
import { useEffect, useRef } from "preact/hooks";

const MOUSE = [
	["Wheel", "zoom; with shift: move; on the labels: rows above and below"],
	["Drag", "select time and rows; from the axis: time and all rows"],
	["Shift + drag", "move"],
	["Click", "details; twice: zoom to it"],
];

function Rows({ rows }) {
	return (
		<table>
			<tbody>
				{rows.map(([key, what]) => (
					<tr key={key}>
						<th>
							<kbd>{key}</kbd>
						</th>
						<td>{what}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

export function Help({ view, keys }) {
	const dialog = useRef();
	useEffect(() => dialog.current?.showModal(), [view.help.value]);
	if (!view.help.value) return null;
	const close = () => (view.help.value = false);
	return (
		<dialog ref={dialog} onClose={close} onClick={(event) => event.target === dialog.current && close()}>
			<div class="columns">
				<div>
					<h2>Keys</h2>
					<Rows rows={keys.map((row) => [row.shown, row.what])} />
				</div>
				<div>
					<h2>Mouse</h2>
					<Rows rows={MOUSE} />
				</div>
			</div>
			<details>
				<summary>Licences</summary>
				<pre>{document.getElementById("licences").textContent.trim()}</pre>
			</details>
			<form method="dialog">
				<button>Close</button>
			</form>
		</dialog>
	);
}
