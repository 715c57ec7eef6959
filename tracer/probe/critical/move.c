// SPDX-License-Identifier: GPL-2.0-or-later
/* move.c - see move.h */
#include "tracer/probe/critical/move-insn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_DS 0x3e

enum move_class {
	CLASS_STAYS,
	CLASS_MOVES,
	CLASS_ENDS, /* moves, and what is behind it is not run */
	CLASS_NOP,
	CLASS_INT3,
};

struct mover *mover_new(void)
{
	struct mover *mv = calloc(1, sizeof(*mv));

	if (!mv)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &mv->cs) != CS_ERR_OK) {
		free(mv);
		return NULL;
	}
	cs_option(mv->cs, CS_OPT_DETAIL, CS_OPT_ON);
	mv->insn = cs_malloc(mv->cs);
	if (mv->insn)
		return mv;
	mover_free(mv);
	return NULL;
}

void mover_free(struct mover *mv)
{
	if (!mv)
		return;
	if (mv->insn)
		cs_free(mv->insn, 1);
	cs_close(&mv->cs);
	free(mv->v);
	free(mv);
}

/* --- one instruction -------------------------------------------------------------------------- */

static bool has_group(const struct mover *mv, unsigned int group)
{
	return cs_insn_group(mv->cs, mv->insn, group);
}

/* What leaves the kernel, or is more than it looks like, whatever group it is in. */
static bool is_special(unsigned int id)
{
	switch (id) {
	case X86_INS_CLI:
	case X86_INS_STI:
	case X86_INS_POPFQ:
	case X86_INS_POPF:
	case X86_INS_HLT:
	case X86_INS_MWAIT:
	case X86_INS_MONITOR:
	case X86_INS_UD2:
	case X86_INS_ENDBR64:
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
	case X86_INS_XBEGIN:
	case X86_INS_XABORT:
		return true;
	default:
		return false;
	}
}

static bool callee_stays(const struct mover *mv, uint64_t target)
{
	for (size_t i = 0; i < mv->b->nr_callees; i++)
		if (mv->b->callee[i] == target)
			return true;
	return false;
}

/*
 * A prefix of lock is patched away while there is one CPU only, to one of a segment
 * (arch/x86/kernel/alternative.c: alternatives_smp_unlock()).
 */
static enum move_class classify(const struct mover *mv)
{
	const cs_insn *insn = mv->insn;
	const cs_x86 *x86 = &insn->detail->x86;

	if (insn->id == X86_INS_INT3)
		return CLASS_INT3;
	if (insn->id == X86_INS_NOP)
		return CLASS_NOP;
	if (is_special(insn->id) || x86->prefix[0] == X86_PREFIX_LOCK ||
	    x86->prefix[1] == PREFIX_DS)
		return CLASS_STAYS;
	if (move_is_branch(insn))
		return CLASS_MOVES;
	if (move_is_jump(insn) || move_is_return(insn))
		return CLASS_ENDS;
	if (move_is_call(insn))
		return callee_stays(mv, move_target(insn)) ? CLASS_STAYS : CLASS_ENDS;
	if (has_group(mv, X86_GRP_JUMP) || has_group(mv, X86_GRP_CALL) ||
	    has_group(mv, X86_GRP_RET) || has_group(mv, X86_GRP_IRET) ||
	    has_group(mv, X86_GRP_INT) || has_group(mv, X86_GRP_PRIVILEGE))
		return CLASS_STAYS;
	if (move_operand_at_rip(insn) && x86->encoding.disp_size != sizeof(int32_t))
		return CLASS_STAYS;
	return CLASS_MOVES;
}

/* --- a function ------------------------------------------------------------------------------- */

static void enter(struct mover *mv, uint64_t va)
{
	if (va - mv->va < mv->len)
		mv->entered[va - mv->va] = true;
}

/*
 * Any address in it that an instruction has, for whatever: it may be pushed to be returned to. How
 * it gets to what it jumps to by a register nobody knows, but that tables have whole addresses.
 */
