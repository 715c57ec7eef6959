// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * window.c - the window: memory of the guest's that both sides see, mapped at kernel addresses.
 *
 * The kernel's last GiB but one, from 0xffffffffc0000000 on, is mapped by one page directory that
 * all page tables share: with page table isolation all of the kernel's halves. Modules take it from
 * its beginning, the fixmap lies at its end, and between them it is empty. There each piece gets an
 * entry. The first piece is mapped by a page table, which lies in it, because its pages differ in
 * what may be done to them; the others are large pages (Intel SDM vol. 3, 4.5).
 *
 * An entry that becomes present needs no flush: a CPU does not remember one that is not. One that
 * goes does need it, so the guest is asked for that before it gets its memory back.
 */
#include "tracer/window.h"
#include "tracer/ktables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGION	    UINT64_C(0xffffffffc0000000)
#define NR_ENTRIES  512
#define SLOT_LOW    256 /* modules are not expected to take more than 512 MiB */
#define SLOT_HIGH   481 /* the fixmap's are from 504 on */
#define SLOT_SPREAD 128

#define PTE_PRESENT  (UINT64_C(1) << 0)
#define PTE_WRITE    (UINT64_C(1) << 1)
#define PTE_ACCESSED (UINT64_C(1) << 5)
#define PTE_DIRTY    (UINT64_C(1) << 6)
#define PTE_PS	     (UINT64_C(1) << 7)
#define PTE_NX	     (UINT64_C(1) << 63)
#define PTE_ADDR     UINT64_C(0x000ffffffffff000)
#define EFER_NXE     (UINT64_C(1) << 11)

/* The CPU may set these by itself. */
#define PTE_SET_BY_CPU (PTE_ACCESSED | PTE_DIRTY)

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
_Static_assert(WINDOW_RINGS < WINDOW_PIECE, "all that is not rings is in the first piece");

/* --- copying ------------------------------------------------------------------------------------
 */

typedef int copy_fn(struct machine *m, uint64_t pa, void *buf, size_t len);

static int copy_write(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	return machine_write(m, pa, buf, len);
}

static int copy_write_text(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	return machine_write_text(m, pa, buf, len);
}

/* Piece by piece: they lie anywhere. */
static int window_copy(struct window *w, uint64_t off, void *buf, size_t len, copy_fn *copy)
{
	uint8_t *at = buf;

	if (off > w->header.size || len > w->header.size - off)
		return -EFAULT;
	while (len) {
		uint64_t in = off % WINDOW_PIECE, left = WINDOW_PIECE - in;
		size_t part = left < len ? left : len;
		int ret = copy(w->g->m, w->header.piece_pa[off / WINDOW_PIECE] + in, at, part);

		if (ret)
			return ret;
		off += part;
		at += part;
		len -= part;
	}
	return 0;
}

int window_read(struct window *w, uint64_t off, void *buf, size_t len)
{
	return window_copy(w, off, buf, len, machine_read);
}

int window_write(struct window *w, uint64_t off, const void *buf, size_t len)
{
	union {
		const void *from;
		void *buf; /* copy_write() only reads it */
	} bytes = {.from = buf};

	return window_copy(w, off, bytes.buf, len, copy_write);
}

int window_write_text(struct window *w, uint64_t off, const void *buf, size_t len)
{
	union {
		const void *from;
		void *buf;
	} bytes = {.from = buf};

	return window_copy(w, off, bytes.buf, len, copy_write_text);
}

/* --- the guest's memory -------------------------------------------------------------------------
 */

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
	ret = borrow_run(b, calls, n, where, ms, err, errlen);
	for (uint32_t i = 0; i < n && !bad; i++) {
		if (calls[i].done && calls[i].ret)
			bad = piece_take(w, calls[i].ret);
	}
	if (bad)
		snprintf(err, errlen, "what the guest's page allocator gives is no memory");
	return bad ? bad : ret;
}

/* Give all of them back, after a flush of TLBs when that is a function. */
static int pieces_return(struct window *w, struct borrow *b, uint64_t flush,
			 enum borrow_where where, int ms, char *err, size_t errlen)
{
	struct borrow_call calls[1 + WINDOW_MAX_PIECES] = {0};
	struct payload_header *h = &w->header;
	uint64_t release = borrow_function(b, "free_pages");
	size_t n = 0, first;
	int ret;

