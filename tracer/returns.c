// SPDX-License-Identifier: GPL-2.0-or-later
/* returns.c - finds the return sites of functions. */
#include "tracer/returns.h"
#include "tracer/instance.h"
#include "tracer/ret-insns.h"
#include "tracer/static-calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function that is longer is none. */
#define FUNCTION_MAX (1u << 20)

/* How many functions' returns are looked at to see what a return looks like. */
#define LEARN_FUNCTIONS 4000

#define NR_THUNKS 16

/* A function, or another piece of text with a name. All addresses are run-time ones. */
struct piece {
	uint64_t start, end;
	const char *name;
	uint32_t probe; /* of its fentry site; UINT32_MAX: it has none */
	bool wanted, done, module;
};

/* All text but that of init, which has gone when it is known how functions return. By address. */
struct text_map {
	struct piece *v;
	size_t nr, room;
};

/* The site of a return: as the kernel has it, at its link address. */
struct form {
	uint64_t va;
	uint8_t size;
	uint8_t bytes[SITE_SIZE];
};

struct wanted {
	struct form form;
	uint16_t flags;
};

struct wanted_list {
	struct wanted *v;
	size_t nr, room;
};

struct place {
	struct form form;
	uint32_t probe;
};

struct returns {
	bool known;
	bool decoded; /* there are no sites: the instructions themselves are looked for */
	bool told;    /* what that costs */
	struct static_calls static_calls;
	uint64_t thunk;
	uint64_t *listed; /* the image's return sites, by link address */
	size_t nr_listed;
	struct place *at; /* the probes of return sites, by address */
	size_t nr;
};

/* What one update works with. */
struct search {
	struct trace *t;
	struct text_map map;
	uint64_t entry_text, entry_text_end;
	struct text_view view;
	uint8_t *code; /* FUNCTION_MAX bytes: the piece that is looked at */
	struct ret_insns *insns;
	struct wanted_list list;
};

