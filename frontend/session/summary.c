// SPDX-License-Identifier: GPL-2.0-or-later
/* summary.c - see summary.h. Times are nanoseconds where a key ends in _ns. */
#include "frontend/session/summary.h"

#include "frontend/lib/json.h"
#include "frontend/report/exits.h"

#include <string.h>

static void put_lost(const struct trace_status *st, struct json *j)
{
	json_put_number(j, "lost", st->lost);
	json_begin_object(j, "lost_by");
	json_put_number(j, "guest", st->staging_lost - st->corrupt);
	json_put_number(j, "senseless", st->corrupt);
	json_put_number(j, "buffer", st->lost - st->staging_lost);
	json_end_object(j);
	json_put_number(j, "overwritten", st->overwritten);
}

static void put_vcpu(unsigned int vcpu, const struct trace_vcpu_status *st, struct json *j)
{
	json_begin_object(j, NULL);
	json_put_number(j, "cpu", vcpu);
	json_put_number(j, "events", st->events);
	json_put_number(j, "lost", st->staging_lost + st->dropped);
	json_put_number(j, "overwritten", st->overwritten);
	json_end_object(j);
}

static void put_trace(const struct summary *s, struct json *j)
{
	json_put_text(j, "engine", s->trace->engine);
	json_put_number(j, "boots", s->boots);
	json_put_number(j, "functions", s->trace->traced);
	json_put_number(j, "functions_left_out", s->trace->skipped);
	json_put_number(j, "events", s->trace->hits);
	put_lost(s->trace, j);
	json_begin_array(j, "cpus");
	for (unsigned int i = 0; i < s->vcpus; i++)
		put_vcpu(i, &s->vcpu[i], j);
	json_end_array(j);
}

static void put_pauses(const struct machine_pauses *p, struct json *j)
{
	json_begin_object(j, "standstill");
	json_put_number(j, "count", p->count);
	json_put_number(j, "total_ns", p->total_ns);
	json_put_number(j, "longest_ns", p->longest_ns);
	json_put_text(j, "longest_for", p->longest_what);
	json_put_bool(j, "exceeded", p->exceeded);
	json_end_object(j);
}

/* --- files -------------------------------------------------------------------------------------
 */

static void put_size(const char *key, bool known, uint64_t bytes, struct json *j)
{
	if (known)
		json_put_number(j, key, bytes);
	else
		json_put_null(j, key);
}

static void put_file(const struct summary_file *f, struct json *j)
{
	json_put_text(j, "file", f->path);
	put_size("bytes", f->opened && f->sized, f->bytes, j);
	put_size("record_bytes", f->opened && f->recorded, f->record_bytes, j);
	json_put_text(j, "error", f->error ? strerror(-f->error) : NULL);
}

static void put_sum(const struct exits_sum *sum, struct json *j)
{
	json_put_number(j, "count", sum->nr);
	json_put_number(j, "total_ns", sum->ns);
	json_put_number(j, "max_ns", sum->longest);
	json_end_object(j);
}

static void put_exits(const struct exits *e, struct json *j)
{
	struct exits_sum sum;
	const char *reason;
	unsigned int vcpu;

	json_begin_array(j, "exits");
	for (size_t i = 0; exits_reason(e, i, &reason, &sum); i++) {
		json_begin_object(j, NULL);
		json_put_text(j, "reason", reason);
		put_sum(&sum, j);
	}
	json_end_array(j);
	json_begin_array(j, "taken");
	for (size_t i = 0; exits_taken(e, i, &vcpu, &sum); i++) {
		json_begin_object(j, NULL);
		json_put_number(j, "cpu", vcpu);
		put_sum(&sum, j);
	}
	json_end_array(j);
}

static void put_host(const struct summary_host *h, struct json *j)
{
	json_begin_object(j, "host_events");
	json_put_number(j, "events", h->events);
	json_put_bool(j, "lost", h->lost);
	put_file(&h->file, j);
	if (h->exits)
		put_exits(h->exits, j);
	json_end_object(j);
}

/* --- all of it ---------------------------------------------------------------------------------
 */

void summary_put(const struct summary *s, struct json *j)
{
	json_begin_object(j, NULL);
	json_put_number(j, "status", (uint64_t)s->status);
	json_put_text(j, "end", s->end);
	json_put_text(j, "reason", s->reason);
	json_put_text(j, "guest", s->guest);
	json_put_text(j, "release", s->release);
	json_put_text(j, "tracer", s->tracer);
	json_put_real(j, "seconds", s->seconds, 3);
	if (s->trace)
		put_trace(s, j);
	if (s->pauses)
		put_pauses(s->pauses, j);
	json_begin_object(j, "output");
	put_file(s->output, j);
	json_end_object(j);
	if (s->host)
		put_host(s->host, j);
	json_end_object(j);
}
