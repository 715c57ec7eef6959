// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map.c - maps a window into the guest's kernel, and finds one that is mapped.
 *
 * The kernel's last GiB but one, from 0xffffffffc0000000 on, is mapped by one page directory that
 * all page tables share: with page table isolation all of the kernel's halves. Modules take it from
 * its beginning, the fixmap lies at its end, and between them it is empty. There each piece gets an
 * entry. The first piece is mapped by a page table, because its pages differ in what may be done to
 * them; the others are large pages (Intel SDM vol. 3, 4.5). The kernel looks at its page tables
 * through its direct map (CONFIG_DEBUG_WX walks all of them at the end of the boot), so that one
 * lies in memory that is in there: in the first piece when that is borrowed, else in a page that
 * the machine has reserved.
 *
 * An entry that becomes present needs no flush: a CPU does not remember one that is not. One that
 * goes does need it, so the guest is asked for that before it gets its memory back.
 */
#include "tracer/window/internal.h"
#include "tracer/guest/ktables.h"

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

/* The code of WINDOW_TEXT, and what has moved: a guest's check finds none that can be written. */
static bool is_code(uint64_t off)
{
	return off - WINDOW_TEXT < WINDOW_TEXT_SIZE ||
	       off - WINDOW_MOVED_TEXT < MOVED_ROWS * MOVED_SIZE;
}

static void table_fill(uint64_t entry[NR_ENTRIES], uint64_t piece_pa, uint64_t nx)
{
	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		uint64_t off = i * UINT64_C(4096);

		entry[i] = (piece_pa + off) | PTE_PRESENT | PTE_ACCESSED;
		if (!is_code(off))
			entry[i] |= PTE_WRITE | PTE_DIRTY | nx;
	}
}

static void directory_fill(uint64_t *entry, const struct payload_header *h, uint64_t table_pa,
			   uint64_t nx)
{
	/* What is allowed is the first piece's page table's to say. */
	entry[0] = table_pa | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED;
	for (uint32_t i = 1; i < h->nr_pieces; i++)
		entry[i] = h->piece_pa[i] | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY |
			   PTE_PS | nx;
}

int window_place(struct window *w, unsigned int n, char *err, size_t errlen)
{
	uint64_t entry[NR_ENTRIES], dir;
	int ret = directory_read(w->g, entry, &dir), slot;

	if (!ret)
		ret = nx_find(w->g, &w->nx);
	if (ret) {
		snprintf(err, errlen, "the guest's page tables cannot be read: %s", strerror(-ret));
		return ret;
	}
	slot = slot_choose(entry, n);
	if (slot < 0) {
		snprintf(err, errlen,
			 "the guest's kernel leaves no %u MiB of addresses free near its text",
			 n * (WINDOW_PIECE >> 20));
		return -ENOSPC;
	}
	w->header.va = REGION + (uint64_t)slot * WINDOW_PIECE;
	w->slot_pa = dir + (uint64_t)slot * sizeof(*entry);
	return 0;
}

static int table_write(struct window *w)
{
	uint64_t table[NR_ENTRIES];

	table_fill(table, w->header.piece_pa[0], w->nx);
	return machine_write(w->g->m, w->table_pa, table, sizeof(table));
}

/* The header and the table are there before the guest, or a later tracer, can come upon them. */
int window_map(struct window *w, uint32_t from, char *err, size_t errlen)
{
	const struct payload_header *h = &w->header;
	uint64_t entry[WINDOW_MAX_PIECES];
	int ret = window_header_write(w);

	directory_fill(entry, h, w->table_pa, w->nx);
	if (!ret && !from)
		ret = table_write(w);
	if (!ret)
		ret = machine_write(w->g->m, w->slot_pa + from * sizeof(*entry), entry + from,
				    (h->nr_pieces - from) * sizeof(*entry));
	w->mapped = from || !ret;
	if (ret)
		snprintf(err, errlen, "the window cannot be mapped: %s", strerror(-ret));
	return ret;
}

int window_unmap(struct window *w, uint32_t from, uint32_t to)
{
	static const uint64_t none[WINDOW_MAX_PIECES];
	int ret = machine_write(w->g->m, w->slot_pa + from * sizeof(*none), none,
				(to - from) * sizeof(*none));

	w->mapped = from || ret;
	return ret;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Where in the code there is something; 0: it has none. */
static bool offsets_are_sane(const struct payload_header *h)
{
	if (h->exit >= WINDOW_TEXT_SIZE || h->exit_all >= WINDOW_TEXT_SIZE ||
	    h->work >= WINDOW_TEXT_SIZE)
		return false;
	for (size_t i = 0; i < PAYLOAD_DETOURS; i++) {
		const struct payload_detour *d = &h->detour[i];

		if (d->entry >= WINDOW_TEXT_SIZE || d->rest > WINDOW_TEXT_SIZE - DETOUR_REST ||
		    d->size > DETOUR_INSNS)
			return false;
	}
	return true;
}

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
	if (!offsets_are_sane(h) || h->text_size > WINDOW_TEXT_SIZE ||
	    h->nr_edges > sizeof(h->edge) / sizeof(h->edge[0]))
		return false;
	/* One without an end is none: whoever wrote it has died in the midst of the header. */
	for (uint32_t i = 0; i < h->nr_edges; i++) {
		if (h->edge[i].to &&
		    (h->edge[i].from > h->edge[i].to || h->edge[i].to > h->text_size))
			return false;
	}
	return true;
}

static bool entry_matches(uint64_t have, uint64_t want)
{
	return !((have ^ want) & ~PTE_SET_BY_CPU);
}

static bool table_matches(const uint64_t *have, const uint64_t *want)
{
	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		if (!entry_matches(have[i], want[i]))
			return false;
	}
	return true;
}

/* One that was about to come, or to go, when its tracer died is the window's though not mapped. */
static bool directory_matches(const uint64_t *have, const uint64_t *want, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!entry_matches(have[i], want[i]) && (!i || have[i]))
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
	uint64_t table = entry[slot] & PTE_ADDR, piece;
	uint64_t have[NR_ENTRIES], want[NR_ENTRIES];
	struct payload_header h;

	if (!(entry[slot] & PTE_PRESENT) || entry[slot] & PTE_PS ||
	    machine_read(w->g->m, table, have, sizeof(have)))
		return false;
	piece = have[0] & PTE_ADDR;
	if (piece % WINDOW_PIECE || machine_read(w->g->m, piece + WINDOW_HEADER, &h, sizeof(h)))
		return false;
	if (h.borrowed && table != piece + WINDOW_TABLE)
		return false;
	if (!header_is_sane(&h) || h.va != REGION + (uint64_t)slot * WINDOW_PIECE ||
	    slot + h.nr_pieces > SLOT_HIGH || h.piece_pa[0] != piece || !pieces_are_sane(w, &h))
		return false;
	table_fill(want, piece, nx);
	if (!table_matches(have, want))
		return false;
	directory_fill(want, &h, table, nx);
	if (!directory_matches(&entry[slot], want, h.nr_pieces))
		return false;
	w->header = h;
	w->table_pa = table;
	w->nx = nx;
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
