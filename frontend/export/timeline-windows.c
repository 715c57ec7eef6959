// SPDX-License-Identifier: GPL-2.0-or-later
/* timeline-windows.c - how long interrupts, or preemption, are off on a vCPU. */
#include "frontend/export/timeline-local.h"

#include <string.h>

static struct track *window_of(struct timeline *t, bool irqs, unsigned int cpu)
{
	struct cpu_tracks *c = &t->cpus[cpu];
	struct track *track = irqs ? &c->irqs : &c->preempt;
	enum track_kind kind = irqs ? TRACK_IRQS_OFF : TRACK_PREEMPT_OFF;

	if (!track->id)
		*track = (struct track){
			.kind = kind, .id = (uint64_t)cpu * 8 + kind, .cpu = cpu, .tgid = 0};
	return track;
}

void timeline_begin_snapshot(struct timeline *t)
{
	if (t->snapshot.irqs)
		timeline_begin(t, window_of(t, true, t->snapshot.cpu), t->irqs_off);
	if (t->snapshot.preempt)
		timeline_begin(t, window_of(t, false, t->snapshot.cpu), t->preempt_off);
}

void timeline_end_snapshot(struct timeline *t)
{
	const struct cpu_tracks *c = &t->cpus[t->snapshot.cpu];

	if (t->snapshot.irqs && c->irqs.open)
		timeline_close(t, window_of(t, true, t->snapshot.cpu), t->irqs_off);
	if (t->snapshot.preempt && c->preempt.open)
		timeline_close(t, window_of(t, false, t->snapshot.cpu), t->preempt_off);
}

/* Which event it is tells its row's name. */
static bool on_window(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	bool irqs = !strncmp(row->name, "irq_", 4), off = strstr(row->name, "_disable");
	struct track *track = window_of(t, irqs, ev->cpu);
	uint32_t name = irqs ? t->irqs_off : t->preempt_off;

	(void)field;
	if (off && !track->open)
		timeline_begin(t, track, name);
	else if (!off && track->open)
		timeline_close(t, track, name);
	else if (!off)
		t->x->result.unbegun++;
	return false;
}

const struct timeline_row timeline_window_rows[] = {
	{"preemptirq", "irq_disable", {NULL}, on_window},
	{"preemptirq", "irq_enable", {NULL}, on_window},
	{"preemptirq", "preempt_disable", {NULL}, on_window},
	{"preemptirq", "preempt_enable", {NULL}, on_window},
	{NULL, NULL, {NULL}, NULL},
};
