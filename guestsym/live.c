// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live.c - the fentry sites of a booted kernel, which has them in a list (ftrace_pages_start)
 * because the image's table of them was init data.
 *
 * The list is guest memory, read while the guest may be running: whatever it says, walking it ends,
 * and what is no part of the kernel image is left out.
 */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>

#define PAGES_MAX   (1 << 16)
#define SITES_MAX   (1 << 20)
#define RECORDS_MAX (8 << 20) /* bytes; the page allocator has no more than 4 MB in a piece */
#define STRUCT_MAX  64	      /* both structs have 24 bytes */

/* include/linux/ftrace.h; since 6.0 the mark of what belongs to an overridden weak function */
#define FTRACE_FL_DISABLED (UINT64_C(1) << 25)

/* --- fentry sites ------------------------------------------------------------------------ */

/* struct ftrace_page and struct dyn_ftrace of kernel/trace/ftrace.c */
struct page_layout {
	struct guestsym_field next, records, index, ip, flags;
	uint32_t page_size, record_size;
};

struct page {
	uint64_t next, records;
	uint32_t n;
};

struct site_walk {
	const struct guestsym_memory *mem;
	const struct symbols *s;
	struct page_layout at;
	struct fentry *f;
	size_t room;	 /* in f->v */
	uint32_t budget; /* records that may still be read */
};

static int learn_layout(struct page_layout *at, const struct types *t)
{
	const struct {
		const char *path;
		struct guestsym_field *f;
		uint32_t size;
		const uint32_t *within;
	} fields[] = {
		{"ftrace_page.next", &at->next, 8, &at->page_size},
		{"ftrace_page.records", &at->records, 8, &at->page_size},
		{"ftrace_page.index", &at->index, 4, &at->page_size},
		{"dyn_ftrace.ip", &at->ip, 8, &at->record_size},
		{"dyn_ftrace.flags", &at->flags, 8, &at->record_size},
	};
	int err = types_size(t, "ftrace_page", &at->page_size);

	if (!err)
		err = types_size(t, "dyn_ftrace", &at->record_size);
	if (!err && (at->page_size > STRUCT_MAX || at->record_size > STRUCT_MAX))
		err = -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(fields) && !err; i++) {
		err = types_field(t, fields[i].path, fields[i].f);
		if (!err && !field_fits(fields[i].f, fields[i].size, *fields[i].within))
			err = -EINVAL;
	}
	return err;
}

static int read_page(struct site_walk *w, uint64_t va, struct page *page)
{
	uint8_t raw[STRUCT_MAX];
	int err = w->mem->read(w->mem->arg, va, raw, w->at.page_size);

	if (err)
		return err;
	*page = (struct page){
		.next = get_u64(raw + w->at.next.offset),
		.records = get_u64(raw + w->at.records.offset),
		.n = get_u32(raw + w->at.index.offset),
	};
	if (page->n > RECORDS_MAX / w->at.record_size)
		return -EINVAL;
	if (page->n > w->budget)
		return -E2BIG;
	w->budget -= page->n;
	return 0;
}

static int make_room(struct site_walk *w, size_t n)
{
	size_t room = w->room ? w->room : 4096;
	void *v;

	while (room < n)
		room *= 2;
	if (room == w->room)
		return 0;
	v = reallocarray(w->f->v, room, sizeof(*w->f->v));
	if (!v)
		return -ENOMEM;
	w->f->v = v;
	w->room = room;
	return 0;
}

/* Append what belongs to the kernel itself: how many, or a negative errno. */
static int add_records(struct site_walk *w, const uint8_t *p, uint32_t n)
{
	struct fentry *f = w->f;
	size_t before = f->n;
	int err = make_room(w, f->n + n);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++, p += w->at.record_size) {
		uint64_t ip = get_u64(p + w->at.ip.offset);
		bool disabled = get_u64(p + w->at.flags.offset) & FTRACE_FL_DISABLED;

		if (ip >= w->s->start && ip < w->s->end)
			f->v[f->n++] = (struct guestsym_site){
				.addr = ip, .flags = disabled ? GUESTSYM_SITE_INVALID : 0};
	}
	return f->n - before;
}

static int read_records(struct site_walk *w, const struct page *page)
{
	size_t size = (size_t)page->n * w->at.record_size;
	uint8_t *p = malloc(size);
	int ret;

	if (!p)
		return -ENOMEM;
	ret = w->mem->read(w->mem->arg, page->records, p, size);
	if (!ret)
		ret = add_records(w, p, page->n);
	free(p);
	return ret;
}

/*
 * ftrace_process_locs() gives each module pages of its own, behind the kernel's: they, which come
 * and go while the guest runs, are not even looked at.
 */
static int walk_pages(struct site_walk *w, uint64_t va)
{
	struct page page;
	int ret;

	for (int i = 0; va; i++, va = page.next) {
		if (i == PAGES_MAX)
			return -ELOOP;
		ret = read_page(w, va, &page);
		if (ret)
			return ret;
		if (!page.n)
			continue;
		ret = read_records(w, &page);
		if (ret <= 0)
			return ret;
	}
	return 0;
}

int live_sites_read(struct kernel *k, const struct guestsym_memory *mem)
{
	struct fentry *f = &k->fentry;
	struct site_walk w = {.mem = mem, .s = &k->symbols, .f = f, .budget = SITES_MAX};
	uint64_t head = symbols_addr(&k->symbols, "ftrace_pages_start"), first;
	int err;

	fentry_exit(f);
	if (!head)
		return -ENOTSUP;
	err = learn_layout(&w.at, k->types);
	if (!err)
		err = mem->read(mem->arg, head, &first, sizeof(first));
	if (!err)
		err = walk_pages(&w, first);
	if (!err)
		err = f->n ? fentry_resolve_kernel(f, &k->elf, &k->symbols, k->names_invalid)
			   : -ENOENT;
	if (err)
		fentry_exit(f);
	return err;
}
