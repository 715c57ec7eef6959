// SPDX-License-Identifier: GPL-2.0-or-later
/* round.c - see round.h */
#include "frontend/serve/round.h"

#include "frontend/serve/folder.h"
#include "frontend/serve/found.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside what was asked for: to attach, to find a kernel, to let a guest go on a host that is busy.
 */
#define STEP_MORE_MS INT64_C(180000)
#define STEP_JOB_MS  INT64_C(600000) /* what looks at a recording */
#define WATCH_MIN_MS 1000	     /* in less nothing long is to be seen, and 0 is no end */
#define STEP_END_MS  INT64_C(60000)  /* from when it was asked to end */

const struct config_rule *round_rule(const struct round *r)
{
	return &r->conf->c->rules[r->rule];
}

static void close_out(struct round *r)
{
	if (r->out >= 0)
		close(r->out);
	r->out = -1;
}

/* --- its life -----------------------------------------------------------------------------------
 */

static int64_t window_ms(const struct round *r)
{
	const struct config_rule *rule = round_rule(r);

	if (r->watch)
		return rule->threshold.for_ns > WATCH_MIN_MS * 1000000
			       ? (int64_t)(rule->threshold.for_ns / 1000000)
			       : WATCH_MIN_MS;
	return r->segments ? plan_always_ms(rule, r->guest->due[r->rule].before)
			   : plan_window_ms(rule);
}

/* What is done with a file of several is done as soon as that is there, by a round of its own. */
static void choose_steps(struct round *r)
{
	if (r->guest->harmed)
		r->kind[r->nr++] = PLAN_RECOVER;
	if (r->watch)
		r->kind[r->nr++] = PLAN_IRQS_OFF;
	else
		r->nr += plan_kinds(round_rule(r), r->kind + r->nr);
	while (r->segments && r->nr && !plan_is_of_guest(r->kind[r->nr - 1]))
		r->nr--;
}

static void choose_jobs(struct round *r)
{
	enum plan_kind kind[PLAN_KINDS];
	unsigned int nr = plan_kinds(round_rule(r), kind);

	for (unsigned int i = 0; i < nr; i++)
		if (!plan_is_of_guest(kind[i]))
			r->kind[r->nr++] = kind[i];
}

/* NULL: no memory. */
static struct round *make_round(const struct round *like)
{
	struct round *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	*r = *like;
	conf_get(r->conf);
	r->step = (struct step){.pidfd = -1, .says.fd = -1};
	r->out = -1;
	return r;
}

static struct round *place_round(struct round *r, char *err, size_t errlen)
{
	const char *state = r ? r->conf->c->serve.state : NULL;
	int rc = r ? folder_make(r, state) : 0;

	if (!r)
		snprintf(err, errlen, "no memory");
	if (r && !rc)
		return r;
	if (r) {
		snprintf(err, errlen, "no place for recordings below %s: %s", state, strerror(-rc));
		round_free(r);
	}
	return NULL;
}

struct round *round_new(struct conf *conf, size_t rule, struct serve_guest *g, bool watch,
			struct metrics *metrics, char *err, size_t errlen)
{
	struct round like = {
		.conf = conf,
		.rule = rule,
		.guest = g,
		.metrics = metrics,
		.watch = watch,
		.segments = !watch && conf->c->rules[rule].when == CONFIG_ALWAYS,
		.vcpus = g->vcpus,
	};
	struct round *r;

	memcpy(like.name, g->name, sizeof(like.name));
	memcpy(like.uuid, g->uuid, sizeof(like.uuid));
	r = place_round(make_round(&like), err, errlen);
	if (!r)
		return NULL;
	choose_steps(r);
	r->window_ms = window_ms(r);
	g->round = r;
	return r;
}

struct round *round_of_file(const struct round *of, const char *path, char *err, size_t errlen)
{
	struct round like = {
		.conf = of->conf,
		.rule = of->rule,
		.metrics = of->metrics,
		.vcpus = of->vcpus,
	};
	struct round *r;

