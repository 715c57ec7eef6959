// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reserved.c - pages of guest RAM that the kernel keeps its hands off, as it was told at its boot.
 *
 * They are the data of one more entry of the boot protocol's list setup_data, of no type that means
 * anything: the kernel reserves what the list takes, whatever it is (arch/x86/kernel/setup.c,
 * memblock_x86_reserve_range_setup_data(), and e820.c, e820__reserve_setup_data()), and skips
 * entries of types that it does not know (setup.c, parse_setup_data()). It stays RAM, so it is in
 * the direct map, has its struct pages, and the kernel's own code can read it at any time.
 */
#include "vmm/kvm/local.h"

#include <asm/bootparam.h>
#include <errno.h>
#include <string.h>

#define PAGE_SIZE 4096ull
#define ENTRY	  (KVM_RESERVED - sizeof(struct setup_data)) /* its data begins with a page */

_Static_assert(KVM_RESERVED % PAGE_SIZE == 0, "a page");
_Static_assert(KVM_BOOT_CMDLINE + KVM_CMDLINE_MAX <= ENTRY, "there is room");
_Static_assert(KVM_RESERVED + KVM_RESERVED_PAGES * PAGE_SIZE <= KVM_EBDA_START, "there is RAM");

int kvm_reserved_write(struct kvm_machine *m, uint64_t *list)
{
	struct setup_data entry = {
		.next = *list,
		.type = SETUP_NONE,
		.len = KVM_RESERVED_PAGES * PAGE_SIZE,
	};

	*list = ENTRY;
	return kvm_mem_write(m, ENTRY, &entry, sizeof(entry));
}

int kvm_reserved_page(struct machine *base, uint64_t *pa)
{
	struct kvm_machine *m = kvm_machine(base);
	unsigned int i = atomic_load(&m->nreserved);
	void *page;

	do {
		if (i == KVM_RESERVED_PAGES)
			return -ENOSPC;
	} while (!atomic_compare_exchange_weak(&m->nreserved, &i, i + 1));
	*pa = KVM_RESERVED + i * PAGE_SIZE;
	/* In a snapshot there is what a trace before it has left. */
	page = kvm_host_ptr(m, *pa, PAGE_SIZE);
	if (!page)
		return -EFAULT;
	memset(page, 0, PAGE_SIZE);
	return 0;
}
