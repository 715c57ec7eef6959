// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfetto.c - the format of Perfetto: what the function tracers and markers say as slices, all
 * other events as ftrace's, which Perfetto draws itself. It would draw calls of function_graph and
 * markers, too, but not balanced, and twice if both were there.
 *
 * Each of several guests is a machine of its own, with CPUs, processes and threads of its own. What
 * stands in order in a sequence of packets, such as names told once, does so in one for each.
 */
#include "frontend/export/machine.h"
#include "frontend/export/names.h"
#include "frontend/export/perfetto-local.h"
#include "frontend/export/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of TracePacket. */
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* protos/perfetto/common/builtin_clock.proto */
enum { CLOCK_MONO = 3, CLOCK_MONO_RAW = 5, CLOCK_BOOT = 6, CLOCK_TSC = 9 };

struct perfetto {
	struct export *x;
	struct timeline *timeline;
	struct bundles *bundles;
	bool started;
	uint64_t now;
	uint8_t *told; /* a bit for each name */
	uint32_t nr_told;
};

static void write_packet(struct perfetto *p, Pf__TracePacket *packet)
{
	const uint32_t machine = p->x->in->machine;

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = SEQUENCE + machine;
	packet->has_machine_id = machine != 0;
	packet->machine_id = machine;
	packet_write(packet, p->x->out);
}

/* --- clocks, the machine -----------------------------------------------------------------------
 */

/* Times of events are in Perfetto's own default, whatever the kernel's clock counts from. */
static uint32_t clock_of(const char *name)
{
	static const struct {
		const char *name;
		uint32_t id;
	} clocks[] = {{"mono", CLOCK_MONO}, {"mono_raw", CLOCK_MONO_RAW}};

	for (size_t i = 0; name && i < sizeof(clocks) / sizeof(*clocks); i++)
		if (!strcmp(clocks[i].name, name))
			return clocks[i].id;
	return CLOCK_BOOT;
}

/* The ticks that dat_time() makes this time of. */
static uint64_t ticks_of(const struct dat_info *info, uint64_t time)
{
	const struct dat_tsc2nsec *t = &info->tsc2nsec;

	time -= (uint64_t)info->ts_offset;
	return (uint64_t)(((unsigned __int128)time << (t->shift & 63)) / t->mult);
}

/* The clock of the trace, and those that its times are also of. */
static void write_clocks(struct perfetto *p, uint64_t time)
{
	const struct dat_info *info = dat_info(p->x->in->dat);
	uint32_t own = clock_of(info->clock);
	Pf__ClockSnapshot__Clock clock[3], *clocks[3];
	Pf__ClockSnapshot snapshot = PF__CLOCK_SNAPSHOT__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	const struct {
		uint32_t id;
		uint64_t time;
		bool has;
	} all[] = {
		{CLOCK_BOOT, time, true},
		{own, time, own != CLOCK_BOOT},
		{CLOCK_TSC, info->tsc2nsec.mult ? ticks_of(info, time) : 0, info->tsc2nsec.mult},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		Pf__ClockSnapshot__Clock *c = &clock[snapshot.n_clocks];

		if (!all[i].has)
			continue;
		pf__clock_snapshot__clock__init(c);
		c->has_clock_id = c->has_timestamp = 1;
		c->clock_id = all[i].id;
		c->timestamp = all[i].time;
		clocks[snapshot.n_clocks++] = c;
	}
	snapshot.clocks = clocks;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = CLOCK_BOOT;
	packet.has_timestamp = 1;
	packet.timestamp = time;
	packet.clock_snapshot = &snapshot;
	write_packet(p, &packet);
}

static void write_system(struct perfetto *p)
{
	const struct dat_info *info = dat_info(p->x->in->dat);
	char words[3][NAMES_LEN], name[NAMES_LEN];
	const char *title = p->x->in->title;
	Pf__Utsname uname = PF__UTSNAME__INIT;
	Pf__SystemInfo system = PF__SYSTEM_INFO__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	system.has_num_cpus = 1;
	system.num_cpus = info->cpus;
	if (info->uname) {
		uname.sysname = machine_uname(info, DAT_UNAME_SYSTEM, words[0]);
		uname.release = machine_uname(info, DAT_UNAME_RELEASE, words[1]);
		uname.machine = machine_uname(info, DAT_UNAME_ARCH, words[2]);
		system.utsname = &uname;
	}
	if (title) {
		names_clean(name, title, strlen(title));
		system.machine_name = name;
	}
	packet.system_info = &system;
	packet.has_sequence_flags = 1;
	packet.sequence_flags = STATE_CLEARED;
	packet.has_first_packet_on_sequence = 1;
	packet.first_packet_on_sequence = 1;
	write_packet(p, &packet);
}

