// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - see events.h; this file: which events there are. */
#include "tracer/core/lock.h"
#include "tracer/events/hist/commands.h"
#include "tracer/events/list.h"
#include "tracer/events/registry.h"
#include "tracer/events/strings.h"
#include "tracer/output/fmt/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSCALLS_MAX 4096

struct events *events_new(struct trace *t, const struct events_ops *ops)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->t = t;
	e->ops = ops;
	memset(e->event_of, 0xff, sizeof(e->event_of));
	pthread_mutex_init(&e->lock, NULL);
	e->text = event_text_new(t);
	e->printer = event_printer_new(&e->names);
	e->hist_names = event_hist_names_new();
	if (e->text && e->printer && e->hist_names)
		return e;
	events_free(e);
	return NULL;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	event_hist_names_free(e->hist_names);
	free(e->syscalls);
	event_printer_free(e->printer);
	event_text_free(e->text);
	event_list_free(e->all);
	guestsym_events_free(&e->list);
	free(e->slot);
	free(e->registered);
	free(e->other_pid);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void events_lock(struct events *e)
{
	lock_take(&e->lock, LOCK_EVENTS, 0);
}

void events_unlock(struct events *e)
{
	lock_give(&e->lock, LOCK_EVENTS);
}

/* --- which there are ------------------------------------------------------------------------- */

/*
 * Of a switch and a wakeup set_event_pid takes both tasks: kernel/trace/trace_events.c,
 * __register_pid_events(), 6.1.
 */
static uint32_t other_pid_of(const struct guestsym_event *ev)
{
	static const struct {
		const char *event, *field;
	} others[] = {
		{"sched_switch", "next_pid"},
		{"sched_wakeup", "pid"},
		{"sched_wakeup_new", "pid"},
		{"sched_waking", "pid"},
	};

	if (strcmp(ev->system, "sched") != 0)
		return 0;
	for (size_t o = 0; o < sizeof(others) / sizeof(others[0]); o++)
		for (size_t f = 0; !strcmp(others[o].event, ev->name) && f < ev->nr_fields; f++)
			if (!strcmp(others[o].field, ev->fields[f].name) && ev->fields[f].size == 4)
				return ev->fields[f].offset;
	return 0;
}

/* An enter event is called sys_enter_NAME. */
static void syscall_name(struct events *e, const struct guestsym_event *ev)
{
	static const char enter[] = "sys_enter_";

	if (ev->syscall_nr >= 0 && (size_t)ev->syscall_nr < e->nr_syscalls && !ev->syscall_exit &&
	    !strncmp(ev->name, enter, strlen(enter)))
		snprintf(e->syscalls[ev->syscall_nr], SYSCALL_NAME_MAX, "sys_%s",
			 ev->name + strlen(enter));
}

static int syscalls_name(struct events *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->list.n; i++) {
		int nr = e->list.v[i].syscall_nr;

		if (nr >= 0 && nr < SYSCALLS_MAX && (size_t)nr >= n)
			n = (size_t)nr + 1;
	}
	e->syscalls = calloc(n ? n : 1, sizeof(*e->syscalls));
	if (!e->syscalls)
		return -ENOMEM;
	e->nr_syscalls = n;
	for (size_t i = 0; i < e->list.n; i++)
		syscall_name(e, &e->list.v[i]);
	return 0;
}

const char *events_syscall_name(const struct events *e, uint64_t nr)
{
	return nr < e->nr_syscalls && *e->syscalls[nr] ? e->syscalls[nr] : NULL;
}

struct event_hist_names *events_hist_names(struct events *e)
{
	return e->hist_names;
}

/* A kernel that boots has registered some at most; nothing moves it, and the image tells all. */
static int list_find(struct events *e)
{
	struct trace *t = e->t;
	const struct guestsym_memory mem = guest_memory(&t->guest);

	return t->cfg.running ? guestsym_events_read(t->gs, &mem, t->guest.slide, &e->list)
			      : guestsym_events_image(t->gs, t->guest.slide, &e->list);
}

