/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * round.h - a guest is traced by a rule once: the steps of its plan, one after the other, and what
 * comes of them. First it has the guest, later only what was recorded.
 */
#ifndef HVTRACE_FRONTEND_SERVE_ROUND_H
#define HVTRACE_FRONTEND_SERVE_ROUND_H

#include "frontend/metrics/metrics.h"
#include "frontend/serve/budget.h"
#include "frontend/serve/conf.h"
#include "frontend/serve/guests.h"
#include "frontend/serve/keep.h"
#include "frontend/serve/plan.h"

struct round {
	struct serve_guest *guest; /* NULL: it has let the guest go */
	struct conf *conf;
	size_t rule; /* its number there */
	struct metrics *metrics;
	bool watch;    /* it only looks whether a threshold is crossed */
	bool segments; /* it records to one file after the other */
	char name[128], uuid[MACHINE_UUID_SIZE];
	unsigned int vcpus;
	enum plan_kind kind[PLAN_KINDS + 1];
	unsigned int nr, at;
	struct step step;
	int64_t until_ms; /* the step is asked to end then, and a while later ended */
	bool asked, killed;
	int64_t window_ms;
	int out;      /* what the step prints: a file, or of segments a pipe; -1: nothing */
	size_t named; /* bytes of what has come of that: */
	char names[KEEP_PATH_LEN];
	char folder[KEEP_PATH_LEN], recording[KEEP_PATH_LEN];
	char summary[KEEP_PATH_LEN + 32], rows_path[KEEP_PATH_LEN + 32];
	struct budget_cost cost;
	uint64_t longest_ns; /* the longest window that a step has seen */
	bool failed, crossed;
	bool broke; /* a step that traces has failed, for whatever reason */
};

const struct config_rule *round_rule(const struct round *r);

/*
 * A round with this guest, whose folder for what goes is below `state`. NULL: no memory, or err has
 * a line that says why not.
 */
struct round *round_new(struct conf *conf, size_t rule, struct serve_guest *g, bool watch,
			struct metrics *metrics, char *err, size_t errlen);
/*
 * A round that looks at one of the files which another one has recorded. The file is its own, and
 * goes with it unless the rule keeps it. NULL: as round_new().
 */
struct round *round_of_file(const struct round *of, const char *path, char *err, size_t errlen);
void round_free(struct round *r); /* its step has ended */

/* The next step is of the guest. */
bool round_has_guest(const struct round *r);
bool round_is_over(const struct round *r);
bool round_steps(const struct round *r); /* a step runs */
/* Start the next step. 0 or -errno: the round is over. */
int round_step(struct round *r, int64_t now_ms);
/* Something can be read of the step that runs. */
void round_hear(struct round *r);
/* Of segments: the path of one that is whole, to be asked before round_step(). False: there is
 * none. */
bool round_take_file(struct round *r, char path[KEEP_PATH_LEN]);
/* Time has passed: what takes too long is ended. */
void round_tick(struct round *r, int64_t now_ms);
/* Nothing more is done: a step that runs is asked to end. */
void round_cancel(struct round *r, int signo);
/* The same with its guest, if it has one: what was recorded until then is still looked at. */
void round_leave(struct round *r);

#endif
