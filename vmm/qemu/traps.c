// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traps.c - traps as breakpoints of QEMU's stub, whatever kind is asked for.
 *
 * Under TCG a breakpoint is a note beside the guest, under KVM QEMU writes an int3 and keeps the
 * byte; either way the text's bytes are QEMU's to give back. A hit stops all vCPUs. One that
 * two vCPUs run into at once is told for one of them: the other has not executed the site and runs
 * into it again when the guest goes on.
 *
 * A stub does not tell when the guest is reset, and then its breakpoints lie in another kernel. So
 * the site's bytes are compared at each hit, and the vCPU goes on behind them only if they are
 * still what they were.
 *
 * The table changes only with the machine paused, or on the run thread while the guest stands.
 */
#include "vmm/kvm/trap-index.h"
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SITE_MAX 8

struct qemu_trap {
	struct machine_trap pub;
	uint8_t bytes[SITE_MAX]; /* of the site, when the trap was set */
};

struct qemu_traps {
	struct qemu_trap *trap;
	size_t n, room;
	struct trap_index by_va;
};

struct qemu_traps *qemu_traps_new(void)
{
	return calloc(1, sizeof(struct qemu_traps));
}

void qemu_traps_free(struct qemu_traps *traps)
{
	if (!traps)
		return;
	trap_index_free(&traps->by_va);
	free(traps->trap);
	free(traps);
}

/* --- the table ----------------------------------------------------------------------------------
 */

static struct qemu_trap *table_find(struct qemu_traps *traps, uint64_t va)
{
	uint32_t i = trap_index_get(&traps->by_va, va);

	return i == TRAP_INDEX_NONE ? NULL : &traps->trap[i];
}

static int table_reserve(struct qemu_traps *traps, size_t n)
{
	size_t room = traps->room ? traps->room : 64;
	struct qemu_trap *bigger;

	if (n >= TRAP_INDEX_NONE)
		return -ENOMEM;
	while (room < n)
		room *= 2;
	if (room > traps->room) {
		bigger = realloc(traps->trap, room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		traps->trap = bigger;
		traps->room = room;
	}
	return trap_index_reserve(&traps->by_va, n);
}

static bool table_overlaps(struct qemu_traps *traps, const struct machine_trap *new)
{
	for (uint64_t va = new->va - (SITE_MAX - 1); va != new->va + new->size; va++) {
		const struct qemu_trap *trap = table_find(traps, va);

		if (trap && (va >= new->va || va + trap->pub.size > new->va))
			return true;
	}
	return false;
}

static void table_add(struct qemu_traps *traps, const struct qemu_trap *new)
{
	traps->trap[traps->n] = *new;
	trap_index_put(&traps->by_va, new->pub.va, (uint32_t)traps->n);
	traps->n++;
}

static void table_remove(struct qemu_traps *traps, uint64_t va)
{
	struct qemu_trap *trap = table_find(traps, va), *last = &traps->trap[--traps->n];

	trap_index_del(&traps->by_va, va);
	if (trap == last)
		return;
	*trap = *last;
	trap_index_put(&traps->by_va, trap->pub.va, (uint32_t)(trap - traps->trap));
}

static int trap_check(const struct qemu_machine *m, const struct machine_trap *trap)
{
	if (trap->kind > MACHINE_TRAP_INT3 || trap->action > MACHINE_TRAP_ONCE)
		return -EINVAL;
	if (!trap->size || trap->size > SITE_MAX || trap->va < SITE_MAX ||
	    trap->va > UINT64_MAX - SITE_MAX || (trap->kind == MACHINE_TRAP_OUT && trap->size < 2))
		return -EINVAL;
	return qemu_ram_has(m, trap->pa, trap->size) ? 0 : -EFAULT;
}

/* --- setting and clearing -----------------------------------------------------------------------
 */

/* QEMU refuses a breakpoint, under KVM, that it cannot write where the vCPU's tables lead. */
static int breakpoint_error(int rc)
{
	return rc == -EREMOTEIO ? -EFAULT : rc;
}

static int trap_set(struct qemu_machine *m, const struct machine_trap *new)
{
	struct qemu_trap trap = {.pub = *new};
	int rc = table_overlaps(m->traps, new) ? -EEXIST : 0;

	if (!rc)
		rc = qemu_read_standing(m, new->pa, trap.bytes, new->size);
	if (!rc)
		rc = gdb_breakpoint_set(m->gdb, new->va);
	if (!rc)
		table_add(m->traps, &trap);
	return breakpoint_error(rc);
}

static int traps_set(struct qemu_machine *m, const struct machine_trap *new, size_t n)
{
	struct qemu_traps *traps = m->traps;
	size_t first = traps->n, i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = trap_check(m, &new[i]);
	if (!rc)
		rc = n > TRAP_INDEX_NONE ? -ENOMEM : table_reserve(traps, traps->n + n);
	for (i = 0; i < n && !rc; i++)
		rc = trap_set(m, &new[i]);
	while (rc && traps->n > first) {
		uint64_t va = traps->trap[traps->n - 1].pub.va;

		gdb_breakpoint_clear(m->gdb, va);
		table_remove(traps, va);
	}
	return rc;
}

static int trap_clear(struct qemu_machine *m, uint64_t va)
{
	int rc = gdb_breakpoint_clear(m->gdb, va);

	if (!rc)
		table_remove(m->traps, va);
	return breakpoint_error(rc);
}

static int traps_clear(struct qemu_machine *m, const uint64_t *vas, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (!table_find(m->traps, vas[i]))
			return -ENOENT;
	}
	for (size_t i = 0; i < n && !rc; i++) {
		if (table_find(m->traps, vas[i])) /* else named twice */
			rc = trap_clear(m, vas[i]);
	}
	return rc;
}

