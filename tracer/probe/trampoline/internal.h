/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of the payload's owner share. */
#ifndef HVTRACE_TRACER_PROBE_TRAMPOLINE_INTERNAL_H
#define HVTRACE_TRACER_PROBE_TRAMPOLINE_INTERNAL_H

#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/window/window.h"

struct trampoline {
	struct window window;
	struct payload_text text;
	struct collector *collector;
	bool called; /* a site has called the payload: someone may be in there */
	bool stays;  /* a site that cannot be written may call it still */
};

/*
 * Put the payload's code, with what it has to know of the kernel, and the header into the window.
 * On error one line in err.
 */
int trampoline_load(struct trace *t, struct trampoline *tr, char *err, size_t errlen);
/* Rings are empty, and their records' numbers start anew. */
int trampoline_control_init(struct trace *t, struct trampoline *tr);
/*
 * One probe before there are many: a function is called, whose record must come. Only a guest that
 * runs can be asked to call it. On error one line in err.
 */
int trampoline_try(struct trace *t, struct trampoline *tr, char *err, size_t errlen);

#endif
