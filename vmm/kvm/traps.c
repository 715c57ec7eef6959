// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traps.c - sites in guest text that exit to us instead of being executed.
 *
 * The table changes only while no other vCPU is inside (pause.c), so a vCPU looks its hit up
 * without a lock. Of all that a hit costs the exit is by far the most; rip goes back to the guest
 * through the registers that KVM takes over with the next KVM_RUN, so there is no other ioctl.
 *
 * MACHINE_TRAP_OUT: KVM has stepped over an `out` to port 0x7e before it exits (its OUT_7E quirk,
 * kvm_fast_pio_out() in arch/x86/kvm/x86.c), and its emulator always does; a KVM without the quirk
 * leaves rip on the instruction. rip is moved behind the site before the handler runs: were it
 * left inside the site, an interrupt could keep that as the place to return to, and once the trap
 * is cleared the guest would execute the tail of the original instruction there.
 *
 * MACHINE_TRAP_INT3: KVM_EXIT_DEBUG, for which KVM must be asked and then tells us about the
 * guest's own int3 as well. Hosts that interpret kernel mode refuse int3 as an instruction they
 * cannot emulate, whether asked or not.
 */
#include "vmm/kvm/local.h"
#include "vmm/kvm/trap-index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define TRAP_PORT 0x7e
#define OUT_SIZE  2
#define SITE_MAX  8
#define BP_VECTOR 3

#define INSN_INT3   0xcc
#define INSN_OUT_AL 0xe6 /* out %al, imm8 */
#define INSN_NOP    0x90

struct kvm_trap {
	struct machine_trap pub;
	uint8_t original[SITE_MAX];
	kvm_trap_fn *own; /* not NULL: the backend's own trap */
	void *own_arg;
};

struct kvm_traps {
	pthread_mutex_t lock; /* for pauses held by several threads at a time; taken within them */
	struct kvm_trap *trap;
	size_t n, room;
	size_t int3; /* how many are of this kind */
	struct trap_index by_va, by_pa;
};

struct kvm_traps *kvm_traps_new(void)
{
	struct kvm_traps *traps = calloc(1, sizeof(*traps));

	if (traps && pthread_mutex_init(&traps->lock, NULL)) {
		free(traps);
		traps = NULL;
	}
	return traps;
}

void kvm_traps_free(struct kvm_traps *traps)
{
	if (!traps)
		return;
	trap_index_free(&traps->by_va);
	trap_index_free(&traps->by_pa);
	free(traps->trap);
	pthread_mutex_destroy(&traps->lock);
	free(traps);
}

static struct kvm_trap *trap_find(struct kvm_traps *traps, uint64_t va)
{
	uint32_t i = trap_index_get(&traps->by_va, va);

	return i == TRAP_INDEX_NONE ? NULL : &traps->trap[i];
}

/* --- the guest's text ---------------------------------------------------------------------- */

static size_t text_size(const struct machine_trap *trap)
{
	return trap->kind == MACHINE_TRAP_INT3 ? 1 : trap->size;
}

static void text_take(struct kvm_machine *m, struct kvm_trap *trap)
{
	static const uint8_t insn[][SITE_MAX] = {
		[MACHINE_TRAP_OUT] = {INSN_OUT_AL, TRAP_PORT, INSN_NOP, INSN_NOP, INSN_NOP,
				      INSN_NOP, INSN_NOP, INSN_NOP},
		[MACHINE_TRAP_INT3] = {INSN_INT3},
	};
	size_t size = text_size(&trap->pub);
	uint8_t *text = kvm_host_ptr(m, trap->pub.pa, size);

	memcpy(trap->original, text, size);
	memcpy(text, insn[trap->pub.kind], size);
}

static void text_give_back(struct kvm_machine *m, const struct kvm_trap *trap)
{
	size_t size = text_size(&trap->pub);

	memcpy(kvm_host_ptr(m, trap->pub.pa, size), trap->original, size);
}

/* --- the table: called with the machine paused and traps->lock held ------------------------- */

static int table_reserve(struct kvm_traps *traps, size_t n)
{
	size_t room = traps->room ? traps->room : 64;
	struct kvm_trap *bigger;
	int rc;

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
	rc = trap_index_reserve(&traps->by_va, n);
	return rc ? rc : trap_index_reserve(&traps->by_pa, n);
}

