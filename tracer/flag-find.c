// SPDX-License-Identifier: GPL-2.0-or-later
/* flag-find.c - see flag-find.h */
#include "tracer/flag-find.h"

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

void flag_form_make(const struct payload_form *form, uint64_t va, uint8_t bytes[PAYLOAD_FORM_MAX])
{
	int32_t rel = (int32_t)(form->target - (va + form->size));

	memcpy(bytes, form->bytes, PAYLOAD_FORM_MAX);
	if (form->relative)
		memcpy(bytes + form->size - form->relative, &rel, sizeof(rel));
}

static bool has_form(const struct payload_form *form, uint64_t va, const uint8_t *code)
{
	uint8_t bytes[PAYLOAD_FORM_MAX];

	flag_form_make(form, va, bytes);
	return !memcmp(bytes, code, form->size);
}

struct search {
	const struct payload_form *form;
	const uint8_t *code;
	uint64_t va; /* of the code: run-time */
	size_t len;
	uint64_t only; /* run-time address of the one that is looked for; 0: all are */
	uint64_t slide;
	struct flag_list *list;
	int ret;
};

static bool look(void *arg, const struct guestsym_insn *insn)
{
	struct search *s = arg;
	size_t off = (size_t)(insn->addr - s->va);

	if (s->len - off < s->form->size || (s->only && insn->addr > s->only))
		return false;
	if ((!s->only || insn->addr == s->only) && has_form(s->form, insn->addr, s->code + off))
		s->ret = flag_list_add(s->list, insn->addr - s->slide);
	return !s->ret;
}

/* A function, or what of it is readable: run-time addresses. */
struct extent {
	uint64_t va, size;
};

static int find(struct trace *t, const struct extent *func, const struct payload_form *form,
		uint64_t only, struct flag_list *l)
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
				   .only = only,
				   .slide = t->guest.slide,
				   .list = l};

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
	struct extent func = {0};

	if (!sym || !guestsym_find(t->gs, sym->addr, NULL, &func.size))
		return 0;
	func.va = sym->addr + t->guest.slide;
	return find(t, &func, form, 0, l);
}

/* A piece of text that some functions lie in: the kernel's, or a module's. */
struct area {
	uint64_t start, end;
	const struct guestsym_module *mod;
};

/* The function of that text that this address is in. */
static bool function_at(const struct trace *t, const struct area *area, uint64_t va,
			struct extent *func)
{
	const struct guestsym_symbol *sym;
	uint64_t off;

	if (area->mod)
		sym = modules_find(t, va, &off, &func->size);
	else
		sym = guestsym_find(t->gs, va - t->guest.slide, &off, &func->size);
	if (sym)
		func->va = va - off;
	return sym;
}

static int find_between(struct trace *t, const struct area *area, const struct payload_form *form,
			struct flag_list *l)
{
	uint8_t code[4096 + PAYLOAD_FORM_MAX - 1];
	struct text_view view;
	int ret = 0;

	text_view_init(&view, &t->guest);
	for (uint64_t va = area->start; va < area->end && !ret; va += 4096) {
		size_t len =
			area->end - va < sizeof(code) ? (size_t)(area->end - va) : sizeof(code);

		if (text_view_get(&view, va, code, len))
			continue;
		for (size_t i = 0; i < 4096 && i + form->size <= len && !ret; i++) {
			struct extent func = {0};

			if (code[i] == form->bytes[0] && has_form(form, va + i, code + i) &&
			    function_at(t, area, va + i, &func))
				ret = find(t, &func, form, va + i, l);
		}
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
