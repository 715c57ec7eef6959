/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meta.h - what a trace.dat says about the traced machine, read from a trace under way. */
#ifndef HVTRACE_FRONTEND_RECORD_META_H
#define HVTRACE_FRONTEND_RECORD_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/dat.h"
#include "frontend/dat/format.h"
#include "frontend/record/source.h"

struct record_guest;
struct text;
struct trace;
struct view;

/* What was written last: nothing is written twice. All zero at first. */
struct meta {
	struct {
		uint32_t sum;
		size_t len;
	} section[DAT_OPTION_BUFFER_TEXT + 1]; /* and options: none has the number of one */
	uint64_t events, symbols; /* trace_events_changes(), trace_kallsyms_changes() */
	bool has_events, has_symbols;
};

/* For the option VERSION, without its end; host_boot as of record_guest. */
void meta_version(struct text *text, const char *host_boot);
/* What never changes: the guest's name and kernel, the number of vCPUs. 0 or -errno. */
int meta_begin(const struct record_to *to, struct trace *t, const struct record_guest *guest);
/* What may have changed since the last time, as far as it can be had now. */
int meta_update(struct meta *m, const struct record_to *to, struct trace *t, struct view *v,
		const struct record_guest *guest);
/* What does not need the guest: names of tasks. 0 or -errno. */
int meta_tasks(struct meta *m, const struct record_to *to, struct trace *t);

#endif
