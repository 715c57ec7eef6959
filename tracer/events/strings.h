/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strings.h - what the text of a guest's events needs to know of its kernel: strings that
 * records have the address of, names in print fmts, the key of its pointers.
 */
#ifndef HVTRACE_TRACER_EVENTS_STRINGS_H
#define HVTRACE_TRACER_EVENTS_STRINGS_H

#include "tracer/core/trace.h"
#include "tracer/output/fmt/expr.h"
#include "tracer/output/output.h"

struct event_text;

/*
 * Addresses of strings that are the host's: what stands in records that are made here where the
 * kernel's have addresses of its own. No processor takes them for those of a kernel or a task.
 */
#define EVENT_STRING_INJECTED (UINT64_C(1) << 63 | UINT64_C(1) << 32)
#define EVENT_STRING_EMPTY    (EVENT_STRING_INJECTED + 1)
/* The string at one of these; NULL: it is none. */
const char *event_string_own(uint64_t addr);

/* NULL: no memory. */
struct event_text *event_text_new(struct trace *t);
void event_text_free(struct event_text *et); /* NULL is allowed */

/* For event_printer_new(): asks the guest. */
void event_text_names(struct event_text *et, struct expr_names *names);
/*
 * The string at a kernel address; it stays as it was read first, also when the guest has gone.
 * NULL: it cannot be read. Any thread.
 */
const char *event_text_string(struct event_text *et, uint64_t addr);
/* struct output_config.pointer_key */
enum output_hash event_text_key(struct event_text *et, uint64_t key[2]);

#endif
