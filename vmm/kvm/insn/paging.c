// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paging.c - the page walk of an access in 64-bit mode (Intel SDM vol. 3, 4.5 to 4.8), with the
 * rights it needs and the accessed and dirty bits it leaves.
 */
#include "vmm/kvm/insn/paging.h"

#include <errno.h>

#define PTE_PRESENT  (UINT64_C(1) << 0)
#define PTE_WRITE    (UINT64_C(1) << 1)
#define PTE_USER     (UINT64_C(1) << 2)
#define PTE_ACCESSED (UINT64_C(1) << 5)
#define PTE_DIRTY    (UINT64_C(1) << 6)
#define PTE_LARGE    (UINT64_C(1) << 7)
#define PTE_ADDRESS  UINT64_C(0x000ffffffffff000)

#define CR0_WP	  (UINT64_C(1) << 16)
#define CR4_LA57  (UINT64_C(1) << 12)
#define CR4_SMAP  (UINT64_C(1) << 21)
#define RFLAGS_AC (UINT64_C(1) << 18)

/* A guest that keeps changing its tables under us only harms itself. */
#define MAX_TRIES 1000

struct walk {
	const struct paging *p;
	bool write;
	uint64_t *entry; /* of the level reached */
	uint64_t value;	 /* of that entry */
	uint64_t rights; /* PTE_WRITE and PTE_USER as far as all levels have them */
};

static int walk_fault(const struct walk *w, uint32_t why, uint32_t *error)
{
	*error = why | (w->write ? PAGING_WRITE : 0) | (w->p->user ? PAGING_USER : 0);
	return -EFAULT;
}

static bool walk_allowed(const struct walk *w)
{
	const struct paging *p = w->p;

	if (p->user)
		return (w->rights & PTE_USER) && (!w->write || (w->rights & PTE_WRITE));
	if (w->write && !(w->rights & PTE_WRITE) && (p->cr0 & CR0_WP))
		return false;
	return !(w->rights & PTE_USER) || !(p->cr4 & CR4_SMAP) || (p->rflags & RFLAGS_AC);
}

static int walk_level(struct walk *w, uint64_t table, unsigned int index, uint32_t *error)
{
	w->entry = w->p->ram(w->p->arg, table + index * sizeof(uint64_t), sizeof(uint64_t));
	if (!w->entry)
		return -EIO;
	w->value = __atomic_load_n(w->entry, __ATOMIC_RELAXED);
	if (!(w->value & PTE_PRESENT))
		return walk_fault(w, 0, error);
	w->rights &= w->value;
	return 0;
}

static bool walk_mark(const struct walk *w, uint64_t bits)
{
	uint64_t old = w->value;

	if ((old & bits) == bits)
		return true;
	/* Another processor may have changed the entry meanwhile: then the walk begins again. */
	return __atomic_compare_exchange_n(w->entry, &old, old | bits, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* One try: -EAGAIN when an entry changed under it. */
static int walk_once(const struct paging *p, uint64_t va, bool write, uint64_t *pa, uint32_t *error)
{
	struct walk w = {.p = p, .write = write, .rights = PTE_WRITE | PTE_USER};
	uint64_t table = p->cr3 & PTE_ADDRESS;
	unsigned int shift = p->cr4 & CR4_LA57 ? 48 : 39;

	for (;; shift -= 9) {
		int err = walk_level(&w, table, va >> shift & 511, error);
		bool last = shift == 12 || ((w.value & PTE_LARGE) && shift <= 30);

		if (err)
			return err;
		if (last)
			break;
		if (w.value & PTE_LARGE)
			return walk_fault(&w, PAGING_PRESENT | PAGING_RESERVED, error);
		if (!walk_mark(&w, PTE_ACCESSED))
			return -EAGAIN;
		table = w.value & PTE_ADDRESS;
	}
	if (!walk_allowed(&w))
		return walk_fault(&w, PAGING_PRESENT, error);
	if (!walk_mark(&w, PTE_ACCESSED | (write ? PTE_DIRTY : 0)))
		return -EAGAIN;
	*pa = (w.value & PTE_ADDRESS & ~((UINT64_C(1) << shift) - 1)) |
	      (va & ((UINT64_C(1) << shift) - 1));
	return 0;
}

int paging_walk(const struct paging *p, uint64_t va, bool write, uint64_t *pa, uint32_t *error)
{
	for (unsigned int tries = 0; tries < MAX_TRIES; tries++) {
		int err = walk_once(p, va, write, pa, error);

		if (err != -EAGAIN)
			return err;
	}
	return -EIO;
}
