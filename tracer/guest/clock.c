// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clock.c - the clock that the kernel's log is stamped with, local_clock(), at each moment of
 * a boot (kernel/sched/clock.c of Linux 5.10 to 7.0):
 *
 *   until sched_clock_init()	    sched_clock()
 *   then			    from tick to tick: sched-ticks.h
 *   behind sched_clock_init_late(), if the TSC is held for stable by then:
 *				    sched_clock() + __sched_clock_offset
 *
 * Two static keys say which of them it is.
 */
#include "tracer/guest/guest.h"
#include "tracer/lib/host-time.h"

#include <stdatomic.h>

/* For so long after the last tick there may be records of before. */
#define LINGER_NS UINT64_C(5000000000)

/*
 * Static keys: while one is being switched on, its count is -1. That takes a while when the guest
 * has to have its text back first, and somewhere in it the clock changes. Time that ticks is behind
 * sched_clock(), so it is taken to be early for the one, and late for the other: nothing goes back.
 */
static bool is_stable(struct guest_kernel *g)
{
	return (int32_t)guest_image_u32(g, g->at.clock_stable, 1) > 0 ||
	       g->at.time.scd == GUEST_NONE || g->at.clock_running == GUEST_NONE;
}

static bool is_running(struct guest_kernel *g)
{
	return guest_image_u32(g, g->at.clock_running, 0);
}

/* What this CPU has noted at its latest tick: the kernel writes the time first. */
static bool tick_read(struct guest_kernel *g, unsigned int vcpu, uint64_t *raw, uint64_t *gtod)
{
	const struct guest_time_layout *at = &g->at.time;
	uint64_t scd = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0) +
		       guest_percpu_disp(g, at->scd);
	uint64_t again = 0;

	for (int tries = 0; tries < 4; tries++) {
		if (guest_read(g, scd + at->tick_raw, raw, sizeof(*raw)))
			return false;
		atomic_signal_fence(memory_order_acq_rel); /* x86 itself keeps loads in order */
		if (guest_read(g, scd + at->tick_gtod, gtod, sizeof(*gtod)))
			return false;
		atomic_signal_fence(memory_order_acq_rel);
		if (guest_read(g, scd + at->tick_raw, &again, sizeof(again)))
			return false;
		if (again == *raw)
			break;
	}
	return *raw; /* 0: the CPU has had no tick yet */
}

static void tick_note(struct guest_kernel *g, unsigned int vcpu)
{
	struct sched_ticks *s = &g->ticks[vcpu];
	uint64_t raw, gtod, noted;

	if (!tick_read(g, vcpu, &raw, &gtod))
		return;
	if (sched_ticks_latest(s, &noted) && noted == raw) {
		sched_ticks_looked(s, host_ns());
		return;
	}
	sched_ticks_note(s, raw, gtod + guest_image_u64(g, g->at.gtod_offset, 0),
			 guest_image_u64(g, g->at.tick_nsec, 0),
			 guest_time_goes_on(g) ? SCHED_TICK_GOES_ON : SCHED_TICK_COUNTED,
			 host_ns());
}

static void ticks_are_over(struct guest_kernel *g, uint64_t offset)
{
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++) {
		uint64_t raw;

		if (!sched_ticks_latest(&g->ticks[v], &raw))
			continue;
		tick_note(g, v);
		sched_ticks_end(&g->ticks[v], offset);
	}
	g->ticked_ns = guest_jiffies_ns(g);
	atomic_store(&g->clock, GUEST_CLOCK_LINGERS);
}

static void stable_clock(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c)
{
	uint64_t offset = guest_image_u64(g, g->at.sched_clock_offset, 0);
	int was = atomic_load(&g->clock);

	if (was == GUEST_CLOCK_TICKS)
		ticks_are_over(g, offset);
	else if (was == GUEST_CLOCK_LINGERS && guest_jiffies_ns(g) - g->ticked_ns > LINGER_NS)
		atomic_store(&g->clock, GUEST_CLOCK_PLAIN);
	if (atomic_load(&g->clock) == GUEST_CLOCK_PLAIN)
		guest_clock_add(c, offset);
	else
		c->ticks = &g->ticks[vcpu];
}

void guest_clock_tick(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c)
{
	if (is_stable(g)) {
		stable_clock(g, vcpu, c);
	} else if (!is_running(g)) {
		sched_ticks_begin(&g->ticks[0]);
	} else {
		tick_note(g, 0);
		tick_note(g, vcpu);
		atomic_store(&g->clock, GUEST_CLOCK_TICKS);
		c->ticks = &g->ticks[vcpu];
	}
	c->first = g->ticks;
}

uint64_t guest_watch_ticks(struct guest_kernel *g, unsigned int vcpus)
{
	if (!guest_clock_ticks(g))
		return 0;
	for (unsigned int v = 0; v < vcpus; v++)
		tick_note(g, v);
	return guest_image_u64(g, g->at.tick_nsec, 0);
}
