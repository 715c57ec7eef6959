// SPDX-License-Identifier: GPL-2.0-or-later
/* profile.c - see profile.h */
#include "tracer/graph/profile.h"
#include "tracer/output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN   1024
#define NAME_WIDTH 30

struct function {
	uint64_t addr;
	uint64_t hits, ns;
	uint64_t ns_squared; /* the sum of squares; it wraps, as in the kernel */
};

struct profile {
	struct function *v; /* in the order in which they were first called */
	uint32_t *place;    /* a hash table twice as large: 0: nothing, else its number from 1 */
	uint32_t nr, room;
};

static bool profile_alloc(struct profile *p, uint32_t room)
{
	p->v = malloc(room * sizeof(*p->v));
	p->place = calloc(2 * (size_t)room, sizeof(*p->place));
	p->room = room;
	return p->v && p->place;
}

struct profile *profile_new(void)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (p && profile_alloc(p, ROOM_MIN))
		return p;
	profile_free(p);
	return NULL;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->v);
	free(p->place);
	free(p);
}

void profile_reset(struct profile *p)
{
	memset(p->place, 0, 2 * (size_t)p->room * sizeof(*p->place));
	p->nr = 0;
}

/* Where an address is, or would be. */
static uint32_t *place_of(const struct profile *p, uint64_t addr)
{
	size_t mask = 2 * (size_t)p->room - 1;
	size_t i = (addr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (p->place[i] && p->v[p->place[i] - 1].addr != addr)
		i = (i + 1) & mask;
	return &p->place[i];
}

static bool profile_grow(struct profile *p)
{
	struct profile more;

	if (p->room >= PROFILE_MAX)
		return false;
	if (!profile_alloc(&more, 2 * p->room)) {
		free(more.v);
		free(more.place);
		return false;
	}
	memcpy(more.v, p->v, p->nr * sizeof(*p->v));
	for (more.nr = 0; more.nr < p->nr;) {
		uint64_t addr = more.v[more.nr].addr;

		*place_of(&more, addr) = more.nr + 1;
		more.nr++;
	}
	free(p->v);
	free(p->place);
	*p = more;
	return true;
}

/* Its number, from 1 on; 0: there is no room. */
static uint32_t function_add(struct profile *p, uint64_t addr)
{
	if (p->nr == p->room && !profile_grow(p))
		return 0;
	p->v[p->nr++] = (struct function){.addr = addr};
	*place_of(p, addr) = p->nr;
	return p->nr;
}

void profile_call(struct profile *p, uint64_t addr)
{
	uint32_t n = *place_of(p, addr);

	if (!n)
		n = function_add(p, addr);
	if (n)
		p->v[n - 1].hits++;
}

void profile_return(struct profile *p, uint64_t addr, uint64_t ns)
{
	uint32_t n = *place_of(p, addr);

	if (!n)
		return;
	p->v[n - 1].ns += ns;
	p->v[n - 1].ns_squared += ns * ns;
}

/* --- its text -------------------------------------------------------------------------------- */

/* Of those that took as long, the one that was called first comes last. */
static int by_time(const void *one, const void *other)
{
	const struct function *const *a = one, *const *b = other;

	if ((*a)->ns != (*b)->ns)
		return (*a)->ns < (*b)->ns ? 1 : -1;
	return *a < *b ? 1 : -1;
}

/*
 * What function_stat_show() makes of n values for s^2, in thousandths of us^2: printed as if they
 * were ns. All of it wraps as there.
 */
static uint64_t variance(const struct function *f)
{
	uint64_t n = f->hits, divisor = n * (n - 1) * 1000;

	return divisor ? (n * f->ns_squared - f->ns * f->ns) / divisor : 0;
}

static void print_usecs(uint64_t ns, struct text *out)
{
	char buf[40], *end = output_put_usecs(buf, ns);

	text_add(out, buf, (size_t)(end - buf));
}

static void print_function(const struct function *f, const struct text *name, struct text *out)
{
	int len = name->len < NAME_WIDTH ? (int)name->len : NAME_WIDTH;

	text_printf(out, "  %-*.*s  %10" PRIu64 "    ", NAME_WIDTH, len, name->buf ? name->buf : "",
		    f->hits);
	print_usecs(f->ns, out);
	text_puts(out, "    ");
	print_usecs(f->ns / f->hits, out);
	text_puts(out, "    ");
	print_usecs(variance(f), out);
	text_putc(out, '\n');
}

void profile_print(const struct profile *p, uint64_t thresh_ns,
		   void (*name)(void *arg, uint64_t addr, struct text *out), void *arg,
		   struct text *out)
{
	uint32_t nr = p ? p->nr : 0;
	const struct function **order = malloc((nr + 1) * sizeof(*order));
	struct text text = {0};

	text_puts(out, "  Function                               Hit    Time            Avg"
		       "             s^2\n"
		       "  --------                               ---    ----            ---"
		       "             ---\n");
	if (!order) {
		out->failed = true;
		return;
	}
	for (uint32_t i = 0; i < nr; i++)
		order[i] = &p->v[i];
	qsort(order, nr, sizeof(*order), by_time);
	for (uint32_t i = 0; i < nr; i++) {
		if (order[i]->ns / order[i]->hits < thresh_ns)
			continue;
		text.len = 0;
		name(arg, order[i]->addr, &text);
		print_function(order[i], &text, out);
	}
	text_free(&text);
	free(order);
}
