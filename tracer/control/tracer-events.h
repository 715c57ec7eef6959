/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracer-events.h - the trace events that a tracer works on (tracer_ops.events): recorded for it,
 * though their files `enable` do not show that.
 */
#ifndef HVTRACE_TRACER_CONTROL_TRACER_EVENTS_H
#define HVTRACE_TRACER_CONTROL_TRACER_EVENTS_H

#include "tracer/instance/instance.h"
#include "tracer/instance/view.h"

/* What a tracer with tracer_ops.init has while it is one. */
struct tracer_work {
	void *data;
	uint32_t event[TRACER_EVENTS_MAX]; /* of the list's, in the order of its ops; or EVENT_NONE
					    */
	uint32_t call[TRACER_CALLS_MAX];   /* probes, likewise; UINT32_MAX */
};

/*
 * Make its data, and register what it works on. 0; -EOPNOTSUPP where events cannot be had, or the
 * guest's kernel has none of that name, or another error: then all is as it was. Events have been
 * read, their lock is held, and neither t->change nor a vCPU's lock.
 */
int tracer_events_get(struct instance *i, const struct tracer_ops *tracer,
		      struct tracer_work *work);
/* It is not the instance's tracer any more; locks as above. */
void tracer_events_put(struct instance *i, const struct tracer_ops *tracer,
		       struct tracer_work *work);

#endif