static int by_va(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

static int grow(void **v, size_t *room, size_t nr, size_t size)
{
	size_t more = *room ? 2 * *room : 1024;
	void *bigger;

	if (nr < *room)
		return 0;
	bigger = realloc(*v, more * size);
	if (!bigger)
		return -ENOMEM;
	*v = bigger;
	*room = more;
	return 0;
}

/* --- the text and its pieces ----------------------------------------------------------------- */

static int map_add(struct text_map *map, const struct piece *piece)
{
	/* Of several names at one place the first is kept. */
	if (map->nr && map->v[map->nr - 1].start == piece->start)
		return 0;
	if (grow((void **)&map->v, &map->room, map->nr, sizeof(*map->v)))
		return -ENOMEM;
	map->v[map->nr++] = *piece;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

/* Each ends where the next one begins. */
static void map_finish(struct text_map *map)
{
	if (map->nr)
		qsort(map->v, map->nr, sizeof(*map->v), by_start);
	for (size_t i = 1; i < map->nr; i++)
		if (map->v[i - 1].end > map->v[i].start)
			map->v[i - 1].end = map->v[i].start;
}

static int map_kernel(struct search *s)
{
	const struct trace *t = s->t;
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(t->gs, &syms);
	uint64_t text = guestsym_addr(t->gs, "_stext"), etext = guestsym_addr(t->gs, "_etext");

	for (size_t i = 0; i < n; i++) {
		struct piece p = {
			.start = syms[i].addr + t->guest.slide,
			.end = etext + t->guest.slide,
			.name = syms[i].name,
			.probe = UINT32_MAX,
		};

		if (syms[i].addr >= text && syms[i].addr < etext && map_add(&s->map, &p))
			return -ENOMEM;
	}
	return 0;
}

static int map_module(void *arg, const struct guestsym_module *mod)
{
	struct search *s = arg;

	for (size_t i = 0; i < mod->nr_syms; i++) {
		struct piece p = {
			.start = mod->syms[i].addr,
			.end = mod->text.end,
			.name = mod->syms[i].name,
			.probe = UINT32_MAX,
			.module = true,
		};

		if (p.start >= mod->text.start && p.start < p.end && map_add(&s->map, &p))
			return -ENOMEM;
	}
	return 0;
}

/* The piece that va is in, or NULL. */
static struct piece *map_at(const struct text_map *map, uint64_t va)
{
	size_t lo = 0, hi = map->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (map->v[mid].start <= va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && va < map->v[lo - 1].end ? &map->v[lo - 1] : NULL;
}

static void map_probes(struct search *s)
{
	const struct trace *t = s->t;

	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];
		struct piece *piece;

		if (!(p->flags & PROBE_FL_FUNCTION) || p->flags & (PROBE_FL_GONE | PROBE_FL_GOING))
			continue;
		piece = map_at(&s->map, p->va + t->guest.slide);
		if (piece)
			piece->probe = (uint32_t)i;
	}
}

static bool is_text(void *arg, uint64_t va)
{
	const struct search *s = arg;

	return map_at(&s->map, va);
}

static void search_free(struct search *s)
{
	ret_insns_free(s->insns);
	free(s->map.v);
	free(s->code);
	free(s->list.v);
	free(s);
}

static struct search *search_new(struct trace *t)
{
	struct search *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return NULL;
	s->t = t;
	text_view_init(&s->view, &t->guest);
	s->entry_text = guestsym_addr(t->gs, "__entry_text_start") + t->guest.slide;
	s->entry_text_end = guestsym_addr(t->gs, "__entry_text_end") + t->guest.slide;
	ret = map_kernel(s);
	if (!ret)
		ret = modules_each(t, map_module, s);
	s->code = malloc(FUNCTION_MAX);
	s->insns = ret_insns_new(is_text, s);
	if (ret || !s->code || !s->insns) {
		search_free(s);
		return NULL;
	}
	map_finish(&s->map);
	map_probes(s);
	return s;
}

static size_t first_place(const struct returns *r, uint64_t va)
{
	size_t lo = 0, hi = r->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->at[mid].form.va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* As it is without our probes. */
static void piece_restore(struct search *s, const struct piece *p, size_t len)
{
	const struct returns *r = s->t->returns;
	uint64_t va = p->start - s->t->guest.slide;

	for (size_t i = first_place(r, va); i < r->nr && r->at[i].form.va - va < len; i++) {
		const struct form *form = &r->at[i].form;
		size_t off = (size_t)(form->va - va);

		if (s->t->probes.v[r->at[i].probe].flags & PROBE_FL_SET && form->size <= len - off)
			memcpy(s->code + off, form->bytes, form->size);
	}
}

/* Its bytes; 0: they cannot be read. */
static size_t piece_read(struct search *s, const struct piece *p)
{
	size_t len = (size_t)(p->end - p->start);

	if (p->end - p->start > FUNCTION_MAX)
		return 0;
	if (len <= sizeof(s->view.bytes) / 2 ? text_view_get(&s->view, p->start, s->code, len)
					     : guest_read(&s->t->guest, p->start, s->code, len))
		return 0;
	piece_restore(s, p, len);
	return len;
}

/* --- what a return looks like ---------------------------------------------------------------- */

static uint64_t jump_target(const uint8_t *insn, uint64_t va)
{
	int32_t rel;

	memcpy(&rel, insn + 1, sizeof(rel));
	return va + SITE_SIZE + (uint64_t)(int64_t)rel;
}

/* By name, since there is one for each of the processors' weaknesses. */
static unsigned int thunks_find(const struct trace *t, uint64_t *thunks)
{
	static const char *const names[] = {
		"__x86_return_thunk",	   "srso_return_thunk",	      "srso_alias_return_thunk",
		"retbleed_return_thunk",   "call_depth_return_thunk", "__x86_return_skl",
		"srso_return_thunk_alias", "its_return_thunk",	      "zen_return_thunk",
	};
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t addr = guestsym_addr(t->gs, names[i]);

		if (addr)
			thunks[n++] = addr + t->guest.slide;
	}
	return n;
}

/* votes[0] is for plain returns, the others for the thunks. */
static void vote(const struct search *s, const struct piece *p, size_t len, const uint64_t *thunks,
		 unsigned int nr, size_t *votes)
{
	uint8_t plain[SITE_SIZE];

	site_return_make(plain, 0, 0);
	for (size_t i = 0; i + SITE_SIZE <= len; i++) {
		const uint8_t *insn = s->code + i;

		if (insn[0] == INSN_JMP)
			for (unsigned int k = 0; k < nr; k++)
				votes[k + 1] += jump_target(insn, p->start + i) == thunks[k];
		else if (!memcmp(insn, plain, SITE_SIZE))
			votes[0]++;
	}
}

/*
 * Which of them it is, by majority; false: these kernels have a return in each function, so this is
 * none that has room at its returns.
 */
static bool learn_sites(struct returns *r, struct search *s)
{
	uint64_t thunks[NR_THUNKS];
	unsigned int nr = thunks_find(s->t, thunks), best = 0;
	size_t votes[NR_THUNKS + 1] = {0}, looked = 0;

	for (size_t i = 0; nr && i < s->map.nr && looked < LEARN_FUNCTIONS; i++) {
		const struct piece *p = &s->map.v[i];

		if (p->probe == UINT32_MAX)
			continue;
		vote(s, p, piece_read(s, p), thunks, nr, votes);
		looked++;
	}
	for (unsigned int k = 1; k <= nr; k++)
		if (votes[k] > votes[best])
			best = k;
	r->thunk = best ? thunks[best - 1] : 0;
	return votes[best] && votes[best] >= looked / 2;
}

static int learn(struct returns *r, struct search *s)
{
	int ret = 0;

	r->decoded = !learn_sites(r, s);
	if (r->decoded) {
		r->thunk = 0;
		static_calls_free(&r->static_calls);
		ret = static_calls_read(s->t, &r->static_calls);
	}
	r->known = !ret;
	return ret == -EFAULT ? 0 : ret;
}

static struct returns *returns_new(const struct guestsym *gs)
{
	struct returns *r = calloc(1, sizeof(*r));
	const uint64_t *listed;
	size_t n = guestsym_return_sites(gs, &listed);

	if (!r)
		return NULL;
	r->listed = malloc((n + 1) * sizeof(*r->listed));
	if (!r->listed) {
		free(r);
		return NULL;
	}
	if (n) {
		memcpy(r->listed, listed, n * sizeof(*listed));
		qsort(r->listed, n, sizeof(*r->listed), by_va);
	}
	r->nr_listed = n;
	return r;
}

int returns_learn(struct trace *t)
{
	struct search *s;
	int ret;

	if (!t->returns)
		t->returns = returns_new(t->gs);
	if (!t->returns)
		return -ENOMEM;
	s = search_new(t);
	if (!s)
		return -ENOMEM;
	ret = learn(t->returns, s);
	search_free(s);
	return ret;
}

bool returns_known(const struct trace *t)
{
	return t->returns && t->returns->known;
}

uint64_t returns_thunk(const struct trace *t)
{
	return t->returns ? t->returns->thunk : 0;
}

/* --- which functions ------------------------------------------------------------------------- */

static bool is_wanted(const struct trace *t, uint32_t probe)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_exits(i) && instance_bit(i->takes, i->room, probe))
			return true;
	return false;
}

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
	return va >= s->map.v[0].start && va < s->map.v[s->map.nr - 1].end;
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
	to = map_at(&s->map, target);
	/* With IBT functions begin with endbr64, which a jump may leave out. */
	if (to && (target == to->start || target == to->start + 4 || is_cold(to)))
		to->wanted = to->wanted || !is_untouchable(s, to);
}

