// SPDX-License-Identifier: GPL-2.0-or-later
/* static-calls.c - see static-calls.h */
#include "tracer/guest/static-calls.h"

#include <errno.h>
#include <stdlib.h>

#define CALLS_MAX (1u << 20)

/* struct static_call_site: both are relative to where they are. */
struct call_site {
	int32_t addr, key;
};

static int by_va(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

int static_calls_read(struct guest_kernel *g, const struct guestsym *gs, struct static_calls *calls)
{
	uint64_t start = guestsym_addr(gs, "__start_static_call_sites");
	uint64_t stop = guestsym_addr(gs, "__stop_static_call_sites");
	size_t nr = stop > start ? (size_t)(stop - start) / sizeof(struct call_site) : 0;
	struct call_site *sites;
	int ret;

	*calls = (struct static_calls){0};
	if (!nr || nr > CALLS_MAX)
		return nr ? -EFAULT : 0;
	sites = malloc(nr * sizeof(*sites));
	calls->va = malloc(nr * sizeof(*calls->va));
	start += g->slide;
	ret = sites && calls->va ? guest_read(g, start, sites, nr * sizeof(*sites)) : -ENOMEM;
	for (size_t i = 0; i < nr && !ret; i++)
		calls->va[i] = start + i * sizeof(*sites) + (uint64_t)(int64_t)sites[i].addr;
	free(sites);
	if (ret) {
		static_calls_free(calls);
		return ret;
	}
	calls->nr = nr;
	qsort(calls->va, nr, sizeof(*calls->va), by_va);
	return 0;
}

void static_calls_free(struct static_calls *calls)
{
	free(calls->va);
	*calls = (struct static_calls){0};
}

bool static_calls_has(const struct static_calls *calls, uint64_t va)
{
	return calls->nr && bsearch(&va, calls->va, calls->nr, sizeof(*calls->va), by_va);
}
