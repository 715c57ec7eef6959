// SPDX-License-Identifier: GPL-2.0-or-later
/* places.c - see places.h */
#include "frontend/join/places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* __START_KERNEL_map to MODULES_END of the kernel's asm/page_64_types.h and pgtable_64_types.h. */
#define TEXT_START UINT64_C(0xffffffff80000000)
#define TEXT_END   UINT64_C(0xffffffffff000000)
#define HOLE	   UINT64_C(0xffffff8000000000)
#define ROOM	   (UINT64_C(4) << 30)
#define ROOM_OTHER (UINT64_C(2) << 30) /* from there on: other formats */
#define OTHER_SIZE 8

enum { OTHER_MAX = 1 << 20 };

/* --- moving ----------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t place_of(const struct place_move *m, uint64_t addr)
{
	const uint64_t *other;

	if (!m->base)
		return addr;
	if (addr >= TEXT_START && addr < TEXT_END)
		return m->base + (addr - TEXT_START);
	other = m->nr_other ? bsearch(&addr, m->other, m->nr_other, sizeof(*m->other), by_number)
			    : NULL;
	return other ? m->base + ROOM_OTHER + (uint64_t)(other - m->other) * OTHER_SIZE : addr;
}

void place_move_exit(struct place_move *m)
{
	free(m->other);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Each line that begins with an address: what stands behind that. 0 or a negative errno. */
static int each_line(const struct dat_text *text,
		     int (*see)(void *arg, uint64_t addr, const char *rest, size_t len), void *arg)
{
	const char *at = text->text, *end = at ? at + strnlen(at, text->len) : NULL;
	int rc = 0;

	while (at < end && !rc) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		const char *stop = eol ? eol : end;
		char *rest;
		uint64_t addr;

		errno = 0;
		addr = strtoull(at, &rest, 16);
		if (!errno && rest > at && rest < stop)
			rc = see(arg, addr, rest, (size_t)(stop - rest));
		at = stop + 1;
	}
	return rc;
}

struct writing {
	const struct place_move *m;
	struct text *to;
	uint64_t last; /* address of a symbol */
};

/* What is neither text nor a module, such as offsets of variables of each CPU, is not asked for. */
static int write_symbol(void *arg, uint64_t addr, const char *rest, size_t len)
{
	struct writing *w = arg;

	if (addr < TEXT_START || addr >= TEXT_END)
		return 0;
	addr = place_of(w->m, addr);
	text_printf(w->to, "%016" PRIx64 "%.*s\n", addr, (int)len, rest);
	if (addr > w->last)
		w->last = addr;
	return w->to->failed ? -ENOMEM : 0;
}

static int write_format(void *arg, uint64_t addr, const char *rest, size_t len)
{
	const struct writing *w = arg;

	text_printf(w->to, "0x%" PRIx64 "%.*s\n", place_of(w->m, addr), (int)len, rest);
	return w->to->failed ? -ENOMEM : 0;
}

