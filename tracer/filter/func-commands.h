/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * func-commands.h - FUNCTIONS:COMMAND[:PARAMETER], written to set_ftrace_filter.
 *
 * A command is a row. It stands for two things that are set and removed apart from each other, as
 * in the kernel: with a count (`schedule:traceoff:5`) and without.
 */
#ifndef HVTRACE_TRACER_FILTER_FUNC_COMMANDS_H
#define HVTRACE_TRACER_FILTER_FUNC_COMMANDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tracer/filter/func-filter.h"

enum func_command_counts {
	FUNC_COUNT_EACH,   /* each function has its own; FUNCTIONS:COMMAND: reads as -1 */
	FUNC_COUNT_SHARED, /* one for all functions of a write; it cannot be left empty */
	FUNC_COUNT_ONCE,   /* always one for each function, whatever is written */
	FUNC_COUNT_NONE,   /* never one, whatever is written */
};

/* A command met at one function. */
struct func_command_hit {
	const struct func_owner *owner;
	const struct func_hit *at;
	void *target;	       /* what parse() gave */
	_Atomic int64_t *left; /* its count, see func_count_take(); NULL: no limit */
	pthread_mutex_t *lock; /* of this command on this instance; for what must not wait */
};

struct func_command {
	const char *name, *desc;
	enum func_command_counts counts;
	bool orders;   /* what becomes of records depends on when it acts */
	bool turns_on; /* it turns recording on */
	/*
	 * What it is about: take the command's own fields off the front of *param as strsep(3)
	 * does; it is NULL when nothing was written behind the name, and is left NULL when nothing
	 * is left for a count. 0 or -errno. May be NULL: it is about nothing.
	 */
	int (*parse)(const struct func_owner *owner, char **param, void **target);
	/* It is about to be set on functions, once per write: 0 or -errno. May be NULL. */
	int (*begin)(const struct func_owner *owner, void *target);
	/* It was not, or is on none of them any more. May be NULL. */
	void (*end)(const struct func_owner *owner, void *target);
	/* What it is about, for reading: ":system:event". May be NULL. */
	void (*print)(const struct func_owner *owner, void *target, struct text *out);
	void (*hit)(const struct func_command_hit *hit);
};

/* Take one of what is left, unless there is none: exact, on any number of vCPUs. */
bool func_count_take(_Atomic int64_t *left);

/* Of func-event.c */
extern const struct func_command func_command_enable_event, func_command_disable_event;

/* Row i of the table of commands that are always there, NULL past the last. */
const struct func_command *func_command_row(unsigned int i);

#endif
