/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report-feed.h - call trees out of calls that are made up one by one, and a few such trees. */
#ifndef HVTRACE_TESTS_UNIT_REPORT_FEED_H
#define HVTRACE_TESTS_UNIT_REPORT_FEED_H

#include "tests/unit/report.h"

struct feed {
	struct calltree *t;
	struct calls *c;
	struct call_event at; /* cpu, pid, comm of what follows */
};

static inline struct feed feed_begin(uint64_t since)
{
	struct feed f = {.t = calltree_new()};

	assert_non_null(f.t);
	f.c = calls_new(f.t, since);
	assert_non_null(f.c);
	f.at = (struct call_event){.pid = 7, .comm = "cat"};
	return f;
}

static inline void event(struct feed *f, bool returns, int depth, const char *name, uint64_t ts,
			 uint64_t ns)
{
	struct call_event ev = f->at;

	ev.returns = returns;
	ev.depth = depth;
	ev.name = name ? calltree_name(f->t, name, strlen(name)) : CALLTREE_NONE;
	ev.ts = ts;
	ev.ns = ns;
	calls_event(f->c, &ev);
}

static inline void in(struct feed *f, int depth, const char *name, uint64_t ts)
{
	event(f, false, depth, name, ts, 0);
}

static inline void out(struct feed *f, int depth, const char *name, uint64_t ts, uint64_t ns)
{
	event(f, true, depth, name, ts, ns);
}

static inline struct calltree *feed_end(struct feed *f)
{
	calls_end(f->c);
	assert_sums(f->t, CALLTREE_ROOT);
	return f->t;
}

static inline const struct call_stats *stats(const struct calltree *t, const char *path)
{
	uint32_t node = CALLTREE_ROOT;
	char copy[256], *save, *word;

	strcpy(copy, path);
	for (word = strtok_r(copy, ";", &save); word; word = strtok_r(NULL, ";", &save)) {
		uint32_t c = t->node[node].child;

		while (c != CALLTREE_NONE && strcmp(calltree_name_of(t, c), word))
			c = t->node[c].next;
		assert_int_not_equal(c, CALLTREE_NONE);
		node = c;
	}
	return &t->node[node].st;
}

static inline struct calltree *two_calls(void)
{
	struct feed f = feed_begin(0);

	in(&f, 0, "a", 100);
	in(&f, 1, "b", 110);
	out(&f, 1, "b", 130, 20);
	in(&f, 1, "b", 140);
	in(&f, 2, "c", 145);
	out(&f, 2, "c", 150, 5);
	out(&f, 1, "b", 170, 30);
	out(&f, 0, "a", 200, 100);
	return feed_end(&f);
}

/* a calls b, which calls itself */
static inline struct calltree *recursive(void)
{
	struct feed f = feed_begin(0);

	in(&f, 0, "a", 100);
	in(&f, 1, "b", 110);
	in(&f, 2, "b", 120);
	out(&f, 2, "b", 140, 20);
	out(&f, 1, "b", 160, 50);
	out(&f, 0, "a", 200, 100);
	f.at.pid = 8;
	f.at.comm = "ls";
	in(&f, 0, "b", 300);
	out(&f, 0, "b", 310, 10);
	return feed_end(&f);
}

#endif
