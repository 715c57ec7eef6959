/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blk-select.h - which requests the tracer blk records: what the files of /sys/block/DEVICE/trace/
 * say of one device in the kernel, hvtrace/blk/ says of all.
 */
#ifndef HVTRACE_TRACER_TRACERS_BLK_SELECT_H
#define HVTRACE_TRACER_TRACERS_BLK_SELECT_H

#include "tracer/guest/disks.h"
#include "tracer/tracers/blk-records.h"
#include "tracer/tracers/files.h"

#define BLK_DEVICES_MAX 64

struct blk_select {
	uint64_t limit[NR_BLK_LIMITS];
	unsigned int n; /* 0: all devices */
	struct {
		uint32_t device;	  /* a whole one */
		char name[DISK_NAME_MAX]; /* "": it was given by its number */
	} v[BLK_DEVICES_MAX];
};

struct blk_select *blk_select_new(void);    /* everything; NULL: no memory */
void blk_select_free(struct blk_select *s); /* NULL is allowed */
/* As act_log_check() (kernel/trace/blktrace.c, 6.1). A vCPU's lock is held. */
bool blk_selected(const struct blk_select *s, const struct blk_record *r, int32_t pid);

#endif
