// SPDX-License-Identifier: GPL-2.0-or-later
/* move-build.c - move.h: the code that is executed instead. */
#include "tracer/probe/critical/move-insn.h"

#include <errno.h>
#include <string.h>

#define INSN_PUSH 0x68 /* a sign-extended s32 */

struct build {
	uint64_t to; /* address of the code */
	uint8_t *code;
	size_t len;
	struct payload_moved *row;
	int ret;
};

static void put(struct build *b, const uint8_t *bytes, size_t n)
{
	if (b->len + n > MOVED_SIZE)
		b->ret = -ERANGE;
	if (b->ret)
		return;
	memcpy(b->code + b->len, bytes, n);
	b->len += n;
}

static void put_s32(struct build *b, uint64_t value)
{
	int32_t v = (int32_t)value;

	if ((int64_t)value != v)
		b->ret = -ERANGE;
	put(b, (const uint8_t *)&v, sizeof(v));
}

/* An instruction that ends with the distance of its target. */
static void put_relative(struct build *b, const uint8_t *op, size_t n, uint64_t target)
{
	put(b, op, n);
	put_s32(b, target - (b->to + b->len + sizeof(int32_t)));
}

static void put_jump(struct build *b, uint8_t op, uint64_t target)
{
	put_relative(b, &op, 1, target);
}

/* Who is here is where that is in the kernel's own text. */
static void place(struct build *b, size_t from)
{
	struct payload_moved *r = b->row;

	if (r->places == MOVED_PLACES)
		b->ret = -ERANGE;
	if (b->ret)
		return;
	r->from[r->places] = (uint8_t)from;
	r->to[r->places++] = (uint8_t)b->len;
}

static void put_at_rip(struct build *b, const cs_insn *insn, const cs_x86_op *op)
{
	uint8_t disp = insn->detail->x86.encoding.disp_offset;
	uint64_t target = insn->address + insn->size + (uint64_t)op->mem.disp;

	put(b, insn->bytes, disp);
	put_s32(b, target - (b->to + b->len + insn->size - disp));
	put(b, insn->bytes + disp + sizeof(int32_t), insn->size - disp - sizeof(int32_t));
}

/* It returns to where it would have: nobody sees on a stack that it was called elsewhere. */
static void put_call(struct build *b, const cs_insn *insn)
{
	const uint8_t push = INSN_PUSH;

	put(b, &push, 1);
	put_s32(b, insn->address + insn->size);
	put_jump(b, INSN_JMP, move_target(insn));
}

/* False: what comes behind it is not run. */
static bool put_insn(struct build *b, const cs_insn *insn)
{
	const cs_x86_op *op = move_operand_at_rip(insn);

	if (move_is_branch(insn)) {
		const uint8_t condition = insn->bytes[insn->size == 2 ? 0 : 1] & 0x0f;

		put_relative(b, (const uint8_t[]){0x0f, 0x80 | condition}, 2, move_target(insn));
		return true;
	}
	if (move_is_call(insn))
		put_call(b, insn);
	else if (move_is_jump(insn))
		put_jump(b, INSN_JMP, move_target(insn));
	else if (op)
		put_at_rip(b, insn, op);
	else
		put(b, insn->bytes, insn->size);
	return !move_is_call(insn) && !move_is_jump(insn) && !move_is_return(insn);
}

/* A call as long as the instruction, as its site would have it (engine-trampoline.c). */
static void put_change(struct build *b, uint8_t size, size_t from, uint64_t entry)
{
	const uint8_t prefix = PREFIX_CS;

	for (uint8_t i = SITE_SIZE; i < size; i++)
		put(b, &prefix, 1);
	place(b, from);
	put_jump(b, INSN_CALL, entry);
}

static bool is_itself(const struct move *m, uint64_t off)
{
	return off != m->at || m->how == MOVE_BEHIND || m->how == MOVE_TOLD || m->how == MOVE_LOOK;
}

int mover_build(struct mover *mv, const struct move *m, uint64_t to, uint64_t entry,
		uint64_t change, struct payload_moved *row, uint8_t code[MOVED_SIZE])
{
	struct build b = {.to = to, .code = code, .row = row};
	const uint8_t *p = m->bytes;
	size_t left = m->size;
	uint64_t va = m->va;
	bool on = true;

	memset(code, 0xcc, MOVED_SIZE); /* int3 */
	*row = (struct payload_moved){.at = (uint32_t)m->va, .size = m->size};
	memcpy(row->bytes, m->bytes, m->size);
	while (left && on) {
		uint64_t off = va - m->va;

		if (!cs_disasm_iter(mv->cs, &p, &left, &va, mv->insn))
			return -EILSEQ;
		place(&b, (size_t)off);
		if (off == m->at)
			put_jump(&b, INSN_CALL, entry);
		if (off == m->at && is_itself(m, off))
			place(&b, (size_t)off);
		if (off == m->change)
			put_change(&b, (uint8_t)mv->insn->size, (size_t)off, change);
		else if (is_itself(m, off))
			on = put_insn(&b, mv->insn);
	}
	if (on) {
		place(&b, m->size);
		put_jump(&b, INSN_JMP, m->va + m->size);
	}
	return b.ret;
}
