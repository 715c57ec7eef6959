// SPDX-License-Identifier: GPL-2.0-or-later
/* reader.c - see reader.h */
#include "frontend/ship/reader.h"

#include "frontend/jobs/syscall-names.h"
#include "frontend/decode/print.h"
#include "frontend/ship/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No machine is up for so long: 2001. */
#define WALL_CLOCK_NS UINT64_C(1000000000000000000)
#define SECOND_NS     UINT64_C(1000000000)
#define YEAR_NS	      (366 * 86400 * SECOND_NS)

enum { IDS = UINT16_MAX + 1, OPEN_CALLS = 1 << 16 };

/* What is made of an event's records. */
enum kind {
	KIND_UNKNOWN, /* not looked at yet */
	KIND_OTHER,
	KIND_FUNCTION,
	KIND_ENTRY,
	KIND_EXIT,
	KIND_SYS_ENTER,
	KIND_SYS_EXIT,
};

struct event_kind {
	enum kind kind;
	bool single; /* it is of one system call alone */
	struct block_text name;
	struct block_text call; /* of one */
	const struct tep_format_field *func, *depth, *calltime, *rettime, *nr, *ret;
};

/* A system call that a task is in. One that shares its place with another may be forgotten. */
struct open_call {
	int32_t pid, nr;
	uint64_t since;
	bool open, single;
};

struct reader {
	struct dat *d;
	struct formats *formats;
	struct records *records;
	struct reader_config cfg;
	struct event_kind *kinds[IDS];
	struct event_kind nameless;
	struct open_call *calls;
	struct texts *functions, *tasks, *syscalls;
	struct block_text none;
	struct trace_seq info;
	uint64_t nr, lost, began;
	bool has_begun;
};

/* --- names -------------------------------------------------------------------------------------
 */

static void name_function(void *arg, uint64_t addr, struct block_text *t)
{
	const struct reader *r = arg;
	const char *name = tep_find_function(formats_tep(r->formats), addr);
	char hex[24];

	if (!name) {
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)addr);
		name = hex;
	}
	block_text(t, name, strlen(name));
}

static void name_task(void *arg, uint64_t pid, struct block_text *t)
{
	const struct reader *r = arg;
	const char *comm = tep_data_comm_from_pid(formats_tep(r->formats), (int)pid);

	block_text(t, comm ? comm : "", comm ? strlen(comm) : 0);
}

static void name_call(void *arg, uint64_t nr, struct block_text *t)
{
	const char *name = syscall_name((uint32_t)nr);
	char text[32];

	(void)arg;
	if (!name) {
		snprintf(text, sizeof(text), "syscall %u", (uint32_t)nr);
		name = text;
	}
	block_text(t, name, strlen(name));
}

/* --- events ------------------------------------------------------------------------------------
 */

static const struct {
	const char *system, *name;
	enum kind kind;
} known[] = {
	{"ftrace", "function", KIND_FUNCTION},	     {"ftrace", "funcgraph_entry", KIND_ENTRY},
	{"ftrace", "funcgraph_exit", KIND_EXIT},     {"raw_syscalls", "sys_enter", KIND_SYS_ENTER},
	{"raw_syscalls", "sys_exit", KIND_SYS_EXIT},
};

static enum kind kind_of(const struct tep_event *e)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(e->system, known[i].system) && !strcmp(e->name, known[i].name))
			return known[i].kind;
	if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_enter_", 10))
		return KIND_SYS_ENTER;
	if (!strcmp(e->system, "syscalls") && !strncmp(e->name, "sys_exit_", 9))
		return KIND_SYS_EXIT;
	return KIND_OTHER;
}

static void find_fields(struct event_kind *k, struct tep_event *e)
{
	k->func = tep_find_field(e, k->kind == KIND_FUNCTION ? "ip" : "func");
	k->depth = tep_find_field(e, "depth");
	k->calltime = tep_find_field(e, "calltime");
	k->rettime = tep_find_field(e, "rettime");
	k->nr = tep_find_field(e, k->single ? "__syscall_nr" : "id");
	k->ret = tep_find_field(e, "ret");
}

/* NULL: no memory. */
static struct event_kind *kind_new(const struct reader *r, int id)
{
	struct event_kind *k = calloc(1, sizeof(*k));
	struct tep_event *e = formats_event(r->formats, id);
	char name[BLOCK_TEXT_MAX];
	const char *call;
	int len;

	if (!k)
		return NULL;
	k->kind = e ? kind_of(e) : KIND_OTHER;
	if (e)
		len = snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	else
		len = snprintf(name, sizeof(name), "%d", id);
	block_text(&k->name, name, len < (int)sizeof(name) ? (size_t)len : sizeof(name) - 1);
	if (k->kind == KIND_OTHER)
		return k;
	k->single = !strcmp(e->system, "syscalls");
	call = e->name + (k->kind == KIND_SYS_ENTER ? 10 : 9);
	if (k->single)
		block_text(&k->call, call, strlen(call));
	find_fields(k, e);
	return k;
}

