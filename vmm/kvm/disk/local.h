/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what a kind of image is to disk.c. */
#ifndef HVTRACE_VMM_KVM_DISK_LOCAL_H
#define HVTRACE_VMM_KVM_DISK_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "vmm/kvm/disk/disk.h"

#define DISK_WORKERS 4

/*
 * What is done with an image. On DISK_WORKERS threads at a time, whose number is `worker`. 0 or
 * -errno; all of the bytes or an error.
 */
struct disk_ops {
	int (*read)(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
		    uint64_t off);
	int (*write)(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
		     uint64_t off);
	int (*flush)(struct disk *d, unsigned int worker);
	/* DISK_ZERO and what follows it. */
	int (*zero)(struct disk *d, unsigned int worker, enum disk_op op, uint64_t off,
		    uint64_t len);
	void (*close)(struct disk *d); /* frees d */
	/* Have what is under way fail; with the few rights that a sandbox leaves. NULL: it ends. */
	void (*give_up)(struct disk *d);
	/* For disk.h's functions of these names. NULL: it cannot be saved. */
	int (*image)(const struct disk *d); /* its descriptor */
	uint64_t *(*changed)(struct disk *d, size_t *words);
	int (*save)(struct disk *d,
		    int (*put)(void *arg, const void *data, size_t len, uint64_t at), void *arg,
		    uint64_t at);
};

/* A kind of image embeds this as its first member. */
struct disk {
	const struct disk_ops *ops;
	uint64_t size;
	bool read_only;
	char *path;
	void (*warn)(void *arg, const char *text);
	void *arg;
	atomic_bool warned, given_up;

	pthread_mutex_t lock; /* what follows */
	pthread_cond_t work, idle;
	struct disk_request *first, **last; /* that nobody has begun with */
	unsigned int under_way;		    /* these, too */
	bool stop;
	pthread_t thread[DISK_WORKERS];
	unsigned int running;
};

/* raw.c, overlay.c, nbd.c: NULL: err says why. disk.c fills in the rest. */
struct disk *raw_open(const struct disk_config *cfg, char *err, size_t errlen);
struct disk *overlay_open(const struct disk_config *cfg, char *err, size_t errlen);
struct disk *nbd_open(const struct disk_config *cfg, char *err, size_t errlen);

/*
 * raw.c: open an image; its size without what is less than a sector at its end. The descriptor, or
 * -1, and err says why.
 */
int raw_open_file(const struct disk_config *cfg, bool write, uint64_t *size, char *err,
		  size_t errlen);
/* All of the bytes, or -errno: -EIO where the file ends before. iov is used up. */
int raw_transfer(int fd, bool write, struct iovec *iov, unsigned int n, uint64_t off);
/* DISK_ZERO and what follows it, of a file's bytes. 0 or -errno. */
int raw_zero(int fd, enum disk_op op, uint64_t off, uint64_t len);

/* lock.c: 0, or -1 and err says who is in the way. It is let go with the descriptor. */
int disk_lock(int fd, const char *path, bool write, char *err, size_t errlen);

/* disk.c: warn of what has failed, once. */
void disk_complain(struct disk *d, const char *what, int rc);

#endif
