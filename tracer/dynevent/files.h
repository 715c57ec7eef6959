/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - what files of tracefs do here: events that are defined there. Part of tracer.h. */
#ifndef HVTRACE_TRACER_DYNEVENT_FILES_H
#define HVTRACE_TRACER_DYNEVENT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text;
struct trace;

/*
 * kprobe_events: what is written may be several lines, of which those before one that is wrong are
 * done. And kprobe_profile. -EBUSY: an event is on.
 */
ssize_t trace_write_kprobe_events(struct trace *t, const char *text, size_t len);
int trace_clear_kprobe_events(struct trace *t);
void trace_print_kprobe_events(struct trace *t, struct text *out);
void trace_print_kprobe_profile(struct trace *t, struct text *out);

/* uprobe_events and uprobe_profile, likewise. */
ssize_t trace_write_uprobe_events(struct trace *t, const char *text, size_t len);
int trace_clear_uprobe_events(struct trace *t);
void trace_print_uprobe_events(struct trace *t, struct text *out);
void trace_print_uprobe_profile(struct trace *t, struct text *out);

/* synthetic_events, likewise. -EBUSY: an event is on, or actions write records of it. */
ssize_t trace_write_synthetic_events(struct trace *t, const char *text, size_t len);
int trace_clear_synthetic_events(struct trace *t);
void trace_print_synthetic_events(struct trace *t, struct text *out);

/* What lines of kind i may be, for a reader, without a last line end; NULL past the last. */
const char *trace_dynamic_syntax(unsigned int i);
/* Types that what they fetch can have, likewise. */
const char *trace_fetch_type(unsigned int i);
/* dynamic_events: all of these, in the order in which they were defined. */
ssize_t trace_write_dynamic_events(struct trace *t, const char *text, size_t len);
int trace_clear_dynamic_events(struct trace *t);
void trace_print_dynamic_events(struct trace *t, struct text *out);

#endif