	if (!release) {
		snprintf(err, errlen, "the guest's kernel has no free_pages");
		return -ENOENT;
	}
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

static int pieces_clear(struct window *w)
{
	static const uint8_t zero[65536];

	for (uint64_t off = 0; off < w->header.size; off += sizeof(zero)) {
		int ret = window_write(w, off, zero, sizeof(zero));

		if (ret)
			return ret;
	}
	return 0;
}

static int pieces_lack(const struct window *w, uint32_t want, char *err, size_t errlen)
{
	snprintf(
		err, errlen,
		"the guest lacks memory: %u of %u blocks of 2 MiB cannot be had; free some in it or ask for less (--window-memory)",
		want - w->header.nr_pieces, want);
	return -ENOMEM;
}

static int pieces_borrow(struct window *w, struct borrow *b, char *err, size_t errlen)
{
	uint32_t want = (uint32_t)(w->header.size / WINDOW_PIECE), missing;
	char ignored[256];
	int ret;

	w->header.borrowed = 1;
	ret = pieces_ask(w, b, want, GFP_AT_ONCE, BORROW_ANY, OPEN_MS, err, errlen);
	missing = want - w->header.nr_pieces;
	/* The guest may have to make room first, which only a task can wait for. */
	if (!ret && missing)
		ret = pieces_ask(w, b, missing, GFP_PATIENT, BORROW_SLEEP, RETRY_MS, err, errlen);
	if (w->header.nr_pieces == want)
		return 0;
	/* Without one that can wait for it, there is none. */
	if (!ret || (ret == -ETIMEDOUT && w->header.nr_pieces))
		ret = pieces_lack(w, want, err, errlen);
	pieces_return(w, b, 0, BORROW_ANY, CLOSE_MS, ignored, sizeof(ignored));
	return ret;
}

/* Of our own machine: a memory slot of its own, at one stretch and zeroed. */
static int pieces_own(struct window *w, char *err, size_t errlen)
{
	struct payload_header *h = &w->header;
	uint64_t pa;
	void *host;
	int ret = machine_window(w->g->m, h->size, &pa, &host);

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

/* --- page tables --------------------------------------------------------------------------------
 */

/* The page directory, as it is now; its physical address in *pa. */
static int directory_read(struct guest_kernel *g, uint64_t entry[NR_ENTRIES], uint64_t *pa)
{
	struct ktables t = {
		.m = g->m,
		.root = guest_image_pa(g, g->pgtable_root),
		.levels = guest_image_u32(g, g->l5_enabled, 0) ? 5 : 4,
	};
	int ret = ktables_directory(&t, REGION, pa);

	return ret ? ret : machine_read(g->m, *pa, entry, NR_ENTRIES * sizeof(*entry));
}

/* Bit that forbids execution, 0 when this CPU does not know it. The machine is paused. */
static int nx_find(struct guest_kernel *g, uint64_t *nx)
{
	struct machine_sregs s;
	int ret = machine_get_sregs(g->m, 0, &s);

	*nx = s.efer & EFER_NXE ? PTE_NX : 0;
	return ret;
}

static bool run_is_free(const uint64_t *entry, unsigned int first, unsigned int n)
{
	for (unsigned int i = first; i < first + n; i++) {
		if (entry[i])
			return false;
	}
	return true;
}

/* First entry of the highest free run that begins at from or below: -1 when there is none. */
static int run_find(const uint64_t *entry, unsigned int from, unsigned int n)
{
	for (unsigned int first = from; first >= SLOT_LOW; first--) {
		if (run_is_free(entry, first, n))
			return (int)first;
	}
	return -1;
}

/*
 * Any of it is within 2 GiB of the kernel's text and modules: all lie in the last 2 GiB. Each
 * window has addresses of its own, in case that those of one before are still in some TLB.
 */
static int slot_choose(const uint64_t *entry, unsigned int n)
{
	unsigned int top = SLOT_HIGH - n;
	int slot = run_find(entry, top - arc4random_uniform(SLOT_SPREAD), n);

	return slot < 0 ? run_find(entry, top, n) : slot;
}

static void table_fill(uint64_t entry[NR_ENTRIES], uint64_t piece_pa, uint64_t nx)
{
	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		uint64_t off = i * UINT64_C(4096);

		entry[i] = (piece_pa + off) | PTE_PRESENT | PTE_ACCESSED;
		if (off - WINDOW_TEXT >= WINDOW_TEXT_SIZE)
			entry[i] |= PTE_WRITE | PTE_DIRTY | nx;
	}
}

static void directory_fill(uint64_t *entry, const struct payload_header *h, uint64_t nx)
{
	/* What is allowed is the first piece's page table's to say. */
	entry[0] = (h->piece_pa[0] + WINDOW_TABLE) | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED;
	for (uint32_t i = 1; i < h->nr_pieces; i++)
		entry[i] = h->piece_pa[i] | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY |
			   PTE_PS | nx;
}

/* The header and the table are there before the guest, or a later tracer, can come upon them. */
static int window_fill(struct window *w, uint64_t nx)
{
	uint64_t table[NR_ENTRIES];
	int ret = window_write(w, WINDOW_HEADER, &w->header, sizeof(w->header));

	table_fill(table, w->header.piece_pa[0], nx);
	return ret ? ret : window_write(w, WINDOW_TABLE, table, sizeof(table));
}

static int map_paused(struct window *w, char *err, size_t errlen)
{
	struct payload_header *h = &w->header;
	uint64_t entry[NR_ENTRIES], dir, nx;
	int ret = directory_read(w->g, entry, &dir), slot;

	if (!ret)
		ret = nx_find(w->g, &nx);
	if (ret) {
		snprintf(err, errlen, "the guest's page tables cannot be read: %s", strerror(-ret));
		return ret;
	}
	slot = slot_choose(entry, h->nr_pieces);
	if (slot < 0) {
		snprintf(err, errlen,
			 "the guest's kernel leaves no %llu MiB of addresses free near its text",
			 (unsigned long long)h->size >> 20);
		return -ENOSPC;
	}
	h->va = REGION + (uint64_t)slot * WINDOW_PIECE;
	w->slot_pa = dir + (uint64_t)slot * sizeof(*entry);
	directory_fill(entry, h, nx);
	ret = window_fill(w, nx);
	if (!ret)
		ret = machine_write(w->g->m, w->slot_pa, entry, h->nr_pieces * sizeof(*entry));
	w->mapped = !ret;
	if (ret)
		snprintf(err, errlen, "the window cannot be mapped: %s", strerror(-ret));
	return ret;
}

static int unmap(struct window *w)
{
	static const uint64_t none[WINDOW_MAX_PIECES];
	int ret;

	machine_pause(w->g->m);
	ret = machine_write(w->g->m, w->slot_pa, none,
			    w->header.size / WINDOW_PIECE * sizeof(*none));
	machine_resume(w->g->m);
	w->mapped = ret;
	return ret;
}

/* --- opening and closing ------------------------------------------------------------------------
 */

int window_open(struct window *w, struct guest_kernel *g, struct borrow *b, size_t size, char *err,
		size_t errlen)
{
	char ignored[256];
	int ret;

	*w = (struct window){
		.g = g,
		.header = {.magic = PAYLOAD_MAGIC, .size = size},
	};
	if (!size || size % WINDOW_PIECE || size / WINDOW_PIECE > WINDOW_MAX_PIECES) {
		snprintf(err, errlen, "a window has 2 to %d MiB, in steps of 2: %zu bytes are none",
			 WINDOW_MAX_PIECES * (WINDOW_PIECE >> 20), size);
		return -EINVAL;
	}
	ret = b ? pieces_borrow(w, b, err, errlen) : pieces_own(w, err, errlen);
	if (ret)
		return ret;
	ret = b ? pieces_clear(w) : 0;
	if (ret) {
		snprintf(err, errlen, "the guest's memory cannot be written: %s", strerror(-ret));
	} else {
		machine_pause(g->m);
		ret = map_paused(w, err, errlen);
		machine_resume(g->m);
	}
	if (ret && b)
		pieces_return(w, b, 0, BORROW_ANY, CLOSE_MS, ignored, sizeof(ignored));
	return ret;
}

/*
 * Flushing waits for the other CPUs, which only a task may. Without one the memory goes back all
 * the same: what some TLB may still have is an address that nothing in the guest uses.
 */
int window_close(struct window *w, struct borrow *b, char *err, size_t errlen)
{
	static const char no_magic[sizeof(w->header.magic)];
	uint64_t flush;
	int ret = w->mapped ? unmap(w) : 0;

	if (ret) {
		snprintf(err, errlen, "the window cannot be unmapped: %s", strerror(-ret));
		return ret;
	}
	/* What the guest gets back does not look like a window. */
	ret = window_write(w, WINDOW_HEADER, no_magic, sizeof(no_magic));
	if (ret) {
		snprintf(err, errlen, "the window cannot be written: %s", strerror(-ret));
		return ret;
	}
	if (!w->header.borrowed || !b)
		return 0; /* our own machine's, whatever the guest has written into the header */
	flush = function_of(b, "flush_tlb_kernel_range", "flush_tlb_all");
	ret = pieces_return(w, b, flush, BORROW_TASK, TASK_MS, err, errlen);
	if (ret == -ETIMEDOUT)
		ret = pieces_return(w, b, 0, BORROW_ANY, CLOSE_MS, err, errlen);
	return ret;
}

/* --- finding ------------------------------------------------------------------------------------
 */

/* All of a header that another check does not look at. */
static bool header_is_sane(const struct payload_header *h)
{
	if (memcmp(h->magic, PAYLOAD_MAGIC, sizeof(h->magic)) || h->borrowed > 1)
		return false;
	if (!h->nr_pieces || h->nr_pieces > WINDOW_MAX_PIECES ||
	    h->size != (uint64_t)h->nr_pieces * WINDOW_PIECE)
		return false;
	/* What the tracer fills in later may be 0. */
	if (h->nr_vcpus > MACHINE_MAX_VCPUS || h->ring_size & (h->ring_size - 1) ||
	    (uint64_t)h->ring_size * h->nr_vcpus > h->size - WINDOW_RINGS)
		return false;
	if (h->text_size > WINDOW_TEXT_SIZE || h->nr_edges > sizeof(h->edge) / sizeof(h->edge[0]))
		return false;
	for (uint32_t i = 0; i < h->nr_edges; i++) {
		if (h->edge[i].from > h->edge[i].to || h->edge[i].to > h->text_size)
			return false;
	}
	return true;
}

static bool entries_match(const uint64_t *have, const uint64_t *want, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if ((have[i] ^ want[i]) & ~PTE_SET_BY_CPU)
			return false;
	}
	return true;
}