static void talk_begin(struct qemu_machine *m)
{
	qemu_pause(&m->base);
	pthread_mutex_lock(&m->io);
}

static void talk_end(struct qemu_machine *m)
{
	pthread_mutex_unlock(&m->io);
	qemu_resume(&m->base);
}

int qemu_traps_set(struct machine *base, const struct machine_trap *traps, size_t n)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	talk_begin(m);
	rc = traps_set(m, traps, n);
	talk_end(m);
	return rc;
}

int qemu_traps_clear(struct machine *base, const uint64_t *vas, size_t n)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	talk_begin(m);
	rc = traps_clear(m, vas, n);
	talk_end(m);
	return rc;
}

int qemu_traps_clear_all(struct qemu_machine *m)
{
	int rc = 0;

	pthread_mutex_lock(&m->io);
	while (m->traps->n && !rc)
		rc = trap_clear(m, m->traps->trap[m->traps->n - 1].pub.va);
	pthread_mutex_unlock(&m->io);
	return rc;
}

/* --- hits ---------------------------------------------------------------------------------------
 */

/* Is the site what it was? Under KVM its first byte is QEMU's int3. */
static bool site_is_same(struct qemu_machine *m, const struct qemu_trap *trap)
{
	size_t from = m->kvm ? 1 : 0;
	uint8_t now[SITE_MAX];

	return !qemu_read_standing(m, trap->pub.pa, now, trap->pub.size) &&
	       !memcmp(now + from, trap->bytes + from, trap->pub.size - from);
}

/*
 * What the vCPU has run into and where it goes on. 1: a trap, 0: nothing of ours, -ESTALE: not the
 * kernel that the trap is for, other errors: QEMU's.
 */
static int hit_take(struct qemu_machine *m, struct qemu_vcpu *v, struct machine_trap *trap,
		    uint64_t *tsc)
{
	const struct qemu_trap *found;
	int rc = qemu_vcpu_fetch(m, v);

	found = rc ? NULL : table_find(m->traps, v->reg[GDB_RIP]);
	if (!found)
		return rc;
	if (!site_is_same(m, found))
		return -ESTALE;
	*trap = found->pub; /* the table may change from here on */
	qemu_clock_calibrate(m, v, trap->va, trap->pa);
	*tsc = qemu_clock_tsc(m);
	if (trap->action == MACHINE_TRAP_ONCE)
		rc = trap_clear(m, trap->va);
	else
		rc = qemu_vcpu_set(m, v, GDB_RIP, trap->va + trap->size);
	return rc ? rc : 1;
}

void qemu_traps_hit(struct qemu_machine *m, unsigned int vcpu)
{
	struct machine_regs regs;
	struct machine_trap trap = {0};
	struct machine_hit hit = {.vcpu = vcpu, .regs = &regs};
	int rc;

	pthread_mutex_lock(&m->io);
	rc = hit_take(m, &m->vcpu[vcpu], &trap, &hit.tsc);
	if (rc > 0)
		qemu_vcpu_regs(&m->vcpu[vcpu], &regs);
	pthread_mutex_unlock(&m->io);
	if (rc == -ESTALE)
		qemu_machine_end(m, MACHINE_EVENT_RESET, vcpu, "the guest runs another kernel now");
	else if (rc < 0)
		qemu_machine_end(m, MACHINE_EVENT_ERROR, vcpu,
				 "QEMU does not let vCPU %u go on behind a trap: %s", vcpu,
				 strerror(-rc));
	if (rc <= 0 || !m->cfg.trap)
		return;
	hit.cookie = trap.cookie;
	hit.va = trap.va;
	m->cfg.trap(&m->base, &hit, m->cfg.arg);
}
