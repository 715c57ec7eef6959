// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-move.c - which instructions can move, and what is executed instead: functions of this
 * process, whose cli and sti are calls in the end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "tracer/guest/site.h"
#include "tracer/probe/critical/move.h"

/*
 * Offsets in a page: a function, one that it calls, what a site calls, and what one does that
 * changes the preempt count; the code; words.
 */
enum {
	FUNC = 0,
	CALLEE = 0x200,
	ENTRY = 0x300,
	CHANGE = 0x340,
	CODE = 0x400,
	WORD = 0x800,
	PAGE = 4096
};

static struct {
	uint8_t *page;
	struct mover *mv;
	struct move_bounds b;
	struct move m;
	struct payload_moved row;
	size_t len;
} world;

static uint64_t at(size_t off)
{
	return (uintptr_t)world.page + off;
}

static uint32_t *word(void)
{
	return (uint32_t *)(world.page + WORD);
}

/* incl WORD + by(%rip); ret: how often it was come to */
static void counter_make(size_t off, int by)
{
	const int32_t rel = WORD + by - (int)(off + 6);
	uint8_t *p = world.page + off;

	memcpy(p, (const uint8_t[]){0xff, 0x05}, 2);
	memcpy(p + 2, &rel, sizeof(rel));
	p[6] = 0xc3;
}

static unsigned int hits(void)
{
	return word()[1];
}

/* What is pushed and jumped to has 32 bits. */
static int set_up(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	assert_ptr_not_equal(world.page, MAP_FAILED);
	world.mv = mover_new();
	assert_non_null(world.mv);
	counter_make(ENTRY, 4);
	counter_make(CHANGE, 8);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mover_free(world.mv);
	munmap(world.page, PAGE);
	return 0;
}

/* True: the instruction at that offset of the function can move. */
static bool plan(const uint8_t *code, size_t len, size_t off, enum move_how how)
{
	memcpy(world.page + FUNC, code, len);
	world.len = len;
	world.m = (struct move){.va = at(FUNC + off), .how = (uint8_t)how};
	assert_int_equal(
		mover_plan(world.mv, &world.b, world.page + FUNC, len, at(FUNC), &world.m, 1), 0);
	return world.m.size && world.m.how == (uint8_t)how;
}

#define PLAN(code, off, how) plan(code, sizeof(code), off, how)

/* Have the function go through the code, and call it: what it returns. */
static uint64_t run(uint64_t arg)
{
	uint64_t (*fn)(uint64_t arg) = (uint64_t(*)(uint64_t))(uintptr_t)at(FUNC);
	uint8_t *jump = (uint8_t *)(uintptr_t)world.m.va;

	assert_int_equal(mover_build(world.mv, &world.m, at(CODE), at(ENTRY), at(CHANGE),
				     &world.row, world.page + CODE),
			 0);
	assert_int_equal(world.row.at, (uint32_t)world.m.va);
	assert_memory_equal(world.row.bytes, jump, world.row.size);
	site_call_make(jump, world.m.va, at(CODE));
	jump[0] = INSN_JMP;
	memset(jump + SITE_SIZE, 0xcc, world.m.size - SITE_SIZE); /* nobody gets there */
	return fn(arg);
}

/* The place in the code that stands for this one of the function; -1: none does. */
static int to_of(size_t off)
{
	for (unsigned int i = 0; i < world.row.places; i++)
		if (world.m.va + world.row.from[i] == at(FUNC + off))
			return world.row.to[i];
	return -1;
}

/* --- what is executed ------------------------------------------------------------------------- */

/* cli; mov WORD(%rip), %eax; add %edi, %eax; ret */
static void goes_on_behind(void **state)
{
	uint8_t code[] = {0xfa, 0x8b, 0x05, 0, 0, 0, 0, 0x01, 0xf8, 0xc3};
	const int32_t rel = WORD - 7;

	(void)state;
	memcpy(code + 3, &rel, sizeof(rel));
	assert_true(PLAN(code, 0, MOVE_OFF));
	assert_int_equal(world.m.va, at(FUNC));
	assert_int_equal(world.m.size, 7);
	*word() = 40;
	assert_int_equal(run(2), 42);
	assert_int_equal(hits(), 1);
	assert_int_equal(to_of(0), 0);
	assert_int_equal(to_of(1), 5); /* behind the call */
	assert_int_equal(to_of(7), 11);
}

