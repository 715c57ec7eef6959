// SPDX-License-Identifier: GPL-2.0-or-later
/* kprobe.c - see kprobe.h: which there are, and what kprobe_events says and is told. */
#include "tracer/dynevent/kprobe.h"
#include "tracer/core/lock.h"
#include "tracer/dynevent/files.h"
#include "tracer/events/filter/filter.h"
#include "tracer/events/trigger/trigger.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct probe_events *probe_events_new(struct trace *t)
{
	struct probe_events *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->t = t;
	p->guest = guest_probes_new(t);
	if (p->guest)
		return p;
	free(p);
	return NULL;
}

static void probe_event_free(struct probe_event *pe)
{
	if (!pe)
		return;
	probe_def_free(pe->def);
	free(pe);
}

void probe_events_free(struct probe_events *p)
{
	if (!p)
		return;
	for (struct probe_event *pe = p->first, *next; pe; pe = next) {
		next = pe->next;
		probe_event_free(pe);
	}
	guest_probes_free(p->guest);
	free(p);
}

/* --- what is wanted -------------------------------------------------------------------------- */

/* t->change is held. */
static bool any_instance_wants(const struct trace *t, uint32_t event)
{
	for (struct instance *i = t->instances; i; i = i->next)
		if (i->events && event_wanted(&i->events[event]))
			return true;
	return false;
}

/* Have hits at the sites where an event is that some instance wants. t->change is held. */
static void ask(struct probe_events *p)
{
	struct probe_set *set = &p->t->probes;

	for (size_t i = 0; i < set->nr; i++)
		probe_ask(&set->v[i], GUARD_PROBE, false);
	for (const struct probe_event *pe = p->first; pe; pe = pe->next)
		if (pe->probe < set->nr && pe->wanted)
			probe_ask(&set->v[pe->probe], GUARD_PROBE, true);
}

/* Have the kernel's probes on or off as they are wanted, now that hits find out about that. */
static int switch_in_guest(struct probe_events *p, bool on)
{
	unsigned int rows[PROBE_ROWS];
	size_t n = 0;
	int ret;

	for (const struct probe_event *pe = p->first; pe && n < PROBE_ROWS; pe = pe->next)
		if (pe->in_guest && pe->on != on && pe->wanted == on)
			rows[n++] = pe->guest.row;
	ret = n ? guest_probes_switch(p->guest, rows, n, on) : 0;
	for (struct probe_event *pe = p->first; pe && !ret; pe = pe->next)
		if (pe->in_guest && pe->wanted == on)
			pe->on = on;
	return ret;
}

static int patch_wanted(struct probe_events *p)
{
	struct trace *t = p->t;
	bool changed = false;
	int ret = 0;

	trace_change_begin(t);
	trace_writers_stop(t);
	for (struct probe_event *pe = p->first; pe; pe = pe->next) {
		bool wanted = any_instance_wants(t, pe->event);

		changed = changed || (wanted != pe->wanted && !pe->in_guest);
		pe->wanted = wanted;
	}
	trace_writers_go(t);
	if (changed) {
		ask(p);
		ret = selection_patch(t);
	}
	trace_change_end(t);
	return pieces_finish(t, ret);
}

static bool some_want_stacks(struct probe_events *p)
{
	bool some = false;

	instances_lock(p->t);
	for (struct instance *i = p->t->instances; i; i = i->next)
		for (const struct probe_event *pe = p->first; pe && !some; pe = pe->next)
			some = instance_wants_event_stacks(i, pe->event);
	instances_unlock(p->t);
	return some;
}

int probe_events_apply(struct probe_events *p)
{
	int ret, error;

	if (!p->first)
		return 0;
	if (some_want_stacks(p))
		trace_use_stacks(p->t);
	ret = patch_wanted(p);
	error = switch_in_guest(p, false);
	ret = ret ? ret : error;
	error = switch_in_guest(p, true);
	return ret ? ret : error;
}