static int list_read(struct events *e)
{
	int ret = list_find(e);
	size_t room;

	if (ret)
		return ret;
	e->all = event_list_new(&e->list);
	room = e->all ? event_list_room(e->all) : 1;
	e->slot = calloc(room, sizeof(*e->slot));
	e->registered = calloc(room, sizeof(*e->registered));
	e->other_pid = calloc(room, sizeof(*e->other_pid));
	event_text_names(e->text, &e->names);
	if (e->all && e->slot && e->registered && e->other_pid && !syscalls_name(e) &&
	    !event_printer_add(e->printer, &e->list)) {
		for (size_t i = 0; i < e->list.n; i++)
			e->other_pid[i] = other_pid_of(&e->list.v[i]);
		if (e->list.left_out)
			events_tell_full(e);
		return 0;
	}
	event_list_free(e->all);
	e->all = NULL;
	guestsym_events_free(&e->list);
	return -ENOMEM;
}

int events_load(struct events *e)
{
	int ret = 0;

	if (__atomic_load_n(&e->loaded, __ATOMIC_ACQUIRE)) {
		/* Who holds the lock is at work with the list as it is. */
		if (!atomic_load(&e->stale) || pthread_mutex_trylock(&e->lock))
			return 0;
		lock_order_take(LOCK_EVENTS, 0);
		events_refresh(e);
		lock_give(&e->lock, LOCK_EVENTS);
		return 0;
	}
	lock_take(&e->lock, LOCK_EVENTS, 0);
	if (!e->t->m || e->closed)
		ret = -ENODEV;
	else if (!e->loaded)
		ret = list_read(e);
	if (!ret)
		__atomic_store_n(&e->loaded, true, __ATOMIC_RELEASE);
	lock_give(&e->lock, LOCK_EVENTS);
	return ret;
}

void events_changed(struct events *e)
{
	atomic_store(&e->stale, true);
}

const struct guestsym_event_list *events_list(const struct events *e)
{
	return __atomic_load_n(&e->loaded, __ATOMIC_ACQUIRE) ? event_list_now(e->all) : NULL;
}

uint64_t events_changes(const struct events *e)
{
	return __atomic_load_n(&e->loaded, __ATOMIC_ACQUIRE) ? event_list_changes(e->all) : 0;
}

size_t events_room(const struct events *e)
{
	return event_list_room(e->all);
}

uint32_t events_find(const struct events *e, const char *system, const char *name)
{
	return event_list_find(e->all, system, name);
}

int events_printed(struct events *e, uint32_t event)
{
	struct guestsym_event_list added = e->list;

	added.v = &event_list_now(e->all)->v[event];
	added.n = 1;
	return event_printer_add(e->printer, &added);
}

int events_add(struct events *e, struct probe_event_made *made, uint32_t *event)
{
	int ret = event_list_add(e->all, made, event);

	if (ret)
		return ret;
	ret = events_printed(e, *event);
	if (ret)
		event_list_remove(e->all, *event);
	return ret;
}

void events_remove(struct events *e, uint32_t event)
{
	event_list_remove(e->all, event);
}

struct event_printer *events_printer(struct events *e)
{
	return e->printer;
}

struct event_text *events_text(struct events *e)
{
	return e->text;
}

uint32_t events_at_file(const struct events *e, uint32_t offset)
{
	if (offset >= EVENT_FILES_SIZE || offset & (EVENT_FILE_SIZE - 1))
		return EVENT_NONE;
	return __atomic_load_n(&e->event_of[offset >> EVENT_FILE_SHIFT], __ATOMIC_ACQUIRE);
}

uint32_t events_other_pid(const struct events *e, uint32_t event)
{
	return e->other_pid ? e->other_pid[event] : 0;
}

bool event_is_own_probe(const struct guestsym_event *ev)
{
	return ev->source == GUESTSYM_EVENT_OTHER && ev->flags & GUESTSYM_EVENT_FL_DYNAMIC &&
	       ev->flags & (GUESTSYM_EVENT_FL_KPROBE | GUESTSYM_EVENT_FL_UPROBE);
}

bool event_is_recordable(const struct guestsym_event *ev)
{
	if (ev->source == GUESTSYM_EVENT_SYSCALL)
		return ev->syscall_nr >= 0;
	if (ev->source == GUESTSYM_EVENT_HOST || event_is_own_probe(ev))
		return true;
	return ev->source == GUESTSYM_EVENT_PROBE && ev->tracepoint && ev->probe;
}

bool events_dec_preempt(const struct events *e)
{
	return e->dec_preempt;
}

bool events_ready(const struct events *e)
{
	return e->t->cfg.running || e->ready;
}

bool events_possible(const struct events *e)
{
	return e->t->tramp || e->t->borrow || !events_ready(e);
}
