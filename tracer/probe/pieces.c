// SPDX-License-Identifier: GPL-2.0-or-later
/* pieces.c - see pieces.h */
#include "tracer/probe/pieces.h"
#include "tracer/core/lock.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* It is told that setting takes long when it has for so long, and will for as long as that in all.
 */
#define TELL_NS	    (2 * NS_PER_S)
#define TELL_ALL_NS (10 * NS_PER_S)

/* --- how many ------------------------------------------------------------------------------- */

static void host_rest(int64_t ns)
{
	const struct timespec ts = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static const struct pieces_clock *clock_of(const struct trace *t)
{
	static const struct pieces_clock host = {host_ns, host_rest};

	return t->pieces.clock ? t->pieces.clock : &host;
}

/* How long a piece may take. The limit of a host that emulates is a minute: that is for what must
 * be. */
static int64_t share_ns(struct trace *t)
{
	struct machine_pauses pauses;
	int64_t share;

	machine_get_pauses(t->m, &pauses);
	share = (int64_t)pauses.limit_ns / PIECES_SHARE;
	return share && share < MACHINE_STAND_MS * NS_PER_MS ? share : MACHINE_STAND_MS * NS_PER_MS;
}

static void size_learn(struct trace *t)
{
	struct probe_pieces *p = &t->pieces;
	int64_t share = share_ns(t);

	if (p->took_ns > share)
		p->size = (size_t)((double)p->size * (double)share / (double)p->took_ns);
	else if (p->took_ns < share / 2)
		p->size *= 2;
	if (p->size < 1)
		p->size = 1;
	if (p->size > PIECES_MAX)
		p->size = PIECES_MAX;
}

/* --- which ---------------------------------------------------------------------------------- */

static bool is_removed(const struct trace *t, const struct probe *p)
{
	(void)t;
	return p->flags & PROBE_FL_SET;
}

static bool is_changed(const struct trace *t, const struct probe *p)
{
	return is_removed(t, p) && p->flags & PROBE_FL_CHANGE && !(p->flags & PROBE_FL_GONE);
}

/*
 * What tells of modules that go is there as long as traps in modules are. And a return that nobody
 * has seen the call of is passed over, while a call without its return would stay open.
 */
static unsigned int rank_of(const struct probe *p)
{
	if (p->guards & ~GUARD_RECORDS)
		return 0;
	return p->flags & PROBE_FL_EXIT ? 1 : 2;
}

static void turn_round(uint32_t *which, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t other = which[n - 1 - i];

		which[n - 1 - i] = which[i];
		which[i] = other;
	}
}

/*
 * The order in which they are set; to be removed, the last ones first: QEMU looks for each in a
 * list whose newest is in front (cpu_breakpoint_remove() in cpu.c, 7.2), so that the other way
 * round the time grows with the square of their number.
 */
static int list(struct trace *t, int phase,
		bool (*is_meant)(const struct trace *t, const struct probe *p))
{
	struct probe_pieces *p = &t->pieces;
	uint32_t *which = malloc((t->probes.nr + 1) * sizeof(*which));

	if (!which)
		return -ENOMEM;
	free(p->which);
	p->which = which;
	p->n = p->at = 0;
	for (unsigned int rank = 0; rank < 3; rank++)
		for (size_t i = 0; i < t->probes.nr; i++)
			if (rank_of(&t->probes.v[i]) == rank && is_meant(t, &t->probes.v[i]))
				which[p->n++] = (uint32_t)i;
	if (phase == PIECES_REMOVE)
		turn_round(which, p->n);
	p->phase = phase;
	p->began_ns = clock_of(t)->now();
	p->told = false;
	return 0;
}

/* --- piece by piece ------------------------------------------------------------------------- */

static void end(struct probe_pieces *p)
{
	free(p->which);
	p->which = NULL;
	p->n = p->at = 0;
	p->insert = p->again = false;
	p->phase = PIECES_NONE;
}

static void fail(struct probe_pieces *p, int error)
{
	p->error = p->error ? p->error : error;
}

/* What has been set of the list is to be removed. */
static void undo(struct probe_pieces *p)
{
	turn_round(p->which, p->at);
	p->n = p->at;
	p->at = 0;
	p->phase = PIECES_UNDO;
}

/* One list is done: what comes behind it. */
static void go_on(struct trace *t)
{
	struct probe_pieces *p = &t->pieces;
	bool more = p->phase == PIECES_REMOVE ? p->insert : p->phase == PIECES_INSERT && p->again;
	int ret = 0;
	bool set;

	p->insert = p->again = false;
	if (more && !p->error)
		ret = list(t, PIECES_INSERT, probe_is_due);
	if (ret)
		fail(p, ret);
	if (more && !p->error && p->n)
		return;
	set = p->phase == PIECES_INSERT && !p->error;
	end(p);
	/* Of those that are out again it is remembered how many there were. */
	if (set)
		probes_count(t);
}

/* Nothing is in the guest any more that this would add to. */
static bool is_void(const struct trace *t)
{
	return t->pieces.phase == PIECES_INSERT && (!t->placed || t->away);
}

