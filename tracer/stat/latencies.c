// SPDX-License-Identifier: GPL-2.0-or-later
/* latencies.c - see latencies.h; and hvtrace/latency_enabled. */
#include "tracer/stat/latencies.h"
#include "tracer/instance/instance.h"
#include "tracer/output/output.h"
#include "tracer/payload/critical.h"
#include "tracer/payload/event-ring.h"
#include "tracer/payload/record.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/stat/files.h"
#include "tracer/stat/latency-table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* With all writers stopped. */
struct latencies {
	struct latency_table *table;	 /* once they were kept */
	const struct tracer_ops *tracer; /* whose they are */
};

/* --- windows --------------------------------------------------------------------------------- */

/* All that flag_sites_shown() looks at: a name is asked for when it is printed. */
static uint64_t record_key(const struct payload_record *r)
{
	return (uint64_t)r->parent << 32 | r->ip;
}

/* The stack is that of whoever called the function that ended the window, as in its trace. */
void latencies_window(struct instance *i, const struct critical_window *w, uint64_t ns)
{
	unsigned int n = w->stack && w->stack->n ? w->stack->n - 1 : 0;

	if (i->t->latency_on)
		latency_table_add(i->t->latencies->table, record_key(&w->off), record_key(&w->on),
				  ns, n ? w->stack->ip + 1 : NULL, n);
}

bool latencies_want_stack(struct instance *i, const struct critical_window *w)
{
	uint64_t ticks = critical_ticks(w);
	struct machine_info info;
	uint64_t khz;

	if (!i->t->latency_on)
		return false;
	machine_get_info(i->t->m, &info);
	khz = info.tsc_khz ? info.tsc_khz : 1;
	/* By the trace's clock it may be a little longer. */
	ticks += ticks / 1024;
	return latency_table_is_longest(i->t->latencies->table, record_key(&w->off),
					record_key(&w->on),
					ticks / khz * 1000000 + ticks % khz * 1000000 / khz);
}

void latencies_add(struct instance *i, uint64_t from, uint64_t to, uint64_t ns,
		   const uint64_t *stack, unsigned int n)
{
	if (i->t->latency_on)
		latency_table_add(i->t->latencies->table, from, to, ns, stack, n);
}

void latencies_lost(struct instance *i)
{
	if (!i->t->latency_on || !i->tracer->max)
		return;
	latency_table_gap(i->t->latencies->table);
	/* Among them may be the longest one of two places, and the next one is not longer. */
	trampoline_forget_limits(i->t);
}

/* --- the switch ------------------------------------------------------------------------------ */

void latencies_begin(struct instance *i)
{
	const struct tracer_ops *tracer = i->tracer;

	if (!i->t->latency_on || !tracer->max)
		return;
	latency_table_reset(i->t->latencies->table);
	trampoline_forget_limits(i->t);
	i->t->latencies->tracer = tracer;
}

static int table_begin(struct trace *t)
{
	const struct tracer_ops *tracer = t->instances->tracer;

	if (!t->latencies->table)
		t->latencies->table = latency_table_new();
	else
		latency_table_reset(t->latencies->table);
	trampoline_forget_limits(t);
	t->latencies->tracer = tracer->max ? tracer : NULL;
	return t->latencies->table ? 0 : -ENOMEM;
}

bool trace_keeps_latencies(struct trace *t)
{
	return t->latency_on;
}

int trace_keep_latencies(struct trace *t, bool on)
{
	int ret = 0;

	trace_change_begin(t);
	if (on != t->latency_on) {
		trace_writers_stop(t);
		record_drain_all(t); /* what ended before goes by what was set then */
		if (on)
			ret = table_begin(t);
		if (!ret)
			t->latency_on = on;
		trace_writers_go(t);
		/* The guest leaves out what nobody wants. */
		payload_control(t);
	}
	trace_change_end(t);
	return ret;
}

struct latencies *latencies_new(void)
{
	return calloc(1, sizeof(struct latencies));
}

void latencies_free(struct latencies *l)
{
	if (l)
		latency_table_free(l->table);
	free(l);
}

/* --- text ------------------------------------------------------------------------------------ */

struct naming {
	struct trace *t;
	struct output_config cfg;
};

static void print_function(void *arg, uint64_t key, struct text *out)
{
	const struct naming *n = arg;
	const struct payload_record r = {.ip = (uint32_t)key, .parent = (uint32_t)(key >> 32)};
	struct output_symbol sym = {0};

	if (n->cfg.symbol(n->cfg.arg, flag_sites_shown(n->t, &r), &sym))
		text_puts(out, sym.name);
}

static void print_place(void *arg, uint64_t addr, struct text *out)
{
	const struct naming *n = arg;
	struct output_symbol sym = {0};

	if (n->cfg.symbol(n->cfg.arg, addr, &sym))
		text_puts(out, sym.name);
}

static void print_task(void *arg, uint64_t key, struct text *out)
{
	const struct naming *n = arg;
	char comm[COMM_LEN];

	comms_find(n->t->comms, (int32_t)key, comm);
	text_printf(out, "%.*s-%" PRId32, COMM_LEN, comm, (int32_t)key);
}

void trace_print_latencies(struct trace *t, struct text *out)
{
	const struct tracer_ops *tracer = NULL;
	struct naming naming = {.t = t};

	instance_output_config(t->instances, &naming.cfg);
	trace_writers_stop(t);
	if (t->latency_on)
		record_drain_all(t);
	if (t->latencies->table)
		tracer = t->latencies->tracer;
	trace_writers_go(t);
	text_printf(out, "# tracer\t%s\n", tracer ? tracer->name : "none");
	if (tracer) {
		const struct latency_names names = {
			.name = tracer->critical ? print_function : print_task,
			.place = print_place,
			.arg = &naming,
		};

		latency_table_print(t->latencies->table, &names, out);
	}
}
