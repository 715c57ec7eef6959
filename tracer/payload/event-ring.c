// SPDX-License-Identifier: GPL-2.0-or-later
/* event-ring.c - see event-ring.h */
#include "tracer/payload/event-ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int event_ring_init(struct event_ring *er, const struct staging_io *io, unsigned int vcpu,
		    uint64_t ring, uint32_t size)
{
	*er = (struct event_ring){
		.io = *io,
		.ctl = WINDOW_CTL + vcpu * CTL_SIZE,
		.ring = ring,
		.size = size,
		.copy = malloc(size),
	};
	return er->copy ? 0 : -ENOMEM;
}

void event_ring_exit(struct event_ring *er)
{
	free(er->copy);
	er->copy = NULL;
}

static int head_read(struct event_ring *er, uint64_t *head)
{
	return er->io.read(er->io.arg, er->ctl + CTL_EVENT_HEAD, head, sizeof(*head));
}

bool record_has_copy(const struct payload_record *r)
{
	if (record_is_event(r))
		return r->event_file & 1;
	return record_is_window_end(r) && r->parent & WINDOW_END_COPY;
}

static bool has_data(const struct payload_record *r)
{
	return record_is_event(r) || record_has_copy(r);
}

static uint32_t data_len(const struct payload_record *r)
{
	return record_is_event(r) ? r->event_len : 0;
}

/* Its place, no further back from `to` than the low half of it tells. */
static uint64_t place_of(uint64_t to, const struct payload_record *r)
{
	uint32_t at = record_is_event(r) ? r->event_at : r->parent & WINDOW_END_AT;

	return to - (uint32_t)((uint32_t)to - at);
}

static int copy_places(struct event_ring *er, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t at = from & (er->size - 1), len = er->size - at;
		int ret;

		if (len > to - from)
			len = to - from;
		ret = er->io.read(er->io.arg, er->ring + at, er->copy + at, len);
		if (ret)
			return ret;
		er->copied += len;
		from += len;
	}
	return 0;
}

/* The earliest place that one of them has within the ring's length before the head. */
static uint64_t first_place(const struct event_ring *er, uint64_t head,
			    const struct payload_record *r, size_t n)
{
	uint64_t first = head;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = has_data(&r[i]) ? place_of(head, &r[i]) : head;

		if (at < first && head - at <= er->size)
			first = at;
	}
	return first;
}

int event_ring_load(struct event_ring *er, const struct payload_record *r, size_t n)
{
	uint64_t head, from;
	int ret;

	er->from = er->to = 0;
	ret = head_read(er, &head);
	if (ret)
		return ret;
	from = first_place(er, head, r, n);
	ret = copy_places(er, from, head);
	er->to = head;
	/* What the guest has reserved meanwhile may have been overwritten while it was copied. */
	if (!ret)
		ret = head_read(er, &head);
	if (ret || head - er->to > er->size)
		from = er->to;
	else if (head > er->size && from < head - er->size)
		from = head - er->size;
	er->from = from;
	return ret;
}

int event_ring_taken(struct event_ring *er, const struct payload_record *r, size_t n)
{
	uint64_t tail;

	while (n && !has_data(&r[n - 1]))
		n--;
	if (!n)
		return 0;
	tail = place_of(er->to, &r[n - 1]);
	return er->io.write(er->io.arg, er->ctl + CTL_EVENT_TAIL, &tail, sizeof(tail));
}

struct event_stack *event_ring_add_stack(struct event_ring *er, uint32_t seq)
{
	struct event_stack *s = &er->stack[er->next_stack++ % EVENT_STACKS];

	*s = (struct event_stack){.seq = seq};
	return s;
}

const struct event_stack *event_ring_stack(const struct event_ring *er,
					   const struct payload_record *r)
{
	for (unsigned int i = 0; i < EVENT_STACKS; i++)
		if (er->stack[i].n && er->stack[i].seq == r->seq)
			return &er->stack[i];
	return NULL;
}

const void *event_ring_data(const struct event_ring *er, const struct payload_record *r)
{
	uint64_t at = place_of(er->to, r), pos = at & (er->size - 1);
	uint64_t end = EVENT_HEADER + (uint64_t)r->event_len;

	if (r->event_len > EVENT_MAX || at < er->from || at > er->to || end > er->to - at ||
	    end > er->size - pos)
		return NULL;
	return er->copy + pos + EVENT_HEADER;
}

bool event_ring_copy(const struct event_ring *er, const struct payload_record *r,
		     struct payload_stack *stack)
{
	const size_t head = offsetof(struct payload_stack, word);
	uint64_t at = place_of(er->to, r), pos = at & (er->size - 1), left;
	uint64_t off = (EVENT_HEADER + (uint64_t)data_len(r) + 7) & ~UINT64_C(7);
	size_t words;

	if (!record_has_copy(r) || data_len(r) > EVENT_COPY_LEN || at < er->from || at > er->to)
		return false;
	left = er->to - at < er->size - pos ? er->to - at : er->size - pos;
	if (off + head > left)
		return false;
	memcpy(stack, er->copy + pos + off, head);
	words = (size_t)stack->n + stack->task_n;
	if (stack->n > EVENT_COPY_WORDS || stack->task_n > EVENT_COPY_TASK_WORDS ||
	    off + head + words * sizeof(stack->word[0]) > left)
		return false;
	memcpy(stack->word, er->copy + pos + off + head, words * sizeof(stack->word[0]));
	return true;
}

uint64_t event_ring_at(const struct payload_header *h, unsigned int vcpu)
{
	return WINDOW_RINGS + (uint64_t)h->ring_size * h->nr_vcpus +
	       (uint64_t)h->event_ring_size * vcpu;
}
