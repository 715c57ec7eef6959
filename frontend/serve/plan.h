/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - what is done with a guest for a rule: commands of hvtrace, one after the other. First
 * those that trace it, for which nobody else can at the same time, then those that look at what was
 * recorded.
 */
#ifndef HVTRACE_FRONTEND_SERVE_PLAN_H
#define HVTRACE_FRONTEND_SERVE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/config/config.h"
#include "frontend/serve/step.h"

enum plan_kind {
	/* Of the guest */
	PLAN_RECOVER, /* of what a tracer has left in it that was killed */
	PLAN_RECORD,
	PLAN_IRQS_OFF,
	PLAN_PREEMPT_OFF,
	/* Of the recording */
	PLAN_WAKEUPS,
	PLAN_SYSCALLS,
	PLAN_SHIP,
	PLAN_KINDS
};

static inline bool plan_is_of_guest(enum plan_kind kind)
{
	return kind < PLAN_WAKEUPS;
}

/* Which steps a rule asks for, in their order. Of PLAN_KINDS at most; how many. */
unsigned int plan_kinds(const struct config_rule *r, enum plan_kind kinds[PLAN_KINDS]);

/* Whom they are for, and where what they find goes. */
struct plan {
	const struct serve_config *cfg;
	const struct config_rule *rule;
	const char *guest;     /* its UUID */
	const char *name;      /* and what it is called */
	const char *recording; /* trace.dat */
	const char *summary;   /* what came of a step that traces, in JSON */
	int64_t window_ms;     /* so long it is traced */
	bool segments;	       /* a file for each of the rule's segments, named on its stdout */
};

/* Words of a command line; zero-initialise, plan_words_free(). */
struct plan_words {
	char *word[STEP_WORDS_MAX + 1]; /* NULL behind the last */
	size_t nr;
	bool failed; /* no memory, or too many */
};

void plan_words(struct plan_words *w, enum plan_kind kind, const struct plan *p);
void plan_words_free(struct plan_words *w);

/* The folder of what no server has taken yet. 0 or -ENAMETOOLONG. */
int plan_spool(const struct serve_config *cfg, char *path, size_t size);

/* How long a rule traces at a time, or is a file of one that does always. */
int64_t plan_window_ms(const struct config_rule *r);
/*
 * How long a rule that traces always does so at a time, if it has done so `before` times in a row
 * with nothing wrong, nor too dear: what it costs is known when it has let the guest go.
 */
int64_t plan_always_ms(const struct config_rule *r, unsigned int before);

#endif
