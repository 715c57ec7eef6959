// SPDX-License-Identifier: GPL-2.0-or-later
/* walk.c - the page walker: guest-virtual to guest-physical through the guest's own tables. */
#include "vmm/core/backend.h"

#include <errno.h>

#define PTE_PRESENT (1ull << 0)
#define PTE_PS	    (1ull << 7) /* maps a 1 GiB or 2 MiB page instead of naming a table */
#define PTE_ADDR    0x000ffffffffff000ull

/*
 * Intel SDM vol. 3, 4.5.4: each level consumes 9 bits of va, the last one leaves 12. Bits of va
 * above the table's reach must be copies of its top bit (canonical).
 */
static bool va_is_canonical(uint64_t va, unsigned int levels)
{
	unsigned int bits = 12 + 9 * levels;

	return (uint64_t)((int64_t)(va << (64 - bits)) >> (64 - bits)) == va;
}

int machine_walk_by(struct machine *m, machine_read_fn *read, uint64_t root, unsigned int levels,
		    uint64_t va, uint64_t *pa, uint64_t *left)
{
	uint64_t table = root & PTE_ADDR;

	if (levels < 4 || levels > 5 || !va_is_canonical(va, levels))
		return -EFAULT;
	for (unsigned int level = levels; level > 0; level--) {
		unsigned int shift = 12 + 9 * (level - 1);
		uint64_t span = 1ull << shift;
		uint64_t pte;

		if (read(m, table + ((va >> shift) & 511) * 8, &pte, sizeof(pte)))
			return -EFAULT;
		if (!(pte & PTE_PRESENT))
			return -EFAULT;
		if (level == 1 || (level <= 3 && (pte & PTE_PS))) {
			/* Bit 12 of a large page's entry is PAT, so it is cut off with the rest. */
			*pa = (pte & PTE_ADDR & ~(span - 1)) | (va & (span - 1));
			if (left)
				*left = span - (va & (span - 1));
			return 0;
		}
		table = pte & PTE_ADDR;
	}
	return -EFAULT;
}

int machine_walk(struct machine *m, uint64_t root, unsigned int levels, uint64_t va, uint64_t *pa,
		 uint64_t *left)
{
	return machine_walk_by(m, machine_read, root, levels, va, pa, left);
}
