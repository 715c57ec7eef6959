// SPDX-License-Identifier: GPL-2.0-or-later
/* search.c - finds the sites of sites.h. */
#include "tracer/guest/modules.h"
#include "tracer/guest/site.h"
#include "tracer/probe/critical/internal.h"

#include <errno.h>
#include <stdlib.h>

static int sites_add(struct trace *t, unsigned int kind, const struct flag_list *l, uint16_t flags)
{
	struct flag_site *v = calloc(l->nr + 1, sizeof(*v));
	int ret = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->nr && !ret; i++) {
		struct probe *p = probe_add(&t->probes, l->v[i]);

		if (p)
			p->flags = PROBE_FL_FLAG | flags;
		else
			ret = -ENOMEM;
		v[i].va = l->v[i];
		v[i].probe = p ? (uint32_t)(p - t->probes.v) : 0;
		v[i].kind = (uint8_t)kind;
		v[i].move = FLAG_STAYS;
	}
	if (!ret)
		ret = flag_table_add(t->flag_sites->table, v, l->nr);
	free(v);
	return ret;
}

/* Those that have no room for a call; which of them can move is seen once all are known. */
struct narrow {
	struct move *m;
	uint8_t *kind;
	size_t nr;
};

static int narrow_add(struct trace *t, struct narrow *n, unsigned int kind,
		      const struct flag_list *l)
{
	size_t room = n->nr + l->nr;
	struct move *m = reallocarray(n->m, room ? room : 1, sizeof(*m));
	uint8_t *kinds;

	if (m)
		n->m = m;
	kinds = m ? realloc(n->kind, room ? room : 1) : NULL;
	if (!kinds)
		return -ENOMEM;
	n->kind = kinds;
	for (size_t i = 0; i < l->nr; i++) {
		n->kind[n->nr] = (uint8_t)kind;
		n->m[n->nr++] = (struct move){.va = l->v[i] + t->guest.slide,
					      .how = (uint8_t)flag_kinds[kind].how};
	}
	return 0;
}

/* What has moved with another one is called from there. */
static void leave_moved(const struct trace *t, const struct flag_sites *f, struct flag_list *l)
{
	const struct move *m;
	size_t nr = flag_moves_all(f->moves, &m), n = 0;

	for (size_t i = 0; i < l->nr; i++) {
		uint64_t va = l->v[i] + t->guest.slide;
		bool moved = false;

		for (size_t k = 0; k < nr && !moved; k++)
			moved = va - m[k].va < m[k].size;
		if (!moved)
			l->v[n++] = l->v[i];
	}
	l->nr = n;
}

static int search_kind(struct trace *t, struct flag_sites *f, unsigned int kind, struct narrow *n)
{
	const struct flag_kind *k = &flag_kinds[kind];
	struct flag_list l = {0};
	int ret;

	f->form[kind] = flag_kind_form(t, k);
	ret = k->find(t, k, &f->form[kind], &l);
	if (!ret && !l.nr && k->byte && t->engine->calls) {
		f->form[kind] = flag_kind_byte(k);
		ret = k->find(t, k, &f->form[kind], &l);
	}
	if (!ret && k->change)
		leave_moved(t, f, &l);
	if (!ret && t->engine->calls && f->form[kind].size < SITE_SIZE)
		ret = narrow_add(t, n, kind, &l);
	else if (!ret)
		ret = sites_add(t, kind, &l, 0);
	f->searched[kind] = !ret;
	f->count[kind] = l.nr;
	free(l.v);
	return ret;
}

/* Of those that move a probe is where the jump comes to be. */
static int moves_add(struct trace *t, struct flag_sites *f, const uint8_t *kind)
{
	const struct move *m;
	size_t n = flag_moves_all(f->moves, &m);
	struct flag_site *v = calloc(n + 1, sizeof(*v));
	int ret = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++) {
		uint64_t va = m[i].va - t->guest.slide;
		struct probe *p = probe_add(&t->probes, va);

		if (p)
			p->flags = PROBE_FL_FLAG;
		else
			ret = -ENOMEM;
		v[i] = (struct flag_site){.va = va,
					  .probe = p ? (uint32_t)(p - t->probes.v) : 0,
					  .kind = kind[i],
					  .move = (uint16_t)i};
	}
	if (!ret)
		ret = flag_table_add(f->table, v, n);
	free(v);
	return ret;
}

static bool changes_searched(const struct flag_sites *f)
{
	for (unsigned int k = 0; k < FLAG_KINDS; k++)
		if (flag_kinds[k].change && f->searched[k])
			return true;
	return false;
}

