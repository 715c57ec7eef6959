/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paging.h - guest memory as an instruction sees it: through the page tables, with their rights. */
#ifndef HVTRACE_VMM_KVM_INSN_PAGING_H
#define HVTRACE_VMM_KVM_INSN_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGING_SIZE 4096

/* Bits of a page fault's error code (Intel SDM vol. 3, 4.7). */
enum {
	PAGING_PRESENT = 1 << 0,
	PAGING_WRITE = 1 << 1,
	PAGING_USER = 1 << 2,
	PAGING_RESERVED = 1 << 3,
};

struct paging {
	/* Host address of [pa, pa + len), or NULL when any of it is not RAM. */
	void *(*ram)(void *arg, uint64_t pa, size_t len);
	void *arg;
	uint64_t cr0, cr3, cr4, efer, rflags;
	bool user; /* CPL 3 */
};

/*
 * Translate va for an access of 64-bit mode and set the accessed and dirty bits on the way. 0,
 * -EFAULT with the page fault's error code in *error, or -EIO where the tables leave RAM.
 */
int paging_walk(const struct paging *p, uint64_t va, bool write, uint64_t *pa, uint32_t *error);

#endif
