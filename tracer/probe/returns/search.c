// SPDX-License-Identifier: GPL-2.0-or-later
/* search.c - finds the return sites of the functions whose exits are wanted. */
#include "tracer/probe/returns/internal.h"
#include "tracer/probe/returns/insns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What one update works with. */
struct search {
	struct trace *t;
	const struct returns_wish *wish;
	struct returns_text *text;
	struct ret_insns *insns;
	uint64_t entry_text, entry_text_end;
	/* Pieces that are wanted, by their number: each once, in the order in which that came out.
	 */
	uint32_t *todo;
	size_t nr_todo;
	struct static_calls of_modules; /* once somebody has asked for them */
	bool asked_modules;
	struct wanted_list *list;
};

static bool is_text(void *arg, uint64_t va)
{
	const struct returns_text *x = arg;

	return text_map_at(&x->map, va);
}

static void search_exit(struct search *s)
{
	ret_insns_free(s->insns);
	free(s->todo);
	static_calls_free(&s->of_modules);
	if (s->text)
		returns_text_free(s->text);
}

static int search_init(struct search *s, struct trace *t, const struct returns_wish *wish,
		       struct wanted_list *list)
{
	*s = (struct search){
		.t = t,
		.wish = wish,
		.text = returns_text_new(t),
		.entry_text = guestsym_addr(t->gs, "__entry_text_start") + t->guest.slide,
		.entry_text_end = guestsym_addr(t->gs, "__entry_text_end") + t->guest.slide,
		.list = list,
	};
	if (s->text) {
		s->insns = ret_insns_new(is_text, s->text);
		s->todo = malloc((s->text->map.nr + 1) * sizeof(*s->todo));
	}
	return s->insns && s->todo ? 0 : -ENOMEM;
}

/* --- which functions ------------------------------------------------------------------------- */

static bool is_cold(const struct piece *p)
{
	return strstr(p->name, ".cold");
}

/*
 * Not what runs while a CPU is still, or again, half the user's; not the thunks: what is on the
 * stack at their returns is where to go, not whence the call came; and not where static calls are
 * directed, which the kernel patches.
 */
static bool is_untouchable(const struct search *s, const struct piece *p)
{
	return (p->start >= s->entry_text && p->start < s->entry_text_end) ||
	       strstr(p->name, "_thunk") || !strncmp(p->name, "__x86_", 6) ||
	       !strncmp(p->name, "srso_", 5) || !strncmp(p->name, "retbleed_", 9) ||
	       !strncmp(p->name, "__SCT__", 7);
}

/* Of the kernel or of modules, as far as that is quickly told. */
static bool in_text(const struct search *s, uint64_t va)
{
	return va >= s->text->map.v[0].start && va < s->text->map.v[s->text->map.nr - 1].end;
}

static void want(struct search *s, struct piece *p)
{
	if (!p->wanted)
		s->todo[s->nr_todo++] = (uint32_t)(p - s->text->map.v);
	p->wanted = true;
}

/*
 * A jump that leaves the piece: to the start of another function, whose return is then the
 * caller's too, or into the part of this one that compilers put aside as cold. Whether these bytes
 * are an instruction at all is not known; a site too many does no harm.
 */
static void jump_look(struct search *s, const struct piece *p, uint64_t target)
{
	struct piece *to;

	/* Most of what looks like one is none, or goes nowhere. */
	if (target - p->start < p->end - p->start || !in_text(s, target))
		return;
	to = text_map_at(&s->text->map, target);
	/* With IBT functions begin with endbr64, which a jump may leave out. */
	if (to && (target == to->start || target == to->start + 4 || is_cold(to)) &&
	    !is_untouchable(s, to))
		want(s, to);
}

static void jumps_look(struct search *s, const struct piece *p, size_t len)
{
	for (size_t i = 0; i + 2 <= len; i++) {
		const uint8_t *c = s->text->code + i;
		uint64_t va = p->start + i;

		if (c[0] == 0xeb || (c[0] & 0xf0) == 0x70)
			jump_look(s, p, va + 2 + (uint64_t)(int64_t)(int8_t)c[1]);
		else if (c[0] == INSN_JMP && i + SITE_SIZE <= len)
			jump_look(s, p, jump_target(c, va));
		else if (c[0] == 0x0f && (c[1] & 0xf0) == 0x80 && i + SITE_SIZE + 1 <= len)
			jump_look(s, p, jump_target(c + 1, va + 1));
	}
}

/* --- which sites ----------------------------------------------------------------------------- */

/* A static call to nothing is a return, for now, and looks like one. 1, 0 or -ENOMEM. */
static int is_static_call(struct search *s, const struct piece *p, uint64_t at)
{
	int ret = 0;

	if (!p->module)
		return static_calls_has(&s->t->returns->static_calls, at);
	if (!s->asked_modules)
		ret = static_calls_read_modules(&s->t->guest, s->t->gs, s->t->modules,
						&s->of_modules);
	s->asked_modules = true;
	return ret ? ret : static_calls_has(&s->of_modules, at);
}

