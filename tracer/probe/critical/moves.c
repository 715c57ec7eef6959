// SPDX-License-Identifier: GPL-2.0-or-later
/* moves.c - see moves.h */
#include "tracer/probe/critical/moves.h"
#include "tracer/guest/site.h"
#include "tracer/probe/critical/bounds.h"
#include "tracer/probe/critical/find.h"
#include "tracer/probe/critical/kinds.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/window/moved.h"
#include "tracer/window/quiesce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As they are in a window; those of one that has been closed may be looked at still. */
struct placed {
	struct moved m;
	struct placed *before;
};

struct flag_moves {
	struct move *v; /* by address */
	uint8_t *kind;
	size_t nr;
	struct placed *_Atomic placed; /* in the latest; for any thread to look at */
};

struct flag_moves *flag_moves_new(void)
{
	return calloc(1, sizeof(struct flag_moves));
}

void flag_moves_free(struct flag_moves *fm)
{
	struct placed *p = fm ? atomic_load(&fm->placed) : NULL;

	if (!fm)
		return;
	while (p) {
		struct placed *before = p->before;

		free(p);
		p = before;
	}
	free(fm->v);
	free(fm->kind);
	free(fm);
}

size_t flag_moves_all(const struct flag_moves *fm, const struct move **m)
{
	*m = fm->v;
	return fm->nr;
}

/* --- which ------------------------------------------------------------------------------------ */

struct wish {
	struct move m;
	uint8_t kind;
};

static int by_va(const void *a, const void *b)
{
	const struct wish *p = a, *q = b;

	return p->m.va < q->m.va ? -1 : p->m.va > q->m.va;
}

static int sort(struct move *m, uint8_t *kind, size_t n)
{
	struct wish *w = calloc(n ? n : 1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w[i] = (struct wish){m[i], kind[i]};
	qsort(w, n, sizeof(*w), by_va);
	for (size_t i = 0; i < n; i++) {
		m[i] = w[i].m;
		kind[i] = w[i].kind;
	}
	free(w);
	return 0;
}

/* How many functions they are in. */
static size_t functions_of(const struct trace *t, const struct move *m, size_t n,
			   struct text_range *func)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		if (nr && m[i].va - func[nr - 1].va < func[nr - 1].size)
			continue;
		if (flag_function_at(t, m[i].va, &func[nr]))
			nr++;
	}
	return nr;
}

static int plan_function(struct trace *t, struct mover *mv, const struct move_bounds *b,
			 const struct text_range *func, struct move *m, size_t n)
{
	uint8_t *code = malloc(func->size);
	int ret = code ? 0 : -ENOMEM;

	if (!ret && !guest_read(&t->guest, func->va, code, func->size)) {
		returns_restore(t, func->va, code, func->size);
		ret = mover_plan(mv, b, code, func->size, func->va, m, n);
	}
	free(code);
	return ret;
}

static int plan_functions(struct trace *t, const struct move_bounds *b,
			  const struct text_range *func, size_t nr, struct move *m, size_t n)
{
	struct mover *mv = mover_new();
	int ret = mv ? 0 : -ENOMEM;

	for (size_t f = 0, i = 0; f < nr && !ret; f++) {
		size_t first;

		while (i < n && m[i].va < func[f].va)
			i++;
		first = i;
		while (i < n && m[i].va - func[f].va < func[f].size)
			i++;
		ret = plan_function(t, mv, b, &func[f], m + first, i - first);
	}
	mover_free(mv);
	return ret;
}

static int plan(struct trace *t, bool changes, struct move *m, size_t n)
{
	struct text_range *func = calloc(n ? n : 1, sizeof(*func));
	uint64_t callee[FLAG_KINDS];
	struct move_bounds b;
	size_t nr;
	int ret;

	if (!func)
		return -ENOMEM;
	nr = functions_of(t, m, n, func);
	ret = bounds_read(t, func, nr, changes, &b);
	if (!ret) {
		b.callee = callee;
		b.nr_callees = flag_kind_targets(t, callee, FLAG_KINDS);
		b.tells_on = guestsym_addr(t->gs, "trace_hardirqs_on");
		b.tells_on += b.tells_on ? t->guest.slide : 0;
		ret = plan_functions(t, &b, func, nr, m, n);
		bounds_free(&b);
	}
	free(func);
	return ret;
}

