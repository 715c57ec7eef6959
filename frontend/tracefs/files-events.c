// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * files-events.c - the trace events of the guest's kernel: events/SYSTEM/EVENT, set_event and what
 * else says which are recorded.
 */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the file's event is in the list. */
static uint32_t event_of(const struct open_file *f)
{
	return f->number;
}

/* --- enable ------------------------------------------------------------------------------- */

/* The events that a file is about, by where they are in the list. */
struct events_of {
	struct event_index *index; /* of_end() */
	const uint32_t *which;
	size_t n;
};

static struct events_of of_all(const struct open_file *f)
{
	struct event_index *index = view_events(f->view);

	return index ? (struct events_of){index, index->order, index->nr} : (struct events_of){0};
}

static struct events_of of_system(const struct open_file *f)
{
	struct events_of of = {.index = view_events(f->view)};
	const struct event_range *range = of.index ? event_index_range(of.index, f->number) : NULL;

	if (range) {
		of.which = of.index->order + range->first;
		of.n = range->nr;
	}
	return of;
}

static void of_end(const struct open_file *f, const struct events_of *of)
{
	view_events_put(f->view, of->index);
}

static int enable(struct open_file *f, const uint32_t *events, size_t n, uint64_t value)
{
	uint32_t *which;
	int rc;

	if (value > 1)
		return -EINVAL;
	if (!n)
		return -ENODEV;
	which = malloc(n * sizeof(*which));
	if (!which)
		return -ENOMEM;
	memcpy(which, events, n * sizeof(*which));
	rc = instance_turn_events(f->instance, which, n, value);
	free(which);
	return rc;
}

static int enable_all(struct open_file *f, const struct events_of *of, uint64_t value)
{
	int rc = enable(f, of->which, of->n, value);

	of_end(f, of);
	return rc;
}

static void show_enable(struct open_file *f, struct text *out)
{
	instance_print_event_enable(f->instance, event_of(f), out);
}

static int set_enable(struct open_file *f, uint64_t value)
{
	const uint32_t event = event_of(f);

	return enable(f, &event, 1, value);
}

static void show_enabled(struct open_file *f, const struct events_of *of, struct text *out)
{
	text_putc(out, instance_events_enabled(f->instance, of->which, of->n));
	text_putc(out, '\n');
	of_end(f, of);
}

static void show_system_enable(struct open_file *f, struct text *out)
{
	const struct events_of of = of_system(f);

	show_enabled(f, &of, out);
}

static int set_system_enable(struct open_file *f, uint64_t value)
{
	const struct events_of of = of_system(f);

	return enable_all(f, &of, value);
}

static void show_all_enable(struct open_file *f, struct text *out)
{
	const struct events_of of = of_all(f);

	show_enabled(f, &of, out);
}

static int set_all_enable(struct open_file *f, uint64_t value)
{
	const struct events_of of = of_all(f);

	return enable_all(f, &of, value);
}

/* --- set_event ---------------------------------------------------------------------------- */

static void show_available(struct open_file *f, struct text *out)
{
	trace_print_events(f->trace, out);
}

static int open_set_event(struct open_file *f)
{
	return opened_to_truncate(f) ? instance_clear_events(f->instance) : 0;
}

static void show_set_event(struct open_file *f, struct text *out)
{
	instance_print_set_event(f->instance, out);
}

static ssize_t write_set_event(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	return instance_write_set_event(f->instance, text, len);
}

/* --- an event's other files --------------------------------------------------------------- */

static void show_format(struct open_file *f, struct text *out)
{
	trace_print_event_format(f->trace, event_of(f), out);
}

static bool has_id(const struct guestsym_event *ev)
{
	return ev->flags & GUESTSYM_EVENT_FL_REG;
}

static void show_id(struct open_file *f, struct text *out)
{
	const struct guestsym_event *ev = view_event(f->view, event_of(f));

	if (ev)
		text_printf(out, "%u\n", ev->id);
}

/* --- kprobe_events ------------------------------------------------------------------------ */

static int open_kprobes(struct open_file *f)
{
	return opened_to_truncate(f) ? trace_clear_kprobe_events(f->trace) : 0;
}

static void show_kprobes(struct open_file *f, struct text *out)
{
	trace_print_kprobe_events(f->trace, out);
}

static ssize_t write_kprobes(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	return trace_write_kprobe_events(f->trace, text, len);
}

