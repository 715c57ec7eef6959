// SPDX-License-Identifier: GPL-2.0-or-later
/* kprobe-guest.c - see kprobe-guest.h */
#include "tracer/dynevent/kprobe-guest.h"
#include "tracer/dynevent/kprobe-traps.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/dynevent/probe-rows.h"
#include "tracer/dynevent/uprobe-guest.h"
#include "tracer/events/registry.h"
#include "tracer/guest/call-type.h"
#include "tracer/instance/files.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/window/work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KPROBE_FLAG_DISABLED 2 /* include/linux/kprobes.h, 6.1 */

/* What the kernel is asked for at most to let go of n: each, and uprobes' waiting for all of them.
 */
#define RELEASE_CALLS(n) ((n)*GUEST_UPROBE_CALLS + 1)

struct guest_probes *guest_probes_new(struct trace *t)
{
	struct guest_probes *g = calloc(1, sizeof(*g));

	if (g)
		g->t = t;
	return g;
}

void guest_probes_free(struct guest_probes *g)
{
	free(g);
}

/* --- what this kernel has -------------------------------------------------------------------- */

static bool learn_member(const struct guestsym *gs, const char *path, uint32_t size,
			 struct guestsym_field *f)
{
	return !guestsym_field(gs, path, f) && f->size == size && f->offset <= PROBE_ROW_STRUCT &&
	       PROBE_ROW_STRUCT - f->offset >= size;
}

static bool learn_entry(struct kprobe_layout *at, const struct guestsym *gs)
{
	return !guestsym_type_size(gs, "kprobe", &at->size) && at->size <= PROBE_ROW_STRUCT &&
	       learn_member(gs, "kprobe.addr", 8, &at->addr) &&
	       learn_member(gs, "kprobe.flags", 4, &at->flags) &&
	       learn_member(gs, "kprobe.nmissed", 8, &at->nmissed) &&
	       learn_member(gs, "kprobe.pre_handler", 8, &at->handler);
}

/* With rethooks (5.18 and later, kernel/kprobes.c), and without. */
static bool learn_return(struct kprobe_layout *at, const struct guestsym *gs)
{
	struct guestsym_field kp;

	return !guestsym_field(gs, "kretprobe.kp", &kp) && !kp.offset &&
	       learn_member(gs, "kretprobe.handler", 8, &at->return_handler) &&
	       learn_member(gs, "kretprobe.maxactive", 4, &at->maxactive) &&
	       learn_member(gs, "kretprobe.nmissed", 4, &at->return_nmissed) &&
	       (learn_member(gs, "kretprobe.rh", 8, &at->instances) ||
		learn_member(gs, "kretprobe.rph", 8, &at->instances)) &&
	       (!guestsym_field(gs, "kretprobe_instance.node.ret_addr", &at->ret_addr) ||
		!guestsym_field(gs, "kretprobe_instance.ret_addr", &at->ret_addr)) &&
	       guestsym_addr(gs, "current_kprobe") && guestsym_addr(gs, "register_kretprobe") &&
	       !guestsym_type_size(gs, "kretprobe", &at->return_size) &&
	       at->return_size <= PROBE_ROW_STRUCT;
}

static bool learn_keeping(struct kprobe_layout *at, const struct guestsym *gs)
{
	return learn_member(gs, "kretprobe.entry_handler", 8, &at->entry_handler) &&
	       learn_member(gs, "kretprobe.data_size", 8, &at->data_size) &&
	       !guestsym_field(gs, "kretprobe_instance.data", &at->data);
}

static void layout_learn(struct kprobe_layout *at, const struct guestsym *gs)
{
	*at = (struct kprobe_layout){0};
	if (!learn_entry(at, gs) || !guestsym_addr(gs, "memset"))
		at->size = 0;
	if (!at->size || !learn_return(at, gs))
		at->return_size = 0;
	at->keeps = at->return_size && learn_keeping(at, gs);
}

