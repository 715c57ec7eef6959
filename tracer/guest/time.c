// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * time.c - the guest's CLOCK_MONOTONIC and its kin, from the timekeeper in its memory.
 *
 * While the guest goes by its TSC, the kernel's own conversion does, as for kvm-clock that of the
 * hypervisor, which the guest has in its memory too. With another clocksource (the emulated HPET,
 * say) nothing tells what that was at a given TSC; but every CPU notes its sched_clock() together
 * with the time at each timer tick (struct sched_clock_data), and goes on from there by its
 * sched_clock(): so do we.
 */
#include "tracer/guest/guest.h"

#include <stdatomic.h>
#include <string.h>

#define TRIES 4

/* struct tk_read_base, as it was after the timekeeper's last update. */
struct read_base {
	uint64_t clock, cycle_last, xtime_nsec, base;
	uint32_t mult, shift;
};

static uint32_t latch(struct guest_kernel *g, uint64_t fast)
{
	return guest_image_u32(g, fast + g->at.time.fast_seq, 0);
}

static void read_base_copy(struct guest_kernel *g, uint64_t from, struct read_base *to)
{
	const struct guest_time_layout *at = &g->at.time;

	to->clock = guest_image_u64(g, from + at->clock, 0);
	to->cycle_last = guest_image_u64(g, from + at->cycle_last, 0);
	to->xtime_nsec = guest_image_u64(g, from + at->xtime_nsec, 0);
	to->base = guest_image_u64(g, from + at->base, 0);
	to->mult = guest_image_u32(g, from + at->mult, 0);
	to->shift = guest_image_u32(g, from + at->shift, 0);
}

/*
 * One of two copies, told by the low bit of the count, which changes before a copy is written. A
 * guest that keeps changing it is not waited for. False: there is no sense in it.
 */
static bool read_base_get(struct guest_kernel *g, uint64_t fast, struct read_base *to)
{
	const struct guest_time_layout *at = &g->at.time;
	uint32_t seq, now = latch(g, fast);

	for (int tries = 0; tries < TRIES; tries++) {
		seq = now;
		read_base_copy(g, fast + at->fast_base + (seq & 1) * at->base_size, to);
		atomic_signal_fence(memory_order_acq_rel); /* x86 itself keeps loads in order */
		now = latch(g, fast);
		if (now == seq)
			break;
	}
	return to->mult && to->shift < 32;
}

/* The time when it was updated. */
static uint64_t updated_ns(const struct read_base *b)
{
	return b->base + (b->xtime_nsec >> b->shift);
}

enum source { SOURCE_TSC, SOURCE_KVM, SOURCE_OTHER };

/* The beginning of the clocksource's name. */
static bool source_name(struct guest_kernel *g, const struct read_base *b, char *text, size_t len)
{
	uint64_t name;

	return !guest_read(g, b->clock + g->at.time.clocksource_name, &name, sizeof(name)) &&
	       !guest_read(g, name, text, len);
}

/* kernel/time/jiffies.c: there are "jiffies" and "refined-jiffies". */
bool guest_time_goes_on(struct guest_kernel *g)
{
	static const char counted[] = "jiffies", refined[] = "refined-jiffies";
	struct read_base mono;
	char text[sizeof(refined)];

	return g->at.time.fast_mono != GUEST_NONE &&
	       read_base_get(g, g->at.time.fast_mono, &mono) &&
	       source_name(g, &mono, text, sizeof(text)) &&
	       memcmp(text, counted, sizeof(counted)) && memcmp(text, refined, sizeof(refined));
}

static enum source source_of(struct guest_kernel *g, const struct read_base *b)
{
	char text[sizeof("tsc-early")];

	if (!source_name(g, b, text, sizeof(text)))
		return SOURCE_OTHER;
	if (!memcmp(text, "tsc", sizeof("tsc")) || !memcmp(text, "tsc-early", sizeof("tsc-early")))
		return SOURCE_TSC;
	return memcmp(text, "kvm-clock", sizeof("kvm-clock")) ? SOURCE_OTHER : SOURCE_KVM;
}

