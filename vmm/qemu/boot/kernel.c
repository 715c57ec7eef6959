// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel.c - where an unpacked kernel lies, and by how much KASLR has moved it.
 *
 * What unpacks it copies its segments to some place in memory, keeping their distances, and adds
 * the slide to each word that is an address of the kernel's (handle_relocations() in
 * arch/x86/boot/compressed/misc.c). In the image these words are link addresses; so the slide is
 * what most of them differ by.
 */
#include "vmm/qemu/boot/boot.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_SPAN (UINT64_C(1) << 30) /* KERNEL_IMAGE_SIZE: slides are below it */
#define PAGE	    4096
#define CHUNK	    (64 << 10)
#define CHUNKS_MAX  64 /* that are looked at, of all of it */
#define WORDS_MAX   8192
#define WORDS_MIN   16

static bool take_segment(struct boot_kernel *k, const Elf64_Phdr *p, size_t len)
{
	if (p->p_type != PT_LOAD || !p->p_memsz)
		return true;
	if (k->nseg == BOOT_SEGMENTS || p->p_offset > len || p->p_filesz > len - p->p_offset ||
	    p->p_filesz > p->p_memsz || p->p_memsz > KERNEL_SPAN || p->p_paddr > UINT32_MAX)
		return false;
	/* The area of CPUs' variables has addresses of its own, from 0 on. */
	if (p->p_vaddr >> 63) {
		if (!k->map.start || p->p_vaddr < k->map.start)
			k->map.start = p->p_vaddr;
		if (p->p_vaddr + p->p_memsz > k->map.end)
			k->map.end = p->p_vaddr + p->p_memsz;
	}
	k->seg[k->nseg++] = (struct boot_segment){p->p_vaddr, p->p_paddr, p->p_offset, p->p_filesz};
	return true;
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = ((const struct boot_segment *)a)->pa, y = ((const struct boot_segment *)b)->pa;

	return (x > y) - (x < y);
}

int boot_kernel_open(struct boot_kernel *k, const void *elf, size_t len)
{
	Elf64_Ehdr head;

	*k = (struct boot_kernel){.elf = elf};
	if (len < sizeof(head))
		return -EINVAL;
	memcpy(&head, elf, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > len ||
	    (len - head.e_phoff) / sizeof(Elf64_Phdr) < head.e_phnum)
		return -EINVAL;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr p;

		memcpy(&p, k->elf + head.e_phoff + i * sizeof(p), sizeof(p));
		if (!take_segment(k, &p, len))
			return -EINVAL;
	}
	if (!k->nseg || k->map.end <= k->map.start)
		return -EINVAL;
	qsort(k->seg, k->nseg, sizeof(k->seg[0]), by_place);
	k->entry = head.e_entry;
	return 0;
}

/* --- the slide ---------------------------------------------------------------------------------
 */

struct words {
	uint32_t slide[WORDS_MAX]; /* what each differs by; UINT32_MAX: by no slide */
	size_t n;
};

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void take_words(struct words *w, const struct boot_kernel *k, const uint8_t *image,
		       const uint8_t *memory, size_t len)
{
	for (size_t i = 0; i + 8 <= len && w->n < WORDS_MAX; i += 8) {
		uint64_t link = get_u64(image + i), slide = get_u64(memory + i) - link;

		if (link < k->map.start || link >= k->map.end)
			continue;
		w->slide[w->n++] = slide < KERNEL_SPAN && !(slide % BOOT_KERNEL_ALIGN)
					   ? (uint32_t)slide
					   : UINT32_MAX;
	}
}

