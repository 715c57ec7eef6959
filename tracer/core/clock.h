/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - the table of trace clocks: what a record's time stamp says. */
#ifndef HVTRACE_TRACER_CORE_CLOCK_H
#define HVTRACE_TRACER_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

struct trace;

/* What a clock knows at a moment: the same for the hits of one vCPU around it. */
struct clock_reading {
	struct guest_clock guest;
	int64_t offset;	 /* of another time minus the TSC's, ns */
	uint64_t before; /* at the end of the last boot, ns */
	uint64_t tsc_khz;
};

struct clock_ops {
	const char *name, *desc;
	bool ns;     /* nanoseconds; otherwise a bare count, */
	bool counts; /* of readings, each of which is one more: clock_count() */
	bool anew;   /* it begins with the guest's boot */
	/*
	 * tsc is the guest's of about now, 0 while it is not known. NULL: there is nothing to find
	 * out.
	 */
	void (*begin)(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now);
	/* NULL: guest_clock_ns() of what begin() has found out. */
	uint64_t (*read)(struct trace *t, const struct clock_reading *now, uint64_t tsc);
};

/* What those that begin with a boot have come to by the boots before, ns. */
uint64_t clock_before(const struct trace *t);

static inline void clock_begin(const struct clock_ops *c, struct trace *t, unsigned int vcpu,
			       uint64_t tsc, struct clock_reading *now)
{
	if (c->begin)
		c->begin(t, vcpu, tsc, now);
	else
		*now = (struct clock_reading){0};
	now->before = c->anew ? clock_before(t) : 0;
}

static inline uint64_t clock_read(const struct clock_ops *c, struct trace *t,
				  const struct clock_reading *now, uint64_t tsc)
{
	return c->read ? c->read(t, now, tsc) : guest_clock_ns(&now->guest, tsc) + now->before;
}

const struct clock_ops *clock_find(const char *name); /* NULL name: the default */
/* The time of a clock, and of the clock local, on this vCPU by now, as far as it can be told. */
uint64_t clock_now(struct trace *t, const struct clock_ops *clock, unsigned int vcpu);
uint64_t trace_local_ns(struct trace *t);
/*
 * The guest's TSC by now: it was seen some time ago, and has gone on like the host's clock since.
 * 0: it has not been seen.
 */
uint64_t clock_tsc(struct trace *t);
/* The next number of the clock counter, which all instances have in common, as in the kernel. */
uint64_t clock_count(struct trace *t);
/* How many there have been, which is where that of the next boot goes on. */
uint64_t clock_counted(const struct trace *t);
void clock_set_counted(struct trace *t, uint64_t count);

#endif
