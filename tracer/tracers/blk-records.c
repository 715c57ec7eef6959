// SPDX-License-Identifier: GPL-2.0-or-later
/* blk-records.c - see blk-records.h */
#include "tracer/tracers/blk-records.h"
#include "tracer/events/events.h"
#include "tracer/ring/entry.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

const char *const blk_record_events[] = {
	[BLK_RQ_INSERT] = "block:block_rq_insert",
	[BLK_RQ_ISSUE] = "block:block_rq_issue",
	[BLK_RQ_MERGE] = "block:block_rq_merge",
	[BLK_RQ_REQUEUE] = "block:block_rq_requeue",
	[BLK_RQ_COMPLETE] = "block:block_rq_complete",
	[BLK_BIO_BOUNCE] = "block:block_bio_bounce",
	[BLK_BIO_COMPLETE] = "block:block_bio_complete",
	[BLK_BIO_BACKMERGE] = "block:block_bio_backmerge",
	[BLK_BIO_FRONTMERGE] = "block:block_bio_frontmerge",
	[BLK_BIO_QUEUE] = "block:block_bio_queue",
	[BLK_GETRQ] = "block:block_getrq",
	[BLK_PLUG] = "block:block_plug",
	[BLK_UNPLUG] = "block:block_unplug",
	[BLK_SPLIT] = "block:block_split",
	[BLK_BIO_REMAP] = "block:block_bio_remap",
	[BLK_RQ_REMAP] = "block:block_rq_remap",
	NULL,
};

static const uint32_t actions[] = {
	[BLK_RQ_INSERT] = BLK_TA_INSERT,
	[BLK_RQ_ISSUE] = BLK_TA_ISSUE,
	[BLK_RQ_MERGE] = BLK_TA_BACKMERGE,
	[BLK_RQ_REQUEUE] = BLK_TA_REQUEUE,
	[BLK_RQ_COMPLETE] = BLK_TA_COMPLETE,
	[BLK_BIO_BOUNCE] = BLK_TA_BOUNCE,
	[BLK_BIO_COMPLETE] = BLK_TA_COMPLETE,
	[BLK_BIO_BACKMERGE] = BLK_TA_BACKMERGE,
	[BLK_BIO_FRONTMERGE] = BLK_TA_FRONTMERGE,
	[BLK_BIO_QUEUE] = BLK_TA_QUEUE,
	[BLK_GETRQ] = BLK_TA_GETRQ,
	[BLK_PLUG] = BLK_TA_PLUG,
	[BLK_UNPLUG] = BLK_TA_UNPLUG_IO,
	[BLK_SPLIT] = BLK_TA_SPLIT,
	[BLK_BIO_REMAP] = BLK_TA_REMAP,
	[BLK_RQ_REMAP] = BLK_TA_REMAP,
};

#define RWBS_MAX 16

void blk_records_forget(struct blk_records *b)
{
	blk_plugs_forget(b->plugs);
}

/* --- fields --------------------------------------------------------------------------------- */

static bool find(const struct event_format *format, const char *name, struct event_field *to)
{
	*to = event_field_find(format, name, strlen(name));
	return to->source == EVENT_FIELD_RECORD;
}

static bool find_fields(const struct event_format *format, enum blk_record_event which,
			struct blk_fields *f)
{
	find(format, "nr_sector", &f->nr_sector);
	find(format, "bytes", &f->bytes);
	find(format, "error", &f->error);
	find(format, "comm", &f->comm);
	if (which == BLK_PLUG)
		return true;
	if (which == BLK_UNPLUG)
		return find(format, "nr_rq", &f->nr_requests);
	if (which == BLK_SPLIT && !find(format, "new_sector", &f->new_sector))
		return false;
	if ((which == BLK_BIO_REMAP || which == BLK_RQ_REMAP) &&
	    !(find(format, "old_dev", &f->old_device) &&
	      find(format, "old_sector", &f->old_sector)))
		return false;
	return find(format, "dev", &f->device) && find(format, "sector", &f->sector) &&
	       find(format, "rwbs", &f->rwbs);
}

int blk_records_init(struct blk_records *b, const struct guestsym_event_list *list,
		     const uint32_t *events, bool first)
{
	memset(b, 0, sizeof(*b));
	for (unsigned int k = 0; k < NR_BLK_RECORD_EVENTS; k++) {
		struct event_format format = {NULL, list->common, list->nr_common};

		if (events[k] == EVENT_NONE)
			continue;
		format.event = &list->v[events[k]];
		if (!find_fields(&format, k, &b->fields[k]))
			return -EOPNOTSUPP;
	}
	b->plugs = blk_plugs_new(first);
	return b->plugs ? 0 : -ENOMEM;
}

void blk_records_exit(struct blk_records *b)
{
	blk_plugs_free(b->plugs);
}

/* 0 where there is none. */
static uint64_t number(const struct event_field *f, const struct event_data *data)
{
	uint64_t value;

	return f->source && event_field_number(f, data, &value) ? value : 0;
}

/* --- what kind of request it is --------------------------------------------------------------- */

/*
 * The letters that blk_fill_rwbs() makes of an operation and its flags. What it has no letter for
 * is 'N', and those with sectors are writes: of zeros, and to zones. Of commands to the device
 * itself the direction is not told.
 */
static uint32_t operation(const char **rwbs, bool sectors)
{
	char op = **rwbs;

	if (op && strchr("WDFRN", op))
		++*rwbs;
	switch (op) {
	case 'W':
		return BLK_TC_WRITE;
	case 'D':
		*rwbs += **rwbs == 'E'; /* a secure erase, which is a discard here */
		return BLK_TC_WRITE | BLK_TC_DISCARD;
	case 'R':
		return BLK_TC_READ;
	case 'N':
		return sectors ? BLK_TC_WRITE : BLK_TC_READ;
	default: /* of a flush the first F may be the only one */
		return BLK_TC_READ | BLK_TC_FLUSH;
	}
}

