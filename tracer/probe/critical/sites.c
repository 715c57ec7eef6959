// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sites.c - see sites.h
 *
 * An instruction that the guest has not executed yet may be replaced at any time, but a site of two
 * may have a CPU or an interrupted task between them. The call has prefixes without a meaning, so
 * that it is one instruction of the same size; behind the first byte it is the same call, which
 * finds nothing to be changed by then.
 *
 * Where there is no room for a call its instruction moves, with others beside it (moves.h): then
 * the site is all that a jump into the window has taken the place of.
 */
#include "tracer/probe/critical/sites.h"
#include "tracer/guest/modules.h"
#include "tracer/payload/patch.h"
#include "tracer/probe/critical/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLAG_KINDS <= PAYLOAD_FORMS, "the window's header has room for them");

int flag_sites_init(struct trace *t)
{
	t->flag_sites = calloc(1, sizeof(*t->flag_sites));
	if (!t->flag_sites)
		return -ENOMEM;
	t->flag_sites->table = flag_table_new();
	t->flag_sites->moves = flag_moves_new();
	return t->flag_sites->table && t->flag_sites->moves ? 0 : -ENOMEM;
}

void flag_sites_free(struct trace *t)
{
	if (t->flag_sites) {
		flag_table_free(t->flag_sites->table);
		flag_moves_free(t->flag_sites->moves);
	}
	free(t->flag_sites);
}

uint64_t flag_sites_home(const struct trace *t, uint64_t ip)
{
	return flag_moves_home(t->flag_sites->moves, ip);
}

void flag_sites_describe(const struct trace *t, const struct payload_text *text,
			 struct payload_form form[PAYLOAD_FORMS])
{
	memset(form, 0, PAYLOAD_FORMS * sizeof(*form));
	for (unsigned int k = 0; k < FLAG_KINDS; k++) {
		form[k] = flag_kind_form(t, &flag_kinds[k]);
		if (form[k].size >= SITE_SIZE)
			form[k].entry = flag_kind_entry(&flag_kinds[k], text);
	}
}

/* --- sites ----------------------------------------------------------------------------------- */

/* What the sites of its kind hold in this kernel. */
static const struct payload_form *site_form(const struct trace *t, const struct flag_site *s)
{
	return &t->flag_sites->form[s->kind];
}

static uint8_t site_size(const struct trace *t, const struct flag_site *s)
{
	const struct move *m = move_of(t, s);

	return m ? m->size : site_form(t, s)->size;
}

/* The kind of the site that this address (run-time) is in, which may be behind its first byte. */
static const struct flag_kind *kind_around(const struct trace *t, uint64_t addr)
{
	struct flag_site s;

	for (unsigned int i = 0; i < FLAG_SITE_MAX; i++)
		if (flag_table_at(t->flag_sites->table, addr - i - t->guest.slide, &s))
			return i < site_size(t, &s) ? &flag_kinds[s.kind] : NULL;
	return NULL;
}

uint8_t flag_sites_form(const struct trace *t, uint64_t va, uint8_t bytes[FLAG_SITE_MAX])
{
	struct flag_site s;
	const struct move *m;

	if (!flag_table_at(t->flag_sites->table, va, &s))
		return 0;
	m = move_of(t, &s);
	if (m)
		memcpy(bytes, m->bytes, m->size);
	else
		payload_form_make(site_form(t, &s), va + t->guest.slide, bytes);
	return site_size(t, &s);
}

bool flag_sites_moves(const struct trace *t, uint64_t va)
{
	struct flag_site s;

	return flag_table_at(t->flag_sites->table, va, &s) && move_of(t, &s);
}

int flag_sites_enter(struct trace *t, struct window *w, const struct payload_text *text)
{
	return flag_moves_enter(t, t->flag_sites->moves, w, text);
}

uint64_t flag_sites_code(const struct trace *t, uint64_t va)
{
	struct flag_site s;

	if (!flag_table_at(t->flag_sites->table, va, &s) || !move_of(t, &s))
		return 0;
	return flag_moves_code(t->flag_sites->moves, s.move);
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
	*size = site_size(t, &s);
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
	if (addr)
		return addr + t->guest.slide;
	/* Then its compiler has made it part of what is called. */
	return shown && kind->target[0] ? t->flag_sites->form[kind - flag_kinds].target : ip;
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

/*
 * Before 5.12 a kernel without paravirtualised operations gives interrupts back by popf, everywhere
 * (local_irq_restore()), and nothing looks for these. Later ones have some.
 */
static bool restores_by_popf(const struct trace *t)
{
	const struct guestsym_irq_site *sites;
	size_t n = guestsym_irq_sites(t->gs, &sites), popf = 0, cli = 0;

	for (size_t i = 0; i < n; i++) {
		popf += sites[i].len == 1 && sites[i].kind == GUESTSYM_IRQ_RESTORE;
		cli += sites[i].len == 1 && sites[i].kind == GUESTSYM_IRQ_DISABLE;
	}
	return popf > cli / 4;
}

static void tell_left_out(struct trace *t, uint32_t critical)
{
	struct flag_sites *f = t->flag_sites;
	size_t left_out = 0, all = 0;

	for (unsigned int k = 0; k < FLAG_KINDS; k++) {
		if (!(flag_kinds[k].critical & critical))
			continue;
		left_out += f->left_out[k];
		all += f->form[k].size == 1 ? f->count[k] : 0;
	}
	if (left_out && !f->told)
		trace_note(t,
			   "%zu of %zu places where interrupts go off or on have no room for a "
			   "call, and are not seen: a window that ends there ends at the next one",
			   left_out, all);
	f->told = true;
}

int flag_sites_check(struct trace *t, uint32_t critical)
{
	bool boots = !t->cfg.running && !atomic_load(&t->booted) && !atomic_load(&t->patched);
	bool traps = !t->engine->calls;
	const char *why = traps ? flag_sites_no_traps(t, critical) : NULL;
	int ret = boots || why ? 0 : flag_sites_search(t, critical);

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
		trace_note(t, "the kernel boots, and what its sites hold is known once it has "
			      "patched itself");
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
	if (critical & CRITICAL_IRQS && restores_by_popf(t)) {
		trace_note(t, "this kernel switches interrupts on by popf, where no call fits "
			      "(it has no CONFIG_PARAVIRT_XXL, and is older than 5.12)");
		return -EOPNOTSUPP;
	}
	tell_left_out(t, critical);
	return 0;
}

int flag_sites_update(struct trace *t, uint32_t critical)
{
	int ret = critical ? flag_sites_search(t, critical) : 0;
	const struct flag_site *sites;
	size_t nr;

	sites = flag_table_all(t->flag_sites->table, &nr);
	for (size_t i = 0; !ret && i < nr; i++) {
		const struct flag_site *s = &sites[i];
		struct probe *p = &t->probes.v[s->probe];
		const struct move *m = move_of(t, s);
		bool on = flag_kinds[s->kind].critical & critical ||
			  (m && m->change < MOVED_MAX && critical & CRITICAL_PREEMPT);

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
	for (unsigned int k = 0; k < FLAG_KINDS; k++)
		if (want[k] && t->flag_sites->left_out[k])
			fprintf(out, "%s: %zu places are not seen, which have no room for a call\n",
				flag_kinds[k].name, t->flag_sites->left_out[k]);
}
