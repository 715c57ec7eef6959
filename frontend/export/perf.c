// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.c - a perf.data: each event is a sample of its tracepoint, with the record as it is. A file
 * is written as one, which more of perf's commands read; what cannot be written twice is written
 * for a pipe.
 *
 * A guest and its host are of one machine there: samples that are told to be of a guest's kernel
 * (PERF_RECORD_MISC_GUEST_KERNEL) are left out by perf script and perf report that are not told of
 * guests.
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
	struct perf_parts parts;
	struct perf_calls *calls;
	struct perf_symbols *symbols;
	bool is_file;
	struct perf_events events;
	uint32_t in_round;
	const struct decode_event *now;
	enum perf_side side; /* of now */
	uint8_t record[UINT16_MAX + 1];
	uint8_t named[PERF_SIDES][PIDS / 8]; /* tasks that have the name of that side's, by pid */
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
	uint8_t *at = bytes_put64(begin_record(p), perf_sample_id(p->side, p->now->id));

	at = bytes_put64(at, lost);
	end_record(p, put_sample_id(p, at), PERF_RECORD_LOST, 0);
}

static void write_comm(struct perf *p, const char *comm)
{
	uint32_t pid = (uint32_t)p->now->pid;
	char name[NAMES_LEN];
	uint8_t *at;

	names_clean(name, comm, strlen(comm));
	at = bytes_put32(begin_record(p), pid);
	at = put_text(bytes_put32(at, pid), name);
	end_record(p, put_sample_id(p, at), PERF_RECORD_COMM, 0);
}

/*
 * The name that the file has of a task. Whoever has the pid 0 is known to perf. Of a guest's and
 * a host's that have the same pid perf makes one, so each time it is the other one it is renamed.
 */
static void name_task(struct perf *p)
{
	uint32_t pid = (uint32_t)p->now->pid;
	uint8_t bit = (uint8_t)(1U << pid % 8);
	struct formats *formats = p->side == PERF_HOST ? p->x->in->host.formats : p->x->in->formats;

	if (!pid || pid >= PIDS || p->named[p->side][pid / 8] & bit)
		return;
	p->named[PERF_GUEST][pid / 8] &= (uint8_t)~bit;
	p->named[PERF_HOST][pid / 8] &= (uint8_t)~bit;
	p->named[p->side][pid / 8] |= bit;
	write_comm(p, tep_data_comm_from_pid(formats_tep(formats), p->now->pid));
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

/* With its length they fill up a multiple of 8. Its common_type is what perf knows it by. */
static uint8_t *put_raw(const struct perf *p, uint8_t *at)
{
	const struct decode_event *ev = p->now;
	size_t padding = -(ev->len + 4) & 7;

	at = bytes_put32(at, (uint32_t)(ev->len + padding));
	memcpy(at, ev->data, ev->len);
	memset(at + ev->len, 0, padding);
	if (ev->len >= sizeof(uint16_t))
		bytes_put16(at, perf_formats_number(p->parts.formats, p->side, ev->id));
	return at + ev->len + padding;
}

static void write_sample(struct perf *p, const struct perf_call *call)
{
	const struct decode_event *ev = p->now;
	uint8_t *at = bytes_put64(begin_record(p), perf_sample_id(p->side, ev->id));

	at = bytes_put64(at, call->ip);
	at = bytes_put32(at, (uint32_t)ev->pid);
	at = bytes_put32(at, (uint32_t)ev->pid);
	at = bytes_put64(at, ev->time);
	at = bytes_put64(at, ev->cpu);
	at = bytes_put64(at, call->period);
	if (p->events.calls)
		at = put_chain(at, call);
	end_record(p, put_raw(p, at), PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
}

static void end_round(struct perf *p)
{
	p->in_round = 0;
	end_record(p, begin_record(p), PERF_FINISHED_ROUND, 0);
}

/* --- what is in the trace ----------------------------------------------------------------------
 */

static bool can_be_written(const struct perf *p, enum perf_side side, const struct decode_event *ev)
{
	return perf_formats_knows(p->parts.formats, side, ev->id) && ev->len <= RAW_MAX;
}

static void note(struct perf *p, enum perf_side side, const struct decode_event *ev)
{
	perf_set(&p->events, side, ev->id);
	if (!p->events.any || ev->time < p->events.first)
		p->events.first = ev->time;
	if (ev->time > p->events.last)
		p->events.last = ev->time;
	p->events.any = true;
	if (side == PERF_GUEST)
		p->events.calls |= perf_formats_is_call(p->parts.formats, ev->id);
}

/*
 * Reads a file once more, with all its events. A reader of a pipe is told all kinds of events
 * before the first one; whether samples have a stack has to be known of each way.
 */
static bool look_ahead(struct perf *p, enum perf_side side, struct dat *dat)
{
	struct records *r = records_open(dat, RECORDS_ALL);
	const struct decode_event *ev;

	if (!r)
		return false;
	while ((ev = records_next(r)))
		if (can_be_written(p, side, ev))
			note(p, side, ev);
	records_close(r);
	return true;
}

/* --- the format --------------------------------------------------------------------------------
 */

static void perf_free(void *self)
{
	struct perf *p = self;

	perf_formats_free(p->parts.formats);
	perf_calls_free(p->calls);
	perf_symbols_free(p->symbols);
	free(p);
}

static bool make_parts(struct perf *p)
{
	const struct export_input *in = p->x->in;

	p->parts.in = in;
	p->parts.formats = perf_formats_new(p->x);
	p->calls = perf_calls_new(p->x);
	p->symbols = perf_symbols_new(in->formats, write_symbol, p);
	return p->parts.formats && p->calls && p->symbols && look_ahead(p, PERF_GUEST, in->dat) &&
	       (!in->host.records || look_ahead(p, PERF_HOST, in->host.dat));
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
		perf_head_write_pipe(x, &p->parts, &p->events);
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

/* False: it is left out. */
static bool go_on(struct perf *p, enum perf_side side, const struct decode_event *ev)
{
	if (!can_be_written(p, side, ev)) {
		p->x->result.left_out++;
		return false;
	}
	p->now = ev;
	p->side = side;
	name_task(p);
	if (ev->lost)
		write_lost(p);
	return true;
}

static void add_sample(struct perf *p, const struct perf_call *call)
{
	write_sample(p, call);
	if (++p->in_round == ROUND)
		end_round(p);
}

static void perf_event(void *self, const struct decode_event *ev)
{
	struct perf *p = self;
	struct perf_call call;

	if (!go_on(p, PERF_GUEST, ev))
		return;
	perf_calls_event(p->calls, ev, &call);
	if (!tell_symbols(p, &call))
		p->x->failed = true;
	add_sample(p, &call);
}

/* Names of the host's functions are not told: what has the same address in the guest is. */
static void perf_host_event(void *self, const struct decode_event *ev)
{
	static const struct perf_call nowhere = {.period = 1};

	if (go_on(self, PERF_HOST, ev))
		add_sample(self, &nowhere);
}

static void perf_end(void *self)
{
	struct perf *p = self;

	/* A file without any record is taken for one that was never finished. */
	end_round(p);
	if (p->is_file)
		perf_head_end_file(p->x, &p->parts, &p->events);
}

const struct export_format export_perf = {
	.name = "perf",
	.about = "a perf.data, for perf script, perf report and others of perf's commands",
	.binary = true,
	.begin = perf_begin,
	.event = perf_event,
	.host_event = perf_host_event,
	.end = perf_end,
	.free = perf_free,
};
