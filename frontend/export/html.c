// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html.c - a page to look at: one file that any browser shows without a network. The program that
 * draws it is frontend/html's, built into hvtrace; here it gets the records, in three streams,
 * which frontend/html/src/data/records.js reads:
 *
 * "records" are numbers: an operation below with what it is about above it, the time since the last
 * one, then what the operation says.
 *
 * "texts" are what events say, one behind the other; records have their lengths.
 *
 * "about" is JSON: names, and what is told once.
 *
 * Nothing of them is ever markup: streams are base64, and the program makes texts of what is in
 * them.
 */
#include "frontend/export/timeline.h"

#include "frontend/decode/print.h"
#include "frontend/export/html-stream.h"
#include "frontend/html/page.h"
#include "frontend/lib/json.h"
#include "frontend/report/subsystem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The lowest bits of an operation's first number; above them what is named here. */
enum operation {
	OP_BEGIN,   /* track: name */
	OP_END,	    /* track */
	OP_HIT,	    /* vCPU: name, caller's name: the task that runs there calls a function */
	OP_EVENT,   /* vCPU: event, length of its text */
	OP_RUN,	    /* vCPU: task */
	OP_COUNTER, /* track: zigzag of its value */
	OP_LOST,    /* vCPU: how many, and one more; 0: some */
	OP_TELL,    /* enum what */
	OP_BITS = 3,
};

enum what {
	TELL_TASK,  /* task, pid, tgid, comm */
	TELL_TRACK, /* kind, task or vCPU or tgid, buffer, name; they are numbered as they come */
	TELL_END,   /* there are no records any more: what ends now has no end in the trace */
};

enum { EVENTS = 65536, PLACES = 65536 };

/* Who runs on a vCPU. */
struct running {
	bool known;
	int32_t pid;
};

struct html {
	struct export *x;
	struct timeline *timeline;
	struct html_stream *records, *texts;
	const struct decode_event *ev; /* that is looked at */
	uint64_t base, now, put;       /* times: the first, that of ev, and what was put last */
	bool started;
	uintptr_t nr_tracks;
	struct running *running; /* DAT_CPUS_MAX */
	uint32_t place[PLACES];	 /* by pids: the vCPU where one of them was seen last */
	int switch_id;		 /* -1: there is no such event */
	const struct tep_format_field *caller, *next_pid;
	struct trace_seq info;
	uint16_t event[EVENTS]; /* their ids, as they come */
	uint32_t nr_events;
	uint32_t number[EVENTS]; /* by id, one more; 0: not yet */
};

/* --- records -----------------------------------------------------------------------------------
 */

static void put(struct html *h, uint64_t n)
{
	html_stream_number(h->records, n);
}

static void put_text(struct html *h, const char *text)
{
	html_stream_text(h->records, text, strlen(text));
}

static void put_op(struct html *h, uint64_t about, enum operation op)
{
	put(h, about << OP_BITS | op);
	put(h, h->now - h->put);
	h->put = h->now;
}

/* A task is its pid, in whatever buffer; an idle one its vCPU. Small, and never the same. */
static uint64_t task_number(int32_t pid, unsigned int cpu)
{
	return pid ? (uint64_t)(uint32_t)pid << 1 : (uint64_t)cpu << 1 | 1;
}

static void on_task(void *arg, const struct task *task)
{
	struct html *h = arg;

	put_op(h, TELL_TASK, OP_TELL);
	put(h, task_number(task->pid, task->cpu));
	put(h, (uint32_t)task->pid);
	put(h, (uint32_t)task->tgid);
	put_text(h, task->comm);
}

static uint64_t owner_of(const struct track *t)
{
	if (t->task)
		return task_number(t->task->pid, t->task->cpu);
	return t->kind == TRACK_COUNTER ? (uint32_t)t->tgid : t->cpu;
}

static uint64_t track_number(struct html *h, struct track *t)
{
	if (!t->own) {
		t->own = (void *)++h->nr_tracks;
		put_op(h, TELL_TRACK, OP_TELL);
		put(h, t->kind);
		put(h, owner_of(t));
		put(h, t->task ? t->task->buffer : 0);
		put(h, t->name);
	}
	return (uintptr_t)t->own - 1;
}

static void on_begin(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	struct html *h = arg;

	(void)time;
	put_op(h, track_number(h, t), OP_BEGIN);
	put(h, name);
}

static void on_end(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	struct html *h = arg;

	(void)time;
	(void)name;
	put_op(h, track_number(h, t), OP_END);
}

