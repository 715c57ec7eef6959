// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind.c - see unwind.h
 *
 * Stack and tables come from the guest. Nothing of it is believed: each step adds one address to a
 * trace of bounded length, and each word is read with a check.
 */
#include "tracer/unwind/unwind.h"
#include "tracer/guest/site.h"
#include "tracer/unwind/internal.h"

#include <string.h>

#define PAGE 4096
/* A kernel stack has 16 KiB, or 32 with KASAN; what lies farther off is on another one. */
#define STACK_MAX 65536
/* From a task's to the softirqs', interrupts', exceptions' and NMIs', and some of these again. */
#define SWITCHES_MAX 8
/* In code of ours one calls the other. */
#define OURS_MAX 8
/* Where modules, BPF programs and ftrace's trampolines lie (Documentation/x86/x86_64/mm.rst). */
#define MODULES_START UINT64_C(0xffffffffa0000000)
#define MODULES_END   UINT64_C(0xffffffffff000000)

/* Offsets in struct pt_regs, and in the part of it that the processor pushes. */
enum {
	REGS_R13 = 16,
	REGS_BP = 32,
	REGS_R10 = 56,
	REGS_DX = 96,
	REGS_DI = 112,
	REGS_IRET = 128,
	IRET_CS = 8,
	IRET_SP = 24,
};

/* Registers that a frame may be based on. */
enum { BP, DX, DI, R10, R13, NR_BASES };
#define KNOWN(base) (1u << (base))

struct walk {
	const struct unwind *u;
	struct guest_kernel *g;
	uint64_t ip, sp;
	uint64_t base[NR_BASES];
	unsigned int known; /* of these: KNOWN(BP)… */
	bool exact;	    /* ip is where it was interrupted, not behind a call */
	bool bare;	    /* the address that ip's function returns to lies at sp */
	unsigned int switches;
	const struct unwind_words *copies; /* NULL: the guest's memory is asked */
	unsigned int nr_copies;
	uint64_t page; /* address of what is in bytes; 0: nothing */
	uint8_t bytes[PAGE];
};

/* --- the guest's memory ------------------------------------------------------------------ */

static bool load_copied(const struct walk *w, uint64_t va, uint64_t *word)
{
	for (unsigned int i = 0; i < w->nr_copies; i++) {
		const struct unwind_words *c = &w->copies[i];

		if (va >= c->sp && (va - c->sp) / sizeof(*word) < c->n && !(va % sizeof(*word))) {
			*word = c->word[(va - c->sp) / sizeof(*word)];
			return true;
		}
	}
	return false;
}

/* A word of a stack. They lie side by side, so a page is read at a time. */
static bool load(struct walk *w, uint64_t va, uint64_t *word)
{
	uint64_t page = va & ~(uint64_t)(PAGE - 1);

	if (w->copies)
		return load_copied(w, va, word);
	if (va % sizeof(*word) || (int64_t)va >= 0)
		return false;
	if (page != w->page) {
		w->page = 0;
		if (guest_read(w->g, page, w->bytes, PAGE))
			return false;
		w->page = page;
	}
	memcpy(word, w->bytes + (va - page), sizeof(*word));
	return true;
}

static bool within(const struct guestsym_range *r, uint64_t va)
{
	return va >= r->start && va < r->end;
}

static bool is_text(const struct walk *w, uint64_t ip)
{
	uint64_t link = ip - w->g->slide;

	return within(&w->u->text[0], link) || within(&w->u->text[1], link) ||
	       (ip >= MODULES_START && ip < MODULES_END && link - w->g->text_va >= w->g->text_len);
}

/* --- one frame, by its row of a table ---------------------------------------------------- */

/*
 * Code that is in no table may have frame pointers: BPF programs have, and the kernel tries the
 * same (arch/x86/kernel/unwind_orc.c, orc_fp_entry).
 */
static const struct orc_row frame_pointer_row = {
	.sp_reg = ORC_REG_BP,
	.sp_offset = 16,
	.bp_reg = ORC_REG_PREV_SP,
	.bp_offset = -16,
	.kind = ORC_KIND_CALL,
};

static void find_row(const struct walk *w, struct orc_row *row)
{
	/* Nothing comes behind the call of a function that does not return. */
	uint64_t ip = w->exact ? w->ip : w->ip - 1;

	*row = frame_pointer_row;
	if (ip - w->g->slide - w->g->text_va < w->g->text_len) {
		if (!orc_find(&w->u->orc, ip - w->g->slide, row))
			row->kind = ORC_KIND_UNDEFINED;
		return;
	}
	for (size_t i = 0; i < w->u->nr_mods; i++)
		if (within(&w->u->mods[i].text, ip) && orc_find(&w->u->mods[i].orc, ip, row))
			return;
}

