// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-frames.c - what the payload says that it has on the stack, at each instruction that
 * it has: as a disassembler counts it.
 */
#include "tests/unit/payload-guest.h"
#include "tracer/payload/code.h"
#include "tracer/payload/frame.h"

#include <capstone/capstone.h>
#include <stdlib.h>

#define INT3 0xcc

struct code {
	const struct payload_guest *g;
	csh cs;
	cs_insn *insn;
	bool seen[WINDOW_TEXT_SIZE];   /* an instruction that was come to */
	bool inside[WINDOW_TEXT_SIZE]; /* of one */
};

static int words_pushed(const struct code *c)
{
	const cs_x86_op *op = c->insn->detail->x86.operands;

	switch (c->insn->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
		return 1;
	case X86_INS_POP:
	case X86_INS_POPFQ:
		return -1;
	case X86_INS_CMP:
	case X86_INS_TEST:
		return 0;
	default:
		break;
	}
	if (op[0].type != X86_OP_REG || op[0].reg != X86_REG_RSP)
		return 0;
	switch (c->insn->id) {
	case X86_INS_ADD:
		return -(int)op[1].imm / 8;
	case X86_INS_SUB:
		return (int)op[1].imm / 8;
	case X86_INS_LEA:
		assert_int_equal(op[1].mem.base, X86_REG_RSP);
		assert_int_equal(op[1].mem.index, X86_REG_INVALID);
		return -(int)op[1].mem.disp / 8;
	default:
		fail_msg("%s %s changes the stack", c->insn->mnemonic, c->insn->op_str);
	}
	return 0;
}

/*
 * Whoever takes the place of a return takes the site's end off the stack: from there on it returns
 * as the function itself would.
 */
static int words_behind(const struct code *c, uint64_t off, int words)
{
	struct payload_frame before, behind;

	words += words_pushed(c);
	if (words != -1)
		return words;
	assert_true(payload_frame_at((uint32_t)off, &before));
	assert_true(payload_frame_at((uint32_t)off + c->insn->size, &behind));
	assert_true(before.bare);
	assert_false(behind.bare);
	return 0;
}

static void walk(struct code *c, uint64_t off, int words);

/* Where it goes on besides the next instruction. False: there it does not go on. */
static bool follow(struct code *c, int words)
{
	const cs_x86_op *to = &c->insn->detail->x86.operands[0];
	bool always = c->insn->id == X86_INS_JMP, call = c->insn->id == X86_INS_CALL;

	if (c->insn->id == X86_INS_RET) {
		/* payload_work calls functions so. */
		assert_true(words == 0 || words == 1);
		return false;
	}
	if (!call && !cs_insn_group(c->cs, c->insn, X86_GRP_JUMP))
		return true;
	assert_int_equal(to->type, X86_OP_IMM);
	if ((uint64_t)to->imm < c->g->text.size) {
		walk(c, (uint64_t)to->imm, call ? 0 : words);
		return !always;
	}
	/* To a function of the kernel's, in the place of the site. */
	assert_true(always);
	assert_int_equal(words, 0);
	return false;
}

static bool look(struct code *c, uint64_t off, int words, uint64_t *next)
{
	const uint8_t *at = c->g->window + WINDOW_TEXT + off;
	size_t left = c->g->text.size - off;
	struct payload_frame f;

	assert_in_range(off, 0, c->g->text.size - 1);
	if (!payload_frame_at((uint32_t)off, &f))
		return false;
	if (f.words != words)
		fail_msg("at 0x%lx are %d words, not %u", off, words, f.words);
	if (c->seen[off])
		return false;
	c->seen[off] = true;
	*next = off;
	assert_true(cs_disasm_iter(c->cs, &at, &left, next, c->insn));
	for (uint64_t in = off; in < *next; in++) {
		assert_false(c->inside[in]);
		c->inside[in] = true;
	}
	return true;
}

static void walk(struct code *c, uint64_t off, int words)
{
	uint64_t next;
	bool on = true;

	while (on && look(c, off, words, &next)) {
		int behind = words_behind(c, off, words);

		on = follow(c, words);
		words = behind;
		off = next;
	}
}

/* All that anybody goes to, one behind the other. */
static void walk_entries(struct code *c)
{
	const struct payload_text *text = &c->g->text;
	/* These are somewhere within. */
	const uint32_t within[] = {text->kprobe_call, text->kprobe_trap, text->print_trap,
				   text->switch_call};
	uint32_t entry[offsetof(struct payload_text, called) / sizeof(uint32_t)];

	memcpy(entry, text, sizeof(entry));
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		bool first = true;

		for (size_t j = 0; j < sizeof(within) / sizeof(within[0]); j++)
			first = first && entry[i] != within[j];
		if (first)
			walk(c, entry[i], 0);
	}
}

/* What is called by address has its type in front of it. */
static bool is_type(const struct payload_text *text, uint64_t off)
{
	if (text->tracepoint - off <= TYPE_SIZE || text->tracepoint_stop - off <= TYPE_SIZE)
		return true;
	for (size_t i = 0; i < PAYLOAD_CALLED; i++)
		if (text->called[i].entry - off <= TYPE_SIZE)
			return true;
	return false;
}

static void check_frames(const struct payload_guest *g, bool come_to[WINDOW_TEXT_SIZE])
{
	struct code *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->g = g;
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &c->cs), CS_ERR_OK);
	cs_option(c->cs, CS_OPT_DETAIL, CS_OPT_ON);
	c->insn = cs_malloc(c->cs);
	walk_entries(c);
	for (uint32_t off = 0; off < g->text.size; off++)
		come_to[off] |= c->inside[off];
	cs_free(c->insn, 1);
	cs_close(&c->cs);
	free(c);
}

/* With code that is left out, or has something else in its place: none of it has not been seen. */
static void test_frames(void **state)
{
	static bool come_to[WINDOW_TEXT_SIZE];
	struct payload_guest *g = *state;
	struct payload_frame f;

	memset(come_to, 0, sizeof(come_to));
	check_frames(g, come_to);
	payload_guest_wait(g, 1000000);
	check_frames(g, come_to);
	for (uint32_t off = 0; off < g->text.size; off++)
		if (!come_to[off] && g->window[WINDOW_TEXT + off] != INT3 &&
		    !is_type(&g->text, off) && payload_frame_at(off, &f))
			fail_msg("nobody comes to 0x%x", off);
	g->cfg.task_flags = g->cfg.task_migration_disabled = PAYLOAD_NONE;
	g->cfg.task_tgid = g->cfg.task_comm = g->cfg.task_stack = PAYLOAD_NONE;
	g->cfg.return_thunk = PAYLOAD_NONE;
	payload_guest_load(g);
	check_frames(g, come_to);
}

static void test_no_frames(void **state)
{
	const struct payload_text *text = &((const struct payload_guest *)*state)->text;
	const uint32_t off[] = {
		text->size,
		UINT32_MAX,
		text->reserve_rest,
		text->commit_rest + 1,
		text->branch_rest + DETOUR_REST - 1,
	};
	struct payload_frame f;

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		assert_false(payload_frame_at(off[i], &f));
	assert_true(payload_frame_at(text->branch_rest - 1, &f));
	assert_true(payload_frame_at(text->branch_rest + DETOUR_REST, &f));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames),
		TEST(test_no_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
