// SPDX-License-Identifier: GPL-2.0-or-later
/* plan.c - see plan.h */
#include "frontend/serve/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tracers that count what they find, and those of which a recording has all. */
static const char *const wakeup_events[] = {
	"sched:sched_switch",
	"sched:sched_wakeup",
	"sched:sched_wakeup_new",
};
static const char *const syscall_events[] = {"raw_syscalls:sys_enter", "raw_syscalls:sys_exit"};

#define ALWAYS_MAX_MS INT64_C(3600000)

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

int64_t plan_window_ms(const struct config_rule *r)
{
	return (int64_t)(r->when == CONFIG_ALWAYS ? r->segment_ns : r->window_ns) / 1000000;
}

int64_t plan_always_ms(const struct config_rule *r, unsigned int before)
{
	int64_t ms = plan_window_ms(r);

	while (before-- && ms < ALWAYS_MAX_MS)
		ms *= 2;
	return ms;
}

/* --- which steps --------------------------------------------------------------------------------
 */

static bool records(const struct config_rule *r)
{
	return r->tracer || r->events.nr || r->functions.nr || r->set.nr ||
	       r->metrics & (CONFIG_WAKEUP | CONFIG_SYSCALLS);
}

unsigned int plan_kinds(const struct config_rule *r, enum plan_kind kinds[PLAN_KINDS])
{
	const bool wanted[PLAN_KINDS] = {
		[PLAN_RECORD] = records(r),
		[PLAN_IRQS_OFF] = r->metrics & CONFIG_IRQS_OFF,
		[PLAN_PREEMPT_OFF] = r->metrics & CONFIG_PREEMPT_OFF,
		[PLAN_WAKEUPS] = r->metrics & CONFIG_WAKEUP,
		[PLAN_SYSCALLS] = r->metrics & CONFIG_SYSCALLS,
		[PLAN_SHIP] = records(r) && r->ship,
	};
	unsigned int nr = 0;

	for (enum plan_kind k = 0; k < PLAN_KINDS; k++)
		if (wanted[k])
			kinds[nr++] = k;
	return nr;
}

/* --- words --------------------------------------------------------------------------------------
 */

static void __attribute__((format(printf, 2, 3))) add(struct plan_words *w, const char *format, ...)
{
	va_list args;

	if (w->failed || w->nr == STEP_WORDS_MAX) {
		w->failed = true;
		return;
	}
	va_start(args, format);
	if (vasprintf(&w->word[w->nr], format, args) < 0) {
		w->word[w->nr] = NULL;
		w->failed = true;
	}
	va_end(args);
	w->nr += !w->failed;
}

static void add_option(struct plan_words *w, const char *option, const char *value)
{
	if (value)
		add(w, "--%s=%s", option, value);
}

static void add_each(struct plan_words *w, const char *option, const struct option_list *values)
{
	for (size_t i = 0; i < values->nr; i++)
		add_option(w, option, values->values[i]);
}

static bool has_word(const struct option_list *list, const char *word)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->values[i], word))
			return true;
	return false;
}

static void add_events(struct plan_words *w, const struct config_rule *r, const char *const *events,
		       size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!has_word(&r->events, events[i]))
			add_option(w, "event", events[i]);
}

/* Of all that trace. */
static void add_guest(struct plan_words *w, const struct plan *p)
{
	add(w, "--for=%" PRId64 "ms", p->window_ms);
	add_option(w, "connect", p->cfg->serve.connect);
	add_option(w, "summary", p->summary);
	if (p->rule->standstill_ns)
		add(w, "--max-standstill=%" PRIu64 "ms", p->rule->standstill_ns / 1000000);
}

static void add_record(struct plan_words *w, const struct plan *p)
{
	const struct config_rule *r = p->rule;

	add(w, "record");
	add_guest(w, p);
	add(w, "--no-mount");
	if (p->segments)
		add(w, "--segment=%" PRId64 "ms", plan_window_ms(r));
	add_option(w, "output", p->recording);
	add_option(w, "clock", r->clock ? r->clock : "host");
	add_option(w, "tracer", r->tracer);
	add_each(w, "event", &r->events);
	if (r->metrics & CONFIG_WAKEUP)
		add_events(w, r, wakeup_events, COUNT(wakeup_events));
	if (r->metrics & CONFIG_SYSCALLS)
		add_events(w, r, syscall_events, COUNT(syscall_events));
	add_each(w, "filter", &r->functions);
	add_each(w, "notrace", &r->notrace);
	add_each(w, "set", &r->set);
	if (r->buffer_bytes)
		add(w, "--buffer-kb=%" PRIu64, (r->buffer_bytes + 1023) / 1024);
	add(w, "--");
	add(w, "%s", p->guest);
}

static void add_recover(struct plan_words *w, const struct plan *p)
{
	add(w, "attach");
	add(w, "--recover");
	add_option(w, "connect", p->cfg->serve.connect);
	add(w, "--");
	add(w, "%s", p->guest);
}

static void add_latency(struct plan_words *w, const struct plan *p, const char *tracer)
{
	add(w, "latency");
	add_guest(w, p);
	add(w, "--json");
	add_option(w, "tracer", tracer);
	add(w, "--");
	add(w, "%s", p->guest);
}

static void add_job(struct plan_words *w, const struct plan *p, const char *job)
{
	add(w, "%s", job);
	add(w, "--json");
	add(w, "--limit=8192");
	add(w, "--");
	add(w, "%s", p->recording);
}

int plan_spool(const struct serve_config *cfg, char *path, size_t size)
{
	int len = cfg->ship.spool ? snprintf(path, size, "%s", cfg->ship.spool)
				  : snprintf(path, size, "%s/.spool", cfg->serve.state);

	return len < (int)size ? 0 : -ENAMETOOLONG;
}

static void add_ship(struct plan_words *w, const struct plan *p)
{
	const struct serve_config *c = p->cfg;
	char spool[PATH_MAX];

	add(w, "ship");
	add_each(w, "to", &c->ship.to);
	add_option(w, "database", c->ship.database);
	if (plan_spool(c, spool, sizeof(spool)))
		w->failed = true;
	add_option(w, "spool", spool);
	add_option(w, "user", c->ship.user);
	add_option(w, "password-file", c->ship.password_file);
	if (c->ship.spool_bytes)
		add(w, "--spool-max=%" PRIu64 "K", c->ship.spool_bytes >> 10);
	if (c->ship.batch_rows)
		add(w, "--batch-rows=%" PRIu64, c->ship.batch_rows);
	add_option(w, "guest", p->name);
	add_option(w, "summary", p->summary);
	add(w, "--");
	add(w, "%s", p->recording);
}

void plan_words(struct plan_words *w, enum plan_kind kind, const struct plan *p)
{
	*w = (struct plan_words){0};
	add(w, "hvtrace");
	switch (kind) {
	case PLAN_RECOVER:
		add_recover(w, p);
		break;
	case PLAN_RECORD:
		add_record(w, p);
		break;
	case PLAN_IRQS_OFF:
		add_latency(w, p, "irqsoff");
		break;
	case PLAN_PREEMPT_OFF:
		add_latency(w, p, "preemptoff");
		break;
	case PLAN_WAKEUPS:
		add_job(w, p, "wakeups");
		break;
	case PLAN_SYSCALLS:
		add_job(w, p, "syscalls");
		break;
	default:
		add_ship(w, p);
		break;
	}
}

void plan_words_free(struct plan_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->word[i]);
	*w = (struct plan_words){0};
}