/* xor %eax, %eax; test $1, %dil; je 1f; sti; 1: ret. Best with nothing behind sti. */
static void branches_over_it(void **state)
{
	static const uint8_t code[] = {0x31, 0xc0, 0x40, 0xf6, 0xc7, 0x01, 0x74, 0x01, 0xfb, 0xc3};

	(void)state;
	assert_true(PLAN(code, 8, MOVE_ON));
	assert_int_equal(world.m.va + world.m.size, at(FUNC + 9));
	assert_int_equal(run(0), 0);
	assert_int_equal(hits(), 0);
	assert_int_equal(PLAN(code, 8, MOVE_ON), true);
	assert_int_equal(run(1), 0);
	assert_int_equal(hits(), 1);
}

/* push %rbx; cli; call CALLEE; pop %rbx; ret: the address that it returns to is the function's own.
 */
static void calls_from_where_it_was(void **state)
{
	uint8_t code[] = {0x53, 0xfa, 0xe8, 0, 0, 0, 0, 0x5b, 0xc3};
	static const uint8_t callee[] = {0x48, 0x8b, 0x04, 0x24, 0xc3}; /* mov (%rsp), %rax; ret */
	const int32_t rel = CALLEE - 7;

	(void)state;
	memcpy(code + 3, &rel, sizeof(rel));
	memcpy(world.page + CALLEE, callee, sizeof(callee));
	assert_true(PLAN(code, 1, MOVE_OFF));
	assert_int_equal(run(0), at(FUNC + 7));
	assert_int_equal(hits(), 1);
}

/* mov %edi, %eax; sti; jmp to a ret further on */
static void jumps_away(void **state)
{
	static const uint8_t code[] = {0x89, 0xf8, 0xfb, 0xeb, 0x02, 0xcc, 0xcc, 0xc3};

	(void)state;
	assert_true(PLAN(code, 2, MOVE_ON));
	assert_int_equal(run(7), 7);
	assert_int_equal(hits(), 1);
}

/* mov %edi, %eax; nop; nop; ret: which is executed itself. */
static void returns_itself(void **state)
{
	static const uint8_t code[] = {0x89, 0xf8, 0x90, 0x90, 0xc3};

	(void)state;
	assert_true(PLAN(code, 4, MOVE_BEHIND));
	assert_int_equal(run(7), 7);
	assert_int_equal(hits(), 1);
	assert_int_equal(world.row.from[world.row.places - 1], 4);
	assert_int_equal(world.row.to[world.row.places - 1], 4 + 5);
}

/* mov %edi, %eax; sti; ret; and what fills up to the next function */
static void takes_padding(void **state)
{
	static const uint8_t code[] = {0x89, 0xf8, 0xfb, 0xc3, 0xcc, 0xcc};
	const uint64_t entry = at(FUNC);

	(void)state;
	world.b.entry = &entry;
	world.b.nr_entries = 1;
	assert_true(PLAN(code, 2, MOVE_ON));
	assert_int_equal(world.m.size, 5);
	assert_int_equal(run(7), 7);
	assert_int_equal(hits(), 1);
}

/* mov %edi, %eax; sti; decl %gs:0; je; ret: the count is changed by a call of the same length. */
static void changes_the_count(void **state)
{
	static const uint8_t code[] = {0x89, 0xf8, 0xfb, 0x65, 0xff, 0x0d, 0,
				       0,    0,	   0,	 0x74, 0x01, 0xc3, 0xc3};
	const struct move_change change = {at(FUNC + 3), 7, 5};
	const uint64_t entry = at(FUNC + 13);

	(void)state;
	world.b.entry = &entry;
	world.b.nr_entries = 1;
	world.b.change = &change;
	world.b.nr_changes = 1;
	assert_true(PLAN(code, 2, MOVE_ON));
	assert_int_equal(world.m.size, 8);
	assert_int_equal(world.m.va + world.m.change, at(FUNC + 3));
	assert_int_equal(world.m.change_kind, 5);
	assert_int_equal(run(7), 7);
	assert_int_equal(hits(), 1);
	assert_int_equal(word()[2], 1);
	assert_int_equal(to_of(3), 5);
	/* The call itself is there as well, whose address records have. */
	assert_int_equal(world.row.from[2], 1);
	assert_int_equal(world.row.to[2], 5 + 2);
}

