/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.h - what a trigger can be: for the files of triggers, and for histograms, which are some.
 */
#ifndef HVTRACE_TRACER_EVENTS_TRIGGER_COMMAND_H
#define HVTRACE_TRACER_EVENTS_TRIGGER_COMMAND_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/events/filter/filter.h"
#include "tracer/events/trigger/trigger.h"

#define TRIGGER_UNLIMITED (-1)

/* Of one kind an event has one trigger, or one for each event that it is about. */
enum event_trigger_kind {
	TRIGGER_ONOFF = 1 << 0,
	TRIGGER_SNAPSHOT = 1 << 1,
	TRIGGER_STACKTRACE = 1 << 2,
	TRIGGER_ENABLE_EVENT = 1 << 3,
	TRIGGER_HIST = 1 << 4,
	TRIGGER_ENABLE_HIST = 1 << 5,
};

struct event_trigger {
	struct event_trigger *next;
	const struct event_command *command;
	struct event_triggers *at;
	char *filter_text;
	struct event_filter *filter;
	_Atomic int64_t left;		      /* TRIGGER_UNLIMITED, or how often it acts */
	bool counted;			      /* a count was written */
	_Atomic bool paused;		      /* of TRIGGER_HIST */
	struct event_triggers *target;	      /* of TRIGGER_ENABLE_* */
	struct event_hist *hist;	      /* of TRIGGER_HIST: what is counted */
	struct hist_spec *spec;		      /* and where this event has it */
	struct event_trigger *next_with_vars; /* of event_hist_vars; has them, or refers to some */
	bool has_vars;
};

struct event_triggers {
	const struct event_trigger_owner *owner;
	struct event_hist_names *names;
	struct event_format format;
	void *event;
	struct event_trigger *first;
};

/* What is written, taken apart; the pieces may be changed. */
struct trigger_line {
	bool remove;
	const struct event_command *command;
	char *param; /* what stands behind the command's name, NULL: nothing */
};

/* A row of the table of what a trigger can be. */
struct event_command {
	const char *name;
	const char *syntax, *desc; /* behind the name; what it does */
	enum event_trigger_kind kind;
	bool post;   /* acts once the record is written */
	bool enable; /* of those that come in pairs */
	bool orders; /* what becomes of other records depends on when it acts */
	/* Add or remove one: 0 or -errno. */
	int (*write)(struct event_triggers *t, struct trigger_line *line);
	void (*hit)(struct event_trigger *trigger, const struct event_data *data);
	void (*print)(struct event_trigger *trigger, struct text *out);
	void (*release)(struct event_trigger *trigger);	     /* it is off the list. May be NULL */
	bool (*stacks)(const struct event_trigger *trigger); /* it looks at them. NULL: not */
	/* An opening of the file with O_TRUNC does not remove those of its kind. NULL: it does. */
	bool (*stays)(const struct event_trigger *trigger);
};

/* --- trigger.c ------------------------------------------------------------------------ */

struct event_trigger *trigger_new(struct event_triggers *t, const struct event_command *command);
void trigger_free(struct event_trigger *trigger); /* one that is not on the list */
/* Put it on the list: 0 or -errno. */
int trigger_add(struct event_trigger *trigger, bool last);
void trigger_remove(struct event_trigger *trigger); /* frees it */
/* The kernel's strsep(" \t") off the front of *rest, and strim(). */
char *trigger_word(char **rest);
char *trigger_trim(char *text);
/* "N..." of a count. 0 or -errno. */
int trigger_set_count(struct event_trigger *trigger, char *param);
/* "if FILTER". 0 or -errno. */
int trigger_set_filter(struct event_trigger *trigger, char *text);
/* Take one of what is left: false when there is none. */
bool trigger_count(struct event_trigger *trigger);
void trigger_print_count(struct event_trigger *trigger, struct text *out);

/* --- the table ------------------------------------------------------------------------------ */

extern const struct event_command event_command_traceon, event_command_traceoff,
	event_command_snapshot, event_command_stacktrace, event_command_enable_event,
	event_command_disable_event, event_command_enable_hist, event_command_disable_hist;

#endif
