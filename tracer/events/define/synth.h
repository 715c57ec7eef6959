/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth.h - synthetic events: those that somebody defines, and actions of histograms write
 * records of.
 *
 * Lines, errors, formats and layouts are those of kernel/trace/trace_events_synth.c (6.1).
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_SYNTH_H
#define HVTRACE_TRACER_EVENTS_DEFINE_SYNTH_H

#include "tracer/events/define/dyn-event.h"
#include "tracer/events/define/probe.h"
#include "tracer/events/filter/data.h"
#include "tracer/lib/text.h"

#define SYNTH_SYSTEM	 "synthetic"
#define SYNTH_PREFIX	 "s:" SYNTH_SYSTEM "/"
#define SYNTH_FIELDS_MAX 64
#define SYNTH_HEAD	 8 /* what all records begin with */
/* With strings of all fields. */
#define SYNTH_RECORD_MAX (SYNTH_HEAD + SYNTH_FIELDS_MAX * (8 + EVENT_STRING_MAX))

struct synth_field {
	char *type, *name; /* "char[16]"; "__data_loc char[]" */
	uint32_t size, offset;
	bool is_signed, is_string, is_dynamic, is_stack;
};

struct synth_event {
	struct synth_event *next;
	struct dyn_event dyn;
	char *name;
	struct synth_field *field;
	unsigned int nr_fields;
	uint32_t size;	   /* of a record, but for dynamic strings */
	unsigned int refs; /* actions that write records of it */
	uint32_t event;	   /* in the list of events */
};

/* What is wrong with a line, for error_log_add(). what is NULL when nothing is logged. */
struct synth_error {
	const char *what;
	uint16_t pos;
};

/* A line of synthetic_events: a new event, or one that is to go. */
struct synth_command {
	struct synth_event *event; /* to be freed; NULL: it is to go */
	char *gone;		   /* its name */
};

/*
 * others: those that there are. 0; also for an empty line, which is neither. Or -errno, with
 * nothing to be freed.
 */
int synth_command_parse(const struct synth_event *others, const char *line,
			struct synth_command *command, struct synth_error *err);
/*
 * A line of dynamic_events, "s:[synthetic/]NAME FIELDS"; likewise. -ECANCELED: it is of another
 * kind.
 */
int synth_definition_parse(const struct synth_event *others, const char *line,
			   struct synth_command *command, struct synth_error *err);
void synth_event_free(struct synth_event *se); /* NULL is allowed */
/* Its line in synthetic_events; in dynamic_events it is the same behind SYNTH_PREFIX. */
void synth_event_print(const struct synth_event *se, struct text *out);
/* The trace event that it makes. 0 or -ENOMEM. */
int synth_event_make(struct probe_event_made *made, const struct synth_event *se);

/* Of each field, a number or a text. */
struct synth_value {
	uint64_t number;
	const char *text;
};

/* A record behind its first SYNTH_HEAD bytes; how long it is. `to` has SYNTH_RECORD_MAX bytes. */
size_t synth_record_make(const struct synth_event *se, const struct synth_value *value, void *to);

#endif
