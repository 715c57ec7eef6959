// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guard.c - places in the guest kernel where the trace itself must act: around ftrace_init(), which
 * checks and patches every site; behind alternative_instructions(), which patches every return;
 * before init memory is freed; at the function of --until.
 */
#include "tracer/internal.h"
#include "tracer/boot.h"
#include "tracer/control/crash.h"
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/nearest.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/follow.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct guard_row {
	const char *function;
	uint32_t guard;
} guard_rows[] = {
	/* start_kernel() calls it once; it compares each site with what the build put there. */
	{"ftrace_init", GUARD_FTRACE_INIT},
	/* start_kernel() has it called once (arch/x86/kernel/alternative.c). */
	{"alternative_instructions", GUARD_PATCHES},
	/* kernel_init() calls it once; from here on sites in init text are somebody else's memory.
	 */
	{"free_initmem", GUARD_FREE_INIT},
	/* A module is complete and about to run, or has stopped and is about to be freed. */
	{"do_init_module", GUARD_MODULE_LOAD},
	{"free_module", GUARD_MODULE_FREE},
};

/* The site of a function with fentry: that is where its first probe can be. 0: it has none. */
static uint64_t function_site(const struct guestsym *gs, uint64_t func)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (sites[i].func == func && !(sites[i].flags & GUESTSYM_SITE_INVALID))
			return sites[i].addr;
	return 0;
}

static int guard_add(struct trace *t, const struct guestsym_symbol *func, uint32_t guard)
{
	uint64_t site = function_site(t->gs, func->addr);
	struct probe *p = probe_set_at(&t->probes, site ? site : func->addr);

	if (!p)
		return -ENOMEM;
	if (!p->name && !site)
		p->flags |= PROBE_FL_ONCE;
	p->name = func->name;
	p->guards |= guard;
	return 0;
}

static bool is_function(const struct guestsym_symbol *sym)
{
	return strchr("tTwW", sym->type);
}

/* "; did you mean start_kernel?", or nothing. */
static const char *function_hint(const struct trace *t, const char *name, char *hint, size_t size)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(t->gs, &syms);
	struct nearest near;

	nearest_begin(&near, name);
	for (size_t i = 0; i < n; i++)
		if (is_function(&syms[i]))
			nearest_try(&near, syms[i].name);
	return nearest_hint(&near, "", hint, size);
}

/* -ENOENT, and one line in err: the kernel has no such function. */
static int guard_named(struct trace *t, const char *what, const char *name, uint32_t guard,
		       char *err, size_t errlen)
{
	const struct guestsym_symbol *func = guestsym_lookup(t->gs, name);
	char hint[2 * NEAREST_LEN];

	if (func && is_function(func))
		return guard_add(t, func, guard);
	snprintf(err, errlen, "%s '%s': the kernel has no such function%s", what, name,
		 function_hint(t, name, hint, sizeof(hint)));
	return -ENOENT;
}

/* Where there is a site: a crash is to go its way. */
static int guards_crash(struct trace *t)
{
	const char *name;
	int ret = 0;

	for (unsigned int i = 0; (name = crash_function(i)) && !ret; i++) {
		const struct guestsym_symbol *func = guestsym_lookup(t->gs, name);

		if (func && function_site(t->gs, func->addr))
			ret = guard_add(t, func, GUARD_CRASH);
	}
	return ret;
}

int guards_init(struct trace *t, char *err, size_t errlen)
{
	const struct guestsym_symbol *func;
	int ret = 0;

	for (size_t i = 0; i < sizeof(guard_rows) / sizeof(guard_rows[0]) && !ret; i++) {
		func = guestsym_lookup(t->gs, guard_rows[i].function);
		if (func)
			ret = guard_add(t, func, guard_rows[i].guard);
	}
	if (!ret)
		ret = guards_crash(t);
	if (!ret && t->cfg.from)
		ret = guard_named(t, "from", t->cfg.from, GUARD_FROM, err, errlen);
	if (!ret && t->cfg.until)
		ret = guard_named(t, "until", t->cfg.until, GUARD_UNTIL, err, errlen);
	if (ret == -ENOENT)
		return ret;
	if (ret)
		snprintf(err, errlen, "cannot place the probes that guard the boot");
	return ret;
}