static const struct event_kind *kind_get(struct reader *r, int id)
{
	if (!r->kinds[id])
		r->kinds[id] = kind_new(r, id);
	return r->kinds[id] ? r->kinds[id] : &r->nameless;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static void put_function(struct reader *r, const struct event_kind *k,
			 const struct decode_event *ev, struct block_row *row)
{
	uint64_t n;

	if (formats_number(k->func, ev, &n))
		row->function = texts_get(r->functions, n);
	if (k->depth && formats_number(k->depth, ev, &n))
		row->depth = n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

static void put_exit(struct reader *r, const struct event_kind *k, const struct decode_event *ev,
		     struct block_row *row)
{
	uint64_t calltime, rettime;

	put_function(r, k, ev, row);
	if (formats_number(k->calltime, ev, &calltime) && formats_number(k->rettime, ev, &rettime))
		row->duration = rettime >= calltime ? (int64_t)(rettime - calltime) : 0;
}

static bool put_call(struct reader *r, const struct event_kind *k, const struct decode_event *ev,
		     struct block_row *row)
{
	uint64_t nr;

	if (!formats_number(k->nr, ev, &nr))
		return false;
	row->call_nr = (int32_t)nr;
	row->call = k->single ? &k->call : texts_get(r->syscalls, (uint32_t)nr);
	return true;
}

static void put_sys_enter(struct reader *r, const struct event_kind *k,
			  const struct decode_event *ev, struct block_row *row)
{
	struct open_call *c = &r->calls[(uint32_t)ev->pid % OPEN_CALLS];

	/* Of a call that has both kinds of events the first one counts. */
	if (put_call(r, k, ev, row) &&
	    !(c->open && c->pid == ev->pid && c->nr == row->call_nr && c->single != k->single))
		*c = (struct open_call){ev->pid, row->call_nr, ev->time, true, k->single};
}

static void put_sys_exit(struct reader *r, const struct event_kind *k,
			 const struct decode_event *ev, struct block_row *row)
{
	struct open_call *c = &r->calls[(uint32_t)ev->pid % OPEN_CALLS];
	uint64_t ret;

	if (!put_call(r, k, ev, row))
		return;
	if (formats_number(k->ret, ev, &ret))
		row->ret = (int64_t)ret;
	if (!c->open || c->pid != ev->pid || c->nr != row->call_nr || c->single != k->single ||
	    ev->time < c->since)
		return;
	row->duration = (int64_t)(ev->time - c->since);
	c->open = false;
}

static void put_info(struct reader *r, const struct decode_event *ev, struct block_row *row)
{
	trace_seq_reset(&r->info);
	print_info(r->formats, ev, &r->info);
	row->info = r->info.buffer;
	row->info_len = r->info.len;
}

/*
 * Tables have a part for each month, and a batch of records whose times are anything would have
 * more of them than servers take at once: no file is longer than a year.
 */
static uint32_t at_of(struct reader *r, uint64_t time)
{
	uint64_t gone, at;

	if (!r->has_begun)
		r->began = time;
	r->has_begun = true;
	gone = time > r->began ? time - r->began : 0;
	gone = gone < YEAR_NS ? gone : YEAR_NS;
	at = r->began >= WALL_CLOCK_NS && r->began <= UINT64_MAX - YEAR_NS
		     ? (r->began + gone) / SECOND_NS
		     : r->cfg.written + gone / SECOND_NS;
	return at < UINT32_MAX ? (uint32_t)at : UINT32_MAX;
}

static void put_kind(struct reader *r, const struct event_kind *k, const struct decode_event *ev,
		     struct block_row *row)
{
	switch (k->kind) {
	case KIND_FUNCTION:
	case KIND_ENTRY:
		put_function(r, k, ev, row);
		break;
	case KIND_EXIT:
		put_exit(r, k, ev, row);
		break;
	case KIND_SYS_ENTER:
		put_sys_enter(r, k, ev, row);
		break;
	case KIND_SYS_EXIT:
		put_sys_exit(r, k, ev, row);
		break;
	case KIND_UNKNOWN:
	case KIND_OTHER:
		break;
	}
}

bool reader_next(struct reader *r, struct block_row *row)
{
	const struct decode_event *ev = records_next(r->records);
	const struct event_kind *k;

	if (!ev)
		return false;
	k = kind_get(r, ev->id);
	*row = (struct block_row){
		.nr = r->nr++,
		.time = ev->time,
		.at = at_of(r, ev->time),
		.cpu = (uint16_t)ev->cpu,
		.pid = ev->pid,
		.call_nr = -1,
		.duration = -1,
		.raw = (uint32_t)ev->len,
		.comm = texts_get(r->tasks, (uint32_t)ev->pid),
		.event = &k->name,
		.function = &r->none,
		.call = &r->none,
	};
	if (ev->lost)
		r->lost += ev->lost == DECODE_LOST_UNKNOWN ? 1 : ev->lost;
	put_kind(r, k, ev, row);
	if (r->cfg.fields)
		put_info(r, ev, row);
	return true;
}

uint64_t reader_lost(struct reader *r)
{
	uint64_t lost = r->lost;

	r->lost = 0;
	return lost;
}

/* --- its life ----------------------------------------------------------------------------------
 */

struct reader *reader_new(struct dat *d, struct formats *f, struct records *records,
			  const struct reader_config *cfg)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->d = d;
	r->formats = f;
	r->records = records;
	r->cfg = *cfg;
	r->nameless.kind = KIND_OTHER;
	block_text(&r->none, "", 0);
	block_text(&r->nameless.name, "", 0);
	trace_seq_init(&r->info);
	r->functions = texts_new(name_function, r);
	r->tasks = texts_new(name_task, r);
	r->syscalls = texts_new(name_call, r);
	r->calls = calloc(OPEN_CALLS, sizeof(*r->calls));
	if (r->functions && r->tasks && r->syscalls && r->calls)
		return r;
	reader_free(r);
	return NULL;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < IDS; i++)
		free(r->kinds[i]);
	trace_seq_destroy(&r->info);
	texts_free(r->functions);
	texts_free(r->tasks);
	texts_free(r->syscalls);
	free(r->calls);
	free(r);
}