/* --- tasks, tracks -----------------------------------------------------------------------------
 */

/* Threads have their process; whose is not known is its own. */
static void write_task(void *arg, const struct task *task)
{
	struct perfetto *p = arg;
	char name[TASKS_COMM], *cmdline[] = {name};
	Pf__ProcessTree__Process process = PF__PROCESS_TREE__PROCESS__INIT,
				 *processes[] = {&process};
	Pf__ProcessTree__Thread thread = PF__PROCESS_TREE__THREAD__INIT, *threads[] = {&thread};
	Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	if (!task->pid)
		return;
	memcpy(name, task->comm, sizeof(name));
	if (task->tgid == task->pid) {
		process.has_pid = 1;
		process.pid = task->pid;
		process.has_ppid = task->ppid >= 0;
		process.ppid = task->ppid;
		process.n_cmdline = 1;
		process.cmdline = cmdline;
		process.has_cmdline_is_comm = process.cmdline_is_comm = 1;
		tree.n_processes = 1;
		tree.processes = processes;
	} else {
		thread.has_tid = thread.has_tgid = 1;
		thread.tid = task->pid;
		thread.tgid = task->tgid;
		thread.name = name;
		tree.n_threads = 1;
		tree.threads = threads;
	}
	packet.has_timestamp = 1;
	packet.timestamp = p->now;
	packet.process_tree = &tree;
	write_packet(p, &packet);
}

/*
 * Calls are on the thread's own track, if it is one: idle tasks have one for each vCPU, and calls
 * of another buffer would not fit in between.
 */
static bool is_thread_track(const struct track *t)
{
	return t->kind == TRACK_CALLS && t->task->pid && !t->task->buffer;
}

static void name_track(struct perfetto *p, const struct track *t, char *buf, size_t size)
{
	char kind[NAMES_LEN];
	const struct task *task = t->task;
	const char *buffer = task ? dat_buffer(p->x->in->dat, task->buffer)->name : "";
	char clean[NAMES_LEN];

	timeline_track_name(p->timeline, t, kind, sizeof(kind));
	names_clean(clean, buffer, strlen(buffer));
	if (!task)
		snprintf(buf, size, "%s", kind);
	else if (!task->pid)
		snprintf(buf, size, "swapper/%u %s%s%s", task->cpu, kind, *clean ? " " : "", clean);
	else
		snprintf(buf, size, "%s %d %s%s%s", task->comm, task->pid, kind, *clean ? " " : "",
			 clean);
}

/* Tracks of all machines together have them: those of one guest are as far from those of another as
 * 64 bits allow. */
static uint64_t uuid_of(const struct perfetto *p, const struct track *t)
{
	return t->id ^ p->x->in->machine * UINT64_C(0x9e3779b97f4a7c15);
}

static void tell_track(struct perfetto *p, struct track *t)
{
	Pf__TrackDescriptor track = PF__TRACK_DESCRIPTOR__INIT;
	Pf__ThreadDescriptor thread = PF__THREAD_DESCRIPTOR__INIT;
	Pf__CounterDescriptor counter = PF__COUNTER_DESCRIPTOR__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	char name[3 * NAMES_LEN], comm[TASKS_COMM];

	t->told = true;
	track.has_uuid = 1;
	track.uuid = uuid_of(p, t);
	if (is_thread_track(t)) {
		memcpy(comm, t->task->comm, sizeof(comm));
		thread.has_pid = thread.has_tid = 1;
		thread.pid = t->task->tgid;
		thread.tid = t->task->pid;
		thread.thread_name = comm;
		track.thread = &thread;
	} else {
		name_track(p, t, name, sizeof(name));
		track.name = name;
	}
	if (t->kind == TRACK_COUNTER)
		track.counter = &counter;
	packet.track_descriptor = &track;
	write_packet(p, &packet);
}

/* --- slices ------------------------------------------------------------------------------------
 */

