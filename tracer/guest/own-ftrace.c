// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own-ftrace.c - walks the kernel's list of pages of records, one for each site
 * (kernel/trace/ftrace.c, ftrace_pages_start, 6.1 and 6.12). Those of modules come and go
 * meanwhile: what is read then are sites that nobody asks for.
 */
#include "tracer/guest/own-ftrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX   (1U << 16)
#define RECORDS_MAX (1U << 20)
#define RECORD_MAX  64	/* bytes; 24 in 6.1 and 6.12 */
#define BATCH	    512 /* records */

/*
 * include/linux/ftrace.h: the low bits count callbacks, 23 of them in 6.1 and 19 in 6.12. The bits
 * between were of the count before they had a meaning, which takes half a million callbacks.
 */
#define CALLBACKS ((UINT32_C(1) << 19) - 1)
#define REGS	  (UINT32_C(1) << 30)
#define IPMODIFY  (UINT32_C(1) << 26)
#define DIRECT	  (UINT32_C(1) << 24)
#define CALL_OPS  (UINT32_C(1) << 22)
#define TOUCHED	  (UINT32_C(1) << 20)
#define MODIFIED  (UINT32_C(1) << 19)

struct site_layout {
	uint32_t next, records, index; /* in struct ftrace_page */
	uint32_t ip, flags, size;      /* of struct dyn_ftrace */
};

struct own_walk {
	struct guest_kernel *g;
	struct site_layout at;
	unsigned int left; /* records that may still be read */
	struct own_sites *to;
};

static int layout_learn(struct site_layout *at, const struct guestsym *gs)
{
	const struct {
		const char *path;
		uint32_t *to;
	} fields[] = {
		{"ftrace_page.next", &at->next},   {"ftrace_page.records", &at->records},
		{"ftrace_page.index", &at->index}, {"dyn_ftrace.ip", &at->ip},
		{"dyn_ftrace.flags", &at->flags},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct guestsym_field f;

		if (guestsym_field(gs, fields[i].path, &f))
			return -ENODATA;
		*fields[i].to = (uint32_t)f.offset;
	}
	if (guestsym_type_size(gs, "dyn_ftrace", &at->size) || at->size > RECORD_MAX ||
	    at->size < sizeof(uint64_t) || at->ip > at->size - sizeof(uint64_t) ||
	    at->flags > at->size - sizeof(uint64_t))
		return -ENODATA;
	return 0;
}

static int add(struct own_sites *to, uint64_t va, uint32_t flags)
{
	/* A power of two: there is no room left. */
	if (!(to->n & (to->n - 1))) {
		struct own_site *v = realloc(to->v, (to->n ? 2 * to->n : 1) * sizeof(*v));

		if (!v)
			return -ENOMEM;
		to->v = v;
	}
	to->v[to->n++] = (struct own_site){
		.va = va,
		.callbacks = flags & CALLBACKS,
		.regs = flags & REGS,
		.ipmodify = flags & IPMODIFY,
		.direct = flags & DIRECT,
		.call_ops = flags & CALL_OPS,
		.touched = flags & TOUCHED,
		.modified = flags & MODIFIED,
	};
	return 0;
}

static int read_batch(struct own_walk *w, uint64_t va, unsigned int n)
{
	uint8_t raw[BATCH * RECORD_MAX];
	int ret = 0;

	if (guest_read(w->g, va, raw, (size_t)n * w->at.size))
		return -EFAULT;
	for (unsigned int i = 0; i < n && !ret; i++) {
		const uint8_t *record = raw + (size_t)i * w->at.size;
		uint64_t ip, flags;

		memcpy(&ip, record + w->at.ip, sizeof(ip));
		memcpy(&flags, record + w->at.flags, sizeof(flags));
		if (flags & (CALLBACKS | TOUCHED))
			ret = add(w->to, ip, (uint32_t)flags);
	}
	return ret;
}

static int read_records(struct own_walk *w, uint64_t va, uint32_t n)
{
	int ret = 0;

	if (n > w->left)
		return -E2BIG;
	w->left -= n;
	for (unsigned int part; n && !ret; n -= part, va += (uint64_t)part * w->at.size) {
		part = n < BATCH ? n : BATCH;
		ret = read_batch(w, va, part);
	}
	return ret;
}

static int walk(struct own_walk *w, uint64_t page)
{
	for (unsigned int i = 0; page; i++) {
		uint64_t records, next;
		uint32_t n;
		int ret;

		if (i == PAGES_MAX)
			return -E2BIG;
		if (guest_read(w->g, page + w->at.next, &next, sizeof(next)) ||
		    guest_read(w->g, page + w->at.records, &records, sizeof(records)) ||
		    guest_read(w->g, page + w->at.index, &n, sizeof(n)))
			return -EFAULT;
		ret = read_records(w, records, n);
		if (ret)
			return ret;
		page = next;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct own_site *x = a, *y = b;

	return x->va < y->va ? -1 : x->va > y->va;
}

int own_sites_read(struct guest_kernel *g, const struct guestsym *gs, struct own_sites *to)
{
	struct own_walk w = {.g = g, .left = RECORDS_MAX, .to = to};
	uint64_t first = guestsym_addr(gs, "ftrace_pages_start"), page;
	int ret = first ? layout_learn(&w.at, gs) : -ENODATA;

	if (ret)
		return ret;
	*to = (struct own_sites){0};
	ret = guest_read(g, first + g->slide, &page, sizeof(page)) ? -EFAULT : walk(&w, page);
	if (ret) {
		own_sites_free(to);
		return ret;
	}
	if (to->n)
		qsort(to->v, to->n, sizeof(*to->v), by_address);
	return 0;
}

const struct own_site *own_sites_find(const struct own_sites *s, uint64_t va)
{
	const struct own_site key = {.va = va};

	return s->n ? bsearch(&key, s->v, s->n, sizeof(*s->v), by_address) : NULL;
}

void own_sites_free(struct own_sites *s)
{
	free(s->v);
	*s = (struct own_sites){0};
}
