// SPDX-License-Identifier: GPL-2.0-or-later
/* recover.c - takes back what a tracer that was killed has registered. */
#include "tracer/tracepoint/internal.h"
#include "tracer/instance/files.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/window/work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCS_MAX 64 /* probes of a tracepoint */

/* Of a module that has gone since there is nothing to ask for any more. */
static bool is_tracepoint(const struct events *e, uint64_t va)
{
	if (va == trace_runtime(e->t, "__tracepoint_sys_enter") ||
	    va == trace_runtime(e->t, "__tracepoint_sys_exit"))
		return true;
	for (size_t i = 0; i < e->list.n; i++)
		if (e->list.v[i].tracepoint == va)
			return true;
	return false;
}

/* Of struct tracepoint, and of what its `funcs` points to: struct tracepoint_func, up to one
 * without func. */
struct tracepoint_layout {
	struct guestsym_field funcs, func, data;
	uint32_t size;
};

static bool layout_read(const struct guestsym *gs, struct tracepoint_layout *at)
{
	return !guestsym_field(gs, "tracepoint.funcs", &at->funcs) &&
	       !guestsym_field(gs, "tracepoint_func.func", &at->func) &&
	       !guestsym_field(gs, "tracepoint_func.data", &at->data) &&
	       !guestsym_type_size(gs, "tracepoint_func", &at->size);
}

/* A tracer that was killed may have come no further than the row, or further than the probe's end.
 */
static bool is_registered(struct trace *t, const struct tracepoint_layout *at,
			  const struct payload_event *row)
{
	uint64_t funcs, func, data;

	if (guest_read(&t->guest, row->tracepoint + at->funcs.offset, &funcs, sizeof(funcs)))
		return true;
	for (unsigned int i = 0; funcs && i < FUNCS_MAX; i++) {
		uint64_t va = funcs + (uint64_t)i * at->size;

		if (guest_read(&t->guest, va + at->func.offset, &func, sizeof(func)) ||
		    guest_read(&t->guest, va + at->data.offset, &data, sizeof(data)))
			return true;
		if (!func)
			return false;
		if (func == row->probe && data == row->data)
			return true;
	}
	return funcs != 0;
}

bool events_probe_is_there(struct trace *t, const struct payload_event *probe)
{
	struct tracepoint_layout at;

	return !layout_read(t->gs, &at) || is_registered(t, &at, probe);
}

bool events_probes_can_be_seen(const struct trace *t)
{
	struct tracepoint_layout at;

	return layout_read(t->gs, &at);
}

/* What of the calls is left to do. */
static size_t calls_thin(struct trace *t, struct borrow_call *calls, size_t n)
{
	struct tracepoint_layout at;
	size_t left = 0;

	if (!layout_read(t->gs, &at))
		return n;
	machine_pause_for(t->m, "switching off the trace events of a killed hvtrace");
	for (size_t i = 0; i < n; i++) {
		const struct payload_event row = {calls[i].arg[0], calls[i].arg[1],
						  calls[i].arg[2]};

		if (is_registered(t, &at, &row))
			calls[left++] = calls[i];
	}
	machine_resume(t->m);
	return left;
}

static int rows_unregister(struct trace *t, struct window *w, size_t *n, char *err, size_t errlen)
{
	struct payload_event *rows = calloc(EVENT_TABLE_ROWS, sizeof(*rows));
	struct borrow_call *calls = calloc(EVENT_TABLE_ROWS, sizeof(*calls));
	uint64_t fn = trace_runtime(t, "tracepoint_probe_unregister");
	int ret = rows && calls ? window_read(w, WINDOW_EVENT_TABLE, rows,
					      EVENT_TABLE_ROWS * sizeof(*rows))
				: -ENOMEM;

	for (size_t i = 0; i < EVENT_TABLE_ROWS && !ret; i++)
		if (rows[i].tracepoint && is_tracepoint(t->trace_events, rows[i].tracepoint))
			calls[(*n)++] = (struct borrow_call){
				.fn = fn,
				.arg = {rows[i].tracepoint, rows[i].probe, rows[i].data},
			};
	if (ret)
		snprintf(err, errlen, "the table of events cannot be read: %s", strerror(-ret));
	else
		ret = events_ask(t, w, w->header.work, calls, calls_thin(t, calls, *n), err,
				 errlen);
	free(rows);
	free(calls);
	return ret;
}

/* Also the modules that were held for what is registered no more. */
static int take_back(struct trace *t, struct window *w, char *err, size_t errlen)
{
	struct borrow_call *puts = calloc(2 * EVENT_HELD_ROWS, sizeof(*puts));
	size_t n = 0, nr_puts = 0;
	int ret = puts ? rows_unregister(t, w, &n, err, errlen) : -ENOMEM;

	if (!puts)
		snprintf(err, errlen, "no memory");
	if (!ret) {
		ret = events_held_calls(t, w, puts, &nr_puts);
		if (ret)
			snprintf(err, errlen, "the table of modules cannot be read: %s",
				 strerror(-ret));
	}
	if (!ret && (n || nr_puts))
		ret = events_synchronize(t, w, w->header.work, err, errlen);
	if (!ret)
		ret = events_ask(t, w, w->header.work, puts, nr_puts, err, errlen);
	free(puts);
	return ret;
}

static int settle(struct trace *t, struct window *w)
{
	const struct guest_work work = events_work(t, w, 0);

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
	int ret;

	if (!has_detours(w))
		return 0;
	ret = events_load(t->trace_events);
	if (ret == -ENODATA || ret == -ENODEV)
		ret = 0; /* nobody has traced events of such a guest */
	else if (ret)
		snprintf(err, errlen, "the kernel's events cannot be read: %s", strerror(-ret));
	else if ((ret = settle(t, w)))
		snprintf(err, errlen, "the guest still does what an earlier hvtrace has begun");
	else
		ret = take_back(t, w, err, errlen);
	if (!ret)
		ret = own_events_recover(t, w, err, errlen);
	if (ret)
		return ret;
	ret = events_jumps_remove(t, w);
	if (ret)
		snprintf(err, errlen, "guest text cannot be restored: %s", strerror(-ret));
	return ret;
}