/* Whether it is the first time. */
static bool is_new_name(struct perfetto *p, uint32_t name)
{
	uint32_t at = name / 8, room;
	uint8_t bit = (uint8_t)(1U << name % 8), *more;

	if (at >= p->nr_told) {
		room = at * 2 + 4096;
		more = realloc(p->told, room);
		if (!more) {
			p->x->failed = true;
			return false;
		}
		memset(more + p->nr_told, 0, room - p->nr_told);
		p->told = more;
		p->nr_told = room;
	}
	if (p->told[at] & bit)
		return false;
	p->told[at] |= bit;
	return true;
}

static void write_event(struct perfetto *p, struct track *t, uint64_t time, Pf__TrackEvent *event)
{
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	Pf__EventName name = PF__EVENT_NAME__INIT, *names[] = {&name};
	Pf__InternedData interned = PF__INTERNED_DATA__INIT;
	char text[NAMES_LEN];

	if (!t->told)
		tell_track(p, t);
	if (event->has_name_iid && is_new_name(p, (uint32_t)event->name_iid)) {
		snprintf(text, sizeof(text), "%s",
			 timeline_name(p->timeline, (uint32_t)event->name_iid));
		name.has_iid = 1;
		name.iid = event->name_iid;
		name.name = text;
		interned.n_event_names = 1;
		interned.event_names = names;
		packet.interned_data = &interned;
	}
	event->has_type = event->has_track_uuid = 1;
	event->track_uuid = uuid_of(p, t);
	packet.has_timestamp = 1;
	packet.timestamp = time;
	packet.track_event = event;
	packet.has_sequence_flags = 1;
	packet.sequence_flags = NEEDS_STATE;
	write_packet(p, &packet);
}

static void write_named(struct perfetto *p, struct track *t, uint64_t time,
			Pf__TrackEvent__Type type, uint32_t name)
{
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;

	event.type = type;
	event.has_name_iid = name != 0;
	event.name_iid = name;
	write_event(p, t, time, &event);
}

static void write_begin(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	write_named(arg, t, time, PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, name);
}

static void write_end(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	(void)name;
	write_named(arg, t, time, PF__TRACK_EVENT__TYPE__TYPE_SLICE_END, 0);
}

static void write_instant(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	write_named(arg, t, time, PF__TRACK_EVENT__TYPE__TYPE_INSTANT, name);
}

static void write_counter(void *arg, struct track *t, uint64_t time, int64_t value)
{
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;

	event.type = PF__TRACK_EVENT__TYPE__TYPE_COUNTER;
	event.has_counter_value = 1;
	event.counter_value = value;
	write_event(arg, t, time, &event);
}

static const struct track_ops tracks = {
	.task = write_task,
	.begin = write_begin,
	.end = write_end,
	.instant = write_instant,
	.counter = write_counter,
};

/* --- the format --------------------------------------------------------------------------------
 */

static void perfetto_free(void *self)
{
	struct perfetto *p = self;

	timeline_free(p->timeline);
	bundles_free(p->bundles);
	free(p->told);
	free(p);
}

static void *perfetto_begin(struct export *x)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->x = x;
	p->timeline = timeline_new(x, &tracks, p);
	p->bundles = bundles_new(x->in->formats, x->in->machine, x->out);
	if (p->timeline && p->bundles) {
		write_system(p);
		return p;
	}
	perfetto_free(p);
	return NULL;
}

static void see_time(struct perfetto *p, uint64_t time)
{
	p->now = time;
	if (!p->started)
		write_clocks(p, time);
	p->started = true;
}

static void perfetto_host_event(void *self, const struct decode_event *ev)
{
	struct perfetto *p = self;

	see_time(p, ev->time);
	timeline_host_event(p->timeline, ev);
}

static void perfetto_event(void *self, const struct decode_event *ev)
{
	struct perfetto *p = self;

	see_time(p, ev->time);
	if (ev->lost && !bundles_lost(p->bundles, ev))
		p->x->failed = true;
	if (!timeline_event(p->timeline, ev) && !bundles_add(p->bundles, ev))
		p->x->failed = true;
}

static void perfetto_end(void *self)
{
	struct perfetto *p = self;

	timeline_end(p->timeline);
	bundles_flush(p->bundles);
	if (p->started)
		write_clocks(p, p->now);
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.about = "for ui.perfetto.dev and trace_processor",
	.binary = true,
	.several = true,
	.begin = perfetto_begin,
	.event = perfetto_event,
	.host_event = perfetto_host_event,
	.end = perfetto_end,
	.free = perfetto_free,
};
