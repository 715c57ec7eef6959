// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reset.c - finds that an attached guest was reset when nobody has said so: a gdb stub does not,
 * and libvirt's event may come late or never.
 *
 * The clock of the kernel that was attached to then stands, or is wound back by the next kernel in
 * its memory. It stands in an idle guest as well, so the first vCPU's interrupt table has the last
 * word: a vCPU that is idle shows the kernel that it idles in. One in its firmware (SMM), or in a
 * guest of the guest, does not, but it is busy, so the clock goes.
 */
#include "tracer/internal.h"
#include "tracer/core/trace.h"
#include "tracer/lib/host-time.h"
#include "tracer/tracer.h"

#include <errno.h>

#define STANDS_MS 2000 /* between two looks: one may stop the guest */
#define LIMIT_MS  6000 /* for all that letting go waits for */
#define APART_NS  50000000
/* A vCPU may happen to be in its firmware, but not each time. */
#define LOOKS 2

/* Where a look has found the kernel that was attached to. */
enum kernel_place {
	KERNEL_NOWHERE,
	KERNEL_FIRST, /* on the first vCPU; also when that cannot be asked */
	/* On another, where a kernel that has crashed may have left it, too, for ever. */
	KERNEL_OTHER,
};

static enum kernel_place kernel_find(struct trace *t)
{
	enum kernel_place place = KERNEL_NOWHERE;

	int n;

	machine_pause_for(t->m, "looking whether its kernel is still there");
	n = machine_look_at_vcpus(t->m);
	for (int v = 0; (!v || v < n) && place == KERNEL_NOWHERE; v++) {
		int ret = guest_check(&t->guest, t->gs, (unsigned int)v);

		if (ret != -ESRCH && ret != -ENODEV) /* one that was unplugged has none */
			place = v ? KERNEL_OTHER : KERNEL_FIRST;
	}
	machine_resume(t->m);
	return place;
}

/*
 * Letting go may not have watched the clock before. Nobody undoes what it does to the next kernel,
 * or leaves in one that runs on, so it takes the time to be sure.
 */
bool guest_was_reset(struct trace *t)
{
	const struct timespec apart = {.tv_nsec = APART_NS};
	int64_t begin = host_ms(), ticked = begin;
	bool clock = t->guest.at.jiffies != GUEST_NONE;
	uint64_t last = guest_image_u64(&t->guest, t->guest.at.jiffies, 0);
	enum kernel_place place;

	while ((place = kernel_find(t)) != KERNEL_FIRST) {
		uint64_t jiffies = guest_image_u64(&t->guest, t->guest.at.jiffies, last);
		int64_t now = host_ms();

		if (jiffies < last)
			return true;
		if (place == KERNEL_OTHER && (jiffies > last || !clock))
			return false;
		if (jiffies > last)
			ticked = now;
		if (now - ticked >= STANDS_MS)
			return true;
		if (now - begin >= LIMIT_MS)
			return false;
		last = jiffies;
		nanosleep(&apart, NULL);
	}
	return false;
}

bool trace_guest_is_gone(struct trace *t)
{
	struct guest_pulse *p = &t->life->pulse;
	uint64_t now;

	if (!t->cfg.running || t->detached || p->gone || t->guest.at.jiffies == GUEST_NONE ||
	    host_ms() - p->looked_ms < STANDS_MS)
		return p->gone;
	p->looked_ms = host_ms();
	now = guest_image_u64(&t->guest, t->guest.at.jiffies, p->jiffies);
	if (now > p->jiffies) {
		p->jiffies = now;
		p->looks = 0;
		return false;
	}
	p->looks = now < p->jiffies || kernel_find(t) != KERNEL_FIRST ? p->looks + 1 : 0;
	p->gone = p->looks == LOOKS;
	return p->gone;
}
