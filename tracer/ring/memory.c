// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - where the pages of ring buffers are.
 *
 * They come in blocks of the size of a huge page, with the fewest faults that can be had for a
 * buffer of hundreds of megabytes: all of it is written to before the guest is waited for. A
 * process forked from this one has no use for them, and would have each of them fault once more.
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
	size_t size; /* bytes that are mapped */
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

static void *map_huge(void)
{
	uint8_t *at = map(2 * BLOCK_SIZE);
	size_t before = -(uintptr_t)at % BLOCK_SIZE;

	if (!at)
		return NULL;
	if (before)
		munmap(at, before);
	munmap(at + before + BLOCK_SIZE, BLOCK_SIZE - before);
	madvise(at + before, BLOCK_SIZE, MADV_HUGEPAGE);
	return at + before;
}

static struct ring_block *block_new(size_t nr)
{
	bool whole = nr == BLOCK_PAGES;
	size_t size =
		whole ? BLOCK_SIZE : sizeof(struct ring_block) + nr * sizeof(struct ring_page);
	struct ring_block *b = whole ? map_huge() : map(size);

	if (!b)
		return NULL;
	madvise(b, size, MADV_DONTFORK);
	b->size = size;
	b->live = nr;
	return b;
}

static void page_init(struct ring_page *p, struct ring_block *b)
{
	p->block = b;
	ring_page_clear(p);
	ASAN_POISON_MEMORY_REGION((uint8_t *)p + PAGE_END, sizeof(*p) - PAGE_END);
}

static void page_free(struct ring_page *p)
{
	struct ring_block *b = p->block;

	if (--b->live)
		return;
	ASAN_UNPOISON_MEMORY_REGION(b, b->size);
	munmap(b, b->size);
}

void ring_pages_free(struct ring_page **pages, size_t nr)
{
	while (nr)
		page_free(pages[--nr]);
}

int ring_pages_alloc(struct ring_page **pages, size_t nr)
{
	for (size_t i = 0; i < nr;) {
		size_t n = nr - i < BLOCK_PAGES ? nr - i : BLOCK_PAGES;
		struct ring_block *b = block_new(n);

		if (!b) {
			ring_pages_free(pages, i);
			return -ENOMEM;
		}
		for (size_t k = 0; k < n; k++) {
			pages[i + k] = &b->page[k];
			page_init(pages[i + k], b);
		}
		i += n;
	}
	return 0;
}