static int note_other(void *arg, uint64_t addr, const char *rest, size_t len)
{
	struct place_move *m = arg;
	uint64_t *more;

	(void)rest;
	(void)len;
	if ((addr >= TEXT_START && addr < TEXT_END) || m->nr_other == OTHER_MAX)
		return 0;
	if (!(m->nr_other & (m->nr_other - 1))) {
		more = reallocarray(m->other, m->nr_other ? 2 * m->nr_other : 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->other = more;
	}
	m->other[m->nr_other++] = addr;
	return 0;
}

/* A line each, also the last one. */
static int copy(const struct dat_text *from, struct text *to)
{
	size_t len = from->text ? strnlen(from->text, from->len) : 0;

	text_add(to, from->text, len);
	if (len && from->text[len - 1] != '\n')
		text_putc(to, '\n');
	return to->failed ? -ENOMEM : 0;
}

static int write_formats(struct places *p, const struct dat_info *info, const struct place_move *m)
{
	struct writing formats = {.m = m, .to = &p->formats};

	return place_moves(m) ? each_line(&info->printk_formats, write_format, &formats)
			      : copy(&info->printk_formats, &p->formats);
}

/*
 * What lies behind the last symbol of all has no name for readers. In a file of several guests
 * there are others' behind it, and it would get that of the last one before.
 */
static int write_symbols(struct places *p, const struct dat_info *info, const struct place_move *m,
			 struct place_texts *texts)
{
	struct writing symbols = {.m = m, .to = &p->symbols};
	int rc = place_moves(m) ? each_line(&info->kallsyms, write_symbol, &symbols)
				: copy(&info->kallsyms, &p->symbols);

	texts->symbols_len = p->symbols.len - texts->symbols;
	if (symbols.last)
		text_printf(&p->symbols, "%016" PRIx64 " t [unknown]\n", symbols.last + 1);
	return p->symbols.failed ? -ENOMEM : rc;
}

/* --- places ----------------------------------------------------------------------------------- */

static uint64_t sum_of(uint64_t h, const struct dat_text *text)
{
	for (size_t i = 0; i < text->len; i++)
		h = (h ^ (uint8_t)text->text[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	return h;
}

/* The number of a place, from nr on, of who may say the same, or of a new one. */
static size_t find_place(const struct places *p, const struct place *place, size_t nr)
{
	while (nr < p->nr && (p->place[nr].sum != place->sum || p->place[nr].len != place->len))
		nr++;
	return nr;
}

static int prepare_move(struct place_move *m, size_t nr, const struct dat_info *info)
{
	int rc;

	if (!nr)
		return 0;
	m->base = HOLE + (nr - 1) * ROOM;
	rc = each_line(&info->printk_formats, note_other, m);
	if (m->nr_other)
		qsort(m->other, m->nr_other, sizeof(*m->other), by_number);
	return rc;
}

/* Behind what there is of others, as it is in place nr. */
static int write_texts(struct places *p, const struct dat_info *info, size_t nr,
		       struct place_texts *texts, struct place_move *m)
{
	int rc;

	*m = (struct place_move){0};
	*texts = (struct place_texts){.symbols = p->symbols.len, .formats = p->formats.len};
	rc = prepare_move(m, nr, info);
	if (!rc)
		rc = write_symbols(p, info, m, texts);
	if (!rc)
		rc = write_formats(p, info, m);
	texts->formats_len = p->formats.len - texts->formats;
	return rc;
}

static bool are_same(const struct text *all, uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a_len == b_len && (!a_len || !memcmp(all->buf + a, all->buf + b, a_len));
}

/* Sums may be made to be the same: what was written last is compared, and taken back. */
static bool says_the_same(struct places *p, const struct place_texts *a,
			  const struct place_texts *last)
{
	bool same =
		are_same(&p->symbols, a->symbols, a->symbols_len, last->symbols,
			 last->symbols_len) &&
		are_same(&p->formats, a->formats, a->formats_len, last->formats, last->formats_len);

	p->symbols.len = last->symbols;
	p->formats.len = last->formats;
	return same;
}

int places_add(struct places *p, const struct dat_info *info, struct place_texts *texts,
	       struct place_move *m)
{
	const uint64_t sum = sum_of(sum_of(UINT64_C(0xcbf29ce484222325), &info->kallsyms),
				    &info->printk_formats);
	struct place place = {.sum = sum, .len = info->kallsyms.len + info->printk_formats.len};

	for (size_t nr = find_place(p, &place, 0);; nr = find_place(p, &place, nr + 1)) {
		int rc = write_texts(p, info, nr, &place.texts, m);

		*texts = place.texts;
		if (rc)
			return rc;
		if (nr == p->nr) {
			p->place[p->nr++] = place;
			return 0;
		}
		*texts = p->place[nr].texts;
		if (says_the_same(p, texts, &place.texts))
			return 0;
		place_move_exit(m);
	}
}

void places_exit(struct places *p)
{
	text_free(&p->symbols);
	text_free(&p->formats);
}
