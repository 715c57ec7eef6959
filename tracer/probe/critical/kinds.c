// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kinds.c - see kinds.h
 *
 * What switches interrupts off and on in a kernel with paravirtualised operations: some hundred
 * inlined cli and sti with room for a call. Interrupts and exceptions do so as well: when the
 * processor takes one, which is seen where irqentry_enter() is called, and when iret ends it, which
 * all but NMIs and the like come to by error_return. Where a system call begins they have been off
 * for the length of its entry code, which ends with the call of do_syscall_64(); where it ends,
 * they stay off from its last cli until user mode, which syscall_exit_to_user_mode() returns to. A
 * CPU that waits for interrupts has not got them off: that is from the call of ct_idle_enter() on.
 *
 * What changes the preempt count is found in the image, instruction by instruction: all over the
 * kernel's text, and what is added tells them apart.
 */
#include "tracer/probe/critical/internal.h"
#include "tracer/probe/returns/returns.h"

#include <string.h>

/* Where a system call has come to from user mode, with interrupts off: it has a sti soon. */
static bool begins_syscall(const struct trace *t, uint64_t addr)
{
	static const char *const names[] = {
		"syscall_enter_from_user_mode", "do_syscall_64", /* where that is part of it */
	};
	const struct guestsym_symbol *in = guestsym_find(t->gs, addr, NULL, NULL);

	for (size_t i = 0; in && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(in->name, names[i]))
			return true;
	return false;
}

/* Likewise of one from 32-bit user mode, whose beginning is not seen: no window can end there. */
static bool begins_compat_syscall(const struct trace *t, const struct guestsym_irq_site *site)
{
	const struct guestsym_symbol *in = guestsym_find(t->gs, site->addr, NULL, NULL);

	return in && !strcmp(in->name, "syscall_enter_from_user_mode_prepare");
}

/*
 * sti; hlt, or mwait: a CPU waits there, and an interrupt that has come by then must end that,
 * which sti sees to by keeping interrupts off for one instruction more.
 */
static bool waits(struct trace *t, const struct guestsym_irq_site *site)
{
	static const uint8_t hlt[] = {0xf4}, mwait[] = {0x0f, 0x01, 0xc9};
	uint8_t next[sizeof(mwait)] = {0};

	return guest_read(&t->guest, site->addr + site->len + t->guest.slide, next, sizeof(next)) ||
	       !memcmp(next, hlt, sizeof(hlt)) || !memcmp(next, mwait, sizeof(mwait));
}

/*
 * Of functions that give back the flags that they have found (assembly, mostly) no end would be
 * seen. They come one behind the other, by address.
 */
static bool restores(const struct trace *t, const struct guestsym_irq_site *sites, size_t n,
		     size_t at)
{
	const struct guestsym_symbol *in = guestsym_find(t->gs, sites[at].addr, NULL, NULL);
	size_t first = at;

	while (first && guestsym_find(t->gs, sites[first - 1].addr, NULL, NULL) == in)
		first--;
	for (size_t i = first; i < n; i++) {
		if (guestsym_find(t->gs, sites[i].addr, NULL, NULL) != in)
			break;
		if (sites[i].kind == GUESTSYM_IRQ_RESTORE)
			return true;
	}
	return false;
}

/* Not where a window that begins or ends there is none, or is better not seen at all. */
static bool irq_is_due(struct trace *t, const struct guestsym_irq_site *sites, size_t n, size_t at)
{
	const struct guestsym_irq_site *s = &sites[at];

	if (s->kind == GUESTSYM_IRQ_ENABLE && begins_compat_syscall(t, s))
		return false;
	if (s->len > 1)
		return true;
	return !(s->kind == GUESTSYM_IRQ_ENABLE && waits(t, s)) && !restores(t, sites, n, at);
}

