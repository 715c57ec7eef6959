// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own.c - the events of the guest's own kprobes and uprobes, those that it has in its own
 * kprobe_events and uprobe_events.
 *
 * They have no tracepoint: each has a list of files that its hits are recorded into
 * (kprobe_trace_func() in kernel/trace/trace_kprobe.c, uprobe_trace_func() in trace_uprobe.c), and
 * ours joins it, by the function of the event's class that does so for the kernel's own, under
 * event_mutex. The event is held meanwhile, as by one that uses it: trace_get_event_file() finds it
 * by its name, so that nothing is asked of one that is no more.
 *
 * A uprobe's hit is recorded by a task that may be preempted: EVENT_STAYS.
 */
#include "tracer/tracepoint/internal.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/window/work.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERR_MIN UINT64_C(0xfffffffffffff001)

enum { REGISTER, UNREGISTER }; /* enum trace_reg (include/linux/trace_events.h, 6.1) */
enum { CALLS_ON = 3, CALLS_OFF = 6 };

static const char *const functions[] = {
	"trace_get_event_file", "trace_put_event_file", "mutex_lock", "mutex_unlock",
	"event_mutex",		"synchronize_rcu",	"memset",
};

/* What an event's class may have for it: they take the same (6.1, 6.12). */
static const char *const registers[] = {"kprobe_register", "trace_uprobe_register"};

static uint64_t row_at(unsigned int row)
{
	return WINDOW_EVENT_OWN + row * sizeof(struct payload_own_event);
}

static bool has_file(const struct payload_own_event *r)
{
	return r->file && r->file < ERR_MIN;
}

static bool kernel_can(const struct trace *t)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!trace_runtime(t, functions[i]))
			return false;
	return true;
}

/* What a file joins the event with, as it is known by its name; 0: it is none of these. */
static uint64_t register_of(struct trace *t, uint64_t call)
{
	struct guestsym_field class, reg;
	uint64_t at, fn;

	if (guestsym_field(t->gs, "trace_event_call.class", &class) ||
	    guestsym_field(t->gs, "trace_event_class.reg", &reg) ||
	    guest_read(&t->guest, call + class.offset, &at, sizeof(at)) ||
	    guest_read(&t->guest, at + reg.offset, &fn, sizeof(fn)))
		return 0;
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (fn && fn == trace_runtime(t, registers[i]))
			return fn;
	return 0;
}

/* --- what the kernel is asked for ------------------------------------------------------------- */

/* What is called is as the host knows it; `to` has room for CALLS_ON. 0: it is not known. */
static size_t calls_register(struct trace *t, const struct payload_own_event *r, uint64_t type,
			     struct borrow_call *to)
{
	uint64_t mutex = trace_runtime(t, "event_mutex"), fn = register_of(t, r->call);

	if (!fn)
		return 0;
	to[0] = (struct borrow_call){.fn = trace_runtime(t, "mutex_lock"), .arg = {mutex}};
	to[1] = (struct borrow_call){.fn = fn, .arg = {r->call, type, r->ours}};
	to[2] = (struct borrow_call){.fn = trace_runtime(t, "mutex_unlock"), .arg = {mutex}};
	return CALLS_ON;
}

/*
 * Nobody is in the probe any more when the event is let go, and telling of that is of one piece
 * with it. What has not been registered the kernel leaves alone; but of an event that was never
 * looked at nothing is asked. `to` has room for CALLS_OFF. 0: how is not known.
 */
static size_t calls_let_go(struct trace *t, const struct payload_own_event *r, uint64_t row_va,
			   struct borrow_call *to)
{
	size_t n = r->call ? calls_register(t, r, UNREGISTER, to) : 0;

	if (r->call && !n)
		return 0;
	to[n++] = (struct borrow_call){.fn = trace_runtime(t, "synchronize_rcu")};
	to[n++] = (struct borrow_call){.fn = trace_runtime(t, "trace_put_event_file"),
				       .arg = {r->file}};
	to[n++] = (struct borrow_call){.fn = trace_runtime(t, "memset"),
				       .arg = {row_va, 0, sizeof(*r)}};
	return n;
}

static int ask(struct events *e, struct borrow_call *calls, size_t n)
{
	char err[256] = "";
	int ret = events_ask(e->t, trampoline_window(e->t), trampoline_text(e->t)->work, calls, n,
			     err, sizeof(err));

	if (ret)
		trace_note(e->t, "events of the guest's own probes: %s", err);
	return ret == -EINPROGRESS ? -ETIMEDOUT : ret;
}

