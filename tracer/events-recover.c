// SPDX-License-Identifier: GPL-2.0-or-later
/* events-recover.c - takes back what a tracer that was killed has registered. */
#include "tracer/events-internal.h"
#include "tracer/event-list.h"
#include "tracer/guest-work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of a module that has gone since there is nothing to ask for any more. *module: that is held for
 * it; 0.
 */
static bool is_tracepoint(const struct events *e, uint64_t va, uint64_t *module)
{
	*module = 0;
	if (va == events_runtime(e->t, "__tracepoint_sys_enter") ||
	    va == events_runtime(e->t, "__tracepoint_sys_exit"))
		return true;
	for (size_t i = 0; i < e->list.n; i++)
		if (e->list.v[i].tracepoint == va) {
			*module = e->list.v[i].module_at;
			return true;
		}
	return false;
}

/* Modules whose events the rows were about: they were held for them. */
struct held {
	struct borrow_call put[EVENT_TABLE_ROWS];
	size_t n;
};

static int rows_unregister(struct trace *t, struct window *w, size_t *n, struct held *held,
			   char *err, size_t errlen)
{
	struct payload_event *rows = calloc(EVENT_TABLE_ROWS, sizeof(*rows));
	struct borrow_call *calls = calloc(EVENT_TABLE_ROWS, sizeof(*calls));
	uint64_t fn = events_runtime(t, "tracepoint_probe_unregister"),
		 put = events_runtime(t, "module_put");
	int ret = rows && calls ? window_read(w, WINDOW_EVENT_TABLE, rows,
					      EVENT_TABLE_ROWS * sizeof(*rows))
				: -ENOMEM;

	for (size_t i = 0; i < EVENT_TABLE_ROWS && !ret; i++) {
		uint64_t module;

		if (!rows[i].tracepoint ||
		    !is_tracepoint(t->trace_events, rows[i].tracepoint, &module))
			continue;
		calls[(*n)++] = (struct borrow_call){
			.fn = fn, .arg = {rows[i].tracepoint, rows[i].probe, rows[i].data}};
		if (module && put)
			held->put[held->n++] = (struct borrow_call){.fn = put, .arg = {module}};
	}
	if (ret)
		snprintf(err, errlen, "the table of events cannot be read: %s", strerror(-ret));
	else
		ret = events_ask(t, w, w->header.work, calls, *n, err, errlen);
	free(rows);
	free(calls);
	return ret;
}

static int settle(struct trace *t, struct window *w)
{
	const struct guest_work work = {.gs = t->gs, .g = &t->guest, .borrow = t->borrow, .w = w};

	return guest_work_settle(&work);
}

static bool has_detours(const struct window *w)
{
	for (size_t i = 0; i < PAYLOAD_DETOURS; i++)
		if (w->header.detour[i].va)
			return true;
	return false;
}

int events_recover(struct trace *t, struct window *w, char *err, size_t errlen)
{
	struct held *held;
	size_t n = 0;
	int ret;

	if (!has_detours(w))
		return 0;
	held = calloc(1, sizeof(*held));
	if (!held) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	ret = events_load(t->trace_events);
	if (ret == -ENODATA || ret == -ENODEV)
		ret = 0; /* nobody has traced events of such a guest */
	else if (ret)
		snprintf(err, errlen, "the kernel's events cannot be read: %s", strerror(-ret));
	else if ((ret = settle(t, w)))
		snprintf(err, errlen, "the guest still does what an earlier hvtrace has begun");
	else
		ret = rows_unregister(t, w, &n, held, err, errlen);
	if (!ret && n)
		ret = events_synchronize(t, w, w->header.work, err, errlen);
	if (!ret && held->n)
		ret = events_ask(t, w, w->header.work, held->put, held->n, err, errlen);
	free(held);
	if (ret)
		return ret;
	ret = events_jumps_remove(t, w);
	if (ret)
		snprintf(err, errlen, "guest text cannot be restored: %s", strerror(-ret));
	return ret;
}
