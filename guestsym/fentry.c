// SPDX-License-Identifier: GPL-2.0-or-later
/* fentry.c - the places where compiler-made calls to __fentry__ are, from __mcount_loc. */
#include "guestsym/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ENDBR_SIZE  4
#define INVALID_FMT "__ftrace_invalid_address___%" PRIu64
#define INVALID_MAX (sizeof("__ftrace_invalid_address___") + 20)

static int compare_sites(const void *a, const void *b)
{
	uint64_t x = ((const struct guestsym_site *)a)->addr;
	uint64_t y = ((const struct guestsym_site *)b)->addr;

	return x < y ? -1 : x > y;
}

int fentry_alloc(struct fentry *f, size_t n)
{
	*f = (struct fentry){.v = calloc(n, sizeof(*f->v))};
	return f->v ? 0 : -ENOMEM;
}

/* Zero entries are functions that the linker dropped; ftrace_process_locs() skips them too. */
static int load_sites(struct fentry *f, const uint8_t *p, size_t n)
{
	if (fentry_alloc(f, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = get_u64(p + 8 * i);

		if (addr)
			f->v[f->n++].addr = addr;
	}
	return 0;
}

/* Most kernels have them sorted, none has one twice. */
static void sort_sites(struct fentry *f)
{
	bool sorted = true;
	size_t n = 0;

	for (size_t i = 1; i < f->n && sorted; i++)
		sorted = f->v[i - 1].addr < f->v[i].addr;
	if (sorted)
		return;
	qsort(f->v, f->n, sizeof(*f->v), compare_sites);
	for (size_t i = 0; i < f->n; i++)
		if (!i || f->v[i].addr != f->v[n - 1].addr)
			f->v[n++] = f->v[i];
	f->n = n;
}

static bool holds_nop(const struct elf_image *e, uint64_t addr)
{
	static const uint8_t nop5[FENTRY_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	const uint8_t *p = elf_image_at(e, addr, FENTRY_SIZE);

	return p && !memcmp(p, nop5, FENTRY_SIZE);
}

/*
 * An endbr64, or the NOP that a kernel has put in its place (gen_endbr_poison() of
 * arch/x86/include/asm/ibt.h, 6.12 and 6.15): where nothing branches to, and with FineIBT, whose
 * check is in front of the function, everywhere.
 */
static bool holds_endbr(const struct elf_image *e, uint64_t addr)
{
	static const uint8_t forms[][ENDBR_SIZE] = {
		{0xf3, 0x0f, 0x1e, 0xfa},
		{0x66, 0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0xd6},
	};
	const uint8_t *p = elf_image_at(e, addr, ENDBR_SIZE);

	for (size_t i = 0; p && i < ARRAY_SIZE(forms); i++)
		if (!memcmp(p, forms[i], ENDBR_SIZE))
			return true;
	return false;
}

/* How far the search for the symbols of rising addresses is: at the last, and the first there. */
struct search {
	size_t last, first;
};

/* The symbol of addr, which the kernel would find. */
static const struct guestsym_symbol *next_symbol(const struct symbols *s, uint64_t addr,
						 struct search *at)
{
	if (addr < s->start || addr >= s->end || !s->n || s->v[0].addr > addr)
		return NULL;
	while (at->last + 1 < s->n && s->v[at->last + 1].addr <= addr) {
		at->last++;
		if (s->v[at->last].addr != s->v[at->first].addr)
			at->first = at->last;
	}
	return &s->v[at->first];
}

/* Sets func, name and the flags that need no more than the site; func stays 0 outside symbols. */
static void resolve_sites(struct fentry *f, const struct elf_image *e, const struct symbols *s)
{
	struct guestsym_range init = symbols_init(s);
	struct search at = {0};

	for (size_t i = 0; i < f->n; i++) {
		struct guestsym_site *site = &f->v[i];
		const struct guestsym_symbol *sym = next_symbol(s, site->addr, &at);

		if (sym) {
			site->func = sym->addr;
			site->name = sym->name;
		}
		if (site->addr >= init.start && site->addr < init.end)
			site->flags |= GUESTSYM_SITE_INIT;
		if (holds_nop(e, site->addr))
			site->flags |= GUESTSYM_SITE_NOP;
	}
}

/*
 * How far behind its symbol's start a site may be (FTRACE_MCOUNT_MAX_OFFSET): 4 in kernels built
 * with IBT, which have an endbr64 there, otherwise 0.
 */
static uint64_t site_max_offset(const struct fentry *f, const struct elf_image *e)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].func && f->v[i].addr - f->v[i].func == ENDBR_SIZE &&
		    holds_endbr(e, f->v[i].func))
			return ENDBR_SIZE;
	return 0;
}

