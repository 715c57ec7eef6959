// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - the image of a kernel that runs: read once from its own memory, around an address.
 *
 * The kernel maps itself in 2 MiB steps from _text to the end of its brk area and unmaps the rest
 * of level2_kernel_pgt (arch/x86/kernel/head64.c, cleanup_highmap()). With page table isolation it
 * also unmaps what it has freed (arch/x86/mm/init.c, free_kernel_image_pages()): the gaps behind
 * text and read-only data, and init memory. The result is an elf_image with a segment per piece
 * and without sections.
 */
#include "guestsym/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define PAGE UINT64_C(0x1000)
#define STEP (UINT64_C(2) << 20)

/* Modules begin here at the latest (MODULES_VADDR). */
#define KERNEL_MAP_END UINT64_C(0xffffffffc0000000)
/* What a hostile guest can make us copy; distribution kernels have some 50 MB. */
#define IMAGE_MAX (UINT64_C(256) << 20)
/* The most that may be unmapped in the middle: init memory has some 4 MB. */
#define GAP_MAX (UINT64_C(32) << 20)

/* Where a step's mapping is looked for: gaps begin and end anywhere, but are large. */
#define PROBE_STEP (UINT64_C(64) << 10)

#define PIECES_MAX 64

struct copy {
	const struct guestsym_memory *mem;
	struct elf_image *e;
	uint8_t *to; /* what has address start goes here */
	uint64_t start;
};

/* --- its extent -------------------------------------------------------------------------- */

/* True when something is mapped at va, the start of a step. */
static bool step_mapped(const struct guestsym_memory *mem, uint64_t va)
{
	uint8_t byte;

	for (uint64_t off = 0; off < STEP; off += PROBE_STEP)
		if (!mem->read(mem->arg, va + off, &byte, 1))
			return true;
	return !mem->read(mem->arg, va + STEP - 1, &byte, 1);
}

static void find_extent(const struct guestsym_memory *mem, uint64_t *start, uint64_t *end)
{
	uint64_t va = mem->hint & ~(STEP - 1);

	*start = va;
	*end = va + STEP;
	while (va > KERNEL_MAP && *start - va < GAP_MAX && *end - va < IMAGE_MAX) {
		va -= STEP;
		if (step_mapped(mem, va))
			*start = va;
	}
	for (va = *end; va < KERNEL_MAP_END && va - *end < GAP_MAX && va - *start < IMAGE_MAX;) {
		if (step_mapped(mem, va))
			*end = va + STEP;
		va += STEP;
	}
}

/* --- its bytes --------------------------------------------------------------------------- */

static int add_piece(struct elf_image *e, uint64_t va, uint64_t off, uint64_t len)
{
	if (e->nr_segs) {
		struct elf_segment *last = &e->segs[e->nr_segs - 1];

		if (last->va + last->memsz == va) {
			last->filesz += len;
			last->memsz += len;
			return 0;
		}
	}
	if (e->nr_segs == PIECES_MAX)
		return -E2BIG;
	/* What of it is text is for the symbols to say. */
	e->segs[e->nr_segs++] = (struct elf_segment){
		.va = va, .off = off, .filesz = len, .memsz = len, .exec = true};
	return 0;
}

/* What cannot be read in one go is halved until only pages that are not there are left out. */
static int copy_piece(const struct copy *c, uint64_t va, uint64_t len)
{
	uint64_t off = va - c->start;
	int err = c->mem->read(c->mem->arg, va, c->to + off, len);

	if (!err)
		return add_piece(c->e, va, off, len);
	if (err != -EFAULT)
		return err;
	if (len == PAGE) {
		/* Half a read may have been done. */
		memset(c->to + off, 0, len);
		return 0;
	}
	err = copy_piece(c, va, len / 2);
	return err ? err : copy_piece(c, va + len / 2, len / 2);
}

static int copy_steps(const struct copy *c, uint64_t end)
{
	int err = 0;

	for (uint64_t va = c->start; va < end && !err; va += STEP)
		if (step_mapped(c->mem, va))
			err = copy_piece(c, va, STEP);
	return err;
}

int memory_image_read(struct elf_image *e, struct blob *bytes, const struct guestsym_memory *mem,
		      const struct complaint *c)
{
	uint64_t start, end;
	int err;

	*e = (struct elf_image){0};
	if (mem->hint < KERNEL_MAP || mem->hint >= KERNEL_MAP_END)
		return complain(c, -EINVAL,
				"%#" PRIx64 " is no address of an x86-64 Linux kernel; "
				"is Linux running there?",
				mem->hint);
	find_extent(mem, &start, &end);
	if (blob_alloc(bytes, end - start))
		return complain(c, -ENOMEM, "no memory for the kernel's %" PRIu64 " bytes",
				end - start);
	e->data = bytes->data;
	e->len = bytes->len;
	/* One more: memory_image_forget() may leave two pieces of one. */
	e->segs = calloc(PIECES_MAX + 1, sizeof(*e->segs));
	if (!e->segs)
		return complain(c, -ENOMEM, "no memory");
	err = copy_steps(&(struct copy){mem, e, bytes->map, start}, end);
	if (err == -E2BIG)
		return complain(c, err, "what is mapped around %#" PRIx64 " is no kernel image",
				mem->hint);
	if (err)
		return complain(c, err, "the kernel cannot be read: %s", strerror(-err));
	if (!e->nr_segs)
		return complain(c, -EFAULT, "nothing is mapped at %#" PRIx64, mem->hint);
	return 0;
}

void memory_image_forget(struct elf_image *e, uint64_t start, uint64_t end)
{
	size_t n = e->nr_segs;

	for (size_t i = 0; i < n; i++) {
		struct elf_segment *seg = &e->segs[i], rest = *seg;
		uint64_t seg_end = seg->va + seg->memsz;

		if (start >= seg_end || end <= seg->va || start >= end)
			continue;
		if (end < seg_end) {
			rest.va = end;
			rest.off += end - seg->va;
			rest.filesz = rest.memsz = seg_end - end;
			if (start > seg->va)
				e->segs[e->nr_segs++] = rest;
			else
				*seg = rest;
		}
		if (start > seg->va)
			seg->filesz = seg->memsz = start - seg->va;
		else if (end >= seg_end)
			seg->filesz = seg->memsz = 0;
	}
}