/* What cannot be removed keeps nothing else from being so. */
static void piece(struct trace *t)
{
	struct probe_pieces *p = &t->pieces;
	size_t n = p->n - p->at < p->size ? p->n - p->at : p->size;
	int64_t began = clock_of(t)->now();
	int ret;

	if (p->phase == PIECES_INSERT)
		ret = probes_insert_some(t, p->which + p->at, n);
	else
		ret = probes_remove_some(t, p->which + p->at, n);
	p->took_ns = clock_of(t)->now() - began;
	if (n == p->size || p->took_ns > share_ns(t))
		size_learn(t);
	if (ret)
		fail(p, ret);
	if (ret && p->phase == PIECES_INSERT)
		undo(p);
	else
		p->at += n;
	if (p->at == p->n)
		go_on(t);
}

static void step(struct trace *t)
{
	if (is_void(t))
		end(&t->pieces);
	else if (pieces_are_left(t))
		piece(t);
}

/* Whether all is done; then the error, which is told once. */
static bool has_ended(struct trace *t, int *error)
{
	struct probe_pieces *p = &t->pieces;

	if (pieces_are_left(t))
		return false;
	*error = p->error;
	p->error = 0;
	return true;
}

/* A piece; of few to be removed, with those that take their place. 0, or an error it has ended
 * with.
 */
static int begin(struct trace *t)
{
	struct probe_pieces *p = &t->pieces;
	size_t left = p->size = p->size ? p->size : PIECES_START, n;
	int error = 0;

	do {
		n = p->n - p->at;
		step(t);
		left -= n < left ? n : left;
	} while (pieces_are_left(t) && p->n - p->at <= left);
	has_ended(t, &error);
	return error;
}

static bool is_in_pieces(const struct trace *t)
{
	return t->cfg.running && !t->engine->calls;
}

/* What was to be removed by an earlier change, and is still there. */
static void keep_changes(struct trace *t)
{
	const struct probe_pieces *p = &t->pieces;

	for (size_t i = p->at; i < p->n && p->phase != PIECES_INSERT; i++)
		t->probes.v[p->which[i]].flags |= PROBE_FL_CHANGE;
}

int pieces_patch(struct trace *t)
{
	int ret;

	if (!is_in_pieces(t)) {
		ret = probes_remove(t, PROBE_FL_CHANGE, PROBE_FL_GONE);
		return ret ? ret : probes_insert(t, 0, 0);
	}
	/* All are removed then, and nobody is to be told of another's that were not set. */
	if (t->leaving)
		return 0;
	keep_changes(t);
	ret = list(t, PIECES_REMOVE, is_changed);
	if (ret)
		return ret;
	t->pieces.insert = true;
	if (!t->pieces.n)
		go_on(t);
	return begin(t);
}

int pieces_remove_all(struct trace *t, uint16_t without)
{
	int ret;

	if (!is_in_pieces(t))
		return probes_remove(t, 0, without);
	ret = list(t, PIECES_REMOVE, is_removed);
	if (ret)
		return ret;
	t->pieces.insert = false;
	t->pieces.error = 0; /* of what is undone with all else */
	return begin(t);
}

int pieces_insert(struct trace *t)
{
	if (!pieces_are_left(t))
		return probes_insert(t, 0, 0);
	t->pieces.again = t->pieces.phase == PIECES_INSERT;
	return 0;
}

/* Who has asked for it waits. That later ones take longer than the first is not known by then. */
static void tell(struct trace *t)
{
	struct probe_pieces *p = &t->pieces;
	int64_t took = clock_of(t)->now() - p->began_ns, whole;

	if (p->phase != PIECES_INSERT || p->told || took < TELL_NS)
		return;
	whole = (int64_t)((double)took / (double)(p->at ? p->at : 1) * (double)p->n);
	if (whole < TELL_ALL_NS)
		return;
	p->told = true;
	trace_note(t,
		   "setting traps at %zu places takes %" PRId64
		   " s or more here: choose fewer functions (-f, set_ftrace_filter), or trace them "
		   "with --engine trampoline",
		   p->n, whole / NS_PER_S);
}

/* --- the rest ------------------------------------------------------------------------------- */

static bool is_given_up(const struct trace *t)
{
	return t->leaving || (t->cfg.cancelled && t->cfg.cancelled(t->cfg.cancelled_arg));
}

/* Letting go has everything removed: what is behind it is not waited for. */
static void give_up(struct probe_pieces *p)
{
	fail(p, -ECANCELED);
	end(p);
}

/* True: there is more to be done. */
static bool next(struct trace *t, int *error)
{
	bool ended;

	trace_change_begin(t);
	if (t->pieces.phase == PIECES_INSERT && is_given_up(t))
		give_up(&t->pieces);
	else
		step(t);
	tell(t);
	ended = has_ended(t, error);
	trace_change_end(t);
	return !ended;
}

/* What another change of this thread holds open is for that one to finish. */
static bool is_for_us(struct trace *t)
{
	bool left;

	change_lock(t);
	left = pieces_are_left(t) && t->changes == 1;
	change_unlock(t);
	return left;
}

static void rest(struct trace *t)
{
	int64_t share = share_ns(t), ns = t->pieces.took_ns;

	clock_of(t)->rest(ns < share ? ns : share);
}

int pieces_finish(struct trace *t, int ret)
{
	int error = 0;

	if (is_for_us(t)) {
		rest(t);
		while (next(t, &error))
			rest(t);
	}
	return ret ? ret : error;
}

int pieces_finish_here(struct trace *t)
{
	int error = 0;

	while (!has_ended(t, &error))
		step(t);
	return error;
}

void pieces_free(struct trace *t)
{
	free(t->pieces.which);
}
