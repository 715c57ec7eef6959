// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reset.c - finds that an attached guest was reset when nobody has said so: a gdb stub does not,
 * and libvirt's event may come late or never.
 *
 * The clock of the kernel that was attached to then stands, or is wound back by the next kernel in
 * its memory. It stands in an idle guest as well, so the vCPU's interrupt table has the last word.
 */
#include "tracer/host-time.h"
#include "tracer/internal.h"

#include <errno.h>

#define STANDS_MS 2000 /* between two looks: one may stop the guest */
#define APART_NS  50000000
/* A vCPU may happen to be in its firmware (SMM), but not each time. */
#define LOOKS 2

/* Whether the vCPU has certainly another kernel than ours, or none. */
static bool another_runs(struct trace *t)
{
	int ret;

	machine_pause(t->m);
	ret = guest_check(&t->guest, t->gs);
	machine_resume(t->m);
	return ret == -ESRCH;
}

bool guest_was_reset(struct trace *t)
{
	const struct timespec pause = {.tv_nsec = APART_NS};

	for (unsigned int i = 0; i < LOOKS; i++) {
		if (i)
			nanosleep(&pause, NULL);
		if (!another_runs(t))
			return false;
	}
	return true;
}

bool trace_guest_is_gone(struct trace *t)
{
	struct guest_pulse *p = &t->pulse;
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
	p->looks = now < p->jiffies || another_runs(t) ? p->looks + 1 : 0;
	p->gone = p->looks == LOOKS;
	return p->gone;
}
