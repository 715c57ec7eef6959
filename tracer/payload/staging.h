/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * staging.h - the host's end of one vCPU's staging ring: takes records out in the order in which
 * the guest has reserved them, and counts those that are lost.
 *
 * Guest memory is not trusted: head may jump, records may hold anything. What comes out has the
 * sequence number that it must have; all else is counted as lost or corrupt.
 */
#ifndef HVTRACE_TRACER_PAYLOAD_STAGING_H
#define HVTRACE_TRACER_PAYLOAD_STAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/payload/payload.h"

/* How the window is read and written; offsets are the window's. 0 or -errno. */
struct staging_io {
	int (*read)(void *arg, uint64_t off, void *buf, size_t len);
	int (*write)(void *arg, uint64_t off, const void *buf, size_t len);
	void *arg;
};

struct staging {
	struct staging_io io;
	uint64_t ctl, ring;   /* offsets in the window */
	uint64_t length;      /* of the ring, in records; a power of two */
	uint64_t next;	      /* number of the record that is taken next */
	bool lossless;	      /* tell the guest (CTL_TAIL) what has been taken */
	uint64_t taken, lost; /* taken + lost == next - base, always */
	uint64_t base;	  /* the ring's length; another number once the guest's head has jumped */
	uint64_t head;	  /* the guest's, as read last */
	uint64_t dropped; /* the guest's own count (CTL_DROPPED), as read last */
	uint64_t corrupt; /* of the lost: the ring or its head held what no payload writes */
	uint64_t jumps;	  /* how often the head was none */
	uint64_t copied;  /* how many records have been read: each one twice, if all is well */
	uint64_t untold;  /* of the lost: since the latest batch */
	int64_t stuck_ns; /* since when has the next record been reserved, not written; 0: it is not
			   */
	int64_t patience_ns;	      /* STAGING_STUCK_NS, or what the owner takes for that */
	size_t ask;		      /* how many to copy at most */
	struct payload_record *batch; /* STAGING_BATCH of them */
};

#define STAGING_BATCH 8192
/* A busy host may not let a vCPU run for a second or two, in the middle of a record. */
#define STAGING_STUCK_NS INT64_C(5000000000)

/* For an empty ring: its control block is written by the caller. 0 or -ENOMEM. */
int staging_init(struct staging *s, const struct staging_io *io, unsigned int vcpu,
		 uint32_t ring_size);
void staging_exit(struct staging *s);

/*
 * Take records: up to `max` and STAGING_BATCH of them are at *records until the next call. *lost,
 * when not NULL, gets how many were lost before the first of them. Gives their number, 0: there are
 * none now, or a negative errno of the machine's.
 *
 * A record that has been reserved and not written holds up those behind it: its vCPU has been
 * interrupted, and will write it. It is given up as lost when the vCPU has reserved half a ring
 * more, or after patience_ns.
 */
int staging_take(struct staging *s, size_t max, const struct payload_record **records,
		 uint64_t *lost);

/*
 * The number behind that of the record that the guest has reserved last. One that cannot be is
 * counted (lost, corrupt, jumps) and gone on from. 0 or -errno.
 */
int staging_head(struct staging *s, uint64_t *head);

/* Nobody writes any more: what has been reserved and not taken is lost. 0 or -errno. */
int staging_end(struct staging *s);

#endif
