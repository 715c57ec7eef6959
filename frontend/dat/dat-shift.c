// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-shift.c - the option TIME_SHIFT: how a guest's time stamps become its host's, vCPU by vCPU.
 */
#include "frontend/dat/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INTERPOLATE 1  /* of its flags */
#define HEAD	    16 /* the other trace's id, flags, and how many vCPUs */

/* From then on, until the next one. */
struct dat_shift_sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling, fraction; /* (time stamp * scaling) >> fraction */
};

struct dat_shift_vcpu {
	struct dat_shift_sample *samples; /* by their times, rising */
	uint32_t nr;
};

struct dat_shift {
	uint32_t flags, nr;
	struct dat_shift_vcpu *vcpus;
};

/* --- reading ---------------------------------------------------------------------------------- */

/* What is left of the option. */
struct left {
	const uint8_t *at;
	size_t len;
};

static bool take(struct left *l, void *number, size_t size)
{
	if (l->len < size)
		return false;
	memcpy(number, l->at, size);
	l->at += size;
	l->len -= size;
	return true;
}

static int too_short(struct dat *d)
{
	return dat_fail(d, "it lies: its option TIME_SHIFT is too short");
}

static int by_time(const void *a, const void *b)
{
	const struct dat_shift_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Of the same time the first one. */
static void sort(struct dat_shift_vcpu *v)
{
	uint32_t n = 0;

	if (v->nr)
		qsort(v->samples, v->nr, sizeof(*v->samples), by_time);
	for (uint32_t i = 0; i < v->nr; i++)
		if (!n || v->samples[i].time != v->samples[n - 1].time)
			v->samples[n++] = v->samples[i];
	v->nr = n;
}

/* All times, all offsets, all scalings: there are as many bytes, which bounds their number. */
static int read_vcpu(struct dat *d, struct left *l, struct dat_shift_vcpu *v)
{
	const uint8_t *at;
	size_t part;

	if (!take(l, &v->nr, sizeof(v->nr)))
		return too_short(d);
	part = v->nr * sizeof(uint64_t);
	if (l->len / 3 < part)
		return too_short(d);
	v->samples = v->nr ? dat_alloc(d, v->nr * sizeof(*v->samples)) : NULL;
	if (v->nr && !v->samples)
		return -ENOMEM;
	at = l->at;
	for (uint32_t i = 0; i < v->nr; i++, at += sizeof(uint64_t)) {
		v->samples[i] = (struct dat_shift_sample){0};
		memcpy(&v->samples[i].time, at, sizeof(uint64_t));
		memcpy(&v->samples[i].offset, at + part, sizeof(uint64_t));
		memcpy(&v->samples[i].scaling, at + 2 * part, sizeof(uint64_t));
	}
	l->at += 3 * part;
	l->len -= 3 * part;
	return 0;
}

/* Not all writers have them. */
static bool read_fractions(struct left *l, struct dat_shift *s)
{
	if (!l->len)
		return true;
	for (uint32_t i = 0; i < s->nr; i++)
		for (uint32_t k = 0; k < s->vcpus[i].nr; k++)
			if (!take(l, &s->vcpus[i].samples[k].fraction, sizeof(uint64_t)))
				return false;
	return true;
}

static int read_all(struct dat *d, struct left *l, struct dat_shift *s)
{
	int rc = 0;

	if (s->nr > l->len / sizeof(uint32_t))
		return too_short(d);
	s->vcpus = s->nr ? dat_alloc(d, s->nr * sizeof(*s->vcpus)) : NULL;
	if (s->nr && !s->vcpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr && !rc; i++)
		rc = read_vcpu(d, l, &s->vcpus[i]);
	if (!rc && !read_fractions(l, s))
		return too_short(d);
	for (uint32_t i = 0; i < s->nr && !rc; i++)
		sort(&s->vcpus[i]);
	return rc;
}

int dat_shift_apply(struct dat *d, const struct dat_text *o)
{
	struct left l = {(const uint8_t *)o->text, o->len};
	struct dat_shift *s;
	uint64_t peer;

	if (o->len < HEAD)
		return 0;
	s = dat_alloc(d, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct dat_shift){0};
	take(&l, &peer, sizeof(peer));
	take(&l, &s->flags, sizeof(s->flags));
	take(&l, &s->nr, sizeof(s->nr));
	d->info.shift = s;
	return read_all(d, &l, s);
}

/* --- using it --------------------------------------------------------------------------------- */

/* Where libtracecmd's product has no more room in 64 bits this one has. */
static uint64_t correct(const struct dat_shift *s, uint64_t ts, const struct dat_shift_sample *from,
			const struct dat_shift_sample *to)
{
	uint64_t scaled =
		from->fraction < 64
			? (uint64_t)((unsigned __int128)ts * from->scaling >> from->fraction)
			: 0;
	__int128 delta = (__int128)to->time - from->time;
	__int128 rise = (__int128)to->offset - from->offset;
	unsigned __int128 part;

	if (!(s->flags & INTERPOLATE))
		return scaled + (uint64_t)from->offset;
	/* Without a sign: what a file says may be more than 128 bits have room for. */
	part = (unsigned __int128)((__int128)ts - from->time) * (unsigned __int128)rise;
	part += (unsigned __int128)(delta / 2);
	return scaled + (uint64_t)from->offset + (uint64_t)((__int128)part / delta);
}

/* The last one that is not later; that before the last one, for all later times. */
static size_t sample_of(const struct dat_shift_vcpu *v, uint64_t ts)
{
	size_t from = 0, to = v->nr - 1;

	while (to - from > 1) {
		size_t mid = from + (to - from) / 2;

		if (v->samples[mid].time <= ts)
			from = mid;
		else
			to = mid;
	}
	return from;
}

uint64_t dat_shift(const struct dat_shift *s, unsigned int vcpu, uint64_t ts)
{
	const struct dat_shift_vcpu *v = vcpu < s->nr ? &s->vcpus[vcpu] : NULL;
	size_t i;

	if (!v || !v->nr)
		return ts;
	/* Of one alone libtracecmd looks at the offset, and at nothing else. */
	if (v->nr == 1)
		return ts + (uint64_t)v->samples[0].offset;
	i = sample_of(v, ts);
	return correct(s, ts, &v->samples[i], &v->samples[i + 1]);
}