static void jumps_look(struct search *s, const struct piece *p, size_t len)
{
	for (size_t i = 0; i + 2 <= len; i++) {
		const uint8_t *c = s->code + i;
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

static struct place *place_of(const struct returns *r, uint64_t va)
{
	return r->nr ? bsearch(&va, r->at, r->nr, sizeof(*r->at), by_va) : NULL;
}

/* Modules have no list that outlives their loading, and an image may be without one. */
static bool is_listed(const struct search *s, const struct piece *p, uint64_t va)
{
	const struct returns *r = s->t->returns;

	return p->module || !r->nr_listed ||
	       bsearch(&va, r->listed, r->nr_listed, sizeof(*r->listed), by_va);
}

static void form_make(const struct trace *t, uint64_t va, struct form *form)
{
	*form = (struct form){.va = va, .size = SITE_SIZE};
	site_return_make(form->bytes, va + t->guest.slide, t->returns->thunk);
}

uint8_t returns_form(const struct trace *t, uint64_t va, uint8_t bytes[SITE_SIZE])
{
	const struct place *at = place_of(t->returns, va);

	if (!at)
		return 0;
	memcpy(bytes, at->form.bytes, SITE_SIZE);
	return at->form.size;
}

uint8_t returns_size(const struct trace *t, uint64_t va)
{
	const struct place *at = place_of(t->returns, va);

	return at ? at->form.size : 0;
}

static bool is_return(const struct search *s, size_t i, uint64_t va)
{
	uint8_t form[SITE_SIZE];

	site_return_make(form, va, s->t->returns->thunk);
	return !memcmp(s->code + i, form, SITE_SIZE);
}

static bool is_probe(const struct trace *t, uint64_t va)
{
	const struct place *at = place_of(t->returns, va);

	return at && t->probes.v[at->probe].flags & PROBE_FL_SET;
}

/* What a compiler made: it has an fentry site, or is part of what has one. */
static bool is_compiled(const struct piece *p)
{
	return p->probe != UINT32_MAX || is_cold(p);
}

static int site_add(struct search *s, const struct piece *p, const struct form *form)
{
	struct wanted_list *l = &s->list;

	if (grow((void **)&l->v, &l->room, l->nr, sizeof(*l->v)))
		return -ENOMEM;
	l->v[l->nr++] = (struct wanted){
		.form = *form,
		.flags = PROBE_FL_EXIT | PROBE_FL_RECORD |
			 (is_compiled(p) ? 0 : PROBE_FL_ALL_REGS) |
			 (p->module ? PROBE_FL_MODULE : 0),
	};
	return 0;
}

static int sites_look(struct search *s, const struct piece *p, size_t len)
{
	uint8_t first = s->t->returns->thunk ? INSN_JMP : 0xc3;

	for (size_t i = 0; i + SITE_SIZE <= len; i++) {
		uint64_t at = p->start + i, va = at - s->t->guest.slide;
		struct form form;

		if (s->code[i] != first || !is_return(s, i, at) || !is_listed(s, p, va) ||
		    !site_in_one_piece(&s->t->guest, at))
			continue;
		form_make(s->t, va, &form);
		if (site_add(s, p, &form))
			return -ENOMEM;
		i += SITE_SIZE - 1;
	}
	return 0;
}

/*
 * A static call to nothing is a return, for now: `ret` and four int3. Modules have a list of theirs
 * that is not read; what looks like it is left alone there.
 */
static bool is_static_call(const struct search *s, const struct piece *p, size_t i, size_t len)
{
	uint8_t empty[SITE_SIZE];

	if (!p->module)
		return static_calls_has(&s->t->returns->static_calls, p->start + i);
	site_return_make(empty, 0, 0);
	return i + SITE_SIZE <= len && !memcmp(s->code + i, empty, SITE_SIZE);
}

static int insns_look(struct search *s, const struct piece *p, size_t len)
{
	const struct ret_insn *found;
	int n = ret_insns_find(s->insns, s->code, len, p->start, is_compiled(p), &found);
	int ret = n < 0 ? n : 0;

	for (int i = 0; i < n && !ret; i++) {
		size_t off = (size_t)(found[i].va - p->start);
		struct form form = {.va = found[i].va - s->t->guest.slide, .size = found[i].size};

		if (is_static_call(s, p, off, len))
			continue;
		/* The first byte is enough for a trap. */
		if (!site_in_one_piece(&s->t->guest, found[i].va))
			form.size = 1;
		memcpy(form.bytes, s->code + off, form.size);
		ret = site_add(s, p, &form);
	}
	return ret;
}

static int piece_look(struct search *s, struct piece *p)
{
	size_t len = piece_read(s, p);

	p->done = true;
	jumps_look(s, p, len);
	return s->t->returns->decoded ? insns_look(s, p, len) : sites_look(s, p, len);
}

/* By address, so that text is read in large pieces; jumps go back as well as forth. */
static int search_run(struct search *s)
{
	bool more = true;

	for (size_t i = 0; i < s->map.nr; i++) {
		struct piece *p = &s->map.v[i];

		p->wanted = p->probe != UINT32_MAX && is_wanted(s->t, p->probe);
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < s->map.nr; i++) {
			struct piece *p = &s->map.v[i];

			if (!p->wanted || p->done)
				continue;
			if (piece_look(s, p))
				return -ENOMEM;
			more = true;
		}
	}
	qsort(s->list.v, s->list.nr, sizeof(*s->list.v), by_va);
	return 0;
}

/* --- the probes ------------------------------------------------------------------------------ */

static void probe_settle(struct probe *p, uint16_t flags)
{
	const uint16_t keep = PROBE_FL_SET | PROBE_FL_CALL;
	uint16_t now = (p->flags & keep) | flags;

	if (p->flags & PROBE_FL_SET && now != p->flags)
		now |= PROBE_FL_CHANGE;
	p->flags = now;
}

/* New probes go to the end of the table of probes, and into the places by address. */
static int places_add(struct trace *t, const struct wanted_list *l)
{
	struct returns *r = t->returns;
	struct place *at = malloc((r->nr + l->nr + 1) * sizeof(*at));
	size_t n = 0, old = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		uint64_t va = l->v[i].form.va;
		struct probe *p;

		while (old < r->nr && r->at[old].form.va < va)
			at[n++] = r->at[old++];
		if ((old < r->nr && r->at[old].form.va == va) || (n && at[n - 1].form.va == va))
			continue;
		p = probe_add(&t->probes, va);
		if (!p) {
			free(at);
			return -ENOMEM;
		}
		at[n++] = (struct place){l->v[i].form, (uint32_t)(t->probes.nr - 1)};
	}
	while (old < r->nr)
		at[n++] = r->at[old++];
	free(r->at);
	r->at = at;
	r->nr = n;
	return 0;
}