static void by_tsc(const struct read_base *b, struct guest_clock *c)
{
	unsigned __int128 until = (unsigned __int128)b->cycle_last * b->mult;

	c->mul = b->mult;
	c->shift = b->shift;
	c->offset = updated_ns(b) - (uint64_t)(until >> b->shift);
}

/* It counts nanoseconds, which the timekeeper corrects by a few millionths. */
static bool by_pvclock(struct guest_kernel *g, unsigned int vcpu, const struct read_base *b,
		       struct guest_clock *c)
{
	if (!pvclock_get(g, vcpu, c))
		return false;
	guest_clock_add(c, updated_ns(b) - b->cycle_last);
	return true;
}

/* What this CPU noted at its last tick: both are written together, in the tick. */
static bool tick_get(struct guest_kernel *g, unsigned int vcpu, uint64_t *raw, uint64_t *gtod)
{
	const struct guest_time_layout *at = &g->at.time;
	uint64_t scd, before;

	if (at->scd == GUEST_NONE)
		return false;
	scd = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0) +
	      guest_percpu_disp(g, at->scd);
	*gtod = 0;
	for (int tries = 0; tries < TRIES; tries++) {
		before = *gtod;
		if (guest_read(g, scd + at->tick_gtod, gtod, sizeof(*gtod)) ||
		    guest_read(g, scd + at->tick_raw, raw, sizeof(*raw)))
			return false;
		if (tries && before == *gtod)
			break;
	}
	return *gtod;
}

static void by_ticks(struct guest_kernel *g, unsigned int vcpu, const struct read_base *mono,
		     struct guest_clock *c)
{
	uint64_t raw, gtod;

	if (tick_get(g, vcpu, &raw, &gtod)) {
		guest_get_clock(g, vcpu, false, c);
		guest_clock_add(c, gtod - raw);
	} else {
		*c = (struct guest_clock){.offset = updated_ns(mono)};
	}
}

/* What is added to the monotonic time, as the timekeeper has it now. */
static uint64_t time_offset(struct guest_kernel *g, enum guest_time time,
			    const struct read_base *mono)
{
	const struct guest_time_layout *at = &g->at.time;
	uint64_t off = time == GUEST_TIME_BOOT ? at->offs_boot : at->offs_tai;

	/* Where the lock's size is another than we think, what follows it is no timekeeper. */
	if (time == GUEST_TIME_MONO || at->timekeeper == GUEST_NONE || off == GUEST_NONE ||
	    guest_image_u64(g, at->timekeeper + at->tk_clock, 0) != mono->clock)
		return 0;
	return guest_image_u64(g, at->timekeeper + off, 0);
}

/* The time that raw is of; ticks are noted with the monotonic one. */
static void time_convert(struct guest_kernel *g, unsigned int vcpu, const struct read_base *mono,
			 const struct read_base *raw, struct guest_clock *c)
{
	enum source source = source_of(g, mono);

	if (source == SOURCE_TSC) {
		by_tsc(raw, c);
	} else if (source != SOURCE_KVM || !by_pvclock(g, vcpu, raw, c)) {
		by_ticks(g, vcpu, mono, c);
		guest_clock_add(c, updated_ns(raw) - updated_ns(mono));
	}
}

void guest_get_time(struct guest_kernel *g, unsigned int vcpu, enum guest_time time, uint64_t tsc,
		    struct guest_clock *c)
{
	const struct guest_time_layout *at = &g->at.time;
	struct read_base mono, raw;

	if (at->fast_mono == GUEST_NONE || !read_base_get(g, at->fast_mono, &mono)) {
		guest_get_tick(g, false, c);
		return;
	}
	if (time != GUEST_TIME_RAW || !read_base_get(g, at->fast_raw, &raw))
		raw = mono;
	*c = (struct guest_clock){.offset = updated_ns(&raw)};
	if (tsc)
		time_convert(g, vcpu, &mono, &raw, c);
	if (time != GUEST_TIME_RAW)
		guest_clock_add(c, time_offset(g, time, &mono));
}
