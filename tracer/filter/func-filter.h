/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * func-filter.h - which functions are traced, and what is done when some are called: the files
 * set_ftrace_filter, set_ftrace_notrace, set_graph_function, set_graph_notrace of one instance.
 *
 * As kernel/trace/ftrace.c of Linux 6.1 does it: who opens a file for writing gets a set of his
 * own, changes that with each word, and it takes effect when the file is closed. Commands
 * (func-commands.h) take effect at once. Nothing here knows of FUSE or of how a guest is traced.
 *
 * Any thread may call; the owner's apply() is called with the filter's lock held, so neither it
 * nor what a command does may come back here, except for func_filter_hit().
 */
#ifndef HVTRACE_TRACER_FILTER_FUNC_FILTER_H
#define HVTRACE_TRACER_FILTER_FUNC_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/filter/func-set.h"
#include "tracer/filter/funcs.h"
#include "tracer/lib/text.h"

struct func_command;
struct func_filter;
struct func_file;
struct machine_hit;

enum func_file_kind {
	FUNC_FILTER,	    /* set_ftrace_filter */
	FUNC_NOTRACE,	    /* set_ftrace_notrace */
	FUNC_GRAPH,	    /* set_graph_function */
	FUNC_GRAPH_NOTRACE, /* set_graph_notrace */
	FUNC_FILE_KINDS
};

/* What is asked for. All sets are of the list funcs. */
struct func_selection {
	struct funcs *funcs;
	const struct func_set *set[FUNC_FILE_KINDS]; /* may be NULL: see func_set_empty() */
	const struct func_set *commands; /* functions with a command: they are to be hit anyway */
	/* What is recorded of others depends on when one acts; and one turns recording on. */
	bool commands_order, commands_turn_on;
};

/* The filter selects it for tracing. */
static inline bool func_selection_traces(const struct func_selection *sel, uint32_t func)
{
	const struct func_set *filter = sel->set[FUNC_FILTER], *notrace = sel->set[FUNC_NOTRACE];

	return (func_set_empty(filter) || func_set_has(filter, func)) &&
	       (func_set_empty(notrace) || !func_set_has(notrace, func));
}

/* A function was called. */
struct func_hit {
	uint64_t addr; /* as in the list of functions */
	unsigned int vcpu;
	const struct machine_hit *machine; /* the caller's own */
};

/* Trace events that commands turn on and off, by what find() gave for them. */
struct func_event_ops {
	/* NULL: there is none of that name that can be enabled. */
	void *(*find)(void *arg, const char *system, const char *name);
	void (*print)(void *arg, void *event, struct text *out); /* "system:name" */
	/* A command may switch it from now on, or one does no more. 0 or -errno. */
	int (*soft_mode)(void *arg, void *event, bool on);
	bool (*soft_disabled)(void *arg, void *event);
	void (*soft_disable)(void *arg, void *event, bool disable); /* as tracing_set() */
};

/* What filters and commands act on. */
struct func_owner {
	/*
	 * Make it so. sel is good until it returns. 0, or -errno: a command is not set then; of a
	 * file that is closed nobody hears it, so say what was wrong.
	 */
	int (*apply)(void *arg, const struct func_selection *sel);
	/* A module is loaded, even if none of its functions is listed. NULL: by the list. */
	bool (*module_loaded)(void *arg, const char *module);
	/* These are for commands, on the thread of the hit but for snapshot_ready(). */
	bool (*tracing_is_on)(void *arg);
	void (*tracing_set)(void *arg, bool on); /* must not wait for another vCPU's hit */
	int (*snapshot_ready)(void *arg);	 /* one may be taken from now on; 0 or -errno */
	void (*snapshot)(void *arg, const struct func_hit *hit);
	void (*stacktrace)(void *arg, const struct func_hit *hit);
	void (*dump)(void *arg, const struct func_hit *hit, bool all_cpus);
	const struct func_event_ops *events; /* NULL: there are none */
	void *arg;
};

/* Nothing is filtered. owner and funcs (which is held) stay. NULL: no memory. */
struct func_filter *func_filter_new(const struct func_owner *owner, struct funcs *funcs);
/* All files are closed. Commands end; apply() is not called. */
void func_filter_free(struct func_filter *f); /* NULL is allowed */

/*
 * Modules have come or gone: funcs (held) is the list now. Sets keep the functions that are still
 * there; what was asked for modules by name while they were not loaded is done. Applies.
 */
int func_filter_update(struct func_filter *f, struct funcs *funcs);
/* Have apply() called with what is asked for now. What it returned, or -ENOMEM. */
int func_filter_apply(struct func_filter *f);

/*
 * Open, with flags as for open(2) (access mode and O_TRUNC matter). 0, or -ENOMEM. One thread at a
 * time uses an open file.
 */
int func_file_open(struct func_filter *f, enum func_file_kind kind, int flags,
		   struct func_file **file);
/*
 * One write(2): takes one word, and the white space around it. Bytes taken or -errno. A word that
 * the end of the bytes cuts off waits for more. Position is the file's own: it counts on from write
 * to write, also for O_APPEND.
 */
ssize_t func_file_write(struct func_file *file, const char *text, size_t len);
/* The file's position was set back to its beginning: a word that waits is forgotten. */
void func_file_rewind(struct func_file *file);
/* Whether what waits of a word, with text behind it, has those characters in it. */
bool func_file_mentions(const struct func_file *file, const char *text, size_t len,
			const char *what);
/* What it reads: the set as it was when it was opened, or as written since; commands of now. */
void func_file_print(struct func_file *file, struct text *out);
/* Takes a last word that waits, and makes the file's set that of the filter. */
void func_file_close(struct func_file *file);

/* Do what commands ask for at this function. Any vCPU's thread, at any time. */
void func_filter_hit(struct func_filter *f, const struct func_hit *hit);

#endif