static size_t mark_invalid(struct fentry *f, uint64_t max_offset)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct guestsym_site *site = &f->v[i];

		if (!site->func || site->addr - site->func > max_offset)
			site->flags |= GUESTSYM_SITE_INVALID;
		n += !!(site->flags & GUESTSYM_SITE_INVALID);
	}
	return n;
}

/* Kernels before 6.0 know the functions by their symbol all the same. */
bool fentry_names_invalid(const struct elf_image *kernel)
{
	static const char text[] = "__ftrace_invalid_address__";

	return elf_image_holds(kernel, text, sizeof(text));
}

static int name_invalid(struct fentry *f, bool rule, size_t n)
{
	char *name;

	f->names = malloc(n * INVALID_MAX);
	if (!f->names)
		return -ENOMEM;
	name = f->names;
	for (size_t i = 0; i < f->n; i++) {
		struct guestsym_site *site = &f->v[i];

		if (!(site->flags & GUESTSYM_SITE_INVALID) || (site->name && !rule))
			continue;
		if (!site->func)
			site->func = site->addr;
		snprintf(name, INVALID_MAX, INVALID_FMT, site->addr - site->func);
		site->name = name;
		name += INVALID_MAX;
	}
	return 0;
}

/* A site behind an endbr64 is invalid unless they all may be. */
struct fentry_rule fentry_rule(const struct fentry *kernel, bool names_invalid)
{
	struct fentry_rule rule = {0, names_invalid};

	for (size_t i = 0; i < kernel->n && !rule.max_offset; i++) {
		const struct guestsym_site *site = &kernel->v[i];

		if (site->func && !(site->flags & GUESTSYM_SITE_INVALID) &&
		    site->addr - site->func == ENDBR_SIZE)
			rule.max_offset = ENDBR_SIZE;
	}
	return rule;
}

static int resolve(struct fentry *f, const struct fentry_rule *rule)
{
	size_t invalid = mark_invalid(f, rule->max_offset);

	return invalid ? name_invalid(f, rule->names_invalid, invalid) : 0;
}

int fentry_resolve(struct fentry *f, const struct elf_image *e, const struct symbols *s,
		   const struct fentry_rule *rule)
{
	sort_sites(f);
	resolve_sites(f, e, s);
	return resolve(f, rule);
}

int fentry_resolve_kernel(struct fentry *f, const struct elf_image *e, const struct symbols *s,
			  bool names_invalid)
{
	struct fentry_rule own;

	sort_sites(f);
	resolve_sites(f, e, s);
	own = (struct fentry_rule){site_max_offset(f, e), names_invalid};
	return resolve(f, &own);
}

int fentry_read(struct fentry *f, const struct elf_image *e, const struct symbols *s,
		bool names_invalid)
{
	const uint8_t *p;
	uint64_t va;
	size_t n;
	int err;

	*f = (struct fentry){0};
	n = table_entries(e, s, "__start_mcount_loc", "__stop_mcount_loc", 8, &va, &p);
	if (!n)
		return -ENOENT;
	err = load_sites(f, p, n);
	if (!err)
		err = f->n ? fentry_resolve_kernel(f, e, s, names_invalid) : -ENOENT;
	if (err)
		fentry_exit(f);
	return err;
}

void fentry_exit(struct fentry *f)
{
	free(f->v);
	free(f->names);
	*f = (struct fentry){0};
}
