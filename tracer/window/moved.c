// SPDX-License-Identifier: GPL-2.0-or-later
/* moved.c - see moved.h */
#include "tracer/window/moved.h"
#include "tracer/guest/site.h"
#include "tracer/payload/record.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(SITE_SIZE <= MOVED_MAX, "a jump fits");

/* It was read from the guest's memory. */
static bool makes_sense(const struct payload_moved *r)
{
	if (!r->at || r->size < SITE_SIZE || r->size > MOVED_MAX || r->places > MOVED_PLACES)
		return false;
	for (uint8_t i = 0; i < r->places; i++)
		if (r->from[i] > r->size || r->to[i] >= MOVED_SIZE)
			return false;
	return true;
}

int moved_read(struct window *w, struct moved *m)
{
	int ret = window_read(w, WINDOW_MOVED, m->row, sizeof(m->row));

	m->va = w->header.va + WINDOW_MOVED_TEXT;
	m->nr = 0;
	for (size_t i = 0; i < MOVED_ROWS && !ret; i++) {
		if (makes_sense(&m->row[i]))
			m->nr = i + 1;
		else
			m->row[i] = (struct payload_moved){0};
	}
	return ret;
}

/* The rows last, so that a later tracer finds no row without its code. */
int moved_write(struct window *w, const struct moved *m, const uint8_t *code)
{
	int ret = window_write_text(w, WINDOW_MOVED_TEXT, code, m->nr * MOVED_SIZE);

	return ret ? ret : window_write(w, WINDOW_MOVED, m->row, m->nr * sizeof(m->row[0]));
}

static uint64_t row_va(const struct payload_moved *r)
{
	return KERNEL_HALF | r->at;
}

uint64_t moved_home(const struct moved *m, uint64_t ip)
{
	uint64_t off = ip - m->va;
	const struct payload_moved *r;

	if (off / MOVED_SIZE >= m->nr)
		return 0;
	r = &m->row[off / MOVED_SIZE];
	for (uint8_t i = 0; r->at && i < r->places; i++)
		if (r->to[i] == off % MOVED_SIZE)
			return row_va(r) + r->from[i];
	return 0;
}

uint64_t moved_to(const struct moved *m, uint64_t va)
{
	size_t lo = 0, hi = m->nr;
	uint64_t off;

	while (lo < hi) { /* the first that is behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (row_va(&m->row[mid]) <= va)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	off = va - row_va(&m->row[lo - 1]);
	for (uint8_t i = 0; off && off < m->row[lo - 1].size && i < m->row[lo - 1].places; i++)
		if (m->row[lo - 1].from[i] == off)
			return moved_code(m, lo - 1) + m->row[lo - 1].to[i];
	return 0;
}

void moved_jump(const struct moved *m, size_t row, uint8_t insn[SITE_SIZE])
{
	site_call_make(insn, row_va(&m->row[row]), moved_code(m, row));
	insn[0] = INSN_JMP;
}
