// SPDX-License-Identifier: GPL-2.0-or-later
/* trampoline.c - gets the payload into a guest, and out again. */
#include "tracer/probe/trampoline/internal.h"
#include "tracer/guest/tasks.h"
#include "tracer/window/quiesce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_MS       20000
#define RING_MIN       (UINT64_C(64) << 10) /* of a vCPU, bytes */
#define EVENT_RING_MAX (UINT64_C(2) << 20)  /* likewise; it is copied as a whole */

/* Each block that the guest is asked for makes it stand for a moment: these do with less. */
#define FEW_FUNCTIONS 1000

struct window *trampoline_window_of(struct trampoline *tr)
{
	return &tr->window;
}

struct window *trampoline_window(const struct trace *t)
{
	return &t->tramp->window;
}

const struct payload_text *trampoline_text(const struct trace *t)
{
	return &t->tramp->text;
}

/* The code lies in the window's first piece. */
struct machine_trap trampoline_trap(struct trace *t, uint32_t entry, uint64_t cookie)
{
	const struct payload_header *h = &trampoline_window(t)->header;

	return (struct machine_trap){
		.va = h->va + WINDOW_TEXT + entry,
		.pa = h->piece_pa[0] + WINDOW_TEXT + entry,
		.size = 2,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_SKIP,
		.cookie = cookie,
	};
}

/* --- the window ------------------------------------------------------------------------------ */

static size_t functions_to_record(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->probes.nr; i++)
		n += (t->probes.v[i].flags & (PROBE_FL_RECORD | PROBE_FL_EXIT | PROBE_FL_FLAG)) ==
		     PROBE_FL_RECORD;
	return n;
}

/* Of each vCPU: of records, and of the data of events. */
struct rings {
	uint64_t records, events;
};

static uint64_t largest_ring(uint64_t max)
{
	uint64_t size = RING_MIN;

	while (2 * size <= max)
		size *= 2;
	return size;
}

/*
 * Those for which a window of this size has room. With many functions the ring of records is as
 * large as it can be, and that of event data gets what is left; with few, events make most of the
 * records, if there are any.
 */
static struct rings rings_divide(const struct trace *t, uint64_t window, bool few)
{
	uint64_t each = (window / WINDOW_PIECE * WINDOW_PIECE - WINDOW_RINGS) / t->vcpus;
	struct rings r = {.events = RING_MIN};

	if (each < 2 * RING_MIN)
		each = 2 * RING_MIN;
	if (few)
		r.events = largest_ring(each / 4);
	r.records = largest_ring(each - r.events);
	if (!few)
		r.events = largest_ring(each - r.records);
	if (r.events > EVENT_RING_MAX)
		r.events = EVENT_RING_MAX;
	return r;
}

/* What these take, with all the rest, in whole pieces. */
static uint64_t rings_window(const struct trace *t, const struct rings *r)
{
	uint64_t size = WINDOW_RINGS + (r->records + r->events) * t->vcpus;

	return (size + WINDOW_PIECE - 1) / WINDOW_PIECE * WINDOW_PIECE;
}

/* A guest with much memory can lend more; how much it has to lend, and how much it is asked for. */
static uint64_t window_bytes(const struct trace *t, bool few, uint64_t *most)
{
	uint64_t least = few ? TRACE_WINDOW_FEW(t->vcpus) : TRACE_WINDOW_DEFAULT(t->vcpus);
	uint64_t large = TRACE_WINDOW_LARGE(t->vcpus);
	struct machine_info info;

	if (t->cfg.window_bytes)
		return *most = t->cfg.window_bytes;
	machine_get_info(t->m, &info);
	*most = info.memory / TRACE_WINDOW_SHARE;
	if (*most > large)
		*most = large;
	if (*most > TRACE_WINDOW_MAX)
		*most = TRACE_WINDOW_MAX;
	if (few || *most < least)
		*most = least;
	return least;
}

