// SPDX-License-Identifier: GPL-2.0-or-later
/* guests.c - see guests.h */
#include "frontend/serve/guests.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* --- which rules are for it ---------------------------------------------------------------------
 */

static bool one_matches(const struct option_list *globs, const struct serve_guest *g)
{
	for (size_t i = 0; i < globs->nr; i++)
		if (!fnmatch(globs->values[i], g->name, 0) || !strcmp(globs->values[i], g->uuid))
			return true;
	return false;
}

static bool has_labels(const struct config_rule *r, const struct serve_guest *g)
{
	const struct machine_listing l = {.metadata = g->metadata};

	for (size_t i = 0; i < r->labels.nr; i++)
		if (!machine_has_label(&l, r->labels.labels[i].key, r->labels.labels[i].value))
			return false;
	return true;
}

/* A release that is not known yet is found out by the first round. */
static bool is_for(const struct config_rule *r, const struct serve_guest *g)
{
	return one_matches(&r->guests, g) && !one_matches(&r->except, g) && has_labels(r, g) &&
	       (!r->kernel || !*g->release || !fnmatch(r->kernel, g->release, 0));
}

static void begin_due(struct due *d, const struct config_rule *r, const struct serve_guest *g)
{
	bool asked = r->when == CONFIG_DEMAND ||
		     (r->when == CONFIG_THRESHOLD && !r->threshold.irqs_off_ns);

	*d = (struct due){.wanted = is_for(r, g), .next_ms = asked ? INT64_MAX : 0};
}

void guests_match(struct serve_guest *g, const struct serve_config *cfg)
{
	for (size_t i = 0; i < cfg->nr_rules; i++) {
		bool wanted = is_for(&cfg->rules[i], g);

		if (wanted && !g->due[i].wanted)
			begin_due(&g->due[i], &cfg->rules[i], g);
		g->due[i].wanted = wanted;
	}
}

void guests_apply_to(struct serve_guest *g, const struct serve_config *cfg)
{
	for (size_t i = 0; i < cfg->nr_rules; i++)
		begin_due(&g->due[i], &cfg->rules[i], g);
}

static void reapply(struct serve_guest *g, const struct serve_config *cfg, const int *before)
{
	struct due due[CONFIG_RULES];

	for (size_t i = 0; i < cfg->nr_rules; i++) {
		if (before[i] >= 0)
			due[i] = g->due[before[i]];
		else
			begin_due(&due[i], &cfg->rules[i], g);
	}
	memcpy(g->due, due, cfg->nr_rules * sizeof(*due));
}

void guests_apply(struct guests *all, const struct serve_config *cfg, const int *before)
{
	for (size_t i = 0; i < all->nr; i++)
		reapply(all->guest[i], cfg, before);
}

/* --- who is there -------------------------------------------------------------------------------
 */

static struct serve_guest *find_uuid(const struct guests *all, const char *uuid)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->guest[i]->uuid, uuid))
			return all->guest[i];
	return NULL;
}

struct serve_guest *guests_find(const struct guests *all, const char *which)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->guest[i]->here &&
		    (!strcmp(all->guest[i]->name, which) || !strcmp(all->guest[i]->uuid, which)))
			return all->guest[i];
	return NULL;
}

static void free_guest(struct serve_guest *g)
{
	if (g) {
		free(g->metadata);
		free(g->due);
	}
	free(g);
}

/* NULL: no memory, or there are too many. */
static struct serve_guest *add(struct guests *all)
{
	struct serve_guest **more =
		all->nr < GUESTS_MAX ? reallocarray(all->guest, all->nr + 1, sizeof(*more)) : NULL;
	struct serve_guest *g;

	if (!more)
		return NULL;
	all->guest = more;
	g = calloc(1, sizeof(*g));
	if (g)
		g->due = calloc(CONFIG_RULES, sizeof(*g->due));
	if (g && g->due) {
		g->steal = -1;
		all->guest[all->nr++] = g;
		return g;
	}
	free_guest(g);
	return NULL;
}

static void take_listing(struct serve_guest *g, struct machine_listing *l)
{
	memcpy(g->name, l->name, sizeof(g->name));
	memcpy(g->uuid, l->uuid, sizeof(g->uuid));
	memcpy(g->accel, l->accel, sizeof(g->accel));
	g->id = l->id;
	g->vcpus = l->vcpus;
	free(g->metadata);
	g->metadata = l->metadata;
	l->metadata = NULL;
}

/* One that was started again meanwhile has another id: it has gone, and come. */
static void see(struct guests *all, struct machine_listing *l, const struct guests_ops *ops)
{
	struct serve_guest *g = find_uuid(all, l->uuid);
	bool known = g && g->here, restarted = known && g->id != l->id;

	if (strcmp(l->state, "running") != 0 && !(known && !restarted))
		return;
	if (restarted)
		ops->went(ops->arg, g);
	if (!g)
		g = add(all);
	if (!g)
		return;
	g->seen = true;
	take_listing(g, l);
	if (known && !restarted)
		return;
	g->here = true;
	g->harmed = false;
	g->load_ms = 0;
	g->steal = -1;
	*g->release = '\0';
	ops->came(ops->arg, g);
}

static void take_load(struct serve_guest *g, const struct machine_load *l, int64_t now_ms,
		      const struct guests_ops *ops)
{
	int64_t passed = now_ms - g->load_ms;

	g->steal = -1;
	for (unsigned int i = 0; g->load_ms && i < l->vcpus && i < g->load.vcpus; i++) {
		uint64_t before = g->load.vcpu[i].waited_ns, now = l->vcpu[i].waited_ns;
		double part;

		if (!l->vcpu[i].counted || now < before || passed <= 0)
			continue;
		part = (double)(now - before) / ((double)passed * 1e6);
		g->steal = part > g->steal ? part : g->steal;
		ops->waited(ops->arg, g, i, now - before);
	}
	g->load = *l;
	g->load_ms = now_ms;
}

void guests_update(struct guests *all, const struct looker_sight *sight,
		   const struct guests_ops *ops)
{
	struct serve_guest *g;

	for (size_t i = 0; i < all->nr; i++)
		all->guest[i]->seen = false;
	for (int i = 0; i < sight->guests; i++)
		see(all, &sight->guest[i], ops);
	for (size_t i = 0; i < all->nr; i++) {
		g = all->guest[i];
		if (!g->here || g->seen)
			continue;
		g->here = false;
		g->gone_ms = sight->at_ms;
		ops->went(ops->arg, g);
	}
	for (int i = 0; i < sight->loads; i++) {
		g = find_uuid(all, sight->load[i].uuid);
		if (g && g->here)
			take_load(g, &sight->load[i], sight->at_ms, ops);
	}
}

/* Another one may be called so by now. */
static bool is_last_of_name(const struct guests *all, const struct serve_guest *g)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->guest[i] != g && !strcmp(all->guest[i]->name, g->name))
			return false;
	return true;
}

void guests_drop(struct guests *all, int64_t before_ms,
		 void (*dropped)(void *arg, const struct serve_guest *g), void *arg)
{
	for (size_t i = 0; i < all->nr;) {
		struct serve_guest *g = all->guest[i];

		if (g->here || g->round || g->gone_ms >= before_ms) {
			i++;
			continue;
		}
		if (dropped && is_last_of_name(all, g))
			dropped(arg, g);
		free_guest(g);
		all->nr--;
		memmove(&all->guest[i], &all->guest[i + 1],
			(all->nr - i) * sizeof(struct serve_guest *));
	}
}

void guests_free(struct guests *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free_guest(all->guest[i]);
	free(all->guest);
	*all = (struct guests){0};
}
