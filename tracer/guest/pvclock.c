// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pvclock.c - how a guest of KVM turns its TSC into the hypervisor's time.
 *
 * The hypervisor notes a TSC and the time at that TSC, anew whenever it wants to. QEMU has the time
 * stand while it has stopped the guest, for us above all, but the TSC goes on: what was recorded
 * before a stop has to be converted by what was noted before it.
 */
#include "tracer/guest/pvclock.h"
#include "tracer/guest/guest.h"

#include <string.h>

#define TRIES 4

/* struct pvclock_vcpu_time_info, which hypervisor and guest have agreed upon. */
struct pvclock {
	uint32_t version, pad; /* version: odd while it is written */
	uint64_t tsc_timestamp, system_time;
	uint32_t mul;
	int8_t shift;
	uint8_t flags, pad2[2];
};

static bool pvclock_read(struct guest_kernel *g, unsigned int vcpu, struct pvclock *pv)
{
	uint64_t at, area = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0);
	uint32_t version;

	if (g->at.time.pvclock == GUEST_NONE ||
	    guest_read(g, area + guest_percpu_disp(g, g->at.time.pvclock), &at, sizeof(at)))
		return false;
	for (int tries = 0; tries < TRIES; tries++) {
		if (guest_read(g, at, pv, sizeof(*pv)) ||
		    guest_read(g, at, &version, sizeof(version)))
			return false;
		if (version == pv->version && !(version & 1))
			return pv->shift > -32 && pv->shift <= 32;
	}
	return false;
}

/* Noted anew, as m has it: what held until then? */
static uint64_t earlier_offset(const struct pvclock_mapping *old, const struct pvclock_mapping *now)
{
	bool same_rate = old->mul == now->mul && old->shift == now->shift;

	return old->known && same_rate ? old->offset : now->offset;
}

bool pvclock_get(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c)
{
	struct pvclock_mapping *old = &g->pvclock[vcpu], now = {.known = true};
	struct pvclock pv;

	if (!pvclock_read(g, vcpu, &pv))
		return false;
	*c = (struct guest_clock){.mul = pv.mul, .shift = (uint32_t)(32 - pv.shift)};
	now.since = pv.tsc_timestamp;
	now.mul = c->mul;
	now.shift = c->shift;
	now.offset = pv.system_time - guest_clock_ns(c, pv.tsc_timestamp);
	pthread_mutex_lock(&g->pvclock_lock);
	if (!old->known || old->since != now.since || old->offset != now.offset) {
		now.earlier = earlier_offset(old, &now);
		*old = now;
	}
	c->offset = old->offset;
	c->since = old->since;
	c->earlier = old->earlier;
	pthread_mutex_unlock(&g->pvclock_lock);
	return true;
}

/* 0 until the kernel goes by it. */
bool pvclock_get_sched(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c)
{
	uint64_t begun = guest_image_u64(g, g->at.kvm_sched_clock_offset, 0);

	if (!begun || !pvclock_get(g, vcpu, c))
		return false;
	guest_clock_add(c, -begun);
	return true;
}
