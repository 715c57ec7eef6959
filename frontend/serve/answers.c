// SPDX-License-Identifier: GPL-2.0-or-later
/* answers.c - see answers.h */
#include "frontend/serve/answers.h"

#include <inttypes.h>
#include <string.h>

static const char *doing(const struct serve_guest *g)
{
	static const char *const words[PLAN_KINDS] = {
		[PLAN_RECORD] = "traced",
		[PLAN_IRQS_OFF] = "irqs-off",
		[PLAN_PREEMPT_OFF] = "preempt-off",
	};
	const struct round *r = g->round;

	if (!r)
		return g->here ? "-" : "gone";
	return round_has_guest(r) ? words[r->kind[r->at]] : "-";
}

/* The rule that is due next, and in how many seconds; "-": none before it is asked for. */
static void put_due(const struct daemon *d, const struct serve_guest *g, struct text *to)
{
	int64_t now = daemon_now_ms(), left;
	size_t next = SIZE_MAX;

	for (size_t i = 0; i < d->conf->c->nr_rules; i++)
		if (g->due[i].wanted && g->due[i].next_ms < INT64_MAX &&
		    (next == SIZE_MAX || g->due[i].next_ms < g->due[next].next_ms))
			next = i;
	if (next == SIZE_MAX) {
		text_printf(to, "-");
		return;
	}
	left = g->due[next].next_ms > now ? (g->due[next].next_ms - now) / 1000 : 0;
	text_printf(to, "%s in %" PRId64 " s%s", d->conf->c->rules[next].name, left,
		    g->due[next].failed	    ? " (it has failed)"
		    : g->due[next].pause_ms ? " (it costs more than it may)"
					    : "");
}

static void put_status(const struct daemon *d, struct text *to)
{
	size_t here = 0, traced = 0;

	for (size_t i = 0; i < d->guests.nr; i++) {
		here += d->guests.guest[i]->here;
		traced += d->guests.guest[i]->round != NULL;
	}
	text_printf(to, "ok\n%zu guests, %zu of them traced now, %zu rules of %s\n", here, traced,
		    d->conf->c->nr_rules, d->config);
	if (d->guests.nr)
		text_printf(to, "%-24s %-11s %-24s %s\n", "GUEST", "NOW", "BY", "NEXT");
	for (size_t i = 0; i < d->guests.nr; i++) {
		const struct serve_guest *g = d->guests.guest[i];

		text_printf(to, "%-24s %-11s %-24s ", g->name, doing(g),
			    g->round ? round_rule(g->round)->name : "-");
		put_due(d, g, to);
		text_printf(to, "\n");
	}
}

static void trace(struct daemon *d, const char *words, struct text *to)
{
	const char *rule = strrchr(words, ' ');
	char name[256];
	struct serve_guest *g;
	size_t i = 0;

	snprintf(name, sizeof(name), "%.*s", rule ? (int)(rule - words) : 0, words);
	g = rule ? guests_find(&d->guests, name) : NULL;
	while (rule && i < d->conf->c->nr_rules && strcmp(d->conf->c->rules[i].name, rule + 1) != 0)
		i++;
	if (!g)
		text_printf(to, "no guest %s runs here (hvtrace serve --status lists them)\n",
			    name);
	else if (i == d->conf->c->nr_rules)
		text_printf(to, "%s has no rule %s\n", d->config, rule + 1);
	else if (rules_demand(d, g, i))
		text_printf(to, "rule %s is not for %s: its guests, labels or kernel say so\n",
			    rule + 1, name);
	else
		text_printf(to, "ok\n%s is traced by rule %s as soon as nobody else traces it\n",
			    name, rule + 1);
}

static void reread(struct daemon *d, struct text *to)
{
	int rc = reload(d);

	if (!rc)
		text_printf(to, "ok\n%s is read\n", d->config);
	else if (rc > 0)
		text_printf(to,
			    "%s is read, but not all of it can be done: the daemon's log tells "
			    "what goes on as before\n",
			    d->config);
	else
		text_printf(to,
			    "%s has mistakes, which the daemon's log tells: the "
			    "configuration before holds\n",
			    d->config);
}

void answers(void *arg, const char *line, struct text *to)
{
	struct daemon *d = arg;

	if (!strcmp(line, "status"))
		put_status(d, to);
	else if (!strncmp(line, "trace ", 6))
		trace(d, line + 6, to);
	else if (!strcmp(line, "reload"))
		reread(d, to);
	else
		text_printf(to, "it is asked status, trace GUEST RULE, or reload\n");
}