static int probes_settle(struct trace *t, const struct wanted_list *l)
{
	struct returns *r = t->returns;
	size_t k = 0;
	int ret = l->nr ? places_add(t, l) : 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < r->nr; i++) {
		struct place *at = &r->at[i];
		struct probe *p = &t->probes.v[at->probe];

		while (k < l->nr && l->v[k].form.va < at->form.va)
			k++;
		if (k == l->nr || l->v[k].form.va != at->form.va) {
			probe_settle(p, p->flags & (uint16_t)~PROBE_FL_RECORD);
			continue;
		}
		/* Another module may lie there now. */
		if (!(p->flags & PROBE_FL_SET))
			at->form = l->v[k].form;
		probe_settle(p, l->v[k].flags);
	}
	return 0;
}

void returns_tell_cost(struct trace *t)
{
	struct returns *r = t->returns;
	size_t wanted = 0, exits = 0;

	if (!returns_known(t) || !r->decoded || r->told)
		return;
	for (size_t i = 0; i < r->nr; i++) {
		if (!(t->probes.v[r->at[i].probe].flags & PROBE_FL_RECORD))
			continue;
		wanted++;
		exits += r->at[i].form.size < SITE_SIZE;
	}
	if (!exits)
		return;
	r->told = true;
	trace_note(t,
		   "this kernel keeps no room at its returns (CONFIG_RETHUNK, from 6.9 on "
		   "CONFIG_MITIGATION_RETHUNK): %zu of the %zu to be traced exit to the host each "
		   "time, so trace few functions",
		   exits, wanted);
}

