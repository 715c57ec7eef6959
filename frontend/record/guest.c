// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.c - see guest.h */
#include "frontend/record/guest.h"

#include <errno.h>
#include <stdlib.h>

#include "frontend/record/meta.h"
#include "frontend/record/pages.h"
#include "tracer/tracer.h"

struct guest {
	struct trace *trace;
	struct view *view; /* NULL: the guest is not attached to any more */
	struct pages *pages;
	struct meta meta;
	struct record_guest about;
};

static int take(void *arg, enum record_pages which, const struct record_to *to)
{
	struct guest *g = arg;

	return pages_take(g->pages, which, to);
}

static int statistics(void *arg, const struct record_to *to)
{
	struct guest *g = arg;

	return pages_statistics(g->pages, to);
}

static int describe(void *arg, const struct record_to *to)
{
	struct guest *g = arg;

	return meta_begin(to, g->trace, &g->about);
}

static int update(void *arg, const struct record_to *to)
{
	struct guest *g = arg;

	return g->view ? meta_update(&g->meta, to, g->trace, g->view, &g->about)
		       : meta_tasks(&g->meta, to, g->trace);
}

static void let_go(void *arg)
{
	struct guest *g = arg;

	g->view = NULL;
}

static void free_all(void *arg)
{
	struct guest *g = arg;

	pages_free(g->pages);
	free(g);
}

int guest_source(struct record_source *source, struct trace *t, struct view *v,
		 const struct record_guest *guest)
{
	struct guest *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	*g = (struct guest){.trace = t, .view = v, .pages = pages_new(t), .about = *guest};
	*source = (struct record_source){
		.vcpus = trace_vcpus(t),
		.take = take,
		.statistics = statistics,
		.describe = describe,
		.update = update,
		.let_go = let_go,
		.free = free_all,
	};
	source->arg = g;
	if (g->pages)
		return 0;
	free_all(g);
	return -ENOMEM;
}
