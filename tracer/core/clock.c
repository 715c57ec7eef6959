// SPDX-License-Identifier: GPL-2.0-or-later
/* clock.c - the table of trace clocks: what a record's time stamp says. */
#include "tracer/core/internal.h"
#include "tracer/lib/host-time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct trace_seen {
	/* The guest's TSC when it was seen last, and the host's CLOCK_MONOTONIC then. */
	_Atomic uint64_t tsc, ns;
	_Atomic uint64_t ticks; /* of the counter clock */
};

struct trace_seen *seen_new(void)
{
	return calloc(1, sizeof(struct trace_seen));
}

void seen_free(struct trace_seen *s)
{
	free(s);
}

void trace_seen(struct trace *t, uint64_t tsc)
{
	atomic_store(&t->seen->ns, (uint64_t)host_ns());
	atomic_store(&t->seen->tsc, tsc);
}

static void kernel_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, bool stable,
			 struct clock_reading *now)
{
	if (tsc)
		guest_get_clock(&t->guest, vcpu, stable, &now->guest);
	else
		guest_get_tick(&t->guest, stable, &now->guest);
}

static void guest_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now)
{
	kernel_begin(t, vcpu, tsc, false, now);
}

static void stable_begin(struct trace *t, unsigned int vcpu, uint64_t tsc,
			 struct clock_reading *now)
{
	kernel_begin(t, vcpu, tsc, true, now);
}

static void mono_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now)
{
	guest_get_time(&t->guest, vcpu, GUEST_TIME_MONO, tsc, &now->guest);
}

static void raw_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now)
{
	guest_get_time(&t->guest, vcpu, GUEST_TIME_RAW, tsc, &now->guest);
}

static void boot_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now)
{
	guest_get_time(&t->guest, vcpu, GUEST_TIME_BOOT, tsc, &now->guest);
}

static void tai_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now)
{
	guest_get_time(&t->guest, vcpu, GUEST_TIME_TAI, tsc, &now->guest);
}

uint64_t clock_count(struct trace *t)
{
	return atomic_fetch_add(&t->seen->ticks, 1) + 1;
}

static uint64_t counter_read(struct trace *t, const struct clock_reading *now, uint64_t tsc)
{
	(void)now;
	(void)tsc;
	return clock_count(t);
}

static uint64_t tsc_read(struct trace *t, const struct clock_reading *now, uint64_t tsc)
{
	(void)t;
	(void)now;
	return tsc;
}

static uint64_t tsc_ns(uint64_t tsc, uint64_t khz)
{
	return khz ? (uint64_t)((unsigned __int128)tsc * 1000000 / khz) : 0;
}

/*
 * The guest's TSC stands while an emulator has it paused, so what lies between the two clocks is
 * found out anew each time.
 */
static void host_begin(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now)
{
	struct machine_info info;
	struct timespec ts;

	(void)vcpu;
	machine_get_info(t->m, &info);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now->tsc_khz = info.tsc_khz;
	now->offset = (int64_t)((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec -
				tsc_ns(tsc, now->tsc_khz));
}

/* The kernel's unit of time for programs, USER_HZ (jiffies_64_to_clock_t()). */
#define CLOCK_T_NS 10000000

/* The count of ticks is that of now; records made before it was came that much earlier. */
static void uptime_begin(struct trace *t, unsigned int vcpu, uint64_t tsc,
			 struct clock_reading *now)
{
	struct machine_info info;

	(void)vcpu;
	machine_get_info(t->m, &info);
	now->tsc_khz = info.tsc_khz;
	now->offset = (int64_t)(guest_jiffies_ns(&t->guest) - tsc_ns(tsc, now->tsc_khz));
}

static uint64_t uptime_read(struct trace *t, const struct clock_reading *now, uint64_t tsc)
{
	int64_t ns = (int64_t)(tsc_ns(tsc, now->tsc_khz) + (uint64_t)now->offset + now->before);

	(void)t;
	return ns > 0 ? (uint64_t)ns / CLOCK_T_NS : 0;
}

static uint64_t host_read(struct trace *t, const struct clock_reading *now, uint64_t tsc)
{
	(void)t;
	return tsc_ns(tsc, now->tsc_khz) + (uint64_t)now->offset;
}

/* In the kernel's order, ours behind. */
static const struct clock_ops clocks[] = {
	{"local", "the guest's sched_clock()", true, false, true, guest_begin, NULL},
	{"global", "the guest's printk time", true, false, true, stable_begin, NULL},
	{"counter", "one more for each event", false, true, false, NULL, counter_read},
	{"uptime", "the guest's timer ticks, in hundredths of a second", false, false, true,
	 uptime_begin, uptime_read},
	{"perf", "what perf in the guest has", true, false, true, stable_begin, NULL},
	{"mono", "CLOCK_MONOTONIC of the guest", true, false, true, mono_begin, NULL},
	{"mono_raw", "CLOCK_MONOTONIC_RAW of the guest", true, false, true, raw_begin, NULL},
	{"boot", "CLOCK_BOOTTIME of the guest", true, false, true, boot_begin, NULL},
	{"tai", "CLOCK_TAI of the guest", true, false, false, tai_begin, NULL},
	{"x86-tsc", "the guest's time stamp counter", false, false, false, NULL, tsc_read},
	{"host", "CLOCK_MONOTONIC of the host", true, false, false, host_begin, host_read},
};

enum { NR_CLOCKS = sizeof(clocks) / sizeof(clocks[0]) };

const struct clock_ops *clock_find(const char *name)
{
	if (!name) /* the one that lines up with the guest's dmesg */
		name = "global";
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

uint64_t clock_tsc(struct trace *t)
{
	uint64_t tsc = atomic_load(&t->seen->tsc), ns = atomic_load(&t->seen->ns),
		 now = (uint64_t)host_ns();
	struct machine_info info;

	if (!t->m || !tsc || now < ns)
		return tsc;
	machine_get_info(t->m, &info);
	return tsc + (uint64_t)((unsigned __int128)(now - ns) * info.tsc_khz / 1000000);
}

uint64_t clock_now(struct trace *t, const struct clock_ops *clock, unsigned int vcpu)
{
	struct clock_reading now = {0};
	uint64_t tsc = clock_tsc(t);

	if (t->m)
		clock_begin(clock, t, vcpu, tsc, &now);
	return clock_read(clock, t, &now, tsc);
}

/* --- from boot to boot ----------------------------------------------------------------------- */

uint64_t clock_before(const struct trace *t)
{
	return t->time_before;
}

uint64_t clock_counted(const struct trace *t)
{
	return atomic_load(&t->seen->ticks);
}

void clock_set_counted(struct trace *t, uint64_t count)
{
	atomic_store(&t->seen->ticks, count);
}

uint64_t trace_local_ns(struct trace *t)
{
	return clock_now(t, clock_find("local"), 0);
}
