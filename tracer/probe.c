// SPDX-License-Identifier: GPL-2.0-or-later
/* probe.c - the table of probes: which sites are patched, and patching them in batches. */
#include "tracer/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_SIZE = 5 };

static int globs_check(const struct trace_config *cfg, const char *const *globs, size_t nr,
		       const char *option, char *err, size_t errlen)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(cfg->gs, &sites);

	for (size_t g = 0; g < nr; g++) {
		bool found = false;

		for (size_t i = 0; i < n && !found; i++)
			found = glob_list_match(&globs[g], 1, sites[i].name);
		if (found)
			continue;
		snprintf(err, errlen,
			 "%s '%s' matches none of the %zu traceable functions "
			 "(hvtrace symbols --functions lists those that stay after boot)",
			 option, globs[g], n);
		return -ENOENT;
	}
	return 0;
}

static bool site_selected(const struct trace_config *cfg, const struct guestsym_site *site)
{
	if (site->flags & GUESTSYM_SITE_INVALID)
		return false;
	if (cfg->nr_filter && !glob_list_match(cfg->filter, cfg->nr_filter, site->name))
		return false;
	return !glob_list_match(cfg->notrace, cfg->nr_notrace, site->name);
}

static int sites_select(struct probe_set *set, const struct trace_config *cfg)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(cfg->gs, &sites);

	set->v = calloc(n ? n : 1, sizeof(*set->v));
	if (!set->v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct guestsym_site *s = &sites[i];
		struct probe *p = &set->v[set->nr];

		if (!site_selected(cfg, s))
			continue;
		p->va = s->addr;
		p->name = s->name;
		p->flags = PROBE_FL_RECORD | (s->flags & GUESTSYM_SITE_INIT ? PROBE_FL_INIT : 0);
		set->nr++;
	}
	set->selected = set->nr;
	return 0;
}

int probe_set_init(struct probe_set *set, const struct trace_config *cfg, bool functions, char *err,
		   size_t errlen)
{
	int ret;

	memset(set, 0, sizeof(*set));
	if (!functions)
		return 0;
	ret = globs_check(cfg, cfg->filter, cfg->nr_filter, "filter", err, errlen);
	if (!ret)
		ret = globs_check(cfg, cfg->notrace, cfg->nr_notrace, "notrace", err, errlen);
	if (ret)
		return ret;
	ret = sites_select(set, cfg);
	if (ret)
		snprintf(err, errlen, "no memory for the table of probes");
	else if (!set->nr) {
		snprintf(err, errlen, "filter and notrace together leave no function to trace");
		ret = -ENOENT;
	}
	return ret;
}

void probe_set_free(struct probe_set *set)
{
	free(set->v);
	memset(set, 0, sizeof(*set));
}

struct probe *probe_set_at(struct probe_set *set, uint64_t va)
{
	size_t lo = 0, hi = set->nr;
	struct probe *v;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (set->v[mid].va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < set->nr && set->v[lo].va == va)
		return &set->v[lo];
	v = realloc(set->v, (set->nr + 1) * sizeof(*v));
	if (!v)
		return NULL;
	set->v = v;
	memmove(&v[lo + 1], &v[lo], (set->nr - lo) * sizeof(*v));
	set->nr++;
	memset(&v[lo], 0, sizeof(v[lo]));
	v[lo].va = va;
	return &v[lo];
}

/*
 * The two forms a site has before and after the kernel's ftrace_init(): call __fentry__ and the
 * five-byte NOP (arch/x86/kernel/ftrace.c). Anything else is in somebody's use.
 */
static bool site_known(struct trace *t, const struct probe *p)
{
	static const uint8_t nop5[SITE_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	uint8_t now[SITE_SIZE];
	int32_t rel;

	if (machine_read(t->m, guest_image_pa(&t->guest, p->va), now, sizeof(now)))
		return false;
	if (!memcmp(now, nop5, sizeof(nop5)))
		return true;
	memcpy(&rel, now + 1, sizeof(rel));
	return now[0] == 0xe8 && p->va + SITE_SIZE + (uint64_t)(int64_t)rel == t->fentry;
}

static bool probe_matches(const struct probe *p, uint8_t with, uint8_t without)
{
	return (p->flags & with) == with && !(p->flags & without);
}

int probes_insert(struct trace *t, uint8_t with, uint8_t without)
{
	uint32_t *which = calloc(t->probes.nr + 1, sizeof(*which));
	uint64_t skipped = 0;
	size_t n = 0;
	int ret;

	if (!which)
		return -ENOMEM;
	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];

		if (!probe_matches(p, with, without | PROBE_FL_SET | PROBE_FL_GONE))
			continue;
		if (p->flags & PROBE_FL_ONCE || site_known(t, p))
			which[n++] = (uint32_t)i;
		else
			skipped++;
	}
	ret = t->engine->insert(t, which, n);
	for (size_t i = 0; !ret && i < n; i++)
		t->probes.v[which[i]].flags |= PROBE_FL_SET;
	if (!ret)
		t->probes.skipped = skipped;
	free(which);
	return ret;
}

int probes_remove(struct trace *t, uint8_t with, uint8_t without)
{
	uint32_t *which = calloc(t->probes.nr + 1, sizeof(*which));
	size_t n = 0;
	int ret;

	if (!which)
		return -ENOMEM;
	for (size_t i = 0; i < t->probes.nr; i++)
		if (probe_matches(&t->probes.v[i], with | PROBE_FL_SET, without))
			which[n++] = (uint32_t)i;
	ret = t->engine->remove(t, which, n);
	for (size_t i = 0; !ret && i < n; i++)
		t->probes.v[which[i]].flags &= (uint8_t)~PROBE_FL_SET;
	free(which);
	return ret;
}