/* The payload looks for the control block of whatever CPU it runs on, plugged in or not. */
static int blocks_suffice(const struct trace *t, char *err, size_t errlen)
{
	struct machine_info info;

	machine_get_info(t->m, &info);
	if (info.max_vcpus <= CTL_BLOCKS)
		return 0;
	snprintf(err, errlen, "the guest can have up to %u vCPUs, more than %d", info.max_vcpus,
		 CTL_BLOCKS);
	return -E2BIG;
}

static int window_get(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	size_t nr = functions_to_record(t);
	bool few = nr <= FEW_FUNCTIONS;
	/* Without any it is events, of which there may be many. */
	uint64_t most, least = window_bytes(t, few && nr, &most), min;
	struct rings rings = rings_divide(t, least, few);
	struct window *w = &tr->window;
	int ret = blocks_suffice(t, err, errlen);

	if (ret)
		return ret;
	min = rings_window(t, &rings);
	rings = rings_divide(t, most, few);
	/* Of a machine that has one itself it takes nothing from the guest. */
	ret = window_open(w, &t->guest, trace_has_window(t) ? NULL : t->borrow,
			  rings_window(t, &rings), min, err, errlen);
	if (ret)
		return ret;
	if (w->header.size < rings_window(t, &rings))
		rings = rings_divide(t, w->header.size, few);
	w->header.ring_size = (uint32_t)rings.records;
	w->header.event_ring_size = (uint32_t)rings.events;
	w->header.nr_vcpus = t->vcpus;
	return 0;
}

/* --- opening and closing --------------------------------------------------------------------- */

/* A guest that its host has left waits for no answer. */
static int tell_of_host(struct trace *t, struct window *w)
{
	static const uint64_t here = HOST_HERE;
	const struct machine_gone_word word = {
		.pa = w->header.piece_pa[0] + WINDOW_HOST,
		.here = here,
		.gone = HOST_GONE,
	};
	int ret = window_write(w, WINDOW_HOST, &here, sizeof(here));

	return ret ? ret : machine_when_gone(t->m, &word);
}

/* The payload is there; nobody else knows of it. */
static int payload_open(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	int ret = trampoline_load(t, tr, err, errlen);

	if (!ret) {
		ret = trampoline_control_init(t, tr);
		if (!ret)
			ret = trampoline_describe_lockers(t, &tr->window);
		if (!ret)
			ret = tell_of_host(t, &tr->window);
		if (ret)
			snprintf(err, errlen, "the window cannot be written: %s", strerror(-ret));
	}
	return ret;
}

int trampoline_new(struct trace *t, struct trampoline **to, char *err, size_t errlen)
{
	struct trampoline *tr = calloc(1, sizeof(*tr));
	char ignored[256];
	int ret;

	*to = tr;
	if (!tr) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	ret = window_get(t, tr, err, errlen);
	if (!ret) {
		atomic_store(&t->window, tr->window.header.va);
		ret = payload_open(t, tr, err, errlen);
		if (ret)
			trampoline_close(t, tr, ignored, sizeof(ignored));
	}
	if (ret)
		trampoline_free(tr);
	return ret;
}

void trampoline_entered(struct trampoline *tr)
{
	tr->called = true;
}

int trampoline_quiet(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	const struct quiesce_patience patience = {.ms = QUIET_MS, .to_undo = true};
	int ret = tr->called ? quiesce(&t->guest, t->gs, &tr->window, patience) : 0;

	if (ret)
		snprintf(err, errlen, "the guest does not leave the probes' code: %s",
			 tasks_strerror(ret));
	return ret;
}

bool trampoline_stays(const struct trampoline *tr)
{
	return tr->stays;
}

int trampoline_close(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	int ret;

	machine_when_gone(t->m, NULL);
	ret = window_close(&tr->window, t->borrow, err, errlen);
	if (!ret)
		atomic_store(&t->window, 0);
	return ret;
}

void trampoline_free(struct trampoline *tr)
{
	free(tr);
}
