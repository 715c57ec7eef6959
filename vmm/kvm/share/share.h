/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share.h - a folder of the host's, and the process that serves a guest's queues with it. One
 * thread at a time.
 */
#ifndef HVTRACE_VMM_KVM_SHARE_SHARE_H
#define HVTRACE_VMM_KVM_SHARE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm/devices.h"

#define SHARE_MEMORY_MAX 8

struct share;

/* Guest memory that it gets: a part of a file that nobody can cut off. */
struct share_memory {
	uint64_t pa, size, offset;
	int fd;
};

/* Where the driver has put a queue, guest-physical, and which descriptors stand for its doorbell
 * and its interrupt (eventfds, that stay the caller's). */
struct share_queue {
	uint64_t desc, avail, used;
	uint16_t size;
	uint16_t next; /* the avail ring's entry that is taken next */
	int kick, call;
};

/* With all of the guest's memory, n parts of it. NULL: err says why in one line. */
struct share *share_open(const struct machine_share *from, const struct share_memory *memory,
			 unsigned int n, char *err, size_t errlen);
/* The same, by who has the other end of this socket, which belongs to the share in any case. */
struct share *share_connect(int fd, const struct share_memory *memory, unsigned int n, char *err,
			    size_t errlen);
void share_close(struct share *s); /* NULL is allowed */

/* To be polled: anything that there is to read says that it has ended, or is not to be believed. */
int share_fd(const struct share *s);
/* Of virtio, those that it knows. */
uint64_t share_features(const struct share *s);

/*
 * All of these: 0; or -errno, and then it is not to be asked again. They wait for an answer, for
 * SHARE_MS at most.
 *
 * Features are set before queues are started, of share_features(). A queue that has been stopped is
 * not looked at any more, and *next is where it would go on.
 */
#define SHARE_MS 5000
int share_set_features(struct share *s, uint64_t features);
int share_start_queue(struct share *s, unsigned int i, const struct share_queue *q);
int share_stop_queue(struct share *s, unsigned int i, uint16_t *next);
/* What it is with it, as of that error. */
const char *share_why(int rc);
/*
 * It is not wanted any more, which it sees; one that is busy for longer than two seconds is killed.
 * False: it has not ended in two more, and may go on in the queues.
 */
bool share_end(struct share *s);

#endif
