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
 * still what they were. Those of a kernel that was there before stay in memory until that is used
 * again, so the vCPU's page tables have to lead to them, too.
 *
 * The table changes only with the machine paused, or on the run thread while the guest stands.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- setting and clearing -----------------------------------------------------------------------
 */

/* QEMU refuses a breakpoint, under KVM, that it cannot write where the vCPU's tables lead. */
static int breakpoint_error(int rc)
{
	return rc == -EREMOTEIO ? -EFAULT : rc;
}

/* Have the keeper know what lies under all breakpoints that there are, or may be from here on. */
static int tell_keeper(struct qemu_machine *m)
{
	const struct trap_table *t = &m->traps;
	struct keeper_byte *bytes;

	if (!m->kvm || !m->ram.direct)
		return 0;
	bytes = keeper_bytes_begin(&m->keeper, t->n);
	if (!bytes)
		return m->keeper.pid ? -ENOSPC : 0;
	for (size_t i = 0; i < t->n; i++) {
		qemu_ram_piece(&m->ram, t->trap[i].pub.pa, 1, &bytes[i].hva);
		bytes[i].byte = t->trap[i].bytes[0];
	}
	keeper_bytes_end(&m->keeper, t->n);
	return 0;
}

/*
 * No vCPU sees the text any more: the guest was reset, or is about to be. QEMU cannot take its int3
 * out then, and leaves a byte alone that is none when the stub is detached from. So it is taken out
 * here, if the rest of the site still is what it was.
 */
static int unseen_clear(struct qemu_machine *m, uint64_t va)
{
	const struct trap *trap = trap_table_find(&m->traps, va);
	uint8_t now[TRAP_SITE_MAX];
	int rc = qemu_read_standing(m, trap->pub.pa, now, trap->pub.size);

	if (!rc && now[0] == QEMU_INT3 && !memcmp(now + 1, trap->bytes + 1, trap->pub.size - 1u))
		rc = qemu_write(&m->base, trap->pub.pa, trap->bytes, 1);
	return rc;
}

/* Breakpoints at these traps' sites, in one go, which the vCPU in view sees. */
static int breakpoints_seen(struct qemu_machine *m, bool set, const uint64_t *vas, bool *ok,
			    size_t n)
{
	int rc = breakpoint_error(gdb_breakpoints(m->gdb, set, vas, ok, n));
	int ended = qemu_view_end(m);

	return rc ? rc : ended;
}

/* Some are not seen any more, which must not keep the others. */
static int clear_each(struct qemu_machine *m, const uint64_t *vas, bool *ok, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		int one = qemu_view_begin(m, vas + i, 1);

		if (!one) {
			one = breakpoints_seen(m, false, vas + i, ok + i, 1);
		} else if (one == -EFAULT) {
			one = unseen_clear(m, vas[i]);
			ok[i] = !one;
		}
		rc = rc ? rc : one;
	}
	return rc;
}

/* ok[i] of each whether it is done. */
static int breakpoints(struct qemu_machine *m, bool set, const uint64_t *vas, bool *ok, size_t n)
{
	int rc = qemu_view_begin(m, vas, n);

	if (rc == -EFAULT && !set)
		return clear_each(m, vas, ok, n);
	return rc ? rc : breakpoints_seen(m, set, vas, ok, n);
}

/*
 * Those of the table from there on, to be freed: their addresses, and room to say what is done.
 * QEMU finds a breakpoint the sooner the later it was set.
 */
static uint64_t *addresses(const struct trap_table *t, size_t first, bool newest_first, bool **ok)
{
	size_t n = t->n - first;
	uint64_t *vas = calloc(n, sizeof(*vas) + sizeof(**ok));

	for (size_t i = 0; vas && i < n; i++)
		vas[newest_first ? n - 1 - i : i] = t->trap[first + i].pub.va;
	*ok = vas ? (bool *)(vas + n) : NULL;
	return vas;
}

/* All that are in the table from there on, or none. */
static int breakpoints_set(struct qemu_machine *m, size_t first)
{
	size_t n = m->traps.n - first, done = 0;
	bool *ok;
	uint64_t *vas = addresses(&m->traps, first, false, &ok);
	int rc = vas ? breakpoints(m, true, vas, ok, n) : -ENOMEM;

	for (size_t i = 0; rc && vas && i < n; i++)
		if (ok[i])
			vas[done++] = vas[i];
	if (done)
		breakpoints(m, false, vas, ok, done);
	free(vas);
	return rc;
}

