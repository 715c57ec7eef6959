/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of the payload's owner share. */
#ifndef HVTRACE_TRACER_PROBE_TRAMPOLINE_INTERNAL_H
#define HVTRACE_TRACER_PROBE_TRAMPOLINE_INTERNAL_H

#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/window/window.h"

struct trampoline {
	struct window window;
	struct payload_text text;
	bool called;	  /* a site has called the payload: someone may be in there */
	bool stays;	  /* a site that cannot be written may call it still */
	bool switched_on; /* as trampoline_set_switch() has told it last; t->instances_lock */
};

/*
 * Put the payload's code, with what it has to know of the kernel, and the header into the window.
 * On error one line in err.
 */
int trampoline_load(struct trace *t, struct trampoline *tr, char *err, size_t errlen);
/* Tell the payload in w who may take text_mutex without a word. 0 or -errno. */
int trampoline_describe_lockers(struct trace *t, struct window *w);
/* Rings are empty, and their records' numbers start anew. */
int trampoline_control_init(struct trace *t, struct trampoline *tr);

#endif
