// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * return.c - gives a window's memory back to the guest's page allocator, by calls that the guest
 * makes itself.
 *
 * A tracer may die at any moment, and the next one finds by the first piece what there is. So that
 * one goes last; and a piece is none of the window's any more before the guest frees it, for it
 * would be freed once more. What a death costs is one piece, between these two.
 */
#include "tracer/window/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* How long the guest has for getting to a safe point. */
#define TASK_MS	 2000
#define CLOSE_MS 20000

/* What becomes of the window before one of the calls is made. */
struct step {
	uint32_t from, to; /* pieces that are not mapped any more; to == 0: none */
	uint32_t keep;	   /* so many pieces are still the window's */
};

#define CALLS_MAX (WINDOW_MAX_PIECES + 4)

struct going {
	struct window *w;
	uint64_t clear, flush, release; /* functions of the guest's; 0: is not called */
	struct borrow_call calls[CALLS_MAX];
	struct step step[CALLS_MAX];
	size_t n;
};

static void call_add(struct going *go, struct borrow_call call, struct step *step)
{
	go->calls[go->n] = call;
	go->step[go->n++] = *step;
	step->to = 0;
}

/*
 * The entries that mapped them are emptied by the guest, too: a KVM that shadows the guest's page
 * tables learns of a change by the write of a vCPU only (kvm_mmu_pte_write() in
 * arch/x86/kvm/mmu/mmu.c of Linux 6.1), and would have a later window at the same addresses lead to
 * this one's memory. They are empty already, so that it does no harm anywhere else.
 */
static void plan_unmap(struct going *go, uint32_t from, struct step *step)
{
	const struct payload_header *h = &go->w->header;
	uint64_t entries = h->piece_va[0] - h->piece_pa[0] + go->w->slot_pa;
	const struct borrow_call clear = {
		.fn = go->clear,
		.arg = {entries + from * sizeof(uint64_t), 0, (step->to - from) * sizeof(uint64_t)},
	};
	const struct borrow_call flush = {
		.fn = go->flush,
		.arg = {h->va + (uint64_t)from * WINDOW_PIECE,
			h->va + (uint64_t)step->to * WINDOW_PIECE},
	};

	if (go->clear)
		call_add(go, clear, step);
	if (go->flush)
		call_add(go, flush, step);
}

/* From the last of them to the first. */
static void plan_pieces(struct going *go, uint32_t from, uint32_t to)
{
	struct step step = {.from = from, .to = go->w->mapped ? to : 0, .keep = to};

	if (step.to > from)
		plan_unmap(go, from, &step);
	while (to-- > from) {
		const struct borrow_call release = {
			.fn = go->release,
			.arg = {go->w->header.piece_va[to], PIECE_ORDER},
		};

		step.keep = to;
		call_add(go, release, &step);
	}
}

/* What the guest gets back does not look like a window. */
static int first_piece_unmapped(struct window *w)
{
	static const char no_magic[sizeof(w->header.magic)];

	return window_write(w, WINDOW_HEADER, no_magic, sizeof(no_magic));
}

static int step_do(void *arg, size_t i)
{
	struct going *go = arg;
	const struct step *step = &go->step[i];
	struct payload_header *h = &go->w->header;
	int ret = step->to ? window_unmap(go->w, step->from, step->to) : 0;

	if (!ret && step->to && !step->from)
		ret = first_piece_unmapped(go->w);
	if (ret || step->keep == h->nr_pieces)
		return ret;
	h->nr_pieces = step->keep;
	h->size = (uint64_t)step->keep * WINDOW_PIECE;
	return go->w->mapped ? window_header_write(go->w) : 0;
}

static int give_back(struct going *go, struct borrow *b, enum borrow_where where, int ms, char *err,
		     size_t errlen)
{
	const struct borrow_how how = {.where = where, .ms = ms, .before = step_do, .arg = go};
	uint32_t n = go->w->header.nr_pieces;

	go->n = 0;
	plan_pieces(go, 1, n);
	plan_pieces(go, 0, n > 1 ? 1 : n);
	return borrow_run_as(b, go->calls, go->n, &how, err, errlen);
}

/*
 * Flushing waits for the other CPUs, which only a task may. Without one the memory goes back all
 * the same: what some TLB may still have is an address that nothing in the guest uses.
 */
int window_return(struct window *w, struct borrow *b, char *err, size_t errlen)
{
	struct going go = {
		.w = w,
		.clear = borrow_function(b, "memset"),
		.flush = borrow_function_or(b, "flush_tlb_kernel_range", "flush_tlb_all"),
		.release = borrow_function(b, "free_pages"),
	};
	int ret;

	if (!go.release) {
		snprintf(err, errlen, "the guest's kernel has no free_pages");
		return -ENOENT;
	}
	/* There is less and less of it: no ring lies in it any more. */
	w->header.nr_vcpus = w->header.ring_size = w->header.event_ring_size = 0;
	ret = give_back(&go, b, BORROW_TASK, TASK_MS, err, errlen);
	if (ret == -ETIMEDOUT) {
		go.flush = 0;
		ret = give_back(&go, b, BORROW_ANY, CLOSE_MS, err, errlen);
	}
	return ret;
}
