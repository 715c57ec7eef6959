// SPDX-License-Identifier: GPL-2.0-or-later
/* order.c - see order.h */
#include "tracer/instance/order.h"
#include "tracer/events/trigger/trigger.h"
#include "tracer/instance/call.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/view.h"
#include "tracer/payload/payload.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of one vCPU: what does not fit in goes at once, in whatever order. */
#define FIFO_MIN ((size_t)1 << 16)
#define FIFO_MAX ((size_t)1 << 25)

enum waiting_kind { WAITING_CALL, WAITING_EVENT, WAITING_ENTRY };

/* With its data behind it. */
struct waiting {
	uint64_t tsc, ts;
	uint32_t size; /* of all, a multiple of 8 */
	uint32_t kind;
	uint32_t event, len;
	uint32_t stack; /* bytes of what was looked at of it, before the record */
	uint16_t depth;
	uint8_t uses; /* enum event_use, or enum entry_use */
	_Alignas(8) uint8_t data[];
};

struct fifo {
	uint8_t *bytes;
	size_t from, to, room;
	uint64_t last; /* TSC of what was added last */
};

struct instance_order {
	struct fifo vcpu[MACHINE_MAX_VCPUS];
	uint64_t before; /* the latest that there was when the last pass ended */
	uint64_t hold;	 /* what is later waits in any case */
};

void instance_order_want(struct instance *i, enum order_reason why, bool wanted)
{
	unsigned int now = wanted ? i->ordered_for | why : i->ordered_for & ~(unsigned int)why;

	i->ordered_for = now;
	if (now && !i->order) {
		i->order = calloc(1, sizeof(*i->order));
		if (i->order)
			i->order->hold = UINT64_MAX;
	} else if (!now && i->order) {
		i->order->hold = UINT64_MAX;
		instance_order_flush(i);
		instance_order_free(i);
	}
}

void instance_order_free(struct instance *i)
{
	for (unsigned int v = 0; i->order && v < MACHINE_MAX_VCPUS; v++)
		free(i->order->vcpu[v].bytes);
	free(i->order);
	i->order = NULL;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool fifo_reserve(struct fifo *f, size_t size)
{
	size_t room = f->room ? f->room : FIFO_MIN;
	uint8_t *bytes;

	if (f->from) {
		memmove(f->bytes, f->bytes + f->from, f->to - f->from);
		f->to -= f->from;
		f->from = 0;
	}
	while (room < f->to + size)
		room *= 2;
	if (room == f->room)
		return true;
	bytes = room > FIFO_MAX ? NULL : realloc(f->bytes, room);
	if (!bytes)
		return false;
	f->bytes = bytes;
	f->room = room;
	return true;
}

/* Room for len bytes behind it. NULL: there is none. Nothing is earlier than what came before. */
static struct waiting *add(struct instance *i, unsigned int vcpu, uint64_t tsc, uint64_t ts,
			   size_t len)
{
	struct fifo *f = &i->order->vcpu[vcpu];
	size_t size = (sizeof(struct waiting) + len + 7) & ~(size_t)7;
	struct waiting *w;

	if (f->room - f->to < size && !fifo_reserve(f, size))
		return NULL;
	if (tsc < f->last)
		tsc = f->last;
	f->last = tsc;
	w = (struct waiting *)(f->bytes + f->to);
	f->to += size;
	*w = (struct waiting){.tsc = tsc, .ts = ts, .size = (uint32_t)size, .len = (uint32_t)len};
	return w;
}

bool instance_order_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			 uint64_t ts)
{
	struct waiting *w = instance_is_ordered(i) ? add(i, vcpu, r->tsc, ts, sizeof(*r)) : NULL;

	if (!w)
		return false;
	w->kind = WAITING_CALL;
	memcpy(w->data, r, sizeof(*r));
	return true;
}

bool instance_order_entry(struct instance *i, unsigned int vcpu, const struct entry *e)
{
	struct waiting *w = instance_is_ordered(i) ? add(i, vcpu, e->tsc, e->ts, e->len) : NULL;

	if (!w)
		return false;
	w->kind = WAITING_ENTRY;
	w->uses = (uint8_t)e->uses;
	memcpy(w->data, e->data, e->len);
	return true;
}