/* --- adding ---------------------------------------------------------------------------------- */

static const struct dyn_event_ops *ops_of(const struct probe_event *pe)
{
	if (pe->def->kind == PROBE_UPROBE)
		return &uprobe_event_ops;
	return pe->def->kind == PROBE_KPROBE ? &probe_event_ops : &fprobe_event_ops;
}

/* One of that event, of the same file as `of`. */
static struct probe_event *find(const struct probe_events *p, uint32_t event,
				const struct probe_event *of)
{
	struct probe_event *pe = p->first;

	while (pe && (pe->event != event || ops_of(pe) != ops_of(of)))
		pe = pe->next;
	return pe;
}

static void link_in(struct probe_events *p, struct probe_event *pe)
{
	struct probe_event **at = &p->first;

	while (*at)
		at = &(*at)->next;
	trace_change_begin(p->t);
	trace_writers_stop(p->t);
	*at = pe;
	trace_writers_go(p->t);
	trace_change_end(p->t);
}

static int place(struct probe_events *p, struct probe_event *pe, struct probe_error *err)
{
	/* Of a uprobe that has been done to find its file. */
	int ret = pe->def->kind == PROBE_UPROBE ? 0 : probe_event_place(p->t, pe);

	if (ret == -EILSEQ)
		return probe_error_set(err, ret, 1, 0,
				       "Probe point is not an instruction boundary");
	if (ret == -ENOENT)
		return probe_error_set(err, ret, 1, 0, "Invalid probed address or symbol");
	if (ret && ret != -ENOMEM && ret != -EEXIST)
		return probe_error_set(err, ret, 1, 0, "Failed to register probe event");
	return ret;
}

static bool is_same(const struct probe_event *a, const struct probe_event *b)
{
	if (a->def->kind != PROBE_UPROBE)
		return probe_def_same(a->def, b->def);
	return uprobe_same_place(a, b) && probe_def_same_args(a->def, b->def);
}

/* Another probe of an event that is there. */
static int append(struct probe_events *p, struct probe_event *pe, const struct probe_event *first,
		  struct probe_error *err)
{
	unsigned int differs = probe_def_differs(pe->def, first->def);

	if (pe->def->is_return != first->def->is_return || pe->def->kind != first->def->kind)
		return probe_error_set(err, -EEXIST, 0, 0,
				       "Probe type is different from existing probe");
	if (differs)
		return probe_error_set(err, -EEXIST, differs + 1, 0,
				       "Argument type or name is different from existing probe");
	for (const struct probe_event *other = first; other; other = other->next)
		if (other->event == first->event && is_same(pe, other))
			return probe_error_set(err, -EEXIST, 0, 0,
					       "There is already the exact same probe event");
	pe->event = first->event;
	return place(p, pe, err);
}

static int add_event(struct probe_events *p, struct probe_event *pe, struct probe_error *err)
{
	struct probe_event_made made;
	int ret = place(p, pe, err);

	if (!ret)
		ret = probe_event_make(&made, pe->def, 0);
	if (ret)
		return ret;
	ret = events_add(p->t->trace_events, &made, &pe->event);
	probe_event_unmake(&made); /* what has not been taken */
	return ret;
}

int probe_event_add(struct probe_events *p, struct probe_event *pe, struct probe_error *err)
{
	struct events *events = p->t->trace_events;
	uint32_t event = events_find(events, pe->def->group, pe->def->event);
	const struct probe_event *first = event == EVENT_NONE ? NULL : find(p, event, pe);
	int ret;

	if (first)
		ret = append(p, pe, first, err);
	else if (event != EVENT_NONE)
		ret = probe_error_set(err, -EEXIST, 0, 0,
				      "Given group/event name is already used by another event");
	else
		ret = add_event(p, pe, err);
	if (ret)
		return ret;
	link_in(p, pe);
	dyn_event_add(p->t, &pe->dyn, ops_of(pe), pe);
	ret = probe_events_apply(p);
	if (ret)
		trace_note(p->t, "%s:%s: it is there, but not on", pe->def->group, pe->def->event);
	return 0;
}

