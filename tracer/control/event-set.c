// SPDX-License-Identifier: GPL-2.0-or-later
/* event-set.c - set_event, available_events, and the files `enable` of an instance. */
#include "tracer/control/files.h"
#include "tracer/events/events.h"
#include "tracer/events/filter/format.h"
#include "tracer/events/select.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/word.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <stdlib.h>

static bool is_top(const struct instance *i)
{
	return i == i->t->instances;
}

/* Since 6.14 */
static bool knows_modules(const struct trace *t)
{
	uint32_t size;

	return !guestsym_type_size(t->gs, "event_mod_load", &size);
}

static bool all_are_own(const struct guestsym_event_list *list, const uint32_t *which, size_t n)
{
	size_t own = 0;

	while (own < n && event_is_own_probe(&list->v[which[own]]))
		own++;
	return own == n;
}

/*
 * Leave out those that only the guest itself can record: its own event probes and their like. And
 * those of its own kprobes and uprobes, unless these alone are meant: with one that the guest has
 * removed since the others would fail, too.
 */
static size_t keep_recordable(const struct guestsym_event_list *list, uint32_t *which, size_t n,
			      bool on)
{
	bool own = !on || all_are_own(list, which, n);
	size_t kept = 0;

	for (size_t k = 0; k < n; k++) {
		const struct guestsym_event *ev = &list->v[which[k]];

		if (event_has_enable(ev) && event_is_recordable(ev) &&
		    (own || !event_is_own_probe(ev)))
			which[kept++] = which[k];
	}
	return kept;
}

int instance_turn_events(struct instance *i, uint32_t *which, size_t n, bool on)
{
	const struct guestsym_event_list *list;
	size_t kept;
	int ret = trace_events(i->t, &list);

	if (ret)
		return ret;
	if (n == 1 && guestsym_event_is_gone(&list->v[which[0]]))
		return -ENODEV;
	kept = keep_recordable(list, which, n, on);
	if (n && !kept && on) {
		trace_note(i->t, "%s:%s is an event that only the guest itself can record",
			   list->v[which[0]].system, list->v[which[0]].name);
		return -EOPNOTSUPP;
	}
	return instance_set_events(i, which, kept, on);
}

static int select_word(struct instance *i, const struct guestsym_event_list *list, const char *word)
{
	struct event_selection sel = {.which = calloc(list->n + 1, sizeof(*sel.which))};
	int ret;

	if (!sel.which)
		return -ENOMEM;
	ret = event_select(list, knows_modules(i->t), word, &sel);
	if (!ret)
		ret = instance_turn_events(i, sel.which, sel.n, sel.on);
	free(sel.which);
	return ret;
}

ssize_t instance_write_set_event(struct instance *i, const char *text, size_t len)
{
	const struct guestsym_event_list *list;
	struct word word;
	ssize_t taken;
	int ret;

	if (!len)
		return 0;
	ret = trace_events(i->t, &list);
	if (!ret)
		ret = word_init(&word, EVENT_SELECT_MAX);
	if (ret)
		return ret;
	taken = word_take(&word, true, text, len);
	if (taken >= 0 && word_loaded(&word))
		ret = select_word(i, list, word.text);
	word_free(&word);
	return ret ? ret : taken;
}

int instance_clear_events(struct instance *i)
{
	const struct guestsym_event_list *list;
	uint32_t *which;
	size_t n = 0;
	int ret = trace_events(i->t, &list);

	if (ret || !instance_wants_events(i))
		return ret;
	which = calloc(list->n, sizeof(*which));
	if (!which)
		return -ENOMEM;
	for (uint32_t k = 0; k < list->n; k++)
		if (instance_event_is_on(i, k))
			which[n++] = k;
	ret = instance_set_events(i, which, n, false);
	free(which);
	return ret;
}

static void print_name(const struct guestsym_event *ev, struct text *out)
{
	text_puts(out, ev->system);
	text_putc(out, ':');
	text_puts(out, ev->name);
	text_putc(out, '\n');
}

void instance_print_set_event(struct instance *i, struct text *out)
{
	const struct guestsym_event_list *list;

	if (trace_events(i->t, &list))
		return;
	for (size_t n = 0; n < list->n; n++) {
		uint32_t event = event_in_order(list, is_top(i), n);

		if (instance_event_is_on(i, event))
			print_name(&list->v[event], out);
	}
}

void trace_print_events(struct trace *t, struct text *out)
{
	const struct guestsym_event_list *list;

	if (trace_events(t, &list))
		return;
	for (size_t n = 0; n < list->n; n++)
		if (event_has_enable(&list->v[n]))
			print_name(&list->v[n], out);
}

void trace_print_event_format(struct trace *t, uint32_t event, struct text *out)
{
	const struct guestsym_event_list *list;
	struct event_format format;

	if (trace_events(t, &list))
		return;
	format = (struct event_format){&list->v[event], list->common, list->nr_common};
	event_format_print(out, &format);
}

void instance_print_event_enable(struct instance *i, uint32_t event, struct text *out)
{
	text_puts(out, instance_event_is_on(i, event) ? "1" : "0");
	text_puts(out, instance_event_is_soft(i, event) ? "*\n" : "\n");
}

char instance_events_enabled(struct instance *i, const uint32_t *which, size_t n)
{
	unsigned int seen = 0;
	const struct guestsym_event_list *list;

	if (trace_events(i->t, &list))
		return '?';
	for (size_t k = 0; k < n; k++)
		if (event_has_enable(&list->v[which[k]]))
			seen |= 1u << instance_event_is_on(i, which[k]);
	return "?01X"[seen];
}

static void states_set(struct instance *i, const uint32_t *which, size_t n, bool on)
{
	trace_writers_stop(i->t);
	record_drain_all(i->t); /* by what was wanted up to now */
	for (size_t k = 0; k < n; k++) {
		struct event_state *s = &i->events[which[k]];

		__atomic_store_n(&s->on, on, __ATOMIC_RELAXED);
		/* As __ftrace_event_enable_disable(): what triggers still need goes on being made.
		 */
		s->soft_off = !on && s->soft;
	}
	instance_count_events(i);
	trace_writers_go(i->t);
}

int instance_set_events(struct instance *i, const uint32_t *which, size_t n, bool on)
{
	struct events *events = i->t->trace_events;
	int ret = events_load(events), error;
	uint32_t *changed = NULL;
	size_t nr = 0;

	if (ret)
		return ret;
	changed = malloc((n ? n : 1) * sizeof(*changed));
	if (!changed)
		return -ENOMEM;
	events_lock(events);
	ret = instance_events_get(i);
	for (size_t k = 0; k < n && !ret; k++) {
		if (which[k] >= events_list(events)->n)
			ret = -EINVAL;
		else if (i->events[which[k]].on != on || i->events[which[k]].soft)
			changed[nr++] = which[k];
	}
	if (!ret) {
		states_set(i, changed, nr, on);
		ret = events_apply(events);
		if (ret && on) { /* all or none */
			states_set(i, changed, nr, false);
			error = events_apply(events);
			ret = ret ? ret : error;
		}
	}
	events_unlock(events);
	free(changed);
	return ret;
}
