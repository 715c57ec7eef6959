// SPDX-License-Identifier: GPL-2.0-or-later
/* exits.c - see exits.h */
#include "frontend/report/exits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/decode/fields.h"
#include "frontend/decode/print.h"

#define REASONS_MAX 512
#define REASON_LEN  32
#define PRINTED_MAX 12	 /* reasons; the others are one line */
#define STATES	    0xff /* of prev_state; 0: it would have gone on running */

struct thread {
	unsigned int vcpu;
	int32_t tid;
	bool out, away, taken;		 /* of the guest; without a CPU; and not by its own will */
	uint64_t out_at, away_at, aside; /* aside: of the exit, what was without a CPU */
	size_t reason;
	struct exits_sum sum;
};

struct reason {
	uint64_t number;
	char name[REASON_LEN];
	struct exits_sum sum;
};

struct exits {
	struct formats *formats;
	const struct exits_ops *ops; /* or NULL */
	void *arg;
	int exit_id, entry_id, switch_id;
	const struct tep_format_field *exit_reason, *prev_pid, *prev_state, *next_pid, *next_comm;
	struct thread thread[EXITS_VCPUS];
	size_t nr_threads;
	struct reason reason[REASONS_MAX];
	size_t nr_reasons;
	struct trace_seq text;
};

static void add(struct exits_sum *sum, uint64_t ns)
{
	sum->nr++;
	sum->ns += ns;
	if (ns > sum->longest)
		sum->longest = ns;
}

/* --- what there is in the formats --------------------------------------------------------------
 */

static int find(struct exits *e, const char *system, const char *name,
		const struct tep_format_field **fields[], const char *const names[])
{
	struct tep_event *event = tep_find_event_by_name(formats_tep(e->formats), system, name);

	for (size_t i = 0; event && names && names[i]; i++) {
		*fields[i] = tep_find_field(event, names[i]);
		if (!*fields[i])
			return -1;
	}
	return event ? event->id : -1;
}

struct exits *exits_new(struct formats *f, const struct exits_ops *ops, void *arg)
{
	static const char *const exit_names[] = {"exit_reason", NULL};
	static const char *const switch_names[] = {"prev_pid", "prev_state", "next_pid",
						   "next_comm", NULL};
	struct exits *e = calloc(1, sizeof(*e));
	const struct tep_format_field **exit_fields[1], **switch_fields[4];

	if (!e)
		return NULL;
	e->formats = f;
	e->ops = ops;
	e->arg = arg;
	trace_seq_init(&e->text);
	exit_fields[0] = &e->exit_reason;
	switch_fields[0] = &e->prev_pid;
	switch_fields[1] = &e->prev_state;
	switch_fields[2] = &e->next_pid;
	switch_fields[3] = &e->next_comm;
	e->exit_id = find(e, "kvm", "kvm_exit", exit_fields, exit_names);
	e->entry_id = find(e, "kvm", "kvm_entry", NULL, NULL);
	e->switch_id = find(e, "sched", "sched_switch", switch_fields, switch_names);
	return e;
}

void exits_free(struct exits *e)
{
	if (!e)
		return;
	trace_seq_destroy(&e->text);
	free(e);
}

void exits_vcpu(struct exits *e, unsigned int vcpu, int32_t tid)
{
	if (e->nr_threads < EXITS_VCPUS)
		e->thread[e->nr_threads++] = (struct thread){.vcpu = vcpu, .tid = tid};
}

/* --- events ------------------------------------------------------------------------------------
 */

static struct thread *thread_of(struct exits *e, int32_t tid)
{
	for (size_t i = 0; i < e->nr_threads; i++)
		if (e->thread[i].tid == tid)
			return &e->thread[i];
	return NULL;
}

/* "vcpu 0 reason npf rip 0x...": only the event's own format knows what a number means. */
static void name_reason(struct exits *e, struct reason *r, const struct decode_event *ev)
{
	const char *at;
	size_t len;

	print_info(e->formats, ev, &e->text);
	trace_seq_terminate(&e->text);
	at = strstr(e->text.buffer, "reason ");
	at = at ? at + strlen("reason ") : "";
	len = strcspn(at, " \n");
	if (len && len < REASON_LEN)
		memcpy(r->name, at, len);
	else
		snprintf(r->name, sizeof(r->name), "%" PRIu64, r->number);
}

/* Where there are too many the last one is all others. */
static size_t reason_of(struct exits *e, uint64_t number, const struct decode_event *ev)
{
	size_t i = 0;

	while (i < e->nr_reasons && e->reason[i].number != number)
		i++;
	if (i == REASONS_MAX)
		return REASONS_MAX - 1;
	if (i == e->nr_reasons) {
		e->reason[i].number = number;
		name_reason(e, &e->reason[i], ev);
		e->nr_reasons++;
	}
	return i;
}

static void tell_begin(const struct exits *e, const struct thread *t, const struct decode_event *ev,
		       const char *name)
{
	if (e->ops)
		e->ops->begin(e->arg, t->vcpu, ev->time, name);
}

/* What goes on is over, counted or not. */
static void tell_end(const struct exits *e, const struct thread *t, const struct decode_event *ev,
		     bool *on)
{
	if (e->ops && *on)
		e->ops->end(e->arg, t->vcpu, ev->time);
	*on = false;
}

