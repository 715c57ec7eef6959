// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pieces.c - the memory that a window consists of: asked for from the guest's page allocator
 * and given back, or a slot of our own machine's.
 */
#include "tracer/window/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * include/linux/gfp.h, from 6.0 on gfp_types.h. The values are the same from 5.10 to 7.0: the bit
 * between __GFP_ZERO and __GFP_DIRECT_RECLAIM that 6.3 gave up has been kept as an unused one.
 */
#define GFP_IO		   0x40u
#define GFP_FS		   0x80u
#define GFP_DIRECT_RECLAIM 0x400u
#define GFP_KSWAPD_RECLAIM 0x800u
#define GFP_NOWARN	   0x2000u
#define GFP_RETRY_MAYFAIL  0x4000u
#define GFP_AT_ONCE	   (GFP_KSWAPD_RECLAIM | GFP_NOWARN)
#define GFP_PATIENT                                                                                \
	(GFP_IO | GFP_FS | GFP_DIRECT_RECLAIM | GFP_KSWAPD_RECLAIM | GFP_NOWARN | GFP_RETRY_MAYFAIL)
#define PIECE_ORDER 9 /* 2 to the power of it pages */

/* How long the guest has for getting to a safe point. */
#define OPEN_MS	 20000
#define RETRY_MS 3000
#define TASK_MS	 2000
#define CLOSE_MS 20000

_Static_assert(WINDOW_PIECE == 4096 << PIECE_ORDER, "a piece is one block of the allocator's");

static uint64_t function_of(const struct borrow *b, const char *name, const char *other)
{
	uint64_t va = borrow_function(b, name);

	return va ? va : borrow_function(b, other);
}

/* What the allocator has returned: a block of RAM, not one that is there already. */
static int piece_take(struct window *w, uint64_t va)
{
	struct payload_header *h = &w->header;
	uint64_t pa, word;

	if (va % WINDOW_PIECE || guest_translate(w->g, va, &pa) || pa % WINDOW_PIECE)
		return -EFAULT;
	if (machine_read(w->g->m, pa, &word, sizeof(word)) ||
	    machine_read(w->g->m, pa + WINDOW_PIECE - sizeof(word), &word, sizeof(word)))
		return -EFAULT;
	for (uint32_t i = 0; i < h->nr_pieces; i++) {
		if (h->piece_pa[i] == pa)
			return -EFAULT;
	}
	h->piece_pa[h->nr_pieces] = pa;
	h->piece_va[h->nr_pieces++] = va;
	return 0;
}

/* Have up to n pieces allocated. 0 also when there are fewer in the guest. */
static int pieces_ask(struct window *w, struct borrow *b, uint32_t n, uint32_t gfp,
		      enum borrow_where where, int ms, char *err, size_t errlen)
{
	uint64_t alloc = function_of(b, "get_free_pages_noprof", "__get_free_pages");
	struct borrow_call calls[WINDOW_MAX_PIECES] = {0};
	int ret, bad = 0;

	if (!alloc || !borrow_function(b, "free_pages")) {
		snprintf(err, errlen,
			 "the guest's kernel has no page allocator that is known here");
		return -ENOENT;
	}
	for (uint32_t i = 0; i < n; i++)
		calls[i] = (struct borrow_call){.fn = alloc, .arg = {gfp, PIECE_ORDER}};
	ret = borrow_run_wanted(b, calls, n, where, ms, err, errlen);
	/* Those behind a bad one are the guest's as well, to be given back. */
	for (uint32_t i = 0; i < n; i++) {
		int one = calls[i].done && calls[i].ret ? piece_take(w, calls[i].ret) : 0;

		bad = bad ? bad : one;
	}
	if (bad)
		snprintf(err, errlen, "what the guest's page allocator gives is no memory");
	return bad ? bad : ret;
}

/*
 * The entries that mapped the window, emptied by the guest itself: a KVM that shadows the guest's
 * page tables learns of a change by the write of a vCPU only (kvm_mmu_pte_write() in
 * arch/x86/kvm/mmu/mmu.c of Linux 6.1), and would have a later window at the same addresses lead to
 * this one's memory. They are empty already, so that it does no harm anywhere else. False: there is
 * nothing to be emptied, or nobody to do it.
 */
static bool empty_entries(const struct window *w, struct borrow *b, struct borrow_call *call)
{
	const struct payload_header *h = &w->header;
	uint64_t clear = borrow_function(b, "memset");

	if (!clear || !w->slot_pa || !h->nr_pieces)
		return false;
	*call = (struct borrow_call){
		.fn = clear,
		.arg = {h->piece_va[0] - h->piece_pa[0] + w->slot_pa, 0,
			h->size / WINDOW_PIECE * sizeof(uint64_t)},
	};
	return true;
}

