// SPDX-License-Identifier: GPL-2.0-or-later
/* select.c - see select.h */
#include "tracer/events/select.h"

#include <errno.h>
#include <string.h>

/* What the parts of a word ask for; NULL: nothing. */
struct event_pattern {
	const char *either; /* the event's name or its system's */
	const char *system, *event, *module;
};

/* NULL for what says "any". */
static const char *unless_any(const char *name)
{
	return *name && strcmp(name, "*") != 0 ? name : NULL;
}

/* Cuts the word into pieces. */
static struct event_pattern pattern_of(char *word, bool modules)
{
	struct event_pattern p = {.either = word};
	char *mod = modules ? strstr(word, ":mod:") : NULL, *colon;

	if (mod) {
		*mod = '\0';
		p.module = mod + strlen(":mod:");
	}
	colon = strchr(word, ':');
	if (colon) {
		*colon = '\0';
		p.either = NULL;
		p.system = unless_any(word);
		p.event = unless_any(colon + 1);
	} else if (mod) {
		p.either = unless_any(word);
	}
	return p;
}

static bool is(const char *want, const char *name)
{
	return !want || !strcmp(want, name);
}

static bool pattern_matches(const struct event_pattern *p, const struct guestsym_event *ev)
{
	if (p->module && (!ev->module || strcmp(p->module, ev->module) != 0))
		return false;
	return (is(p->either, ev->name) || is(p->either, ev->system)) &&
	       is(p->system, ev->system) && is(p->event, ev->name);
}

int event_select(const struct guestsym_event_list *list, bool modules, const char *word,
		 struct event_selection *sel)
{
	char copy[EVENT_SELECT_MAX];
	struct event_pattern p;

	sel->n = 0;
	sel->on = *word != '!';
	word += !sel->on;
	if (strlen(word) >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, word, strlen(word) + 1);
	p = pattern_of(copy, modules);
	for (size_t i = 0; i < list->n; i++)
		if (event_has_enable(&list->v[i]) && pattern_matches(&p, &list->v[i]))
			sel->which[sel->n++] = (uint32_t)i;
	return sel->n ? 0 : -EINVAL;
}

/* The kernel's own, which are there from the start. */
static bool is_builtin(const struct guestsym_event *ev)
{
	return !ev->module && !(ev->flags & GUESTSYM_EVENT_FL_DYNAMIC);
}

uint32_t event_in_order(const struct guestsym_event_list *list, bool top, size_t n)
{
	size_t later = 0;

	if (top)
		return (uint32_t)n;
	while (later < list->n && !is_builtin(&list->v[later]))
		later++;
	return (uint32_t)(n < list->n - later ? later + n : list->n - 1 - n);
}
