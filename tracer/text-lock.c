// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text-lock.c - lets the guest patch its own text while it is traced.
 *
 * Whoever patches kernel text takes text_mutex: ftrace, kprobes, BPF, livepatch, static keys.
 * ftrace compares each site with what it knows to be there before it writes, and gives up for good
 * when that is not so. So the call of mutex_lock(&text_mutex) is watched (by the payload itself,
 * which compares the argument), and all sites are NOPs again before the guest goes on. They are
 * taken again when the mutex has been free for a while. Those that then hold something else are the
 * guest's, and left alone.
 *
 * Of one who has passed the site of mutex_lock() before there was a call, and has not got the mutex
 * yet, nothing is known. So the watch comes first, alone, and the others once nobody is in the
 * middle of mutex_lock(), be it a vCPU that its host has put aside, be it a task that was preempted
 * there.
 *
 * While the guest traces mutex_lock itself its site is not ours, nothing is watched, and so nothing
 * is taken.
 */
#include "tracer/internal.h"
#include "tracer/core/lock.h"
#include "tracer/guest/within.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/window/window.h"

#include <errno.h>
#include <string.h>

/* The mutex is taken several times for one change: for preparing a kprobe, and for arming it. */
#define AWAY_MS	 300
#define FREE_MS	 100
#define WATCH_MS 1    /* between two looks for those who have passed it unseen, at first */
#define PASS_MS	 1000 /* an address that stays on a stack for so long is a leftover */
#define BEGIN_MS 3000 /* at the beginning the guest is waited for that long */
#define LOOK_NS	 1000000

static const char *const lock_functions[] = {"mutex_lock", "mutex_lock_nested"};

#define NR_LOCK_FUNCTIONS (sizeof(lock_functions) / sizeof(lock_functions[0]))

static int watch(struct trace *t, const char *function)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(t->gs, &sites);

	for (size_t i = 0; i < n; i++) {
		struct probe *p;

		if (strcmp(sites[i].name, function))
			continue;
		p = probe_set_at(&t->probes, sites[i].addr);
		if (!p)
			return -ENOMEM;
		p->name = sites[i].name;
		p->guards |= GUARD_TEXT_LOCK;
		return 0;
	}
	return 0;
}

int text_lock_init(struct trace *t)
{
	uint64_t mutex = guestsym_addr(t->gs, "text_mutex");
	struct guestsym_field owner;
	int ret = 0;

	if (!mutex || guestsym_field(t->gs, "mutex.owner", &owner))
		return 0;
	t->life->text_lock.mutex = mutex + t->guest.slide;
	t->life->text_lock.owner = t->life->text_lock.mutex + owner.offset;
	for (size_t i = 0; i < NR_LOCK_FUNCTIONS && !ret; i++)
		ret = watch(t, lock_functions[i]);
	return ret;
}

static bool caller_is_harmless(struct trace *t, const struct machine_hit *hit)
{
	const struct guestsym_symbol *caller;
	uint64_t parent;

	if (guest_read(&t->guest, hit->regs->rsp, &parent, sizeof(parent)))
		return false;
	caller = guestsym_find(t->gs, parent - t->guest.slide, NULL, NULL);
	return caller && trampoline_is_harmless(caller->name);
}

static void state_set(struct trace *t, enum text_lock_state state)
{
	t->life->text_lock.state = state;
	atomic_store(&t->away, state != TEXT_LOCK_OURS);
}

int text_lock_taken(struct trace *t, const struct machine_hit *hit)
{
	struct text_lock *l = &t->life->text_lock;

	if (hit->regs->rdi != l->mutex || l->state == TEXT_LOCK_AWAY || caller_is_harmless(t, hit))
		return 0;
	state_set(t, TEXT_LOCK_AWAY);
	l->state_ms = l->free_ms = host_ms();
	return probes_remove(t, PROBE_FL_CALL, 0);
}

static bool mutex_is_free(struct trace *t)
{
	uint64_t owner;

	return !guest_read(&t->guest, t->life->text_lock.owner, &owner, sizeof(owner)) && !owner;
}

/* --- taking the sites again ------------------------------------------------------------------ */

/* What follows is done with the machine paused and t->change held. */

/* The calls that tell of the next change. -EBUSY: the guest uses such a site itself. */
static int watch_insert(struct trace *t)
{
	uint32_t which[NR_LOCK_FUNCTIONS];
	size_t n = 0;
	int ret;

	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];
		uint8_t now[SITE_SIZE];

		if (!(p->guards & GUARD_TEXT_LOCK))
			continue;
		if (guest_read(&t->guest, p->va + t->guest.slide, now, sizeof(now)) ||
		    memcmp(now, site_nop, sizeof(now)))
			return -EBUSY;
		which[n++] = (uint32_t)i;
	}
	ret = t->engine->insert(t, which, n);
	for (size_t i = 0; i < n && !ret; i++)
		t->probes.v[which[i]].flags |= PROBE_FL_SET;
	return ret;
}

/* Modules may have come and gone meanwhile, and windows have ended. */
static int all_insert(struct trace *t)
{
	int ret = guards_catch_up(t);

	if (!ret)
		ret = modules_catch_up(t);
	trampoline_forget_critical(t);
	if (!ret)
		ret = selection_update(t);
	return ret ? ret : probes_insert(t, 0, PROBE_FL_ONCE);
}

