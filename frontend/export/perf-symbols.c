// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf-symbols.c - see perf-local.h. perf would look names up in the kernel of the machine that it
 * runs on; so each function that the trace has to do with is told, as the kernel tells those that
 * it makes while it runs.
 */
#include "frontend/export/perf-local.h"

#include <stdlib.h>

/* The text of the kernel and its modules: Documentation/arch/x86/x86_64/mm.rst. */
#define TEXT_BEGIN UINT64_C(0xffffffff80000000)

enum { CACHE = 1 << 16, FUNCTION_MAX = 1 << 20, FIELDS_MAX = 8 };

/* Fields of an event that may be addresses. */
struct plan {
	bool known;
	uint8_t nr;
	const struct tep_format_field *field[FIELDS_MAX];
};

struct perf_symbols {
	struct formats *formats;
	struct tep_handle *tep;
	void (*tell)(void *arg, uint64_t start, uint32_t len, const char *name);
	void *arg;
	uint64_t cache[CACHE]; /* addresses that were looked at */
	uint64_t *told;	       /* where functions begin; as many as there is room for, twice */
	size_t nr, room;
	struct plan *plan; /* by id */
};

struct perf_symbols *
perf_symbols_new(struct formats *f,
		 void (*tell)(void *arg, uint64_t start, uint32_t len, const char *name), void *arg)
{
	struct perf_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->formats = f;
	s->tep = formats_tep(f);
	s->tell = tell;
	s->arg = arg;
	s->plan = calloc(PERF_IDS, sizeof(*s->plan));
	if (s->plan)
		return s;
	free(s);
	return NULL;
}

void perf_symbols_free(struct perf_symbols *s)
{
	if (!s)
		return;
	free(s->plan);
	free(s->told);
	free(s);
}

/* --- functions ---------------------------------------------------------------------------------
 */

static size_t place_of(const uint64_t *told, size_t slots, uint64_t start)
{
	size_t i = (size_t)((start * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % slots;

	while (told[i] && told[i] != start)
		i = (i + 1) % slots;
	return i;
}

static bool make_room(struct perf_symbols *s)
{
	size_t room = s->room ? 2 * s->room : 1024;
	uint64_t *told = calloc(2 * room, sizeof(*told));

	if (!told)
		return false;
	for (size_t i = 0; i < 2 * s->room; i++)
		if (s->told[i])
			told[place_of(told, 2 * room, s->told[i])] = s->told[i];
	free(s->told);
	s->told = told;
	s->room = room;
	return true;
}

/* The library tells no lengths: one goes on as far as it is found. */
static uint32_t length_of(const struct perf_symbols *s, uint64_t start)
{
	uint32_t in = 0, out = FUNCTION_MAX;

	if (start > UINT64_MAX - out)
		out = (uint32_t)(UINT64_MAX - start);
	while (out - in > 1) {
		uint32_t at = in + (out - in) / 2;

		if (tep_find_function_address(s->tep, start + at) == start)
			in = at;
		else
			out = at;
	}
	return out;
}

/* Names are those of the file, which may say anything. */
static bool look_up(struct perf_symbols *s, uint64_t addr)
{
	uint64_t start = tep_find_function_address(s->tep, addr);
	const char *name = start ? tep_find_function(s->tep, start) : NULL;
	size_t place;

	if (!name)
		return true;
	if (s->nr == s->room && !make_room(s))
		return false;
	place = place_of(s->told, 2 * s->room, start);
	if (s->told[place])
		return true;
	s->told[place] = start;
	s->nr++;
	s->tell(s->arg, start, length_of(s, start), name);
	return true;
}

bool perf_symbols_address(struct perf_symbols *s, uint64_t addr)
{
	uint64_t *cached = &s->cache[(addr * UINT64_C(0x9e3779b97f4a7c15)) >> 48];

	if (addr < TEXT_BEGIN || *cached == addr)
		return true;
	*cached = addr;
	return look_up(s, addr);
}

/* --- fields ------------------------------------------------------------------------------------
 */

static const struct plan *plan_of(struct perf_symbols *s, int id)
{
	struct plan *p = &s->plan[id];
	const struct tep_event *event = p->known ? NULL : formats_event(s->formats, id);

	if (event)
		for (const struct tep_format_field *f = event->format.fields;
		     f && p->nr < FIELDS_MAX; f = f->next)
			if (f->size == 8 && !(f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING |
							  TEP_FIELD_IS_DYNAMIC)))
				p->field[p->nr++] = f;
	p->known = true;
	return p;
}

bool perf_symbols_event(struct perf_symbols *s, const struct decode_event *ev)
{
	const struct plan *p = plan_of(s, ev->id);

	for (unsigned int i = 0; i < p->nr; i++) {
		uint64_t addr;

		if (formats_number(p->field[i], ev, &addr) && !perf_symbols_address(s, addr))
			return false;
	}
	return true;
}
