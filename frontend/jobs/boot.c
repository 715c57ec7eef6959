// SPDX-License-Identifier: GPL-2.0-or-later
/* boot.c - see boot.h: what the events of initcalls tell. */
#include "frontend/jobs/boot.h"

#include "frontend/decode/fields.h"
#include "frontend/jobs/local.h"

#include <stdlib.h>
#include <string.h>

static bool begin(struct work *w)
{
	struct boot *b = calloc(1, sizeof(*b));

	w->result->boot = b;
	return b;
}

void boot_free(struct boot *b)
{
	if (b)
		free(b->call);
	free(b);
}

/* --- levels -------------------------------------------------------------------------------------
 */

static void add_level(struct boot *b, const char *name, size_t len, uint64_t now)
{
	struct boot_level *l = &b->level[b->nr_levels];

	if (b->nr_levels == BOOT_LEVELS_MAX)
		return;
	if (b->nr_levels)
		l[-1].to = now;
	*l = (struct boot_level){.from = now, .to = now};
	snprintf(l->name, sizeof(l->name), "%.*s", (int)len, name);
	b->nr_levels++;
}

static void on_level(struct work *w, const struct tep_format_field *const *field,
		     const struct decode_event *ev)
{
	struct field_bytes name = {(const uint8_t *)"?", 1};

	if (field[0])
		name = fields_text(field[0], ev);
	add_level(w->result->boot, (const char *)name.at, name.len < 15 ? name.len : 15, ev->time);
}

/* What is called before any level is told is of the first; once programs run there is none. */
static struct boot_level *level_now(struct boot *b, uint64_t now)
{
	static const char modules[] = "modules";

	if (!b->nr_levels)
		add_level(b, "early", 5, now);
	else if (b->user && strcmp(b->level[b->nr_levels - 1].name, modules) != 0)
		add_level(b, modules, sizeof(modules) - 1, now);
	return &b->level[b->nr_levels - 1];
}

/* --- initcalls ----------------------------------------------------------------------------------
 */

/* NULL: there is no room, or no memory. */
static struct boot_call *add_call(struct work *w)
{
	struct boot *b = w->result->boot;
	size_t nr = b->nr_calls;
	struct boot_call *more;

	if (nr == BOOT_CALLS_MAX) {
		w->result->left_out++;
		return NULL;
	}
	/* Twice as many, whenever that many are there. */
	if (!(nr & (nr - 1))) {
		more = realloc(b->call, (nr ? 2 * nr : 1) * sizeof(*more));
		w->failed |= !more;
		if (!more)
			return NULL;
		b->call = more;
	}
	return &b->call[b->nr_calls++];
}

static void on_start(struct work *w, const struct tep_format_field *const *field,
		     const struct decode_event *ev)
{
	struct boot *b = w->result->boot;
	struct boot_call *c = add_call(w);
	struct job_task *t;
	uint64_t func;
	char buf[24];

	if (!c)
		return;
	*c = (struct boot_call){.pid = ev->pid, .cpu = ev->cpu, .from = ev->time, .to = ev->time};
	formats_number(field[0], ev, &func);
	snprintf(c->name, sizeof(c->name), "%s", job_function(w, func, buf));
	level_now(b, ev->time)->calls++;
	c->level = (uint8_t)(b->nr_levels - 1);
	t = job_task(w, ev->pid, NULL, ev);
	job_open(t, ev->time, (uint32_t)(b->nr_calls - 1));
}

static void on_finish(struct work *w, const struct tep_format_field *const *field,
		      const struct decode_event *ev)
{
	struct boot *b = w->result->boot;
	struct job_task *t = job_task(w, ev->pid, NULL, ev);
	struct boot_call *c = t->open ? &b->call[t->what] : NULL;
	uint64_t func, ret = 0;
	char buf[24];

	formats_number(field[0], ev, &func);
	if (!c || strncmp(c->name, job_function(w, func, buf), sizeof(c->name) - 1) != 0) {
		w->result->unbegun++;
		return;
	}
	t->open = false;
	formats_number(field[1], ev, &ret);
	c->ended = true;
	c->to = ev->time;
	c->ret = (int32_t)ret;
	b->level[c->level].to = c->to > b->level[c->level].to ? c->to : b->level[c->level].to;
}

/* --- what is around them ------------------------------------------------------------------------
 */

/* Helpers of the kernel's are programs, too: the first is that of task 1. */
static void on_exec(struct work *w, const struct tep_format_field *const *field,
		    const struct decode_event *ev)
{
	struct boot *b = w->result->boot;
	struct field_bytes name;

	if (*b->program || ev->pid != 1)
		return;
	b->user = b->user ? b->user : ev->time;
	if (!field[0])
		return;
	name = fields_text(field[0], ev);
	snprintf(b->program, sizeof(b->program), "%.*s",
		 (int)(name.len < sizeof(b->program) ? name.len : sizeof(b->program) - 1),
		 (const char *)name.at);
}

