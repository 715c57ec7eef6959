// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sites.c - see sites.h
 *
 * An instruction that the guest has not executed yet may be replaced at any time, but a site of two
 * may have a CPU or an interrupted task between them. The call has prefixes without a meaning, so
 * that it is one instruction of the same size; behind the first byte it is the same call, which
 * finds nothing to be changed by then.
 */
#include "tracer/probe/critical/sites.h"
#include "tracer/guest/modules.h"
#include "tracer/payload/patch.h"
#include "tracer/probe/critical/kinds.h"
#include "tracer/probe/critical/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLAG_KINDS <= PAYLOAD_FORMS, "the window's header has room for them");

struct flag_sites {
	struct payload_form form[FLAG_KINDS];
	bool searched[FLAG_KINDS];
	size_t count[FLAG_KINDS]; /* in the kernel itself */
	struct flag_table *table;
	uint64_t modules; /* the reading of the guest's that has been searched */
};

int flag_sites_init(struct trace *t)
{
	t->flag_sites = calloc(1, sizeof(*t->flag_sites));
	if (!t->flag_sites)
		return -ENOMEM;
	t->flag_sites->table = flag_table_new();
	return t->flag_sites->table ? 0 : -ENOMEM;
}

void flag_sites_free(struct trace *t)
{
	if (t->flag_sites)
		flag_table_free(t->flag_sites->table);
	free(t->flag_sites);
}

void flag_sites_describe(const struct trace *t, const struct payload_text *text,
			 struct payload_form form[PAYLOAD_FORMS])
{
	memset(form, 0, PAYLOAD_FORMS * sizeof(*form));
	for (unsigned int k = 0; k < FLAG_KINDS; k++) {
		form[k] = flag_kind_form(t, &flag_kinds[k]);
		form[k].entry = flag_kind_entry(&flag_kinds[k], text);
	}
}

/* --- sites ----------------------------------------------------------------------------------- */

/* What the sites of its kind hold in this kernel. */
static const struct payload_form *site_form(const struct trace *t, const struct flag_site *s)
{
	return &t->flag_sites->form[s->kind];
}

/* The kind of the site that this address (run-time) is in, which may be behind its first byte. */
static const struct flag_kind *kind_around(const struct trace *t, uint64_t addr)
{
	struct flag_site s;

	for (unsigned int i = 0; i < PAYLOAD_FORM_MAX; i++)
		if (flag_table_at(t->flag_sites->table, addr - i - t->guest.slide, &s))
			return i < site_form(t, &s)->size ? &flag_kinds[s.kind] : NULL;
	return NULL;
}

uint8_t flag_sites_form(const struct trace *t, uint64_t va, uint8_t bytes[PAYLOAD_FORM_MAX])
{
	struct flag_site s;

	if (!flag_table_at(t->flag_sites->table, va, &s))
		return 0;
	payload_form_make(site_form(t, &s), va + t->guest.slide, bytes);
	return site_form(t, &s)->size;
}

uint32_t flag_sites_entry(const struct trace *t, uint64_t va, const struct payload_text *text)
{
	struct flag_site s = {0};

	flag_table_at(t->flag_sites->table, va, &s);
	return flag_kind_entry(&flag_kinds[s.kind], text);
}

enum flag_insn flag_sites_insn(const struct trace *t, uint64_t va, uint8_t *size, uint64_t *target)
{
	struct flag_site s;

	*size = 0;
	*target = 0;
	if (!flag_table_at(t->flag_sites->table, va, &s))
		return FLAG_INSN_OTHER;
	*size = site_form(t, &s)->size;
	*target = site_form(t, &s)->target;
	return flag_kinds[s.kind].insn;
}

uint64_t flag_sites_shown(const struct trace *t, const struct payload_record *r)
{
	uint64_t ip = KERNEL_HALF | r->ip, addr;
	const struct flag_kind *kind = kind_around(t, ip);
	const char *shown = kind ? kind->shown : NULL;

	if (kind && kind->shown_user && r->parent)
		shown = kind->shown_user;
	addr = shown ? guestsym_addr(t->gs, shown) : 0;
	return addr ? addr + t->guest.slide : ip;
}

/*
 * preempt_count_add() and _sub() look for somebody outside of the functions of locks: a kernel
 * without frame pointers does not find whoever has called one of these, and takes other functions
 * twice.
 */
uint64_t flag_sites_parent(const struct trace *t, const struct payload_record *r)
{
	uint64_t ip = KERNEL_HALF | r->ip, at = ip - t->guest.slide;
	const struct flag_kind *kind = kind_around(t, ip);

	if (!kind || (!kind->change && kind->counts != COUNT_BY_CALLS))
		return 0;
	if (at >= guestsym_addr(t->gs, "__lock_text_start") &&
	    at < guestsym_addr(t->gs, "__lock_text_end"))
		return 0;
	return ip;
}

/* --- finding them ---------------------------------------------------------------------------- */

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
	}
	if (!ret)
		ret = flag_table_add(t->flag_sites->table, v, l->nr);
	free(v);
	return ret;
}

