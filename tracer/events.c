// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - see events.h */
#include "tracer/events.h"
#include "tracer/detour.h"
#include "tracer/event-list.h"
#include "tracer/event-print.h"
#include "tracer/event-text.h"
#include "tracer/event-trigger.h"
#include "tracer/guest-work.h"
#include "tracer/instance.h"
#include "tracer/probe-event.h"
#include "tracer/trampoline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX	 256 /* at a time: each may take the guest some milliseconds */
#define SYSCALLS_MAX	 4096
#define SYSCALL_NAME_MAX 64
#define FILE_ENABLED	 1 /* EVENT_FILE_FL_ENABLED (include/linux/trace_events.h, 6.1) */

/* Of struct trace_event_file and struct trace_array. */
struct event_layout {
	struct guestsym_field call, flags, enter, exit;
	uint32_t file_size, array_size;
};

/* Where system calls' events come from. */
struct event_syscalls {
	uint64_t tracepoint, probe;
	bool registered;
};

struct events {
	struct trace *t;
	pthread_mutex_t lock;
	bool loaded, placed, closed;
	struct guestsym_event_list list; /* of the guest's kernel */
	struct event_list *all;		 /* and ours */
	struct event_text *text;
	struct expr_names names;
	struct event_printer *printer;
	struct event_layout at;
	struct event_syscalls enter, exit;
	bool dec_preempt;
	uint16_t *slot;	  /* of each event: 1 + its file's number; 0: it has none */
	bool *registered; /* of each event */
	struct event_hist_names *hist_names;
	char (*syscalls)[SYSCALL_NAME_MAX]; /* by their numbers; "": none */
	size_t nr_syscalls;
	uint32_t *other_pid;
	unsigned int nr_slots;
	uint32_t event_of[EVENT_FILES]; /* of each file; the collector looks without a lock */
};

/* What the guest is asked for at once. */
struct event_calls {
	struct borrow_call call[CALLS_MAX];
	bool *done[CALLS_MAX]; /* what becomes `on` when it has been done */
	uint32_t row[CALLS_MAX];
	size_t n;
	bool on;
};

struct events *events_new(struct trace *t)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->t = t;
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
	pthread_mutex_lock(&e->lock);
}

void events_unlock(struct events *e)
{
	pthread_mutex_unlock(&e->lock);
}

/* --- which there are ------------------------------------------------------------------------- */

static int read_memory(void *arg, uint64_t va, void *buf, size_t len)
{
	return guest_read(arg, va, buf, len);
}

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

