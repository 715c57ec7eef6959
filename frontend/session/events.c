// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - -e SYSTEM:EVENT[:FILTER] or @CATEGORY: the trace events that a session begins with. */
#include "frontend/session/event-category.h"
#include "frontend/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An -e, in pieces of a copy. */
struct event_word {
	char *copy;
	const struct event_category *category; /* NULL: not one, but: */
	const char *system; /* NULL: there is one part only, which names either */
	const char *event;
	const char *filter; /* NULL: none */
};

static int word_split(struct event_word *w, const char *text)
{
	char *rest = strdup(text), *first;

	*w = (struct event_word){.copy = rest, .category = event_category_find(text)};
	if (!rest)
		return -ENOMEM;
	if (w->category)
		return 0;
	first = strsep(&rest, ":");
	w->event = first;
	if (rest) {
		w->system = first;
		w->event = strsep(&rest, ":");
		w->filter = rest;
	}
	return 0;
}

static bool word_selects(const struct event_word *w, const struct guestsym_event *ev)
{
	if (!event_has_enable(ev))
		return false;
	if (w->category)
		return event_category_has(w->category, ev);
	if (!w->system)
		return glob_pattern_match(w->event, ev->name) ||
		       glob_pattern_match(w->event, ev->system);
	return glob_pattern_match(w->system, ev->system) && glob_pattern_match(w->event, ev->name);
}

struct events_wanted {
	const struct guestsym_event_list *list;
	struct instance *top;
	bool *want; /* of each event of the list */
};

/* As the filter's file reads then, with its caret. */
static void say_bad_filter(struct session *s, const struct events_wanted *e, uint32_t event,
			   int error)
{
	const struct guestsym_event *ev = &e->list->v[event];
	struct text t = {0};

	instance_print_event_filter(e->top, event, &t);
	while (t.len && t.buf[t.len - 1] == '\n')
		t.len--;
	text_putc(&t, '\0');
	if (t.failed || error == -ENOMEM)
		snprintf(s->err, sizeof(s->err), "no memory for the filter of %s:%s", ev->system,
			 ev->name);
	else
		snprintf(s->err, sizeof(s->err), "the filter of %s:%s makes no sense:\n%s",
			 ev->system, ev->name, t.buf);
	text_free(&t);
}

/* Without its system it is taken for the system. */
static bool is_event(const struct events_wanted *e, const char *name, const char **system)
{
	for (uint32_t i = 0; i < e->list->n; i++)
		if (event_has_enable(&e->list->v[i]) && !strcmp(e->list->v[i].name, name)) {
			*system = e->list->v[i].system;
			return true;
		}
	return false;
}

/* What may have been meant, as "; did you mean sched:sched_switch?". */
static void word_hint(const struct events_wanted *e, const struct event_word *w, char *hint,
		      size_t size)
{
	char name[2 * NEAREST_LEN], both[4 * NEAREST_LEN];
	const char *system;
	struct nearest near;

	*hint = '\0';
	if (w->category)
		return;
	if (w->system && is_event(e, w->system, &system)) {
		snprintf(hint, size, "; a filter stands behind SYSTEM:EVENT: %.60s:%.60s:FILTER",
			 system, w->system);
		return;
	}
	snprintf(name, sizeof(name), "%.60s%s%.60s", w->system ? w->system : "",
		 w->system ? ":" : "", w->event);
	nearest_begin(&near, name);
	for (uint32_t i = 0; i < e->list->n; i++) {
		const struct guestsym_event *ev = &e->list->v[i];

		snprintf(both, sizeof(both), "%.120s:%.120s", ev->system, ev->name);
		if (event_has_enable(ev))
			nearest_try(&near, w->system ? both : ev->name);
	}
	nearest_hint(&near, "", hint, size);
}

static int word_apply(struct session *s, struct events_wanted *e, const struct event_word *w,
		      const char *text)
{
	char hint[4 * NEAREST_LEN];
	size_t n = 0;

	for (uint32_t i = 0; i < e->list->n; i++) {
		int ret;

		if (!word_selects(w, &e->list->v[i]))
			continue;
		n++;
		e->want[i] = true;
		ret = w->filter ? instance_set_event_filter(e->top, i, w->filter) : 0;
		if (ret) {
			say_bad_filter(s, e, i, ret);
			return -1;
		}
	}
	if (n)
		return 0;
	word_hint(e, w, hint, sizeof(hint));
	snprintf(s->err, sizeof(s->err), "-e %s: this kernel has %s%s (hvtrace events lists them)",
		 text, w->category ? "none of its events" : "no such event", hint);
	return -1;
}

static int words_apply(struct session *s, struct events_wanted *e)
{
	int ret = 0;

	for (size_t i = 0; i < s->opt->events.nr && !ret; i++) {
		const char *text = s->opt->events.values[i];
		struct event_word w;

		if (word_split(&w, text)) {
			snprintf(s->err, sizeof(s->err), "no memory for -e %s", text);
			return -1;
		}
		ret = word_apply(s, e, &w, text);
		free(w.copy);
	}
	return ret;
}

/* --pid is of the events as well; the trace has looked at the numbers. */
static int pids_apply(struct session *s, struct instance *top)
{
	const struct option_list *pids = &s->opt->pids;

	for (size_t i = 0; i < pids->nr; i++)
		if (pid_filter_write(instance_event_pids(top), PID_FILTER_TRACE, pids->values[i],
				     strlen(pids->values[i])) < 0) {
			snprintf(s->err, sizeof(s->err), "no memory for --pid %s", pids->values[i]);
			return -1;
		}
	return 0;
}

static int turn_on(struct session *s, const struct events_wanted *e)
{
	uint32_t *which = calloc(e->list->n + 1, sizeof(*which));
	size_t n = 0;
	int ret;

	for (uint32_t i = 0; which && i < e->list->n; i++)
		if (e->want[i])
			which[n++] = i;
	ret = which ? instance_turn_events(e->top, which, n, true) : -ENOMEM;
	free(which);
	s->events = n;
	if (!ret)
		return 0;
	snprintf(s->err, sizeof(s->err), "-e: the events cannot be enabled: %s", strerror(-ret));
	return -1;
}

int session_enable_events(struct session *s)
{
	struct events_wanted e = {.top = trace_top(s->trace)};
	int ret;

	if (!s->opt->events.nr)
		return 0;
	ret = trace_events(s->trace, &e.list);
	if (ret) {
		snprintf(s->err, sizeof(s->err), "-e: the guest's events cannot be read: %s",
			 ret == -ENODATA || ret == -ENOENT
				 ? "its kernel has none (CONFIG_EVENT_TRACING), or no types that "
				   "describe them"
				 : strerror(-ret));
		return -1;
	}
	e.want = calloc(e.list->n + 1, sizeof(*e.want));
	if (!e.want) {
		snprintf(s->err, sizeof(s->err), "no memory for the events");
		return -1;
	}
	ret = words_apply(s, &e) || pids_apply(s, e.top) || turn_on(s, &e) ? -1 : 0;
	free(e.want);
	return ret;
}