static bool get_base(const struct walk *w, unsigned int base, uint64_t *value)
{
	if (!(w->known & KNOWN(base)))
		return false;
	*value = w->base[base];
	return true;
}

/* The caller's stack pointer, or where its registers lie. */
static bool previous_sp(struct walk *w, const struct orc_row *row, uint64_t *sp)
{
	uint64_t off = (uint64_t)(int64_t)row->sp_offset;

	switch (row->sp_reg) {
	case ORC_REG_SP:
		*sp = w->sp + off;
		return true;
	case ORC_REG_BP:
		if (!get_base(w, BP, sp))
			return false;
		*sp += off;
		return true;
	case ORC_REG_SP_INDIRECT:
		if (!load(w, w->sp, sp))
			return false;
		*sp += off;
		return true;
	case ORC_REG_BP_INDIRECT:
		return get_base(w, BP, sp) && load(w, *sp + off, sp);
	case ORC_REG_R10:
		return get_base(w, R10, sp);
	case ORC_REG_R13:
		return get_base(w, R13, sp);
	case ORC_REG_DI:
		return get_base(w, DI, sp);
	case ORC_REG_DX:
		return get_base(w, DX, sp);
	default:
		return false;
	}
}

static bool previous_bp(struct walk *w, const struct orc_row *row, uint64_t prev_sp)
{
	uint64_t at = (uint64_t)(int64_t)row->bp_offset;

	switch (row->bp_reg) {
	case ORC_REG_UNDEFINED:
		return true; /* unchanged */
	case ORC_REG_PREV_SP:
		at += prev_sp;
		break;
	case ORC_REG_BP:
		if (!(w->known & KNOWN(BP)))
			return false;
		at += w->base[BP];
		break;
	default:
		return false;
	}
	w->known |= KNOWN(BP);
	return load(w, at, &w->base[BP]);
}

/* What the processor has pushed. False: it came from user mode. */
static bool load_iret(struct walk *w, uint64_t at)
{
	uint64_t cs;

	return load(w, at, &w->ip) && load(w, at + IRET_CS, &cs) && load(w, at + IRET_SP, &w->sp) &&
	       !(cs & 3);
}

static bool load_regs(struct walk *w, uint64_t at)
{
	w->known = ~0u;
	return load(w, at + REGS_BP, &w->base[BP]) && load(w, at + REGS_DX, &w->base[DX]) &&
	       load(w, at + REGS_DI, &w->base[DI]) && load(w, at + REGS_R10, &w->base[R10]) &&
	       load(w, at + REGS_R13, &w->base[R13]) && load_iret(w, at + REGS_IRET);
}

static bool load_return(struct walk *w, uint64_t sp)
{
	w->known &= KNOWN(BP); /* what a caller has in the others is not known */
	w->sp = sp;
	sp -= sizeof(w->ip);
	if (!load(w, sp, &w->ip))
		return false;
	unwind_hooks_return(&w->u->hooks, w->g, sp, &w->ip);
	return true;
}

static bool orc_step(struct walk *w)
{
	struct orc_row row;
	uint64_t sp;
	bool ok;

	find_row(w, &row);
	if (row.kind == ORC_KIND_UNDEFINED || row.kind == ORC_KIND_END ||
	    !previous_sp(w, &row, &sp))
		return false;
	switch (row.kind) {
	case ORC_KIND_CALL:
		ok = load_return(w, sp);
		break;
	case ORC_KIND_REGS:
		ok = load_regs(w, sp);
		break;
	case ORC_KIND_IRET:
		ok = load_iret(w, sp);
		break;
	default:
		return false;
	}
	w->exact = row.signal;
	return ok && previous_bp(w, &row, sp);
}

/* --- one frame, along %rbp --------------------------------------------------------------- */

/* Is the function's frame still to be made: before its prologue, behind endbr64, its fentry site?
 */
static bool before_prologue(struct walk *w)
{
	uint8_t code[9 + UNWIND_PROLOGUE_SIZE];
	size_t off = 0;

	if (!w->exact || guest_read(w->g, w->ip, code, sizeof(code)))
		return false;
	if (site_is_endbr(code))
		off = ENDBR_SIZE;
	return !memcmp(code, UNWIND_PROLOGUE, UNWIND_PROLOGUE_SIZE) ||
	       !memcmp(code + off + 5, UNWIND_PROLOGUE, UNWIND_PROLOGUE_SIZE);
}