static int search_moves(struct trace *t, struct flag_sites *f, struct narrow *n)
{
	size_t nr = 0;
	int ret = flag_moves_plan(t, f->moves, !changes_searched(f), n->m, n->kind, n->nr);

	for (size_t i = 0; i < n->nr && !ret; i++) {
		if (n->m[i].size)
			n->kind[nr++] = n->kind[i];
		else if (n->m[i].how != MOVE_SHARED)
			f->left_out[n->kind[i]]++;
	}
	return ret ? ret : moves_add(t, f, n->kind);
}

static bool in_one_piece(struct trace *t, const struct flag_list *l, uint8_t size)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!text_in_one_piece(&t->guest, l->v[i] + t->guest.slide, size))
			return false;
	return true;
}

/*
 * A site across two pages of a module cannot be patched: then none of that module is, so that no
 * window begins there whose end is not seen.
 */
static int search_module(void *arg, const struct guestsym_module *mod)
{
	struct trace *t = arg;
	struct flag_sites *f = t->flag_sites;
	struct flag_list found[FLAG_KINDS] = {0};
	bool whole = true;
	int ret = 0;

	for (unsigned int k = 0; k < FLAG_KINDS && !ret; k++) {
		if (!flag_kinds[k].modules || !f->searched[k] || f->form[k].size < SITE_SIZE ||
		    (flag_kinds[k].target[0] && !f->form[k].target) ||
		    flag_table_has(f->table, (uint8_t)k, mod->text.start - t->guest.slide,
				   mod->text.end - t->guest.slide))
			continue;
		ret = flag_find_module(t, mod, &f->form[k], &found[k]);
		whole = whole && in_one_piece(t, &found[k], f->form[k].size);
	}
	for (unsigned int k = 0; k < FLAG_KINDS; k++) {
		if (!ret && whole)
			ret = sites_add(t, k, &found[k], PROBE_FL_MODULE);
		free(found[k].v);
	}
	return ret;
}

static bool probe_is_gone(void *arg, const struct flag_site *s)
{
	const struct trace *t = arg;

	return t->probes.v[s->probe].flags & PROBE_FL_GONE;
}

void flag_sites_forget_gone(struct trace *t)
{
	flag_table_forget(t->flag_sites->table, probe_is_gone, t);
}

/* Another module may lie by now where one has gone. */
static int search_modules(struct trace *t)
{
	int ret;

	flag_sites_forget_gone(t);
	ret = modules_each(t->modules, search_module, t);
	if (!ret)
		t->flag_sites->modules = modules_readings(t->modules);
	return ret;
}

static int search_kinds(struct trace *t, struct flag_sites *f, uint32_t critical, bool late,
			struct narrow *n, bool *new)
{
	int ret = 0;

	for (unsigned int k = 0; k < FLAG_KINDS && !ret; k++)
		if (flag_kinds[k].critical & critical && !f->searched[k] &&
		    (flag_kinds[k].change || flag_kinds[k].late) == late &&
		    flag_kind_applies(t, &flag_kinds[k])) {
			ret = search_kind(t, f, k, n);
			*new = true;
		}
	return ret;
}

/* Without one of the lists there would be windows that never end. */
static int have_found(struct trace *t, const struct flag_sites *f, uint32_t critical)
{
	bool all = true;
	char why[512];
	int ret;

	for (unsigned int k = 0; k < FLAG_KINDS; k++)
		all = all && (f->searched[k] || !(flag_kinds[k].critical & critical));
	ret = all ? 0 : guestsym_find_sites(t->gs, why, sizeof(why));
	if (ret)
		trace_note(t, "%s", why);
	return ret;
}

/* Sites of these kinds of windows are known; once, for the kernel's text does not change there. */
int flag_sites_search(struct trace *t, uint32_t critical)
{
	struct flag_sites *f = t->flag_sites;
	bool new = f->modules != modules_readings(t->modules);
	struct narrow narrow = {0};
	int ret = have_found(t, f, critical);

	if (!ret)
		ret = search_kinds(t, f, critical, false, &narrow, &new);
	if (!ret && narrow.nr)
		ret = search_moves(t, f, &narrow);
	/* None of these is among the sites then. */
	for (size_t i = 0; ret && i < narrow.nr; i++) {
		f->searched[narrow.kind[i]] = false;
		f->left_out[narrow.kind[i]] = 0;
	}
	/* Some of these move with others. */
	if (!ret)
		ret = search_kinds(t, f, critical, true, &narrow, &new);
	free(narrow.m);
	free(narrow.kind);
	return !ret && new ? search_modules(t) : ret;
}
