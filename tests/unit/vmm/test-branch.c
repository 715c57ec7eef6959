// SPDX-License-Identifier: GPL-2.0-or-later
/* test-branch.c - where instructions go, and where blocks of them end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/core/branch.h"

#define CODE   UINT64_C(0xffffffff81000ff0) /* its second part lies on the next page */
#define STACK  UINT64_C(0xffffc90000000100)
#define CALLER UINT64_C(0xffffffff81234567)

enum { ALL = 64, FIRST_PAGE = 16 };

#define CF 0x1
#define ZF 0x40
#define SF 0x80
#define OF 0x800

static struct world {
	uint8_t code[64];
	size_t len; /* what lies behind is not mapped */
	uint64_t stack[6];
} world;

static int read_world(void *arg, uint64_t va, void *buf, size_t len)
{
	struct world *w = arg;

	if (va >= CODE && va + len <= CODE + w->len)
		memcpy(buf, w->code + (va - CODE), len);
	else if (va >= STACK && va + len <= STACK + sizeof(w->stack))
		memcpy(buf, (uint8_t *)w->stack + (va - STACK), len);
	else
		return -EFAULT;
	return 0;
}

/* Behind it are NOPs. */
static void world_put(const char *code, size_t len, size_t there)
{
	memset(world.code, 0x90, sizeof(world.code));
	memcpy(world.code, code, len);
	world.len = there;
}

static struct branch look(const char *code, size_t len, const struct machine_regs *with)
{
	struct branch_decoder *d = branch_decoder_new();
	struct machine_regs regs = with ? *with : (struct machine_regs){0};
	const struct branch_cpu cpu = {.regs = &regs, .read = read_world, .arg = &world};
	struct branch b;

	assert_non_null(d);
	world_put(code, len, sizeof(world.code));
	regs.rip = CODE;
	regs.rsp = STACK;
	assert_int_equal(branch_look(d, &cpu, &b), 0);
	branch_decoder_free(d);
	return b;
}

#define LOOK(code, ...) look(code, sizeof(code) - 1, &(const struct machine_regs){__VA_ARGS__})

static void expect_taken(struct branch b, uint64_t to)
{
	assert_int_equal(b.kind, BRANCH_GOES);
	assert_true(b.taken);
	assert_true(b.next == to);
}

static void expect_not(struct branch b, enum branch_kind kind, unsigned int len)
{
	assert_int_equal(b.kind, kind);
	assert_false(b.taken);
	assert_int_equal(b.len, len);
	assert_true(b.next == CODE + len);
}

static void direct_branches(void **state)
{
	(void)state;
	expect_taken(LOOK("\xeb\x10"), CODE + 0x12);
	expect_taken(LOOK("\xeb\xfe"), CODE);
	expect_taken(LOOK("\xe9\x00\x01\x00\x00"), CODE + 0x105);
	expect_taken(LOOK("\xe8\xfb\xff\xff\xff"), CODE);
	expect_taken(LOOK("\x2e\x2e\xe8\x00\x00\x00\x10"), CODE + 7 + 0x10000000);
}

