/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blk-records.h - what records of the events block:* say, as blktrace has it (blk_add_trace_*() of
 * kernel/trace/blktrace.c, 6.1, which are given the requests themselves).
 */
#ifndef HVTRACE_TRACER_TRACERS_BLK_RECORDS_H
#define HVTRACE_TRACER_TRACERS_BLK_RECORDS_H

#include "tracer/events/filter/data.h"
#include "tracer/guest/comms.h"
#include "tracer/tracers/blk-plugs.h"

#include <linux/blktrace_api.h>

/* For tracer_ops.events, and those of them that a kernel may be without. */
extern const char *const blk_record_events[];
#define BLK_RECORD_OPTIONAL                                                                        \
	(1U << BLK_RQ_MERGE | 1U << BLK_BIO_BOUNCE | 1U << BLK_PLUG | 1U << BLK_UNPLUG |           \
	 1U << BLK_RQ_REMAP)

enum blk_record_event {
	BLK_RQ_INSERT,
	BLK_RQ_ISSUE,
	BLK_RQ_MERGE,
	BLK_RQ_REQUEUE,
	BLK_RQ_COMPLETE,
	BLK_BIO_BOUNCE,
	BLK_BIO_COMPLETE,
	BLK_BIO_BACKMERGE,
	BLK_BIO_FRONTMERGE,
	BLK_BIO_QUEUE,
	BLK_GETRQ,
	BLK_PLUG,
	BLK_UNPLUG,
	BLK_SPLIT,
	BLK_BIO_REMAP,
	BLK_RQ_REMAP,
	NR_BLK_RECORD_EVENTS,
};

struct blk_record {
	uint32_t action; /* BLK_TA_, with BLK_TC_ of the direction and the like */
	uint32_t device; /* a dev_t of the kernel's; it may be a partition's */
	uint64_t sector;
	uint32_t bytes;
	uint16_t error, pdu_len;
	union {
		uint64_t number;
		struct blk_io_trace_remap remap;
	} pdu;		     /* big-endian */
	char comm[COMM_LEN]; /* of the task; "": it is not told */
};

struct blk_fields {
	struct event_field device, sector, nr_sector, bytes, error, rwbs;
	struct event_field old_device, old_sector, new_sector, nr_requests, comm;
};

struct blk_records {
	struct blk_fields fields[NR_BLK_RECORD_EVENTS];
	struct blk_plugs *plugs;
};

/*
 * events: where the list has those above, EVENT_NONE for those that it has not; first: as
 * blk_plugs_new() has it. 0, -ENOMEM, or
 * -EOPNOTSUPP: they lack a field; with 0, blk_records_exit().
 */
int blk_records_init(struct blk_records *b, const struct guestsym_event_list *list,
		     const uint32_t *events, bool first);
void blk_records_exit(struct blk_records *b);
/* Nothing is known of what tasks have got and plugged. */
void blk_records_forget(struct blk_records *b);
/*
 * What the record of events[which] says; an unplug is one that the task has asked for. False: it
 * makes no sense, or its device is not known. Any thread.
 */
bool blk_records_read(struct blk_records *b, enum blk_record_event which,
		      const struct event_data *data, struct blk_record *to);
/* The unplug is one that the scheduler has made, as the task goes to sleep. */
void blk_record_by_scheduler(struct blk_record *r);

#endif
