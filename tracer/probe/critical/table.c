// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - see table.h */
#include "tracer/probe/critical/table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct flag_table {
	pthread_rwlock_t lock; /* of what follows */
	struct flag_site *v;   /* by address */
	size_t nr;
};

struct flag_table *flag_table_new(void)
{
	struct flag_table *ft = calloc(1, sizeof(*ft));

	if (ft)
		pthread_rwlock_init(&ft->lock, NULL);
	return ft;
}

void flag_table_free(struct flag_table *ft)
{
	if (!ft)
		return;
	pthread_rwlock_destroy(&ft->lock);
	free(ft->v);
	free(ft);
}

static int by_va(const void *a, const void *b)
{
	const struct flag_site *p = a, *q = b;

	return p->va < q->va ? -1 : p->va > q->va;
}

int flag_table_add(struct flag_table *ft, const struct flag_site *sites, size_t nr)
{
	struct flag_site *v;

	if (!nr)
		return 0;
	pthread_rwlock_wrlock(&ft->lock);
	v = reallocarray(ft->v, ft->nr + nr, sizeof(*v));
	if (v) {
		memcpy(v + ft->nr, sites, nr * sizeof(*v));
		ft->v = v;
		ft->nr += nr;
		qsort(v, ft->nr, sizeof(*v), by_va);
	}
	pthread_rwlock_unlock(&ft->lock);
	return v ? 0 : -ENOMEM;
}

void flag_table_forget(struct flag_table *ft, bool (*gone)(void *arg, const struct flag_site *s),
		       void *arg)
{
	size_t n = 0;

	pthread_rwlock_wrlock(&ft->lock);
	for (size_t i = 0; i < ft->nr; i++)
		if (!gone(arg, &ft->v[i]))
			ft->v[n++] = ft->v[i];
	ft->nr = n;
	pthread_rwlock_unlock(&ft->lock);
}

bool flag_table_at(struct flag_table *ft, uint64_t va, struct flag_site *site)
{
	const struct flag_site key = {.va = va}, *found = NULL;

	pthread_rwlock_rdlock(&ft->lock);
	if (ft->nr)
		found = bsearch(&key, ft->v, ft->nr, sizeof(*ft->v), by_va);
	if (found)
		*site = *found;
	pthread_rwlock_unlock(&ft->lock);
	return found;
}

bool flag_table_has(struct flag_table *ft, uint8_t kind, uint64_t start, uint64_t end)
{
	bool found = false;

	pthread_rwlock_rdlock(&ft->lock);
	for (size_t i = 0; i < ft->nr && ft->v[i].va < end && !found; i++)
		found = ft->v[i].kind == kind && ft->v[i].va >= start;
	pthread_rwlock_unlock(&ft->lock);
	return found;
}

const struct flag_site *flag_table_all(const struct flag_table *ft, size_t *nr)
{
	*nr = ft->nr;
	return ft->v;
}