int probe_event_discard(struct probe_events *p, struct probe_event *pe)
{
	int ret = pe->in_guest ? guest_probe_unregister(p->guest, pe->guest.row) : 0;

	probe_event_free(pe);
	return ret;
}

static int define_with(struct probe_events *p, const struct probe_words *words,
		       int parse(const struct probe_words *words,
				 const struct probe_symbols *symbols, struct probe_def **def,
				 struct probe_error *err),
		       struct probe_error *err)
{
	struct probe_dentries dentries;
	const struct probe_symbols symbols = {
		.count = probe_symbol_count,
		.entry = probe_symbol_entry,
		.function = probe_symbol_function,
		.tracepoint = probe_symbol_tracepoint,
		.dentries = probe_symbol_dentries(p->t, &dentries) ? &dentries : NULL,
		.has_char = probe_kernel_has_char(p->t),
		.has_names = probe_kernel_has_meta_args(p->t),
		.names_are_validated = probe_kernel_validates_names(p->t),
		.keeps_args = probe_kernel_keeps_args(p->t),
		.arg = p->t,
	};
	struct probe_event *pe = calloc(1, sizeof(*pe));
	int ret = pe ? parse(words, &symbols, &pe->def, err) : -ENOMEM;

	if (!ret)
		ret = probe_event_add(p, pe, err);
	if (ret && pe)
		probe_event_discard(p, pe);
	return ret;
}

static int define_kprobe(struct probe_events *p, const struct probe_words *words,
			 struct probe_error *err)
{
	return define_with(p, words, probe_def_parse, err);
}

static int define_fprobe(struct probe_events *p, const struct probe_words *words,
			 struct probe_error *err)
{
	return define_with(p, words, fprobe_def_parse, err);
}

/* --- removing -------------------------------------------------------------------------------- */

static bool has_sibling(const struct probe_events *p, const struct probe_event *pe)
{
	for (const struct probe_event *other = p->first; other; other = other->next)
		if (other != pe && other->event == pe->event)
			return true;
	return false;
}

/* t->change is held. */
static int take_out_held(struct probe_events *p, struct probe_event **at)
{
	struct probe_event *pe = *at;
	struct trace *t = p->t;
	bool last = !has_sibling(p, pe);

	if (last && any_instance_wants(t, pe->event))
		return -EBUSY;
	trace_writers_stop(t);
	*at = pe->next;
	if (last)
		instances_forget_event(t, pe->event);
	trace_writers_go(t);
	if (last)
		events_remove(t->trace_events, pe->event);
	if (!pe->wanted || pe->in_guest)
		return 0;
	ask(p);
	return selection_patch(t);
}

int probe_event_remove(struct trace *t, struct dyn_event *ev)
{
	struct probe_event *pe = ev->owner, **at = &t->probe_events->first;
	int ret, error = 0;

	while (*at != pe)
		at = &(*at)->next;
	trace_change_begin(t);
	ret = take_out_held(t->probe_events, at);
	trace_change_end(t);
	ret = pieces_finish(t, ret);
	if (*at != pe) {
		dyn_event_remove(t, ev);
		error = probe_event_discard(t->probe_events, pe);
	}
	return ret ? ret : error;
}

/* --- events/define/dyn-event.h ---------------------------------------------------------------- */

void probe_error_log(struct trace *t, const char *where, const struct probe_words *words,
		     const struct probe_error *err)
{
	uint16_t pos;
	char *command = err->what ? probe_error_command(words, err, &pos) : NULL;

	if (command)
		error_log_add(trace_top(t)->errors, trace_local_ns(t), where, err->what, command,
			      pos);
	free(command);
}

