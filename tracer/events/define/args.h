/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * args.h - the words of a probe's definition that are short for others: $arg*, $argN, ARG:%pd
 * and ARG:%pD, as kernels from 6.5 and 6.9 on have them.
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_ARGS_H
#define HVTRACE_TRACER_EVENTS_DEFINE_ARGS_H

#include "tracer/events/define/probe.h"

/* The words behind the place, as they are to be parsed. */
struct probe_args {
	char *v[PROBE_ARGS_MAX];
	unsigned int n;
};

struct probe_expansion {
	bool has_names; /* the kernel knows arguments by their names; else all is as it is given */
	bool has_args;	/* at a function's entry, or its return where the kernel keeps them */
	bool keeps_args;
	const struct fetch_function *function; /* which that is; NULL: nothing is known of it */
	/* NULL: the kernel does not know %pd and %pD. */
	const struct probe_dentries *dentries;
};

/* 0, -ENOMEM, or -errno and what to log. */
int probe_args_make(struct probe_args *args, const struct probe_words *words,
		    const struct probe_expansion *how, struct probe_error *err);
void probe_args_free(struct probe_args *args); /* zeroed: there are none */

#endif
