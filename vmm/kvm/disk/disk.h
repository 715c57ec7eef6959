/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk.h - an image of a disk: requests are carried out on threads of its own, several at a time,
 * in any order.
 */
#ifndef HVTRACE_VMM_KVM_DISK_DISK_H
#define HVTRACE_VMM_KVM_DISK_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define DISK_SECTOR 512u

struct disk;

struct disk_config {
	const char *path;
	const char *format; /* as QEMU calls it */
	bool read_only;	    /* nothing is ever written */
	bool keep;	    /* what is written goes into the image, else it is gone at the end */
	/* One line about what goes wrong later, once; any thread. */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* NULL: err says why in one line. It is locked against other users, as QEMU does it. */
struct disk *disk_open(const struct disk_config *cfg, char *err, size_t errlen);
/* Waits for what is under way. NULL is allowed. */
void disk_close(struct disk *d);

uint64_t disk_size(const struct disk *d); /* in bytes, a multiple of DISK_SECTOR */
bool disk_is_read_only(const struct disk *d);

enum disk_op { DISK_READ, DISK_WRITE, DISK_FLUSH, DISK_ZERO, DISK_DISCARD };

struct disk_request {
	enum disk_op op;
	struct iovec *iov; /* of DISK_READ and DISK_WRITE; used up */
	unsigned int n;
	uint64_t off, len; /* in bytes; within the disk */
	/* On a thread of the disk's. rc: 0 or -errno. */
	void (*done)(struct disk_request *r, int rc);
	struct disk_request *next;
};

/* The request is the disk's until it is done. Any thread. */
void disk_submit(struct disk *d, struct disk_request *r);
/* Until nothing is under way. */
void disk_wait(struct disk *d);

#endif
