/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger.h - what an event sets off: the `trigger` file of an event, and its `hist` file.
 *
 * The language, errors and texts are those of kernel/trace/trace_events_trigger.c and
 * trace_events_hist.c of Linux 6.1, and of 6.12 where kernel.version says so; without variables
 * that are stack traces.
 *
 * An event of an instance has its struct event_triggers. Records are shown to it by any number of
 * threads at the same time, before the event's own filter sees them and whether or not the event is
 * soft-disabled. Everything else is called by one thread at a time; what adds or removes triggers
 * (write, truncate, clear, free) while no record is shown to any event of any instance that shares
 * the names. Printing goes on beside records.
 */
#ifndef HVTRACE_TRACER_EVENTS_TRIGGER_TRIGGER_H
#define HVTRACE_TRACER_EVENTS_TRIGGER_TRIGGER_H

#include "tracer/events/filter/data.h"
#include "tracer/lib/text.h"

struct event_command;
struct event_triggers;
struct event_hist_names;
struct event_hist_vars;
struct output_symbol;
struct synth_event;

/* The instance whose events they are. */
struct event_trigger_owner {
	/* What they can be, in the order in which that is told; with a NULL. */
	const struct event_command *const *commands;
	bool (*tracing_is_on)(void *arg);
	void (*tracing_set)(void *arg, bool on);
	int (*snapshot_ready)(void *arg); /* allocates: 0 or -errno */
	void (*snapshot)(void *arg, const struct event_data *data);
	void (*stacktrace)(void *arg, const struct event_data *data); /* behind the record */

	/* The triggers of another event of this instance, NULL: there is no such event. */
	struct event_triggers *(*find)(void *arg, const char *system, const char *name);
	/*
	 * The kernel's trace_event_enable_disable(file, on, 1), counted: from the first `on` to the
	 * last `off` records of the event are made and shown to its triggers; unless the event was
	 * enabled before, it is soft-disabled: the records are not kept.
	 */
	int (*soft_mode)(void *arg, void *event, bool on);
	/* Is it soft-disabled, and be it so or not; on any thread that shows a record. */
	bool (*soft_disabled)(void *arg, void *event);
	void (*soft_disable)(void *arg, void *event, bool disable);

	/* For histograms: */
	bool (*has_stacks)(void *arg); /* records have stack() */
	int (*set_clock)(void *arg, const char *clock);
	void (*timestamps)(void *arg, bool on); /* one that needs them came or went: "absolute" */
	bool (*symbol)(void *arg, uint64_t addr,
		       struct output_symbol *sym);	     /* as output/output.h's */
	const char *(*syscall_name)(void *arg, uint64_t nr); /* "sys_read", NULL: none */
	/* The synthetic event of that name. NULL: there is none. */
	struct synth_event *(*synth_find)(void *arg, const char *name);
	/*
	 * A record of one, but for its first bytes, which are to say what the record does that it
	 * was made for.
	 */
	void (*synth)(void *arg, const struct synth_event *se, void *record, size_t len,
		      const struct event_data *data);
	struct event_hist_vars *vars; /* of all its events */

	/* For error_log_add(). */
	void (*error)(void *arg, const char *where, const char *what, const char *command,
		      uint16_t pos);
	struct event_kernel kernel;
	void *arg;
};

/*
 * Without triggers. What format points to has to live as long; event is what the owner calls it.
 * NULL: no memory.
 */
struct event_triggers *event_triggers_new(const struct event_trigger_owner *owner,
					  struct event_hist_names *names,
					  const struct event_format *format, void *event);
/* Removes them all; for an instance that goes away, only once none of its events has any. */
void event_triggers_free(struct event_triggers *t);  /* NULL is allowed */
void event_triggers_clear(struct event_triggers *t); /* removes them all */

/* One write to the file: len, or -errno. */
ssize_t event_triggers_write(struct event_triggers *t, const char *text, size_t len);
/* An opening of it with O_TRUNC: removes histograms. */
void event_triggers_truncate(struct event_triggers *t);
void event_triggers_print(struct event_triggers *t, struct text *out);
/* What the hist file reads. */
void event_triggers_print_hist(struct event_triggers *t, struct text *out);
/* What the hist_debug file reads, of kernels with CONFIG_HIST_TRIGGERS_DEBUG. */
void event_triggers_print_hist_debug(struct event_triggers *t, struct text *out);

/* Whether one of them looks at stack(). */
bool event_triggers_want_stacks(const struct event_triggers *t);
/* Whether what becomes of other events' records depends on when one acts; and one is traceon. */
bool event_triggers_order(const struct event_triggers *t);
bool event_triggers_turn_on(const struct event_triggers *t);
/* Whether one of them looks at the record: then it is made before they are asked, on or off. */
bool event_triggers_look(const struct event_triggers *t);
/*
 * A record of the event: do what is to be done before it is kept or not. What is returned is for
 * event_triggers_post(), to be called when it is not 0 and the record, if kept, is written.
 */
unsigned int event_triggers_hit(struct event_triggers *t, const struct event_data *data);
void event_triggers_post(struct event_triggers *t, unsigned int pending,
			 const struct event_data *data);

#endif
