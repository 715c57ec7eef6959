/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of returns.h share. */
#ifndef HVTRACE_TRACER_PROBE_RETURNS_INTERNAL_H
#define HVTRACE_TRACER_PROBE_RETURNS_INTERNAL_H

#include "tracer/guest/site.h"
#include "tracer/guest/static-calls.h"
#include "tracer/probe/returns/map.h"
#include "tracer/probe/returns/returns.h"

#include <string.h>

/* The site of a return: as the kernel has it, at its link address. */
struct form {
	uint64_t va;
	uint8_t size;
	uint8_t bytes[SITE_SIZE];
};

struct wanted {
	struct form form;
	uint16_t flags;
};

struct wanted_list {
	struct wanted *v;
	size_t nr, room;
};

struct place {
	struct form form;
	uint32_t probe;
};

struct returns {
	bool known;
	bool decoded; /* there are no sites: the instructions themselves are looked for */
	bool told;    /* what that costs */
	struct static_calls static_calls;
	uint64_t thunk;
	uint64_t *listed; /* the image's return sites, by link address */
	size_t nr_listed;
	struct place *at; /* the probes of return sites, by address */
	size_t nr;
};

/* What is looked through for returns. */
struct returns_text {
	struct trace *t;
	struct text_map map;
	struct text_view view;
	uint8_t *code; /* of the piece that was read last */
};

/* The text as it is now; the machine is paused. NULL: no memory. */
struct returns_text *returns_text_new(struct trace *t);
void returns_text_free(struct returns_text *x);
/* Have the bytes of p in x->code, as they are without our probes. Their number; 0: unreadable. */
size_t returns_text_read(struct returns_text *x, const struct piece *p);

/* What a return looks like. 0 or -ENOMEM. */
int returns_learn_form(struct returns *r, struct returns_text *x);

/* The sites of all returns that are wished for, by address; free(list->v). 0 or -ENOMEM. */
int returns_search(struct trace *t, const struct returns_wish *wish, struct wanted_list *list);

/* These are wanted, and no others. 0 or -ENOMEM. */
int returns_settle(struct trace *t, const struct wanted_list *l);
/* Is a probe in the guest at va (link address)? */
bool returns_probe_set(const struct trace *t, uint64_t va);

/* For sorted tables whose rows begin with an address. */
static inline int returns_by_va(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* Of the jmp at va, with four bytes of offset. */
static inline uint64_t jump_target(const uint8_t *insn, uint64_t va)
{
	int32_t rel;

	memcpy(&rel, insn + 1, sizeof(rel));
	return va + SITE_SIZE + (uint64_t)(int64_t)rel;
}

#endif
