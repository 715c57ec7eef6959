// SPDX-License-Identifier: GPL-2.0-or-later
/* register.c - has the guest register what is wanted, and take back what is not. */
#include "tracer/tracepoint/internal.h"
#include "tracer/core/lock.h"
#include "tracer/instance/events.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/tracepoint/traps.h"
#include "tracer/window/detour.h"
#include "tracer/window/work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 256 /* at a time: each may take the guest some milliseconds */

/* What the guest is asked for at once. */
struct event_calls {
	struct borrow_call call[CALLS_MAX];
	bool *done[CALLS_MAX]; /* what becomes `on` when it has been done */
	uint32_t row[CALLS_MAX];
	size_t n;
	bool on;
};

/* --- asking the guest ------------------------------------------------------------------------ */

struct guest_work events_work(struct trace *t, struct window *w, uint32_t entry)
{
	return (struct guest_work){.gs = t->gs,
				   .g = &t->guest,
				   .borrow = t->borrow,
				   .w = w,
				   .entry = entry,
				   .end_ms = t->trace_events->asks_end};
}

void events_ask_within(struct events *e, int ms)
{
	e->asks_end = ms ? e->t->guest.now_ms() + ms : 0;
}

int events_ask(struct trace *t, struct window *w, uint32_t entry, struct borrow_call *calls,
	       size_t n, char *err, size_t errlen)
{
	const struct guest_work work = events_work(t, w, entry);

	return n ? guest_work_run(&work, calls, n, err, errlen) : 0;
}

/*
 * The guest may get to it yet: then it has to be taken back like the others. Or it never will, and
 * then nobody is to look for it.
 */
static void call_not_done(struct events *e, struct event_calls *c, size_t i, int error)
{
	static const struct payload_event none;

	if (error == -EINPROGRESS)
		*c->done[i] = true;
	else if (c->on)
		events_row_write(e, c->row[i], &none);
}

/* A guest that has halted is left as it is. */
static void tell(struct events *e, int error, const char *err)
{
	if (error != -EHOSTDOWN || !atomic_load(&e->t->leaving))
		trace_note(e->t, "trace events: %s", err);
}

/* What has been done is known, whatever became of the rest. */
static int calls_make(struct events *e, struct event_calls *c)
{
	static const struct payload_event none;
	char err[256] = "";
	int ret = events_ask(e->t, trampoline_window(e->t), trampoline_text(e->t)->work, c->call,
			     c->n, err, sizeof(err));

	if (ret)
		tell(e, ret, err);
	e->registering |= c->on && (c->call[0].done || ret == -EINPROGRESS);
	for (size_t i = 0; i < c->n; i++) {
		int said = (int)c->call[i].ret;

		if (!c->call[i].done) {
			call_not_done(e, c, i, ret);
			continue;
		}
		if (!c->on) {
			/* -ENOENT: it had gone, with its module for example */
			*c->done[i] = false;
			events_row_write(e, c->row[i], &none);
		} else if (!said) {
			*c->done[i] = true;
		} else if (!ret) {
			ret = said < 0 && said > -4096 ? said : -EIO;
			trace_note(e->t, "the guest's kernel refuses a trace event: %s",
				   strerror(-ret));
		}
	}
	c->n = 0;
	return ret == -EINPROGRESS ? -ETIMEDOUT : ret;
}

static int calls_add(struct events *e, struct event_calls *c, uint32_t row,
		     const struct payload_event *ev, bool *done)
{
	const char *fn = c->on ? "tracepoint_probe_register" : "tracepoint_probe_unregister";
	int ret = c->on ? events_row_write(e, row, ev) : 0;

	if (ret)
		return ret;
	c->call[c->n] = (struct borrow_call){
		.fn = trace_runtime(e->t, fn),
		.arg = {ev->tracepoint, ev->probe, ev->data},
	};
	c->row[c->n] = row;
	c->done[c->n++] = done;
	return c->n == CALLS_MAX ? calls_make(e, c) : 0;
}