/*
 * Some may have passed the site of mutex_lock() before it was watched, and be about to get it.
 * Where that cannot be seen, it is so until they have had their time.
 */
static bool some_passed(struct trace *t)
{
	struct text_range range[NR_LOCK_FUNCTIONS];
	bool within = true;
	size_t n = 0;

	if (host_ms() - t->life->text_lock.watch_ms >= PASS_MS)
		return false;
	for (size_t i = 0; i < NR_LOCK_FUNCTIONS; i++) {
		uint64_t link = guestsym_addr(t->gs, lock_functions[i]), size;

		if (link && guestsym_find(t->gs, link, NULL, &size))
			range[n++] = (struct text_range){link + t->guest.slide, size};
	}
	return tasks_within(&t->guest, t->gs, range, n, &within) || within;
}

static int watched_step(struct trace *t, bool free)
{
	if (!free) {
		state_set(t, TEXT_LOCK_AWAY);
		return probes_remove(t, PROBE_FL_CALL, 0);
	}
	if (some_passed(t))
		return 0;
	state_set(t, TEXT_LOCK_OURS);
	return all_insert(t);
}

static int step(struct trace *t)
{
	struct text_lock *l = &t->life->text_lock;
	bool free = mutex_is_free(t);
	int ret = 0;

	l->state_ms = host_ms(); /* when it is not possible, try again after a while */
	if (l->state == TEXT_LOCK_WATCHED) {
		ret = watched_step(t, free);
	} else if (l->state == TEXT_LOCK_AWAY && free) {
		ret = watch_insert(t);
		if (!ret)
			state_set(t, TEXT_LOCK_WATCHED);
		l->watch_ms = l->state_ms;
	}
	return ret == -EBUSY ? 0 : ret;
}

static bool step_is_due(struct trace *t)
{
	struct text_lock *l = &t->life->text_lock;
	int64_t now = host_ms();

	if (l->state == TEXT_LOCK_OURS)
		return false;
	if (!mutex_is_free(t)) {
		l->free_ms = now;
		return l->state == TEXT_LOCK_WATCHED;
	}
	/* A look holds the guest up: after one in vain it is left alone for as long. */
	if (l->state == TEXT_LOCK_WATCHED)
		return now - l->state_ms > WATCH_MS + (l->state_ms - l->watch_ms);
	return now - l->state_ms > AWAY_MS && now - l->free_ms > FREE_MS;
}

int text_lock_poll(struct trace *t)
{
	bool due;
	int ret = 0;

	change_lock(t);
	due = step_is_due(t);
	change_unlock(t);
	if (!due)
		return 0;
	machine_pause_for(t->m, "looking for a moment to patch its text");
	change_lock(t);
	if (t->placed && step_is_due(t)) /* another thread may have been quicker */
		ret = step(t);
	change_unlock(t);
	machine_resume(t->m);
	return ret;
}

/* --- from traps to calls --------------------------------------------------------------------- */

int text_lock_switch(struct trace *t)
{
	struct text_lock *l = &t->life->text_lock;
	int ret = text_lock_init(t);

	if (!l->watch_ms)
		l->watch_ms = host_ms(); /* since when it is tried */
	if (!ret && l->mutex && (!mutex_is_free(t) || some_passed(t)))
		return -EAGAIN;
	if (!ret)
		ret = probes_remove(t, 0, PROBE_FL_ONCE);
	if (ret)
		return ret;
	t->engine = &trampoline_probe_ops;
	t->waits = false;
	probes_hold(t);
	/* How the kernel returns may have become known since the payload was loaded. */
	ret = trampoline_returns(t);
	return ret ? ret : probes_insert(t, 0, PROBE_FL_ONCE);
}

/* --- at the beginning ------------------------------------------------------------------------ */

static bool all_are_ours(struct trace *t)
{
	bool ours;

	change_lock(t);
	ours = !t->away;
	change_unlock(t);
	return ours;
}

/* What fires once is not set again, so it is not among those that come and go. */
static int begin(struct trace *t)
{
	struct text_lock *l = &t->life->text_lock;
	int ret;

	machine_pause_for(t->m, "patching its text");
	change_lock(t);
	ret = probes_insert(t, l->mutex ? PROBE_FL_ONCE : 0, 0);
	t->placed = !ret;
	if (l->mutex) {
		state_set(t, TEXT_LOCK_AWAY);
		l->state_ms = l->free_ms = host_ms() - AWAY_MS - FREE_MS; /* at once */
	}
	change_unlock(t);
	machine_resume(t->m);
	return ret;
}

int text_lock_begin(struct trace *t)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int64_t end = host_ms() + BEGIN_MS;
	int ret = begin(t);

	while (!ret && !all_are_ours(t) && host_ms() < end && !trace_is_given_up(t)) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
		ret = text_lock_poll(t);
	}
	if (!ret && !all_are_ours(t) && !trace_is_given_up(t))
		trace_note(t, "the guest patches or traces its own kernel, so probes wait until it "
			      "has done with that");
	return ret;
}
