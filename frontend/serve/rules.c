// SPDX-License-Identifier: GPL-2.0-or-later
/* rules.c - which guest is traced when: see daemon.h */
#include "frontend/serve/daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS     INT64_C(5000)
#define RETRY_MAX_MS INT64_C(300000)
#define GONE_MS	     INT64_C(900000)

static const struct config_rule *rule_of(const struct daemon *d, size_t i)
{
	return &d->conf->c->rules[i];
}

/* --- when ---------------------------------------------------------------------------------------
 */

static int64_t ms_of(uint64_t ns)
{
	return (int64_t)(ns / 1000000);
}

/* Windows of many guests do not all begin at the same time. */
static int64_t jitter(struct daemon *d, const struct config_rule *r)
{
	int64_t most = ms_of(r->jitter_ns);

	return most > 0 ? rand_r(&d->random) % most : 0;
}

static int64_t retry_ms(unsigned int failed)
{
	int64_t ms = RETRY_MS;

	while (--failed && ms < RETRY_MAX_MS)
		ms *= 2;
	return ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
}

/* A rule that looks for long windows does so again and again; the others wait to be asked. */
static int64_t usual_ms(struct daemon *d, const struct config_rule *r, bool watched)
{
	switch (r->when) {
	case CONFIG_ALWAYS:
		return 0;
	case CONFIG_WINDOW:
		return ms_of(r->every_ns) - plan_window_ms(r) + jitter(d, r);
	case CONFIG_THRESHOLD:
		return r->threshold.irqs_off_ns ? (watched ? 0 : ms_of(r->threshold.cool_down_ns))
						: INT64_MAX;
	default:
		return INT64_MAX;
	}
}

static void tell_pause(struct daemon *d, const struct round *r, int64_t ms)
{
	const struct metrics_labels labels = {
		.guest = r->name, .uuid = r->uuid, .rule = round_rule(r)->name};

	metrics_set(d->metrics, METRICS_BACKOFF, &labels, (double)ms / 1000);
}

/* Between two rounds: as the rule says, and longer where that costs the guest more than it may. */
static void plan_next(struct daemon *d, struct round *r, struct due *due, int64_t now_ms)
{
	const struct config_rule *rule = round_rule(r);
	int64_t usual = usual_ms(d, rule, r->watch && !r->crossed);
	int64_t pause = budget_pause_ms(&r->cost, rule->overhead);
	int64_t cool = ms_of(rule->threshold.cool_down_ns);

	due->failed = r->failed ? due->failed + 1 : 0;
	due->before = r->failed || pause ? 0 : due->before + 1;
	/* The next round begins with that. */
	if (r->guest->harmed && due->failed == 1) {
		due->next_ms = now_ms;
		return;
	}
	if (due->failed && retry_ms(due->failed) > pause)
		pause = retry_ms(due->failed);
	if (r->crossed && r->watch) {
		due->demanded = true;
		due->next_ms = now_ms;
		return;
	}
	due->pause_ms = pause;
	tell_pause(d, r, pause);
	if (usual < INT64_MAX)
		due->next_ms = now_ms + (usual > pause ? usual : pause);
	else
		due->next_ms = INT64_MAX;
	due->cool_ms = now_ms + (pause > cool ? pause : cool);
}

/* --- thresholds ---------------------------------------------------------------------------------
 */

static void look_at_steal(const struct serve_guest *g, const struct config_rule *r, struct due *due,
			  int64_t now_ms)
{
	bool busy = g->steal >= 0 && g->steal * 100 >= r->threshold.steal;

	if (r->when != CONFIG_THRESHOLD || r->threshold.steal <= 0 || now_ms < due->cool_ms)
		return;
	if (!busy)
		due->busy_since_ms = 0;
	else if (!due->busy_since_ms)
		due->busy_since_ms = now_ms;
	if (due->busy_since_ms && now_ms - due->busy_since_ms >= ms_of(r->threshold.for_ns)) {
		due->demanded = true;
		due->busy_since_ms = 0;
	}
}

int rules_demand(struct daemon *d, struct serve_guest *g, size_t rule)
{
	if (rule >= d->conf->c->nr_rules || !g->due[rule].wanted)
		return -ENOENT;
	g->due[rule].demanded = true;
	return 0;
}

/* --- rounds -------------------------------------------------------------------------------------
 */

static size_t collectors(const struct daemon *d)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_rounds; i++)
		nr += round_has_guest(d->round[i]);
	return nr;
}

static size_t jobs(const struct daemon *d)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_rounds; i++)
		nr += !round_has_guest(d->round[i]) && round_steps(d->round[i]);
	return nr;
}

