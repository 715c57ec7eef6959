// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syscalls.c - what system calls take, and which fail. Of raw_syscalls, or of the events that the
 * kernel has for each call, whichever the file has.
 */
#include "frontend/jobs/local.h"
#include "frontend/jobs/syscall-names.h"

#include <stdlib.h>
#include <string.h>

enum { ERRNO_MAX = 4095, NAME_LEN = 48 };

/* An event that is of one call alone: syscalls:sys_enter_read. */
struct own_event {
	const char *name; /* of the call; NULL: it is another event */
	bool enters;
	const struct tep_format_field *nr, *ret;
};

struct syscalls {
	struct own_event by_id[JOB_IDS];
	bool raw, single; /* by which of both calls are counted */
};

static struct own_event own_of(struct tep_event *event)
{
	bool enters = !strncmp(event->name, "sys_enter_", 10);

	if (strcmp(event->system, "syscalls") != 0 ||
	    (!enters && strncmp(event->name, "sys_exit_", 9) != 0))
		return (struct own_event){.name = NULL};
	return (struct own_event){
		.name = event->name + (enters ? 10 : 9),
		.enters = enters,
		.nr = tep_find_field(event, "__syscall_nr"),
		.ret = tep_find_field(event, "ret"),
	};
}

static bool begin(struct work *w)
{
	struct syscalls *s = calloc(1, sizeof(*s));
	struct tep_handle *tep = formats_tep(w->in->formats);

	w->own = s;
	for (int i = 0; s && i < tep_get_events_count(tep); i++) {
		struct tep_event *event = tep_get_event(tep, i);

		if (event->id >= 0 && event->id < JOB_IDS)
			s->by_id[event->id] = own_of(event);
	}
	return s;
}

/* --- calls --------------------------------------------------------------------------------------
 */

static struct latency_row *row_of(struct work *w, const struct job_task *t, uint32_t nr,
				  const char *name, unsigned int cpu)
{
	char buf[NAME_LEN];

	if (!job_wants(w, t->pid))
		return NULL;
	if (!name)
		name = syscall_name(nr);
	if (!name) {
		snprintf(buf, sizeof(buf), "syscall %u", nr);
		name = buf;
	}
	return job_row(w, t, cpu, nr, name);
}

/* Who is in a call has come out of the one before without a word, as from rt_sigreturn(). */
static void enters(struct work *w, const struct decode_event *ev, uint64_t nr)
{
	struct job_task *t = ev->pid >= 0 ? job_task(w, ev->pid, NULL, ev) : NULL;

	if (!t)
		return;
	w->result->unended += t->open;
	job_open(t, ev->time, (uint32_t)nr);
}

static void leaves(struct work *w, const struct decode_event *ev, uint64_t nr, int64_t ret,
		   const char *name)
{
	struct job_task *t = ev->pid >= 0 ? job_task(w, ev->pid, NULL, ev) : NULL;
	struct latency_row *row;

	if (!t)
		return;
	if (!t->open || t->what != (uint32_t)nr) {
		w->result->unbegun++;
		return;
	}
	t->open = false;
	row = row_of(w, t, (uint32_t)nr, name, ev->cpu);
	if (!row)
		return;
	latency_add(row, ev->time - t->from);
	row->errors += ret < 0 && ret >= -ERRNO_MAX;
}

static void on_sys_enter(struct work *w, const struct tep_format_field *const *field,
			 const struct decode_event *ev)
{
	struct syscalls *s = w->own;
	uint64_t nr;

	s->raw |= !s->single;
	if (s->raw && formats_number(field[0], ev, &nr))
		enters(w, ev, nr);
}

static void on_sys_exit(struct work *w, const struct tep_format_field *const *field,
			const struct decode_event *ev)
{
	struct syscalls *s = w->own;
	uint64_t nr, ret;

	s->raw |= !s->single;
	if (s->raw && formats_number(field[0], ev, &nr) && formats_number(field[1], ev, &ret))
		leaves(w, ev, nr, (int64_t)ret, NULL);
}

static void before(struct work *w, const struct decode_event *ev)
{
	struct syscalls *s = w->own;
	const struct own_event *own = ev->id >= 0 && ev->id < JOB_IDS ? &s->by_id[ev->id] : NULL;
	uint64_t nr, ret;

	if (!own || !own->name || s->raw || !formats_number(own->nr, ev, &nr))
		return;
	s->single = true;
	w->result->events++;
	if (own->enters)
		enters(w, ev, nr);
	else if (formats_number(own->ret, ev, &ret))
		leaves(w, ev, nr, (int64_t)ret, own->name);
}

static void free_own(struct work *w)
{
	free(w->own);
}

static const struct job_event events[] = {
	{"raw_syscalls", "sys_enter", {"id"}, on_sys_enter, false},
	{"raw_syscalls", "sys_exit", {"id", "ret"}, on_sys_exit, false},
	{NULL, NULL, {NULL}, NULL, false},
};

const struct job job_syscalls = {
	.name = "syscalls",
	.words = {"calls", "rows", "CALL", true},
	.by = {"call", "task", "name", "cpu"},
	.needs = "raw_syscalls:sys_enter and raw_syscalls:sys_exit",
	.events = events,
	.begin = begin,
	.before = before,
	.free = free_own,
};