static void show_kprobe_profile(struct open_file *f, struct text *out)
{
	trace_print_kprobe_profile(f->trace, out);
}

/* --- uprobe_events ------------------------------------------------------------------------ */

static int open_uprobes(struct open_file *f)
{
	return opened_to_truncate(f) ? trace_clear_uprobe_events(f->trace) : 0;
}

static void show_uprobes(struct open_file *f, struct text *out)
{
	trace_print_uprobe_events(f->trace, out);
}

static ssize_t write_uprobes(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	return trace_write_uprobe_events(f->trace, text, len);
}

static void show_uprobe_profile(struct open_file *f, struct text *out)
{
	trace_print_uprobe_profile(f->trace, out);
}

/* --- synthetic_events --------------------------------------------------------------------- */

static int open_synthetic(struct open_file *f)
{
	return opened_to_truncate(f) ? trace_clear_synthetic_events(f->trace) : 0;
}

static void show_synthetic(struct open_file *f, struct text *out)
{
	trace_print_synthetic_events(f->trace, out);
}

static ssize_t write_synthetic(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	return trace_write_synthetic_events(f->trace, text, len);
}

/* --- dynamic_events ----------------------------------------------------------------------- */

static int open_dynamic(struct open_file *f)
{
	return opened_to_truncate(f) ? trace_clear_dynamic_events(f->trace) : 0;
}

static void show_dynamic(struct open_file *f, struct text *out)
{
	trace_print_dynamic_events(f->trace, out);
}

static ssize_t write_dynamic(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	return trace_write_dynamic_events(f->trace, text, len);
}

/* --- filter ------------------------------------------------------------------------------- */

#define FILTER_MAX 4096 /* a page of the kernel's, with the end of the text */

/* Without white space at its end. -EINVAL: too long. */
static int copy_filter(char copy[FILTER_MAX], const char *text, size_t len)
{
	if (len >= FILTER_MAX)
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (len = strlen(copy); len && is_space(copy[len - 1]); len--)
		copy[len - 1] = '\0';
	return 0;
}

static void show_filter(struct open_file *f, struct text *out)
{
	instance_print_event_filter(f->instance, event_of(f), out);
}

static ssize_t write_filter(struct open_file *f, const char *text, size_t len, off_t off)
{
	char copy[FILTER_MAX];
	int rc = copy_filter(copy, text, len);

	(void)off;
	if (!rc)
		rc = instance_set_event_filter(f->instance, event_of(f), copy);
	return rc ? rc : (ssize_t)len;
}

static void show_system_filter(struct open_file *f, struct text *out)
{
	(void)f;
	instance_print_system_filter(out);
}

static ssize_t write_system_filter(struct open_file *f, const char *text, size_t len, off_t off)
{
	struct events_of of = of_system(f);
	char copy[FILTER_MAX];
	int rc = copy_filter(copy, text, len);

	(void)off;
	if (!rc)
		rc = instance_set_system_filter(f->instance, of.which, of.n, copy);
	return rc ? rc : (ssize_t)len;
}

/* --- trigger, hist ------------------------------------------------------------------------ */

static int open_trigger(struct open_file *f)
{
	if (opened_to_truncate(f))
		instance_truncate_event_triggers(f->instance, event_of(f));
	return 0;
}

static void show_trigger(struct open_file *f, struct text *out)
{
	instance_print_event_triggers(f->instance, event_of(f), out);
}

static ssize_t write_trigger(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	if (len >= TRIGGER_MAX)
		return -EINVAL;
	return instance_write_event_trigger(f->instance, event_of(f), text, len);
}

static void show_hist(struct open_file *f, struct text *out)
{
	instance_print_event_hist(f->instance, event_of(f), out);
}

static void show_hist_debug(struct open_file *f, struct text *out)
{
	instance_print_event_hist_debug(f->instance, event_of(f), out);
}

/* --- inject ------------------------------------------------------------------------------- */

static ssize_t read_inject(struct open_file *f, char *buf, size_t len, off_t off)
{
	(void)f, (void)buf, (void)len, (void)off;
	return -EPERM; /* event_inject_read() */
}

static ssize_t write_inject(struct open_file *f, const char *text, size_t len, off_t off)
{
	char copy[FILTER_MAX];
	int rc = copy_filter(copy, text, len);

	(void)off;
	if (!rc)
		rc = instance_inject(f->instance, event_of(f), copy);
	return rc ? rc : (ssize_t)len;
}