static void see_exit(struct exits *e, struct thread *t, const struct decode_event *ev)
{
	uint64_t number;

	/* Of what is lost in between the ends are missing. */
	tell_end(e, t, ev, &t->away);
	tell_end(e, t, ev, &t->out);
	t->out = formats_number(e->exit_reason, ev, &number);
	if (!t->out)
		return;
	t->out_at = ev->time;
	t->aside = 0;
	t->reason = reason_of(e, number, ev);
	tell_begin(e, t, ev, e->reason[t->reason].name);
}

static void see_entry(struct exits *e, struct thread *t, const struct decode_event *ev)
{
	uint64_t ns = ev->time - t->out_at;

	if (t->out && !t->away && ev->time >= t->out_at)
		add(&e->reason[t->reason].sum, ns > t->aside ? ns - t->aside : 0);
	tell_end(e, t, ev, &t->away);
	tell_end(e, t, ev, &t->out);
}

static void see_away(struct exits *e, struct thread *t, const struct decode_event *ev)
{
	struct field_bytes comm = fields_text(e->next_comm, ev);
	uint64_t state = 0;
	char name[64];

	tell_end(e, t, ev, &t->away);
	formats_number(e->prev_state, ev, &state);
	t->away = true;
	t->taken = !(state & STATES);
	t->away_at = ev->time;
	snprintf(name, sizeof(name), "taken by %.*s", comm.len < 32 ? (int)comm.len : 32,
		 (const char *)comm.at);
	tell_begin(e, t, ev, t->taken ? name : "waits");
}

static void see_back(struct exits *e, struct thread *t, const struct decode_event *ev)
{
	uint64_t ns = ev->time - t->away_at;

	if (!t->away || ev->time < t->away_at)
		return;
	tell_end(e, t, ev, &t->away);
	t->aside += ns;
	if (t->taken)
		add(&t->sum, ns);
}

static void see_switch(struct exits *e, const struct decode_event *ev)
{
	uint64_t prev, next;
	struct thread *t;

	if (!formats_number(e->prev_pid, ev, &prev) || !formats_number(e->next_pid, ev, &next))
		return;
	t = thread_of(e, (int32_t)prev);
	if (t)
		see_away(e, t, ev);
	t = thread_of(e, (int32_t)next);
	if (t)
		see_back(e, t, ev);
}

void exits_event(struct exits *e, const struct decode_event *ev)
{
	struct thread *t;

	if (ev->id == e->switch_id) {
		see_switch(e, ev);
		return;
	}
	t = ev->id == e->exit_id || ev->id == e->entry_id ? thread_of(e, ev->pid) : NULL;
	if (!t)
		return;
	/* What is lost lies between them. */
	if (ev->lost) {
		tell_end(e, t, ev, &t->away);
		tell_end(e, t, ev, &t->out);
	}
	if (ev->id == e->exit_id)
		see_exit(e, t, ev);
	else
		see_entry(e, t, ev);
}

/* --- what there was ----------------------------------------------------------------------------
 */

bool exits_reason(const struct exits *e, size_t i, const char **reason, struct exits_sum *sum)
{
	if (i >= e->nr_reasons)
		return false;
	*reason = e->reason[i].name;
	*sum = e->reason[i].sum;
	return true;
}

bool exits_taken(const struct exits *e, size_t i, unsigned int *vcpu, struct exits_sum *sum)
{
	if (i >= e->nr_threads)
		return false;
	*vcpu = e->thread[i].vcpu;
	*sum = e->thread[i].sum;
	return true;
}

static int by_cost(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	return (x->sum.ns < y->sum.ns) - (x->sum.ns > y->sum.ns);
}

static void merge(struct exits_sum *to, const struct exits_sum *sum)
{
	to->nr += sum->nr;
	to->ns += sum->ns;
	if (sum->longest > to->longest)
		to->longest = sum->longest;
}

static void print_row(const char *name, const struct exits_sum *sum, FILE *out)
{
	fprintf(out, "  %-20s %9" PRIu64 " times %10.3f ms, %9.1f us each, %9.1f us at most\n",
		name, sum->nr, (double)sum->ns / 1e6,
		sum->nr ? (double)sum->ns / 1e3 / (double)sum->nr : 0, (double)sum->longest / 1e3);
}

static void print_reasons(struct exits *e, FILE *out)
{
	struct exits_sum all = {0}, others = {0};

	qsort(e->reason, e->nr_reasons, sizeof(*e->reason), by_cost);
	for (size_t i = 0; i < e->nr_reasons; i++)
		merge(&all, &e->reason[i].sum);
	if (!all.nr)
		return;
	print_row("exits", &all, out);
	for (size_t i = 0; i < e->nr_reasons; i++)
		if (i < PRINTED_MAX)
			print_row(e->reason[i].name, &e->reason[i].sum, out);
		else
			merge(&others, &e->reason[i].sum);
	if (others.nr)
		print_row("others", &others, out);
}

void exits_print(struct exits *e, FILE *out)
{
	char name[32];

	print_reasons(e, out);
	for (size_t i = 0; i < e->nr_threads; i++) {
		if (!e->thread[i].sum.nr)
			continue;
		snprintf(name, sizeof(name), "CPU taken, vCPU %u", e->thread[i].vcpu);
		print_row(name, &e->thread[i].sum, out);
	}
}
