// SPDX-License-Identifier: GPL-2.0-or-later
/* ktables.c - a running kernel's page tables and interrupt table, as its vCPUs have them. */
#include "tracer/guest/ktables.h"

#include <errno.h>

#define CR0_PG	 (UINT64_C(1) << 31)
#define CR4_LA57 (UINT64_C(1) << 12)
#define CR3_ADDR UINT64_C(0x000ffffffffff000)
#define CR3_PTI_USER                                                                               \
	(UINT64_C(1) << 12) /* arch/x86/mm/pti.c: the user half of a pair of tables                \
			     */
#define KERNEL_HALF (UINT64_C(1) << 63)
#define PTE_PRESENT (UINT64_C(1) << 0)
#define PTE_PS	    (UINT64_C(1) << 7)
#define PTE_ADDR    UINT64_C(0x000ffffffffff000)

/* A gate descriptor of 64-bit mode (Intel SDM vol. 3, 6.14.1). */
struct idt_gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_mid;
	uint32_t offset_high, reserved;
};

static unsigned int table_index(uint64_t va, unsigned int level)
{
	return va >> (12 + 9 * (level - 1)) & 511;
}

/* As machine_walk(), from what the root held. */
static int kept_walk(const struct ktables *t, uint64_t va, uint64_t *pa, uint64_t *left)
{
	uint64_t entry = t->top[table_index(va, t->levels)];

	for (unsigned int level = t->levels - 1; level && entry & PTE_PRESENT; level--) {
		uint64_t at = (entry & PTE_ADDR) + table_index(va, level) * sizeof(entry);
		uint64_t span = UINT64_C(1) << (12 + 9 * (level - 1));

		if (machine_read(t->m, at, &entry, sizeof(entry)))
			return -EFAULT;
		if (entry & PTE_PRESENT && (level == 1 || (level <= 3 && entry & PTE_PS))) {
			*pa = (entry & PTE_ADDR & ~(span - 1)) | (va & (span - 1));
			*left = span - (va & (span - 1));
			return 0;
		}
	}
	return -EFAULT;
}

static int walk(const struct ktables *t, uint64_t va, uint64_t *pa, uint64_t *left)
{
	return t->kept ? kept_walk(t, va, pa, left)
		       : machine_walk(t->m, t->root, t->levels, va, pa, left);
}

int ktables_keep(struct ktables *t)
{
	int ret = machine_read(t->m, t->root, t->top, sizeof(t->top));

	t->kept = !ret;
	return ret;
}

int ktables_read(const struct ktables *t, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		uint64_t pa, left;
		int ret = walk(t, va, &pa, &left);
		size_t part;

		if (ret)
			return ret;
		part = left < len ? left : len;
		ret = machine_read(t->m, pa, to, part);
		if (ret)
			return ret;
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

int ktables_directory(const struct ktables *t, uint64_t va, uint64_t *pa)
{
	uint64_t table = t->root, entry;

	/* Levels count from the page tables (1) up; a page directory is of level 2. */
	for (unsigned int level = t->levels; level > 2; level--) {
		uint64_t at = table + table_index(va, level) * sizeof(entry);

		if (machine_read(t->m, at, &entry, sizeof(entry)))
			return -EFAULT;
		if (!(entry & PTE_PRESENT) || (level == 3 && entry & PTE_PS))
			return -EFAULT;
		table = entry & PTE_ADDR;
	}
	*pa = table;
	return 0;
}

int ktables_handler(const struct ktables *t, unsigned int vector, uint64_t *handler)
{
	struct idt_gate gate;
	int ret;

	if ((vector + 1) * sizeof(gate) > t->idt_size)
		return -EFAULT;
	ret = ktables_read(t, t->idt_base + vector * sizeof(gate), &gate, sizeof(gate));
	if (ret)
		return ret;
	*handler = (uint64_t)gate.offset_high << 32 | (uint64_t)gate.offset_mid << 16 |
		   gate.offset_low;
	return *handler & KERNEL_HALF ? 0 : -EFAULT;
}

/*
 * With page table isolation a vCPU in user mode has tables with little of the kernel in them; those
 * of the kernel are their neighbour. Whether there is such a pair tells the handler, which both
 * map.
 */
static void ktables_prefer_kernel(struct ktables *t, uint64_t handler)
{
	struct ktables pair = *t;
	uint64_t here, there;

	if (!(t->root & CR3_PTI_USER))
		return;
	pair.root &= ~CR3_PTI_USER;
	if (machine_walk(t->m, t->root, t->levels, handler, &here, NULL) ||
	    machine_walk(t->m, pair.root, t->levels, handler, &there, NULL))
		return;
	if (here == there)
		*t = pair;
}

int ktables_find(struct machine *m, unsigned int vcpu, struct ktables *t)
{
	struct machine_sregs sregs;
	uint64_t handler;
	int ret = machine_get_sregs(m, vcpu, &sregs);

	if (ret)
		return ret;
	if (!(sregs.cr0 & CR0_PG))
		return -ESRCH;
	*t = (struct ktables){
		.m = m,
		.root = sregs.cr3 & CR3_ADDR,
		.levels = sregs.cr4 & CR4_LA57 ? 5 : 4,
		.idt_base = sregs.idt_base,
		.idt_size = sregs.idt_limit + 1u,
	};
	if (ktables_handler(t, 0, &handler))
		return -ESRCH;
	ktables_prefer_kernel(t, handler);
	return 0;
}
