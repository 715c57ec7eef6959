// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flag-sites.c - see flag-sites.h
 *
 * What switches interrupts off and on in a kernel with paravirtualised operations: some hundred
 * inlined cli and sti with room for a call. Interrupts and exceptions do so as well: when the
 * processor takes one, which is seen where irqentry_enter() is called, and when iret ends it, which
 * all but NMIs and the like come to by error_return. Where a system call ends, interrupts stay off
 * from its last cli until user mode, which syscall_exit_to_user_mode() returns to; where it begins
 * they have been off for the length of its entry code, which nobody counts. A CPU that waits for
 * interrupts has not got them off: that is from the call of ct_idle_enter() on.
 *
 * What changes the preempt count is found in the image, instruction by instruction: all over the
 * kernel's text, and what is added tells them apart. That of modules is left as it is: they call
 * the kernel to take a lock, but a preempt_disable() of their own is not seen.
 *
 * An instruction that the guest has not executed yet may be replaced at any time, but a site of two
 * may have a CPU or an interrupted task between them. The call has prefixes without a meaning, so
 * that it is one instruction of the same size; behind the first byte it is the same call, which
 * finds nothing to be changed by then.
 */
#include "tracer/flag-sites.h"
#include "tracer/flag-find.h"
#include "tracer/instance.h"
#include "tracer/payload/text.h"
#include "tracer/returns.h"
#include "tracer/trampoline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 2

/* How preempt_disable() and preempt_enable() change the count. */
enum count { COUNT_ANYHOW, COUNT_IN_PLACE, COUNT_BY_CALLS };

struct flag_kind {
	const char *name;
	uint32_t critical; /* CRITICAL_ that need it */
	size_t entry;	   /* member of struct payload_text */
	/* What the kernel's tracers say; NULL: the function that the site is in. */
	const char *shown, *shown_user;
	struct payload_form form;
	const char *target[NAMES_MAX]; /* where form leads: the first of these that there is */
	bool is_return;		       /* form is what the kernel has as its returns */
	int (*find)(struct trace *t, const struct flag_kind *kind, const struct payload_form *form,
		    struct flag_list *l);
	const char *in;		     /* for find_in() */
	enum guestsym_irq_kind irqs; /* for find_irqs() */
	int32_t change;		     /* for find_changes() */
	bool optional;		     /* a kernel may do without */
	enum count counts;	     /* only of kernels that do so */
	enum flag_insn insn;
};

/*
 * Where a system call begins: from user mode, where interrupts were on, so that no window is open
 * that could end there, and that happens more often than anything else.
 */
static bool begins_syscall(const struct trace *t, const struct guestsym_irq_site *site)
{
	static const char *const names[] = {
		"syscall_enter_from_user_mode", "syscall_enter_from_user_mode_prepare",
		"do_syscall_64", /* where the first is part of it */
	};
	const struct guestsym_symbol *in = guestsym_find(t->gs, site->addr, NULL, NULL);

	for (size_t i = 0; in && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(in->name, names[i]))
			return true;
	return false;
}

static int find_irqs(struct trace *t, const struct flag_kind *kind, const struct payload_form *form,
		     struct flag_list *l)
{
	const struct guestsym_irq_site *sites;
	size_t n = guestsym_irq_sites(t->gs, &sites);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (sites[i].kind == kind->irqs && sites[i].len == form->size &&
		    (kind->irqs != GUESTSYM_IRQ_ENABLE || !begins_syscall(t, &sites[i])))
			ret = flag_list_add(l, sites[i].addr);
	return ret;
}

static int find_changes(struct trace *t, const struct flag_kind *kind,
			const struct payload_form *form, struct flag_list *l)
{
	const struct guestsym_preempt_site *sites;
	size_t n = guestsym_preempt_sites(t->gs, &sites);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (sites[i].value == kind->change && sites[i].len == form->size)
			ret = flag_list_add(l, sites[i].addr);
	return ret;
}

