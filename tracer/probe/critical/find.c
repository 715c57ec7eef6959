// SPDX-License-Identifier: GPL-2.0-or-later
/* find.c - see find.h */
#include "tracer/probe/critical/find.h"
#include "tracer/guest/modules.h"
#include "tracer/payload/patch.h"
#include "tracer/probe/returns/returns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX (64u << 10)

int flag_list_add(struct flag_list *l, uint64_t va)
{
	if (l->nr == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		uint64_t *v = realloc(l->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	l->v[l->nr++] = va;
	return 0;
}

static bool has_form(const struct payload_form *form, uint64_t va, const uint8_t *code)
{
	uint8_t bytes[PAYLOAD_FORM_MAX];

	payload_form_make(form, va, bytes);
	return !memcmp(bytes, code, form->size);
}

/* A function, or what of it is readable: run-time addresses. */
struct extent {
	uint64_t va, size;
};

/* A piece of text that some functions lie in: the kernel's, or a module's. */
struct area {
	uint64_t start, end;
	const struct guestsym_module *mod;
};

struct search {
	const struct payload_form *form;
	const uint8_t *code;
	uint64_t va; /* of the code: run-time */
	size_t len;
	const struct area *area;
	uint64_t slide;
	struct flag_list *list;
	int ret;
};

static bool in_area(const struct area *area, uint64_t va, size_t size)
{
	return va >= area->start && va < area->end && area->end - va >= size;
}

static bool look(void *arg, const struct guestsym_insn *insn)
{
	struct search *s = arg;
	size_t off = (size_t)(insn->addr - s->va);

	if (s->len - off < s->form->size)
		return false;
	if (in_area(s->area, insn->addr, s->form->size) &&
	    has_form(s->form, insn->addr, s->code + off))
		s->ret = flag_list_add(s->list, insn->addr - s->slide);
	return !s->ret;
}

/* All that are in this function. */
static int find(struct trace *t, const struct area *area, const struct extent *func,
		const struct payload_form *form, struct flag_list *l)
{
	struct guestsym_decoder *d;
	uint8_t *code;
	int ret = 0;

	if (func->size > FUNCTION_MAX)
		return 0;
	d = guestsym_decoder_new();
	code = malloc(func->size);
	if (!d || !code) {
		ret = -ENOMEM;
	} else if (!guest_read(&t->guest, func->va, code, func->size)) {
		struct search s = {.form = form,
				   .code = code,
				   .va = func->va,
				   .len = func->size,
				   .area = area,
				   .slide = t->guest.slide,
				   .list = l};

		returns_restore(t, func->va, code, func->size);
		guestsym_decode(d, code, func->size, s.va, look, &s);
		ret = s.ret;
	}
	free(code);
	guestsym_decoder_free(d);
	return ret;
}

int flag_find_in(struct trace *t, const char *function, const struct payload_form *form,
		 struct flag_list *l)
{
	const struct guestsym_symbol *sym = guestsym_lookup(t->gs, function);
	const struct area everywhere = {.end = UINT64_MAX};
	struct extent func = {0};

	if (!sym || !guestsym_find(t->gs, sym->addr, NULL, &func.size))
		return 0;
	func.va = sym->addr + t->guest.slide;
	return find(t, &everywhere, &func, form, l);
}

/* The function of that text that this address is in. */
static bool function_at(const struct trace *t, const struct area *area, uint64_t va,
			struct extent *func)
{
	const struct guestsym_symbol *sym;
	uint64_t off;

	if (area->mod)
		sym = modules_find(t->modules, va, &off, &func->size);
	else
		sym = guestsym_find(t->gs, va - t->guest.slide, &off, &func->size);
	if (sym)
		func->va = va - off;
	return sym;
}

bool flag_function_at(const struct trace *t, uint64_t va, struct text_range *func)
{
	const struct area kernel = {0};
	struct extent found = {0};

	if (!function_at(t, &kernel, va, &found) || !found.size || found.size > FUNCTION_MAX)
		return false;
	*func = (struct text_range){found.va, found.size};
	return true;
}

struct scan {
	struct trace *t;
	struct area left; /* what has not been looked through */
	const struct payload_form *form;
	struct flag_list *list;
};

/* Some bytes of it. A function that has bytes of that form is decoded once, however many it has. */
static int scan_bytes(struct scan *s, uint64_t va, const uint8_t *code, size_t len)
{
	int ret = 0;

	for (size_t i = 0; i < 4096 && i + s->form->size <= len && !ret; i++) {
		struct extent func = {0};

		if (va + i < s->left.start || code[i] != s->form->bytes[0] ||
		    !has_form(s->form, va + i, code + i) ||
		    !function_at(s->t, &s->left, va + i, &func))
			continue;
		ret = find(s->t, &s->left, &func, s->form, s->list);
		s->left.start = func.va + func.size > va + i ? func.va + func.size : va + i + 1;
	}
	return ret;
}

/* Where a module lies is the guest's word: it may end where the address space does. */
static int find_between(struct trace *t, const struct area *area, const struct payload_form *form,
			struct flag_list *l)
{
	struct scan s = {.t = t, .left = *area, .form = form, .list = l};
	uint8_t code[4096 + PAYLOAD_FORM_MAX - 1];
	uint64_t size = area->end - area->start;
	struct text_view view;
	int ret = 0;

	text_view_init(&view, &t->guest);
	for (uint64_t off = 0; off < size && !ret; off += 4096) {
		size_t len = size - off < sizeof(code) ? (size_t)(size - off) : sizeof(code);

		if (!text_view_get(&view, area->start + off, code, len))
			ret = scan_bytes(&s, area->start + off, code, len);
	}
	return ret;
}

int flag_find_all(struct trace *t, const struct payload_form *form, struct flag_list *l)
{
	const struct area area = {
		.start = guestsym_addr(t->gs, "_stext") + t->guest.slide,
		.end = guestsym_addr(t->gs, "_etext") + t->guest.slide,
	};

	return find_between(t, &area, form, l);
}

int flag_find_module(struct trace *t, const struct guestsym_module *mod,
		     const struct payload_form *form, struct flag_list *l)
{
	const struct area area = {.start = mod->text.start, .end = mod->text.end, .mod = mod};

	return find_between(t, &area, form, l);
}
