// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.c - a perf.data: each event is a sample of its tracepoint, with the record as it is. A file
 * is written as one, which more of perf's commands read; what cannot be written twice is written
 * for a pipe.
 */
#include "frontend/export/perf-local.h"

#include "frontend/export/names.h"

#include <stdlib.h>
#include <string.h>

enum {
	RAW_MAX = UINT16_MAX - 2048, /* the record of a sample has no more room */
	ROUND = 4096,		     /* samples that a reader sorts at once */
	PIDS = 1 << 22,		     /* PID_MAX_LIMIT */
	NAME_MAX_LEN = 240,
};

/* Behind the records that are no samples, see sample_id in perf_event_open(2). */
enum { SAMPLE_ID_LEN = 32 };

struct perf {
	struct export *x;
	struct perf_parts *parts;
	struct perf_calls *calls;
	struct perf_symbols *symbols;
	bool is_file;
	struct perf_events events;
	uint32_t in_round;
	const struct decode_event *now;
	uint8_t record[UINT16_MAX + 1];
	uint8_t named[PIDS / 8]; /* tasks, a bit for each */
};

/* --- records -----------------------------------------------------------------------------------
 */

static uint8_t *begin_record(struct perf *p)
{
	return p->record + sizeof(struct perf_event_header);
}

static void end_record(struct perf *p, const uint8_t *end, uint32_t type, uint16_t misc)
{
	size_t len = (size_t)(end - p->record);
	uint8_t *at = bytes_put32(p->record, type);

	at = bytes_put16(at, misc);
	bytes_put16(at, (uint16_t)len);
	fwrite_unlocked(p->record, 1, len, p->x->out);
}

/* A text with its 0, filled up to a multiple of 8. */
static uint8_t *put_text(uint8_t *at, const char *text)
{
	size_t len = strnlen(text, NAME_MAX_LEN), room = (len + 8) & ~(size_t)7;

	memset(at, 0, room);
	memcpy(at, text, len);
	return at + room;
}

/* Of no event in particular. */
static uint8_t *put_sample_id(const struct perf *p, uint8_t *at)
{
	at = bytes_put32(at, (uint32_t)p->now->pid);
	at = bytes_put32(at, (uint32_t)p->now->pid);
	at = bytes_put64(at, p->now->time);
	at = bytes_put64(at, p->now->cpu);
	return bytes_put64(at, 0);
}

static void write_lost(struct perf *p)
{
	uint64_t lost = p->now->lost == DECODE_LOST_UNKNOWN ? 1 : p->now->lost;
	uint8_t *at = bytes_put64(begin_record(p), perf_sample_id(p->now->id));

	at = bytes_put64(at, lost);
	end_record(p, put_sample_id(p, at), PERF_RECORD_LOST, 0);
}

/* The name that the file has of a task. Whoever has the pid 0 is known to perf. */
static void name_task(struct perf *p)
{
	uint32_t pid = (uint32_t)p->now->pid;
	char name[NAMES_LEN];
	const char *comm;
	uint8_t *at;

	if (!pid || pid >= PIDS || p->named[pid / 8] >> pid % 8 & 1)
		return;
	p->named[pid / 8] |= (uint8_t)(1U << pid % 8);
	comm = tep_data_comm_from_pid(formats_tep(p->x->in->formats), p->now->pid);
	names_clean(name, comm, strlen(comm));
	at = bytes_put32(begin_record(p), pid);
	at = put_text(bytes_put32(at, pid), name);
	end_record(p, put_sample_id(p, at), PERF_RECORD_COMM, 0);
}

/* As the kernel tells functions that it makes: this type does without a file that has its code. */
static void write_symbol(void *arg, uint64_t start, uint32_t len, const char *name)
{
	struct perf *p = arg;
	char clean[NAMES_LEN];
	uint8_t *at = bytes_put64(begin_record(p), start);

	at = bytes_put16(bytes_put32(at, len), PERF_RECORD_KSYMBOL_TYPE_OOL);
	at = put_text(bytes_put16(at, 0), names_clean(clean, name, strlen(name)));
	end_record(p, put_sample_id(p, at), PERF_RECORD_KSYMBOL, 0);
}

static uint8_t *put_chain(uint8_t *at, const struct perf_call *call)
{
	at = bytes_put64(at, call->nr ? call->nr + 1 : 0);
	if (call->nr)
		at = bytes_put64(at, (uint64_t)PERF_CONTEXT_KERNEL);
	for (size_t i = 0; i < call->nr; i++)
		at = bytes_put64(at, call->chain[i]);
	return at;
}