static int keep(struct flag_moves *fm, struct move *m, const uint8_t *kind, size_t n)
{
	/* What has been planned before was not taken. */
	free(fm->v);
	free(fm->kind);
	fm->nr = 0;
	fm->v = calloc(n ? n : 1, sizeof(*fm->v));
	fm->kind = calloc(n ? n : 1, 1);
	if (!fm->v || !fm->kind)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (fm->nr == MOVED_ROWS)
			m[i].size = 0;
		if (!m[i].size)
			continue;
		fm->kind[fm->nr] = kind[i];
		fm->v[fm->nr++] = m[i];
	}
	return 0;
}

int flag_moves_plan(struct trace *t, struct flag_moves *fm, bool changes, struct move *m,
		    uint8_t *kind, size_t n)
{
	int ret = sort(m, kind, n);

	for (size_t i = 0; i < n; i++)
		m[i].size = 0;
	if (!ret)
		ret = plan(t, changes, m, n);
	return ret ? ret : keep(fm, m, kind, n);
}

/* --- into the window -------------------------------------------------------------------------- */

static int build(const struct flag_moves *fm, const struct window *w,
		 const struct payload_text *text, struct moved *to, uint8_t *code)
{
	uint64_t payload = w->header.va + WINDOW_TEXT;
	struct mover *mv = mover_new();
	int ret = mv ? 0 : -ENOMEM;

	to->va = w->header.va + WINDOW_MOVED_TEXT;
	to->nr = fm->nr;
	for (size_t i = 0; i < fm->nr && !ret; i++) {
		const struct move *m = &fm->v[i];
		uint32_t entry = flag_kind_moved_entry(&flag_kinds[fm->kind[i]], text);
		uint32_t change = 0;

		if (m->how == MOVE_TOLD)
			entry = text->moved_exit;
		if (m->how == MOVE_LOOK)
			entry = text->moved_look;
		if (m->change < MOVED_MAX)
			change = flag_kind_entry(&flag_kinds[m->change_kind], text);
		ret = mover_build(mv, m, moved_code(to, i), payload + entry, payload + change,
				  &to->row[i], code + i * MOVED_SIZE);
	}
	mover_free(mv);
	return ret;
}

static int place(struct flag_moves *fm, struct window *w, const struct payload_text *text)
{
	struct placed *p = calloc(1, sizeof(*p));
	uint8_t *code = malloc(MOVED_ROWS * MOVED_SIZE);
	int ret = p && code ? build(fm, w, text, &p->m, code) : -ENOMEM;

	if (!ret)
		ret = moved_write(w, &p->m, code);
	if (ret) {
		free(p);
	} else {
		p->before = atomic_load(&fm->placed);
		atomic_store(&fm->placed, p);
		w->has_moved = true;
	}
	free(code);
	return ret;
}

static const struct moved *moved_of(const struct flag_moves *fm)
{
	const struct placed *p = atomic_load(&fm->placed);

	return p ? &p->m : NULL;
}

int flag_moves_enter(struct trace *t, struct flag_moves *fm, struct window *w,
		     const struct payload_text *text)
{
	int ret = w->has_moved ? 0 : place(fm, w, text);

	return ret ? ret : quiesce_enter(&t->guest, t->gs, moved_of(fm));
}

uint64_t flag_moves_code(const struct flag_moves *fm, uint16_t move)
{
	const struct moved *m = moved_of(fm);

	return m ? moved_code(m, move) : 0;
}

uint64_t flag_moves_home(const struct flag_moves *fm, uint64_t ip)
{
	const struct moved *m = moved_of(fm);

	return m ? moved_home(m, ip) : 0;
}