/* A function is called by the tracepoint's own type, of which there are many. */
static const char *tracepoint_why_not(struct trace *t)
{
	if (!trace_runtime(t, "tracepoint_probe_register") ||
	    !trace_runtime(t, "tracepoint_probe_unregister") || !events_probes_can_be_seen(t))
		return "this kernel does not tell what its tracepoints look like";
	if (call_types_are_checked(t->gs))
		return "the guest's kernel checks what its tracepoints call (CONFIG_CFI_CLANG)";
	return NULL;
}

/* By its kworkers, which are asked to register them, and of the handlers. */
static const char *calls_why_not(struct trace *t, uint32_t kind)
{
	const struct guest_work work = events_work(t, NULL, 0);
	const char *why = guest_work_why_not(&work);
	uint8_t type[CALL_TYPE_SIZE];

	static const enum call_type types[] = {
		[PROBE_ROW_ENTRY] = CALL_TYPE_KPROBE,
		[PROBE_ROW_RETURN] = CALL_TYPE_KRETPROBE,
		[PROBE_ROW_UPROBE] = CALL_TYPE_UPROBE,
		[PROBE_ROW_URETPROBE] = CALL_TYPE_URETPROBE,
	};

	if (!why && kind == PROBE_ROW_TRACEPOINT)
		return tracepoint_why_not(t);
	if (!why && !call_type_read(t->gs, &t->guest, types[kind], type))
		why = "the guest's kernel checks what it calls (CONFIG_CFI_CLANG), and does not tell how";
	return why;
}

static const char *kprobes_why_not(struct guest_probes *g, uint32_t kind)
{
	struct trace *t = g->t;

	if (!trace_runtime(t, "register_kprobe"))
		return "the guest's kernel has no kprobes (CONFIG_KPROBES)";
	if (!g->learnt)
		layout_learn(&g->at, t->gs);
	g->learnt = true;
	if (!g->at.size)
		return "this kernel does not tell what its kprobes look like (BTF)";
	if (kind == PROBE_ROW_RETURN && !g->at.return_size)
		return "the guest's kernel has no kretprobes (CONFIG_KRETPROBES)";
	return NULL;
}

const char *guest_probes_why_not(struct guest_probes *g, uint32_t kind)
{
	struct trace *t = g->t;
	const char *why = NULL;

	if (!t->borrow)
		return "nothing calls functions of this guest's kernel for us";
	if (!events_ready(t->trace_events))
		return "its kernel boots, and cannot be asked yet";
	if (probe_row_is_uprobe(kind))
		why = guest_uprobes_why_not(t);
	else if (kind != PROBE_ROW_TRACEPOINT)
		why = kprobes_why_not(g, kind);
	return why ? why : calls_why_not(t, kind);
}

bool guest_probes_keep_args(struct guest_probes *g)
{
	return !kprobes_why_not(g, PROBE_ROW_RETURN) && g->at.keeps;
}

