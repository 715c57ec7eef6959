// SPDX-License-Identifier: GPL-2.0-or-later
/* latencies.c - see latencies.h; and hvtrace/latency_enabled. */
#include "tracer/latencies.h"
#include "tracer/flag-sites.h"
#include "tracer/latency-table.h"
#include "tracer/trampoline.h"

#include <errno.h>
#include <inttypes.h>

/* --- windows --------------------------------------------------------------------------------- */

/* All that flag_sites_shown() looks at: a name is asked for when it is printed. */
static uint64_t record_key(const struct payload_record *r)
{
	return (uint64_t)r->parent << 32 | r->ip;
}

void latencies_window(struct instance *i, const struct payload_record *off,
		      const struct payload_record *on, uint64_t ns)
{
	if (i->t->latency_on)
		latency_table_add(i->t->latencies, record_key(off), record_key(on), ns);
}

void latencies_wakeup(struct instance *i, int32_t waker, int32_t woken, uint64_t ns)
{
	if (i->t->latency_on)
		latency_table_add(i->t->latencies, (uint32_t)waker, (uint32_t)woken, ns);
}

void latencies_lost(struct trace *t)
{
	if (t->latency_on && t->instances->tracer->max)
		latency_table_gap(t->latencies);
}

/* --- the switch ------------------------------------------------------------------------------ */

void latencies_begin(struct instance *i)
{
	const struct tracer_ops *tracer = i->tracer;

	if (!i->t->latency_on || !tracer->max)
		return;
	latency_table_reset(i->t->latencies);
	i->t->latency_tracer = tracer;
}

static int table_begin(struct trace *t)
{
	const struct tracer_ops *tracer = t->instances->tracer;

	if (!t->latencies)
		t->latencies = latency_table_new();
	else
		latency_table_reset(t->latencies);
	t->latency_tracer = tracer->max ? tracer : NULL;
	return t->latencies ? 0 : -ENOMEM;
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
		instance_writers_stop(t);
		trampoline_drain_all(t); /* what ended before goes by what was set then */
		if (on)
			ret = table_begin(t);
		if (!ret)
			t->latency_on = on;
		instance_writers_go(t);
		/* The guest leaves out what nobody wants. */
		instances_tell_payload(t);
	}
	trace_change_end(t);
	return ret;
}

void latencies_free(struct trace *t)
{
	latency_table_free(t->latencies);
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
	instance_writers_stop(t);
	if (t->latency_on)
		trampoline_drain_all(t);
	if (t->latencies)
		tracer = t->latency_tracer;
	instance_writers_go(t);
	text_printf(out, "# tracer\t%s\n", tracer ? tracer->name : "none");
	if (tracer)
		latency_table_print(t->latencies, tracer->critical ? print_function : print_task,
				    &naming, out);
}