	memcpy(like.name, of->name, sizeof(like.name));
	memcpy(like.uuid, of->uuid, sizeof(like.uuid));
	r = place_round(make_round(&like), err, errlen);
	if (!r)
		return NULL;
	choose_jobs(r);
	if (round_rule(r)->keep) {
		snprintf(r->recording, sizeof(r->recording), "%s", path);
	} else if (rename(path, r->recording)) {
		snprintf(err, errlen, "%s: %s", path, strerror(errno));
		round_free(r);
		return NULL;
	}
	return r;
}

void round_free(struct round *r)
{
	close_out(r);
	if (r->step.says.fd >= 0)
		close(r->step.says.fd);
	folder_remove(r);
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

/* Where what it prints goes: r->out is what is closed, or read, here. 0 or -errno. */
static int open_out(struct round *r, enum plan_kind kind, int *out)
{
	int fds[2];

	if (prints_rows(kind)) {
		r->out = open(r->rows_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		*out = r->out;
		return r->out < 0 ? -errno : 0;
	}
	if (kind != PLAN_RECORD || !r->segments)
		return 0;
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	r->out = fds[0];
	*out = fds[1];
	return 0;
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
		.window_ms = r->window_ms,
		.segments = r->segments,
	};
	struct plan_words words;
	int out = -1, rc;

	unlink(r->summary);
	rc = open_out(r, kind, &out);
	plan_words(&words, kind, &plan);
	if (!rc)
		rc = words.failed ? -E2BIG : step_start(&r->step, words.word, out, r->name);
	plan_words_free(&words);
	if (out >= 0 && out != r->out)
		close(out);
	if (rc)
		close_out(r);
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
	r->until_ms = now_ms + (plan_is_of_guest(kind) ? r->window_ms + STEP_MORE_MS : STEP_JOB_MS);
	return 0;
}

/* --- files that follow each other ---------------------------------------------------------------
 */

static void hear_names(struct round *r)
{
	ssize_t n;

	if (!r->segments || r->kind[r->at] != PLAN_RECORD || r->out < 0)
		return;
	n = read(r->out, r->names + r->named, sizeof(r->names) - r->named);
	if (n > 0)
		r->named += (size_t)n;
	/* No recorder has such names. */
	if (r->named == sizeof(r->names) && !memchr(r->names, '\n', r->named))
		r->named = 0;
}

bool round_take_file(struct round *r, char path[KEEP_PATH_LEN])
{
	const char *end = memchr(r->names, '\n', r->named);
	size_t len = end ? (size_t)(end - r->names) : 0;

	if (!end)
		return false;
	memcpy(path, r->names, len);
	path[len] = '\0';
	r->named -= len + 1;
	memmove(r->names, end + 1, r->named);
	return true;
}

/* --- what comes of a step -----------------------------------------------------------------------
 */

/* The next one needs what this one has made. */
static void end_step(struct round *r)
{
	enum plan_kind kind = r->kind[r->at];

	hear_names(r);
	close_out(r);
	if (r->step.says.fd >= 0)
		close(r->step.says.fd);
	r->broke |= plan_is_of_guest(kind) && r->step.status;
	found(r, kind);
	r->step = (struct step){.pidfd = -1, .says.fd = -1};
	r->at = r->at + 1 < r->nr ? r->at + 1 : r->nr;
	if (((r->failed && kind == PLAN_RECORD && !r->segments) || !round_has_guest(r)) &&
	    access(r->recording, F_OK))
		r->at = r->nr;
}

void round_hear(struct round *r)
{
	step_hear(&r->step);
	hear_names(r);
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

void round_leave(struct round *r)
{
	unsigned int kept = r->at + round_steps(r);

	if (!round_has_guest(r))
		return;
	step_signal(&r->step, SIGTERM);
	for (unsigned int i = kept; i < r->nr; i++)
		if (round_steps(r) && !plan_is_of_guest(r->kind[i]))
			r->kind[kept++] = r->kind[i];
	r->nr = kept;
}