/* mov %edi, %eax; je 1f; nop, for sti; jmp 2f; 1: nop; 2: add $1, %eax; add $2, %eax; ret */
static void looks_further_on(void **state)
{
	static const uint8_t code[] = {0x89, 0xf8, 0x74, 0x03, 0x90, 0xeb, 0x01, 0x90,
				       0x83, 0xc0, 0x01, 0x83, 0xc0, 0x02, 0xc3};
	const uint64_t entry[] = {at(FUNC + 4), at(FUNC + 7), at(FUNC + 8)};
	struct move m[2];

	(void)state;
	world.b.entry = entry;
	world.b.nr_entries = 3;
	assert_false(PLAN(code, 4, MOVE_ON));
	assert_int_equal(world.m.how, MOVE_LOOK);
	assert_int_equal(world.m.va, at(FUNC + 8));
	assert_int_equal(world.m.size, 6);
	assert_int_equal(run(7), 10);
	assert_int_equal(hits(), 1);
	/* Two of them come by there. */
	m[0] = m[1] = (struct move){.va = at(FUNC + 4), .how = MOVE_ON};
	assert_int_equal(mover_plan(world.mv, &world.b, code, sizeof(code), at(FUNC), m, 2), 0);
	assert_int_equal(m[0].how, MOVE_LOOK);
	assert_int_equal(m[1].how, MOVE_SHARED);
	assert_int_equal(m[1].size, 0);
}

/*
 * push %rbx; test %edi, %edi; je 1f; call CALLEE; sti; 1: pop %rbx; ret: there is no room between
 * the call and what is jumped to, so it is seen in front of the call.
 */
static void is_told_of_by_a_call(void **state)
{
	uint8_t code[] = {0x53, 0x85, 0xff, 0x74, 0x06, 0xe8, 0, 0, 0, 0, 0x90, 0x5b, 0xc3};
	static const uint8_t callee[] = {0x48, 0x8b, 0x04, 0x24, 0xc3}; /* mov (%rsp), %rax; ret */
	const int32_t rel = CALLEE - 10;

	(void)state;
	memcpy(code + 6, &rel, sizeof(rel));
	memcpy(world.page + CALLEE, callee, sizeof(callee));
	assert_false(PLAN(code, 10, MOVE_ON));
	assert_int_not_equal(world.m.how, MOVE_TOLD);
	world.b.tells_on = at(CALLEE) + 1; /* it is another one's call */
	assert_false(PLAN(code, 10, MOVE_ON));
	assert_int_not_equal(world.m.how, MOVE_TOLD);
	world.b.tells_on = at(CALLEE);
	assert_false(PLAN(code, 10, MOVE_OFF));
	assert_int_not_equal(world.m.how, MOVE_TOLD);
	assert_false(PLAN(code, 10, MOVE_ON));
	assert_int_equal(world.m.how, MOVE_TOLD);
	assert_int_equal(world.m.va, at(FUNC + 5));
	assert_int_equal(world.m.size, 5);
	run(0);
	assert_int_equal(hits(), 0);
	assert_false(PLAN(code, 10, MOVE_ON));
	assert_int_equal(run(1), at(FUNC + 10)); /* which it returns to */
	assert_int_equal(hits(), 1);
	assert_int_equal(to_of(5), 0);
	code[4] = 0x05; /* je to the sti itself: not all that come to it are told of */
	assert_false(PLAN(code, 10, MOVE_ON));
	assert_int_not_equal(world.m.how, MOVE_TOLD);
}

/* --- what cannot move ------------------------------------------------------------------------- */

/* mov %edi, %eax; cli; mov %eax, %edx; mov %eax, %ecx; ret */
static const uint8_t plain[] = {0x89, 0xf8, 0xfa, 0x89, 0xc2, 0x89, 0xc1, 0xc3};