static int find_in(struct trace *t, const struct flag_kind *kind, const struct payload_form *form,
		   struct flag_list *l)
{
	return flag_find_in(t, kind->in, form, l);
}

static int find_calls(struct trace *t, const struct flag_kind *kind,
		      const struct payload_form *form, struct flag_list *l)
{
	(void)kind;
	return form->target ? flag_find_all(t, form, l) : 0;
}

#define ENTRY(member) offsetof(struct payload_text, member)
#define CALL                                                                                       \
	{                                                                                          \
		.size = SITE_SIZE, .relative = 4, .bytes = { INSN_CALL }                           \
	}

/* incl and decl of %gs:disp(%rip), by the byte that tells them apart; addl of so much. */
#define BYTE(v, n) (uint8_t)((uint32_t)(v) >> 8 * (n))
#define LE32(v)	   BYTE(v, 0), BYTE(v, 1), BYTE(v, 2), BYTE(v, 3)
#define BY_ONE(modrm)                                                                              \
	{                                                                                          \
		.size = 7, .relative = 4, .bytes = { 0x65, 0xff, modrm }                           \
	}
#define ADDL(v)                                                                                    \
	{                                                                                          \
		.size = 11, .relative = 8, .bytes = { 0x65, 0x81, 0x05, 0, 0, 0, 0, LE32(v) }      \
	}

/* clang-format off */
#define CHANGE(title, member, by)                                                                  \
	{                                                                                          \
		.name = (title),                                                                   \
		.critical = CRITICAL_PREEMPT,                                                      \
		.entry = ENTRY(member),                                                            \
		.form = ADDL(by),                                                                  \
		.find = find_changes,                                                              \
		.change = (by),                                                                    \
		.optional = true,                                                                  \
	}
#define COUNT_CALLS(title, member, function)                                                       \
	{                                                                                          \
		.name = (title),                                                                   \
		.critical = CRITICAL_PREEMPT,                                                      \
		.entry = ENTRY(member),                                                            \
		.form = CALL,                                                                      \
		.target = {function},                                                              \
		.find = find_calls,                                                                \
		.counts = COUNT_BY_CALLS,                                                          \
	}
/* clang-format on */