/* Entry code leaves the address of a struct pt_regs in %rbp, plus one (ENCODE_FRAME_POINTER). */
static bool frame_pointer_step(struct walk *w)
{
	uint64_t bp;

	if (before_prologue(w)) {
		w->exact = false;
		return load_return(w, w->sp + sizeof(w->ip));
	}
	if (!get_base(w, BP, &bp))
		return false;
	w->exact = bp & 1;
	if (bp & 1)
		return load_regs(w, bp - 1);
	return load_return(w, bp + 2 * sizeof(bp)) && load(w, bp, &w->base[BP]);
}

/* --- a trace ----------------------------------------------------------------------------- */

/* Along a stack it only goes up. Several are linked, in no order, but not many. */
static bool goes_up(struct walk *w, uint64_t from)
{
	if (w->sp > from && w->sp - from <= STACK_MAX)
		return true;
	return w->sp / PAGE != from / PAGE && w->switches++ < SWITCHES_MAX;
}

/*
 * Code of ours is no part of a trace: on to where it returns to, or to what it is executed in the
 * place of. False: nobody knows.
 */
static bool leave_ours(struct walk *w)
{
	struct guest_ours o;

	for (unsigned int n = 0; guest_is_ours(w->g, w->ip, &o); n++) {
		if (o.home) {
			w->ip = o.home;
			w->exact = true;
			return true;
		}
		if (!o.returns || n == OURS_MAX ||
		    !load_return(w, w->sp + (o.words + 1) * sizeof(w->ip)))
			return false;
		w->exact = false;
		w->bare = o.bare;
	}
	return true;
}

static bool bare_step(struct walk *w)
{
	w->bare = false;
	w->exact = false;
	return load_return(w, w->sp + sizeof(w->ip));
}

static bool step(struct walk *w)
{
	uint64_t from = w->sp;
	bool ok;

	if (w->bare)
		ok = bare_step(w);
	else
		ok = w->u->orc.nr ? orc_step(w) : frame_pointer_step(w);
	return ok && leave_ours(w) && is_text(w, w->ip) && goes_up(w, from);
}

static unsigned int walk(struct walk *w, uint64_t *ips, uint64_t *sps, unsigned int max)
{
	const struct unwind *u = w->u;
	bool on = u && leave_ours(w);
	unsigned int n = 0;

	if (!u)
		w->ip = guest_home(w->g, w->ip);
	while (n < max) {
		if (sps)
			sps[n] = w->sp;
		ips[n++] = w->ip;
		if (!on || !step(w))
			break;
	}
	return n;
}

static void walk_init(struct walk *w, const struct unwind *u, struct guest_kernel *g, uint64_t ip,
		      uint64_t sp)
{
	w->u = u;
	w->g = g;
	w->ip = ip;
	w->sp = sp;
	w->known = 0;
	w->exact = true;
	w->bare = false;
	w->switches = 0;
	w->page = 0;
	w->copies = NULL;
	w->nr_copies = 0;
}

unsigned int unwind_stack(const struct unwind *u, struct guest_kernel *g,
			  const struct machine_regs *regs, uint64_t *ips, uint64_t *sps,
			  unsigned int max)
{
	struct walk w;

	walk_init(&w, u, g, regs->rip, regs->rsp);
	w.base[BP] = regs->rbp;
	w.base[DX] = regs->rdx;
	w.base[DI] = regs->rdi;
	w.base[R10] = regs->r10;
	w.base[R13] = regs->r13;
	w.known = ~0u;
	return walk(&w, ips, sps, max);
}

unsigned int unwind_entry(const struct unwind *u, struct guest_kernel *g, uint64_t ip, uint64_t sp,
			  uint64_t bp, uint64_t *ips, uint64_t *sps, unsigned int max)
{
	struct walk w;

	walk_init(&w, u, g, ip, sp);
	w.base[BP] = bp;
	w.known = KNOWN(BP);
	return walk(&w, ips, sps, max);
}

unsigned int unwind_copies(const struct unwind *u, struct guest_kernel *g, uint64_t ip, uint64_t sp,
			   uint64_t bp, const struct unwind_words *copies, unsigned int nr,
			   uint64_t *ips, unsigned int max)
{
	struct walk w;

	walk_init(&w, u, g, ip, sp);
	w.base[BP] = bp;
	w.known = KNOWN(BP);
	w.copies = copies;
	w.nr_copies = nr;
	return walk(&w, ips, NULL, max);
}
