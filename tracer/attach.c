// SPDX-License-Identifier: GPL-2.0-or-later
/* attach.c - puts the probes of a trace into a machine, and takes them out again. */
#include "tracer/internal.h"
#include "tracer/boot.h"
#include "tracer/collect/collect.h"
#include "tracer/control/crash.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/events/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/branch.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracepoint/switch.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/tracer.h"
#include "tracer/tracers/hwlat-sample.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GONE_MS 1000 /* until QEMU's end is seen */

static int insert_all(struct trace *t, char *err, size_t errlen)
{
	int ret;

	machine_pause_for(t->m, "setting probes");
	change_lock(t);
	t->placed = true;
	ret = pieces_patch(t);
	change_unlock(t);
	machine_resume(t->m);
	ret = pieces_finish(t, ret);
	change_lock(t);
	t->placed = !ret;
	change_unlock(t);
	if (ret)
		snprintf(err, errlen, "cannot place the probes in the guest: %s", strerror(-ret));
	return ret;
}

/* The probes are in place. */
static int use_tracer(struct trace *t, char *err, size_t errlen)
{
	const struct tracer_ops *tracer = tracer_find(t->cfg.tracer);
	int ret = tracer->mmio ? machine_mmio_watch(t->m, true, err, errlen) : 0;

	if (ret)
		return ret;
	ret = tracer->init ? instance_set_tracer(trace_top(t), tracer->name) : 0;
	if (ret)
		snprintf(err, errlen, "%s cannot be had of this %s: %s", tracer->name,
			 tracer->events ? "guest's trace events" : "machine", strerror(-ret));
	return ret;
}

/* Better than at the end of the boot, if it is known before. */
static int check_late_tracer(const struct trace *t, char *err, size_t errlen)
{
	const struct tracer_ops *tracer = tracer_find(t->cfg.tracer);
	const char *why = NULL;

	if (tracer->critical && t->cfg.engine == TRACE_ENGINE_TRAP)
		why = flag_sites_no_traps(t, tracer->critical);
	if (why)
		snprintf(err, errlen, "%s: %s", tracer->name, why);
	else if (tracer->branches && t->cfg.engine == TRACE_ENGINE_TRAP)
		snprintf(err, errlen, "%s", GUEST_BRANCHES_NO_TRAPS);
	else
		return 0;
	return -EOPNOTSUPP;
}

/* Kernels have int3 of their own: kprobes, and places that are being patched. */
static int check_int3(struct machine *m, char *err, size_t errlen)
{
	struct machine_info info;

	machine_get_info(m, &info);
	if (!info.loses_int3)
		return 0;
	snprintf(
		err, errlen,
		"KVM on this host has no nrips (kvm_amd.nrips=0), and a guest of QEMU could crash at "
		"breakpoints of its own while it is traced: use another host, or TCG");
	return -EOPNOTSUPP;
}

/* What of the machine's is known before anything is set. */
static int check_machine(struct trace *t, struct machine *m, char *err, size_t errlen)
{
	int ret = check_int3(m, err, errlen);
	const char *why = ret ? NULL : tracer_refused(t, tracer_find(t->cfg.tracer));

	if (!why)
		return ret;
	snprintf(err, errlen, "%s", why);
	return -EOPNOTSUPP;
}

/*
 * Exits are traced from the first call on, where it is known how functions return by then, and when
 * the kernel changes that: guard.c.
 */
static int learn_early_returns(struct trace *t, char *err, size_t errlen)
{
	int ret;

	if (!guestsym_lookup(t->gs, "alternative_instructions"))
		return 0;
	trace_change_begin(t);
	ret = returns_learn_early(t);
	if (!ret && returns_known(t))
		ret = selection_update(t);
	trace_change_end(t);
	if (ret)
		snprintf(err, errlen, "no memory");
	return ret;
}

static void count_vcpus(struct trace *t)
{
	struct machine_info info;

	machine_get_info(t->m, &info);
	atomic_store(&t->vcpus_now, info.vcpus);
}

static void bind_machine(struct trace *t, struct machine *m)
{
	t->m = m;
	guest_bind(&t->guest, m);
	count_vcpus(t);
}

