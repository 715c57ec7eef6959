// SPDX-License-Identifier: GPL-2.0-or-later
/* calibrate.c - by how much a vCPU's TSC differs from the clock (clock.c): it is asked, once. */
#include "vmm/qemu/qemu.h"

#define ASKED 3 /* times that a vCPU tells its TSC */

/*
 * The vCPU has read its TSC some time before it is known to stand; the shortest such time of a few
 * is told by the largest offset.
 */
static int offset_ask(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va, uint64_t pa,
		      uint64_t *offset)
{
	int rc = 0;

	for (int i = 0; i < ASKED && !rc; i++) {
		uint64_t tsc, now;

		rc = qemu_rdtsc(m, v, va, pa, &tsc);
		now = tsc - qemu_clock_read(m);
		if (!rc && (!i || (int64_t)(now - *offset) > 0))
			*offset = now;
	}
	return rc;
}

void qemu_clock_calibrate(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va, uint64_t pa)
{
	struct qemu_vcpu *of = qemu_clock_offset_of(m, v);

	if (m->clock.host.n || of->tsc_tried)
		return;
	of->tsc_tried = true;
	if (!offset_ask(m, v, va, pa, &of->tsc_offset) || m->was_reset || !m->ram.direct ||
	    m->clock.told)
		return;
	m->clock.told = true;
	machine_message(&m->base, MACHINE_MSG_WARN,
			"the guest's clock cannot be read: of time stamps of traps only the "
			"differences are right");
}
