// SPDX-License-Identifier: GPL-2.0-or-later
// records.js - the stream of records, as frontend/export/html.c writes it, becomes tasks and vCPUs.
import { Lane, Nest, Ticks } from "./columns.js";

const BEGIN = 0,
	END = 1,
	HIT = 2,
	EVENT = 3,
	RUN = 4,
	COUNTER = 5,
	LOST = 6,
	TELL = 7;
const TELL_TASK = 0,
	TELL_TRACK = 1;
const CALLS = 1,
	MARKERS = 2,
	WAKEUP = 3,
	COUNTS = 4,
	IRQS_OFF = 5,
	HOST = 7;

const CARRIED = 1 << 23; // slices that go on with what their task is in, on a vCPU that it comes to: no more
const MARGIN = 0.003; // of the whole, behind it: so that the last record can be seen
const OVERVIEW = 2048; // how many parts of the whole time are counted

class Cpu {
	constructor(number) {
		this.number = number;
		this.task = null; // that runs there now
		this.running = new Lane(); // names: tasks, by their index
		this.calls = new Map(); // by buffer: what the task that runs there calls
		this.irqs = new Nest();
		this.preempt = new Nest();
		this.host = new Nest(); // what the host does with it
		this.events = new Ticks(); // more: the event's number
		this.hits = new Ticks(); // more: who calls
		this.lost = new Ticks(); // more: how many; -1: some
	}
}

class Task {
	constructor(index, key) {
		this.index = index;
		this.key = key;
		this.pid = 0;
		this.tgid = 0;
		this.comm = "?";
		this.cpu = null; // where it runs now
		this.records = 0;
		this.running = new Lane(); // names: vCPUs
		this.calls = new Map();
		this.markers = new Nest();
		this.wakeup = new Nest();
		this.events = new Ticks();
		this.hits = new Ticks();
	}

	// When it was there for the last time.
	seen(now) {
		const { running } = this;
		return this.cpu ? now : running.n ? running.end[running.n - 1] : now;
	}

	get label() {
		return this.pid ? `${this.comm}-${this.pid}` : `${this.comm}/${this.key >> 1}`;
	}
}

// Of a map, made when it is first asked for.
function member(map, key, make) {
	let value = map.get(key);
	if (value === undefined) map.set(key, (value = make()));
	return value;
}

// Numbers of seven bits a byte, and texts.
class Reader {
	at = 0;

	constructor(bytes) {
		this.bytes = bytes;
	}

	number() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 0x80) return byte;
		let value = byte & 0x7f,
			unit = 0x80;
		do {
			byte = bytes[this.at++];
			value += (byte & 0x7f) * unit;
			unit *= 0x80;
		} while (byte >= 0x80);
		return value;
	}

	text() {
		const length = this.number();
		this.at += length;
		return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
	}
}

class Decoder {
	constructor(bytes, about) {
		this.reader = new Reader(bytes);
		this.about = about;
		this.time = 0;
		this.over = false;
		this.carried = 0;
		this.records = 0;
		this.cpus = new Map();
		this.tasks = new Map();
		this.counters = new Map();
		this.tracks = []; // by their numbers
		this.eventName = about.names.length; // events have the numbers behind functions
		this.textAt = [0];
		this.textEnd = 0;
		this.times = new Ticks(); // of a part of the records: for the overview
	}

	cpu(number) {
		return member(this.cpus, number, () => new Cpu(number));
	}

	task(key) {
		return member(this.tasks, key, () => new Task(this.tasks.size, key));
	}

	tell(what) {
		const r = this.reader;
		if (what === TELL_TASK) {
			const task = this.task(r.number());
			task.pid = r.number() | 0;
			task.tgid = r.number() | 0;
			task.comm = r.text();
		} else if (what === TELL_TRACK) {
			this.tracks.push(this.track(r.number(), r.number(), r.number(), r.number()));
		} else {
			this.over = true;
		}
	}

	// What begins and ends of a track's slices is done to.
	track(kind, owner, buffer, name) {
		switch (kind) {
			case CALLS:
				return {
					task: this.task(owner),
					buffer,
					nest: member(this.task(owner).calls, buffer, () => new Nest()),
				};
			case MARKERS:
				return { task: this.task(owner), nest: this.task(owner).markers };
			case WAKEUP:
				return { task: this.task(owner), nest: this.task(owner).wakeup };
			case COUNTS:
				return {
					ticks: member(this.counters, `${owner} ${name}`, () => ({ tgid: owner, name, values: new Ticks() }))
						.values,
				};
			case IRQS_OFF:
				return { nest: this.cpu(owner).irqs };
			case HOST:
				return { nest: this.cpu(owner).host };
			default:
				return { nest: this.cpu(owner).preempt };
		}
	}

