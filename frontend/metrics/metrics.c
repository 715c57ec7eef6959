// SPDX-License-Identifier: GPL-2.0-or-later
/* metrics.c - numbers by their labels. */
#include "frontend/metrics/labels.h"
#include "frontend/metrics/local.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- one of a family ------------------------------------------------------------------------- */

static void free_series(struct series *s)
{
	if (!s)
		return;
	free(s->labels);
	free(s->bucket);
	free(s);
}

static struct series *new_series(const struct metrics_about *about, const char *labels)
{
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->labels = strdup(labels);
	if (about->type == METRICS_HISTOGRAM)
		s->bucket = calloc(LATENCY_REPORT_BUCKETS, sizeof(*s->bucket));
	if (s->labels && (s->bucket || about->type != METRICS_HISTOGRAM))
		return s;
	free_series(s);
	return NULL;
}

/* Where the first one is whose labels do not come before these. */
static size_t place_of(const struct sorted *all, const char *labels)
{
	size_t low = 0, high = all->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(all->v[mid]->labels, labels) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* False: no memory. */
static bool make_room(struct sorted *all)
{
	size_t room = all->room ? 2 * all->room : 8;
	struct series **more;

	if (all->nr < all->room)
		return true;
	more = realloc(all->v, room * sizeof(struct series *));
	if (!more)
		return false;
	all->v = more;
	all->room = room;
	return true;
}

static struct series *insert(struct sorted *all, size_t at, struct series *s)
{
	if (!s || !make_room(all)) {
		free_series(s);
		return NULL;
	}
	memmove(all->v + at + 1, all->v + at, (all->nr - at) * sizeof(struct series *));
	all->v[at] = s;
	all->nr++;
	return s;
}

/* Those whose labels begin so: guest names are whole, with the quote behind them. */
static size_t count_of(const struct sorted *all, const char *begin, size_t *first)
{
	size_t end, len = strlen(begin);

	*first = place_of(all, begin);
	for (end = *first; end < all->nr && !strncmp(all->v[end]->labels, begin, len); end++)
		;
	return end - *first;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* There are so many system calls that one guest alone could take all the room. */
static bool is_of_syscalls(const struct metrics_about *about)
{
	return about->label[2] && !strcmp(about->label[2], "syscall");
}

/* What is one too many of a guest and its rule becomes "other". */
static void fold(const struct sorted *all, const struct metrics_about *about,
		 const struct metrics_labels *labels, struct text *text)
{
	struct metrics_labels its = {.guest = labels->guest, .rule = labels->rule};
	struct text begin = {0};
	size_t first;

	labels_put(&begin, about, &its);
	if (!begin.failed && count_of(all, begin.buf, &first) >= METRICS_SYSCALLS_MAX - 1) {
		its.syscall = "other";
		text->len = 0;
		labels_put(text, about, &its);
	}
	text_free(&begin);
}

/* NULL: there is none. *at is where it is or would be. */
static struct series *find(const struct sorted *all, const struct text *text, size_t *at)
{
	*at = place_of(all, text->buf);
	return *at < all->nr && !strcmp(all->v[*at]->labels, text->buf) ? all->v[*at] : NULL;
}

/* The lock is held. NULL: there is no room. */
static struct series *series_of(struct metrics *m, enum metrics_family family,
				const struct metrics_labels *labels, struct text *text)
{
	static const struct metrics_labels none = {.guest = NULL};
	const struct metrics_about *about = metrics_about(family);
	struct sorted *all = &m->of[family];
	struct series *s = NULL;
	size_t at;

	labels = labels ? labels : &none;
	labels_put(text, about, labels);
	if (!text->failed)
		s = find(all, text, &at);
	if (!text->failed && !s && is_of_syscalls(about)) {
		fold(all, about, labels, text);
		s = text->failed ? NULL : find(all, text, &at);
	}
	if (s || text->failed || all->nr >= about->sets)
		return s;
	return insert(all, at, new_series(about, text->buf));
}

/* With the lock, which is to be unlocked. NULL: it is left out, and counted. */
static struct series *take(struct metrics *m, enum metrics_family family,
			   const struct metrics_labels *labels)
{
	struct text text = {0};
	struct series *s;

	pthread_mutex_lock(&m->lock);
	s = series_of(m, family, labels, &text);
	if (!s)
		m->of[METRICS_LEFT_OUT_SAMPLES].v[0]->value++;
	text_free(&text);
	return s;
}

void metrics_add(struct metrics *m, enum metrics_family family, const struct metrics_labels *labels,
		 double more)
{
	struct series *s;

	if (!isfinite(more) || more < 0)
		return;
	s = take(m, family, labels);
	if (s)
		s->value += more;
	pthread_mutex_unlock(&m->lock);
}

void metrics_set(struct metrics *m, enum metrics_family family, const struct metrics_labels *labels,
		 double value)
{
	struct series *s = take(m, family, labels);

	if (s)
		s->value = value;
	pthread_mutex_unlock(&m->lock);
}

static uint64_t saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void metrics_observe_many(struct metrics *m, enum metrics_family family,
			  const struct metrics_labels *labels,
			  const uint64_t bucket[LATENCY_REPORT_BUCKETS], uint64_t total_ns)
{
	struct series *s = take(m, family, labels);

	for (unsigned int b = 0; s && b < LATENCY_REPORT_BUCKETS; b++)
		s->bucket[b] = saturated(s->bucket[b], bucket[b]);
	if (s)
		s->total_ns = saturated(s->total_ns, total_ns);
	pthread_mutex_unlock(&m->lock);
}

/* --- the whole set --------------------------------------------------------------------------- */

static void forget_of(struct sorted *all, const char *begin)
{
	size_t first, nr = count_of(all, begin, &first);

	for (size_t i = first; i < first + nr; i++)
		free_series(all->v[i]);
	if (nr)
		memmove(all->v + first, all->v + first + nr,
			(all->nr - first - nr) * sizeof(struct series *));
	all->nr -= nr;
}

void metrics_forget(struct metrics *m, enum metrics_family family, const char *guest)
{
	struct text begin = {0};

	labels_put_guest(&begin, guest);
	pthread_mutex_lock(&m->lock);
	for (unsigned int f = 0; f < METRICS_FAMILIES && !begin.failed; f++)
		if (family == METRICS_FAMILIES || f == family)
			forget_of(&m->of[f], begin.buf);
	pthread_mutex_unlock(&m->lock);
	text_free(&begin);
}

/* The rule is the last label of those gauges that have it. */
static bool is_of_rule(const struct series *s, const char *end, size_t len)
{
	size_t its = strlen(s->labels);

	return its >= len && !strcmp(s->labels + its - len, end) &&
	       (its == len || s->labels[its - len - 1] == ',');
}

static void forget_rule_of(struct sorted *all, const char *end, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (is_of_rule(all->v[i], end, len))
			free_series(all->v[i]);
		else
			all->v[kept++] = all->v[i];
	}
	all->nr = kept;
}

void metrics_forget_rule(struct metrics *m, const char *rule)
{
	const struct metrics_about of_rule = {.label = {"rule"}};
	const struct metrics_labels labels = {.rule = rule};
	struct text end = {0};

	labels_put(&end, &of_rule, &labels);
	pthread_mutex_lock(&m->lock);
	for (unsigned int f = 0; f < METRICS_FAMILIES && !end.failed && end.len; f++)
		if (metrics_about(f)->type == METRICS_GAUGE)
			forget_rule_of(&m->of[f], end.buf, end.len);
	pthread_mutex_unlock(&m->lock);
	text_free(&end);
}

static struct series *begin_with(struct metrics *m, enum metrics_family family,
				 const struct metrics_labels *labels)
{
	struct text text = {0};
	struct series *s = series_of(m, family, labels, &text);

	text_free(&text);
	return s;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	for (unsigned int f = 0; f < METRICS_FAMILIES; f++) {
		for (size_t i = 0; i < m->of[f].nr; i++)
			free_series(m->of[f].v[i]);
		free(m->of[f].v);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

struct metrics *metrics_new(void)
{
	const struct metrics_labels version = {.version = HVTRACE_VERSION};
	struct metrics *m = calloc(1, sizeof(*m));
	struct series *left_out, *build;

	if (!m)
		return NULL;
	pthread_mutex_init(&m->lock, NULL);
	/* That one has to be there before anything can be left out. */
	left_out = begin_with(m, METRICS_LEFT_OUT_SAMPLES, NULL);
	build = begin_with(m, METRICS_BUILD_INFO, &version);
	if (left_out && build) {
		build->value = 1;
		return m;
	}
	metrics_free(m);
	return NULL;
}