static int unknown(struct events *e)
{
	trace_note(e->t, "this kernel does not tell how its own probes record");
	return -EOPNOTSUPP;
}

/* --- rows ------------------------------------------------------------------------------------- */

static int row_read(struct events *e, unsigned int row, struct payload_own_event *r)
{
	return window_read(trampoline_window(e->t), row_at(row), r, sizeof(*r));
}

static int row_write(struct events *e, unsigned int row, const struct payload_own_event *r)
{
	return window_write(trampoline_window(e->t), row_at(row), r, sizeof(*r));
}

static int row_free(struct events *e, unsigned int row)
{
	static const struct payload_own_event none;

	e->own[row] = 0;
	return row_write(e, row, &none);
}

/* The event's (1 + its number), or with 0 one that is free. EVENT_OWN_ROWS: there is none. */
static unsigned int row_of(const struct events *e, uint32_t own)
{
	unsigned int row = 0;

	while (row < EVENT_OWN_ROWS && e->own[row] != own)
		row++;
	return row;
}

/* --- on --------------------------------------------------------------------------------------- */

static int row_make(struct events *e, uint32_t event, struct payload_own_event *r)
{
	const struct guestsym_event *ev = &events_list(e)->v[event];
	int slot = events_file_get(e, event);

	if (slot < 0)
		return slot;
	*r = (struct payload_own_event){
		.ours = events_window_va(e, events_file_offset((unsigned int)slot)),
	};
	if (strlen(ev->system) >= sizeof(r->system) || strlen(ev->name) >= sizeof(r->event))
		return -EOPNOTSUPP; /* no probe of the kernel's has such a name */
	strcpy(r->system, ev->system);
	strcpy(r->event, ev->name);
	return 0;
}

static int hold(struct events *e, unsigned int row)
{
	uint64_t va = events_window_va(e, row_at(row));
	struct borrow_call call = {
		.fn = trace_runtime(e->t, "trace_get_event_file"),
		.arg = {0, va + offsetof(struct payload_own_event, system),
			va + offsetof(struct payload_own_event, event)},
		.ret_to = va + offsetof(struct payload_own_event, file),
	};

	return ask(e, &call, 1);
}

static bool same_fields(const struct guestsym_event *a, const struct guestsym_event *b)
{
	if (a->nr_fields != b->nr_fields || strcmp(a->print_fmt, b->print_fmt) != 0)
		return false;
	for (size_t i = 0; i < a->nr_fields; i++)
		if (strcmp(a->fields[i].type, b->fields[i].type) != 0 ||
		    strcmp(a->fields[i].name, b->fields[i].name) != 0 ||
		    a->fields[i].offset != b->fields[i].offset ||
		    a->fields[i].size != b->fields[i].size)
			return false;
	return true;
}

/* What is held now is what the list tells of: it may have been defined anew. */
static bool is_listed(struct events *e, const struct guestsym_event *ev, uint64_t file)
{
	const struct guestsym_memory mem = guest_memory(&e->t->guest);
	struct guestsym_event_list now;
	bool same = false;
	uint64_t call;

	if (guest_read(&e->t->guest, file + e->at.call.offset, &call, sizeof(call)) ||
	    call != ev->call || guestsym_events_read(e->t->gs, &mem, e->t->guest.slide, &now))
		return false;
	for (size_t i = 0; i < now.n && !same; i++)
		same = now.v[i].call == call && now.v[i].id == ev->id &&
		       now.v[i].flags == ev->flags && same_fields(&now.v[i], ev);
	guestsym_events_free(&now);
	return same;
}

static int let_go(struct events *e, unsigned int row, struct payload_own_event *r)
{
	struct borrow_call calls[CALLS_OFF];
	size_t n = calls_let_go(e->t, r, events_window_va(e, row_at(row)), calls);
	int ret = n ? ask(e, calls, n) : unknown(e);

	return ret ? ret : row_free(e, row);
}