static int sites_read(struct qemu_machine *m, size_t first)
{
	struct trap_table *t = &m->traps;
	int rc = 0;

	for (size_t i = first; i < t->n && !rc; i++)
		rc = qemu_read_standing(m, t->trap[i].pub.pa, t->trap[i].bytes,
					t->trap[i].pub.size);
	return rc;
}

static int traps_set(struct qemu_machine *m, const struct machine_trap *new, size_t n)
{
	struct trap_table *t = &m->traps;
	size_t first = t->n;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (!qemu_ram_has(m, new[i].pa, new[i].size))
			return -EFAULT;
	}
	if (n)
		rc = trap_table_add(t, new, n);
	if (rc || !n)
		return rc;
	rc = sites_read(m, first);
	if (!rc)
		rc = tell_keeper(m);
	if (!rc)
		rc = breakpoints_set(m, first);
	if (rc) {
		trap_table_cut(t, first);
		tell_keeper(m);
	}
	return rc;
}

/*
 * Under TCG QEMU takes a breakpoint from one vCPU after the other, and refuses at the first that
 * has none: one that was plugged in since, which comes behind those that had it
 * (gdb_breakpoint_remove() in accel/tcg/tcg-accel-ops.c).
 */
static int clear_late(struct qemu_machine *m, const uint64_t *vas, bool *ok, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		int one = ok[i] ? 0 : breakpoints_seen(m, false, vas + i, ok + i, 1);

		ok[i] |= one == -EFAULT;
		rc = rc || ok[i] ? rc : one;
	}
	return rc;
}

/* Those at n addresses of the table's; whatever is cleared leaves it. */
static int breakpoints_clear(struct qemu_machine *m, const uint64_t *vas, bool *ok, size_t n)
{
	int rc = breakpoints(m, false, vas, ok, n), told;

	if (rc == -EFAULT && !m->kvm && qemu_vcpus_grew(m))
		rc = clear_late(m, vas, ok, n);

	for (size_t i = 0; i < n; i++)
		if (ok[i])
			trap_table_remove(&m->traps, trap_table_find(&m->traps, vas[i]));
	told = tell_keeper(m);
	return rc ? rc : told;
}

static int trap_clear(struct qemu_machine *m, const struct trap *trap)
{
	uint64_t va = trap->pub.va;
	bool ok = false;

	return breakpoints_clear(m, &va, &ok, 1);
}

/* In the order that they are named in, which may matter to QEMU. */
static size_t each_once(const struct trap_table *t, const uint64_t *vas, size_t n, uint64_t *each,
			bool *seen)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trap *trap = trap_table_find(t, vas[i]);

		if (!seen[trap - t->trap])
			each[nr++] = vas[i];
		seen[trap - t->trap] = true;
	}
	return nr;
}

static int traps_clear(struct qemu_machine *m, const uint64_t *vas, size_t n)
{
	int rc = trap_table_check(&m->traps, vas, n);
	uint64_t *each;
	bool *ok;
	size_t nr;

	if (rc || !n)
		return rc;
	each = calloc(n + m->traps.n, sizeof(*each) + sizeof(*ok));
	if (!each)
		return -ENOMEM;
	ok = (bool *)(each + n);
	nr = each_once(&m->traps, vas, n, each, ok + n);
	rc = breakpoints_clear(m, each, ok, nr);
	free(each);
	return rc;
}

int qemu_traps_set(struct machine *base, const struct machine_trap *traps, size_t n)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	pthread_mutex_lock(&m->io);
	rc = traps_set(m, traps, n);
	pthread_mutex_unlock(&m->io);
	return rc;
}

int qemu_traps_clear(struct machine *base, const uint64_t *vas, size_t n)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc;

	pthread_mutex_lock(&m->io);
	rc = traps_clear(m, vas, n);
	pthread_mutex_unlock(&m->io);
	return rc;
}

int qemu_traps_clear_all(struct qemu_machine *m)
{
	uint64_t *vas;
	bool *ok;
	int rc = 0;

	pthread_mutex_lock(&m->io);
	if (m->traps.n) {
		vas = addresses(&m->traps, 0, true, &ok);
		rc = vas ? breakpoints_clear(m, vas, ok, m->traps.n) : -ENOMEM;
		free(vas);
	}
	pthread_mutex_unlock(&m->io);
	return rc;
}