/* Each piece is RAM, another one than those before, and what its address stands for. */
static bool pieces_are_sane(struct window *w, const struct payload_header *h)
{
	for (uint32_t i = 0; i < h->nr_pieces; i++) {
		uint64_t pa, word;

		if (h->piece_pa[i] & ~PTE_ADDR || h->piece_pa[i] % WINDOW_PIECE)
			return false;
		if (machine_read(w->g->m, h->piece_pa[i] + WINDOW_PIECE - sizeof(word), &word,
				 sizeof(word)))
			return false;
		if (h->borrowed &&
		    (guest_translate(w->g, h->piece_va[i], &pa) || pa != h->piece_pa[i]))
			return false;
		for (uint32_t j = 0; j < i; j++) {
			if (h->piece_pa[i] == h->piece_pa[j])
				return false;
		}
	}
	return true;
}

/* Is there a window whose first entry this is? Then w->header is its. */
static bool window_is_at(struct window *w, const uint64_t *entry, unsigned int slot, uint64_t nx)
{
	uint64_t piece = (entry[slot] & PTE_ADDR) - WINDOW_TABLE;
	uint64_t have[NR_ENTRIES], want[NR_ENTRIES];
	struct payload_header h;

	if (!(entry[slot] & PTE_PRESENT) || entry[slot] & PTE_PS || piece % WINDOW_PIECE)
		return false;
	if (machine_read(w->g->m, piece + WINDOW_HEADER, &h, sizeof(h)) ||
	    machine_read(w->g->m, piece + WINDOW_TABLE, have, sizeof(have)))
		return false;
	if (!header_is_sane(&h) || h.va != REGION + (uint64_t)slot * WINDOW_PIECE ||
	    slot + h.nr_pieces > SLOT_HIGH || h.piece_pa[0] != piece || !pieces_are_sane(w, &h))
		return false;
	table_fill(want, piece, nx);
	if (!entries_match(have, want, NR_ENTRIES))
		return false;
	directory_fill(want, &h, nx);
	if (!entries_match(&entry[slot], want, h.nr_pieces))
		return false;
	w->header = h;
	return true;
}

int window_find(struct window *w, struct guest_kernel *g)
{
	uint64_t entry[NR_ENTRIES], dir, nx;
	int ret = directory_read(g, entry, &dir);

	if (!ret)
		ret = nx_find(g, &nx);
	if (ret)
		return ret;
	*w = (struct window){.g = g};
	for (unsigned int slot = SLOT_LOW; slot < SLOT_HIGH; slot++) {
		if (!window_is_at(w, entry, slot, nx))
			continue;
		w->slot_pa = dir + slot * sizeof(*entry);
		w->mapped = true;
		return 0;
	}
	return -ENOENT;
}