/* Of those that ship one at a time, which has the spool. */
static bool may_step(const struct daemon *d, const struct round *r)
{
	if (round_has_guest(r))
		return true;
	for (size_t i = 0; i < d->nr_rounds && r->kind[r->at] == PLAN_SHIP; i++)
		if (round_steps(d->round[i]) && d->round[i]->kind[d->round[i]->at] == PLAN_SHIP)
			return false;
	return jobs(d) < DAEMON_JOBS;
}

static bool add_round(struct daemon *d, struct round *r)
{
	struct round **more;

	if (d->nr_rounds == d->room) {
		more = reallocarray(d->round, d->room + 16, sizeof(*more));
		if (!more)
			return false;
		d->round = more;
		d->room += 16;
	}
	d->round[d->nr_rounds++] = r;
	return true;
}

/* It is tried again later, also where a threshold is crossed all the time. */
static void could_not_begin(struct due *due, int64_t now_ms)
{
	int64_t again_ms = now_ms + retry_ms(++due->failed);

	if (due->next_ms < INT64_MAX)
		due->next_ms = again_ms;
	if (due->cool_ms < again_ms)
		due->cool_ms = again_ms;
}

/* A rule that looks for long windows traces what it is for once there is one. */
static void begin(struct daemon *d, struct serve_guest *g, size_t rule, int64_t now_ms)
{
	struct due *due = &g->due[rule];
	bool watch = rule_of(d, rule)->when == CONFIG_THRESHOLD && !due->demanded;
	char err[256];
	struct round *r = round_new(d->conf, rule, g, watch, d->metrics, err, sizeof(err));

	due->demanded = false;
	if (r && add_round(d, r))
		return;
	could_not_begin(due, now_ms);
	if (!r) {
		fprintf(stderr, "hvtrace: %s: rule %s: %s\n", g->name, rule_of(d, rule)->name, err);
		return;
	}
	g->round = NULL;
	round_free(r);
}

/* What was asked for comes first, then what is due for longest. */
static size_t choose_rule(struct daemon *d, const struct serve_guest *g, int64_t now_ms)
{
	size_t chosen = SIZE_MAX;

	for (size_t i = 0; i < d->conf->c->nr_rules; i++) {
		struct due *due = &g->due[i];

		if (!due->wanted)
			continue;
		look_at_steal(g, rule_of(d, i), due, now_ms);
		if (due->demanded)
			return i;
		if (due->next_ms <= now_ms &&
		    (chosen == SIZE_MAX || due->next_ms < g->due[chosen].next_ms))
			chosen = i;
	}
	return chosen;
}

static int64_t due_since(const struct due *due)
{
	return due->demanded ? INT64_MIN : due->next_ms;
}

/* Of all guests, as choose_rule() does of those of one. NULL: none is due. */
static struct serve_guest *choose_guest(struct daemon *d, size_t *rule, int64_t now_ms)
{
	struct serve_guest *chosen = NULL;
	int64_t since = INT64_MAX;

	for (size_t i = 0; i < d->guests.nr; i++) {
		struct serve_guest *g = d->guests.guest[i];
		size_t one = g->here && !g->round ? choose_rule(d, g, now_ms) : SIZE_MAX;

		if (one == SIZE_MAX)
			continue;
		if (!chosen || due_since(&g->due[one]) < since) {
			chosen = g;
			*rule = one;
			since = due_since(&g->due[one]);
		}
	}
	return chosen;
}

/* Where there are fewer collectors than guests no guest is kept waiting by those in front of it. */
static void begin_rounds(struct daemon *d, int64_t now_ms)
{
	struct serve_guest *g;
	size_t rule = 0;

	while (collectors(d) < d->conf->c->serve.collectors && (g = choose_guest(d, &rule, now_ms)))
		begin(d, g, rule, now_ms);
}

/* The configuration may be another one by now: then another rule is due. */
static void let_go(struct daemon *d, struct round *r, int64_t now_ms)
{
	struct serve_guest *g = r->guest;

	if (!g)
		return;
	if (g->here && r->conf == d->conf)
		plan_next(d, r, &g->due[r->rule], now_ms);
	guests_match(g, d->conf->c);
	r->guest = NULL;
	g->round = NULL;
}

/* What the collector of a rule that traces always has finished. */
static void take_files(struct daemon *d, struct round *r)
{
	char path[KEEP_PATH_LEN], err[KEEP_PATH_LEN + 64];
	struct round *job;

	while (round_take_file(r, path)) {
		job = round_of_file(r, path, err, sizeof(err));
		if (!job)
			fprintf(stderr, "hvtrace: %s: %s\n", r->name, err);
		else if (!add_round(d, job))
			round_free(job);
	}
}

static void go_on(struct daemon *d, struct round *r, int64_t now_ms)
{
	round_tick(r, now_ms);
	if (round_steps(r))
		return;
	if (!round_has_guest(r))
		let_go(d, r, now_ms);
	if (!round_is_over(r) && may_step(d, r))
		round_step(r, now_ms);
}