/* --- system calls ---------------------------------------------------------------------------- */

static int syscall_place(struct events *e, const struct guestsym_event *ev, uint64_t *offset)
{
	const struct guestsym_field *f = ev->syscall_exit ? &e->at.exit : &e->at.enter;

	if (ev->syscall_nr < 0 || (uint32_t)ev->syscall_nr >= f->size / 8)
		return -EOPNOTSUPP;
	*offset = WINDOW_EVENT_ARRAY + f->offset + 8 * (uint64_t)ev->syscall_nr;
	return 0;
}

/* The tracer of system calls finds the event's file, or none. */
static int syscall_set(struct events *e, uint32_t event, bool on)
{
	uint64_t place, file = 0;
	int ret = syscall_place(e, &events_list(e)->v[event], &place);

	if (!ret && on) {
		int slot = events_file_get(e, event);

		if (slot < 0)
			return slot;
		file = events_window_va(e, events_file_offset((unsigned int)slot));
	}
	if (!ret)
		ret = window_write(trampoline_window(e->t), place, &file, sizeof(file));
	if (!ret)
		e->registered[event] = on;
	return ret;
}

static int syscalls_add(struct events *e, struct event_calls *c, bool exits, bool any)
{
	struct event_syscalls *s = exits ? &e->exit : &e->enter;
	const struct payload_event row = {s->tracepoint, s->probe,
					  events_window_va(e, WINDOW_EVENT_ARRAY)};

	if (s->registered == any || c->on != any)
		return 0;
	if (!s->tracepoint || !s->probe)
		return -EOPNOTSUPP;
	return calls_add(e, c, EVENT_FILES + exits, &row, &s->registered);
}

/* --- what is wanted -------------------------------------------------------------------------- */

static bool any_wants(struct trace *t, uint32_t event)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (i->events && event_wanted(&i->events[event]))
			return true;
	return false;
}

static int probe_set(struct events *e, struct event_calls *c, uint32_t event)
{
	const struct guestsym_event *ev = &events_list(e)->v[event];
	int slot = events_file_get(e, event);
	const struct payload_event row = {
		ev->tracepoint, ev->probe,
		slot < 0 ? 0 : events_window_va(e, events_file_offset((unsigned int)slot))};

	if (slot < 0)
		return slot;
	if (!ev->tracepoint || !ev->probe)
		return -EOPNOTSUPP;
	return calls_add(e, c, (uint32_t)slot, &row, &e->registered[event]);
}

static int set_one(struct events *e, struct event_calls *c, uint32_t event)
{
	const struct guestsym_event *ev = &events_list(e)->v[event];

	if (ev->source == GUESTSYM_EVENT_SYSCALL)
		return syscall_set(e, event, c->on);
	return event_is_own_probe(ev) ? own_event_set(e, event, c->on) : probe_set(e, c, event);
}

/* One direction: those that are to come, or those that are to go. */
static int apply(struct events *e, const bool *want, bool on)
{
	const struct guestsym_event_list *list = events_list(e);
	struct event_calls c = {.on = on};
	bool any[2] = {false, false};
	int ret = 0, error;

	for (uint32_t i = 0; i < list->n && !ret; i++) {
		const struct guestsym_event *ev = &list->v[i];
		bool syscall = ev->source == GUESTSYM_EVENT_SYSCALL;

		if (ev->source == GUESTSYM_EVENT_HOST)
			continue;
		if (want[i] == on && e->registered[i] != on)
			ret = set_one(e, &c, i);
		if (syscall && e->registered[i])
			any[ev->syscall_exit] = true;
	}
	for (int exits = 0; exits < 2 && !ret; exits++)
		ret = syscalls_add(e, &c, exits, any[exits]);
	error = calls_make(e, &c);
	return ret ? ret : error;
}