static void on_instant(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	struct html *h = arg;
	uint64_t caller;
	bool known = h->caller && formats_number(h->caller, h->ev, &caller);

	(void)t;
	(void)time;
	put_op(h, h->ev->cpu, OP_HIT);
	put(h, name);
	put(h, known ? timeline_function(h->timeline, caller) : 0);
}

static void on_counter(void *arg, struct track *t, uint64_t time, int64_t value)
{
	struct html *h = arg;

	(void)time;
	put_op(h, track_number(h, t), OP_COUNTER);
	put(h, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static const struct track_ops tracks = {
	.task = on_task,
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
	.counter = on_counter,
};

/* --- events ------------------------------------------------------------------------------------
 */

static void put_event(struct html *h, const struct decode_event *ev)
{
	if (!h->number[ev->id]) {
		h->event[h->nr_events] = (uint16_t)ev->id;
		h->number[ev->id] = ++h->nr_events;
	}
	trace_seq_reset(&h->info);
	if (formats_event(h->x->in->formats, ev->id))
		print_info(h->x->in->formats, ev, &h->info);
	put_op(h, ev->cpu, OP_EVENT);
	put(h, h->number[ev->id] - 1);
	put(h, h->info.len);
	html_stream_put(h->texts, h->info.buffer, h->info.len);
}

/* A task that runs here does not run where it was before, whether or not somebody has seen it
 * leave. */
static void leave_other(struct html *h, unsigned int cpu, int32_t pid)
{
	uint32_t *place = &h->place[(uint32_t)pid % PLACES];
	struct running *other = &h->running[*place];

	if (pid && *place != cpu && other->pid == pid)
		other->known = false;
	*place = cpu;
}

static void put_running(struct html *h, unsigned int cpu, int32_t pid)
{
	struct running *r = &h->running[cpu];

	leave_other(h, cpu, pid);
	*r = (struct running){true, pid};
	put_op(h, cpu, OP_RUN);
	put(h, task_number(pid, cpu));
}

/* Also where no switch was recorded, or it was lost. */
static void see_running(struct html *h, const struct decode_event *ev)
{
	const struct running *r = &h->running[ev->cpu];

	if (r->known && r->pid == ev->pid)
		return;
	timeline_current(h->timeline, ev);
	put_running(h, ev->cpu, ev->pid);
}

static void put_lost(struct html *h, const struct decode_event *ev)
{
	if (!ev->lost)
		return;
	put_op(h, ev->cpu, OP_LOST);
	put(h, ev->lost == DECODE_LOST_UNKNOWN ? 0 : ev->lost + 1);
}

static void go_on(struct html *h, const struct decode_event *ev)
{
	h->ev = ev;
	h->now = ev->time;
	if (!h->started)
		h->base = h->put = ev->time;
	h->started = true;
}

static void html_event(void *self, const struct decode_event *ev)
{
	struct html *h = self;
	uint64_t next;

	go_on(h, ev);
	put_lost(h, ev);
	see_running(h, ev);
	if (!timeline_event(h->timeline, ev))
		put_event(h, ev);
	if (ev->id == h->switch_id && formats_number(h->next_pid, ev, &next))
		put_running(h, ev->cpu, (int32_t)next);
}

static void html_host_event(void *self, const struct decode_event *ev)
{
	struct html *h = self;

	go_on(h, ev);
	timeline_host_event(h->timeline, ev);
}

/* --- what is told once -------------------------------------------------------------------------
 */

static void put_key(const char *key, FILE *out)
{
	fprintf(out, ",\n\"%s\":", key);
}

static void put_member(const char *key, const char *text, FILE *out)
{
	if (!text)
		return;
	put_key(key, out);
	json_text(text, out);
}

/* Functions and other names, each with the part of the kernel that it may belong to. */
static void put_names(const struct html *h, FILE *out)
{
	uint32_t nr = timeline_nr_names(h->timeline);

	put_key("names", out);
	for (uint32_t i = 0; i < nr; i++) {
		putc(i ? ',' : '[', out);
		json_text(timeline_name(h->timeline, i), out);
	}
	fputs(nr ? "]" : "[]", out);
	put_key("parts", out);
	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, "%c%d", i ? ',' : '[', subsystem_of(timeline_name(h->timeline, i)));
	fputs(nr ? "]" : "[]", out);
}

static void put_subsystems(FILE *out)
{
	put_key("subsystems", out);
	for (int i = 0; i < SUBSYSTEM_NR; i++) {
		const struct subsystem_info *s = &subsystems[i];

		fprintf(out, "%c{\"name\":\"%s\",\"rgb\":[%d,%d,%d]}", i ? ',' : '[', s->name,
			s->rgb[0], s->rgb[1], s->rgb[2]);
	}
	putc(']', out);
}

static void put_event_names(const struct html *h, FILE *out)
{
	put_key("events", out);
	putc('[', out);
	for (uint32_t i = 0; i < h->nr_events; i++) {
		const struct tep_event *event = formats_event(h->x->in->formats, h->event[i]);
		char unknown[16];

		snprintf(unknown, sizeof(unknown), "%u", h->event[i]);
		fputs(i ? ",[" : "[", out);
		json_text(event ? event->system : "", out);
		putc(',', out);
		json_text(event ? event->name : unknown, out);
		putc(']', out);
	}
	putc(']', out);
}

static void put_buffers(const struct html *h, FILE *out)
{
	put_key("buffers", out);
	putc('[', out);
	for (size_t i = 0; i < dat_nr_buffers(h->x->in->dat); i++) {
		if (i)
			putc(',', out);
		json_text(dat_buffer(h->x->in->dat, i)->name, out);
	}
	putc(']', out);
}

/* Times are texts: numbers of JavaScript have no room for them. */
static void put_about(const struct html *h, FILE *out)
{
	const struct dat_info *info = dat_info(h->x->in->dat);
	const struct export_result *r = &h->x->result;

	fprintf(out, "{\"base\":\"%" PRIu64 "\",\"ns\":%s,\"records\":%" PRIu64, h->base,
		dat_counts_ns(info) ? "true" : "false", r->events);
	fprintf(out,
		",\"unbegun\":%" PRIu64 ",\"unended\":%" PRIu64 ",\"late\":%" PRIu64
		",\"leftOut\":%" PRIu64,
		r->unbegun, r->unended, r->late, r->left_out);
	put_member("file", info->name, out);
	put_member("uname", info->uname, out);
	put_member("clock", info->clock, out);
	put_buffers(h, out);
	put_subsystems(out);
	put_event_names(h, out);
	put_names(h, out);
	fputs("}\n", out);
}

static bool write_about(const struct html *h)
{
	struct html_stream *s = html_stream_new("about", h->x->out);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool done = false;

	if (out) {
		put_about(h, out);
		done = !fclose(out) && s;
	}
	if (done) {
		html_stream_put(s, text, len);
		html_stream_end(s);
	}
	free(text);
	html_stream_free(s);
	return done;
}

/* --- the format --------------------------------------------------------------------------------
 */

static void html_free(void *self)
{
	struct html *h = self;

	trace_seq_destroy(&h->info);
	html_stream_free(h->records);
	html_stream_free(h->texts);
	timeline_free(h->timeline);
	free(h->running);
	free(h);
}

static int find_event(const struct export *x, const char *system, const char *name, const char *of,
		      const struct tep_format_field **field)
{
	struct tep_event *event = tep_find_event_by_name(formats_tep(x->in->formats), system, name);

	*field = event ? tep_find_field(event, of) : NULL;
	return *field ? event->id : -1;
}

static void *html_begin(struct export *x)
{
	struct html *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->x = x;
	trace_seq_init(&h->info);
	find_event(x, "ftrace", "function", "parent_ip", &h->caller);
	h->switch_id = find_event(x, "sched", "sched_switch", "next_pid", &h->next_pid);
	h->running = calloc(DAT_CPUS_MAX, sizeof(*h->running));
	h->records = html_stream_new("records", x->out);
	h->texts = html_stream_new("texts", x->out);
	h->timeline = timeline_new(x, &tracks, h);
	if (!h->running || !h->records || !h->texts || !h->timeline) {
		html_free(h);
		return NULL;
	}
	fwrite(html_page_head, 1, html_page_head_size, x->out);
	return h;
}

static void html_end(void *self)
{
	struct html *h = self;

	put_op(h, TELL_END, OP_TELL);
	timeline_end(h->timeline);
	html_stream_end(h->records);
	html_stream_end(h->texts);
	if (!write_about(h))
		h->x->failed = true;
	fwrite(html_page_tail, 1, html_page_tail_size, h->x->out);
}

const struct export_format export_html = {
	.name = "html",
	.about = "a page to look at, for any browser",
	.binary = true,
	.missing = html_page_missing,
	.begin = html_begin,
	.event = html_event,
	.host_event = html_host_event,
	.end = html_end,
	.free = html_free,
};
