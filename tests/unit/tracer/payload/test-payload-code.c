// SPDX-License-Identifier: GPL-2.0-or-later
/* test-payload-code.c - the payload's code, instruction by instruction, as a disassembler sees it.
 */
#include "tests/unit/payload-guest.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdlib.h>

struct code {
	struct payload_guest *g;
	csh cs;
	cs_insn *insn;
	/* For each offset: not come to, come to with preempt_count as found, come to with it raised
	 */
	enum { UNSEEN, FOUND, RAISED } seen[WINDOW_TEXT_SIZE];
	unsigned int instructions, locks, calls;
};

/* It writes preempt_count. */
static bool changes_preempt_count(const struct code *c)
{
	const cs_x86 *x86 = &c->insn->detail->x86;

	if (c->insn->id == X86_INS_TEST)
		return false;
	for (int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_MEM && op->access & CS_AC_WRITE &&
		    op->mem.segment == X86_REG_GS &&
		    (uint64_t)op->mem.disp == c->g->cfg.preempt_count)
			return true;
	}
	return false;
}

/* Nothing but general registers: the kernel's others are the task's. */
static void check_operands(const struct code *c)
{
	const cs_x86 *x86 = &c->insn->detail->x86;

	for (int i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type == X86_OP_REG)
			assert_in_range(x86->operands[i].size, 1, 8);
	}
	assert_false(cs_insn_group(c->cs, c->insn, X86_GRP_FPU));
	assert_false(cs_insn_group(c->cs, c->insn, X86_GRP_PRIVILEGE));
}

static void walk(struct code *c, uint64_t off, bool raised);

/* Where it goes on besides the next instruction. False: there it does not go on. */
static bool follow(struct code *c, bool raised)
{
	const cs_x86_op *to = &c->insn->detail->x86.operands[0];
	bool jump = cs_insn_group(c->cs, c->insn, X86_GRP_JUMP), always;

	if (c->insn->id == X86_INS_RET) {
		assert_int_equal(raised, c->calls > 0); /* only what it calls itself */
		return false;
	}
	always = c->insn->id == X86_INS_JMP;
	if (c->insn->id == X86_INS_CALL) {
		assert_true(raised);
		assert_int_equal(to->type, X86_OP_IMM);
		c->calls++;
		walk(c, (uint64_t)to->imm, true);
		c->calls--;
	}
	if (jump) {
		assert_int_equal(to->type, X86_OP_IMM);
		walk(c, (uint64_t)to->imm, raised);
	}
	return !always;
}

static void walk(struct code *c, uint64_t off, bool raised)
{
	const struct payload_guest *g = c->g;
	bool on = true;

	while (on) {
		const uint8_t *at = g->window + WINDOW_TEXT + off;
		size_t left = g->text.size - off;
		uint64_t next = off;

		assert_in_range(off, 0, g->text.size - 1);
		if (c->seen[off] != UNSEEN) {
			assert_int_equal(c->seen[off], raised ? RAISED : FOUND);
			return;
		}
		c->seen[off] = raised ? RAISED : FOUND;
		assert_int_equal(in_edge(&g->text, off), !raised);
		assert_true(cs_disasm_iter(c->cs, &at, &left, &next, c->insn));
		for (uint64_t in = off + 1; in < next; in++)
			assert_int_equal(in_edge(&g->text, in), !raised);
		check_operands(c);
		c->instructions++;
		c->locks += c->insn->detail->x86.prefix[0] == X86_PREFIX_LOCK;
		if (changes_preempt_count(c))
			raised = !raised;
		on = follow(c, raised);
		off = next;
	}
}

static void check_code(struct payload_guest *g)
{
	struct code *c = calloc(1, sizeof(*c));
	uint64_t end = 0;

	assert_non_null(c);
	c->g = g;
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &c->cs), CS_ERR_OK);
	cs_option(c->cs, CS_OPT_DETAIL, CS_OPT_ON);
	c->insn = cs_malloc(c->cs);
	walk(c, g->text.function, false);
	walk(c, g->text.exit, false);
	walk(c, g->text.exit_all, false);
	assert_int_equal(c->locks, 0);
	walk(c, g->text.call, false);
	walk(c, g->text.lock, false);
	walk(c, g->text.lock_record, false);
	walk(c, g->text.stack, false);
	walk(c, g->text.depth, false);
	walk(c, g->text.depth_record, false);
	assert_int_equal(c->locks, 1);
	assert_true(c->instructions > 100);
	/* Behind the code is nothing that runs. */
	for (end = g->text.size; end < WINDOW_TEXT_SIZE; end++)
		assert_int_equal(g->window[WINDOW_TEXT + end], 0xcc);
	cs_free(c->insn, 1);
	cs_close(&c->cs);
	free(c);
}

static void test_code(void **state)
{
	check_code(*state);
}

static void test_code_without_members(void **state)
{
	struct payload_guest *g = *state;

	g->cfg.task_flags = g->cfg.task_migration_disabled = PAYLOAD_NONE;
	g->cfg.task_tgid = g->cfg.task_comm = g->cfg.task_stack = PAYLOAD_NONE;
	payload_guest_load(g);
	check_code(g);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_code),
		TEST(test_code_without_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
