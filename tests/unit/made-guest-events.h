/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-guest-events.h - trace events in the made-up memory of a guest (made-guest.h). */
#ifndef HVTRACE_TESTS_MADE_GUEST_EVENTS_H
#define HVTRACE_TESTS_MADE_GUEST_EVENTS_H

#include "tests/unit/made-guest.h"

struct made_event_field {
	const char *type, *name;
	uint32_t offset, size;
	bool is_signed;
	uint32_t filter_type, len;
};

static inline uint64_t heap_string(struct made_guest *g, const char *s)
{
	return heap_put(g, s, strlen(s) + 1);
}

static inline uint64_t made_peek(struct made_guest *g, uint64_t va)
{
	uint64_t v;

	memcpy(&v, made_page(g, va), 8);
	return v;
}

/* An empty list_head at va. */
static inline void made_list_init(struct made_guest *g, uint64_t va)
{
	made_poke(g, va, va, 8);
	made_poke(g, va + 8, va, 8);
}

/* As list_add() does: entry is behind head, in front of all others. */
static inline void made_list_push(struct made_guest *g, uint64_t head, uint64_t entry)
{
	uint64_t next = made_peek(g, head);

	made_poke(g, entry, next, 8);
	made_poke(g, entry + 8, head, 8);
	made_poke(g, next + 8, entry, 8);
	made_poke(g, head, entry, 8);
}

/* struct ftrace_event_field, as trace_define_field() makes it: its address. */
static inline uint64_t made_event_field(struct made_guest *g, uint64_t head,
					const struct made_event_field *f)
{
	uint64_t va = heap_put(g, NULL, FIELD_SIZE_OF);

	made_poke(g, va + FIELD_NAME, heap_string(g, f->name), 8);
	made_poke(g, va + FIELD_TYPE, heap_string(g, f->type), 8);
	made_poke(g, va + FIELD_FILTER_TYPE, f->filter_type, 4);
	made_poke(g, va + FIELD_OFFSET, f->offset, 4);
	made_poke(g, va + FIELD_SIZE, f->size, 4);
	/* A bit, and another that does not matter. */
	made_poke(g, va + FIELD_SIGNED, f->is_signed ? 3 : 1, 4);
	made_poke(g, va + FIELD_LEN, f->len, 4);
	made_list_push(g, head, va + FIELD_LINK);
	return va;
}

/* struct trace_event_class at va, which is all zero: va. */
static inline uint64_t made_event_class(struct made_guest *g, uint64_t va, const char *system,
					uint64_t probe, uint64_t reg)
{
	made_poke(g, va + CLASS_SYSTEM, heap_string(g, system), 8);
	made_poke(g, va + CLASS_PROBE, probe, 8);
	made_poke(g, va + CLASS_REG, reg, 8);
	made_list_init(g, va + CLASS_FIELDS);
	return va;
}

struct made_event {
	const char *name, *print_fmt;
	uint64_t class, module, data;
	uint32_t flags, type;
};

/* struct trace_event_call at va, which is all zero, in the list: va. */
static inline uint64_t made_event(struct made_guest *g, uint64_t va, const struct made_event *e)
{
	uint64_t name = heap_string(g, e->name);

	if (e->flags & EVENT_TRACEPOINT) {
		uint64_t tp = heap_put(g, NULL, 16);

		made_poke(g, tp + 8, name, 8);
		name = tp;
	}
	made_poke(g, va + EVENT_CLASS, e->class, 8);
	made_poke(g, va + EVENT_NAME, name, 8);
	made_poke(g, va + EVENT_TYPE, e->type, 4);
	made_poke(g, va + EVENT_PRINT_FMT, heap_string(g, e->print_fmt), 8);
	made_poke(g, va + EVENT_MODULE, e->module, 8);
	made_poke(g, va + EVENT_DATA, e->data, 8);
	made_poke(g, va + EVENT_FLAGS, e->flags, 4);
	made_list_push(g, made_addr(g, "ftrace_events"), va + EVENT_LIST);
	return va;
}

#endif