static uint32_t category(char letter)
{
	switch (letter) {
	case 'F':
		return (uint32_t)BLK_TC_FUA;
	case 'A':
		return BLK_TC_AHEAD;
	case 'S':
		return BLK_TC_SYNC;
	case 'M':
		return BLK_TC_META;
	default:
		return 0;
	}
}

static uint32_t categories(const char *rwbs, bool sectors)
{
	uint32_t kind = 0;

	if (*rwbs == 'F') {
		kind |= BLK_TC_FLUSH;
		rwbs++;
	}
	kind |= operation(&rwbs, sectors);
	while (*rwbs)
		kind |= category(*rwbs++);
	return kind;
}

/*
 * Commands to the device itself have no place: the kernel keeps all ones there, which those events
 * whose place is blk_rq_trace_sector() show as 0.
 */
static bool is_command(const char *rwbs, uint64_t sector, uint64_t nr_sector,
		       enum blk_record_event which)
{
	if (rwbs[0] != 'N' && !(rwbs[0] == 'F' && rwbs[1] == 'N'))
		return false;
	if (which == BLK_RQ_COMPLETE)
		return sector == UINT64_MAX;
	return which <= BLK_RQ_REQUEUE && !sector && !nr_sector;
}

static bool read_kind(const struct blk_fields *f, enum blk_record_event which,
		      const struct event_data *data, struct blk_record *to)
{
	uint64_t nr_sector = number(&f->nr_sector, data);
	char rwbs[RWBS_MAX];

	if (!event_field_string(&f->rwbs, data, false, rwbs, sizeof(rwbs)))
		return false;
	to->sector = number(&f->sector, data);
	to->bytes =
		f->bytes.source ? (uint32_t)number(&f->bytes, data) : (uint32_t)(nr_sector << 9);
	if (which == BLK_SPLIT)
		to->bytes =
			1
			<< 9; /* how many is not told, and not printed, but for there being some */
	to->action |= BLK_TC_ACT(categories(rwbs, nr_sector || which == BLK_SPLIT));
	if (which <= BLK_RQ_COMPLETE)
		to->action |= BLK_TC_ACT(is_command(rwbs, to->sector, nr_sector, which)
						 ? (uint32_t)BLK_TC_PC
						 : (uint32_t)BLK_TC_FS);
	if (to->sector == UINT64_MAX)
		to->sector = 0;
	return true;
}

/* --- the records ------------------------------------------------------------------------------ */

static void read_more(const struct blk_fields *f, enum blk_record_event which,
		      const struct event_data *data, struct blk_record *to)
{
	switch (which) {
	case BLK_UNPLUG:
		to->pdu.number = htobe64(number(&f->nr_requests, data));
		to->pdu_len = sizeof(to->pdu.number);
		break;
	case BLK_SPLIT:
		to->pdu.number = htobe64(number(&f->new_sector, data));
		to->pdu_len = sizeof(to->pdu.number);
		break;
	case BLK_BIO_REMAP:
	case BLK_RQ_REMAP:
		to->pdu.remap.device_from = htobe32((uint32_t)number(&f->old_device, data));
		to->pdu.remap.device_to = htobe32(to->device);
		to->pdu.remap.sector_from = htobe64(number(&f->old_sector, data));
		to->pdu_len = sizeof(to->pdu.remap);
		break;
	default:
		break;
	}
}

/* What they tell of plugs. */
static void note_plugs(struct blk_plugs *plugs, enum blk_record_event which, unsigned int vcpu,
		       int32_t pid, const struct blk_record *r)
{
	if (which == BLK_GETRQ)
		blk_plugs_got(plugs, vcpu, pid, r->device, r->bytes);
	else if (which == BLK_BIO_BACKMERGE || which == BLK_BIO_FRONTMERGE)
		blk_plugs_merged(plugs, pid, r->device, r->bytes);
}

static bool read_plug(const struct blk_records *b, enum blk_record_event which,
		      const struct event_data *data, int32_t pid, struct blk_record *to)
{
	to->action |= BLK_TC_ACT(BLK_TC_READ);
	if (which == BLK_PLUG)
		return blk_plugs_plug(b->plugs, pid, &to->device);
	return blk_plugs_unplug(b->plugs, pid, number(&b->fields[which].nr_requests, data),
				&to->device);
}

bool blk_records_read(struct blk_records *b, enum blk_record_event which,
		      const struct event_data *data, struct blk_record *to)
{
	const struct blk_fields *f = &b->fields[which];
	const struct trace_entry *ent = data->record;

	*to = (struct blk_record){.action = actions[which]};
	if (data->len < sizeof(*ent))
		return false;
	if (which == BLK_PLUG || which == BLK_UNPLUG) {
		if (!read_plug(b, which, data, ent->pid, to))
			return false;
	} else {
		if (!read_kind(f, which, data, to))
			return false;
		to->device = (uint32_t)number(&f->device, data);
	}
	if (f->comm.source)
		event_field_string(&f->comm, data, false, to->comm, sizeof(to->comm));
	to->error = (uint16_t)number(&f->error, data);
	read_more(f, which, data, to);
	note_plugs(b->plugs, which, data->cpu, ent->pid, to);
	return true;
}

void blk_record_by_scheduler(struct blk_record *r)
{
	r->action = (r->action & ~(uint32_t)BLK_TA_UNPLUG_IO) | BLK_TA_UNPLUG_TIMER;
}
