// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blk.c - the tracer blk: what becomes of each request to a block device, as blktrace tells it.
 *
 * The kernel's own is asked for one device after the other, by an ioctl or in sysfs; this one takes
 * them all, and says of what goes to a partition that it goes to its disk, as the kernel's does
 * where the whole disk is traced.
 */
#include "tracer/core/symbol.h"
#include "tracer/events/events.h"
#include "tracer/guest/disks.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/files.h"
#include "tracer/instance/view.h"
#include "tracer/tracers/blk-select.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many devices that the kernel's list has not; then it is not looked at again. */
#define UNKNOWN_MAX 64
#define STACK_MAX   24

struct blk_tracer {
	struct blk_records records;
	pthread_mutex_t lock; /* of what follows */
	struct disks disks;
	uint32_t unknown[UNKNOWN_MAX];
	unsigned int nr_unknown;
};

static void blk_free(struct blk_tracer *b)
{
	blk_records_exit(&b->records);
	disks_free(&b->disks);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

static int blk_init(struct instance *i, void **data, const uint32_t *events)
{
	struct blk_tracer *b = calloc(1, sizeof(*b));
	uint32_t size;
	/* The type has come with another order: "block: don't reorder requests in
	 * blk_add_rq_to_plug". */
	bool first = !guestsym_type_size(i->t->gs, "rq_list", &size);
	int ret = b ? blk_records_init(&b->records, events_list(i->t->trace_events), events, first)
		    : -ENOMEM;

	if (ret) {
		free(b);
		return ret;
	}
	pthread_mutex_init(&b->lock, NULL);
	*data = b;
	return 0;
}

static void blk_exit(void *data)
{
	blk_free(data);
}

/* The numbers of partitions may be others' by now. */
static void blk_start(struct instance *i)
{
	struct blk_tracer *b = i->tracer_data;

	blk_records_forget(&b->records);
	pthread_mutex_lock(&b->lock);
	disks_free(&b->disks);
	b->nr_unknown = 0;
	pthread_mutex_unlock(&b->lock);
}

/* --- which disk it is ------------------------------------------------------------------------- */

static bool is_unknown(const struct blk_tracer *b, uint32_t device)
{
	for (unsigned int n = 0; n < b->nr_unknown; n++)
		if (b->unknown[n] == device)
			return true;
	return b->nr_unknown == UNKNOWN_MAX;
}

/* It may have come since the list was read. */
static const struct disk *look_again(struct blk_tracer *b, struct trace *t, uint32_t device)
{
	const struct disk *disk;
	struct disks now;

	if (is_unknown(b, device) || disks_read(&t->guest, t->gs, &now))
		return NULL;
	disks_free(&b->disks);
	b->disks = now;
	disk = disks_find(&b->disks, device);
	if (!disk)
		b->unknown[b->nr_unknown++] = device;
	return disk;
}

static uint32_t disk_of(struct blk_tracer *b, struct trace *t, uint32_t device)
{
	const struct disk *disk;

	pthread_mutex_lock(&b->lock);
	disk = disks_find(&b->disks, device);
	if (!disk)
		disk = look_again(b, t, device);
	if (disk)
		device = disk->whole;
	pthread_mutex_unlock(&b->lock);
	return device;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Only they say that it is the scheduler who asks (blk_flush_plug(), 6.1). */
static bool is_of_scheduler(const char *function)
{
	static const char *const functions[] = {
		"schedule",
		"schedule_rtlock",
		"sched_submit_work",
		"io_schedule",
		"io_schedule_prepare",
		"io_schedule_timeout",
		"rt_mutex_pre_schedule",
	};

	for (size_t n = 0; n < sizeof(functions) / sizeof(functions[0]); n++)
		if (!strcmp(function, functions[n]))
			return true;
	return false;
}

static bool goes_to_sleep(const struct event_view *v)
{
	uint64_t ips[STACK_MAX];
	unsigned int n = event_view_unwind(v, ips, STACK_MAX);

	for (unsigned int k = 0; k < n; k++) {
		struct output_symbol sym = {0};

		/* What they are called by returns behind the call. */
		if (trace_find_symbol(v->i->t, ips[k] - 1, &sym) && is_of_scheduler(sym.name))
			return true;
	}
	return false;
}

/* Those of a tracer that is given no flags, and comes by a tracepoint (tracing_gen_ctx_flags(0)).
 */
static struct trace_entry entry_of(const struct event_view *v)
{
	struct trace_entry ent;

	memcpy(&ent, v->data.record, sizeof(ent));
	ent.type = TRACE_BLK;
	ent.flags |= TRACE_FLAG_IRQS_OFF;
	if (events_dec_preempt(v->i->t->trace_events) && (ent.preempt_count & 0xf) < 0xf)
		ent.preempt_count++;
	return ent;
}

static void write_entry(const struct event_view *v, const struct blk_record *r)
{
	struct instance *i = v->i;
	struct trace_blk_entry *e =
		instance_room(i, v->data.cpu, v->data.time, sizeof(*e) + r->pdu_len);

	if (!e)
		return;
	*e = (struct trace_blk_entry){
		.ent = entry_of(v),
		.sector = r->sector,
		.bytes = r->bytes,
		.action = r->action,
		.device = r->device,
		.cpu = v->data.cpu,
		.error = r->error,
		.pdu_len = r->pdu_len,
	};
	e->pid = (uint32_t)e->ent.pid;
	memcpy(e->pdu, &r->pdu, r->pdu_len);
	ring_commit(i->ring[v->data.cpu]);
}

/* Of a task that has gone before anyone could ask for its name. */
static void note_comm(const struct blk_record *r, int32_t pid, struct comms *comms)
{
	char comm[COMM_LEN];

	if (!r->comm[0] || !pid)
		return;
	comms_find(comms, pid, comm);
	if (!strcmp(comm, "<...>"))
		comms_note(comms, pid, 0, r->comm);
}

static void blk_event(struct instance *i, unsigned int which, const struct event_view *v)
{
	struct blk_tracer *b = i->tracer_data;
	int32_t pid = ((const struct trace_entry *)v->data.record)->pid;
	struct blk_record r;

	if (!blk_records_read(&b->records, which, &v->data, &r))
		return;
	r.device = disk_of(b, i->t, r.device);
	if (!blk_selected(i->t->blk, &r, pid) || !instance_admits(i))
		return;
	if (which == BLK_UNPLUG && goes_to_sleep(v))
		blk_record_by_scheduler(&r);
	note_comm(&r, pid, i->t->comms);
	write_entry(v, &r);
}

const struct tracer_ops blk_tracer_ops = {
	.name = "blk",
	.desc = "what becomes of each request to a block device",
	.top = true,
	.needs = "__traceiter_block_rq_issue",
	.events = blk_record_events,
	.ordered = true, /* tasks move between getting a request and plugging it */
	.optional = BLK_RECORD_OPTIONAL,
	.stacks = 1 << BLK_UNPLUG,
	.init = blk_init,
	.exit = blk_exit,
	.start = blk_start,
	.event = blk_event,
};
