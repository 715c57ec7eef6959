// SPDX-License-Identifier: GPL-2.0-or-later
/* clock.c - the table of trace clocks: what a record's time stamp says. */
#include "tracer/internal.h"

#include <string.h>
#include <time.h>

static uint64_t clock_local(struct trace *t, unsigned int vcpu, uint64_t tsc)
{
	return guest_sched_clock(&t->guest, vcpu, tsc, false);
}

static uint64_t clock_global(struct trace *t, unsigned int vcpu, uint64_t tsc)
{
	return guest_sched_clock(&t->guest, vcpu, tsc, true);
}

static uint64_t clock_counter(struct trace *t, unsigned int vcpu, uint64_t tsc)
{
	(void)vcpu;
	(void)tsc;
	return atomic_fetch_add(&t->ticks, 1) + 1;
}

static uint64_t clock_tsc(struct trace *t, unsigned int vcpu, uint64_t tsc)
{
	(void)t;
	(void)vcpu;
	return tsc;
}

static uint64_t clock_host(struct trace *t, unsigned int vcpu, uint64_t tsc)
{
	struct timespec now;

	(void)t;
	(void)vcpu;
	(void)tsc;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The first is the default: the one that lines up with the guest's dmesg. */
static const struct clock_ops clocks[] = {
	{"global", "the guest's printk time", true, clock_global},
	{"local", "the guest's sched_clock()", true, clock_local},
	{"counter", "one more for each event", false, clock_counter},
	{"x86-tsc", "the guest's time stamp counter", false, clock_tsc},
	{"host", "CLOCK_MONOTONIC of the host", true, clock_host},
};

enum { NR_CLOCKS = sizeof(clocks) / sizeof(clocks[0]) };

const struct clock_ops *clock_find(const char *name)
{
	if (!name)
		return &clocks[0];
	for (unsigned int i = 0; i < NR_CLOCKS; i++)
		if (!strcmp(clocks[i].name, name))
			return &clocks[i];
	return NULL;
}

const char *trace_clock_name(unsigned int i, const char **desc)
{
	if (i >= NR_CLOCKS)
		return NULL;
	if (desc)
		*desc = clocks[i].desc;
	return clocks[i].name;
}