int trace_attach(struct trace *t, struct machine *m, char *err, size_t errlen)
{
	int ret;

	bind_machine(t, m);
	ret = check_machine(t, m, err, errlen);
	if (!ret)
		ret = check_late_tracer(t, err, errlen);
	if (!ret)
		ret = learn_early_returns(t, err, errlen);
	if (ret)
		return ret;
	boot_prepare(t);
	ret = insert_all(t, err, errlen);
	return ret || boot_has_late_tracer(t) ? ret : use_tracer(t, err, errlen);
}

/* --- a guest that runs ----------------------------------------------------------------------- */

/* The machine is paused. */
static int look_around(struct trace *t, char *err, size_t errlen)
{
	int ret = guest_locate(&t->guest, t->gs, err, errlen);

	if (!ret)
		ret = guest_is_up(&t->guest, t->gs, err, errlen);
	if (!ret)
		ret = guest_number_vcpus(&t->guest, err, errlen);
	if (ret)
		return ret;
	count_vcpus(t);
	t->borrow = borrow_new(t->gs, &t->guest);
	if (!t->borrow) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	borrow_lender(t->borrow, probes_lend, t);
	guards_booted(t);
	return 0;
}

static int find_modules(struct trace *t, char *err, size_t errlen)
{
	int ret;

	modules_prepare(t);
	machine_pause_for(t->m, "reading its modules");
	ret = modules_update(t);
	machine_resume(t->m);
	if (ret)
		snprintf(err, errlen, "the guest's modules cannot be read: %s", strerror(-ret));
	return ret;
}

/*
 * What a tracer that was killed has left keeps others from patching the same sites, and from seeing
 * what the kernel itself has put there. It takes what look_around() finds out, and nothing more.
 */
static int clean_up(struct trace *t, char *err, size_t errlen)
{
	struct machine_info info;
	int ret;

	/* In a machine of our own there was nobody who could have been killed. */
	machine_get_info(t->m, &info);
	if (info.window && !info.left_windows)
		return 0;
	ret = leftover_remove(t, &leftover_limits, err, errlen);

	if (ret <= 0)
		return ret;
	trace_note(t, "an hvtrace that was killed had left %d probes, which are gone now", ret);
	if (!guestsym_from_memory(t->gs))
		return 0;
	snprintf(err, errlen, "the kernel was read from memory with those probes in it");
	return -ESTALE;
}

static int learn_returns(struct trace *t, char *err, size_t errlen)
{
	int ret;

	machine_pause_for(t->m, "learning its static calls");
	ret = returns_learn(t);
	machine_resume(t->m);
	if (ret)
		snprintf(err, errlen, "no memory");
	else if (trace_top(t)->tracer->exits && !returns_known(t))
		snprintf(err, errlen,
			 "%s cannot be used: where this kernel makes static calls cannot be read",
			 trace_top(t)->tracer->name);
	else
		return 0;
	return ret ? ret : -EOPNOTSUPP;
}

/*
 * A trap under KVM is an int3 that QEMU itself cannot take out while all vCPUs are in user mode, on
 * page tables without the kernel's text: that takes QEMU's memory.
 */
static int check_traps(struct trace *t, char *err, size_t errlen)
{
	struct trace_look look;
	struct machine_info info;

	machine_get_info(t->m, &info);
	if (info.direct || strcmp(info.accel, "kvm") ||
	    (!trace_look(t->m, t->gs, t->guest.slide, &look) && !look.pti))
		return 0;
	snprintf(
		err, errlen,
		"the guest isolates page tables, so traps under KVM need the memory of QEMU: trace "
		"on the guest's host, as root or as QEMU's user");
	return -EACCES;
}

static bool guest_given_up(void *arg)
{
	const struct trace *t = arg;

	return atomic_load(&t->life->setting_out) && trace_is_given_up(t);
}

static int insert_running(struct trace *t, char *err, size_t errlen)
{
	int ret;

	if (!t->tramp) {
		ret = check_traps(t, err, errlen);
		return ret ? ret : insert_all(t, err, errlen);
	}
	ret = text_lock_begin(t);
	if (ret)
		snprintf(err, errlen, "cannot place the probes in the guest: %s", strerror(-ret));
	return ret;
}

typedef int step_fn(struct trace *t, char *err, size_t errlen);