/* With its length they fill up a multiple of 8. */
static uint8_t *put_raw(uint8_t *at, const struct decode_event *ev)
{
	size_t padding = -(ev->len + 4) & 7;

	at = bytes_put32(at, (uint32_t)(ev->len + padding));
	memcpy(at, ev->data, ev->len);
	memset(at + ev->len, 0, padding);
	return at + ev->len + padding;
}

static void write_sample(struct perf *p, const struct perf_call *call)
{
	const struct decode_event *ev = p->now;
	uint8_t *at = bytes_put64(begin_record(p), perf_sample_id(ev->id));

	at = bytes_put64(at, call->ip);
	at = bytes_put32(at, (uint32_t)ev->pid);
	at = bytes_put32(at, (uint32_t)ev->pid);
	at = bytes_put64(at, ev->time);
	at = bytes_put64(at, ev->cpu);
	at = bytes_put64(at, call->period);
	if (p->events.calls)
		at = put_chain(at, call);
	end_record(p, put_raw(at, ev), PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
}

static void end_round(struct perf *p)
{
	p->in_round = 0;
	end_record(p, begin_record(p), PERF_FINISHED_ROUND, 0);
}

/* --- what is in the trace ----------------------------------------------------------------------
 */

static bool note(struct perf *p, const struct decode_event *ev)
{
	if (!perf_parts_knows(p->parts, ev->id) || ev->len > RAW_MAX)
		return false;
	perf_set(&p->events, ev->id);
	if (!p->events.any || ev->time < p->events.first)
		p->events.first = ev->time;
	if (ev->time > p->events.last)
		p->events.last = ev->time;
	p->events.any = true;
	return true;
}

/*
 * Reads the file once more, with all its events. A reader of a pipe is told all kinds of events
 * before the first one; whether samples have a stack has to be known of each way.
 */
static bool look_ahead(struct perf *p)
{
	struct records *r = records_open(p->x->in->dat, RECORDS_ALL);
	const struct decode_event *ev;

	if (!r)
		return false;
	while ((ev = records_next(r)))
		if (note(p, ev))
			p->events.calls |= perf_parts_is_call(p->parts, ev->id);
	records_close(r);
	return true;
}

/* --- the format --------------------------------------------------------------------------------
 */

static void perf_free(void *self)
{
	struct perf *p = self;

	perf_parts_free(p->parts);
	perf_calls_free(p->calls);
	perf_symbols_free(p->symbols);
	free(p);
}

static bool make_parts(struct perf *p)
{
	p->parts = perf_parts_new(p->x);
	p->calls = perf_calls_new(p->x);
	p->symbols = perf_symbols_new(p->x->in->formats, write_symbol, p);
	return p->parts && p->calls && p->symbols && look_ahead(p);
}

static void *perf_begin(struct export *x)
{
	struct perf *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->x = x;
	p->is_file = !ftello(x->out);
	if (!make_parts(p)) {
		perf_free(p);
		return NULL;
	}
	if (p->is_file)
		perf_head_begin_file(x);
	else
		perf_head_write_pipe(x, p->parts, &p->events);
	return p;
}

/* A function is told before a sample is in it. */
static bool tell_symbols(struct perf *p, const struct perf_call *call)
{
	bool told = perf_symbols_address(p->symbols, call->ip);

	for (size_t i = 0; told && i < call->nr; i++)
		told = perf_symbols_address(p->symbols, call->chain[i]);
	return told && perf_symbols_event(p->symbols, p->now);
}

static void perf_event(void *self, const struct decode_event *ev)
{
	struct perf *p = self;
	struct perf_call call;

	if (!perf_parts_knows(p->parts, ev->id) || ev->len > RAW_MAX) {
		p->x->result.left_out++;
		return;
	}
	p->now = ev;
	perf_calls_event(p->calls, ev, &call);
	name_task(p);
	if (ev->lost)
		write_lost(p);
	if (!tell_symbols(p, &call))
		p->x->failed = true;
	write_sample(p, &call);
	if (++p->in_round == ROUND)
		end_round(p);
}

static void perf_end(void *self)
{
	struct perf *p = self;

	/* A file without any record is taken for one that was never finished. */
	end_round(p);
	if (p->is_file)
		perf_head_end_file(p->x, p->parts, &p->events);
}

const struct export_format export_perf = {
	.name = "perf",
	.about = "a perf.data, for perf script, perf report and others of perf's commands",
	.binary = true,
	.begin = perf_begin,
	.event = perf_event,
	.end = perf_end,
	.free = perf_free,
};