int guest_probes_open(struct guest_probes *g, char *err, size_t errlen)
{
	struct trace *t = g->t;
	int ret = t->tramp ? 0 : trace_open_events(t, err, errlen);

	if (!ret && !t->cfg.running) {
		ret = trampoline_types(t);
		if (ret)
			snprintf(err, errlen, "its memory cannot be written: %s", strerror(-ret));
	}
	if (ret || !trace_has_traps(g->t) || g->trapped)
		return ret;
	ret = kprobe_traps_insert(t);
	if (ret)
		snprintf(err, errlen, "no trap can be set in its memory: %s", strerror(-ret));
	g->trapped = !ret;
	return ret;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void put(struct probe_row *r, const struct guestsym_field *f, uint64_t value)
{
	probe_row_put(r, f->offset, &value, f->size);
}

/* The function that is called with a row of that kind. */
static uint64_t row_handler(const struct guest_probes *g, uint32_t kind)
{
	const struct payload_text *text = trampoline_text(g->t);
	uint64_t code = trampoline_window(g->t)->header.va + WINDOW_TEXT;
	bool traps = trace_has_traps(g->t);

	if (kind == PROBE_ROW_TRACEPOINT)
		return code + (traps ? text->tracepoint_stop : text->tracepoint);
	if (kind == PROBE_ROW_RETURN)
		return code + (traps ? text->kretprobe_stop : text->kretprobe);
	return code + (traps ? text->kprobe_stop : text->kprobe);
}

static void row_keep_args(const struct guest_probes *g, struct probe_row *r)
{
	uint64_t code = trampoline_window(g->t)->header.va + WINDOW_TEXT;

	put(r, &g->at.entry_handler, code + trampoline_text(g->t)->kretprobe_entry);
	put(r, &g->at.data_size, PROBE_ARGS * sizeof(uint64_t));
}

/* What the kernel is to register. */
static void row_make(const struct guest_probes *g, struct probe_row *r, uint32_t kind,
		     uint64_t addr, unsigned int maxactive, bool args)
{
	uint64_t handler = row_handler(g, kind);

	*r = (struct probe_row){0};
	memcpy(r->bytes + PROBE_ROW_KIND, &kind, sizeof(kind));
	if (kind == PROBE_ROW_TRACEPOINT) {
		memcpy(r->bytes + PROBE_ROW_TRACEPOINT_AT, &addr, sizeof(addr));
		memcpy(r->bytes + PROBE_ROW_TRACEPOINT_FN, &handler, sizeof(handler));
		return;
	}
	put(r, &g->at.addr, addr);
	put(r, &g->at.flags, KPROBE_FLAG_DISABLED);
	if (kind == PROBE_ROW_RETURN) {
		put(r, &g->at.return_handler, handler);
		put(r, &g->at.maxactive, maxactive);
		if (args)
			row_keep_args(g, r);
	} else {
		put(r, &g->at.handler, handler);
	}
}

static int row_clear(struct window *w, unsigned int row)
{
	static const struct probe_row none;

	return probe_row_write(w, row, &none);
}

/* Whose sites the guest's kernel patches itself are to have no trap of ours. */
static int sites_leave(struct guest_probes *g)
{
	uint64_t addr[PROBE_ROWS];
	size_t n = 0;

	for (unsigned int row = 0; row < PROBE_ROWS; row++)
		if (g->row[row].kind)
			addr[n++] = g->row[row].addr;
	return trace_has_traps(g->t) ? kprobe_traps_leave(g->t, addr, n) : 0;
}

/* It is the guest's no more. */
static int row_free(struct guest_probes *g, unsigned int row)
{
	probe_row_set(g, row, PROBE_ROW_FREE);
	return sites_leave(g);
}

/* The guest's kernel has not taken it: nobody who looks at the window later is to think so. */
static void row_take_back(struct guest_probes *g, unsigned int row)
{
	row_clear(trampoline_window(g->t), row);
	row_free(g, row);
}

/* --- asking the kernel ----------------------------------------------------------------------- */

static int row_register(struct guest_probes *g, unsigned int row, struct guest_probe *made)
{
	const char *fn =
		g->row[row].kind == PROBE_ROW_RETURN ? "register_kretprobe" : "register_kprobe";
	struct window *w = trampoline_window(g->t);
	struct borrow_call call = {.fn = trace_runtime(g->t, fn), .arg = {probe_row_va(w, row)}};
	struct probe_row r;
	int ret = guest_probes_ask(g, &call, 1);

	if (ret == -ETIMEDOUT)
		return ret; /* the guest may get to it yet */
	if (!ret)
		ret = guest_probes_said(&call);
	if (ret) {
		row_take_back(g, row);
		return ret;
	}
	ret = probe_row_read(w, row, &r);
	*made = (struct guest_probe){
		.row = row,
		.ip = probe_row_get(&r, g->at.addr.offset, 8),
		.maxactive = g->row[row].kind == PROBE_ROW_RETURN
				     ? (unsigned int)probe_row_get(&r, g->at.maxactive.offset, 4)
				     : 0,
	};
	return ret;
}

int guest_probe_register(struct guest_probes *g, uint32_t kind, uint64_t addr,
			 unsigned int maxactive, bool args, struct guest_probe *made)
{
	struct probe_row r;
	unsigned int row;
	int ret = probe_row_find(g);

	if (ret < 0)
		return ret;
	if (args && !g->at.keeps)
		return -EOPNOTSUPP;
	row = (unsigned int)ret;
	row_make(g, &r, kind, addr, maxactive, args);
	ret = probe_row_write(trampoline_window(g->t), row, &r);
	if (ret)
		return ret;
	g->row[row].addr = addr;
	g->row[row].args = args;
	probe_row_set(g, row, kind);
	if (kind == PROBE_ROW_TRACEPOINT) {
		/* Nothing of the kernel's until it is switched on. */
		*made = (struct guest_probe){.row = row};
		return 0;
	}
	ret = sites_leave(g);
	if (ret)
		row_take_back(g, row);
	return ret ? ret : row_register(g, row, made);
}

static struct borrow_call switch_call(struct guest_probes *g, unsigned int row, bool on)
{
	uint64_t va = probe_row_va(trampoline_window(g->t), row);

	if (g->row[row].kind != PROBE_ROW_TRACEPOINT)
		return (struct borrow_call){
			.fn = trace_runtime(g->t, on ? "enable_kprobe" : "disable_kprobe"),
			.arg = {va}};
	return (struct borrow_call){
		.fn = trace_runtime(g->t, on ? "tracepoint_probe_register"
					     : "tracepoint_probe_unregister"),
		.arg = {g->row[row].addr, row_handler(g, PROBE_ROW_TRACEPOINT), va}};
}

/* But of uprobes. */
static int switch_some(struct guest_probes *g, const unsigned int *rows, size_t n, bool on)
{
	struct borrow_call calls[PROBE_ROWS];
	int ret = 0;

	for (size_t i = 0; i < n; i++) {
		calls[i] = switch_call(g, rows[i], on);
		ret = calls[i].fn ? ret : -EOPNOTSUPP;
	}
	if (!ret)
		ret = guest_probes_ask(g, calls, n);
	for (size_t i = 0; i < n && !ret; i++)
		ret = guest_probes_said(&calls[i]);
	return ret;
}

int guest_probes_switch(struct guest_probes *g, const unsigned int *rows, size_t n, bool on)
{
	unsigned int uprobes[PROBE_ROWS] = {0}, others[PROBE_ROWS] = {0};
	size_t nr_uprobes = 0, nr_others = 0;
	int ret, error;

	if (g->closed)
		return -ENODEV;
	for (size_t i = 0; i < n; i++)
		if (probe_row_is_uprobe(g->row[rows[i]].kind))
			uprobes[nr_uprobes++] = rows[i];
		else
			others[nr_others++] = rows[i];
	ret = guest_uprobes_switch(g, uprobes, nr_uprobes, on);
	if (ret && on)
		return ret;
	error = switch_some(g, others, nr_others, on);
	if (error && on && error != -ETIMEDOUT)
		guest_uprobes_switch(g, uprobes, nr_uprobes, false);
	return ret ? ret : error;
}

/*
 * A window is the guest's memory: what it names is a tracepoint, or nothing is asked. There may be
 * calls of it until events_synchronize().
 */
static size_t tracepoint_calls(struct trace *t, const struct probe_row *r, uint64_t va,
			       struct borrow_call calls[2])
{
	const struct payload_event probe = {probe_row_get(r, PROBE_ROW_TRACEPOINT_AT, 8),
					    probe_row_get(r, PROBE_ROW_TRACEPOINT_FN, 8), va};
	size_t n = 0;
	bool is_there = probe_is_tracepoint(t, probe.tracepoint);

	if (is_there) {
		machine_pause_for(t->m, "removing a probe of a tracepoint");
		is_there = events_probe_is_there(t, &probe);
		machine_resume(t->m);
	}
	if (is_there)
		calls[n++] =
			(struct borrow_call){.fn = trace_runtime(t, "tracepoint_probe_unregister"),
					     .arg = {probe.tracepoint, probe.probe, probe.data}};
	calls[n++] = (struct borrow_call){.fn = trace_runtime(t, "memset"),
					  .arg = {va, 0, PROBE_ROW_SIZE}};
	return n;
}

/*
 * The struct of a kretprobe that the kernel has not got, or has no more, must not be unregistered;
 * that of a kprobe may. The row is free as soon as that is done, whatever has become of us.
 */
static size_t unregister_calls(struct trace *t, const struct kprobe_layout *at,
			       const struct probe_row *r, uint64_t va, struct borrow_call calls[2])
{
	const char *fn = "unregister_kprobe";
	uint64_t instances;
	size_t n = 0;

	if (probe_row_kind(r) == PROBE_ROW_TRACEPOINT)
		return tracepoint_calls(t, r, va, calls);
	instances = at->return_size ? probe_row_get(r, at->instances.offset, 8) : 0;
	if (probe_row_kind(r) == PROBE_ROW_RETURN)
		fn = instances && instances < PROBE_ERR_MIN ? "unregister_kretprobe" : NULL;
	if (fn)
		calls[n++] = (struct borrow_call){.fn = trace_runtime(t, fn), .arg = {va}};
	calls[n++] = (struct borrow_call){.fn = trace_runtime(t, "memset"),
					  .arg = {va, 0, PROBE_ROW_SIZE}};
	return n;
}

/*
 * What the kernel is asked for to let go of these n rows, the first of which lies at va: how many
 * calls, RELEASE_CALLS(n) at most. They are copies, for the guest may write to the rows themselves.
 * All uprobes go at once: nobody waits for each of them.
 */
static size_t release_calls(struct trace *t, const struct kprobe_layout *at,
			    const struct probe_row *rows, size_t n, uint64_t va,
			    struct borrow_call *calls)
{
	size_t nr = 0, others;

	for (size_t i = 0; i < n; i++)
		if (probe_row_kind(&rows[i]) && !probe_row_is_uprobe(probe_row_kind(&rows[i])))
			nr += unregister_calls(t, at, &rows[i], va + i * PROBE_ROW_SIZE,
					       calls + nr);
	others = nr;
	for (size_t i = 0; i < n; i++)
		if (probe_row_is_uprobe(probe_row_kind(&rows[i])))
			nr += guest_uprobe_end(t, &rows[i], va + i * PROBE_ROW_SIZE, calls + nr);
	if (nr > others)
		nr += guest_uprobes_wait(t, calls + nr);
	for (size_t i = 0; i < n; i++)
		if (probe_row_is_uprobe(probe_row_kind(&rows[i])))
			nr += guest_uprobe_drop(t, &rows[i], va + i * PROBE_ROW_SIZE, calls + nr);
	return nr;
}

int guest_probe_unregister(struct guest_probes *g, unsigned int row)
{
	struct borrow_call calls[RELEASE_CALLS(1)];
	struct probe_row r;
	struct window *w;
	char err[256];
	size_t n;
	int ret;

	if (g->closed)
		return 0;
	w = trampoline_window(g->t);
	ret = probe_row_read(w, row, &r);
	if (ret)
		return ret;
	n = release_calls(g->t, &g->at, &r, 1, probe_row_va(w, row), calls);
	ret = guest_probes_ask(g, calls, n);
	if (!ret && g->row[row].kind == PROBE_ROW_TRACEPOINT)
		ret = events_synchronize(g->t, w, trampoline_text(g->t)->work, err, sizeof(err));
	return ret ? ret : row_free(g, row);
}

/* --- counts ---------------------------------------------------------------------------------- */

static void row_count(struct guest_probes *g, unsigned int row)
{
	struct probe_row r;

	if (probe_row_read(trampoline_window(g->t), row, &r))
		return;
	g->row[row].hits = probe_row_get(&r, PROBE_ROW_HITS, 8);
	g->row[row].missed = probe_row_get(&r, PROBE_ROW_MISSED, 8);
	if (g->row[row].kind == PROBE_ROW_URETPROBE)
		g->row[row].hits = probe_row_get(&r, PROBE_ROW_CALLS, 8);
	if (g->row[row].kind == PROBE_ROW_ENTRY || g->row[row].kind == PROBE_ROW_RETURN)
		g->row[row].missed += probe_row_get(&r, g->at.nmissed.offset, 8);
	if (g->row[row].kind == PROBE_ROW_RETURN)
		g->row[row].missed += probe_row_get(&r, g->at.return_nmissed.offset, 4);
}

void guest_probe_count(struct guest_probes *g, unsigned int row, uint64_t *hits, uint64_t *missed)
{
	if (!g->closed)
		row_count(g, row);
	*hits = g->row[row].hits;
	*missed = g->row[row].missed;
}

/* --- letting go ------------------------------------------------------------------------------ */

/* A bit for each kind (PROBE_ROW_) of which there is one. */
static uint32_t window_kinds(struct window *w)
{
	uint32_t kinds = 0;
	struct probe_row r;

	for (unsigned int row = 0; row < PROBE_ROWS; row++)
		if (!probe_row_read(w, row, &r) && probe_row_kind(&r) &&
		    probe_row_kind(&r) <= PROBE_ROW_URETPROBE)
			kinds |= 1u << probe_row_kind(&r);
	return kinds;
}

static int rows_release(struct trace *t, const struct kprobe_layout *at, struct window *w,
			uint32_t entry, char *err, size_t errlen)
{
	struct borrow_call *calls = calloc(RELEASE_CALLS(PROBE_ROWS), sizeof(*calls));
	struct probe_row *rows = calloc(PROBE_ROWS, sizeof(*rows));
	bool tracepoints = false;
	int ret = calls && rows ? 0 : -ENOMEM;

	for (unsigned int row = 0; row < PROBE_ROWS && !ret; row++) {
		ret = probe_row_read(w, row, &rows[row]);
		tracepoints |= probe_row_kind(&rows[row]) == PROBE_ROW_TRACEPOINT;
	}
	if (!ret) {
		size_t n = release_calls(t, at, rows, PROBE_ROWS, probe_row_va(w, 0), calls);

		ret = events_ask(t, w, entry, calls, n, err, errlen);
	} else {
		snprintf(err, errlen, "%s", strerror(-ret));
	}
	if (!ret && tracepoints)
		ret = events_synchronize(t, w, entry, err, errlen);
	free(calls);
	free(rows);
	return ret;
}

/* Of all rows of a window: what a call that was under way has made of them is known by then. */
static int rows_unregister(struct trace *t, const struct kprobe_layout *at, struct window *w,
			   uint32_t entry, char *err, size_t errlen)
{
	const struct guest_work work = events_work(t, w, entry);
	int ret = guest_work_settle(&work);

	if (!ret)
		return rows_release(t, at, w, entry, err, errlen);
	snprintf(err, errlen, "the guest still does what it was asked for before");
	return ret;
}

static bool has_rows(const struct guest_probes *g)
{
	for (unsigned int row = 0; row < PROBE_ROWS; row++)
		if (g->row[row].kind)
			return true;
	return false;
}

int guest_probes_close(struct guest_probes *g, bool runs)
{
	struct trace *t = g->t;
	char err[256];
	int ret = 0, error;

	if (g->closed)
		return 0;
	if (has_rows(g)) {
		for (unsigned int row = 0; row < PROBE_ROWS; row++)
			row_count(g, row);
		if (runs)
			ret = rows_unregister(t, &g->at, trampoline_window(t),
					      trampoline_text(t)->work, err, sizeof(err));
	}
	g->closed = true;
	if (ret)
		trace_note(t, "kprobe events: %s", err);
	error = g->trapped ? kprobe_traps_remove(t) : 0;
	g->trapped = false;
	return ret || !runs ? ret : error;
}

int guest_probes_recover(struct trace *t, struct window *w, char *err, size_t errlen)
{
	const uint32_t kprobes = 1u << PROBE_ROW_ENTRY | 1u << PROBE_ROW_RETURN,
		       uprobes = 1u << PROBE_ROW_UPROBE | 1u << PROBE_ROW_URETPROBE;
	uint32_t kinds = window_kinds(w);
	const char *what = NULL;
	struct kprobe_layout at;

	if (!kinds)
		return 0;
	layout_learn(&at, t->gs);
	if (!at.size && kinds & kprobes)
		what = "kprobes";
	else if (kinds & uprobes && guest_uprobes_why_not(t))
		what = "uprobes";
	if (what) {
		snprintf(err, errlen,
			 "an earlier hvtrace has left %s in it, and its kernel does not tell how "
			 "to remove them",
			 what);
		return -EOPNOTSUPP;
	}
	return rows_unregister(t, &at, w, w->header.work, err, errlen);
}