static void init_memory_gone(struct trace *t)
{
	for (size_t i = 0; i < t->probes.nr; i++)
		if (t->probes.v[i].flags & PROBE_FL_INIT)
			t->probes.v[i].flags |= PROBE_FL_GONE;
}

void guards_booted(struct trace *t)
{
	init_memory_gone(t);
	for (size_t i = 0; i < t->probes.nr; i++) {
		struct probe *p = &t->probes.v[i];

		p->guards &= ~(uint32_t)(GUARD_FTRACE_INIT | GUARD_PATCHES | GUARD_FREE_INIT);
		if (!p->guards && !(p->flags & PROBE_FL_FUNCTION))
			p->flags |= PROBE_FL_GONE;
	}
}

/* Have a trap where the guarded function, at whose entry this hit is, returns to. */
static int return_awaited(struct trace *t, const struct machine_hit *hit, uint32_t guard)
{
	struct machine_trap back = {
		.size = 2,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_ONCE,
		.cookie = UINT64_MAX,
	};
	int ret = guest_read(&t->guest, hit->regs->rsp, &back.va, sizeof(back.va));

	if (!ret)
		ret = guest_translate(&t->guest, back.va, &back.pa);
	if (!ret)
		ret = machine_traps_set(t->m, &back, 1);
	if (!ret) {
		t->life->guard_return = back.va;
		t->life->guard_returned = guard;
	}
	return ret;
}

/* The sites go back to what the kernel's own build put there, until ftrace_init() returns. */
static int ftrace_init_entered(struct trace *t, const struct machine_hit *hit)
{
	int ret = probes_remove(t, 0, PROBE_FL_ONCE);

	return ret ? ret : return_awaited(t, hit, GUARD_FTRACE_DONE);
}

/* From here on the sites are NOPs that the kernel expects to be patched: calls can be had. */
static int ftrace_init_left(struct trace *t)
{
	char err[256];
	int ret = trace_use_trampolines(t, err, sizeof(err));

	if (ret)
		trace_note(t, "%s", err);
	if (!ret && t->engine->calls && returns_known(t))
		ret = trampoline_returns(t);
	return ret ? ret : probes_insert(t, 0, PROBE_FL_ONCE);
}

/* It reads each of its returns, and makes of it what it stays: they are as it has built them. */
static int returns_to_be_patched(struct trace *t, const struct machine_hit *hit)
{
	int ret = probes_remove(t, PROBE_FL_EXIT, 0);

	if (ret)
		return ret;
	trace_writers_stop(t);
	record_drain_all(t);
	returns_forget(t);
	trace_writers_go(t);
	return return_awaited(t, hit, GUARD_PATCHED);
}

/* The kernel has made its returns what they stay. Calls whose ends could not be seen are not shown.
 */
static int returns_patched(struct trace *t)
{
	int ret;

	trace_writers_stop(t);
	record_drain_all(t);
	ret = returns_learn(t);
	trace_writers_go(t);
	if (!ret && t->engine->calls)
		ret = trampoline_returns(t);
	return ret ? ret : selection_update(t);
}

static int text_patched(struct trace *t)
{
	int ret = returns_patched(t);

	boot_is_patched(t);
	return ret;
}

/* Its trap has not fired, if something else stands in its place by now. */
static int return_not_awaited(struct trace *t)
{
	uint64_t va = t->life->guard_return;

	t->life->guard_return = 0;
	return va ? machine_traps_clear(t->m, &va, 1) : 0;
}

