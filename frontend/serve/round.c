// SPDX-License-Identifier: GPL-2.0-or-later
/* round.c - see round.h */
#include "frontend/serve/round.h"

#include "frontend/lib/tree.h"
#include "frontend/serve/found.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beside what was asked for: to attach, to find a kernel, to let a guest go on a host that is busy.
 */
#define STEP_MORE_MS INT64_C(180000)
#define STEP_JOB_MS  INT64_C(600000) /* what looks at a recording */
#define ROUNDS	     ".rounds"
#define FOLDER_DEPTH 2

#define STEP_END_MS INT64_C(60000) /* from when it was asked to end */

const struct config_rule *round_rule(const struct round *r)
{
	return &r->conf->c->rules[r->rule];
}

/* --- files --------------------------------------------------------------------------------------
 */

/* What goes with the round is in a folder of its own. */
static int make_folder(struct round *r, const char *state)
{
	char name[160];
	int len;

	len = snprintf(r->folder, sizeof(r->folder), "%s/" ROUNDS, state);
	if (len < (int)sizeof(r->folder) && mkdir(r->folder, 0700) && errno != EEXIST)
		return -errno;
	keep_safe_name(name, sizeof(name), *r->uuid ? r->uuid : r->name);
	len = snprintf(r->folder, sizeof(r->folder), "%s/" ROUNDS "/%s.%zu.XXXXXX", state, name,
		       r->rule);
	if (len >= (int)sizeof(r->folder))
		return -ENAMETOOLONG;
	if (!mkdtemp(r->folder)) {
		*r->folder = '\0';
		return -errno;
	}
	snprintf(r->summary, sizeof(r->summary), "%s/summary.json", r->folder);
	snprintf(r->rows_path, sizeof(r->rows_path), "%s/rows.json", r->folder);
	return 0;
}

/* Where it is recorded to: what is not kept goes with the folder. */
static int name_recording(struct round *r, const char *state)
{
	const struct config_rule *rule = round_rule(r);

	if (rule->keep)
		return keep_name(r->recording, state, r->name, rule->name);
	if (snprintf(r->recording, sizeof(r->recording), "%s/trace.dat", r->folder) >=
	    (int)sizeof(r->recording))
		return -ENAMETOOLONG;
	return 0;
}

static void remove_folder(struct round *r)
{
	int fd = *r->folder ? open(r->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	tree_empty(fd, FOLDER_DEPTH);
	close(fd);
	rmdir(r->folder);
}

void round_sweep(const char *state)
{
	char path[KEEP_PATH_LEN];
	int fd;

	if (snprintf(path, sizeof(path), "%s/" ROUNDS, state) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	tree_empty(fd, FOLDER_DEPTH + 1);
	close(fd);
}

/* --- its life -----------------------------------------------------------------------------------
 */

static void choose_steps(struct round *r)
{
	if (r->guest->harmed)
		r->kind[r->nr++] = PLAN_RECOVER;
	if (r->watch)
		r->kind[r->nr++] = PLAN_IRQS_OFF;
	else
		r->nr += plan_kinds(round_rule(r), r->kind + r->nr);
}

struct round *round_new(struct conf *conf, size_t rule, struct serve_guest *g, bool watch,
			struct metrics *metrics, char *err, size_t errlen)
{
	struct round *r = calloc(1, sizeof(*r));
	const char *state = conf->c->serve.state;
	int rc;

	if (!r) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	*r = (struct round){.conf = conf_get(conf),
			    .rule = rule,
			    .guest = g,
			    .metrics = metrics,
			    .watch = watch,
			    .vcpus = g->vcpus,
			    .rows = -1};
	r->step.pidfd = r->step.says = -1;
	memcpy(r->name, g->name, sizeof(r->name));
	memcpy(r->uuid, g->uuid, sizeof(r->uuid));
	choose_steps(r);
	rc = make_folder(r, state);
	if (!rc)
		rc = name_recording(r, state);
	if (!rc) {
		g->round = r;
		return r;
	}
	snprintf(err, errlen, "no place for recordings below %s: %s", state, strerror(-rc));
	round_free(r);
	return NULL;
}

void round_free(struct round *r)
{
	if (r->rows >= 0)
		close(r->rows);
	if (r->step.says >= 0)
		close(r->step.says);
	remove_folder(r);
	conf_put(r->conf);
	free(r);
}

bool round_is_over(const struct round *r)
{
	return r->at == r->nr && !round_steps(r);
}

bool round_steps(const struct round *r)
{
	return r->step.pid;
}

bool round_has_guest(const struct round *r)
{
	return r->at < r->nr && plan_is_of_guest(r->kind[r->at]);
}

/* --- steps --------------------------------------------------------------------------------------
 */

static bool prints_rows(enum plan_kind kind)
{
	return kind != PLAN_RECOVER && kind != PLAN_RECORD && kind != PLAN_SHIP;
}

static int start(struct round *r, enum plan_kind kind)
{
	const struct plan plan = {
		.cfg = r->conf->c,
		.rule = round_rule(r),
		.guest = *r->uuid ? r->uuid : r->name,
		.name = r->name,
		.recording = r->recording,
		.summary = r->summary,
	};
	struct plan_words words;
	int rc = 0;

	unlink(r->summary);
	if (prints_rows(kind)) {
		r->rows = open(r->rows_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		rc = r->rows < 0 ? -errno : 0;
	}
	plan_words(&words, kind, &plan);
	if (!rc)
		rc = words.failed ? -E2BIG : step_start(&r->step, words.word, r->rows, r->name);
	plan_words_free(&words);
	if (rc && r->rows >= 0) {
		close(r->rows);
		r->rows = -1;
	}
	return rc;
}

int round_step(struct round *r, int64_t now_ms)
{
	enum plan_kind kind = r->kind[r->at];
	int rc = start(r, kind);

	if (rc) {
		fprintf(stderr, "hvtrace: %s: rule %s: a process cannot be started: %s\n", r->name,
			round_rule(r)->name, strerror(-rc));
		r->failed = true;
		r->at = r->nr;
		return rc;
	}
	r->asked = r->killed = false;
	r->until_ms =
		now_ms + (plan_is_of_guest(kind) ? plan_window_ms(round_rule(r)) + STEP_MORE_MS
						 : STEP_JOB_MS);
	return 0;
}

/* The next one needs what this one has made. */
static void end_step(struct round *r)
{
	enum plan_kind kind = r->kind[r->at];

	if (r->rows >= 0)
		close(r->rows);
	r->rows = -1;
	if (r->step.says >= 0)
		close(r->step.says);
	found(r, kind);
	r->step = (struct step){.pidfd = -1, .says = -1};
	r->at = r->at + 1 < r->nr ? r->at + 1 : r->nr;
	if (r->failed && kind == PLAN_RECORD && access(r->recording, F_OK))
		r->at = r->nr;
}

void round_hear(struct round *r)
{
	step_hear(&r->step);
	if (step_is_over(&r->step))
		end_step(r);
}

void round_tick(struct round *r, int64_t now_ms)
{
	if (!round_steps(r) || now_ms < r->until_ms)
		return;
	if (!r->asked) {
		fprintf(stderr, "hvtrace: %s: rule %s: a step takes too long, and is ended\n",
			r->name, round_rule(r)->name);
		step_signal(&r->step, SIGTERM);
		r->asked = true;
		r->until_ms = now_ms + STEP_END_MS;
	} else if (!r->killed) {
		step_signal(&r->step, SIGKILL);
		r->killed = true;
	}
}

void round_cancel(struct round *r, int signo)
{
	step_signal(&r->step, signo);
	r->nr = r->at + round_steps(r);
}
