// SPDX-License-Identifier: GPL-2.0-or-later
/* orc.c - see orc.h */
#include "tracer/unwind/orc.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(sizeof(struct orc_entry) == 6, "as in the kernel's array");

#define BLOCK_SHIFT 8 /* a block holds some three addresses on average */
#define KIND_SHIFT  8
#define BIT_10	    (1u << 10) /* end up to 6.2, signal in 6.3, of the kind since 6.4 */
#define BIT_11	    (1u << 11) /* nothing up to 6.2, end in 6.3, signal since 6.4 */

int orc_table_alloc(struct orc_table *t, size_t nr)
{
	*t = (struct orc_table){.nr = nr};
	t->ip = calloc(nr ? nr : 1, sizeof(*t->ip));
	t->entries = calloc(nr ? nr : 1, sizeof(*t->entries));
	if (t->ip && t->entries)
		return 0;
	orc_table_free(t);
	return -ENOMEM;
}

void orc_table_free(struct orc_table *t)
{
	free(t->ip);
	free(t->entries);
	free(t->index);
	*t = (struct orc_table){0};
}

static uint64_t address(const struct orc_table *t, uint64_t ip_va, size_t i)
{
	return ip_va + i * sizeof(*t->ip) + (uint64_t)(int64_t)(int32_t)t->ip[i];
}

static int make_index(struct orc_table *t)
{
	size_t blocks = (t->ip[t->nr - 1] >> BLOCK_SHIFT) + 2, i = 0;

	if (blocks > t->nr)
		return 0;
	t->index = malloc(blocks * sizeof(*t->index));
	if (!t->index)
		return -ENOMEM;
	t->blocks = blocks;
	for (size_t b = 0; b < blocks; b++) {
		while (i < t->nr && t->ip[i] <= (uint64_t)b << BLOCK_SHIFT)
			i++;
		t->index[b] = (uint32_t)i;
	}
	return 0;
}

int orc_table_ready(struct orc_table *t, uint64_t ip_va)
{
	uint64_t last = 0;

	if (!t->nr)
		return -EINVAL;
	t->base = address(t, ip_va, 0);
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t off = address(t, ip_va, i) - t->base;

		if (off < last || off > UINT32_MAX)
			return -EINVAL;
		t->ip[i] = (uint32_t)off;
		last = off;
	}
	return make_index(t);
}

enum orc_layout orc_layout(const struct orc_entry *entries, size_t nr)
{
	size_t calls = 0;
	bool bit_11 = false;

	for (size_t i = 0; i < nr; i++) {
		calls += (entries[i].flags >> KIND_SHIFT & 7) == ORC_KIND_CALL;
		bit_11 |= entries[i].flags & BIT_11;
	}
	if (calls > nr / 2)
		return ORC_LAYOUT_6_4;
	return bit_11 ? ORC_LAYOUT_6_3 : ORC_LAYOUT_4_14;
}

/* Before 6.4 a frame without a stack pointer was the end, or unknown. */
static void old_kind(struct orc_row *row, uint16_t flags, uint16_t end)
{
	if (row->sp_reg == ORC_REG_UNDEFINED)
		row->kind = flags & end ? ORC_KIND_END : ORC_KIND_UNDEFINED;
	else
		row->kind = ORC_KIND_CALL + (flags >> KIND_SHIFT & 3);
}

static void row_read(struct orc_row *row, const struct orc_entry *e, enum orc_layout layout)
{
	row->sp_offset = e->sp_offset;
	row->bp_offset = e->bp_offset;
	row->sp_reg = e->flags & 15;
	row->bp_reg = e->flags >> 4 & 15;
	switch (layout) {
	case ORC_LAYOUT_4_14:
		old_kind(row, e->flags, BIT_10);
		row->signal = row->kind != ORC_KIND_CALL;
		break;
	case ORC_LAYOUT_6_3:
		old_kind(row, e->flags, BIT_11);
		row->signal = e->flags & BIT_10;
		break;
	case ORC_LAYOUT_6_4:
		row->kind = e->flags >> KIND_SHIFT & 7;
		row->signal = e->flags & BIT_11;
		break;
	}
}

/* How many addresses are not above this one. */
static size_t count_up_to(const struct orc_table *t, uint64_t off)
{
	size_t lo = 0, hi = t->nr, block = (size_t)(off >> BLOCK_SHIFT);

	if (t->blocks && block + 1 >= t->blocks)
		return t->nr;
	if (t->blocks) {
		lo = t->index[block];
		hi = t->index[block + 1];
	}
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->ip[mid] <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool orc_find(const struct orc_table *t, uint64_t ip, struct orc_row *row)
{
	if (!t->nr || ip < t->base)
		return false;
	row_read(row, &t->entries[count_up_to(t, ip - t->base) - 1], t->layout);
	return true;
}
