// SPDX-License-Identifier: GPL-2.0-or-later
/* sched-ticks.c - see sched-ticks.h */
#include "tracer/guest/sched-ticks.h"

#include <stddef.h>

/* From HZ=10,000 to HZ=10; what a guest says is not trusted. */
#define LENGTH_MIN   UINT64_C(100000)
#define LENGTH_MAX   UINT64_C(100000000)
#define LENGTH_USUAL UINT64_C(4000000)
#define CREEP	     16

static uint64_t get(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void put(_Atomic uint64_t *value, uint64_t to)
{
	atomic_store_explicit(value, to, memory_order_relaxed);
}

static const struct sched_tick *tick_at(const struct sched_ticks *s, uint64_t i)
{
	return &s->tick[i % SCHED_TICKS];
}

static uint64_t count(const struct sched_ticks *s)
{
	return atomic_load_explicit(&s->n, memory_order_acquire);
}

static const struct sched_tick *latest(const struct sched_ticks *s)
{
	uint64_t n = count(s);

	return n ? tick_at(s, n - 1) : NULL;
}

bool sched_ticks_latest(const struct sched_ticks *s, uint64_t *raw)
{
	const struct sched_tick *k = latest(s);

	if (k)
		*raw = get(&k->raw);
	return k;
}

/* How far ours creeps while the kernel's stands so long: ever more slowly. */
static uint64_t creep(uint64_t stood, uint64_t length)
{
	uint64_t room = length / CREEP;

	return stood < LENGTH_MAX * 1000 ? room * stood / (room + stood) : room;
}

/* What has passed since a tick, by the kernel, whatever its time was before; at most *most. */
static uint64_t passed(const struct sched_tick *k, uint64_t delta, uint64_t *most)
{
	uint64_t span = get(&k->span);

	*most = UINT64_MAX;
	if (delta < span)
		return (uint64_t)((unsigned __int128)get(&k->gain) * delta / span);
	if (atomic_load_explicit(&k->kind, memory_order_relaxed) != SCHED_TICK_COUNTED)
		return delta;
	*most = get(&k->length);
	return delta < *most ? delta : *most;
}

/* What the kernel's time is more than the tick's, so long after it, and how long it has stood. */
static uint64_t kernels(const struct sched_tick *k, uint64_t delta, uint64_t *stood)
{
	uint64_t ahead = get(&k->ahead), most, since = passed(k, delta, &most);

	*stood = delta > most ? delta - most : 0;
	if (since >= ahead)
		return since;
	*stood = get(&k->stood) + delta;
	return ahead;
}

/* While it is where it was before the tick, ours creeps on from there. */
static uint64_t held(const struct sched_tick *k, uint64_t delta)
{
	uint64_t ahead = get(&k->ahead), most;

	passed(k, delta, &most);
	if (delta > ahead && ahead < most)
		delta = ahead; /* it has gone on by then */
	return ahead ? ahead + creep(get(&k->stood) + delta, get(&k->length)) : 0;
}

/* Our time so long after a tick and before the next one: it never goes back. */
static uint64_t time_behind(const struct sched_tick *k, uint64_t delta)
{
	uint64_t most, since = passed(k, delta, &most), least = held(k, delta);

	if (delta > most)
		since += creep(delta - most, get(&k->length));
	if (least < get(&k->ours))
		least = get(&k->ours);
	return get(&k->clock) + (since > least ? since : least);
}

/* Have there been ticks since k that nobody has seen? Then what is between them is spread evenly.
 */
static void note_missed(struct sched_ticks *s, struct sched_tick *k, uint64_t raw, uint64_t clock,
			int64_t now)
{
	int64_t since = now - atomic_load_explicit(&s->looked, memory_order_relaxed);
	uint64_t gain = clock - get(&k->clock), length = get(&k->length);

	if (atomic_load_explicit(&k->kind, memory_order_relaxed) != SCHED_TICK_COUNTED ||
	    (int64_t)gain < 0 || gain < length + length / 2 || since < (int64_t)length)
		return;
	put(&k->gain, gain);
	put(&k->span, raw - get(&k->raw));
}

/* How much later is it than this tick's time? A guest may say anything. */
static uint64_t how_far_ahead(const struct sched_tick *k, uint64_t time)
{
	uint64_t ahead = time - get(&k->clock), most = 2 * get(&k->length);

	if ((int64_t)ahead < 0)
		return 0;
	return ahead < most ? ahead : most;
}

/* The end of one tick's time is the beginning of the next one's. */
static void follow(struct sched_tick *k, const struct sched_tick *before)
{
	uint64_t delta = get(&k->raw) - get(&before->raw), stood;
	uint64_t ahead = how_far_ahead(k, get(&before->clock) + kernels(before, delta, &stood));

	put(&k->ahead, ahead);
	put(&k->ours, how_far_ahead(k, time_behind(before, delta)));
	put(&k->stood, ahead ? stood : 0);
}

static void append(struct sched_ticks *s, uint64_t raw, uint64_t clock, uint64_t length, int kind)
{
	uint64_t n = count(s);
	struct sched_tick *k = &s->tick[n % SCHED_TICKS];

	put(&k->raw, raw);
	put(&k->clock, clock);
	put(&k->length, length);
	put(&k->span, 0);
	put(&k->gain, 0);
	put(&k->ahead, 0);
	put(&k->ours, 0);
	put(&k->stood, 0);
	atomic_store_explicit(&k->kind, kind, memory_order_relaxed);
	if (n && kind != SCHED_TICK_LAST)
		follow(k, tick_at(s, n - 1));
	atomic_store_explicit(&s->n, n + 1, memory_order_release);
}

static bool begin_noting(struct sched_ticks *s)
{
	return !atomic_exchange_explicit(&s->busy, true, memory_order_acquire);
}

static void end_noting(struct sched_ticks *s)
{
	atomic_store_explicit(&s->busy, false, memory_order_release);
}

void sched_ticks_looked(struct sched_ticks *s, int64_t now)
{
	atomic_store_explicit(&s->looked, now, memory_order_relaxed);
}

void sched_ticks_note(struct sched_ticks *s, uint64_t raw, uint64_t clock, uint64_t length,
		      enum sched_tick_kind kind, int64_t now)
{
	uint64_t n;

	if (length < LENGTH_MIN || length > LENGTH_MAX)
		length = LENGTH_USUAL;
	if (!begin_noting(s))
		return;
	n = count(s);
	if (!n || get(&tick_at(s, n - 1)->raw) != raw) {
		if (n)
			note_missed(s, &s->tick[(n - 1) % SCHED_TICKS], raw, clock, now);
		append(s, raw, clock, length, kind);
	}
	sched_ticks_looked(s, now);
	end_noting(s);
}

void sched_ticks_begin(struct sched_ticks *s)
{
	atomic_store_explicit(&s->from_start, true, memory_order_relaxed);
}

void sched_ticks_end(struct sched_ticks *s, uint64_t offset)
{
	const struct sched_tick *last;

	if (!begin_noting(s))
		return;
	last = latest(s);
	if (last && atomic_load_explicit(&last->kind, memory_order_relaxed) != SCHED_TICK_LAST)
		append(s, get(&last->raw), get(&last->raw) + offset, LENGTH_USUAL, SCHED_TICK_LAST);
	end_noting(s);
}

/* The tick that this is behind, NULL: none that is known. They are in the order of their times. */
static const struct sched_tick *tick_before(const struct sched_ticks *s, uint64_t raw)
{
	uint64_t end = count(s), oldest = end > SCHED_TICKS ? end - SCHED_TICKS : 0, from = oldest;

	while (from < end) {
		uint64_t mid = from + (end - from) / 2;

		if (get(&tick_at(s, mid)->raw) <= raw)
			from = mid + 1;
		else
			end = mid;
	}
	return from > oldest ? tick_at(s, from - 1) : NULL;
}

/* Before all ticks that are known. */
static uint64_t time_before(const struct sched_ticks *s, uint64_t raw)
{
	uint64_t n = count(s);
	const struct sched_tick *k = tick_at(s, n > SCHED_TICKS ? n - SCHED_TICKS : 0);
	uint64_t clock = get(&k->clock);

	if (!n)
		return raw;
	if (atomic_load_explicit(&s->from_start, memory_order_relaxed))
		return raw < clock ? raw : clock;
	return clock - (get(&k->raw) - raw);
}

uint64_t sched_ticks_time(const struct sched_ticks *s, const struct sched_ticks *first,
			  uint64_t raw)
{
	const struct sched_tick *k = tick_before(s, raw);

	if (!k)
		k = tick_before(first, raw);
	if (k)
		return time_behind(k, raw - get(&k->raw));
	return time_before(count(first) ? first : s, raw);
}
