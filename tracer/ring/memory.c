// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - where the pages of ring buffers are.
 *
 * They come in blocks of the size of a huge page, with the fewest faults that can be had for a
 * buffer of hundreds of megabytes: all of it is written to before the guest is waited for. Where it
 * is the guest that must not wait for that, pages are there when they are first written to: what is
 * mapped is what an empty page is. A process forked from this one has no use for them, and would
 * have each of them fault once more.
 */
#include "tracer/ring/internal.h"

#include <errno.h>
#include <sys/mman.h>
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define BLOCK_SIZE (2UL << 20) /* of a huge page of x86 */

/* It goes with the last of its pages. */
struct ring_block {
	size_t live; /* pages in use */
	struct ring_page page[];
};

#define BLOCK_PAGES ((BLOCK_SIZE - sizeof(struct ring_block)) / sizeof(struct ring_page))
#define PAGE_END    (offsetof(struct ring_page, data) + RING_PAGE_DATA)

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Of the size of a block, and aligned to it. */
static void *map_block(bool huge)
{
	uint8_t *at = map(2 * BLOCK_SIZE);
	size_t before = -(uintptr_t)at % BLOCK_SIZE;

	if (!at)
		return NULL;
	if (before)
		munmap(at, before);
	munmap(at + before + BLOCK_SIZE, BLOCK_SIZE - before);
	if (huge)
		madvise(at + before, BLOCK_SIZE, MADV_HUGEPAGE);
	return at + before;
}

static struct ring_block *block_new(size_t nr, bool at_once)
{
	struct ring_block *b = map_block(at_once && nr == BLOCK_PAGES);

	if (!b)
		return NULL;
	madvise(b, BLOCK_SIZE, MADV_DONTFORK);
	b->live = nr;
	return b;
}

static void page_init(struct ring_page *p, bool at_once)
{
	if (at_once)
		ring_page_clear(p);
	ASAN_POISON_MEMORY_REGION((uint8_t *)p + PAGE_END, sizeof(*p) - PAGE_END);
}

static void page_free(struct ring_page *p)
{
	struct ring_block *b = (struct ring_block *)((uint8_t *)p - (uintptr_t)p % BLOCK_SIZE);

	if (--b->live)
		return;
	ASAN_UNPOISON_MEMORY_REGION(b, BLOCK_SIZE);
	munmap(b, BLOCK_SIZE);
}

void ring_pages_free(struct ring_page **pages, size_t nr)
{
	while (nr)
		page_free(pages[--nr]);
}

int ring_pages_alloc(struct ring_page **pages, size_t nr, bool at_once)
{
	for (size_t i = 0; i < nr;) {
		size_t n = nr - i < BLOCK_PAGES ? nr - i : BLOCK_PAGES;
		struct ring_block *b = block_new(n, at_once);

		if (!b) {
			ring_pages_free(pages, i);
			return -ENOMEM;
		}
		for (size_t k = 0; k < n; k++) {
			pages[i + k] = &b->page[k];
			page_init(pages[i + k], at_once);
		}
		i += n;
	}
	return 0;
}