static void not_where_something_jumps_in(void **state)
{
	static uint64_t entry;

	(void)state;
	entry = at(FUNC + 3);
	assert_true(PLAN(plain, 2, MOVE_OFF));
	assert_int_equal(world.m.va, at(FUNC + 2));
	world.b.entry = &entry;
	world.b.nr_entries = 1;
	assert_false(PLAN(plain, 2, MOVE_OFF));
	entry = at(FUNC + 4); /* in the middle of an instruction: who knows */
	assert_false(PLAN(plain, 2, MOVE_OFF));
	entry = at(FUNC + 2); /* the first may be jumped to */
	assert_true(PLAN(plain, 2, MOVE_OFF));
	entry = at(FUNC + 7);
	assert_true(PLAN(plain, 2, MOVE_OFF));
}

/* jne to the mov behind cli, from the function itself */
static void not_where_the_function_jumps_in(void **state)
{
	uint8_t code[] = {0x89, 0xf8, 0xfa, 0x89, 0xc2, 0x89, 0xc1, 0x75, 0xfa, 0xc3};

	(void)state;
	assert_false(PLAN(code, 2, MOVE_OFF));
	code[8] = 0xf7; /* to the beginning */
	assert_true(PLAN(code, 2, MOVE_OFF));
}

static void not_what_others_know_of(void **state)
{
	static struct text_range taken;

	(void)state;
	taken = (struct text_range){at(FUNC + 6), 1};
	world.b.taken = &taken;
	world.b.nr_taken = 1;
	assert_true(PLAN(plain, 2, MOVE_OFF)); /* with what is in front of it */
	assert_int_equal(world.m.va, at(FUNC));
	taken.va = at(FUNC + 7);
	assert_true(PLAN(plain, 2, MOVE_OFF));
	assert_int_equal(world.m.va, at(FUNC + 2));
	taken = (struct text_range){at(FUNC) - 4, 5};
	assert_true(PLAN(plain, 2, MOVE_OFF));
	taken = (struct text_range){at(FUNC) - 1, 4};
	assert_false(PLAN(plain, 2, MOVE_OFF));
}

/* What means something else elsewhere, or is not the same for ever; nops are in front and behind.
 */
static void not_any_instruction(void **state)
{
	static const struct {
		uint8_t size, bytes[4];
	} stay[] = {
		{1, {0xfb}},		       /* sti */
		{1, {0x9d}},		       /* popf */
		{1, {0xf4}},		       /* hlt */
		{2, {0x0f, 0x0b}},	       /* ud2 */
		{2, {0x0f, 0x30}},	       /* wrmsr */
		{3, {0xf0, 0xff, 0x07}},       /* lock incl (%rdi) */
		{3, {0x3e, 0xff, 0x07}},       /* what has been that */
		{2, {0xff, 0xd0}},	       /* call *%rax */
		{2, {0xe3, 0x00}},	       /* jrcxz */
		{3, {0xc2, 0x08, 0x00}},       /* ret $8 */
		{4, {0xf3, 0x0f, 0x1e, 0xfa}}, /* endbr64 */
		{1, {0xcc}},		       /* int3, of whoever patches it */
		{2, {0x48, 0xcf}},	       /* iretq */
	};
	uint8_t code[16];

	(void)state;
	for (size_t i = 0; i < sizeof(stay) / sizeof(stay[0]); i++) {
		memset(code, 0x90, sizeof(code));
		code[0] = 0xfa;
		assert_true(PLAN(code, 0, MOVE_OFF));
		memcpy(code + 1, stay[i].bytes, stay[i].size);
		if (PLAN(code, 0, MOVE_OFF))
			fail_msg("%02x %02x moves", stay[i].bytes[0], stay[i].bytes[1]);
	}
}

static void not_a_call_that_is_a_site(void **state)
{
	static const uint8_t code[] = {0xfa, 0xe8, 0xfa, 0x01, 0, 0, 0xc3};
	static uint64_t callee;

	(void)state;
	callee = at(CALLEE);
	assert_true(PLAN(code, 0, MOVE_OFF));
	world.b.callee = &callee;
	world.b.nr_callees = 1;
	assert_false(PLAN(code, 0, MOVE_OFF));
}