/* Some pieces of all of it. */
static int read_words(struct words *w, const struct boot_kernel *k, const struct boot_memory *mem,
		      uint64_t pa, uint8_t *chunk)
{
	uint64_t bytes = 0, step;
	int rc = 0;

	for (size_t i = 0; i < k->nseg; i++)
		bytes += k->seg[i].len;
	step = (bytes / CHUNKS_MAX + CHUNK) & ~(uint64_t)7;
	for (size_t i = 0; i < k->nseg; i++) {
		const struct boot_segment *s = &k->seg[i];
		uint64_t at = pa + s->pa - k->seg[0].pa;

		for (uint64_t off = 0; !rc && off < s->len && w->n < WORDS_MAX; off += step) {
			size_t len = s->len - off < CHUNK ? (size_t)(s->len - off) : CHUNK;

			rc = mem->read(mem->arg, at + off, chunk, len);
			if (!rc)
				take_words(w, k, k->elf + s->off + off, chunk, len);
		}
	}
	return rc;
}

static int by_slide(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Nine of ten say the same: what else looks like an address need not be one. */
static int most_say(struct words *w, uint64_t *slide)
{
	size_t middle = w->n / 2, same = 0;

	if (w->n < WORDS_MIN)
		return -ENOENT;
	qsort(w->slide, w->n, sizeof(w->slide[0]), by_slide);
	for (size_t i = 0; i < w->n; i++)
		same += w->slide[i] == w->slide[middle];
	if (w->slide[middle] == UINT32_MAX || same * 10 < w->n * 9)
		return -ENOENT;
	*slide = w->slide[middle];
	return 0;
}

int boot_kernel_look(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t pa,
		     uint64_t *slide)
{
	struct words *w = calloc(1, sizeof(*w) + CHUNK);
	int rc;

	if (!w)
		return -ENOMEM;
	rc = read_words(w, k, mem, pa, (uint8_t *)(w + 1));
	if (!rc)
		rc = most_say(w, slide);
	free(w);
	return rc == -EFAULT ? -ENOENT : rc;
}

/* Most of a kernel's first page is code without addresses. */
static int begins_at(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t pa)
{
	const struct boot_segment *s = &k->seg[0];
	size_t len = s->len < PAGE ? (size_t)s->len : PAGE, same = 0;
	uint8_t page[PAGE];
	int rc = mem->read(mem->arg, pa, page, len);

	for (size_t i = 0; !rc && i < len; i++)
		same += page[i] == k->elf[s->off + i];
	return rc ? rc : same * 4 < len * 3 ? -ENOENT : 0;
}

/* Whether it is at pa, in whatever sense: 0, -ENOENT, -EFAULT, or what ends the search. */
typedef int is_at_fn(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t pa,
		     uint64_t *slide);

static int search(const struct boot_kernel *k, const struct boot_memory *mem, is_at_fn *is_at,
		  uint64_t *pa, uint64_t *slide)
{
	for (size_t i = 0; i < mem->nram; i++) {
		const struct boot_range *r = &mem->ram[i];

		*pa = (r->start + BOOT_KERNEL_ALIGN - 1) & ~(BOOT_KERNEL_ALIGN - 1);
		for (; *pa < r->end; *pa += BOOT_KERNEL_ALIGN) {
			int rc = is_at(k, mem, *pa, slide);

			if (rc != -ENOENT && rc != -EFAULT)
				return rc;
		}
	}
	return -ENOENT;
}

static int is_unpacked_at(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t pa,
			  uint64_t *slide)
{
	int rc = begins_at(k, mem, pa);

	return rc ? rc : boot_kernel_look(k, mem, pa, slide);
}

int boot_kernel_find(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t *pa,
		     uint64_t *slide)
{
	return search(k, mem, is_unpacked_at, pa, slide);
}

/* Before its segments are put where they belong. */
static int unpacks_at(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t pa,
		      uint64_t *slide)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	int rc = mem->read(mem->arg, pa, head, sizeof(head));

	(void)slide;
	return rc ? rc : memcmp(head, k->elf, sizeof(head)) ? -ENOENT : 0;
}

int boot_kernel_unpacks(const struct boot_kernel *k, const struct boot_memory *mem, uint64_t *pa)
{
	return search(k, mem, unpacks_at, pa, NULL);
}