static bool is_guest(const struct daemon *d, const char *name)
{
	for (size_t i = 0; i < d->guests.nr; i++)
		if (!strcmp(d->guests.guest[i]->name, name))
			return true;
	return false;
}

/* A round may be the last that has to do with a guest, or a rule, which is long gone: what comes of
 * its last step is told all the same, and goes with it. */
static void forget_round(struct daemon *d, const struct round *r)
{
	const char *rule = round_rule(r)->name;
	bool guest_goes = !is_guest(d, r->name), rule_goes = !config_rule_find(d->conf->c, rule);

	for (size_t i = 0; i < d->nr_rounds; i++) {
		guest_goes &= strcmp(d->round[i]->name, r->name) != 0;
		rule_goes &= strcmp(round_rule(d->round[i])->name, rule) != 0;
	}
	if (guest_goes)
		metrics_forget(d->metrics, METRICS_FAMILIES, r->name);
	if (rule_goes)
		metrics_forget_rule(d->metrics, rule);
}

/* Its numbers go with it, after a while: a guest that is started again soon has the same. */
static void forget(void *arg, const struct serve_guest *g)
{
	const struct daemon *d = arg;

	metrics_forget(d->metrics, METRICS_FAMILIES, g->name);
}

/* Of one that is recorded in several files it is not known which of them is not whole. */
static void repair_what_is_left(struct daemon *d, const struct round *r)
{
	if (!round_rule(r)->keep)
		return;
	if (!r->segments)
		daemon_repair(d, r->recording);
	else if (r->broke)
		daemon_repair_all(d);
}

static void end_round(struct daemon *d, size_t i, int64_t now_ms)
{
	struct round *r = d->round[i];

	let_go(d, r, now_ms);
	repair_what_is_left(d, r);
	d->nr_rounds--;
	memmove(&d->round[i], &d->round[i + 1], (d->nr_rounds - i) * sizeof(*d->round));
	forget_round(d, r);
	round_free(r);
}

void rules_tick(struct daemon *d, int64_t now_ms)
{
	if (!d->stopping)
		begin_rounds(d, now_ms);
	for (size_t i = 0; i < d->nr_rounds; i++)
		take_files(d, d->round[i]);
	for (size_t i = 0; i < d->nr_rounds; i++)
		go_on(d, d->round[i], now_ms);
	/* None goes before: whether one may step depends on the others. */
	for (size_t i = d->nr_rounds; i--;)
		if (round_is_over(d->round[i]))
			end_round(d, i, now_ms);
	guests_drop(&d->guests, now_ms - GONE_MS, forget, d);
}

/* --- guests -------------------------------------------------------------------------------------
 */

static void tell_guest(struct daemon *d, const struct serve_guest *g, bool here)
{
	const struct metrics_labels labels = {.guest = g->name, .uuid = g->uuid};

	metrics_set(d->metrics, METRICS_GUEST_UP, &labels, here);
	if (!here)
		metrics_set(d->metrics, METRICS_GUEST_ATTACHED, &labels, 0);
}

/* Prometheus sees that a counter goes up if it was there before. */
static void begin_counters(struct daemon *d, const struct serve_guest *g)
{
	struct metrics_labels labels = {.guest = g->name, .uuid = g->uuid};

	metrics_add(d->metrics, METRICS_GUEST_REBOOTS, &labels, 0);
	metrics_add(d->metrics, METRICS_GUEST_PANICS, &labels, 0);
	labels.reason = "trace";
	for (size_t i = 0; i < d->conf->c->nr_rules; i++) {
		labels.rule = rule_of(d, i)->name;
		if (!g->due[i].wanted)
			continue;
		metrics_add(d->metrics, METRICS_FAILURES, &labels, 0);
		metrics_add(d->metrics, METRICS_LOST_RECORDS, &labels, 0);
	}
}

void rules_came(struct daemon *d, struct serve_guest *g)
{
	guests_apply_to(g, d->conf->c);
	for (size_t i = 0; i < d->conf->c->nr_rules; i++)
		if (g->due[i].next_ms < INT64_MAX && rule_of(d, i)->when == CONFIG_WINDOW)
			g->due[i].next_ms = daemon_now_ms() + jitter(d, rule_of(d, i));
	tell_guest(d, g, true);
	begin_counters(d, g);
}

/*
 * Its collector sees that, too, unless it is what has become of another guest of that name. The
 * round is not the guest's any more, which may come again before that has ended: what comes of it
 * says nothing of the one that runs then.
 */
void rules_went(struct daemon *d, struct serve_guest *g)
{
	tell_guest(d, g, false);
	if (!g->round)
		return;
	round_leave(g->round);
	g->round->guest = NULL;
	g->round = NULL;
}