static int list_read(struct events *e)
{
	struct trace *t = e->t;
	const struct guestsym_memory mem = {.read = read_memory, .arg = &t->guest};
	int ret = guestsym_events_read(t->gs, &mem, t->guest.slide, &e->list);

	if (ret)
		return ret;
	e->slot = calloc(e->list.n ? e->list.n : 1, sizeof(*e->slot));
	e->registered = calloc(e->list.n ? e->list.n : 1, sizeof(*e->registered));
	e->other_pid = calloc(e->list.n ? e->list.n : 1, sizeof(*e->other_pid));
	e->all = event_list_new(&e->list);
	event_text_names(e->text, &e->names);
	if (e->all && e->slot && e->registered && e->other_pid && !syscalls_name(e) &&
	    !event_printer_add(e->printer, &e->list)) {
		for (size_t i = 0; i < e->list.n; i++)
			e->other_pid[i] = other_pid_of(&e->list.v[i]);
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

	if (__atomic_load_n(&e->loaded, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&e->lock);
	if (!e->t->m || e->closed)
		ret = -ENODEV;
	else if (!e->loaded)
		ret = list_read(e);
	if (!ret)
		__atomic_store_n(&e->loaded, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&e->lock);
	return ret;
}

const struct guestsym_event_list *events_list(const struct events *e)
{
	return __atomic_load_n(&e->loaded, __ATOMIC_ACQUIRE) ? event_list_now(e->all) : NULL;
}

size_t events_room(const struct events *e)
{
	return event_list_room(e->all);
}

uint32_t events_find(const struct events *e, const char *system, const char *name)
{
	return event_list_find(e->all, system, name);
}

int events_add(struct events *e, struct probe_event_made *made, uint32_t *event)
{
	struct guestsym_event_list added = e->list;
	int ret = event_list_add(e->all, made, event);

	if (ret)
		return ret;
	added.v = &events_list(e)->v[*event];
	added.n = 1;
	ret = event_printer_add(e->printer, &added);
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
	return event < e->list.n ? e->other_pid[event] : 0;
}

bool event_is_recordable(const struct guestsym_event *ev)
{
	if (ev->source == GUESTSYM_EVENT_SYSCALL)
		return ev->syscall_nr >= 0;
	if (ev->source == GUESTSYM_EVENT_HOST)
		return true;
	return ev->source == GUESTSYM_EVENT_PROBE && ev->tracepoint && ev->probe;
}

bool events_dec_preempt(const struct events *e)
{
	return e->dec_preempt;
}

/* --- the way into the payload ---------------------------------------------------------------- */

static bool member_fits(const struct guestsym_field *f, uint32_t size, uint32_t within)
{
	return f->size >= size && f->offset <= within && within - f->offset >= size;
}

static int layout_learn(struct events *e)
{
	const struct guestsym *gs = e->t->gs;
	struct event_layout *at = &e->at;

	if (guestsym_type_size(gs, "trace_event_file", &at->file_size) ||
	    guestsym_field(gs, "trace_event_file.event_call", &at->call) ||
	    guestsym_field(gs, "trace_event_file.flags", &at->flags) ||
	    at->file_size > EVENT_FILE_STACK || !member_fits(&at->call, 8, at->file_size) ||
	    !member_fits(&at->flags, 8, at->file_size))
		return -EOPNOTSUPP;
	/* Without these, system calls have no events, but all others do. */
	if (guestsym_type_size(gs, "trace_array", &at->array_size) ||
	    guestsym_field(gs, "trace_array.enter_syscall_files", &at->enter) ||
	    guestsym_field(gs, "trace_array.exit_syscall_files", &at->exit) ||
	    at->array_size > EVENT_ARRAY_SIZE ||
	    !member_fits(&at->enter, at->enter.size, at->array_size) ||
	    !member_fits(&at->exit, at->exit.size, at->array_size))
		at->enter.size = at->exit.size = 0;
	return 0;
}

static uint64_t runtime(const struct trace *t, const char *symbol)
{
	uint64_t link = guestsym_addr(t->gs, symbol);

	return link ? link + t->guest.slide : 0;
}

static void syscalls_learn(struct events *e)
{
	const struct trace *t = e->t;

	e->enter.tracepoint = runtime(t, "__tracepoint_sys_enter");
	e->enter.probe = runtime(t, "ftrace_syscall_enter");
	e->exit.tracepoint = runtime(t, "__tracepoint_sys_exit");
	e->exit.probe = runtime(t, "ftrace_syscall_exit");
}

static int detours_place(struct events *e)
{
	struct trace *t = e->t;
	const struct payload_text *text = trampoline_text(t);
	uint64_t reserve = runtime(t, "trace_event_buffer_reserve"),
		 commit = runtime(t, "trace_event_buffer_commit");
	struct payload_detour d[PAYLOAD_DETOURS] = {
		{.entry = text->reserve, .rest = text->reserve_rest},
		{.entry = text->commit, .rest = text->commit_rest},
	};
	int ret = reserve && commit ? 0 : -EOPNOTSUPP;

	if (!ret)
		ret = detour_learn(&t->guest, reserve, &d[0]);
	if (!ret)
		ret = detour_learn(&t->guest, commit, &d[1]);
	if (!ret)
		ret = detours_insert(&t->guest, t->gs, trampoline_window(t), d, PAYLOAD_DETOURS,
				     t->vcpus);
	return ret;
}

static bool kernel_tells(struct events *e)
{
	const struct trace *t = e->t;
	struct guestsym_field f;

	return !guestsym_field(t->gs, "trace_event_buffer.event", &f) &&
	       !guestsym_field(t->gs, "trace_event_buffer.trace_file", &f) &&
	       runtime(t, "tracepoint_probe_register") &&
	       runtime(t, "tracepoint_probe_unregister") && !layout_learn(e);
}

/* NULL: nothing is in the way. */
static const char *why_not(struct events *e)
{
	if (!e->t->tramp)
		return "they need trampolines, and this guest has none";
	if (!e->t->borrow)
		return "nothing calls functions of this guest's kernel for us";
	return kernel_tells(e) ? NULL : "this kernel does not tell how it records them";
}

int events_check(struct events *e)
{
	const char *why = e->placed ? NULL : why_not(e);

	if (!why)
		return 0;
	trace_note(e->t, "trace events cannot be enabled: %s", why);
	return -EOPNOTSUPP;
}

/* e->lock is held. */
static int place(struct events *e)
{
	struct trace *t = e->t;
	int ret;

	if (e->placed)
		return 0;
	ret = events_check(e);
	if (ret)
		return ret;
	syscalls_learn(e);
	/* trace_event_buffer_reserve(), where the kernel is preemptible */
	e->dec_preempt = runtime(t, "preempt_schedule");
	ret = detours_place(e);
	e->placed = !ret;
	return ret;
}

/* --- files ----------------------------------------------------------------------------------- */

static uint64_t file_offset(unsigned int slot)
{
	return WINDOW_EVENT_FILES + (uint64_t)slot * EVENT_FILE_SIZE;
}

static int file_write(struct events *e, unsigned int slot, const struct guestsym_event *ev)
{
	uint8_t file[EVENT_FILE_SIZE] = {0};
	uint64_t flags = FILE_ENABLED;

	memcpy(file + e->at.call.offset, &ev->call, sizeof(ev->call));
	memcpy(file + e->at.flags.offset, &flags, sizeof(flags));
	return window_write(trampoline_window(e->t), file_offset(slot), file, sizeof(file));
}

/* The event gets a file if it has none. Its number, or -ENOSPC, or the machine's error. */
static int file_get(struct events *e, uint32_t event)
{
	unsigned int slot = e->slot[event];
	int ret;

	if (slot)
		return (int)slot - 1;
	slot = e->nr_slots;
	if (slot == EVENT_FILES)
		return -ENOSPC;
	ret = file_write(e, slot, &e->list.v[event]);
	if (ret)
		return ret;
	e->nr_slots++;
	e->slot[event] = (uint16_t)(slot + 1);
	__atomic_store_n(&e->event_of[slot], event, __ATOMIC_RELEASE);
	return (int)slot;
}

static uint64_t window_va(const struct events *e, uint64_t offset)
{
	return trampoline_window(e->t)->header.va + offset;
}

static int row_write(struct events *e, uint32_t row, const struct payload_event *ev)
{
	return window_write(trampoline_window(e->t), WINDOW_EVENT_TABLE + row * sizeof(*ev), ev,
			    sizeof(*ev));
}

/* --- stacks ---------------------------------------------------------------------------------- */

static bool any_wants_stacks(struct trace *t, uint32_t event)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_event_stacks(i, event))
			return true;
	return false;
}

