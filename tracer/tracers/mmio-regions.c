// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmio-regions.c - see mmio-regions.h
 *
 * As the kernel's kmmio, a region has all pages that it has some of: an access is told of up to
 * their ends. Who accesses is known by the physical address alone, so where two regions share a
 * page it is taken for the one that was mapped last.
 */
#include "tracer/tracers/mmio-regions.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_MASK (~UINT64_C(4095))

void mmio_regions_init(struct mmio_regions *r)
{
	*r = (struct mmio_regions){0};
	pthread_mutex_init(&r->lock, NULL);
}

void mmio_regions_exit(struct mmio_regions *r)
{
	pthread_mutex_destroy(&r->lock);
	free(r->v);
}

/* --- with the lock held ----------------------------------------------------------------------- */

static bool has_room(struct mmio_regions *r)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct mmio_region *v;

	if (r->n < r->room)
		return true;
	v = room <= MMIO_REGIONS_MAX ? realloc(r->v, room * sizeof(*v)) : NULL;
	if (!v)
		return false;
	r->v = v;
	r->room = room;
	return true;
}

/* By the address that ioremap() gave; NULL: none. */
static struct mmio_region *region_at(struct mmio_regions *r, uint64_t virt)
{
	for (size_t i = r->n; i-- > 0;)
		if (r->v[i].virt == virt)
			return &r->v[i];
	return NULL;
}

static void drop(struct mmio_regions *r, struct mmio_region *region)
{
	size_t behind = r->n - 1 - (size_t)(region - r->v);

	memmove(region, region + 1, behind * sizeof(*region));
	r->n--;
}

/* What was mapped there before has gone without anyone having seen it. */
static void drop_page(struct mmio_regions *r, uint64_t virt)
{
	for (size_t i = r->n; i-- > 0;)
		if (!((r->v[i].virt ^ virt) & PAGE_MASK))
			drop(r, &r->v[i]);
}

static struct mmio_region *append(struct mmio_regions *r, uint64_t phys, uint64_t virt,
				  uint64_t len)
{
	struct mmio_region *region;

	drop_page(r, virt);
	if (!has_room(r))
		return NULL;
	region = &r->v[r->n++];
	*region = (struct mmio_region){.phys = phys, .virt = virt, .len = len, .id = ++r->last_id};
	return region;
}

static struct mmio_pending *pending_of(struct mmio_regions *r, uint64_t task)
{
	for (unsigned int i = 0; i < MMIO_PENDING_MAX; i++)
		if (r->pending[i].task == task)
			return &r->pending[i];
	return NULL;
}

/* --- mmio-regions.h --------------------------------------------------------------------------- */

void mmio_regions_begin(struct mmio_regions *r, uint64_t task, uint64_t phys, uint64_t virt)
{
	struct mmio_pending *p;

	if (!task)
		return;
	pthread_mutex_lock(&r->lock);
	p = pending_of(r, task);
	if (!p)
		p = pending_of(r, 0);
	if (!p) {
		p = &r->pending[r->next_pending];
		r->next_pending = (r->next_pending + 1) % MMIO_PENDING_MAX;
	}
	*p = (struct mmio_pending){.task = task, .phys = phys & PAGE_MASK, .virt = virt};
	pthread_mutex_unlock(&r->lock);
}

bool mmio_regions_end(struct mmio_regions *r, uint64_t task, uint64_t phys, uint64_t len,
		      struct mmio_region *as)
{
	struct mmio_region *region = NULL;
	struct mmio_pending *p;

	pthread_mutex_lock(&r->lock);
	p = task ? pending_of(r, task) : NULL;
	if (p && p->phys == (phys & PAGE_MASK)) {
		region = append(r, phys, p->virt + (phys & ~PAGE_MASK), len);
		p->task = 0;
	}
	if (region) {
		region->told = true;
		*as = *region;
	}
	pthread_mutex_unlock(&r->lock);
	return region;
}

bool mmio_regions_add(struct mmio_regions *r, uint64_t phys, uint64_t virt, uint64_t len)
{
	bool added = false;

	pthread_mutex_lock(&r->lock);
	if (!region_at(r, virt))
		added = append(r, phys, virt, len);
	pthread_mutex_unlock(&r->lock);
	return added;
}

int32_t mmio_regions_remove(struct mmio_regions *r, uint64_t virt)
{
	struct mmio_region *region;
	int32_t id = -1;

	pthread_mutex_lock(&r->lock);
	region = region_at(r, virt);
	/* Of one that was there before only the page is known. */
	if (!region)
		region = region_at(r, virt & PAGE_MASK);
	if (region) {
		id = region->id;
		drop(r, region);
	}
	pthread_mutex_unlock(&r->lock);
	return id;
}

static bool has_page_of(const struct mmio_region *region, uint64_t phys)
{
	uint64_t first = region->phys & PAGE_MASK,
		 last = (region->phys + region->len - 1) & PAGE_MASK;

	return (phys & PAGE_MASK) >= first && (phys & PAGE_MASK) <= last;
}

int32_t mmio_regions_find(struct mmio_regions *r, uint64_t phys)
{
	int32_t id = 0;

	pthread_mutex_lock(&r->lock);
	for (size_t i = r->n; i-- > 0 && !id;)
		if (has_page_of(&r->v[i], phys))
			id = r->v[i].id;
	pthread_mutex_unlock(&r->lock);
	return id;
}

bool mmio_regions_are_full(struct mmio_regions *r)
{
	bool full;

	pthread_mutex_lock(&r->lock);
	full = r->n == MMIO_REGIONS_MAX;
	pthread_mutex_unlock(&r->lock);
	return full;
}

void mmio_regions_tell(struct mmio_regions *r,
		       void (*tell)(void *arg, const struct mmio_region *region), void *arg)
{
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n; i++) {
		if (!r->v[i].told)
			tell(arg, &r->v[i]);
		r->v[i].told = true;
	}
	pthread_mutex_unlock(&r->lock);
}
