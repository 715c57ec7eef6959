// SPDX-License-Identifier: GPL-2.0-or-later
/* eprobe-hit.c - the records of event probes. */
#include "tracer/events/define/fetch.h"
#include "tracer/events/filter/filter.h"
#include "tracer/events/trigger/trigger.h"
#include "tracer/guest/user.h"
#include "tracer/instance/eprobe.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/order.h"
#include "tracer/instance/view.h"

#include <errno.h>
#include <string.h>

enum { RECORD_MAX = 4000 }; /* as with other probes */

/*
 * Where a record's own strings are taken to be, the kernel has an address of its ring buffer; this
 * one is nobody's: no processor takes it for one of the kernel or of a task.
 */
#define RECORD_AT (UINT64_C(1) << 63)

struct hit {
	struct trace *t;
	const struct event_view *from;
	const struct guestsym_event_field *field;
};

/* False: that is outside of it. */
static bool record_get(const struct hit *h, size_t at, void *value, size_t size)
{
	const struct event_data *d = &h->from->data;

	if (at > d->len || d->len - at < size)
		return false;
	memcpy(value, (const uint8_t *)d->record + at, size);
	return true;
}

/* get_event_field(): all that is not of 1, 2 or 4 bytes is looked at as if it were of 8. */
static uint64_t number_at(const struct hit *h, const struct guestsym_event_field *f)
{
	uint32_t size = f->size == 1 || f->size == 2 || f->size == 4 ? f->size : 8;
	uint64_t value = 0;

	if (!record_get(h, f->offset, &value, size))
		return 0;
	return event_number_cut(value, size, f->is_signed);
}

static uint64_t field_value(void *arg, uint64_t number)
{
	const struct hit *h = arg;
	const struct guestsym_event_field *f = &h->field[number];
	uint32_t loc = 0;

	switch (f->kind) {
	case GUESTSYM_EVENT_STRING:
		return RECORD_AT + f->offset;
	case GUESTSYM_EVENT_DYN_STRING:
		record_get(h, f->offset, &loc, sizeof(loc));
		return RECORD_AT + (loc & 0xffff);
	case GUESTSYM_EVENT_RDYN_STRING:
		record_get(h, f->offset, &loc, sizeof(loc));
		return RECORD_AT + f->offset + sizeof(loc) + (loc & 0xffff);
	default:
		return number_at(h, f);
	}
}

/* What is behind the record's end reads as zeros: where its last string ends. */
static int read_record(const struct hit *h, uint64_t at, void *buf, size_t len)
{
	const struct event_data *d = &h->from->data;
	size_t n = at < d->len ? d->len - at : 0;

	if (at > RECORD_MAX)
		return -EFAULT;
	if (n > len)
		n = len;
	memset(buf, 0, len);
	memcpy(buf, (const uint8_t *)d->record + (n ? at : 0), n);
	return 0;
}

/* The task whose record it is, while it is still there to be asked. 0: it is not. */
static uint64_t task_of(const struct hit *h)
{
	const struct trace_entry *e = h->from->data.record;
	struct guest_kernel *g = &h->t->guest;
	uint64_t task = guest_current(g, h->from->data.cpu);
	int32_t pid;

	if (!task || g->at.task_pid == GUEST_NONE ||
	    guest_read(g, task + g->at.task_pid, &pid, sizeof(pid)) || pid != e->pid)
		return 0;
	return task;
}

static int read_memory(void *arg, bool user, uint64_t va, void *buf, size_t len)
{
	const struct hit *h = arg;
	uint64_t task;

	if (va >= RECORD_AT && va - RECORD_AT <= RECORD_MAX)
		return user ? -EFAULT : read_record(h, va - RECORD_AT, buf, len);
	if (!user)
		return guest_read(&h->t->guest, va, buf, len);
	task = task_of(h);
	return task ? user_read(&h->t->guest, &h->t->user, task, va, buf, len) : -EFAULT;
}

static size_t print_symbol(void *arg, uint64_t addr, char *buf, size_t size)
{
	return trace_print_symbol(((const struct hit *)arg)->t, addr, buf, size);
}

static size_t record_make(struct hit *h, const struct event_probe *ep, void *record)
{
	char comm[COMM_LEN + 1] = "";
	const struct fetch_hit at = {
		.comm = comm,
		.read = read_memory,
		.symbol = print_symbol,
		.field = field_value,
		.arg = h,
	};

	memcpy(comm, h->from->comm, COMM_LEN);
	h->field = events_list(h->t->trace_events)->v[ep->at].fields;
	event_view_entry(h->from, ep->event, 1, record);
	return fetch_args(ep->def->arg, ep->def->nr_args, &at, record, PROBE_EVENT_HEAD,
			  RECORD_MAX);
}

static void hit(struct hit *h, const struct event_probe *ep)
{
	struct instance *i = h->from->i;
	struct event_view view;
	union {
		struct trace_entry e;
		uint8_t bytes[RECORD_MAX];
	} record;
	size_t len;

	if (!event_filter_match(ep->filter, &h->from->data))
		return;
	len = record_make(h, ep, record.bytes);
	if (!len)
		return;
	event_view_init(&view, i, h->from->data.cpu, record.bytes, len, h->from->data.time,
			h->from->stack);
	view.tsc = h->from->tsc;
	view.depth = h->from->depth + 1;
	instance_put_event(i, ep->event, &view);
}

/* As deep as records lead to records. */
/* NOLINTNEXTLINE(misc-no-recursion) */
void event_probes_hit(const struct event_probes *p, uint32_t event, const struct event_view *from)
{
	struct hit h = {.t = p->t, .from = from};

	if (from->depth == EVENT_VIEW_DEPTH || from->data.len < sizeof(struct trace_entry))
		return;
	for (const struct event_probe *ep = p->first; ep; ep = ep->next)
		if (ep->at == event && instance_takes_event(from->i, from->data.cpu, ep->event))
			hit(&h, ep);
}

bool event_probes_want_stacks(const struct event_probes *p, const struct instance *i,
			      uint32_t event)
{
	for (const struct event_probe *ep = p->first; ep; ep = ep->next) {
		const struct event_state *s = &i->events[ep->event];

		if (ep->at == event && s->attached && s->triggers &&
		    event_triggers_want_stacks(s->triggers))
			return true;
	}
	return false;
}