static bool some_want_stacks(struct events *e)
{
	bool some = false;

	pthread_mutex_lock(&e->t->instances_lock);
	for (unsigned int slot = 0; slot < e->nr_slots && !some; slot++)
		some = any_wants_stacks(e->t, e->event_of[slot]);
	pthread_mutex_unlock(&e->t->instances_lock);
	return some;
}

/* Those that have a file: whether the payload is to call for their stacks. */
static int stacks_apply(struct events *e)
{
	int ret = 0;

	if (some_want_stacks(e))
		trace_use_stacks(e->t);
	pthread_mutex_lock(&e->t->instances_lock);
	for (unsigned int slot = 0; slot < e->nr_slots && !ret; slot++) {
		uint8_t on = any_wants_stacks(e->t, e->event_of[slot]);

		ret = window_write(trampoline_window(e->t), file_offset(slot) + EVENT_FILE_STACK,
				   &on, sizeof(on));
	}
	pthread_mutex_unlock(&e->t->instances_lock);
	return ret;
}

/* --- asking the guest ------------------------------------------------------------------------ */

static int ask(struct trace *t, struct window *w, uint32_t entry, struct borrow_call *calls,
	       size_t n, char *err, size_t errlen)
{
	const struct guest_work work = {
		.gs = t->gs, .g = &t->guest, .borrow = t->borrow, .w = w, .entry = entry};

	return n ? guest_work_run(&work, calls, n, err, errlen) : 0;
}

