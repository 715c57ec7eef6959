/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disks.h - the block devices of a guest that has booted: their numbers, and for partitions which
 * disk they are of.
 */
#ifndef HVTRACE_TRACER_GUEST_DISKS_H
#define HVTRACE_TRACER_GUEST_DISKS_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

#define DISK_NAME_MAX	32 /* DISK_NAME_LEN (include/linux/blkdev.h) */
#define DISK_MINOR_BITS 20 /* of the kernel's dev_t */

struct disk {
	uint32_t device;	  /* of a disk or a partition: a dev_t of the kernel's */
	uint32_t whole;		  /* of its disk */
	char name[DISK_NAME_MAX]; /* of its disk: printable, terminated */
};

struct disks {
	struct disk *v; /* by device */
	size_t n;
};

/*
 * Those that the kernel has now, by its own list of them (blockdev_superblock); the guest may run.
 * 0; -ENODATA: the kernel's types do not tell, or it has not come so far yet; -EFAULT: its memory
 * makes no sense; -ENOMEM. Only with 0 there is something for disks_free().
 */
int disks_read(struct guest_kernel *g, const struct guestsym *gs, struct disks *to);
void disks_free(struct disks *d); /* all zero is allowed */
/* NULL: there is none of that number. */
const struct disk *disks_find(const struct disks *d, uint32_t device);
/* A whole disk by its name. NULL: there is none. */
const struct disk *disks_named(const struct disks *d, const char *name);

#endif