	// The nest of the vCPU on which a track's task runs; of other tracks none.
	beside(track) {
		const cpu = track.buffer !== undefined && track.task.cpu;
		return cpu ? member(cpu.calls, track.buffer, () => new Nest()) : null;
	}

	begin(track, name) {
		track.nest.begin(this.time, name);
		this.beside(track)?.begin(this.time, name);
	}

	// One that nobody has seen ending lasts as long as its task was seen: that may not be there any more.
	end(track) {
		track.nest.finish(this.over && track.task ? track.task.seen(this.time) : this.time);
		this.beside(track)?.finish(this.time);
	}

	leave(cpu) {
		const task = cpu.task;
		if (!task) return;
		cpu.running.finish(this.time);
		if (task.cpu !== cpu) return;
		task.running.finish(this.time);
		task.cpu = null;
	}

	run(cpu, task) {
		this.leave(cpu);
		// It was seen elsewhere, and not how it came here.
		if (task.cpu) {
			const other = task.cpu;
			this.leave(other);
			other.task = null;
			for (const nest of other.calls.values()) nest.follow(null, this.time);
		}
		cpu.task = task;
		task.cpu = cpu;
		cpu.running.begin(this.time, task.index);
		task.running.begin(this.time, cpu.number);
		for (const buffer of task.calls.keys()) member(cpu.calls, buffer, () => new Nest());
		for (const [buffer, nest] of cpu.calls) this.carry(task.calls.get(buffer), nest);
	}

	// What a task is in comes along to a vCPU; where tasks do nothing but to switch there is an end to it.
	carry(calls, nest) {
		this.carried += calls?.depth ?? 0;
		nest.follow(this.carried < CARRIED ? calls : null, this.time);
	}

	hit(cpu, name, caller) {
		cpu.hits.put(this.time, name, caller);
		cpu.task?.hits.put(this.time, name, caller);
	}

	event(cpu, event, length) {
		const number = this.textAt.length - 1;
		cpu.events.put(this.time, this.eventName + event, number);
		cpu.task?.events.put(this.time, this.eventName + event, number);
		this.textEnd += length;
		this.textAt.push(this.textEnd);
	}

	counter(track, zigzag) {
		track.ticks.put(this.time, 0, zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2);
	}

	one(op, about) {
		const r = this.reader;
		switch (op) {
			case BEGIN:
				return this.begin(this.tracks[about], r.number());
			case END:
				return this.end(this.tracks[about]);
			case HIT:
				return this.hit(this.cpu(about), r.number(), r.number());
			case EVENT:
				return this.event(this.cpu(about), r.number(), r.number());
			case RUN:
				return this.run(this.cpu(about), this.task(r.number()));
			case COUNTER:
				return this.counter(this.tracks[about], r.number());
			case LOST:
				return this.cpu(about).lost.put(this.time, 0, r.number() - 1);
			case TELL:
				return this.tell(about);
		}
	}

	all() {
		const r = this.reader,
			end = r.bytes.length;
		while (r.at < end) {
			const head = r.number();
			this.time += r.number();
			this.one(head & 7, Math.floor(head / 8));
			if ((++this.records & 15) === 0) this.times.put(this.time, 0, 0);
		}
	}

	seal() {
		for (const cpu of this.cpus.values()) {
			this.leave(cpu);
			for (const nest of [cpu.irqs, cpu.preempt, cpu.host, ...cpu.calls.values()]) nest.seal(this.time);
			cpu.running.seal();
		}
		for (const task of this.tasks.values()) {
			for (const nest of [task.markers, task.wakeup, ...task.calls.values()]) nest.seal(this.time);
			task.running.seal();
			task.records = task.events.n + task.hits.n + task.running.n;
			for (const nest of task.calls.values()) for (const lane of nest.lanes) task.records += lane.n;
		}
	}

	overview() {
		const counts = new Float64Array(OVERVIEW);
		for (let i = 0; i < this.times.n; i++)
			counts[Math.min(OVERVIEW - 1, Math.floor((this.times.time[i] / (this.time * (1 + MARGIN))) * OVERVIEW))]++;
		return counts;
	}
}

export function decodeRecords(bytes, about) {
	const d = new Decoder(bytes, about);
	d.all();
	d.seal();
	return {
		about,
		length: Math.max(d.time, 1), // times are from 0 to this, from about.base on
		extent: Math.max(d.time, 1) * (1 + MARGIN), // what can be seen
		cpus: [...d.cpus.values()].sort((a, b) => a.number - b.number),
		tasks: [...d.tasks.values()],
		counters: [...d.counters.values()],
		textAt: Uint32Array.from(d.textAt),
		overview: d.overview(),
		names: [...about.names, ...about.events.map(([system, name]) => (system ? `${system}:${name}` : name))],
		isEvent: (name) => name >= about.names.length,
	};
}
