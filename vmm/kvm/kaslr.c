// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kaslr.c - puts a kernel somewhere else than where it was linked, as its own decompressor would
 * (arch/x86/boot/compressed/kaslr.c and misc.c, handle_relocations()): in memory, and in the GiB of
 * addresses that its text and modules share.
 *
 * The first needs nothing: the kernel's first instructions look where they are. For the second,
 * what the build has appended to the ELF image of a bzImage (arch/x86/tools/relocs.c) says which of
 * its bytes are addresses. Each is the low half of the link address of one: those of 64 bits, those
 * of 32 bits that are to become less, up to Linux 6.14, and others of 32 bits, with a zero in front
 * of each of the lists.
 */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define ALIGN	   (2ull << 20)	 /* the least CONFIG_PHYSICAL_ALIGN; level2_kernel_pgt's pages */
#define MOVED_MIN  (16ull << 20) /* below it is what devices may want for DMA */
#define MAP_START  0xffffffff80000000ull /* __START_KERNEL_map: physical 0 as linked */
#define IMAGE_SIZE (1ull << 30)		 /* KERNEL_IMAGE_SIZE of a kernel with KASLR */

#define LISTS_MAX 3

/* One of these, each as likely as the others. */
static int pick(uint64_t choices, uint64_t *chosen)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	*chosen = (uint64_t)((unsigned __int128)random * choices >> 64);
	return 0;
}

static uint64_t align_up(uint64_t val)
{
	return (val + ALIGN - 1) & ~(ALIGN - 1);
}

int kvm_kaslr_place(struct kvm_machine *m, uint64_t start, uint64_t end, char *err, size_t errlen)
{
	uint64_t size = align_up(end - start), top = kvm_initrd_start(m), place, slide;

	if (start % ALIGN || start > end || end > IMAGE_SIZE || top < MOVED_MIN + size) {
		snprintf(err, errlen,
			 "the kernel (%llu MiB) cannot be moved in %llu MiB of guest memory",
			 (unsigned long long)(end - start) >> 20,
			 (unsigned long long)m->cfg.memory >> 20);
		return -ENOMEM;
	}
	if (pick((top - size - MOVED_MIN) / ALIGN + 1, &place) ||
	    pick((IMAGE_SIZE - start - size) / ALIGN + 1, &slide)) {
		snprintf(err, errlen, "the host has no random numbers");
		return -EIO;
	}
	m->kernel_moved = MOVED_MIN + place * ALIGN - start;
	m->kernel_slide = slide * ALIGN;
	return 0;
}

/* --- relocations ---------------------------------------------------------------------------- */

struct relocs {
	const uint8_t *words; /* s32 each */
	size_t nr;
};

static int32_t word_at(const struct relocs *r, size_t i)
{
	int32_t word;

	memcpy(&word, r->words + i * sizeof(word), sizeof(word));
	return word;
}

/* Of the kernel in memory, where its link address is. NULL: it is not there. */
static uint8_t *place_of(struct kvm_machine *m, int32_t link, size_t size, uint64_t kernel_end)
{
	uint64_t pa = (uint64_t)(int64_t)link - MAP_START + m->kernel_moved;

	if (pa < m->kernel_pa || pa >= kernel_end || size > kernel_end - pa)
		return NULL;
	return kvm_host_ptr(m, pa, size);
}

/* add is sign-extended, and cut off. */
static bool adjust(struct kvm_machine *m, int32_t link, size_t size, uint64_t add,
		   uint64_t kernel_end)
{
	uint8_t *at = place_of(m, link, size, kernel_end);
	uint64_t value = 0;

	if (!at)
		return false;
	memcpy(&value, at, size);
	value += add;
	memcpy(at, &value, size);
	return true;
}

static bool list_apply(struct kvm_machine *m, const struct relocs *r, size_t from, size_t size,
		       uint64_t add, uint64_t kernel_end)
{
	for (size_t i = from; i < r->nr && word_at(r, i); i++)
		if (!adjust(m, word_at(r, i), size, add, kernel_end))
			return false;
	return true;
}

/* Where each list begins, in their order; how many, 0: these are none. */
static unsigned int lists_find(const struct relocs *r, size_t begins[LISTS_MAX])
{
	unsigned int n = 0;

	for (size_t i = 0; i < r->nr; i++) {
		if (word_at(r, i))
			continue;
		if (n == LISTS_MAX)
			return 0;
		begins[n++] = i + 1;
	}
	return r->nr && !word_at(r, 0) ? n : 0;
}

int kvm_kaslr_relocate(struct kvm_machine *m, uint64_t kernel_end, const void *appended, size_t len,
		       char *err, size_t errlen)
{
	const struct relocs r = {appended, len / sizeof(int32_t)};
	size_t begins[LISTS_MAX];
	unsigned int n = lists_find(&r, begins);
	uint64_t slide = m->kernel_slide;

	if (n < 2) {
		snprintf(err, errlen,
			 "the kernel image says nothing of how it can be moved: give a bzImage "
			 "(vmlinuz) of a kernel with CONFIG_RANDOMIZE_BASE for KASLR");
		return -ENOEXEC;
	}
	if (list_apply(m, &r, begins[0], sizeof(uint64_t), slide, kernel_end) &&
	    (n < 3 || list_apply(m, &r, begins[1], sizeof(uint32_t), -slide, kernel_end)) &&
	    list_apply(m, &r, begins[n - 1], sizeof(uint32_t), slide, kernel_end))
		return 0;
	snprintf(err, errlen,
		 "the kernel image is damaged: what KASLR would change lies outside of it");
	return -ENOEXEC;
}