bool instance_order_event(struct instance *i, uint32_t event, const struct event_view *view)
{
	size_t stack = view->stack ? sizeof(*view->stack) : 0;
	struct waiting *w;

	if (!instance_is_ordered(i))
		return false;
	w = add(i, view->data.cpu, view->tsc, view->data.time, stack + view->data.len);
	if (!w)
		return false;
	w->kind = WAITING_EVENT;
	w->event = event;
	w->len = (uint32_t)view->data.len;
	w->depth = (uint16_t)view->depth;
	w->uses = (uint8_t)view->uses;
	w->stack = (uint32_t)stack;
	if (stack)
		memcpy(w->data, view->stack, stack);
	memcpy(w->data + stack, view->data.record, view->data.len);
	return true;
}

/* --- going on --------------------------------------------------------------------------------- */

static void put_event(struct instance *i, unsigned int vcpu, const struct waiting *w)
{
	const struct event_stack *stack = w->stack ? (const void *)w->data : NULL;
	struct event_view view;

	event_view_init(&view, i, vcpu, w->data + w->stack, w->len, w->ts, stack);
	view.tsc = w->tsc;
	view.depth = w->depth;
	view.uses = w->uses;
	instance_put_event(i, w->event, &view);
}

static void put(struct instance *i, unsigned int vcpu, const struct waiting *w)
{
	struct payload_record r;

	switch (w->kind) {
	case WAITING_CALL:
		memcpy(&r, w->data, sizeof(r));
		instance_admit_call(i, vcpu, &r, w->ts);
		break;
	case WAITING_EVENT:
		put_event(i, vcpu, w);
		break;
	default:
		instance_put_entry(i, vcpu,
				   &(struct entry){.tsc = w->tsc,
						   .ts = w->ts,
						   .data = w->data,
						   .len = w->len,
						   .uses = w->uses});
	}
}

static struct waiting *first_of(const struct fifo *f)
{
	return f->from < f->to ? (struct waiting *)(f->bytes + f->from) : NULL;
}

uint64_t instance_order_last(const struct instance *i, unsigned int vcpu)
{
	const struct fifo *f = i->order ? &i->order->vcpu[vcpu] : NULL;

	return f && first_of(f) ? f->last : 0;
}

bool instance_order_waits(const struct instance *i, unsigned int vcpu, uint64_t until)
{
	const struct waiting *w = i->order ? first_of(&i->order->vcpu[vcpu]) : NULL;

	return w && w->tsc <= until;
}

/* The vCPU whose first is the earliest, if it is not later than that; MACHINE_MAX_VCPUS: none. */
static unsigned int earliest(const struct instance *i, uint64_t until)
{
	unsigned int at = MACHINE_MAX_VCPUS;

	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		const struct waiting *w = first_of(&i->order->vcpu[v]);

		if (!w || w->tsc > until)
			continue;
		if (at < MACHINE_MAX_VCPUS && w->tsc == until)
			continue;
		at = v;
		until = w->tsc;
	}
	return at;
}

static void go_on(struct instance *i, uint64_t until)
{
	unsigned int v;

	if (until > i->order->hold)
		until = i->order->hold;
	i->in_order = true;
	while ((v = earliest(i, until)) < MACHINE_MAX_VCPUS) {
		struct fifo *f = &i->order->vcpu[v];
		struct waiting *w = first_of(f);

		put(i, v, w);
		f->from += w->size;
		if (f->from == f->to)
			f->from = f->to = 0;
	}
	i->in_order = false;
}

void instance_order_pass(struct instance *i, uint64_t behind)
{
	struct instance_order *o = i->order;
	uint64_t at = o ? o->before : 0;

	if (!o)
		return;
	o->before = 0;
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		uint64_t last = o->vcpu[v].last;

		if (behind >> v & 1 && last < at)
			at = last;
		o->before = last > o->before ? last : o->before;
	}
	go_on(i, i->tracer->max ? UINT64_MAX : at);
}

void instance_order_flush(struct instance *i)
{
	if (i->order)
		go_on(i, UINT64_MAX);
}

void instance_order_hold(struct instance *i, uint64_t tsc)
{
	if (!i->order)
		return;
	i->order->hold = tsc;
	if (tsc != UINT64_MAX)
		go_on(i, tsc);
}