/* jmp *(%rax,%rdi,8): where to only tables tell. */
static void not_where_jumps_are_unknown(void **state)
{
	static const uint8_t code[] = {0xfa, 0x89, 0xc2, 0x89, 0xc1, 0xff, 0x24, 0xf8};
	static const uint8_t offsets[] = {0xfa, 0x89, 0xc2, 0x89, 0xc1, 0x48,
					  0x63, 0x04, 0xb8, 0xff, 0xe0};

	(void)state;
	assert_false(PLAN(code, 0, MOVE_OFF));
	world.b.tables = true;
	assert_true(PLAN(code, 0, MOVE_OFF));
	assert_false(PLAN(offsets, 0, MOVE_OFF));
}

/* lea 3(%rip): an address in the function, which may be gone to by iret. */
static void not_where_an_address_is_taken(void **state)
{
	static const uint8_t code[] = {0xfa, 0x89, 0xc2, 0x89, 0xc1, 0x48, 0x8d,
				       0x05, 0xf7, 0xff, 0xff, 0xff, 0xc3};

	(void)state;
	assert_false(PLAN(code, 0, MOVE_OFF));
}

static void not_what_does_not_decode(void **state)
{
	static const uint8_t code[] = {0xfa, 0x89, 0xc2, 0x89, 0xc1, 0x06, 0xc3};

	(void)state;
	assert_false(PLAN(code, 0, MOVE_OFF));
}

/* cli; mov; cli; mov; ret: what is one's is not another's. */
static void not_twice(void **state)
{
	static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0xfa, 0x90,
				       0xfb, 0x90, 0x90, 0x90, 0x90, 0xc3};
	struct move m[2] = {{.va = at(4), .how = MOVE_OFF}, {.va = at(6), .how = MOVE_ON}};

	(void)state;
	assert_int_equal(mover_plan(world.mv, &world.b, code, sizeof(code), at(0), m, 2), 0);
	assert_int_equal(m[0].va, at(1)); /* not over the sti */
	assert_int_equal(m[0].size, 5);
	assert_int_equal(m[1].va, at(6));
	assert_int_equal(m[1].size, 5);
	m[0] = m[1] = (struct move){.va = at(4), .how = MOVE_BEHIND};
	assert_int_equal(mover_plan(world.mv, &world.b, code, sizeof(code), at(0), m, 2), 0);
	assert_int_not_equal(m[0].size, 0);
	assert_int_equal(m[1].size, 0);
}

static void not_too_far(void **state)
{
	static const uint8_t code[] = {0xfa, 0x8b, 0x05, 0, 0, 0, 0x7f, 0xc3};
	uint8_t moved[MOVED_SIZE];

	(void)state;
	assert_true(PLAN(code, 0, MOVE_OFF));
	assert_int_equal(mover_build(world.mv, &world.m, at(0), at(ENTRY), 0, &world.row, moved),
			 0);
	assert_int_equal(mover_build(world.mv, &world.m, at(0) - 0x10000000, at(ENTRY), 0,
				     &world.row, moved),
			 -ERANGE);
	assert_int_equal(mover_build(world.mv, &world.m, at(0), at(ENTRY) + 0x100000000, 0,
				     &world.row, moved),
			 -ERANGE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(goes_on_behind),
		TEST(branches_over_it),
		TEST(calls_from_where_it_was),
		TEST(jumps_away),
		TEST(returns_itself),
		TEST(takes_padding),
		TEST(changes_the_count),
		TEST(looks_further_on),
		TEST(is_told_of_by_a_call),
		TEST(not_where_something_jumps_in),
		TEST(not_where_the_function_jumps_in),
		TEST(not_what_others_know_of),
		TEST(not_any_instruction),
		TEST(not_a_call_that_is_a_site),
		TEST(not_where_jumps_are_unknown),
		TEST(not_where_an_address_is_taken),
		TEST(not_what_does_not_decode),
		TEST(not_twice),
		TEST(not_too_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
