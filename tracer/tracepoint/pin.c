// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin.c - the events of modules that come and go.
 *
 * A module whose event is registered is held, as by one that uses it: in the guest rmmod says that
 * it is in use. Without that its kernel would free the probe, and warn of the tracepoint.
 */
#include "tracer/events/list.h"
#include "tracer/output/fmt/print.h"
#include "tracer/events/registry.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the list -------------------------------------------------------------------------------- */

static bool same_one(const struct guestsym_event *a, const struct guestsym_event *b)
{
	return a->call == b->call && a->id == b->id && !strcmp(a->name, b->name) &&
	       !strcmp(a->system, b->system);
}

static bool is_in(const struct guestsym_event_list *list, const struct guestsym_event *ev)
{
	for (size_t i = 0; i < list->n; i++)
		if (!guestsym_event_is_gone(&list->v[i]) && same_one(&list->v[i], ev))
			return true;
	return false;
}

static void forget(struct events *e, uint32_t event)
{
	trace_change_begin(e->t);
	instance_writers_stop(e->t);
	instances_forget_event(e->t, event);
	instance_writers_go(e->t);
	trace_change_end(e->t);
	event_list_remove(e->all, event);
}

static void those_gone(struct events *e, const struct guestsym_event_list *now)
{
	const struct guestsym_event_list *list = events_list(e);

	for (uint32_t i = 0; i < list->n; i++) {
		const struct guestsym_event *ev = &list->v[i];

		if (ev->module && !guestsym_event_is_gone(ev) && !e->registered[i] &&
		    !is_in(now, ev))
			forget(e, i);
	}
}

/* How many have come; what they point to is in `now` from then on. */
static int those_new(struct events *e, const struct guestsym_event_list *now, size_t *n)
{
	int ret = 0;

	for (size_t i = 0; i < now->n && !ret; i++) {
		uint32_t event;

		if (!now->v[i].module || is_in(events_list(e), &now->v[i]))
			continue;
		ret = event_list_join(e->all, &now->v[i], &event);
		*n += !ret;
	}
	return ret;
}

static bool read_kept(struct events *e, const struct guestsym_event_list *now)
{
	struct guestsym_event_list *more = realloc(e->read, (e->nr_read + 1) * sizeof(*more));

	if (!more)
		return false;
	more[e->nr_read++] = *now;
	e->read = more;
	return true;
}

static int read_memory(void *arg, uint64_t va, void *buf, size_t len)
{
	return guest_read(arg, va, buf, len);
}

int events_refresh(struct events *e)
{
	struct trace *t = e->t;
	const struct guestsym_memory mem = {.read = read_memory, .arg = &t->guest};
	struct guestsym_event_list now;
	size_t n = 0;
	int ret;

	/* A kernel that boots may not have made its list yet. */
	if (!events_ready(e) || e->closed)
		return 0;
	atomic_store(&e->stale, false); /* from here on others count anew */
	if (guestsym_events_read(t->gs, &mem, t->guest.slide, &now))
		return 0; /* it has just changed, or the guest has gone */
	if (!read_kept(e, &now)) {
		guestsym_events_free(&now);
		return -ENOMEM;
	}
	those_gone(e, &now);
	ret = those_new(e, &now, &n);
	if (n) {
		if (!ret)
			ret = event_printer_add(e->printer, &now);
	} else {
		guestsym_events_free(&e->read[--e->nr_read]);
	}
	return ret;
}

/* --- holding them ---------------------------------------------------------------------------- */

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
	uint64_t get = events_runtime(e->t, "try_module_get");
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
	uint64_t put = events_runtime(e->t, "module_put");
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