/* Give all of them back, after a flush of TLBs when that is a function. */
static int give_back(struct window *w, struct borrow *b, uint64_t flush, enum borrow_where where,
		     int ms, char *err, size_t errlen)
{
	struct borrow_call calls[2 + WINDOW_MAX_PIECES] = {0};
	struct payload_header *h = &w->header;
	uint64_t release = borrow_function(b, "free_pages");
	size_t n = 0, first;
	int ret;

	if (!release) {
		snprintf(err, errlen, "the guest's kernel has no free_pages");
		return -ENOENT;
	}
	n += empty_entries(w, b, &calls[n]);
	if (flush)
		calls[n++] = (struct borrow_call){.fn = flush, .arg = {h->va, h->va + h->size}};
	first = n;
	for (uint32_t i = 0; i < h->nr_pieces; i++)
		calls[n++] =
			(struct borrow_call){.fn = release, .arg = {h->piece_va[i], PIECE_ORDER}};
	ret = borrow_run(b, calls, n, where, ms, err, errlen);
	/* They are given back in order, so what is left stands at the end. */
	n = 0;
	for (uint32_t i = 0; i < h->nr_pieces; i++) {
		if (calls[first + i].done)
			continue;
		h->piece_pa[n] = h->piece_pa[i];
		h->piece_va[n++] = h->piece_va[i];
	}
	h->nr_pieces = (uint32_t)n;
	return ret;
}

void window_pieces_drop(struct window *w, struct borrow *b)
{
	char ignored[256];

	give_back(w, b, 0, BORROW_ANY, CLOSE_MS, ignored, sizeof(ignored));
}

/*
 * Flushing waits for the other CPUs, which only a task may. Without one the memory goes back all
 * the same: what some TLB may still have is an address that nothing in the guest uses.
 */
int window_pieces_return(struct window *w, struct borrow *b, char *err, size_t errlen)
{
	uint64_t flush = function_of(b, "flush_tlb_kernel_range", "flush_tlb_all");
	int ret = give_back(w, b, flush, BORROW_TASK, TASK_MS, err, errlen);

	if (ret == -ETIMEDOUT)
		ret = give_back(w, b, 0, BORROW_ANY, CLOSE_MS, err, errlen);
	return ret;
}

static int pieces_clear(struct window *w, char *err, size_t errlen)
{
	static const uint8_t zero[65536];
	int ret = 0;

	for (uint64_t off = 0; off < w->header.size && !ret; off += sizeof(zero))
		ret = window_write(w, off, zero, sizeof(zero));
	if (ret)
		snprintf(err, errlen, "the guest's memory cannot be written: %s", strerror(-ret));
	return ret;
}

static int pieces_lack(const struct window *w, uint32_t want, char *err, size_t errlen)
{
	snprintf(
		err, errlen,
		"the guest lacks memory: %u of %u blocks of 2 MiB cannot be had; free some in it or ask for less (--window-memory)",
		want - w->header.nr_pieces, want);
	return -ENOMEM;
}

int window_pieces_borrow(struct window *w, struct borrow *b, size_t min, char *err, size_t errlen)
{
	uint32_t most = (uint32_t)(w->header.size / WINDOW_PIECE);
	uint32_t want = (uint32_t)(min / WINDOW_PIECE);
	int ret;

	w->header.borrowed = 1;
	ret = pieces_ask(w, b, most, GFP_AT_ONCE, BORROW_ANY, OPEN_MS, err, errlen);
	/* The guest may have to make room first, which only a task can wait for. */
	if (!ret && w->header.nr_pieces < want)
		ret = pieces_ask(w, b, want - w->header.nr_pieces, GFP_PATIENT, BORROW_SLEEP,
				 RETRY_MS, err, errlen);
	if (w->header.nr_pieces == most || (!ret && w->header.nr_pieces >= want)) {
		w->header.size = (uint64_t)w->header.nr_pieces * WINDOW_PIECE;
		w->table_pa = w->header.piece_pa[0] + WINDOW_TABLE;
		ret = pieces_clear(w, err, errlen);
	} else if (!ret || (ret == -ETIMEDOUT && w->header.nr_pieces)) {
		/* Without one that can wait for it, there is none. */
		ret = pieces_lack(w, want, err, errlen);
	}
	if (ret)
		window_pieces_drop(w, b);
	return ret;
}

/* Of our own machine: a memory slot of its own, at one stretch and zeroed. */
int window_pieces_own(struct window *w, char *err, size_t errlen)
{
	struct payload_header *h = &w->header;
	uint64_t pa;
	void *host;
	int ret = machine_window(w->g->m, h->size, &pa, &host);

	/* What does not work out costs a slot, but no memory: nobody has touched it. */
	if (!ret)
		ret = machine_reserved_page(w->g->m, &w->table_pa);
	if (ret) {
		snprintf(err, errlen, "no window of %llu MiB for the guest: %s",
			 (unsigned long long)h->size >> 20, strerror(-ret));
		return ret;
	}
	while (h->nr_pieces < h->size / WINDOW_PIECE) {
		h->piece_pa[h->nr_pieces] = pa;
		pa += WINDOW_PIECE;
		h->nr_pieces++;
	}
	return 0;
}
