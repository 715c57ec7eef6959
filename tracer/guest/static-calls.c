// SPDX-License-Identifier: GPL-2.0-or-later
/* static-calls.c - see static-calls.h */
#include "tracer/guest/static-calls.h"
#include "tracer/guest/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX (1u << 20) /* of the kernel, and of all modules */

/* struct static_call_site: both are relative to where they are. */
struct call_site {
	int32_t addr, key;
};

static int by_va(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* Behind those that there are. 0, -ENOMEM, -E2BIG or -EFAULT; then it is as it was. */
static int add_sites(struct guest_kernel *g, struct static_calls *calls, uint64_t start, size_t nr)
{
	struct call_site *sites;
	uint64_t *va;
	int ret;

	if (nr > CALLS_MAX - calls->nr)
		return -E2BIG;
	va = realloc(calls->va, (calls->nr + nr) * sizeof(*va));
	if (!va)
		return -ENOMEM;
	calls->va = va;
	sites = malloc(nr * sizeof(*sites));
	ret = sites ? guest_read(g, start, sites, nr * sizeof(*sites)) : -ENOMEM;
	for (size_t i = 0; i < nr && !ret; i++)
		va[calls->nr + i] = start + i * sizeof(*sites) + (uint64_t)(int64_t)sites[i].addr;
	calls->nr += ret ? 0 : nr;
	free(sites);
	return ret;
}

static void put_in_order(struct static_calls *calls)
{
	if (calls->nr)
		qsort(calls->va, calls->nr, sizeof(*calls->va), by_va);
}

int static_calls_read(struct guest_kernel *g, const struct guestsym *gs, struct static_calls *calls)
{
	uint64_t start = guestsym_addr(gs, "__start_static_call_sites");
	uint64_t stop = guestsym_addr(gs, "__stop_static_call_sites");
	size_t nr = stop > start ? (size_t)(stop - start) / sizeof(struct call_site) : 0;
	int ret;

	*calls = (struct static_calls){0};
	ret = nr ? add_sites(g, calls, start + g->slide, nr) : 0;
	if (ret)
		static_calls_free(calls);
	put_in_order(calls);
	return ret == -E2BIG ? -EFAULT : ret;
}

/* --- of modules ------------------------------------------------------------------------------ */

struct reading {
	struct guest_kernel *g;
	struct guestsym_field list, nr; /* of struct module */
	struct static_calls *calls;
};

/* struct module has them beside each other, so they come in one piece. */
static int read_where(const struct reading *r, uint64_t module, uint64_t *start, uint32_t *nr)
{
	uint64_t first = r->list.offset < r->nr.offset ? r->list.offset : r->nr.offset;
	uint64_t list = r->list.offset - first, count = r->nr.offset - first;
	uint8_t bytes[32];
	uint64_t len = list + 8 > count + 4 ? list + 8 : count + 4;

	if (len > sizeof(bytes) || guest_read(r->g, module + first, bytes, len))
		return -EFAULT;
	memcpy(start, bytes + list, sizeof(*start));
	memcpy(nr, bytes + count, sizeof(*nr));
	return 0;
}

/* One range for all of them, with what lies between: as much to look at however many there are. */
static void leave_alone(struct static_calls *calls, const struct guestsym_range *text)
{
	struct guestsym_range *unknown = &calls->unknown;

	if (!unknown->end || text->start < unknown->start)
		unknown->start = text->start;
	if (text->end > unknown->end)
		unknown->end = text->end;
}

static int read_module(void *arg, const struct guestsym_module *mod)
{
	const struct reading *r = arg;
	uint64_t start;
	uint32_t nr;
	int ret = read_where(r, mod->addr, &start, &nr);

	if (!ret && nr)
		ret = add_sites(r->g, r->calls, start, nr);
	if (!ret || ret == -ENOMEM)
		return ret;
	leave_alone(r->calls, &mod->text);
	return 0;
}

int static_calls_read_modules(struct guest_kernel *g, const struct guestsym *gs,
			      const struct module_list *modules, struct static_calls *calls)
{
	struct reading r = {.g = g, .calls = calls};
	int ret;

	*calls = (struct static_calls){0};
	/* A kernel without CONFIG_HAVE_STATIC_CALL_INLINE. */
	if (guestsym_field(gs, "module.static_call_sites", &r.list) ||
	    guestsym_field(gs, "module.num_static_call_sites", &r.nr))
		return 0;
	ret = modules_each(modules, read_module, &r);
	if (ret)
		static_calls_free(calls);
	put_in_order(calls);
	return ret;
}

/* --------------------------------------------------------------------------------------------- */

void static_calls_free(struct static_calls *calls)
{
	free(calls->va);
	*calls = (struct static_calls){0};
}

bool static_calls_has(const struct static_calls *calls, uint64_t va)
{
	if (va >= calls->unknown.start && va < calls->unknown.end)
		return true;
	return calls->nr && bsearch(&va, calls->va, calls->nr, sizeof(*calls->va), by_va);
}