static int search_kind(struct trace *t, struct flag_sites *f, unsigned int kind)
{
	struct flag_list l = {0};
	int ret;

	f->form[kind] = flag_kind_form(t, &flag_kinds[kind]);
	ret = flag_kinds[kind].find(t, &flag_kinds[kind], &f->form[kind], &l);
	if (!ret)
		ret = sites_add(t, kind, &l, 0);
	f->searched[kind] = !ret;
	f->count[kind] = l.nr;
	free(l.v);
	return ret;
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
		if (!flag_kinds[k].modules || !f->searched[k] ||
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

/* Sites of these kinds of windows are known; once, for the kernel's text does not change there. */
static int search(struct trace *t, uint32_t critical)
{
	struct flag_sites *f = t->flag_sites;
	bool new = f->modules != modules_readings(t->modules);
	int ret = 0;

	for (unsigned int k = 0; k < FLAG_KINDS && !ret; k++)
		if (flag_kinds[k].critical & critical && !f->searched[k] &&
		    flag_kind_applies(t, &flag_kinds[k])) {
			ret = search_kind(t, f, k);
			new = true;
		}
	return !ret && new ? search_modules(t) : ret;
}

/* --- what tracers ask for -------------------------------------------------------------------- */

/*
 * Functions of every kernel that begin with preempt_disable(): which is nothing without
 * CONFIG_PREEMPT_COUNT. The first are not there in a kernel for one CPU only, the last were one.
 */
static bool disables_preemption(const struct trace *t, uint64_t addr)
{
	static const char *const names[] = {"_raw_spin_lock", "_raw_read_lock", "_raw_write_lock",
					    "kernel_fpu_begin_mask", "kernel_fpu_begin"};
	const struct guestsym_symbol *in = guestsym_find(t->gs, addr, NULL, NULL);

	for (size_t i = 0; in && i < sizeof(names) / sizeof(names[0]); i++)
		if (in->addr == guestsym_addr(t->gs, names[i]))
			return true;
	return false;
}

/*
 * Without it the count is that of interrupts, and of the few that count themselves: whoever stops
 * CPUs (cpu_stopper_thread()) does in every kernel.
 */
static bool has_preempt_disable(const struct trace *t)
{
	const struct guestsym_preempt_site *sites;
	size_t n = guestsym_preempt_sites(t->gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (sites[i].value == 1 && disables_preemption(t, sites[i].addr))
			return true;
	return false;
}

bool flag_sites_known(const struct trace *t, uint32_t critical)
{
	return !(critical & CRITICAL_PREEMPT) || guestsym_addr(t->gs, "preempt_count_add") ||
	       has_preempt_disable(t);
}

const char *flag_sites_no_traps(const struct trace *t, uint32_t critical)
{
	struct machine_info info;

	if (critical & CRITICAL_PREEMPT)
		return "when tasks cannot be preempted is measured by trampolines only: the count "
		       "changes at too many places for traps";
	machine_get_info(t->m, &info);
	if (info.accel)
		return "when interrupts are off is measured by trampolines only in a guest of "
		       "QEMU: it does not get on with that many breakpoints";
	return NULL;
}

int flag_sites_check(struct trace *t, uint32_t critical)
{
	bool boots = !t->cfg.running && !atomic_load(&t->booted);
	bool traps = !t->engine->calls;
	const char *why = traps ? flag_sites_no_traps(t, critical) : NULL;
	int ret = boots || why ? 0 : search(t, critical);

	if (ret)
		return ret;
	if (!flag_sites_known(t, critical)) {
		trace_note(t, "this kernel has no preempt count (CONFIG_PREEMPT_COUNT), so it does "
			      "not tell when tasks cannot be preempted");
		return -EOPNOTSUPP;
	}
	if (why) {
		trace_note(t, "%s", why);
		return -EOPNOTSUPP;
	}
	if (boots) {
		trace_note(t, "the kernel boots, and what its sites hold is known once that is "
			      "over");
		return -EAGAIN;
	}
	for (unsigned int k = 0; k < FLAG_KINDS; k++) {
		if (!(flag_kinds[k].critical & critical) || t->flag_sites->count[k] ||
		    flag_kind_is_optional(t, &flag_kinds[k]) ||
		    !flag_kind_applies(t, &flag_kinds[k]))
			continue;
		trace_note(t, "this kernel has no place where a call fits for: %s",
			   flag_kinds[k].name);
		return -EOPNOTSUPP;
	}
	return 0;
}

int flag_sites_update(struct trace *t, uint32_t critical)
{
	int ret = critical ? search(t, critical) : 0;
	const struct flag_site *sites;
	size_t nr;

	sites = flag_table_all(t->flag_sites->table, &nr);
	for (size_t i = 0; !ret && i < nr; i++) {
		const struct flag_site *s = &sites[i];
		struct probe *p = &t->probes.v[s->probe];
		bool on = flag_kinds[s->kind].critical & critical;

		if (p->flags & PROBE_FL_GONE || on == !!(p->flags & PROBE_FL_RECORD))
			continue;
		p->flags ^= PROBE_FL_RECORD;
		if (p->flags & PROBE_FL_SET)
			p->flags |= PROBE_FL_CHANGE;
	}
	return ret;
}

void flag_sites_explain(const struct trace *t, FILE *out)
{
	size_t set[FLAG_KINDS] = {0}, want[FLAG_KINDS] = {0}, nr;
	const struct flag_site *sites = flag_table_all(t->flag_sites->table, &nr);

	for (size_t i = 0; i < nr; i++) {
		uint16_t flags = t->probes.v[sites[i].probe].flags;

		if (flags & PROBE_FL_GONE)
			continue;
		want[sites[i].kind] += !!(flags & PROBE_FL_RECORD);
		set[sites[i].kind] += !!(flags & PROBE_FL_SET);
	}
	for (unsigned int k = 0; k < FLAG_KINDS; k++)
		if (want[k])
			fprintf(out, "%s: %zu places, %zu of them hold something else\n",
				flag_kinds[k].name, want[k], want[k] - set[k]);
}