/* It ends when it is given up, in whichever step. */
static int set_out(struct trace *t, char *err, size_t errlen)
{
	/* The guest runs meanwhile: many globs take their time. */
	static step_fn *const steps[] = {
		find_modules,	       clean_up,       learn_returns, selection_configure,
		trace_use_trampolines, insert_running, use_tracer,
	};
	int ret;

	atomic_store(&t->life->setting_out, true);
	machine_pause_for(t->m, "reading its text and lists");
	ret = look_around(t, err, errlen);
	machine_resume(t->m);
	/* Whatever is learnt from the guest's text comes behind the clean-up. */
	for (size_t i = 0; !ret && i < sizeof(steps) / sizeof(steps[0]); i++)
		ret = trace_is_given_up(t) ? -ECANCELED : steps[i](t, err, errlen);
	if (trace_is_given_up(t)) {
		snprintf(err, errlen, "given up before it was traced");
		ret = -ECANCELED;
	}
	atomic_store(&t->life->setting_out, false);
	return ret;
}

int trace_attach_running(struct trace *t, struct machine *m, char *err, size_t errlen)
{
	int ret;

	bind_machine(t, m);
	t->guest.given_up = guest_given_up;
	t->guest.given_up_arg = t;
	ret = check_machine(t, m, err, errlen);
	if (ret)
		return ret;
	ret = set_out(t, err, errlen);
	if (!ret) {
		guest_prints_place(t);
		guest_switch_place(t);
	}
	if (ret) {
		trace_detach(t);
		return ret;
	}
	change_lock(t);
	returns_tell_cost(t);
	change_unlock(t);
	pids_tell_missing(t);
	return 0;
}

/* --- letting go ------------------------------------------------------------------------------ */

enum guest_end {
	GUEST_RUNS,
	GUEST_DEAD, /* panicked or halted: it does not what it is asked for, and needs no memory */
	GUEST_STANDS, /* someone else has stopped it, or it cannot be paused any more */
	GUEST_GONE,   /* its memory is nobody's, or already another kernel's */
};

/* Nobody has said that it was reset: should it run on all the same, it still has our calls. */
static enum guest_end guest_looks_gone(struct trace *t)
{
	if (t->tramp)
		trace_note(t,
			   "the guest seems to have been reset, so the probes were not taken out "
			   "of it: if it was not, attach again (hvtrace attach --recover)");
	return GUEST_GONE;
}

static enum guest_end guest_end(struct trace *t)
{
	struct machine_event ev;

	machine_wait(t->m, &ev, 0);
	switch (ev.type) {
	case MACHINE_EVENT_RESET:
	case MACHINE_EVENT_POWEROFF:
	case MACHINE_EVENT_CRASH:
		return GUEST_GONE;
	case MACHINE_EVENT_HALT:
	case MACHINE_EVENT_ERROR:
		return t->life->pulse.gone ? guest_looks_gone(t) : GUEST_STANDS;
	default:
		if (t->life->pulse.gone || (t->cfg.running && guest_was_reset(t)))
			return guest_looks_gone(t);
		return crash_panicked(t) ? GUEST_DEAD : GUEST_RUNS;
	}
}

/* While it stands it is seen whether it has halted. */
static int remove_all(struct trace *t, enum guest_end *end)
{
	int ret, error;

	machine_pause_for(t->m, "taking probes out");
	if (*end == GUEST_RUNS && machine_has_halted(t->m))
		*end = GUEST_DEAD;
	change_lock(t);
	t->placed = false;
	ret = pieces_remove_all(t, *end == GUEST_GONE ? PROBE_FL_CALL : 0);
	if (t->life->guard_return) {
		error = machine_traps_clear(t->m, &t->life->guard_return, 1);
		t->life->guard_return = 0;
		ret = ret ? ret : error;
	}
	change_unlock(t);
	machine_resume(t->m);
	return pieces_finish(t, ret);
}

/* It has ended since, and its machine with all that was in it: nothing is left to be put back. */
static bool guest_has_gone(struct trace *t, int error)
{
	struct machine_info info;
	struct machine_event ev;
	uint8_t byte;

	if (error != -ECONNRESET && error != -EPIPE && error != -ESRCH)
		return false;
	machine_wait(t->m, &ev, GONE_MS);
	if (ev.type == MACHINE_EVENT_POWEROFF)
		return true;
	if (error == -ESRCH) /* a machine of our own, whose vCPUs run no more */
		return ev.type == MACHINE_EVENT_RESET || ev.type == MACHINE_EVENT_CRASH ||
		       ev.type == MACHINE_EVENT_HALT;
	machine_get_info(t->m, &info);
	return info.direct && machine_read(t->m, 0, &byte, sizeof(byte)) == -ECONNRESET;
}

