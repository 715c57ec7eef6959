// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched-switch.c - the sched_switch tracer of Linux 2.6.28: who runs after whom on each CPU, and
 * who wakes up whom.
 */
#include "tracer/events/events.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/files.h"
#include "tracer/instance/view.h"
#include "tracer/tracers/sched-records.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <stdlib.h>

static int sched_switch_init(struct instance *i, void **data, const uint32_t *events)
{
	struct sched_records *s = malloc(sizeof(*s));
	int ret = s ? sched_records_init(s, events_list(i->t->trace_events), events,
					 SCHED_RECORD_MIGRATE)
		    : -ENOMEM;

	if (ret)
		free(s);
	else
		*data = s;
	return ret;
}

static void sched_switch_start(struct instance *i)
{
	sched_records_forget(i->tracer_data);
}

static void sched_switch_event(struct instance *i, unsigned int which, const struct event_view *v)
{
	struct trace_switch_entry *e;
	struct sched_record r;

	if (!sched_records_read(i->tracer_data, which, &v->data, &r))
		return;
	if (!instance_admits(i))
		return;
	sched_record_note_comm(&r, i->t->comms);
	e = instance_room(i, v->data.cpu, r.ts, sizeof(*e));
	if (!e)
		return;
	sched_record_entry(&r, e);
	ring_commit(i->ring[v->data.cpu]);
}

const struct tracer_ops sched_switch_tracer_ops = {
	.name = "sched_switch",
	.desc = "which task runs after which, and which wakes up which",
	.events = sched_record_events,
	.init = sched_switch_init,
	.exit = free,
	.start = sched_switch_start,
	.event = sched_switch_event,
};