/* What has been done is known, whatever became of the rest. */
static int calls_make(struct events *e, struct event_calls *c)
{
	static const struct payload_event none;
	char err[256] = "";
	int ret = ask(e->t, trampoline_window(e->t), trampoline_text(e->t)->work, c->call, c->n,
		      err, sizeof(err));

	if (ret)
		trace_note(e->t, "trace events: %s", err);
	for (size_t i = 0; i < c->n; i++) {
		int said = (int)c->call[i].ret;

		if (!c->call[i].done)
			continue;
		if (!c->on) {
			/* -ENOENT: it had gone, with its module for example */
			*c->done[i] = false;
			row_write(e, c->row[i], &none);
		} else if (!said) {
			*c->done[i] = true;
		} else if (!ret) {
			ret = said < 0 && said > -4096 ? said : -EIO;
			trace_note(e->t, "the guest's kernel refuses a trace event: %s",
				   strerror(-ret));
		}
	}
	c->n = 0;
	return ret;
}

static int calls_add(struct events *e, struct event_calls *c, uint32_t row,
		     const struct payload_event *ev, bool *done)
{
	const char *fn = c->on ? "tracepoint_probe_register" : "tracepoint_probe_unregister";
	int ret = c->on ? row_write(e, row, ev) : 0;

	if (ret)
		return ret;
	c->call[c->n] = (struct borrow_call){
		.fn = runtime(e->t, fn),
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
	int ret = syscall_place(e, &e->list.v[event], &place);

	if (!ret && on) {
		int slot = file_get(e, event);

		if (slot < 0)
			return slot;
		file = window_va(e, file_offset((unsigned int)slot));
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
					  window_va(e, WINDOW_EVENT_ARRAY)};

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
	const struct guestsym_event *ev = &e->list.v[event];
	int slot = file_get(e, event);
	const struct payload_event row = {ev->tracepoint, ev->probe,
					  slot < 0 ? 0
						   : window_va(e, file_offset((unsigned int)slot))};

	if (slot < 0)
		return slot;
	if (!ev->tracepoint || !ev->probe)
		return -EOPNOTSUPP;
	return calls_add(e, c, (uint32_t)slot, &row, &e->registered[event]);
}

/* One direction: those that are to come, or those that are to go. */
static int apply(struct events *e, const bool *want, bool on)
{
	struct event_calls c = {.on = on};
	bool any[2] = {false, false};
	int ret = 0, error;

	for (uint32_t i = 0; i < e->list.n && !ret; i++) {
		const struct guestsym_event *ev = &e->list.v[i];
		bool syscall = ev->source == GUESTSYM_EVENT_SYSCALL;

		if (want[i] == on && e->registered[i] != on)
			ret = syscall ? syscall_set(e, i, on) : probe_set(e, &c, i);
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
	bool *want = calloc(e->list.n ? e->list.n : 1, sizeof(*want)), some = false;
	int ret, error;

	if (!want)
		return -ENOMEM;
	pthread_mutex_lock(&e->t->instances_lock);
	for (uint32_t i = 0; i < e->list.n; i++) {
		want[i] = any_wants(e->t, i);
		some = some || want[i];
	}
	pthread_mutex_unlock(&e->t->instances_lock);
	ret = some ? place(e) : 0;
	if (!ret && e->placed) {
		ret = apply(e, want, false);
		error = apply(e, want, true);
		ret = ret ? ret : error;
		error = stacks_apply(e);
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
	ret = e->loaded ? apply_all(e) : 0;
	if (!ret)
		ret = probe_events_apply(e->t->probe_events);
	instances_tell_payload(e->t);
	return ret;
}

/* --- letting go ------------------------------------------------------------------------------ */

/* Nobody is in a probe any more that was registered (tracepoint_synchronize_unregister()). */
static int synchronize(struct trace *t, struct window *w, uint32_t entry, char *err, size_t errlen)
{
	struct borrow_call call[] = {
		{.fn = runtime(t, "synchronize_srcu"), .arg = {runtime(t, "tracepoint_srcu")}},
		{.fn = runtime(t, "synchronize_rcu")},
	};
	size_t first = call[0].fn && call[0].arg[0] ? 0 : 1;

	if (!call[1].fn) {
		snprintf(err, errlen, "the kernel has no synchronize_rcu()");
		return -EOPNOTSUPP;
	}
	return ask(t, w, entry, call + first, 2 - first, err, errlen);
}

static int jumps_remove(struct trace *t, const struct window *w)
{
	int ret;

	machine_pause(t->m);
	ret = detours_remove(&t->guest, w);
	machine_resume(t->m);
	return ret;
}

static int unregister_all(struct events *e)
{
	bool *none = calloc(e->list.n ? e->list.n : 1, sizeof(*none));
	char err[256] = "";
	int ret = none ? apply(e, none, false) : -ENOMEM;

	free(none);
	if (!ret)
		ret = synchronize(e->t, trampoline_window(e->t), trampoline_text(e->t)->work, err,
				  sizeof(err));
	if (*err)
		trace_note(e->t, "trace events: %s", err);
	return ret ? ret : jumps_remove(e->t, trampoline_window(e->t));
}

int events_close(struct events *e)
{
	int ret = 0;

	pthread_mutex_lock(&e->lock);
	if (e->placed && !e->closed)
		ret = unregister_all(e);
	e->closed = true;
	pthread_mutex_unlock(&e->lock);
	return ret;
}

/* --- what another has left ------------------------------------------------------------------- */

/* Of a module that has gone since there is nothing to ask for any more. */
static bool is_tracepoint(const struct events *e, uint64_t va)
{
	if (va == runtime(e->t, "__tracepoint_sys_enter") ||
	    va == runtime(e->t, "__tracepoint_sys_exit"))
		return true;
	for (size_t i = 0; i < e->list.n; i++)
		if (e->list.v[i].tracepoint == va)
			return true;
	return false;
}

static int rows_unregister(struct trace *t, struct window *w, size_t *n, char *err, size_t errlen)
{
	struct payload_event *rows = calloc(EVENT_TABLE_ROWS, sizeof(*rows));
	struct borrow_call *calls = calloc(EVENT_TABLE_ROWS, sizeof(*calls));
	uint64_t fn = runtime(t, "tracepoint_probe_unregister");
	int ret = rows && calls ? window_read(w, WINDOW_EVENT_TABLE, rows,
					      EVENT_TABLE_ROWS * sizeof(*rows))
				: -ENOMEM;

	for (size_t i = 0; i < EVENT_TABLE_ROWS && !ret; i++)
		if (rows[i].tracepoint && is_tracepoint(t->trace_events, rows[i].tracepoint))
			calls[(*n)++] = (struct borrow_call){
				.fn = fn, .arg = {rows[i].tracepoint, rows[i].probe, rows[i].data}};
	if (ret)
		snprintf(err, errlen, "the table of events cannot be read: %s", strerror(-ret));
	else
		ret = ask(t, w, w->header.work, calls, *n, err, errlen);
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
	size_t n = 0;
	int ret;

	if (!has_detours(w))
		return 0;
	ret = events_load(t->trace_events);
	if (ret == -ENODATA || ret == -ENODEV)
		return 0; /* nobody has traced events of such a guest */
	if (ret)
		snprintf(err, errlen, "the kernel's events cannot be read: %s", strerror(-ret));
	else if ((ret = settle(t, w)))
		snprintf(err, errlen, "the guest still does what an earlier hvtrace has begun");
	else
		ret = rows_unregister(t, w, &n, err, errlen);
	if (!ret && n)
		ret = synchronize(t, w, w->header.work, err, errlen);
	if (ret)
		return ret;
	ret = jumps_remove(t, w);
	if (ret)
		snprintf(err, errlen, "guest text cannot be restored: %s", strerror(-ret));
	return ret;
}
