/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.h - which trace events a word in set_event stands for: `sched:sched_switch`,
 * `sched_switch`, `sched`, `sched:*`, `*:*`, `!irq:*`, and `*:mod:NAME` of kernels that know it.
 */
#ifndef HVTRACE_TRACER_EVENTS_SELECT_H
#define HVTRACE_TRACER_EVENTS_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"

/* A word of set_event is shorter (EVENT_BUF_SIZE and one, kernel/trace/trace_events.c, 6.1). */
#define EVENT_SELECT_MAX 128

struct event_selection {
	uint32_t *which; /* who asks has room for all of the list there */
	size_t n;
	bool on; /* they are to be enabled, not disabled */
};

/* It can be enabled: the file `enable` is there, and available_events lists it. */
static inline bool event_has_enable(const struct guestsym_event *ev)
{
	return ev->flags & GUESTSYM_EVENT_FL_REG &&
	       !(ev->flags & GUESTSYM_EVENT_FL_IGNORE_ENABLE) && !guestsym_event_is_gone(ev);
}

/*
 * modules: this kernel knows :mod:NAME (6.14). 0, or -EINVAL when the word stands for none, or
 * makes no sense.
 */
int event_select(const struct guestsym_event_list *list, bool modules, const char *word,
		 struct event_selection *sel);

/*
 * Which event is the nth (below list->n) in the order in which an instance's set_event names them:
 * the top level's is that of the list; other instances get what had come with modules at last.
 */
uint32_t event_in_order(const struct guestsym_event_list *list, bool top, size_t n);

#endif