static void note_targets(struct mover *mv)
{
	const cs_insn *insn = mv->insn;
	const cs_x86 *x86 = &insn->detail->x86;
	bool jump = has_group(mv, X86_GRP_JUMP);

	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_IMM)
			enter(mv, (uint64_t)op->imm);
		else if (jump)
			mv->jumps_by_table = true;
		if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
			enter(mv, insn->address + insn->size + (uint64_t)op->mem.disp);
		if (op->type == X86_OP_MEM && op->mem.scale == 4 && insn->id == X86_INS_MOVSXD)
			mv->has_offsets = true;
	}
}

static int add(struct mover *mv, uint32_t off, uint8_t size, enum move_class what)
{
	if (mv->nr == mv->room) {
		size_t room = mv->room ? 2 * mv->room : 1024;
		struct move_insn *v = realloc(mv->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		mv->v = v;
		mv->room = room;
	}
	mv->v[mv->nr++] = (struct move_insn){.off = off, .size = size, .what = (uint8_t)what};
	return 0;
}

/* Register forms of 0f 00 and 0f 01: the decoder knows not all of them, and nothing else so long.
 */
static size_t system_insn(const uint8_t *p, size_t left)
{
	size_t prefix = left && (p[0] == 0xf2 || p[0] == 0xf3);

	if (left < prefix + 3 || p[prefix] != 0x0f || p[prefix + 1] > 0x01 || p[prefix + 2] < 0xc0)
		return 0;
	return prefix + 3;
}

/* 0, -ENOMEM, or -EILSEQ: it has bytes that are no instruction, so what jumps where is not known.
 */
static int decode(struct mover *mv)
{
	const uint8_t *p = mv->code;
	size_t left = mv->len;
	uint64_t va = mv->va;
	int ret = 0;

	mv->nr = 0;
	mv->jumps_by_table = mv->has_offsets = false;
	while (left && !ret) {
		uint32_t off = (uint32_t)(va - mv->va);
		enum move_class what = CLASS_STAYS;
		size_t size = 0;

		if (cs_disasm_iter(mv->cs, &p, &left, &va, mv->insn)) {
			what = classify(mv);
			note_targets(mv);
			size = mv->insn->size;
		} else {
			size = system_insn(p, left);
			p += size;
			left -= size;
			va += size;
		}
		ret = size ? add(mv, off, (uint8_t)size, what) : -EILSEQ;
	}
	return ret;
}

static size_t first_entry(const struct move_bounds *b, uint64_t va)
{
	size_t lo = 0, hi = b->nr_entries;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->entry[mid] < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void note_entries(struct mover *mv)
{
	for (size_t i = first_entry(mv->b, mv->va);
	     i < mv->b->nr_entries && mv->b->entry[i] - mv->va < mv->len; i++)
		enter(mv, mv->b->entry[i]);
}

/* --- which instructions move ------------------------------------------------------------------ */

/* None is longer than what may move at once. */
static bool is_taken(const struct mover *mv, uint64_t va, uint32_t size)
{
	const struct move_bounds *b = mv->b;
	size_t lo = 0, hi = b->nr_taken;

	while (lo < hi) { /* the first that is behind all of it */
		size_t mid = lo + (hi - lo) / 2;

		if (b->taken[mid].va < va + size)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && b->taken[lo].va + MOVED_MAX > va)
		if (b->taken[lo].va + b->taken[lo].size > va)
			return true;
	return false;
}

static bool is_entered(const struct mover *mv, uint32_t from, uint32_t to)
{
	for (uint32_t off = from; off < to; off++)
		if (mv->entered[off])
			return true;
	return false;
}

static const struct move_change *change_at(const struct mover *mv, uint64_t va)
{
	const struct move_bounds *b = mv->b;
	size_t lo = 0, hi = b->nr_changes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->change[mid].va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->nr_changes && b->change[lo].va == va ? &b->change[lo] : NULL;
}

struct choice {
	size_t first, last, at; /* indexes of instructions */
	uint32_t size;
	const struct move_change *change;
	unsigned int open; /* behind how many of them, but the last, interrupts may be on */
};

/* Those from `first` on; false: they cannot move. */
static bool reach(const struct mover *mv, struct choice *c)
{
	bool ended = false;

	c->size = 0;
	c->change = NULL;
	for (size_t i = c->first; i < mv->nr; i++) {
		const struct move_change *change = change_at(mv, mv->va + mv->v[i].off);
		enum move_class what = mv->v[i].what;

		if (change && (c->change || i == c->at))
			return false;
		c->change = change ? change : c->change;

		if (ended ? what != CLASS_NOP && what != CLASS_INT3
			  : i != c->at && (what == CLASS_STAYS || what == CLASS_INT3))
			return false;
		if (what == CLASS_ENDS && i < c->at)
			return false;
		ended |= what == CLASS_ENDS;
		c->size += mv->v[i].size;
		c->last = i;
		if (c->size > MOVED_MAX || i - c->first + 4 > MOVED_PLACES)
			return false;
		if (i >= c->at && c->size >= SITE_SIZE)
			return !is_entered(mv, mv->v[c->first].off + 1,
					   mv->v[c->first].off + c->size) &&
			       !is_taken(mv, mv->va + mv->v[c->first].off, c->size);
	}
	return false;
}

/* Two of them do not share an instruction. */
static bool overlaps(const struct move *m, size_t n, uint64_t va, uint32_t size)
{
	for (size_t i = 0; i < n; i++)
		if (m[i].size && m[i].va < va + size && va < m[i].va + m[i].size)
			return true;
	return false;
}

/*
 * Best where no interrupt comes between two of them: such a task would have to go on in the middle
 * of what the jump has taken the place of.
 */
static void choose(const struct mover *mv, const struct move *m, size_t n, size_t at,
		   enum move_how how, struct choice *best)
{
	best->size = 0;
	for (size_t first = at + 1; first-- > 0;) {
		struct choice c = {.first = first, .at = at};

		if (at - first + 4 > MOVED_PLACES)
			break;
		if (!reach(mv, &c) || overlaps(m, n, mv->va + mv->v[first].off, c.size))
			continue;
		c.open = (unsigned int)(how == MOVE_OFF ? at - first : c.last - at);
		if (!best->size || c.open < best->open ||
		    (c.open == best->open && c.size < best->size))
			*best = c;
	}
}

static size_t insn_at(const struct mover *mv, uint64_t va)
{
	for (size_t i = 0; i < mv->nr; i++)
		if (mv->va + mv->v[i].off == va)
			return i;
	return SIZE_MAX;
}

static void take(const struct mover *mv, struct move *m, const struct choice *c)
{
	uint32_t off = mv->v[c->first].off;

	m->at = (uint8_t)(mv->v[c->at].off - off);
	m->va = mv->va + off;
	m->size = (uint8_t)c->size;
	m->change = MOVED_MAX;
	if (c->change) {
		m->change = (uint8_t)(c->change->va - m->va);
		m->change_kind = c->change->kind;
	}
	memcpy(m->bytes, mv->code + off, c->size);
}

static bool plan_at(struct mover *mv, struct move *m, size_t n, size_t i, size_t at)
{
	struct choice c = {0};

	choose(mv, m, n, at, (enum move_how)m[i].how, &c);
	if (!c.size)
		return false;
	take(mv, &m[i], &c);
	return true;
}

static bool is_looked_at(const struct move *m, size_t n, uint64_t va)
{
	for (size_t i = 0; i < n; i++)
		if (m[i].size && m[i].how == MOVE_LOOK && m[i].va + m[i].at == va)
			return true;
	return false;
}

/* What is at mv->v[i], decoded once more. */
static bool insn_again(struct mover *mv, size_t i)
{
	const uint8_t *p = mv->code + mv->v[i].off;
	size_t left = mv->v[i].size;
	uint64_t va = mv->va + mv->v[i].off;

	return cs_disasm_iter(mv->cs, &p, &left, &va, mv->insn);
}

/* Where it always goes on behind an instruction; SIZE_MAX: here, or there, or elsewhere. */
static size_t next_of(struct mover *mv, size_t i)
{
	if (mv->v[i].what != CLASS_MOVES && mv->v[i].what != CLASS_ENDS &&
	    mv->v[i].what != CLASS_NOP)
		return SIZE_MAX;
	if (!insn_again(mv, i) || move_is_branch(mv->insn) || move_is_call(mv->insn) ||
	    move_is_return(mv->insn))
		return SIZE_MAX;
	if (move_is_jump(mv->insn))
		return insn_at(mv, move_target(mv->insn));
	return i + 1 < mv->nr ? i + 1 : SIZE_MAX;
}

/* A call by which the kernel says that sti comes next. */
static bool tells_on(struct mover *mv, size_t i)
{
	return mv->b->tells_on && insn_again(mv, i) && move_is_call(mv->insn) &&
	       move_target(mv->insn) == mv->b->tells_on;
}

/* It has room, and whoever comes to the sti comes from there. */
static bool plan_told(struct mover *mv, struct move *m, size_t n, size_t i)
{
	size_t at = insn_at(mv, m[i].va);

	if (m[i].how != MOVE_ON || at == SIZE_MAX || !at || mv->entered[mv->v[at].off] ||
	    !tells_on(mv, at - 1))
		return false;
	m[i].how = MOVE_TOLD;
	if (!plan_at(mv, m, n, i, at - 1))
		m[i].how = MOVE_ON;
	return m[i].size;
}

#define LOOKS 8 /* instructions further on, at most */

static void plan_look(struct mover *mv, struct move *m, size_t n, size_t i)
{
	enum move_how how = (enum move_how)m[i].how;
	size_t at = insn_at(mv, m[i].va);

	if (at == SIZE_MAX || how == MOVE_BEHIND)
		return;
	m[i].how = MOVE_LOOK;
	at++;
	for (unsigned int k = 0; k < LOOKS && at < mv->nr; k++) {
		if (is_looked_at(m, n, mv->va + mv->v[at].off)) {
			m[i].how = MOVE_SHARED;
			return;
		}
		if (mv->v[at].what != CLASS_STAYS && mv->v[at].what != CLASS_INT3 &&
		    plan_at(mv, m, n, i, at))
			return;
		at = next_of(mv, at);
	}
	m[i].how = (uint8_t)how;
}

/* Those that can, and then something in front of the others, or behind them. */
static void plan_all(struct mover *mv, struct move *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = insn_at(mv, m[i].va);

		if (at != SIZE_MAX)
			plan_at(mv, m, n, i, at);
	}
	for (size_t i = 0; i < n; i++)
		if (!m[i].size && !plan_told(mv, m, n, i))
			plan_look(mv, m, n, i);
}

/* Whatever jumps to where it does not say is known. */
static bool is_known(const struct mover *mv)
{
	return !mv->jumps_by_table || (mv->b->tables && !mv->has_offsets);
}

int mover_plan(struct mover *mv, const struct move_bounds *b, const uint8_t *code, size_t len,
	       uint64_t va, struct move *m, size_t n)
{
	int ret;

	mv->b = b;
	mv->code = code;
	mv->len = len;
	mv->va = va;
	mv->entered = calloc(len ? len : 1, sizeof(*mv->entered));
	if (!mv->entered)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		m[i].size = 0;
	ret = decode(mv);
	if (!ret && is_known(mv)) {
		note_entries(mv);
		plan_all(mv, m, n);
	}
	free(mv->entered);
	mv->entered = NULL;
	return ret == -ENOMEM ? ret : 0;
}