static int apply_all(struct events *e)
{
	const struct guestsym_event_list *list = events_list(e);
	bool *want = calloc(events_room(e), sizeof(*want)), some = false;
	int ret, error;

	if (!want)
		return -ENOMEM;
	instances_lock(e->t);
	for (uint32_t i = 0; i < list->n; i++) {
		want[i] = any_wants(e->t, i);
		some = some || (want[i] && list->v[i].source != GUESTSYM_EVENT_HOST);
	}
	instances_unlock(e->t);
	ret = some ? events_place(e) : 0;
	if (!ret && e->placed) {
		ret = apply(e, want, false);
		error = events_unpin(e);
		ret = ret ? ret : error;
		error = events_pin(e, want);
		ret = ret ? ret : error;
		error = apply(e, want, true);
		ret = ret ? ret : error;
		error = events_stacks_apply(e);
		ret = ret ? ret : error;
	}
	free(want);
	return ret;
}

int events_apply(struct events *e)
{
	int ret;

	if (e->closed)
		return -ENODEV;
	e->ops->derive(e->t);
	ret = e->loaded ? apply_all(e) : 0;
	if (!ret)
		ret = e->ops->place(e->t);
	payload_control(e->t);
	return ret;
}

int events_booted(struct events *e)
{
	int ret;

	events_lock(e);
	e->ready = true;
	ret = events_apply(e);
	events_unlock(e);
	return ret;
}

/* --- letting go ------------------------------------------------------------------------------ */

int events_synchronize(struct trace *t, struct window *w, uint32_t entry, char *err, size_t errlen)
{
	struct borrow_call call[] = {
		{.fn = trace_runtime(t, "synchronize_srcu"),
		 .arg = {trace_runtime(t, "tracepoint_srcu")}},
		{.fn = trace_runtime(t, "synchronize_rcu")},
	};
	size_t first = call[0].fn && call[0].arg[0] ? 0 : 1;

	if (!call[1].fn) {
		snprintf(err, errlen, "the kernel has no synchronize_rcu()");
		return -EOPNOTSUPP;
	}
	return events_ask(t, w, entry, call + first, 2 - first, err, errlen);
}

int events_jumps_remove(struct trace *t, const struct window *w)
{
	int ret;

	machine_pause_for(t->m, "switching trace events off");
	ret = detours_remove(&t->guest, w);
	machine_resume(t->m);
	return ret;
}

static int unregister_all(struct events *e)
{
	bool *none = calloc(events_room(e), sizeof(*none));
	char err[256] = "";
	int ret = none ? apply(e, none, false) : -ENOMEM;

	free(none);
	if (!ret)
		ret = events_unpin(e);
	/* Where nothing has been, nobody is in a probe of ours: a guest that cannot be asked is
	 * left, too. */
	if (!ret && e->registering)
		ret = events_synchronize(e->t, trampoline_window(e->t), trampoline_text(e->t)->work,
					 err, sizeof(err));
	if (*err)
		tell(e, ret, err);
	return ret ? ret : events_jumps_remove(e->t, trampoline_window(e->t));
}

int events_close(struct events *e, bool runs)
{
	int ret = 0, error = 0;

	events_lock(e);
	if (runs)
		events_ask_within(e, EVENTS_LET_GO_MS);
	if (!e->closed)
		ret = e->ops->close(e->t, runs);
	if (runs && e->placed && !e->closed)
		error = unregister_all(e);
	else if (runs && e->t->tramp && !e->closed) /* also what could not be undone */
		error = events_jumps_remove(e->t, trampoline_window(e->t));
	ret = ret ? ret : error;
	error = event_traps_remove(e->t);
	ret = ret || !runs ? ret : error;
	atomic_store(&e->t->guest_switch.placed, false);
	error = guest_prints_remove(e->t);
	ret = ret || !runs ? ret : error;
	e->closed = true;
	events_unlock(e);
	return ret;
}
