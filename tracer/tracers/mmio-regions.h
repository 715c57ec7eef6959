/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmio-regions.h - which memory of devices is mapped where, and by which number the trace knows
 * that: for mmiotrace. Any thread; each function takes the lock.
 */
#ifndef HVTRACE_TRACER_TRACERS_MMIO_REGIONS_H
#define HVTRACE_TRACER_TRACERS_MMIO_REGIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MMIO_REGIONS_MAX 4096 /* at a time: each access looks through them */
#define MMIO_PENDING_MAX 64   /* mappings that are being made at a time */

struct mmio_region {
	uint64_t phys, virt, len; /* as they were asked for */
	int32_t id;		  /* from 1 on, in the order in which they were mapped */
	bool told;		  /* the trace has a MAP of it */
};

/* A task's mapping whose pages are being mapped, and of which nobody has said yet that it is done.
 */
struct mmio_pending {
	uint64_t task;	     /* 0: none */
	uint64_t phys, virt; /* whole pages */
};

struct mmio_regions {
	pthread_mutex_t lock;
	struct mmio_region *v; /* in the order in which they were mapped */
	size_t n, room;
	int32_t last_id;
	struct mmio_pending pending[MMIO_PENDING_MAX];
	unsigned int next_pending; /* to be used, when there is no other */
};

void mmio_regions_init(struct mmio_regions *r);
void mmio_regions_exit(struct mmio_regions *r);

/* The task maps these pages, in place of what it was about to map before. */
void mmio_regions_begin(struct mmio_regions *r, uint64_t task, uint64_t phys, uint64_t virt);
/*
 * It has, and they hold what it had asked for: a new region, as a copy. False: the mapping's
 * beginning was not seen, or there is no room.
 */
bool mmio_regions_end(struct mmio_regions *r, uint64_t task, uint64_t phys, uint64_t len,
		      struct mmio_region *as);
/* One that was mapped before anyone looked. False: it is known, or there is no room. */
bool mmio_regions_add(struct mmio_regions *r, uint64_t phys, uint64_t virt, uint64_t len);
/* What is mapped there, as iounmap() is called. Its number, or -1: nothing that is known. */
int32_t mmio_regions_remove(struct mmio_regions *r, uint64_t virt);
/* The region's number of an access to a physical address; 0: it is in none. */
int32_t mmio_regions_find(struct mmio_regions *r, uint64_t phys);
/* There is no room for another one. */
bool mmio_regions_are_full(struct mmio_regions *r);
/* Those that have not been told, in their order; they count as told from now on. */
void mmio_regions_tell(struct mmio_regions *r,
		       void (*tell)(void *arg, const struct mmio_region *region), void *arg);

#endif