/*
 * Modules have no list of returns that outlives their loading, and an image may be without one: all
 * that look like one are, but static calls. 1, 0 or -ENOMEM.
 */
static int is_listed(struct search *s, const struct piece *p, uint64_t va)
{
	const struct returns *r = s->t->returns;
	int ret;

	if (!p->module && r->nr_listed)
		return bsearch(&va, r->listed, r->nr_listed, sizeof(*r->listed), returns_by_va) !=
		       NULL;
	ret = is_static_call(s, p, va + s->t->guest.slide);
	return ret < 0 ? ret : !ret;
}

static void form_make(const struct trace *t, uint64_t va, struct form *form)
{
	*form = (struct form){.va = va, .size = SITE_SIZE};
	site_return_make(form->bytes, va + t->guest.slide, t->returns->thunk);
}

static bool is_return(const struct search *s, size_t i, uint64_t va)
{
	uint8_t form[SITE_SIZE];

	site_return_make(form, va, s->t->returns->thunk);
	return !memcmp(s->text->code + i, form, SITE_SIZE);
}

/* What a compiler made: it has an fentry site, or is part of what has one. */
static bool is_compiled(const struct piece *p)
{
	return p->probe != UINT32_MAX || is_cold(p);
}

static int site_add(struct search *s, const struct piece *p, const struct form *form)
{
	struct wanted_list *l = s->list;

	if (l->nr == l->room) {
		size_t room = l->room ? 2 * l->room : 1024;
		struct wanted *v = realloc(l->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	l->v[l->nr++] = (struct wanted){
		.form = *form,
		.flags = PROBE_FL_EXIT | PROBE_FL_RECORD |
			 (is_compiled(p) ? 0 : PROBE_FL_ALL_REGS) |
			 (p->module ? PROBE_FL_MODULE : 0) | (p->init ? PROBE_FL_INIT : 0),
	};
	return 0;
}

static int sites_look(struct search *s, const struct piece *p, size_t len)
{
	uint8_t first = s->t->returns->thunk ? INSN_JMP : 0xc3;

	for (size_t i = 0; i + SITE_SIZE <= len; i++) {
		uint64_t at = p->start + i, va = at - s->t->guest.slide;
		struct form form;
		int ret;

		if (s->text->code[i] != first || !is_return(s, i, at))
			continue;
		ret = is_listed(s, p, va);
		if (ret < 0)
			return ret;
		if (!ret || !site_in_one_piece(&s->t->guest, at))
			continue;
		form_make(s->t, va, &form);
		if (site_add(s, p, &form))
			return -ENOMEM;
		i += SITE_SIZE - 1;
	}
	return 0;
}

static int insns_look(struct search *s, const struct piece *p, size_t len)
{
	const struct ret_insn *found;
	int n = ret_insns_find(s->insns, s->text->code, len, p->start, is_compiled(p), &found);
	int ret = n < 0 ? n : 0;

	for (int i = 0; i < n && !ret; i++) {
		size_t off = (size_t)(found[i].va - p->start);
		struct form form = {.va = found[i].va - s->t->guest.slide, .size = found[i].size};
		int call = is_static_call(s, p, found[i].va);

		if (call < 0)
			return call;
		if (call)
			continue;
		/* The first byte is enough for a trap. */
		if (!site_in_one_piece(&s->t->guest, found[i].va))
			form.size = 1;
		memcpy(form.bytes, s->text->code + off, form.size);
		ret = site_add(s, p, &form);
	}
	return ret;
}

static int piece_look(struct search *s, const struct piece *p)
{
	size_t len = returns_text_read(s->text, p);

	jumps_look(s, p, len);
	return s->t->returns->decoded ? insns_look(s, p, len) : sites_look(s, p, len);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * In rounds, each of what the one before has come upon, by address, so that text is read in large
 * pieces. There may be as many rounds as pieces: a round looks at no others than its own.
 */
static int search_run(struct search *s)
{
	struct text_map *map = &s->text->map;
	size_t at = 0;

	for (size_t i = 0; i < map->nr; i++)
		if (map->v[i].probe != UINT32_MAX && s->wish->takes(s->t, map->v[i].probe))
			want(s, &map->v[i]);
	while (at < s->nr_todo) {
		size_t end = s->nr_todo;

		qsort(s->todo + at, end - at, sizeof(*s->todo), by_number);
		for (; at < end; at++)
			if (piece_look(s, &map->v[s->todo[at]]))
				return -ENOMEM;
	}
	if (s->list->nr)
		qsort(s->list->v, s->list->nr, sizeof(*s->list->v), returns_by_va);
	return 0;
}

int returns_search(struct trace *t, const struct returns_wish *wish, struct wanted_list *list)
{
	struct search s;
	int ret = search_init(&s, t, wish, list);

	if (!ret)
		ret = search_run(&s);
	search_exit(&s);
	return ret;
}
