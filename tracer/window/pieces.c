// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pieces.c - the memory that a window consists of: asked for from the guest's page allocator, or
 * a slot of our own machine's.
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

/* How long the guest has for getting to a safe point. */
#define OPEN_MS	 20000
#define RETRY_MS 3000

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

/* The first piece alone has what tells of a window. */
static int piece_clear(struct window *w, uint32_t i)
{
	static const uint8_t zero[65536];
	int ret = 0;

	for (uint64_t off = 0; off < WINDOW_PIECE && !ret; off += sizeof(zero))
		ret = machine_write(w->g->m, w->header.piece_pa[i] + off, zero, sizeof(zero));
	return ret;
}

/* Pieces that are coming. */
struct coming {
	struct window *w;
	const struct borrow_call *calls;
	uint32_t most; /* as many as addresses are chosen for */
	int ret;       /* and what is wrong */
	char *err;
	size_t errlen;
};

static int first_piece_place(struct coming *c)
{
	struct window *w = c->w;
	int ret = piece_clear(w, 0);

	w->table_pa = w->header.piece_pa[0] + WINDOW_TABLE;
	if (ret) {
		snprintf(c->err, c->errlen, "the guest's memory cannot be written: %s",
			 strerror(-ret));
		return ret;
	}
	return window_place(w, c->most, c->err, c->errlen);
}

/* The guest has none any more, or it joins the window at once. */
static int piece_came(void *arg, size_t i)
{
	struct coming *c = arg;
	struct payload_header *h = &c->w->header;

	if (!c->calls[i].ret)
		return 0;
	c->ret = piece_take(c->w, c->calls[i].ret);
	if (c->ret) {
		snprintf(c->err, c->errlen, "what the guest's page allocator gives is no memory");
		return c->ret;
	}
	h->size = (uint64_t)h->nr_pieces * WINDOW_PIECE;
	if (h->nr_pieces == 1)
		c->ret = first_piece_place(c);
	if (!c->ret)
		c->ret = window_map(c->w, h->nr_pieces - 1, c->err, c->errlen);
	return c->ret;
}

/* Have up to n pieces allocated. 0 also when there are fewer in the guest. */
static int pieces_ask(struct coming *c, struct borrow *b, uint32_t n, uint32_t gfp,
		      struct borrow_how how)
{
	uint64_t alloc = borrow_function_or(b, "get_free_pages_noprof", "__get_free_pages");
	struct borrow_call calls[WINDOW_MAX_PIECES] = {0};
	char why[256];
	int ret;

	if (!alloc || !borrow_function(b, "free_pages")) {
		snprintf(c->err, c->errlen,
			 "the guest's kernel has no page allocator that is known here");
		return -ENOENT;
	}
	for (uint32_t i = 0; i < n; i++)
		calls[i] = (struct borrow_call){.fn = alloc, .arg = {gfp, PIECE_ORDER}};
	c->calls = calls;
	how.wanted = true;
	how.after = piece_came;
	how.arg = c;
	ret = borrow_run_as(b, calls, n, &how, why, sizeof(why));
	if (ret && !c->ret)
		snprintf(c->err, c->errlen, "%s", why);
	return ret;
}

/*
 * How many pieces the guest is asked for at most: were it all that it has left, tasks of its own
 * would be ended for want of memory. The kernel tells what can be had without that, in pages
 * (si_mem_available(), mm/page_alloc.c, 6.1); one that does not is not held back.
 */
static int pieces_room(struct borrow *b, uint32_t *room, char *err, size_t errlen)
{
	struct borrow_call call = {.fn = borrow_function(b, "si_mem_available")};
	uint64_t pieces;
	int ret;

	*room = WINDOW_MAX_PIECES;
	if (!call.fn)
		return 0;
	ret = borrow_run_wanted(b, &call, 1, BORROW_ANY, OPEN_MS, err, errlen);
	pieces = (call.ret - call.ret / 4) >> PIECE_ORDER;
	if (!ret && pieces < *room)
		*room = (uint32_t)pieces;
	return ret;
}

static int pieces_lack(uint32_t have, uint32_t want, char *err, size_t errlen)
{
	snprintf(
		err, errlen,
		"the guest lacks memory: %u of %u blocks of 2 MiB cannot be had; free some in it or ask for less (--window-memory)",
		want - have, want);
	return -ENOMEM;
}

int window_pieces_borrow(struct window *w, struct borrow *b, size_t min, char *err, size_t errlen)
{
	const struct borrow_how at_once = {.where = BORROW_ANY, .ms = OPEN_MS};
	const struct borrow_how patient = {.where = BORROW_SLEEP, .ms = RETRY_MS};
	struct payload_header *h = &w->header;
	uint32_t want = (uint32_t)(min / WINDOW_PIECE);
	struct coming c = {
		.w = w,
		.most = (uint32_t)(h->size / WINDOW_PIECE),
		.err = err,
		.errlen = errlen,
	};
	char ignored[256];
	uint32_t room;
	int ret;

	h->borrowed = 1;
	h->size = 0;
	ret = pieces_room(b, &room, err, errlen);
	if (ret)
		return ret;
	if (room < want)
		return pieces_lack(room, want, err, errlen);
	if (c.most > room)
		c.most = room;
	ret = pieces_ask(&c, b, c.most, GFP_AT_ONCE, at_once);
	/* The guest may have to make room first, which only a task can wait for. */
	if (!ret && h->nr_pieces < want)
		ret = pieces_ask(&c, b, want - h->nr_pieces, GFP_PATIENT, patient);
	/* Without a task that can wait for it, there is none. */
	if ((!ret || (ret == -ETIMEDOUT && h->nr_pieces)) && h->nr_pieces < want)
		ret = pieces_lack(h->nr_pieces, want, err, errlen);
	for (uint32_t i = 1; i < h->nr_pieces && !ret; i++) {
		ret = piece_clear(w, i);
		if (ret)
			snprintf(err, errlen, "the guest's memory cannot be written: %s",
				 strerror(-ret));
	}
	if (ret)
		window_return(w, b, ignored, sizeof(ignored));
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
	machine_pause_for(w->g->m, "placing code in it");
	ret = window_place(w, h->nr_pieces, err, errlen);
	if (!ret)
		ret = window_map(w, 0, err, errlen);
	machine_resume(w->g->m);
	return ret;
}
