// SPDX-License-Identifier: GPL-2.0-or-later
// statistics.jsx - a table of what the selection comes to, by any of its columns.
import { useSignal } from "@preact/signals";
import { duration } from "../data/times.js";
import { matcher } from "../search.js";

const SHOWN = 300; // rows: the first ones of all

const COLUMNS = [
	{ key: "name", title: "name" },
	{ key: "what", title: "kind" },
	{ key: "count", title: "count", number: true },
	{ key: "total", title: "total", time: true },
	{ key: "self", title: "self", time: true },
	{ key: "mean", title: "mean", time: true },
	{ key: "max", title: "max", time: true },
];

function compare(key, down) {
	const sign = down ? -1 : 1;
	if (key === "name" || key === "what") return (a, b) => sign * a[key].localeCompare(b[key]);
	return (a, b) => sign * (a[key] - b[key]) || b.count - a.count;
}

function cell(row, { key, time, number }, isNs) {
	if (time) return row.timed ? duration(row[key], isNs) : "";
	return number ? row[key].toLocaleString("en") : row[key];
}

function Header({ order }) {
	const by = (column) => {
		const { key, down } = order.value;
		order.value = {
			key: column.key,
			down: key === column.key ? !down : column.key !== "name" && column.key !== "what",
		};
	};
	const sorted = ({ key }) => (order.value.key !== key ? undefined : order.value.down ? "descending" : "ascending");
	return (
		<tr>
			{COLUMNS.map((column) => (
				<th key={column.key} class={column.time || column.number ? "number" : ""} aria-sort={sorted(column)}>
					<button onClick={() => by(column)}>{column.title}</button>
				</th>
			))}
		</tr>
	);
}

export function Statistics({ view, statistics }) {
	const order = useSignal({ key: "total", down: true });
	const all = statistics.value;
	if (!all) return <p class="empty">Adding up…</p>;
	const matches = matcher(view.term.value),
		wanted = matches ? all.filter((row) => matches(row.name)) : all,
		rows = [...wanted].sort(compare(order.value.key, order.value.down)).slice(0, SHOWN);
	const isNs = view.trace.about.ns;
	return (
		<div class="scroll">
			<table>
				<thead>
					<Header order={order} />
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr
							key={`${row.what} ${row.name}`}
							tabIndex={0}
							onClick={() => (view.term.value = row.name)}
							onKeyDown={(event) => event.key === "Enter" && (view.term.value = row.name)}
						>
							{COLUMNS.map((column) => (
								<td key={column.key} class={column.time || column.number ? "number" : ""}>
									{cell(row, column, isNs)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
			{wanted.length > rows.length && (
				<p class="empty">{`${(wanted.length - rows.length).toLocaleString("en")} more`}</p>
			)}
			{!rows.length && <p class="empty">There is nothing in it.</p>}
		</div>
	);
}
