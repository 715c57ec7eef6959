// SPDX-License-Identifier: GPL-2.0-or-later
/* probe-rows.c - see probe-rows.h */
#include "tracer/dynevent/probe-rows.h"
#include "tracer/instance/files.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <string.h>

#define ENOTSUPP 524 /* include/linux/errno.h: what no program knows */

uint64_t probe_row_at(unsigned int row)
{
	return WINDOW_PROBES + (uint64_t)row * PROBE_ROW_SIZE;
}

uint64_t probe_row_va(const struct window *w, unsigned int row)
{
	return w->header.va + probe_row_at(row);
}

uint64_t probe_row_get(const struct probe_row *r, uint32_t offset, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, r->bytes + offset, size);
	return value;
}

void probe_row_put(struct probe_row *r, uint32_t offset, const void *value, size_t size)
{
	memcpy(r->bytes + offset, value, size);
}

uint32_t probe_row_kind(const struct probe_row *r)
{
	return (uint32_t)probe_row_get(r, PROBE_ROW_KIND, 4);
}

int probe_row_read(struct window *w, unsigned int row, struct probe_row *r)
{
	return window_read(w, probe_row_at(row), r->bytes, sizeof(r->bytes));
}

int probe_row_write(struct window *w, unsigned int row, const struct probe_row *r)
{
	return window_write(w, probe_row_at(row), r->bytes, sizeof(r->bytes));
}

int probe_row_find(struct guest_probes *g)
{
	if (g->closed)
		return -ENODEV;
	for (unsigned int row = 0; row < PROBE_ROWS; row++)
		if (!g->row[row].kind)
			return (int)row;
	trace_note(g->t, "there are %d probes, and no room for more", PROBE_ROWS);
	return -ENOSPC;
}

void probe_row_set(struct guest_probes *g, unsigned int row, uint32_t kind)
{
	__atomic_store_n(&g->row[row].kind, kind, __ATOMIC_RELEASE);
}

int guest_probes_ask(struct guest_probes *g, struct borrow_call *calls, size_t n)
{
	struct trace *t = g->t;
	char err[256];
	int ret = events_ask(t, trampoline_window(t), trampoline_text(t)->work, calls, n, err,
			     sizeof(err));

	if (ret)
		trace_note(t, "probes: %s", err);
	return ret == -EINPROGRESS ? -ETIMEDOUT : ret;
}

int guest_probes_said(const struct borrow_call *call)
{
	int ret = (int)call->ret;

	if (ret == -ENOTSUPP)
		return -EOPNOTSUPP;
	return ret < -4095 ? -EIO : ret;
}
