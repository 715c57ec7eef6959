/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the func-*.c share. */
#ifndef HVTRACE_TRACER_FILTER_INTERNAL_H
#define HVTRACE_TRACER_FILTER_INTERNAL_H

#include <pthread.h>

#include "tracer/filter/func-commands.h"
#include "tracer/filter/func-filter.h"

/* Functions that were asked for of a module that is not loaded. */
struct func_wait {
	struct func_wait *next;
	char *func, *module;
};

struct func_actions;

struct func_filter {
	const struct func_owner *owner;
	pthread_mutex_t lock; /* of all that follows */
	struct funcs *funcs;
	struct func_set *set[FUNC_FILE_KINDS];	   /* NULL: empty */
	struct func_wait *waits[FUNC_NOTRACE + 1]; /* latest first */
	struct func_actions *actions;
};

/* A word that was written: func[:command[:param]]. */
struct func_word {
	enum func_file_kind kind;
	char *func, *command, *param; /* param may be NULL */
};

/* f->lock is held. */
int func_filter_apply_locked(struct func_filter *f);

/* The command mod: func-mod.c. set is that of the file; f->lock is held. 0 or -errno. */
int func_mod_write(struct func_filter *f, struct func_set *set, const struct func_word *w);
void func_waits_clear(struct func_filter *f, enum func_file_kind kind);
void func_waits_print(const struct func_filter *f, enum func_file_kind kind, struct text *out);
/* Do what waits for modules that are loaded now. */
void func_waits_settle(struct func_filter *f);

/* Any other command: func-request.c. f->lock is held. 0 or -errno. */
int func_request_write(struct func_filter *f, const struct func_word *w);

/* What it asks for: a command with or without count, what it is about, and how often. */
struct func_request {
	const struct func_command *command;
	bool counted;
	void *target;
	int64_t left;
};

/* Commands on functions: func-actions.c. f->lock is held. */
struct func_actions *func_actions_new(void);
void func_actions_free(struct func_filter *f);
/*
 * Set it on the functions of set that it is not on yet: 0, -EINVAL when there are none, or what
 * the command or the owner said. The set may be freed.
 */
int func_action_add(struct func_filter *f, const struct func_request *r,
		    const struct func_set *set);
/* Remove it from those that a glob matches, the word behind its !. 0, -ENODEV, -EINVAL. */
int func_action_remove(struct func_filter *f, const struct func_request *r, char *func);
void func_actions_print(struct func_filter *f, struct text *out);
/* f->funcs is another list now: drop functions that are not in it any more. */
void func_actions_update(struct func_filter *f, const struct funcs *old);
/* The functions that have any. NULL: no memory. */
struct func_set *func_actions_set(struct func_filter *f);
/* What there is of them, for apply(). */
void func_actions_say(const struct func_filter *f, struct func_selection *sel);

#endif