static bool exits_wanted(const struct trace *t)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_exits(i))
			return true;
	return false;
}

int returns_update(struct trace *t)
{
	struct search *s;
	int ret;

	if (!returns_known(t) || (!exits_wanted(t) && !t->returns->nr))
		return 0;
	if (!exits_wanted(t))
		return probes_settle(t, &(struct wanted_list){0});
	s = search_new(t);
	if (!s)
		return -ENOMEM;
	ret = search_run(s);
	if (!ret)
		ret = probes_settle(t, &s->list);
	if (!ret && t->placed)
		returns_tell_cost(t);
	search_free(s);
	return ret;
}

void returns_count(struct trace *t, size_t *listed, size_t *unknown)
{
	const struct returns *r = t->returns;
	uint64_t etext = guestsym_addr(t->gs, "_etext");
	struct text_view view;

	*listed = *unknown = 0;
	text_view_init(&view, &t->guest);
	for (size_t i = 0; returns_known(t) && !r->decoded && i < r->nr_listed; i++) {
		uint64_t va = r->listed[i] + t->guest.slide;
		uint8_t form[SITE_SIZE], now[SITE_SIZE];

		if (r->listed[i] >= etext)
			continue;
		(*listed)++;
		site_return_make(form, va, r->thunk);
		*unknown +=
			!is_probe(t, r->listed[i]) &&
			(text_view_get(&view, va, now, SITE_SIZE) || memcmp(now, form, SITE_SIZE));
	}
}

void returns_free(struct trace *t)
{
	if (t->returns) {
		static_calls_free(&t->returns->static_calls);
		free(t->returns->listed);
		free(t->returns->at);
	}
	free(t->returns);
}
