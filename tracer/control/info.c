// SPDX-License-Identifier: GPL-2.0-or-later
/* info.c - the texts of files that tell about the whole trace. */
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/events/hist/commands.h"
#include "tracer/events/trigger/command.h"
#include "tracer/filter/func-commands.h"
#include "tracer/guest/own-ftrace.h"
#include "tracer/instance/instance.h"
#include "tracer/record/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

unsigned int trace_vcpus(const struct trace *t)
{
	return t->vcpus;
}

const char *trace_function_command(unsigned int i, const char **desc)
{
	const struct func_command *c = func_command_row(i);

	if (c)
		*desc = c->desc;
	return c ? c->name : NULL;
}

const char *trace_event_command(unsigned int i, const char **syntax, const char **desc)
{
	const struct event_command *c = NULL;

	for (unsigned int k = 0; k <= i && (c = event_commands[k]); k++)
		;
	if (!c)
		return NULL;
	*syntax = c->syntax;
	*desc = c->desc;
	return c->name;
}

void trace_print_functions(struct trace *t, bool addresses, struct text *out)
{
	struct funcs *funcs;

	change_lock(t);
	funcs = funcs_get(t->funcs);
	change_unlock(t);
	funcs_print(funcs, addresses, out);
	funcs_put(funcs);
}

/* Who is called: those that record or count it, together, and the stack tracer. */
static unsigned int callbacks(const struct probe *p)
{
	if (!(p->flags & PROBE_FL_SET))
		return 0;
	return !!(p->flags & PROBE_FL_RECORD) + !!(p->guards & GUARD_DEPTH);
}

/*
 * As t_show() (kernel/trace/ftrace.c, 6.1 and 6.12): how many callbacks a function has, ours and
 * the guest's own, and columns of letters, which only its own have. `wide`: those of newer kernels,
 * too.
 */
static void print_callbacks(unsigned int ours, const struct own_site *own, bool wide,
			    struct text *out)
{
	static const struct own_site none = {0};

	own = own ? own : &none;
	text_printf(out, " (%u)%s%s%s", ours + own->callbacks, own->regs ? " R" : "  ",
		    own->ipmodify ? " I" : "  ", own->direct ? " D" : "  ");
	if (wide)
		text_printf(out, "%s%s", own->call_ops ? " O" : "  ",
			    own->modified ? " M " : "   ");
	text_puts(out, "\n");
}

/* What the guest itself has there; nothing of a guest that is not there any more, or does not tell.
 */
static void read_own(struct trace *t, struct own_sites *own)
{
	struct machine_info info = {0};

	if (t->m && !machine_has_ended(t->m, NULL))
		machine_get_info(t->m, &info);
	if (!info.direct || own_sites_read(&t->guest, t->gs, own))
		*own = (struct own_sites){0};
}

static void print_probes(struct trace *t, bool touched, struct text *out)
{
	bool wide = trace_has_touched(t);
	struct own_sites sites;

	read_own(t, &sites);
	change_lock(t);
	for (uint32_t f = 0; f < t->funcs->nr; f++) {
		uint32_t probe = t->func_probe[f];
		const struct probe *p = probe == UINT32_MAX ? NULL : &t->probes.v[probe];
		const struct own_site *own =
			p ? own_sites_find(&sites, p->va + t->guest.slide) : NULL;
		bool listed = touched ? (p && p->flags & PROBE_FL_TOUCHED) || (own && own->touched)
				      : (p && callbacks(p)) || (own && own->callbacks);

		if (!listed)
			continue;
		func_print(&t->funcs->v[f], out);
		print_callbacks(callbacks(p), own, wide, out);
	}
	change_unlock(t);
	own_sites_free(&sites);
}

void trace_print_enabled(struct trace *t, struct text *out)
{
	print_probes(t, false, out);
}

bool trace_has_touched(const struct trace *t)
{
	return guestsym_addr(t->gs, "ftrace_touched_open");
}

void trace_print_touched(struct trace *t, struct text *out)
{
	print_probes(t, true, out);
}

void trace_print_total_info(struct trace *t, struct text *out)
{
	change_lock(t);
	text_printf(out, "%" PRIu32 " pages:0 groups: 0\n", t->funcs->nr);
	change_unlock(t);
}

static void print_comm(void *arg, int32_t pid, int32_t tgid, const char comm[COMM_LEN])
{
	(void)tgid;
	if (*comm)
		text_printf(arg, "%d %.16s\n", pid, comm);
}

void trace_print_cmdlines(struct trace *t, struct text *out)
{
	comms_each(t->comms, print_comm, out);
}

void trace_find_comm(struct trace *t, int32_t pid, char *comm, size_t size)
{
	char name[COMM_LEN];

	comms_find(t->comms, pid, name);
	snprintf(comm, size, "%.*s", COMM_LEN, name);
}

struct tgid {
	int32_t pid, tgid;
};

struct tgids {
	struct tgid *v;
	size_t nr, room;
};

static void collect_tgid(void *arg, int32_t pid, int32_t tgid, const char comm[COMM_LEN])
{
	struct tgids *to = arg;

	(void)comm;
	if (tgid && to->nr < to->room)
		to->v[to->nr++] = (struct tgid){pid, tgid};
}