/* Where the kernel turns to it. */
static void on_call(struct work *w, const struct tep_format_field *const *field,
		    const struct decode_event *ev)
{
	struct boot *b = w->result->boot;
	uint64_t func;
	char buf[24];

	if (!b->user && ev->pid == 1 && formats_number(field[0], ev, &func) &&
	    !strcmp(job_function(w, func, buf), BOOT_FIRST_PROGRAM))
		b->user = ev->time;
}

static void on_return(struct work *w, const struct tep_format_field *const *field,
		      const struct decode_event *ev)
{
	uint64_t func, from, to;
	struct latency_row *row;
	char buf[24];

	if (!formats_number(field[0], ev, &func) || !formats_number(field[1], ev, &from) ||
	    !formats_number(field[2], ev, &to) || to < from)
		return;
	row = rows_get(&w->rows, func, job_function(w, func, buf), "");
	w->failed |= !row;
	if (row)
		latency_add(row, to - from);
}

static void before(struct work *w, const struct decode_event *ev)
{
	w->result->boot->until = ev->time;
}

static void end(struct work *w)
{
	struct boot *b = w->result->boot;

	for (size_t i = 0; i < b->nr_calls; i++)
		if (!b->call[i].ended)
			b->call[i].to = b->until;
}

static const struct job_event events[] = {
	{"initcall", "initcall_level", {"level"}, on_level, false},
	{"initcall", "initcall_start", {"func"}, on_start, false},
	{"initcall", "initcall_finish", {"func", "ret"}, on_finish, false},
	{"sched", "sched_process_exec", {"filename"}, on_exec, true},
	{"ftrace", "function", {"ip"}, on_call, true},
	{"ftrace", "funcgraph_entry", {"func"}, on_call, true},
	{"ftrace", "funcgraph_exit", {"func", "calltime", "rettime"}, on_return, true},
	{NULL, NULL, {NULL}, NULL, false},
};

const struct job job_boot = {
	.name = "boot",
	.words = {"calls", "functions", "FUNCTION", false},
	.by = {"task"},
	.needs = "initcall:initcall_start and initcall:initcall_finish, of a boot",
	.events = events,
	.begin = begin,
	.before = before,
	.end = end,
};

/* --- what is shown of it ------------------------------------------------------------------------
 */

size_t boot_phases(const struct boot *b, struct boot_phase phase[BOOT_PHASES_MAX])
{
	const struct boot_level *l = b->level;
	uint64_t last = b->nr_levels ? l[b->nr_levels - 1].to : 0;
	size_t nr = 0;

	if (!b->nr_levels)
		return 0;
	phase[nr++] = (struct boot_phase){"before initcalls", 0, l[0].from, 0, -1};
	for (size_t i = 0; i < b->nr_levels; i++)
		phase[nr++] =
			(struct boot_phase){l[i].name, l[i].from, l[i].to, l[i].calls, (int)i};
	if (b->user && strcmp(l[b->nr_levels - 1].name, "modules") != 0)
		phase[nr++] = (struct boot_phase){"to the first program", last, b->user, 0, -1};
	else if (!b->user && b->until > last)
		phase[nr++] = (struct boot_phase){"to the trace's end", last, b->until, 0, -1};
	return nr;
}

static int slower(const void *a, const void *b, void *arg)
{
	const struct boot *boot = arg;
	const uint32_t *x = a, *y = b;
	uint64_t m = boot->call[*x].to - boot->call[*x].from;
	uint64_t n = boot->call[*y].to - boot->call[*y].from;

	if (m != n)
		return m < n ? 1 : -1;
	return *x < *y ? -1 : 1;
}

static int earlier(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

size_t boot_slowest(const struct boot *b, const struct boot_view *view, uint32_t *idx)
{
	size_t nr = b->nr_calls < view->rows ? b->nr_calls : view->rows;
	uint32_t *all = calloc(b->nr_calls + 1, sizeof(*all));

	if (!all)
		return 0;
	for (size_t i = 0; i < b->nr_calls; i++)
		all[i] = (uint32_t)i;
	qsort_r(all, b->nr_calls, sizeof(*all), slower, (void *)(uintptr_t)b);
	memcpy(idx, all, nr * sizeof(*all));
	free(all);
	if (view->sort == BOOT_FROM)
		qsort(idx, nr, sizeof(*idx), earlier);
	return nr;
}