static void conditions(void **state)
{
	static const struct {
		uint8_t code;
		uint64_t flags;
		int taken;
	} rows[] = {
		{0x0, OF, 1},	   {0x0, 0, 0},	 {0x2, CF, 1},	    {0x3, CF, 0}, {0x4, ZF, 1},
		{0x5, ZF, 0},	   {0x6, ZF, 1}, {0x6, CF, 1},	    {0x6, SF, 0}, {0x7, 0, 1},
		{0x8, SF, 1},	   {0x9, SF, 0}, {0xa, 4, 1},	    {0xb, 4, 0},  {0xc, SF, 1},
		{0xc, SF | OF, 0}, {0xd, OF, 0}, {0xd, SF | OF, 1}, {0xe, ZF, 1}, {0xe, OF, 1},
		{0xf, 0, 1},	   {0xf, ZF, 0}, {0x1, OF, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct machine_regs regs = {.rflags = rows[i].flags};
		const char near[] = {(char)(0x70 | rows[i].code), 0x20};
		const char far[] = {0x0f, (char)(0x80 | rows[i].code), 0x20, 0, 0, 0};

		if (rows[i].taken) {
			expect_taken(look(near, 2, &regs), CODE + 0x22);
			expect_taken(look(far, 6, &regs), CODE + 0x26);
		} else {
			expect_not(look(near, 2, &regs), BRANCH_GOES, 2);
			expect_not(look(far, 6, &regs), BRANCH_GOES, 6);
		}
	}
}

static void counters(void **state)
{
	(void)state;
	expect_taken(LOOK("\xe2\x10", .rcx = 2), CODE + 0x12);
	expect_not(LOOK("\xe2\x10", .rcx = 1), BRANCH_GOES, 2);
	expect_taken(LOOK("\xe1\x10", .rcx = 2, .rflags = ZF), CODE + 0x12);
	expect_not(LOOK("\xe1\x10", .rcx = 2), BRANCH_GOES, 2);
	expect_not(LOOK("\xe0\x10", .rcx = 2, .rflags = ZF), BRANCH_GOES, 2);
	expect_taken(LOOK("\xe3\x10"), CODE + 0x12);
	expect_not(LOOK("\xe3\x10", .rcx = UINT64_C(1) << 32), BRANCH_GOES, 2);
	expect_taken(LOOK("\x67\xe3\x10", .rcx = UINT64_C(1) << 32), CODE + 0x13);
}

static void indirect_branches(void **state)
{
	(void)state;
	world.stack[2] = CALLER;
	expect_taken(LOOK("\xff\xe0", .rax = CALLER), CALLER);
	expect_taken(LOOK("\x41\xff\xd3", .r11 = CALLER), CALLER);
	expect_taken(LOOK("\xff\x50\x08", .rax = STACK + 8), CALLER);
	expect_taken(LOOK("\x3e\xff\x24\xc5\x00\x00\x00\x00", .rax = (STACK + 16) / 8), CALLER);
	/* by way of %gs, or of what is not there */
	assert_int_equal(LOOK("\x65\xff\x24\x25\x10\x00\x00\x00").kind, BRANCH_OTHER);
	assert_int_equal(LOOK("\xff\x20", .rax = 0x1000).kind, BRANCH_OTHER);
	/* next to itself: the 8 bytes behind it */
	expect_taken(LOOK("\xff\x25\x00\x00\x00\x00\x67\x45\x23\x81\xff\xff\xff\xff"), CALLER);
}

static void returns(void **state)
{
	struct branch b;

	(void)state;
	world.stack[0] = CALLER;
	world.stack[1] = 0x10;
	world.stack[2] = 0x246;
	world.stack[3] = STACK + 0x80;
	expect_taken(LOOK("\xc3"), CALLER);
	expect_taken(LOOK("\xf3\xc3"), CALLER);
	expect_taken(LOOK("\xc2\x08\x00"), CALLER);
	b = LOOK("\x48\xcf");
	expect_taken(b, CALLER);
	assert_true(b.rsp == STACK + 0x80);
	assert_true(b.rflags == 0x246);
	assert_false(b.to_user);
	world.stack[1] = 0x33;
	b = LOOK("\x48\xcf");
	expect_taken(b, CALLER);
	assert_true(b.to_user);
}

/* What is left in rsp and rcx, whether it is taken or not. */
static void registers_behind(void **state)
{
	(void)state;
	world.stack[0] = CALLER;
	assert_true(LOOK("\xc3").rsp == STACK + 8);
	assert_true(LOOK("\xc2\x08\x00").rsp == STACK + 16);
	assert_true(LOOK("\xe8\x00\x01\x00\x00").rsp == STACK - 8);
	assert_true(LOOK("\xff\xd0", .rax = CALLER).rsp == STACK - 8);
	assert_true(LOOK("\xff\xe0", .rax = CALLER).rsp == STACK);
	assert_true(LOOK("\x75\x10", .rcx = 5).rsp == STACK);
	assert_true(LOOK("\x75\x10", .rcx = 5).rcx == 5);
	assert_true(LOOK("\xe2\x10", .rcx = 5).rcx == 4);
	assert_true(LOOK("\xe2\x10", .rcx = 1).rcx == 0);
	assert_true(LOOK("\x67\xe2\x10", .rcx = UINT64_C(5) << 32).rcx == UINT32_MAX);
	assert_true(LOOK("\xe3\x10", .rcx = 5).rcx == 5);
}

static void all_else(void **state)
{
	(void)state;
	expect_not(LOOK("\x0f\x1f\x44\x00\x00"), BRANCH_NONE, 5);
	expect_not(LOOK("\xf3\xa4"), BRANCH_NONE, 2);	  /* rep movsb */
	expect_not(LOOK("\xff\xc0"), BRANCH_NONE, 2);	  /* inc */
	expect_not(LOOK("\xff\x30"), BRANCH_NONE, 2);	  /* push */
	expect_not(LOOK("\xe6\x7e"), BRANCH_NONE, 2);	  /* out, as of a trap */
	expect_not(LOOK("\xc5\xf8\x77"), BRANCH_NONE, 3); /* vzeroupper, whose opcode is 77 */
	assert_int_equal(LOOK("\xcc").kind, BRANCH_OTHER);
	assert_int_equal(LOOK("\x0f\x0b").kind, BRANCH_OTHER);
	assert_int_equal(LOOK("\x0f\x05").kind, BRANCH_OTHER);
	assert_int_equal(LOOK("\x48\x0f\x07").kind, BRANCH_OTHER);
	assert_int_equal(LOOK("\x06").kind, BRANCH_OTHER); /* none at all */
}

/* The first so many bytes are there: all, or up to the end of the first page. */
static int block(const char *code, size_t len, size_t there, struct branch_end *end)
{
	struct branch_decoder *d = branch_decoder_new();
	const struct machine_regs regs = {.rip = CODE, .rsp = STACK, .rbp = STACK + 0x40};
	const struct branch_cpu cpu = {.regs = &regs, .read = read_world, .arg = &world};
	int rc;

	world_put(code, len, there);
	rc = branch_block_end(d, &cpu, end);
	branch_decoder_free(d);
	return rc;
}

static void expect_end(const char *code, size_t len, size_t there, uint64_t off)
{
	struct branch_end end;

	assert_int_equal(block(code, len, there, &end), 0);
	assert_true(end.va == CODE + off);
	assert_true(end.rsp_known);
	assert_true(end.rsp == STACK);
}

static void ends_of_blocks(void **state)
{
	static const uint8_t over[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0x75, 0x10};
	struct branch_end end;
	char code[64];

	(void)state;
	expect_end("\x90\x90\xc3", 3, ALL, 2);
	expect_end("\xeb\x00", 2, ALL, 0);
	expect_end("\x90\x06", 2, ALL, 1); /* what is none ends it, too */
	/* over the end of the page, in the middle of an instruction */
	memset(code, 0x90, sizeof(code));
	memcpy(code + 14, over, sizeof(over));
	expect_end(code, sizeof(code), ALL, 19);
	/* what is behind the page is not there */
	expect_end("\x90\xc3", 2, FIRST_PAGE, 1);
	assert_int_equal(block("\x90\x90", 2, FIRST_PAGE, &end), -EFAULT);
}

#define NOT_KNOWN UINT64_MAX

static uint64_t rsp_at_end(const char *code, size_t len)
{
	struct branch_end end;

	assert_int_equal(block(code, len, ALL, &end), 0);
	assert_true(end.va == CODE + len - 1);
	return end.rsp_known ? end.rsp : NOT_KNOWN;
}

/* With a ret behind it. */
#define RSP_AFTER(code) rsp_at_end(code "\xc3", sizeof(code))

static void stacks_of_blocks(void **state)
{
	(void)state;
	assert_true(RSP_AFTER("\x53\x41\x57\x6a\x01\x9c") == STACK - 32);      /* push, pushf */
	assert_true(RSP_AFTER("\x5b\x41\x5f\x9d\x8f\x00") == STACK + 32);      /* pop, popf */
	assert_true(RSP_AFTER("\x48\x83\xec\x18") == STACK - 0x18);	       /* sub */
	assert_true(RSP_AFTER("\x48\x83\xc4\x18") == STACK + 0x18);	       /* add */
	assert_true(RSP_AFTER("\x48\x83\xe4\xc0") == (STACK & ~UINT64_C(63))); /* and */
	assert_true(RSP_AFTER("\x48\x8d\x64\x24\xf0") == STACK - 0x10);	       /* lea -16(%rsp) */
	assert_true(RSP_AFTER("\x48\x8d\x65\xd8") == STACK + 0x18); /* lea -0x28(%rbp), %rsp */
	assert_true(RSP_AFTER("\xc9") == STACK + 0x48);		    /* leave */
	/* push %rbp; mov %rsp, %rbp; and $-16, %rsp; leave */
	assert_true(RSP_AFTER("\x55\x48\x89\xe5\x48\x83\xe4\xf0\xc9") == STACK);
	assert_true(RSP_AFTER("\x48\x89\xec\x5d") == STACK + 0x48);  /* mov %rbp, %rsp; pop %rbp */
	assert_true(RSP_AFTER("\x48\x89\xd8\x48\x39\xc4") == STACK); /* cmp %rax, %rsp */
}

static void stacks_that_are_not_known(void **state)
{
	(void)state;
	assert_true(RSP_AFTER("\x48\x89\xc4") == NOT_KNOWN);	 /* mov %rax, %rsp */
	assert_true(RSP_AFTER("\x5c") == NOT_KNOWN);		 /* pop %rsp */
	assert_true(RSP_AFTER("\x66\x53") == NOT_KNOWN);	 /* push %bx */
	assert_true(RSP_AFTER("\x48\x29\xc4") == NOT_KNOWN);	 /* sub %rax, %rsp */
	assert_true(RSP_AFTER("\x48\x94") == NOT_KNOWN);	 /* xchg %rax, %rsp */
	assert_true(RSP_AFTER("\x83\xec\x08") == NOT_KNOWN);	 /* sub $8, %esp */
	assert_true(RSP_AFTER("\x48\xff\xcc") == NOT_KNOWN);	 /* dec %rsp */
	assert_true(RSP_AFTER("\x5d\xc9") == NOT_KNOWN);	 /* pop %rbp; leave */
	assert_true(RSP_AFTER("\x48\x87\xe5\xc9") == NOT_KNOWN); /* xchg %rsp, %rbp; leave */
	assert_true(RSP_AFTER("\x48\x8d\x24\x04") == NOT_KNOWN); /* lea (%rsp,%rax), %rsp */
	assert_true(RSP_AFTER("\xc8\x10\x00\x00") == NOT_KNOWN); /* enter $16, $0 */
}

static void stacks(void **state)
{
	(void)state;
	assert_true(branch_is_within(STACK, STACK));
	assert_true(branch_is_within(STACK + 8, STACK));
	assert_true(branch_is_within(STACK - 4000, STACK));
	assert_false(branch_is_within(STACK + 16, STACK));
	assert_false(branch_is_within(STACK - 20000, STACK));
	assert_false(branch_is_within(0, STACK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct_branches),
		cmocka_unit_test(conditions),
		cmocka_unit_test(counters),
		cmocka_unit_test(indirect_branches),
		cmocka_unit_test(returns),
		cmocka_unit_test(all_else),
		cmocka_unit_test(ends_of_blocks),
		cmocka_unit_test(stacks),
		cmocka_unit_test(registers_behind),
		cmocka_unit_test(stacks_of_blocks),
		cmocka_unit_test(stacks_that_are_not_known),
	};

	return cmocka_run_group_tests_name("branches", tests, NULL, NULL);
}