/* With `called`, sites may still call the payload: then it must stay. */
static int close_trampoline(struct trace *t, enum guest_end end, bool called)
{
	char err[256];
	int ret;

	if (!t->tramp)
		return 0;
	if (t->cfg.running && (called || end == GUEST_STANDS))
		trace_note(t,
			   "%s, so memory of the probes stays in it: attach again when it can "
			   "be traced (hvtrace attach --recover)",
			   called ? "the guest still has probes" : "the guest stands");
	ret = collect_close(t, called || end != GUEST_RUNS, err, sizeof(err));
	if (ret == -EHOSTDOWN)
		return 0; /* while we asked it to take its memory back */
	if (ret && !guest_has_gone(t, ret))
		trace_note(t,
			   "memory of the probes stays in the guest (hvtrace attach --recover "
			   "tries again): %s",
			   err);
	return ret;
}

/*
 * What a tracer of latencies works on is among the records that are lost. Having the guest wait for
 * the collector (lossless) would make latencies of its own.
 */
static void tell_lost_latencies(struct trace *t)
{
	const struct tracer_ops *tracer = trace_top(t)->tracer;
	struct collect_counts counts;

	collect_get_counts(t, &counts);
	if (!tracer->max || !counts.lost)
		return;
	trace_note(t,
		   "%s: %" PRIu64 " of %" PRIu64
		   " records were lost, and latencies with them: trace "
		   "fewer functions (-f), none (options/function-trace), or with more memory for "
		   "probes (--window-memory)",
		   tracer->name, counts.lost, counts.made);
}

/* What the trace has failed by comes behind what letting go has. */
static int detach_result(struct trace *t, int ret)
{
	ret = ret ? ret : atomic_load(&t->error);
	if (!guest_has_gone(t, ret))
		return ret;
	atomic_store(&t->error, 0);
	return 0;
}

#define BOOT_NS_MAX (UINT64_C(1) << 57) /* some years: what is more the guest makes up */

/*
 * Behind the last record, and behind what the clock is now, as far as the guest's memory still
 * tells: there its next boot goes on.
 */
static void note_time(struct trace *t)
{
	const struct instance *top = trace_top(t);
	uint64_t now = trace_local_ns(t);

	for (unsigned int i = 0; top->clock->ns && top->clock->anew && i < t->vcpus; i++) {
		uint64_t last = ring_last_time(ring_now(top->ring, i));

		now = last > now ? last : now;
	}
	if (now < t->time_before)
		now = t->time_before;
	if (now - t->time_before > BOOT_NS_MAX)
		now = t->time_before + BOOT_NS_MAX;
	t->time_end = now;
}

void trace_leave(struct trace *t)
{
	atomic_store(&t->leaving, true);
}

int trace_detach(struct trace *t)
{
	enum guest_end end;
	int ret, error, events;
	char err[256];

	if (t->detached)
		return 0;
	trace_leave(t);
	hwlat_detach(t->hwlat);
	boot_end(t);
	boot_tell_missing(t);
	end = guest_end(t);
	machine_mmio_watch(t->m, false, err, sizeof(err));
	/* With many traps in it the guest would hardly get to do what events_close() asks it for.
	 */
	ret = remove_all(t, &end);
	/* What cannot be taken back may still call the payload. */
	events = events_close(t->trace_events, end == GUEST_RUNS);
	change_lock(t);
	t->detached = true;
	change_unlock(t);
	/* A guest that hvtrace has booted ends with it, as it is. */
	if (events && !t->cfg.running) {
		end = GUEST_STANDS;
		events = 0;
	}
	if (events == -EHOSTDOWN) {
		end = GUEST_DEAD;
		events = 0;
	}
	ret = ret ? ret : events;
	if (guest_has_gone(t, ret)) {
		end = GUEST_GONE;
		ret = 0;
	}
	error = close_trampoline(t, end, ret);
	ret = ret ? ret : error;
	tell_lost_latencies(t);
	trace_note_rest(t, true);
	if (!t->cfg.running)
		note_time(t);
	for (unsigned int i = 0; i < t->vcpus; i++)
		ring_record(t->instances->ring[i], false);
	borrow_free(t->borrow);
	t->borrow = NULL;
	return detach_result(t, ret);
}
