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

/* A file has these blocks of a disk, at `at` and on, as they are on the disk; elsewhere nothing. */
#define DISK_BLOCK 4096u

struct disk_changes {
	int fd;
	uint64_t at;
	const uint64_t *map; /* a bit for each block, from the lowest on */
	size_t words;
};

struct disk_config {
	const char *path;
	const char *format; /* as QEMU calls it */
	bool read_only;	    /* nothing is ever written */
	bool keep;	    /* what is written goes into the image, else it is gone at the end */
	/* What was written before the disk was saved, of one whose writes are not kept; or NULL. */
	const struct disk_changes *changes;
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

/* Bytes that read as zeros behind it: DISK_ZERO keeps their room, DISK_UNMAP gives it back if it
 * can, as DISK_DISCARD does, behind which they may read as anything. */
enum disk_op { DISK_READ, DISK_WRITE, DISK_FLUSH, DISK_ZERO, DISK_UNMAP, DISK_DISCARD };

struct disk_request {
	enum disk_op op;
	struct iovec *iov; /* of DISK_READ and DISK_WRITE; used up */
	unsigned int n;
	uint64_t off, len; /* in bytes; within the disk */
	/* On a thread of the disk's. rc: 0 or -errno. */
	void (*done)(struct disk_request *r, int rc);
	struct disk_request *next;
};

/*
 * The guest of n disks has ended: what nobody has begun with is not done any more (-ECANCELED),
 * and a server that is not done with the rest in that time is not asked any more. Not on a thread
 * of a disk's.
 */
void disk_give_up(struct disk *const *disks, unsigned int n, unsigned int ms);

/* The request is the disk's until it is done. Any thread. */
void disk_submit(struct disk *d, struct disk_request *r);
/* Until nothing is under way. */
void disk_wait(struct disk *d);

/* --- saving: nothing is under way, nor is anything submitted --------------------------------- */

/* By what an image is known again. */
struct disk_identity {
	uint64_t size, mtime_s, mtime_ns; /* of its file */
};

/* NULL: it can be. Else why not. */
const char *disk_cannot_be_saved(const struct disk *d);
/* 0 or -errno. */
int disk_identify(const struct disk *d, struct disk_identity *id);
/* The map of what was written, by all it was saved before and since: *words of it, for free().
 * NULL: nothing ever is; -ENOMEM in *rc. */
uint64_t *disk_changed(struct disk *d, size_t *words, int *rc);
/* Those blocks, by put(), from `at` on. What that says, or -errno. */
int disk_save(struct disk *d, int (*put)(void *arg, const void *data, size_t len, uint64_t at),
	      void *arg, uint64_t at);

#endif
