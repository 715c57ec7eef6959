// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin.c - the events of modules that come and go.
 *
 * A module whose event is registered is held, as by one that uses it: in the guest rmmod says that
 * it is in use. Without that its kernel would free the probe, and warn of the tracepoint.
 */
#include "tracer/tracepoint/internal.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct module_calls {
	struct borrow_call *call;
	uint32_t *event;
	size_t n;
};

static int module_calls_init(struct module_calls *c, const struct events *e)
{
	c->call = calloc(events_room(e), sizeof(*c->call));
	c->event = calloc(events_room(e), sizeof(*c->event));
	c->n = 0;
	return c->call && c->event ? 0 : -ENOMEM;
}

static void module_calls_exit(struct module_calls *c)
{
	free(c->call);
	free(c->event);
}

static void module_calls_add(struct module_calls *c, const struct events *e, uint64_t fn,
			     uint32_t event)
{
	c->call[c->n] = (struct borrow_call){.fn = fn, .arg = {events_list(e)->v[event].module_at}};
	c->event[c->n++] = event;
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

int events_pin(struct events *e, bool *want)
{
	const struct guestsym_event_list *list = events_list(e);
	uint64_t get = trace_runtime(e->t, "try_module_get");
	struct module_calls c;
	int ret = module_calls_init(&c, e);

	/* Without it modules cannot be unloaded. */
	for (uint32_t i = 0; i < list->n && get && !ret; i++)
		if (want[i] && list->v[i].module_at && !e->pinned[i])
			module_calls_add(&c, e, get, i);
	if (!ret)
		ret = ask(e, &c);
	for (size_t i = 0; i < c.n; i++) {
		bool got = c.call[i].done && (uint8_t)c.call[i].ret;

		e->pinned[c.event[i]] = got;
		want[c.event[i]] = got;
	}
	module_calls_exit(&c);
	return ret;
}

/* Nobody may be in a probe any more when its module goes. */
int events_unpin(struct events *e)
{
	const struct guestsym_event_list *list = events_list(e);
	uint64_t put = trace_runtime(e->t, "module_put");
	char err[256] = "";
	struct module_calls c;
	int ret = module_calls_init(&c, e);

	for (uint32_t i = 0; i < list->n && !ret; i++)
		if (e->pinned[i] && !e->registered[i])
			module_calls_add(&c, e, put, i);
	if (!ret && c.n)
		ret = events_synchronize(e->t, trampoline_window(e->t), trampoline_text(e->t)->work,
					 err, sizeof(err));
	if (*err)
		trace_note(e->t, "trace events of modules: %s", err);
	if (!ret)
		ret = ask(e, &c);
	for (size_t i = 0; i < c.n; i++)
		e->pinned[c.event[i]] = !c.call[i].done;
	module_calls_exit(&c);
	return ret;
}