static int init_memory_freed(struct trace *t)
{
	int ret, error;

	if (atomic_load(&t->booted))
		return 0;
	ret = probes_remove(t, PROBE_FL_INIT, 0);
	error = return_not_awaited(t);
	ret = ret ? ret : error;
	init_memory_gone(t);
	boot_is_over(t);
	if (!ret)
		ret = returns_known(t) ? selection_update(t) : returns_patched(t);
	if (!ret && !returns_known(t) && instance_wants_exits(trace_top(t)))
		trace_note(
			t,
			"returns are not traced: where this kernel makes static calls cannot be read");
	return ret;
}

int guards_catch_up(struct trace *t)
{
	uint32_t state;

	if (t->cfg.running || atomic_load(&t->booted) ||
	    guest_system_state(&t->guest, t->gs, &state))
		return 0;
	return state >= GUEST_SYSTEM_FREEING_INITMEM ? init_memory_freed(t) : 0;
}

static int module_loaded(struct trace *t)
{
	int ret = modules_update(t);

	return ret ? ret : selection_update(t);
}

/* It need not stop there again. */
static int from_reached(struct trace *t, const struct machine_hit *hit)
{
	struct probe *p = hit->cookie < t->probes.nr ? &t->probes.v[hit->cookie] : NULL;

	if (!p || p->flags & PROBE_FL_GONE)
		return 0;
	p->guards &= ~(uint32_t)GUARD_FROM;
	if (p->flags & PROBE_FL_SET)
		p->flags |= PROBE_FL_CHANGE;
	return selection_patch(t);
}

static int guards_do(struct trace *t, uint32_t guards, const struct machine_hit *hit)
{
	int ret = 0;

	if (!t->placed && !pieces_are_left(t))
		return 0;
	if (guards & (GUARD_FTRACE_DONE | GUARD_PATCHED))
		t->life->guard_return = 0; /* its trap has gone by itself */
	if (guards & GUARD_FROM)
		ret = from_reached(t, hit);
	if (guards & GUARD_FTRACE_INIT)
		ret = ftrace_init_entered(t, hit);
	if (guards & GUARD_FTRACE_DONE)
		ret = ftrace_init_left(t);
	if (guards & GUARD_PATCHES)
		ret = returns_to_be_patched(t, hit);
	if (guards & GUARD_PATCHED)
		ret = text_patched(t);
	if (guards & GUARD_FREE_INIT)
		ret = init_memory_freed(t);
	if (guards & GUARD_MODULE_LOAD)
		ret = module_loaded(t);
	if (guards & GUARD_MODULE_FREE)
		ret = modules_going(t, hit->regs->rdi);
	if (guards & GUARD_TEXT_LOCK)
		ret = text_lock_taken(t, hit);
	if (guards & GUARD_FOLLOWS)
		follow_hit(t, guards, hit);
	return ret;
}

/* Its call is the last event; calls that are still to be paired with their returns come before. */
static void until_reached(struct trace *t, const struct machine_hit *hit)
{
	trace_writers_stop(t);
	atomic_store(&t->instances->until, hit->tsc);
	record_drain_all(t);
	trace_writers_go(t);
	/* What calls the payload has to leave it again, for the trace to be taken out. */
	if (t->cfg.stand_at_until && !t->tramp)
		machine_pause_for(t->m, "standing where --until was called");
	trace_finish(t);
}

void guards_hit(struct trace *t, uint32_t guards, const struct machine_hit *hit)
{
	bool others;
	int ret;

	/* The module waits at the trap, the rest of the guest need not. */
	if (guards & GUARD_MODULE_LOAD)
		modules_prepare(t);
	machine_pause_for(t->m, "looking at what a trap guards");
	change_lock(t);
	others = pieces_are_left(t);
	ret = guards_do(t, guards, hit);
	if (!ret && !others)
		ret = pieces_finish_here(t);
	change_unlock(t);
	machine_resume(t->m);
	if (ret)
		trace_fail(t, ret);
	if (guards & GUARD_UNTIL)
		until_reached(t, hit);
}