static const struct flag_kind kinds[] = {
	{
		.name = "cli",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(cli),
		.form = {.size = 6, .bytes = {0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
		.find = find_irqs,
		.irqs = GUESTSYM_IRQ_DISABLE,
		.insn = FLAG_INSN_CLI,
	},
	{
		.name = "sti",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(sti),
		.form = {.size = 6, .bytes = {0xfb, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
		.find = find_irqs,
		.irqs = GUESTSYM_IRQ_ENABLE,
		.insn = FLAG_INSN_STI,
	},
	{
		.name = "interrupts' entry",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(irq_entry),
		.shown = "irqentry_enter",
		.form = CALL,
		.target = {"irqentry_enter"},
		.find = find_calls,
		.insn = FLAG_INSN_ENTER,
	},
	{
		.name = "interrupts' exit",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(irq_exit),
		.shown = "irqentry_exit",
		.shown_user = "irqentry_exit_to_user_mode",
		/* testb $3, CS(%rsp) */
		.form = {.size = 8, .bytes = {0xf6, 0x84, 0x24, 0x88, 0x00, 0x00, 0x00, 0x03}},
		.find = find_in,
		.in = "error_return",
		.insn = FLAG_INSN_LEAVE,
	},
	{
		.name = "system calls' exit",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(user_exit),
		.is_return = true,
		.find = find_in,
		.in = "syscall_exit_to_user_mode",
		.insn = FLAG_INSN_RETURN,
	},
	{
		.name = "idle",
		.critical = CRITICAL_IRQS | CRITICAL_PREEMPT,
		.entry = ENTRY(idle),
		.form = CALL,
		.target = {"ct_idle_enter", "rcu_idle_enter"},
		.find = find_calls,
		.insn = FLAG_INSN_IDLE,
	},
	{
		.name = "the end of idle",
		.critical = CRITICAL_PREEMPT,
		.entry = ENTRY(idle_exit),
		.form = CALL,
		.target = {"ct_idle_exit", "rcu_idle_exit"},
		.find = find_calls,
	},
	{
		.name = "preempt_disable()",
		.critical = CRITICAL_PREEMPT,
		.entry = ENTRY(preempt_inc),
		.form = BY_ONE(0x05),
		.find = find_changes,
		.change = 1,
		.counts = COUNT_IN_PLACE,
	},
	{
		.name = "preempt_enable()",
		.critical = CRITICAL_PREEMPT,
		.entry = ENTRY(preempt_dec),
		.form = BY_ONE(0x0d),
		.find = find_changes,
		.change = -1,
		.counts = COUNT_IN_PLACE,
	},
	COUNT_CALLS("preempt_count_add()", count_add, "preempt_count_add"),
	COUNT_CALLS("preempt_count_sub()", count_sub, "preempt_count_sub"),
	{
		.name = "__local_bh_disable_ip()",
		.critical = CRITICAL_PREEMPT,
		.entry = ENTRY(bh_disable_call),
		.form = CALL,
		.target = {"__local_bh_disable_ip"},
		.find = find_calls,
		.optional = true,
		.counts = COUNT_BY_CALLS,
	},
	CHANGE("local_bh_disable()", bh_disable, SOFTIRQ_DISABLE_OFFSET),
	CHANGE("spin_lock_bh()", bh_lock, SOFTIRQ_DISABLE_OFFSET + 1),
	CHANGE("_local_bh_enable()", bh_enable, -SOFTIRQ_DISABLE_OFFSET),
	CHANGE("softirqs' entry", softirq_enter, SOFTIRQ_OFFSET),
	CHANGE("softirqs' exit", softirq_exit, -SOFTIRQ_OFFSET),
	CHANGE("irq_enter()", hardirq_enter, HARDIRQ_OFFSET),
	CHANGE("irq_exit()", hardirq_exit, -HARDIRQ_OFFSET),
};

/*
 * With CONFIG_DEBUG_PREEMPT, or the kernel's own preemptoff, nearly all is done by calls. In place
 * is preempt_disable_notrace(), of preempt_schedule() for one.
 */
static bool counts_by_calls(const struct trace *t)
{
	return guestsym_addr(t->gs, "preempt_count_add");
}

static bool applies(const struct trace *t, const struct flag_kind *kind)
{
	return kind->counts != COUNT_BY_CALLS || counts_by_calls(t);
}

static bool is_optional(const struct trace *t, const struct flag_kind *kind)
{
	return kind->optional || (kind->counts == COUNT_IN_PLACE && counts_by_calls(t));
}

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

_Static_assert(NR_KINDS <= PAYLOAD_FORMS, "the window's header has room for them");

struct flag_site {
	uint64_t va; /* link address */
	uint32_t probe;
	uint8_t kind;
};

struct flag_sites {
	struct payload_form form[NR_KINDS];
	bool searched[NR_KINDS];
	size_t count[NR_KINDS];
	struct flag_site *v; /* by address */
	size_t nr;
};

/* --- forms ----------------------------------------------------------------------------------- */

static uint64_t target_of(const struct trace *t, const struct flag_kind *kind)
{
	for (unsigned int i = 0; i < NAMES_MAX && kind->target[i]; i++) {
		uint64_t addr = guestsym_addr(t->gs, kind->target[i]);

		if (addr)
			return addr + t->guest.slide;
	}
	return 0;
}

static struct payload_form form_of(const struct trace *t, const struct flag_kind *kind)
{
	struct payload_form form = kind->form;

	form.target = kind->change ? guest_percpu_disp(&t->guest, t->guest.at.preempt_count)
				   : target_of(t, kind);
	if (kind->is_return) {
		form.size = SITE_SIZE;
		form.target = returns_thunk(t);
		form.relative = form.target ? 4 : 0;
		site_return_make(form.bytes, 0, form.target);
	}
	return form;
}

static uint32_t entry_of(const struct flag_kind *kind, const struct payload_text *text)
{
	uint32_t entry;

	memcpy(&entry, (const uint8_t *)text + kind->entry, sizeof(entry));
	return entry;
}

void flag_sites_describe(const struct trace *t, const struct payload_text *text,
			 struct payload_form form[PAYLOAD_FORMS])
{
	memset(form, 0, PAYLOAD_FORMS * sizeof(*form));
	for (unsigned int k = 0; k < NR_KINDS; k++) {
		form[k] = form_of(t, &kinds[k]);
		form[k].entry = entry_of(&kinds[k], text);
	}
}

/* --- sites ----------------------------------------------------------------------------------- */

static int by_va(const void *a, const void *b)
{
	const struct flag_site *p = a, *q = b;

	return p->va < q->va ? -1 : p->va > q->va;
}

static const struct flag_site *site_at(const struct trace *t, uint64_t va)
{
	const struct flag_sites *f = t->flag_sites;
	const struct flag_site key = {.va = va};

	return f && f->nr ? bsearch(&key, f->v, f->nr, sizeof(*f->v), by_va) : NULL;
}

/* The site that this address (run-time) is in, which may be behind its first byte. */
static const struct flag_site *site_around(const struct trace *t, uint64_t addr)
{
	for (unsigned int i = 0; i < PAYLOAD_FORM_MAX; i++) {
		const struct flag_site *s = site_at(t, addr - i - t->guest.slide);

		if (s)
			return i < t->flag_sites->form[s->kind].size ? s : NULL;
	}
	return NULL;
}

uint8_t flag_sites_form(const struct trace *t, uint64_t va, uint8_t bytes[PAYLOAD_FORM_MAX])
{
	const struct flag_site *s = site_at(t, va);
	const struct payload_form *form;

	if (!s)
		return 0;
	form = &t->flag_sites->form[s->kind];
	flag_form_make(form, va + t->guest.slide, bytes);
	return form->size;
}

uint32_t flag_sites_entry(const struct trace *t, uint64_t va, const struct payload_text *text)
{
	return entry_of(&kinds[site_at(t, va)->kind], text);
}

enum flag_insn flag_sites_insn(const struct trace *t, uint64_t va, uint8_t *size, uint64_t *target)
{
	const struct flag_site *s = site_at(t, va);
	const struct payload_form *form = s ? &t->flag_sites->form[s->kind] : NULL;

	*size = form ? form->size : 0;
	*target = form ? form->target : 0;
	return form ? kinds[s->kind].insn : FLAG_INSN_OTHER;
}

uint64_t flag_sites_shown(const struct trace *t, const struct payload_record *r)
{
	uint64_t ip = KERNEL_HALF | r->ip, addr;
	const struct flag_site *s = site_around(t, ip);
	const struct flag_kind *kind = s ? &kinds[s->kind] : NULL;
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
	const struct flag_site *s = site_around(t, ip);

	if (!s || (!kinds[s->kind].change && kinds[s->kind].counts != COUNT_BY_CALLS))
		return 0;
	if (at >= guestsym_addr(t->gs, "__lock_text_start") &&
	    at < guestsym_addr(t->gs, "__lock_text_end"))
		return 0;
	return ip;
}

static int sites_add(struct trace *t, struct flag_sites *f, unsigned int kind,
		     const struct flag_list *l)
{
	struct flag_site *v = realloc(f->v, (f->nr + l->nr + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	f->v = v;
	for (size_t i = 0; i < l->nr; i++) {
		struct probe *p = probe_add(&t->probes, l->v[i]);

		if (!p)
			return -ENOMEM;
		p->flags = PROBE_FL_FLAG;
		v[f->nr++] = (struct flag_site){
			.va = l->v[i],
			.probe = (uint32_t)(t->probes.nr - 1),
			.kind = (uint8_t)kind,
		};
	}
	f->count[kind] = l->nr;
	qsort(f->v, f->nr, sizeof(*f->v), by_va);
	return 0;
}

static int search_kind(struct trace *t, struct flag_sites *f, unsigned int kind)
{
	struct flag_list l = {0};
	int ret;

	f->form[kind] = form_of(t, &kinds[kind]);
	ret = kinds[kind].find(t, &kinds[kind], &f->form[kind], &l);
	if (!ret)
		ret = sites_add(t, f, kind, &l);
	f->searched[kind] = !ret;
	free(l.v);
	return ret;
}

/* Sites of these kinds of windows are known; once, for the kernel's text does not change there. */
static int search(struct trace *t, uint32_t critical)
{
	int ret = 0;

	if (!t->flag_sites)
		t->flag_sites = calloc(1, sizeof(*t->flag_sites));
	if (!t->flag_sites)
		return -ENOMEM;
	for (unsigned int k = 0; k < NR_KINDS && !ret; k++)
		if (kinds[k].critical & critical && !t->flag_sites->searched[k] &&
		    applies(t, &kinds[k]))
			ret = search_kind(t, t->flag_sites, k);
	return ret;
}

/* Without it the count is only that of interrupts. */
static bool has_preempt_disable(const struct trace *t)
{
	const struct guestsym_preempt_site *sites;
	size_t n = guestsym_preempt_sites(t->gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (sites[i].value == 1)
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
	bool traps = t->engine == &trap_probe_ops;
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
	for (unsigned int k = 0; k < NR_KINDS; k++) {
		if (!(kinds[k].critical & critical) || t->flag_sites->count[k] ||
		    is_optional(t, &kinds[k]) || !applies(t, &kinds[k]))
			continue;
		trace_note(t, "this kernel has no place where a call fits for: %s", kinds[k].name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static uint32_t wanted(const struct trace *t)
{
	uint32_t critical = 0;

	for (const struct instance *i = t->instances; i; i = i->next)
		critical |= i->tracer->critical;
	return critical;
}

int flag_sites_update(struct trace *t)
{
	uint32_t critical = wanted(t);
	int ret = critical ? search(t, critical) : 0;

	for (size_t i = 0; !ret && t->flag_sites && i < t->flag_sites->nr; i++) {
		const struct flag_site *s = &t->flag_sites->v[i];
		struct probe *p = &t->probes.v[s->probe];
		bool on = kinds[s->kind].critical & critical;

		if (on == !!(p->flags & PROBE_FL_RECORD))
			continue;
		p->flags ^= PROBE_FL_RECORD;
		if (p->flags & PROBE_FL_SET)
			p->flags |= PROBE_FL_CHANGE;
	}
	return ret;
}

void flag_sites_free(struct trace *t)
{
	if (t->flag_sites)
		free(t->flag_sites->v);
	free(t->flag_sites);
}

void flag_sites_explain(const struct trace *t, FILE *out)
{
	const struct flag_sites *f = t->flag_sites;
	size_t set[NR_KINDS] = {0}, want[NR_KINDS] = {0};

	for (size_t i = 0; f && i < f->nr; i++) {
		uint16_t flags = t->probes.v[f->v[i].probe].flags;

		want[f->v[i].kind] += !!(flags & PROBE_FL_RECORD);
		set[f->v[i].kind] += !!(flags & PROBE_FL_SET);
	}
	for (unsigned int k = 0; k < NR_KINDS; k++)
		if (want[k])
			fprintf(out, "%s: %zu places, %zu of them hold something else\n",
				kinds[k].name, want[k], want[k] - set[k]);
}
