// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - what a kernel and its modules offer for unwinding their stacks. */
#include "tracer/unwind/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/guest/site.h"

/* ORC entries of all modules together: some ten times what a distribution's kernel has loaded. */
#define MODULES_ORC_MAX (UINT64_C(8) << 20)
#define SITES_LOOKED_AT 1000

/* --- the kernel -------------------------------------------------------------------------- */

static int read_orc(struct orc_table *t, const struct guestsym *gs)
{
	struct guestsym_range ip, entries, header;
	size_t nr;
	int ret;

	guestsym_orc(gs, &ip, &entries, &header);
	nr = (size_t)(ip.end - ip.start) / sizeof(*t->ip);
	if (!nr || (entries.end - entries.start) / sizeof(*t->entries) != nr)
		return -ENOENT;
	ret = orc_table_alloc(t, nr);
	if (!ret)
		ret = guestsym_read(gs, ip.start, t->ip, nr * sizeof(*t->ip));
	if (!ret)
		ret = guestsym_read(gs, entries.start, t->entries, nr * sizeof(*t->entries));
	if (!ret)
		ret = orc_table_ready(t, ip.start);
	if (!ret)
		t->layout = orc_layout(t->entries, nr);
	else
		orc_table_free(t);
	return ret;
}

/* With -pg -mfentry and frame pointers it is what follows the call to __fentry__. */
static bool has_frame_pointers(const struct guestsym *gs)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites), with = 0;

	if (n > SITES_LOOKED_AT)
		n = SITES_LOOKED_AT;
	for (size_t i = 0; i < n; i++) {
		uint8_t code[UNWIND_PROLOGUE_SIZE];

		if (!guestsym_read(gs, sites[i].addr + SITE_SIZE, code, sizeof(code)))
			with += !memcmp(code, UNWIND_PROLOGUE, sizeof(code));
	}
	return with > n / 2;
}

struct unwind *unwind_new(const struct guestsym *gs, char *err, size_t errlen)
{
	struct unwind *u = calloc(1, sizeof(*u));
	int ret = u ? read_orc(&u->orc, gs) : -ENOMEM;

	if (ret == -ENOMEM) {
		snprintf(err, errlen, "no memory for the kernel's ORC tables");
	} else if (ret && !has_frame_pointers(gs)) {
		snprintf(
			err, errlen,
			"the kernel has no ORC tables (CONFIG_UNWINDER_ORC) that make sense and no frame pointers: stack traces have one entry");
	} else {
		u->text[0].start = guestsym_addr(gs, "_stext");
		u->text[0].end = guestsym_addr(gs, "_etext");
		u->text[1].start = guestsym_addr(gs, "_sinittext");
		u->text[1].end = guestsym_addr(gs, "_einittext");
		unwind_hooks_learn(&u->hooks, gs);
		return u;
	}
	free(u);
	return NULL;
}

/* --- its modules ------------------------------------------------------------------------- */

static void free_modules(struct unwind *u)
{
	for (size_t i = 0; i < u->nr_mods; i++)
		orc_table_free(&u->mods[i].orc);
	free(u->mods);
	u->mods = NULL;
	u->nr_mods = 0;
}

/* Where struct module has its ORC tables. */
struct layout {
	struct guestsym_field ip, entries, nr;
};

static int learn_layout(struct layout *at, const struct guestsym *gs)
{
	return guestsym_field(gs, "module.arch.orc_unwind_ip", &at->ip) ||
	       guestsym_field(gs, "module.arch.orc_unwind", &at->entries) ||
	       guestsym_field(gs, "module.arch.num_orcs", &at->nr);
}

/* 0, -ENOMEM, or what is wrong with the guest's memory. */
static int read_module(struct orc_table *t, struct guest_kernel *g, const struct layout *at,
		       const struct guestsym_module *mod, uint64_t *budget)
{
	uint64_t ip, entries;
	uint32_t nr;
	int ret;

	if (guest_read(g, mod->addr + at->ip.offset, &ip, sizeof(ip)) ||
	    guest_read(g, mod->addr + at->entries.offset, &entries, sizeof(entries)) ||
	    guest_read(g, mod->addr + at->nr.offset, &nr, sizeof(nr)))
		return -EFAULT;
	if (nr > *budget)
		return -EINVAL;
	*budget -= nr;
	ret = orc_table_alloc(t, nr);
	if (!ret)
		ret = guest_read(g, ip, t->ip, nr * sizeof(*t->ip));
	if (!ret)
		ret = guest_read(g, entries, t->entries, nr * sizeof(*t->entries));
	if (!ret)
		ret = orc_table_ready(t, ip);
	if (ret)
		orc_table_free(t);
	return ret;
}

int unwind_modules(struct unwind *u, const struct guestsym *gs, struct guest_kernel *g,
		   const struct guestsym_module *mods, size_t n)
{
	uint64_t budget = MODULES_ORC_MAX;
	struct layout at;

	free_modules(u);
	if (!u->orc.nr || learn_layout(&at, gs))
		return 0;
	u->mods = calloc(n ? n : 1, sizeof(*u->mods));
	if (!u->mods)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct unwind_module *mod = &u->mods[u->nr_mods];
		int ret = read_module(&mod->orc, g, &at, &mods[i], &budget);

		if (ret == -ENOMEM)
			return ret;
		if (ret)
			continue;
		mod->text = mods[i].text;
		mod->orc.layout = u->orc.layout; /* a small table may not tell */
		u->nr_mods++;
	}
	return 0;
}

void unwind_free(struct unwind *u)
{
	if (!u)
		return;
	free_modules(u);
	orc_table_free(&u->orc);
	free(u);
}
