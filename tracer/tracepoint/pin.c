// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin.c - the events of modules that come and go.
 *
 * A module whose event is registered is held, as by one that uses it: in the guest rmmod says that
 * it is in use. Without that its kernel would free the probe, and warn of the tracepoint. What is
 * held stands in the window, where the guest itself notes it.
 */
#include "tracer/tracepoint/internal.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/window/work.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

_Static_assert(2 * EVENT_HELD_ROWS <= WORK_CALLS_MAX, "letting go is one with telling of it");

struct module_calls {
	struct borrow_call call[2 * EVENT_HELD_ROWS];
	uint32_t row[2 * EVENT_HELD_ROWS];
	size_t n;
};

static uint64_t row_at(uint32_t row)
{
	return WINDOW_EVENT_HELD + row * sizeof(struct payload_held);
}

static bool row_is_held(const struct payload_held *row)
{
	return (uint8_t)row->held;
}

static int row_read(struct events *e, uint32_t row, struct payload_held *h)
{
	return window_read(trampoline_window(e->t), row_at(row), h, sizeof(*h));
}

/* What the guest has said when it was asked. */
static bool is_held(struct events *e, uint32_t row)
{
	struct payload_held h;

	return !row_read(e, row, &h) && row_is_held(&h);
}

/* The module's row, or one that is free; -ENOSPC. */
static int row_of(const struct events *e, uint64_t module)
{
	int row = -ENOSPC;

	for (int i = 0; i < EVENT_HELD_ROWS; i++) {
		if (e->held[i] == module)
			return i;
		if (!e->held[i] && row < 0)
			row = i;
	}
	return row;
}

static int row_write(struct events *e, uint32_t row, uint64_t module)
{
	const struct payload_held h = {.module = module};
	int ret = window_write(trampoline_window(e->t), row_at(row), &h, sizeof(h));

	if (!ret)
		e->held[row] = module;
	return ret;
}

static int ask(struct events *e, struct module_calls *c)
{
	char err[256] = "";
	int ret = events_ask(e->t, trampoline_window(e->t), trampoline_text(e->t)->work, c->call,
			     c->n, err, sizeof(err));

	if (ret)
		trace_note(e->t, "trace events of modules: %s", err);
	return ret == -EINPROGRESS ? -ETIMEDOUT : ret;
}

/* The row is known in the window before the guest is asked. */
static int get_add(struct events *e, struct module_calls *c, uint64_t get, uint64_t module)
{
	int row = row_of(e, module), ret;

	if (row < 0) {
		trace_note(e->t, "trace events of modules: no more than %d modules can be held",
			   EVENT_HELD_ROWS);
		return row;
	}
	if (e->held[row])
		return 0;
	if (!trace_runtime(e->t, "module_put") || !trace_runtime(e->t, "memset"))
		return -EOPNOTSUPP;
	ret = row_write(e, (uint32_t)row, module);
	if (ret)
		return ret;
	c->row[c->n] = (uint32_t)row;
	c->call[c->n++] = (struct borrow_call){
		.fn = get,
		.arg = {module},
		.ret_to = events_window_va(e, row_at((uint32_t)row) +
						      offsetof(struct payload_held, held)),
	};
	return 0;
}

/* Of those that are about to go nothing is wanted. */
static void want_held(struct events *e, bool *want)
{
	const struct guestsym_event_list *list = events_list(e);

	for (uint32_t i = 0; i < list->n; i++) {
		int row;

		if (!want[i] || !list->v[i].module_at)
			continue;
		row = row_of(e, list->v[i].module_at);
		want[i] = row >= 0 && is_held(e, (uint32_t)row);
	}
}

static int pin(struct events *e, struct module_calls *c, bool *want, uint64_t get)
{
	const struct guestsym_event_list *list = events_list(e);
	int ret = 0;

	for (uint32_t i = 0; i < list->n && !ret; i++)
		if (want[i] && list->v[i].module_at)
			ret = get_add(e, c, get, list->v[i].module_at);
	if (!ret)
		ret = ask(e, c);
	for (size_t i = 0; i < c->n; i++)
		/* The guest may get to it yet: then it will be found in the row. */
		if (ret != -ETIMEDOUT && !is_held(e, c->row[i]))
			row_write(e, c->row[i], 0);
	want_held(e, want);
	return ret;
}

int events_pin(struct events *e, bool *want)
{
	uint64_t get = trace_runtime(e->t, "try_module_get");
	struct module_calls *c;
	int ret;

	if (!get)
		return 0; /* then modules cannot be unloaded */
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	ret = pin(e, c, want, get);
	free(c);
	return ret;
}

static bool any_is_registered(const struct events *e, uint64_t module)
{
	const struct guestsym_event_list *list = &e->list;

	for (uint32_t i = 0; i < list->n; i++)
		if (e->registered[i] && list->v[i].module_at == module)
			return true;
	return false;
}

/* Letting it go and telling of that are of one piece: see payload_held. */
static size_t put_add(struct trace *t, struct borrow_call *calls, uint64_t row_va, uint64_t module)
{
	calls[0] = (struct borrow_call){.fn = trace_runtime(t, "module_put"), .arg = {module}};
	calls[1] = (struct borrow_call){.fn = trace_runtime(t, "memset"),
					.arg = {row_va, 0, sizeof(struct payload_held)}};
	return 2;
}

static int unpin(struct events *e, struct module_calls *c)
{
	char err[256] = "";
	int ret;

	for (uint32_t row = 0; row < EVENT_HELD_ROWS; row++) {
		if (!e->held[row] || any_is_registered(e, e->held[row]) || !is_held(e, row))
			continue;
		c->row[c->n + 1] = row;
		c->n += put_add(e->t, c->call + c->n, events_window_va(e, row_at(row)),
				e->held[row]);
	}
	if (!c->n)
		return 0;
	/* Nobody may be in a probe any more when its module goes. */
	ret = events_synchronize(e->t, trampoline_window(e->t), trampoline_text(e->t)->work, err,
				 sizeof(err));
	if (*err)
		trace_note(e->t, "trace events of modules: %s", err);
	if (!ret)
		ret = ask(e, c);
	for (size_t i = 1; i < c->n; i += 2)
		if (c->call[i].done)
			e->held[c->row[i]] = 0;
	return ret;
}

int events_unpin(struct events *e)
{
	struct module_calls *c = calloc(1, sizeof(*c));
	int ret = c ? unpin(e, c) : -ENOMEM;

	free(c);
	return ret;
}

static bool has_events(const struct events *e, uint64_t module)
{
	for (size_t i = 0; i < e->list.n; i++)
		if (e->list.v[i].module_at == module)
			return true;
	return false;
}

int events_held_calls(struct trace *t, struct window *w, struct borrow_call *calls, size_t *n)
{
	struct payload_held *rows = calloc(EVENT_HELD_ROWS, sizeof(*rows));
	int ret = rows ? window_read(w, WINDOW_EVENT_HELD, rows, EVENT_HELD_ROWS * sizeof(*rows))
		       : -ENOMEM;

	*n = 0;
	if (!trace_runtime(t, "module_put") || !trace_runtime(t, "memset"))
		ret = ret ? ret : -ENOENT;
	for (uint32_t row = 0; row < EVENT_HELD_ROWS && !ret; row++)
		if (rows[row].module && row_is_held(&rows[row]) &&
		    has_events(t->trace_events, rows[row].module))
			*n += put_add(t, calls + *n, w->header.va + row_at(row), rows[row].module);
	free(rows);
	return ret == -ENOENT ? 0 : ret;
}