/* Of an event that is held, and is the one that it was. */
static int join(struct events *e, uint64_t call, unsigned int row, struct payload_own_event *r)
{
	struct borrow_call calls[CALLS_ON];
	int ret, said;
	size_t n;

	r->call = call;
	n = calls_register(e->t, r, REGISTER, calls);
	if (!n) {
		r->call = 0;
		return unknown(e);
	}
	ret = row_write(e, row, r);
	if (!ret)
		ret = ask(e, calls, n);
	if (ret)
		return ret;
	said = (int)calls[1].ret;
	if (said == -EINTR) /* probe_event_enable(), trace_uprobe.c */
		trace_note(e->t, "%s:%s: the guest's perf records this uprobe", r->system,
			   r->event);
	return said < -4095 || said > 0 ? -EIO : said;
}

/* Of a row that is written. -ETIMEDOUT: the guest may get to it yet. */
static int row_register(struct events *e, uint32_t event, unsigned int row,
			struct payload_own_event *r)
{
	const struct guestsym_event *ev = &events_list(e)->v[event];
	struct payload_own_event now = {0};
	int ret = hold(e, row);

	if (ret == -ETIMEDOUT)
		return ret;
	if (!ret)
		ret = row_read(e, row, &now);
	r->file = now.file;
	if (ret || !has_file(r)) {
		trace_note(e->t, "%s:%s: the guest has this event no more", ev->system, ev->name);
		row_free(e, row);
		return ret ? ret : -ENOENT;
	}
	if (is_listed(e, ev, r->file)) {
		ret = join(e, ev->call, row, r);
	} else {
		trace_note(e->t, "%s:%s: the guest has defined this event anew since we came",
			   ev->system, ev->name);
		ret = -ENOENT;
	}
	if (ret && ret != -ETIMEDOUT) {
		int error = let_go(e, row, r);

		ret = error == -ETIMEDOUT ? error : ret;
	}
	return ret;
}

static int on(struct events *e, uint32_t event)
{
	struct payload_own_event r;
	unsigned int row = row_of(e, 0);
	int ret;

	if (row == EVENT_OWN_ROWS) {
		trace_note(e->t, "no more than %d events of the guest's own probes can be on",
			   EVENT_OWN_ROWS);
		return -ENOSPC;
	}
	if (!kernel_can(e->t))
		return unknown(e);
	ret = row_make(e, event, &r);
	if (!ret)
		ret = row_write(e, row, &r);
	if (ret)
		return ret;
	e->own[row] = event + 1;
	e->registering = true;
	ret = row_register(e, event, row, &r);
	/* What the guest may get to yet has to be taken back like the others. */
	e->registered[event] = !ret || ret == -ETIMEDOUT;
	return ret;
}

/* --- off -------------------------------------------------------------------------------------- */

static int off(struct events *e, uint32_t event)
{
	unsigned int row = row_of(e, event + 1);
	struct payload_own_event r, now;
	int ret = row_make(e, event, &r);

	if (row == EVENT_OWN_ROWS) {
		e->registered[event] = false;
		return 0;
	}
	if (!ret)
		ret = row_read(e, row, &now);
	if (ret)
		return ret;
	r.file = now.file;
	if (now.call)
		r.call = events_list(e)->v[event].call;
	ret = has_file(&r) ? let_go(e, row, &r) : row_free(e, row);
	if (!ret)
		e->registered[event] = false;
	return ret;
}

int own_event_set(struct events *e, uint32_t event, bool is_on)
{
	return is_on ? on(e, event) : off(e, event);
}

/* --- of a tracer that was killed -------------------------------------------------------------- */

int own_events_recover(struct trace *t, struct window *w, char *err, size_t errlen)
{
	struct payload_own_event rows[EVENT_OWN_ROWS];
	struct borrow_call calls[EVENT_OWN_ROWS * CALLS_OFF];
	int ret = window_read(w, WINDOW_EVENT_OWN, rows, sizeof(rows));
	size_t n = 0;

	if (ret) {
		snprintf(err, errlen, "the table of its own probes cannot be read: %s",
			 strerror(-ret));
		return ret;
	}
	for (unsigned int row = 0; row < EVENT_OWN_ROWS; row++) {
		size_t of_row;

		if (!has_file(&rows[row]))
			continue;
		of_row = kernel_can(t) ? calls_let_go(t, &rows[row], w->header.va + row_at(row),
						      calls + n)
				       : 0;
		if (!of_row) {
			snprintf(err, errlen, "its kernel does not tell how its own probes record");
			return -EOPNOTSUPP;
		}
		n += of_row;
	}
	return events_ask(t, w, w->header.work, calls, n, err, errlen);
}
