/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blk-plugs.h - to which devices the requests go that tasks have plugged: the events of plugs do
 * not tell, but they come in the order in which the kernel works (block/blk-mq.c).
 */
#ifndef HVTRACE_TRACER_TRACERS_BLK_PLUGS_H
#define HVTRACE_TRACER_TRACERS_BLK_PLUGS_H

#include <stdbool.h>
#include <stdint.h>

struct blk_plugs;

/*
 * first: a plug of requests to several devices begins with the first of them (from 6.13 on, and
 * where that has been taken over), else with the last. free() with blk_plugs_free(). NULL: no
 * memory.
 */
struct blk_plugs *blk_plugs_new(bool first);
void blk_plugs_free(struct blk_plugs *p);   /* NULL is allowed */
void blk_plugs_forget(struct blk_plugs *p); /* nothing is known of any task */

/* All that follow: any thread. */

/* The task has got a request (block_getrq) on that vCPU, or put more into the one that it got last.
 */
void blk_plugs_got(struct blk_plugs *p, unsigned int vcpu, int32_t pid, uint32_t device,
		   uint32_t bytes);
void blk_plugs_merged(struct blk_plugs *p, int32_t pid, uint32_t device, uint32_t bytes);
/* It begins to keep requests back, with the one that it got last. False: that is not known. */
bool blk_plugs_plug(struct blk_plugs *p, int32_t pid, uint32_t *device);
/* So many requests to one device are let go, mostly of those that were got on one vCPU. */
bool blk_plugs_unplug(struct blk_plugs *p, int32_t pid, uint64_t depth, uint32_t *device);

#endif