/* --- hits ---------------------------------------------------------------------------------------
 */

/*
 * Is the site what it was, and where the vCPU is? Under KVM its first byte is QEMU's int3. Through
 * the stub page tables are not looked at for each hit.
 */
static bool site_is_same(struct qemu_machine *m, const struct qemu_vcpu *v, const struct trap *trap)
{
	size_t from = m->kvm ? 1 : 0;
	uint8_t now[TRAP_SITE_MAX];

	return !qemu_read_standing(m, trap->pub.pa, now, trap->pub.size) &&
	       !memcmp(now + from, trap->bytes + from, trap->pub.size - from) &&
	       (!m->ram.direct || qemu_maps_to(m, v, trap->pub.va, trap->pub.pa));
}

/* The trap stands for a return. */
static int hit_return(struct qemu_machine *m, struct qemu_vcpu *v)
{
	uint64_t sp = v->reg[GDB_RSP], pa, to = 0;
	int rc = sp % sizeof(to) ? -EFAULT : 0;

	if (!rc)
		rc = qemu_walk_standing(m, v, v->reg[GDB_CR3], sp, &pa);
	if (!rc)
		rc = qemu_read_standing(m, pa, &to, sizeof(to));
	if (rc)
		return rc;
	return qemu_vcpu_set_all(
		m, v, (const struct gdb_reg_value[]){{GDB_RSP, sp + sizeof(to)}, {GDB_RIP, to}}, 2);
}

/*
 * What the vCPU has run into and where it goes on. 1: a trap, 0: nothing of ours, -ESTALE: not the
 * kernel that the trap is for, other errors: QEMU's.
 */
static int hit_take(struct qemu_machine *m, struct qemu_vcpu *v, struct machine_trap *trap,
		    uint64_t *tsc)
{
	struct trap *found;
	int rc = qemu_vcpu_fetch(m, v);

	found = rc ? NULL : trap_table_find(&m->traps, v->reg[GDB_RIP]);
	if (!found)
		return rc;
	if (!site_is_same(m, v, found))
		return -ESTALE;
	*trap = found->pub; /* the table may change from here on */
	qemu_clock_calibrate(m, v, trap->va, trap->pa);
	/* It has run for that, and the guest may have been reset. */
	rc = qemu_vcpu_fetch(m, v);
	if (rc || v->reg[GDB_RIP] != trap->va)
		return rc ? rc : -ESTALE;
	*tsc = qemu_clock_tsc(m, v);
	if (trap->action == MACHINE_TRAP_ONCE)
		rc = trap_clear(m, found);
	else if (trap->action == MACHINE_TRAP_RETURN)
		rc = hit_return(m, v);
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
	if (rc > 0) {
		qemu_vcpu_regs(&m->vcpu[vcpu], &regs);
		if (trap.action == MACHINE_TRAP_RETURN)
			regs.rsp -= sizeof(uint64_t);
	}
	pthread_mutex_unlock(&m->io);
	if (rc == -ESTALE)
		machine_end(&m->base, MACHINE_EVENT_RESET, vcpu,
			    "the guest runs another kernel now");
	else if (rc < 0)
		machine_end(&m->base, MACHINE_EVENT_ERROR, vcpu,
			    "QEMU does not let vCPU %u go on behind a trap: %s", vcpu,
			    strerror(-rc));
	if (rc <= 0 || !m->cfg.trap)
		return;
	hit.cookie = trap.cookie;
	hit.va = trap.va;
	m->cfg.trap(&m->base, &hit, m->cfg.arg);
}

/*
 * A hit of its cannot be told, since the owner has as many vCPUs as there were. Nor can it be
 * passed over: some traps say that the guest is about to free text with others in it.
 */
void qemu_traps_hit_unknown(struct qemu_machine *m, uint32_t thread)
{
	struct qemu_vcpu v = {.thread = thread};
	bool others;

	pthread_mutex_lock(&m->io);
	others = !qemu_vcpu_fetch(m, &v) && !trap_table_find(&m->traps, v.reg[GDB_RIP]);
	pthread_mutex_unlock(&m->io);
	if (!others)
		machine_end(&m->base, MACHINE_EVENT_ERROR, 0,
			    "a vCPU that was plugged in has run into a trap (attach again to "
			    "trace it too)");
}