#define EVENT "events/%system/%event/"

static const struct tracefs_file files[] = {
	{.path = "available_events",
	 .what = "SYSTEM:EVENT of all trace events that the guest's kernel has, and that were defined here",
	 .mode = 0440,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .show = show_available},
	{.path = "dynamic_events",
	 .what = "events that are defined here, of all kinds: one line each, -:NAME removes one",
	 .mode = 0640,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .open = open_dynamic,
	 .show = show_dynamic,
	 .write = write_dynamic},
	{.path = "kprobe_events",
	 .what = "the same, of functions and instructions of the guest's kernel",
	 .mode = 0640,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .open = open_kprobes,
	 .show = show_kprobes,
	 .write = write_kprobes},
	{.path = "kprobe_profile",
	 .what = "how often each of these was hit, and missed",
	 .mode = 0440,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .show = show_kprobe_profile},
	{.path = "set_event",
	 .what = "SYSTEM:EVENT, SYSTEM:* or globs to enable; !NAME disables; :mod:MODULE after it",
	 .mode = 0640,
	 .flags = TRACEFS_EVENTS,
	 .open = open_set_event,
	 .show = show_set_event,
	 .write = write_set_event},
	{.path = "synthetic_events",
	 .what = "the same of events that histograms make of others",
	 .mode = 0640,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .open = open_synthetic,
	 .show = show_synthetic,
	 .write = write_synthetic},
	{.path = "uprobe_events",
	 .what = "the same of instructions of the guest's programs and libraries",
	 .mode = 0640,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .open = open_uprobes,
	 .show = show_uprobes,
	 .write = write_uprobes},
	{.path = "uprobe_profile",
	 .what = "how often each of these was hit",
	 .mode = 0440,
	 .flags = TRACEFS_TOP | TRACEFS_EVENTS,
	 .show = show_uprobe_profile},
	{.path = "events/enable",
	 .what = "1 or 0: all of them; X: some are on",
	 .mode = 0640,
	 .flags = TRACEFS_EVENTS,
	 .show = show_all_enable,
	 .set = set_all_enable},
	{.path = "events/%system/enable",
	 .what = "the same of those of a system",
	 .mode = 0640,
	 .show = show_system_enable,
	 .set = set_system_enable},
	{.path = "events/%system/filter",
	 .what = "written to the filters of all events that have the fields",
	 .mode = 0640,
	 .show = show_system_filter,
	 .write = write_system_filter},
	{.path = EVENT "enable",
	 .what = "1 or 0; with a * when a trigger needs its records",
	 .mode = 0640,
	 .event = event_has_enable,
	 .show = show_enable,
	 .set = set_enable},
	{.path = EVENT "filter",
	 .what = "FIELD OP VALUE, with && || ! ( ): records that do not match are not kept; 0: none",
	 .mode = 0640,
	 .event = event_has_enable,
	 .show = show_filter,
	 .write = write_filter},
	{.path = EVENT "format",
	 .what = "its fields, and how it is printed",
	 .mode = 0440,
	 .show = show_format},
	{.path = EVENT "hist",
	 .what = "what its histograms have counted",
	 .mode = 0440,
	 .event = event_has_enable,
	 .show = show_hist},
	{.path = EVENT "hist_debug",
	 .what = "how these are made up",
	 .mode = 0440,
	 .event = event_has_enable,
	 .show = show_hist_debug},
	{.path = EVENT "id",
	 .what = "its number in raw pages and for perf",
	 .mode = 0440,
	 .event = has_id,
	 .show = show_id},
	{.path = EVENT "inject",
	 .what = "FIELD=VALUE...: a record that is in the trace as if it had happened",
	 .mode = 0200,
	 .event = has_id,
	 .read = read_inject,
	 .write = write_inject},
	{.path = EVENT "trigger",
	 .what = "what each record sets off",
	 .mode = 0640,
	 .event = event_has_enable,
	 .open = open_trigger,
	 .show = show_trigger,
	 .write = write_trigger},
	{.path = "events/ftrace/%event/format",
	 .what = "of what was defined, likewise",
	 .mode = 0440,
	 .show = show_format},
	{.path = "events/ftrace/%event/hist", .mode = 0440, .show = show_hist},
	{.path = "events/ftrace/%event/hist_debug", .mode = 0440, .show = show_hist_debug},
};

const struct tracefs_table tracefs_event_files = TRACEFS_TABLE("Trace events", files);