static int find_irqs(struct trace *t, const struct flag_kind *kind, const struct payload_form *form,
		     struct flag_list *l)
{
	const struct guestsym_irq_site *sites;
	size_t n = guestsym_irq_sites(t->gs, &sites);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (sites[i].kind == kind->irqs && sites[i].len == form->size &&
		    irq_is_due(t, sites, n, i))
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

/* Whether their sti has room for a call, or moves, or one soon behind it looks. */
static bool syscalls_end(const struct trace *t)
{
	const struct guestsym_irq_site *sites;
	size_t n = guestsym_irq_sites(t->gs, &sites), nr;
	const struct move *m;

	for (size_t i = 0; i < n; i++)
		if (sites[i].kind == GUESTSYM_IRQ_ENABLE && sites[i].len > 1 &&
		    begins_syscall(t, sites[i].addr))
			return true;
	nr = flag_moves_all(t->flag_sites->moves, &m);
	for (size_t i = 0; i < nr; i++)
		if ((m[i].how == MOVE_ON || m[i].how == MOVE_TOLD || m[i].how == MOVE_LOOK) &&
		    begins_syscall(t, m[i].va - t->guest.slide))
			return true;
	return false;
}

/* Only where the end is seen as well: it would be that of some other window else. */
static int find_syscalls(struct trace *t, const struct flag_kind *kind,
			 const struct payload_form *form, struct flag_list *l)
{
	return syscalls_end(t) ? find_calls(t, kind, form, l) : 0;
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
		.modules = true,                                                                   \
	}
#define COUNT_CALLS(title, member, function)                                                       \
	{                                                                                          \
		.name = (title),                                                                   \
		.critical = CRITICAL_PREEMPT,                                                      \
		.entry = ENTRY(member),                                                            \
		.form = CALL,                                                                      \
		.target = {function},                                                              \
		.find = find_calls,                                                                \
		.modules = true,                                                                   \
		.counts = COUNT_BY_CALLS,                                                          \
	}
/* clang-format on */

const struct flag_kind flag_kinds[] = {
	{
		.name = "cli",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(cli),
		.form = {.size = 6, .bytes = {0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
		.find = find_irqs,
		.modules = true,
		.irqs = GUESTSYM_IRQ_DISABLE,
		.insn = FLAG_INSN_CLI,
		.byte = 0xfa,
		.how = MOVE_OFF,
		.moved_entry = ENTRY(moved_cli),
	},
	{
		.name = "sti",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(sti),
		.form = {.size = 6, .bytes = {0xfb, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
		.find = find_irqs,
		.modules = true,
		.irqs = GUESTSYM_IRQ_ENABLE,
		.insn = FLAG_INSN_STI,
		.byte = 0xfb,
		.how = MOVE_ON,
		.moved_entry = ENTRY(moved_sti),
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
		.name = "system calls' entry",
		.critical = CRITICAL_IRQS,
		.entry = ENTRY(syscall_entry),
		.shown = "syscall_enter_from_user_mode",
		.form = CALL,
		.target = {"do_syscall_64"},
		.find = find_syscalls,
		.optional = true,
		.late = true,
		.insn = FLAG_INSN_SYSCALL,
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
		.byte = 0xc3,
		.how = MOVE_BEHIND,
		.moved_entry = ENTRY(moved_exit),
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
		.modules = true,
		.counts = COUNT_IN_PLACE,
	},
	{
		.name = "preempt_enable()",
		.critical = CRITICAL_PREEMPT,
		.entry = ENTRY(preempt_dec),
		.form = BY_ONE(0x0d),
		.find = find_changes,
		.change = -1,
		.modules = true,
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
		.modules = true,
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

bool flag_kind_applies(const struct trace *t, const struct flag_kind *kind)
{
	return kind->counts != COUNT_BY_CALLS || counts_by_calls(t);
}

bool flag_kind_is_optional(const struct trace *t, const struct flag_kind *kind)
{
	return kind->optional || (kind->counts == COUNT_IN_PLACE && counts_by_calls(t));
}

static uint64_t target_of(const struct trace *t, const struct flag_kind *kind)
{
	for (unsigned int i = 0; i < FLAG_NAMES_MAX && kind->target[i]; i++) {
		uint64_t addr = guestsym_addr(t->gs, kind->target[i]);

		if (addr)
			return addr + t->guest.slide;
	}
	return 0;
}

struct payload_form flag_kind_form(const struct trace *t, const struct flag_kind *kind)
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

struct payload_form flag_kind_byte(const struct flag_kind *kind)
{
	return (struct payload_form){.size = 1, .bytes = {kind->byte}};
}

size_t flag_kind_targets(const struct trace *t, uint64_t *target, size_t max)
{
	size_t n = 0;

	for (unsigned int k = 0; k < FLAG_KINDS && n < max; k++) {
		target[n] = target_of(t, &flag_kinds[k]);
		n += !!target[n];
	}
	return n;
}

static uint32_t entry_at(const struct payload_text *text, size_t member)
{
	uint32_t entry;

	memcpy(&entry, (const uint8_t *)text + member, sizeof(entry));
	return entry;
}

uint32_t flag_kind_entry(const struct flag_kind *kind, const struct payload_text *text)
{
	return entry_at(text, kind->entry);
}

uint32_t flag_kind_moved_entry(const struct flag_kind *kind, const struct payload_text *text)
{
	return entry_at(text, kind->moved_entry);
}