/* What overlaps in memory would be given back in the wrong order, by whatever address it is run. */
static bool table_overlaps(const struct kvm_traps *traps, const struct machine_trap *new)
{
	if (trap_index_get(&traps->by_va, new->va) != TRAP_INDEX_NONE)
		return true;
	for (uint64_t pa = new->pa - (SITE_MAX - 1); pa != new->pa + new->size; pa++) {
		uint32_t i = trap_index_get(&traps->by_pa, pa);

		if (i != TRAP_INDEX_NONE && pa + traps->trap[i].pub.size > new->pa)
			return true;
	}
	return false;
}

static void table_add(struct kvm_traps *traps, const struct machine_trap *new)
{
	traps->trap[traps->n] = (struct kvm_trap){.pub = *new};
	trap_index_put(&traps->by_va, new->va, (uint32_t)traps->n);
	trap_index_put(&traps->by_pa, new->pa, (uint32_t)traps->n);
	traps->int3 += new->kind == MACHINE_TRAP_INT3;
	traps->n++;
}

static void table_remove(struct kvm_traps *traps, struct kvm_trap *trap)
{
	struct kvm_trap *last = &traps->trap[--traps->n];

	traps->int3 -= trap->pub.kind == MACHINE_TRAP_INT3;
	trap_index_del(&traps->by_va, trap->pub.va);
	trap_index_del(&traps->by_pa, trap->pub.pa);
	if (trap == last)
		return;
	*trap = *last;
	trap_index_put(&traps->by_va, trap->pub.va, (uint32_t)(trap - traps->trap));
	trap_index_put(&traps->by_pa, trap->pub.pa, (uint32_t)(trap - traps->trap));
}

static int trap_check(struct kvm_machine *m, const struct machine_trap *trap)
{
	if (trap->kind > MACHINE_TRAP_INT3 || trap->action > MACHINE_TRAP_ONCE)
		return -EINVAL;
	if (!trap->size || trap->size > SITE_MAX || trap->va > UINT64_MAX - SITE_MAX)
		return -EINVAL;
	if (trap->kind == MACHINE_TRAP_OUT && trap->size < OUT_SIZE)
		return -EINVAL;
	return kvm_host_ptr(m, trap->pa, trap->size) ? 0 : -EFAULT;
}

/* KVM tells about breakpoints only while there are any of ours: the guest has its own, too. */
static void debug_update(struct kvm_machine *m, bool had_int3)
{
	bool want = m->traps->int3;
	struct kvm_guest_debug debug = {
		.control = want ? KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP : 0,
	};

	if (want == had_int3)
		return;
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (ioctl(m->vcpu[i].fd, KVM_SET_GUEST_DEBUG, &debug))
			kvm_machine_end(m, MACHINE_EVENT_ERROR, i,
					"KVM cannot set breakpoints on vCPU %u: %s", i,
					strerror(errno));
	}
}

static int table_set(struct kvm_machine *m, const struct machine_trap *new, size_t n)
{
	struct kvm_traps *traps = m->traps;
	size_t first = traps->n, i;
	bool had_int3 = traps->int3;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = trap_check(m, &new[i]);
	if (!rc)
		rc = n > TRAP_INDEX_NONE ? -ENOMEM : table_reserve(traps, traps->n + n);
	for (i = 0; i < n && !rc; i++) {
		if (table_overlaps(traps, &new[i]))
			rc = -EEXIST;
		else
			table_add(traps, &new[i]);
	}
	if (rc) {
		while (traps->n > first)
			table_remove(traps, &traps->trap[traps->n - 1]);
		return rc;
	}
	for (i = first; i < traps->n; i++)
		text_take(m, &traps->trap[i]);
	debug_update(m, had_int3);
	return 0;
}

static int table_clear(struct kvm_machine *m, const uint64_t *vas, size_t n)
{
	struct kvm_traps *traps = m->traps;
	bool had_int3 = traps->int3;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!trap_find(traps, vas[i]))
			return -ENOENT;
	}
	for (i = 0; i < n; i++) {
		struct kvm_trap *trap = trap_find(traps, vas[i]);

		if (!trap)
			continue; /* named twice */
		text_give_back(m, trap);
		table_remove(traps, trap);
	}
	debug_update(m, had_int3);
	return 0;
}

static void traps_lock(struct kvm_machine *m)
{
	kvm_pause(&m->base);
	pthread_mutex_lock(&m->traps->lock);
}

static void traps_unlock(struct kvm_machine *m)
{
	pthread_mutex_unlock(&m->traps->lock);
	kvm_resume(&m->base);
}

