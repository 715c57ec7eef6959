// SPDX-License-Identifier: GPL-2.0-or-later
/* insns.c - see insns.h */
#include "tracer/probe/returns/insns.h"
#include "tracer/guest/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 16
#define INSN_RET 0xc3

struct ret_insns {
	struct guestsym_decoder *decoder;
	bool (*is_text)(void *arg, uint64_t va);
	void *arg;
	struct ret_insn *v;
	size_t nr, room;
	/* Of the function that is looked at */
	uint64_t va, end;
	uint64_t reached; /* behind the last one that has been decoded */
	uint64_t padding; /* since where there are only nops and int3 */
	uint64_t target;  /* the highest that is jumped to */
	bool falls;	  /* the last one goes on to the next */
	bool failed;
};

struct ret_insns *ret_insns_new(bool (*is_text)(void *arg, uint64_t va), void *arg)
{
	struct ret_insns *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->is_text = is_text;
	f->arg = arg;
	f->decoder = guestsym_decoder_new();
	if (f->decoder)
		return f;
	ret_insns_free(f);
	return NULL;
}

void ret_insns_free(struct ret_insns *f)
{
	if (!f)
		return;
	guestsym_decoder_free(f->decoder);
	free(f->v);
	free(f);
}

static bool add(struct ret_insns *f, const struct guestsym_insn *insn)
{
	if (f->nr == f->room) {
		size_t room = f->room ? 2 * f->room : ROOM_MIN;
		struct ret_insn *v = realloc(f->v, room * sizeof(*v));

		f->failed = !v;
		if (!v)
			return false;
		f->v = v;
		f->room = room;
	}
	f->v[f->nr++] = (struct ret_insn){.va = insn->addr, .size = insn->size};
	return true;
}

/*
 * Compilers make no int3 that is run into, and no jumps out of the kernel's functions. The kernel
 * makes both: while it patches an instruction, at a kprobe. What follows may be the rest of an
 * instruction, and look like anything.
 */
static bool is_patched(const struct ret_insns *f, const struct guestsym_insn *insn)
{
	return (insn->kind == GUESTSYM_INSN_INT3 && f->falls) ||
	       (insn->target && !f->is_text(f->arg, insn->target));
}

static bool look(void *arg, const struct guestsym_insn *insn)
{
	struct ret_insns *f = arg;

	if (is_patched(f, insn))
		return false;
	f->reached = insn->addr + insn->size;
	if (insn->kind == GUESTSYM_INSN_NOP || insn->kind == GUESTSYM_INSN_INT3)
		return true;
	f->falls = insn->kind != GUESTSYM_INSN_JUMP && insn->kind != GUESTSYM_INSN_RETURN;
	f->padding = f->reached;
	if (insn->target >= f->va && insn->target < f->end && insn->target > f->target)
		f->target = insn->target;
	return insn->kind != GUESTSYM_INSN_RETURN || add(f, insn);
}

/* The last one is all that is left before the padding, into which nobody jumps. */
static void take_padding(struct ret_insns *f)
{
	struct ret_insn *last = f->nr ? &f->v[f->nr - 1] : NULL;

	if (!last || f->reached != f->end || last->va + last->size != f->padding ||
	    f->target >= f->padding)
		return;
	last->size = f->end - last->va < SITE_SIZE ? (uint8_t)(f->end - last->va) : SITE_SIZE;
}

int ret_insns_find(struct ret_insns *f, const uint8_t *code, size_t len, uint64_t va, bool padded,
		   const struct ret_insn **found)
{
	f->nr = 0;
	f->failed = false;
	f->va = f->reached = f->padding = f->target = va;
	f->end = va + len;
	f->falls = true;
	/* Some functions never return. */
	if (memchr(code, INSN_RET, len))
		guestsym_decode(f->decoder, code, len, va, look, f);
	if (padded)
		take_padding(f);
	*found = f->v;
	return f->failed ? -ENOMEM : (int)f->nr;
}
