// SPDX-License-Identifier: GPL-2.0-or-later
/* found.c - see found.h */
#include "frontend/serve/found.h"

#include "frontend/serve/digest.h"

#include <stdio.h>
#include <string.h>

static struct metrics_labels labels_of(const struct round *r)
{
	return (struct metrics_labels){
		.guest = r->name, .uuid = r->uuid, .rule = round_rule(r)->name};
}

/* --- rows ---------------------------------------------------------------------------------------
 */

struct finding {
	struct round *round;
	enum metrics_family family;
};

static void take_row(void *arg, const struct digest_row *row, bool all)
{
	const struct finding *f = arg;
	struct round *r = f->round;
	struct metrics_labels labels = labels_of(r);
	bool calls = f->family == METRICS_SYSCALL_LATENCY;

	if (all && row->max_ns > r->longest_ns)
		r->longest_ns = row->max_ns;
	if (all == calls)
		return;
	labels.syscall = row->name;
	metrics_observe_many(r->metrics, f->family, &labels, row->bucket, row->total_ns);
	if (calls && row->errors)
		metrics_add(r->metrics, METRICS_SYSCALL_ERRORS, &labels, (double)row->errors);
}

/* A guest in which nothing of the kind has happened is no failure. */
static void take_rows(struct round *r, enum metrics_family family)
{
	struct finding f = {r, family};

	digest_rows(r->rows_path, take_row, &f);
}

/* --- what it has cost ---------------------------------------------------------------------------
 */

static void take_cost(struct round *r, const struct digest_summary *s)
{
	struct metrics_labels labels = labels_of(r);

	r->cost.traced_ms += (int64_t)(s->seconds * 1000);
	r->cost.stood_ns += s->stood_ns;
	r->cost.records += s->records;
	r->cost.vcpus = s->vcpus ? s->vcpus : r->vcpus;
	metrics_add(r->metrics, METRICS_RECORDS, &labels, (double)s->records);
	metrics_add(r->metrics, METRICS_LOST_RECORDS, &labels, (double)s->lost);
	metrics_add(r->metrics, METRICS_STANDSTILL, &labels, (double)s->stood_ns / 1e9);
	metrics_set(r->metrics, METRICS_LONGEST_STANDSTILL, &labels, (double)s->longest_ns / 1e9);
	metrics_add(r->metrics, METRICS_RECORDED_BYTES, &labels, (double)s->bytes);
	metrics_set(r->metrics, METRICS_OVERHEAD, &labels, budget_ratio(&r->cost));
	if (!strcmp(s->end, "panic"))
		metrics_add(r->metrics, METRICS_GUEST_PANICS, &labels, 1);
}

static void take_usage(const struct round *r, enum plan_kind kind)
{
	const struct rusage *u = &r->step.used;
	struct metrics_labels labels = labels_of(r);
	double seconds = (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
			 (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;

	metrics_add(r->metrics, METRICS_CPU, &labels, seconds);
	if (plan_is_of_guest(kind))
		metrics_set(r->metrics, METRICS_RESIDENT, &labels, (double)u->ru_maxrss * 1024);
}

/* It may have booted another kernel. */
static void take_release(struct round *r, const char *release)
{
	const struct metrics_labels labels = {.guest = r->name, .uuid = r->uuid, .kernel = release};

	snprintf(r->guest->release, sizeof(r->guest->release), "%s", release);
	metrics_forget(r->metrics, METRICS_GUEST_INFO, r->name);
	metrics_set(r->metrics, METRICS_GUEST_INFO, &labels, 1);
}

static void take_summary(struct round *r)
{
	struct digest_summary s;

	if (digest_summary(&s, r->summary))
		return;
	take_cost(r, &s);
	if (r->guest && *s.release && strcmp(r->guest->release, s.release) != 0)
		take_release(r, s.release);
}

/* --- what was shipped ---------------------------------------------------------------------------
 */

/* Of several servers it is not told which one has taken what. */
static void take_shipped(struct round *r)
{
	const struct option_list *to = &r->conf->c->ship.to;
	struct metrics_labels labels = {.server = to->nr == 1 ? to->values[0] : "all"};
	struct digest_shipped s;

	if (!digest_shipped(&s, r->summary)) {
		metrics_add(r->metrics, METRICS_SHIP_RECORDS, &labels, (double)s.records);
		metrics_add(r->metrics, METRICS_SHIP_BATCHES, &labels, (double)s.batches);
		metrics_add(r->metrics, METRICS_SHIP_BYTES, &labels, (double)s.bytes);
		metrics_add(r->metrics, METRICS_SHIP_LOST_RECORDS, &labels, (double)s.missed);
	}
	labels.reason = "delivery";
	metrics_add(r->metrics, METRICS_SHIP_FAILURES, &labels, r->step.status != 0);
}

/* --- all ----------------------------------------------------------------------------------------
 */

/* What hvtrace attach says of a domain that --recover is for (vmm/qemu/libvirt/sockets.c). */
#define HARMED "recover the domain first"

static void take_harm(struct round *r, enum plan_kind kind)
{
	if (!r->guest)
		return;
	if (kind == PLAN_RECOVER)
		r->guest->harmed = false;
	else if (r->step.status && strstr(r->step.last, HARMED))
		r->guest->harmed = true;
}

/* A guest that went meanwhile is nobody's failure. */
static void take_failure(struct round *r, enum plan_kind kind)
{
	struct metrics_labels labels = labels_of(r);
	bool of_guest = plan_is_of_guest(kind), gone = of_guest && (!r->guest || !r->guest->here);

	labels.outcome = gone ? "gone" : r->step.status ? "failed" : "traced";
	if (of_guest)
		metrics_add(r->metrics, METRICS_WINDOWS, &labels, 1);
	if (!r->step.status || gone)
		return;
	labels.reason = of_guest ? "trace" : kind == PLAN_SHIP ? "ship" : "read";
	metrics_add(r->metrics, METRICS_FAILURES, &labels, 1);
	r->failed |= of_guest;
}

void found(struct round *r, enum plan_kind kind)
{
	static const enum metrics_family family[PLAN_KINDS] = {
		[PLAN_IRQS_OFF] = METRICS_IRQS_OFF,
		[PLAN_PREEMPT_OFF] = METRICS_PREEMPT_OFF,
		[PLAN_WAKEUPS] = METRICS_WAKEUP_LATENCY,
		[PLAN_SYSCALLS] = METRICS_SYSCALL_LATENCY,
	};
	int64_t threshold = round_rule(r)->threshold.irqs_off_ns;

	take_usage(r, kind);
	take_harm(r, kind);
	if (kind == PLAN_RECOVER)
		return;
	if (plan_is_of_guest(kind))
		take_summary(r);
	take_failure(r, kind);
	if (kind != PLAN_RECORD && kind != PLAN_SHIP)
		take_rows(r, family[kind]);
	if (kind == PLAN_SHIP)
		take_shipped(r);
	if (kind == PLAN_IRQS_OFF && threshold && r->longest_ns > (uint64_t)threshold)
		r->crossed = true;
}
