// SPDX-License-Identifier: GPL-2.0-or-later
/* halt.c - whether a guest has halted for good: QEMU tells nobody of that, and waits on. */
#include "vmm/qemu/qemu.h"

#define RFLAGS_IF (1u << 9)

/* Nothing inside the guest can wake it: it has halted with interrupts off, or is not up. */
static bool vcpu_dead(struct qemu_machine *m, struct qemu_vcpu *v)
{
	return !qemu_vcpu_fetch(m, v) && !(v->reg[GDB_EFLAGS] & RFLAGS_IF) &&
	       gdb_thread_is_halted(m->gdb, v->thread) == 1;
}

bool qemu_has_halted(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);
	bool dead = true;

	pthread_mutex_lock(&m->io);
	for (unsigned int i = 0; dead && i < m->nvcpus; i++)
		dead = m->vcpu[i].gone || vcpu_dead(m, &m->vcpu[i]);
	pthread_mutex_unlock(&m->io);
	return dead;
}