int probe_line_define(struct trace *t, const char *line, probe_define_fn *define, const char *where)
{
	struct probe_error err = {0};
	struct probe_words words;
	int ret = probe_words_split(&words, line);

	if (ret)
		return ret;
	if (words.n)
		ret = define(t->probe_events, &words, &err);
	probe_error_log(t, where, &words, &err);
	probe_words_free(&words);
	return ret;
}

static int probe_event_define(struct trace *t, const char *line)
{
	return probe_line_define(t, line, define_kprobe, "trace_kprobe");
}

/* A kernel without these says of such a line what it says of any that is none of its own. */
static int fprobe_event_define(struct trace *t, const char *line)
{
	if (!probe_kernel_has_fprobes(t))
		return -ECANCELED;
	return probe_line_define(t, line, define_fprobe, "trace_fprobe");
}

void probe_event_print(const struct dyn_event *ev, struct text *out)
{
	const struct probe_event *pe = ev->owner;

	probe_def_print(pe->def, pe->guest.maxactive, out);
}

bool probe_event_is_busy(struct trace *t, const struct dyn_event *ev)
{
	const struct probe_event *pe = ev->owner;
	bool busy;

	change_lock(t);
	busy = any_instance_wants(t, pe->event);
	change_unlock(t);
	return busy;
}

bool probe_event_matches(const struct dyn_event *ev, const struct probe_removal *removal)
{
	const struct probe_event *pe = ev->owner;

	return probe_removal_takes(removal, pe->def);
}

const struct dyn_event_ops probe_event_ops = {
	.syntax =
		"  p[:[GROUP/][EVENT]] PLACE [ARG...]   before the instruction there\n"
		"  r[MAXACTIVE][:[GROUP/][EVENT]] PLACE [ARG...]   when the function returns\n"
		"    PLACE: [MODULE:]SYMBOL[+OFFSET][%return] or an address\n"
		"    ARG: [NAME=]FETCH[:TYPE]\n"
		"    FETCH: %REGISTER @ADDRESS @SYMBOL[+OFFSET] $stackN $stack $retval $argN $comm\n"
		"      \\IMMEDIATE +|-[u]OFFSET(FETCH)",
	.define = probe_event_define,
	.print = probe_event_print,
	.is_busy = probe_event_is_busy,
	.matches = probe_event_matches,
	.remove = probe_event_remove,
};

const struct dyn_event_ops fprobe_event_ops = {
	.syntax = "  f[:[GROUP/][EVENT]] FUNCTION [ARG...]   where it begins\n"
		  "  f[MAXACTIVE][:[GROUP/][EVENT]] FUNCTION%return [ARG...]   when it returns\n"
		  "  t[:[GROUP/][EVENT]] TRACEPOINT [ARG...]   with what it passes on\n"
		  "    as the guest's kernel has them (6.5 and later, CONFIG_FPROBE_EVENTS);\n"
		  "    FETCH, but for registers, and by the function's or tracepoint's own names:\n"
		  "      NAME NAME->MEMBER[.MEMBER...] $retval->MEMBER $arg*",
	.define = fprobe_event_define,
	.print = probe_event_print,
	.is_busy = probe_event_is_busy,
	.matches = probe_event_matches,
	.remove = probe_event_remove,
};

/* --- files.h --------------------------------------------------------------------------------- */

void trace_print_kprobe_profile(struct trace *t, struct text *out)
{
	struct probe_events *p = t->probe_events;

	events_lock(t->trace_events);
	for (struct probe_event *pe = p->first; pe; pe = pe->next) {
		uint64_t hits = atomic_load(&pe->hits), missed = 0;

		if (pe->def->kind != PROBE_KPROBE)
			continue;
		if (pe->in_guest)
			guest_probe_count(p->guest, pe->guest.row, &hits, &missed);
		text_printf(out, "  %-44s %15" PRIu64 " %15" PRIu64 "\n", pe->def->event, hits,
			    missed);
	}
	events_unlock(t->trace_events);
}

int probe_events_close(struct probe_events *p, bool runs)
{
	return guest_probes_close(p->guest, runs);
}