int kvm_traps_set(struct machine *base, const struct machine_trap *traps, size_t n)
{
	struct kvm_machine *m = kvm_machine(base);
	int rc;

	traps_lock(m);
	rc = table_set(m, traps, n);
	traps_unlock(m);
	return rc;
}

int kvm_traps_clear(struct machine *base, const uint64_t *vas, size_t n)
{
	struct kvm_machine *m = kvm_machine(base);
	int rc;

	traps_lock(m);
	rc = table_clear(m, vas, n);
	traps_unlock(m);
	return rc;
}

int kvm_traps_set_own(struct kvm_machine *m, uint64_t va, uint64_t pa, uint8_t size,
		      kvm_trap_fn *fn, void *arg)
{
	struct machine_trap trap = {
		.va = va,
		.pa = pa,
		.size = size,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_SKIP,
	};
	int rc;

	traps_lock(m);
	rc = table_set(m, &trap, 1);
	if (!rc) {
		m->traps->trap[m->traps->n - 1].own = fn;
		m->traps->trap[m->traps->n - 1].own_arg = arg;
	}
	traps_unlock(m);
	return rc;
}

/* --- hits ----------------------------------------------------------------------------------- */

/* Take a trap out that fires once. False: another vCPU's hit of it was first. */
static bool trap_spend(struct kvm_machine *m, uint64_t va)
{
	bool first;

	traps_lock(m);
	first = !table_clear(m, &va, 1);
	traps_unlock(m);
	return first;
}

static void trap_hit(struct kvm_vcpu *v, const struct kvm_trap *found, uint64_t tsc)
{
	struct kvm_machine *m = v->m;
	struct kvm_trap trap = *found; /* the table may change from here on */
	struct kvm_regs *now = kvm_vcpu_regs(v);
	struct machine_regs regs;
	struct machine_hit hit = {
		.vcpu = v->index,
		.tsc = kvm_vcpu_tsc(v, tsc),
		.cookie = trap.pub.cookie,
		.va = trap.pub.va,
		.regs = &regs,
	};

	now->rip = trap.pub.va + (trap.pub.action == MACHINE_TRAP_SKIP ? trap.pub.size : 0);
	kvm_vcpu_regs_changed(v);
	if (trap.pub.action == MACHINE_TRAP_ONCE && !trap_spend(m, trap.pub.va))
		return;
	if (trap.own) {
		trap.own(v, trap.own_arg);
		return;
	}
	if (!m->cfg.trap)
		return;
	memcpy(&regs, now, sizeof(regs));
	m->cfg.trap(&m->base, &hit, m->cfg.arg);
	kvm_pause_handler_done(v);
}

bool kvm_traps_out(struct kvm_vcpu *v, uint64_t tsc)
{
	uint64_t rip = kvm_vcpu_regs(v)->rip;
	const struct kvm_trap *trap;

	if (v->run->io.port != TRAP_PORT || v->run->io.direction != KVM_EXIT_IO_OUT)
		return false;
	trap = trap_find(v->m->traps, rip - OUT_SIZE);
	if (!trap)
		trap = trap_find(v->m->traps, rip);
	if (!trap || trap->pub.kind != MACHINE_TRAP_OUT)
		return false;
	trap_hit(v, trap, tsc);
	return true;
}

/* The guest's own breakpoint: let it have its exception, with rip behind the int3. */
static bool int3_deliver(struct kvm_vcpu *v)
{
	struct kvm_guest_debug debug = {
		.control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP | KVM_GUESTDBG_INJECT_BP,
	};

	if (v->run->exit_reason == KVM_EXIT_DEBUG)
		return !ioctl(v->fd, KVM_SET_GUEST_DEBUG, &debug);
	kvm_vcpu_regs(v)->rip++;
	kvm_vcpu_regs_changed(v);
	return !kvm_vcpu_inject(v, BP_VECTOR, false, 0);
}

bool kvm_traps_int3(struct kvm_vcpu *v, uint64_t tsc)
{
	uint64_t rip = kvm_vcpu_regs(v)->rip;
	const struct kvm_trap *trap = trap_find(v->m->traps, rip);
	uint8_t insn;

	if (trap && trap->pub.kind == MACHINE_TRAP_INT3) {
		trap_hit(v, trap, tsc);
		return true;
	}
	if (v->run->exit_reason != KVM_EXIT_DEBUG &&
	    (kvm_virt_read(v, rip, &insn, 1) || insn != INSN_INT3))
		return false;
	return int3_deliver(v);
}