static int by_pid(const void *a, const void *b)
{
	const struct tgid *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The kernel's has a place for each pid (saved_tgids_show(), kernel/trace/trace.c, 6.1). */
void trace_print_tgids(struct trace *t, struct text *out)
{
	struct comms *comms = t->comms;
	struct tgids all = {.room = comms_size(comms)};

	all.v = calloc(all.room, sizeof(*all.v));
	if (!all.v) {
		out->failed = true;
		return;
	}
	comms_each(comms, collect_tgid, &all);
	qsort(all.v, all.nr, sizeof(*all.v), by_pid);
	for (size_t i = 0; i < all.nr; i++)
		text_printf(out, "%d %d\n", all.v[i].pid, all.v[i].tgid);
	free(all.v);
}

unsigned int trace_cmdlines_size(struct trace *t)
{
	return (unsigned int)comms_size(t->comms);
}

int trace_set_cmdlines_size(struct trace *t, unsigned int n)
{
	struct comms *other;

	if (!n)
		return -EINVAL;
	trace_writers_stop(t);
	other = comms_resize(t->comms, n);
	if (other)
		t->comms = other;
	trace_writers_go(t);
	return other ? 0 : -ENOMEM;
}

static const char *guest_state_name(struct machine *m)
{
	static const char *const ends[] = {
		[MACHINE_EVENT_RESET] = "reset",	[MACHINE_EVENT_POWEROFF] = "powered off",
		[MACHINE_EVENT_HALT] = "halted",	[MACHINE_EVENT_CRASH] = "crashed",
		[MACHINE_EVENT_ERROR] = "out of reach",
	};
	struct machine_event ev;

	return machine_has_ended(m, &ev) ? ends[ev.type] : "running";
}

void trace_print_guest(struct trace *t, struct text *out)
{
	const char *release = guestsym_release(t->gs);

	text_printf(out, "kernel: %s\n", *release ? release : "unknown");
	text_printf(out, "state: %s\n", t->m ? guest_state_name(t->m) : "not started");
	text_printf(out, "kaslr offset: 0x%" PRIx64 "\n", t->guest.slide);
}

static double timeval_s(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

/* Of the rows those from the first to the last that has any. */
static void print_rows(const struct machine_pauses *p, struct text *out)
{
	unsigned int first = 0, last = MACHINE_PAUSE_ROWS;

	while (first < MACHINE_PAUSE_ROWS && !p->row[first])
		first++;
	while (last > first && !p->row[last - 1])
		last--;
	for (unsigned int i = first; i < last; i++)
		text_printf(out, "%s %8" PRIu64 " us: %" PRIu64 "\n",
			    i == MACHINE_PAUSE_ROWS - 1 ? "  from" : "  less than",
			    UINT64_C(1) << (i == MACHINE_PAUSE_ROWS - 1 ? i - 1 : i), p->row[i]);
}

bool trace_has_begun(const struct trace *t)
{
	return atomic_load(&t->begun);
}

static void print_limit(struct text *out, const char *what, uint64_t ns)
{
	text_printf(out, "%s: %" PRIu64 " us\n", what, ns / 1000);
}

/* In the words of what KFT's status is made of: primed, triggered, complete. */
void trace_print_status(struct trace *t, struct text *out)
{
	const struct trace_config *cfg = &t->cfg;
	const char *state = "complete";

	if (!atomic_load(&t->done))
		state = cfg->from && !atomic_load(&t->begun) ? "primed"
			: t->instances->on		     ? "triggered"
							     : "off";
	text_printf(out, "status: %s\nfrom: %s\nuntil: %s\n", state, cfg->from ? cfg->from : "",
		    cfg->until ? cfg->until : "");
	print_limit(out, "mintime", trace_thresh(t));
	print_limit(out, "maxtime", t->instances->graph.max_ns);
	text_printf(out, "logentries: %" PRIu64 "\n", cfg->max_events);
}

void trace_print_standstill(struct trace *t, struct text *out)
{
	struct machine_pauses pauses = {0};

	if (t->m)
		machine_get_pauses(t->m, &pauses);
	text_printf(out, "stood: %" PRIu64 " times\ntotal: %.3f ms\nlongest: %.3f ms", pauses.count,
		    (double)pauses.total_ns / 1e6, (double)pauses.longest_ns / 1e6);
	if (pauses.longest_what)
		text_printf(out, " (%s)", pauses.longest_what);
	if (pauses.limit_ns)
		text_printf(out, "\nlimit: %" PRIu64 " ms", pauses.limit_ns / 1000000);
	text_printf(out, "\ntimes:\n");
	print_rows(&pauses, out);
}

void trace_print_overhead(struct trace *t, struct text *out)
{
	struct machine_pauses pauses = {0};
	struct rusage used;

	if (t->m)
		machine_get_pauses(t->m, &pauses);
	getrusage(RUSAGE_SELF, &used);
	text_printf(out, "pauses of the guest: %" PRIu64 "\n", pauses.count);
	text_printf(out, "paused: %.3f ms\n", (double)pauses.total_ns / 1e6);
	text_printf(out, "longest pause: %.3f ms\n", (double)pauses.longest_ns / 1e6);
	text_printf(out, "CPU time of hvtrace: %.3f s\n",
		    timeval_s(&used.ru_utime) + timeval_s(&used.ru_stime));
}
