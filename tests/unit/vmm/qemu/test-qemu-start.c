// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-start.c - what is said of a guest that does not come to its kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/qemu/start.h"

#define ENTRY	  UINT64_C(0xffffffff82b00000)
#define REAL	  UINT64_C(0x10) /* CR0 of a CPU that was reset, but for its caches */
#define PROTECTED UINT64_C(0x11)
#define LONG	  UINT64_C(0x80050033)
#define EFER_LONG UINT64_C(0xd01)

static struct start_state state_at(uint64_t rip, uint64_t cr0)
{
	struct start_state s = {.insn = {0x90, 0x90}};

	s.reg[GDB_RIP] = rip;
	s.reg[GDB_CR0] = cr0;
	s.reg[GDB_EFER] = cr0 == LONG ? EFER_LONG : 0;
	return s;
}

static void assert_place(const struct start_state *s, enum start_place place)
{
	assert_int_equal(qemu_start_place(s), place);
}

static void test_firmware(void **state)
{
	struct start_state s = state_at(0xfff0, REAL);

	(void)state;
	assert_place(&s, START_FIRMWARE);
	s = state_at(0xe0000, PROTECTED); /* of SeaBIOS */
	assert_place(&s, START_FIRMWARE);
	s = state_at(0xfffffff0, REAL);
	assert_place(&s, START_FIRMWARE);
	s = state_at(0x7eb0, PROTECTED);
	s.insn[0] = 0xf4; /* firmware that waits for a key */
	assert_place(&s, START_FIRMWARE);
}

static void test_unpacking(void **state)
{
	struct start_state s = state_at(0x1a7c3f0, LONG);

	(void)state;
	assert_place(&s, START_UNPACKING);
	s.insn[0] = 0xf4; /* rip is behind it */
	assert_place(&s, START_GIVEN_UP);
	s = state_at(0x1a7c3f0, PROTECTED);
	assert_place(&s, START_UNPACKING);
	s.insn[1] = 0xf4; /* about to run it again */
	assert_place(&s, START_GIVEN_UP);
}

static void test_kernel(void **state)
{
	struct start_state s = state_at(0xffffffff9c000123, LONG);

	(void)state;
	assert_place(&s, START_ELSEWHERE);
	s.mapped = true;
	assert_place(&s, START_PASSED);
	s = state_at(0x52d989, LONG); /* a program; its kernel has come up long ago */
	s.reg[GDB_CS] = 0x33;
	s.mapped = true;
	assert_place(&s, START_PASSED);
	s.mapped = false;
	assert_place(&s, START_ELSEWHERE);
}

/* A kernel's own tables are walked only where there are some. */
static void test_walks(void **state)
{
	struct start_state s = state_at(0x1a7c3f0, LONG);

	(void)state;
	assert_true(qemu_start_walks(s.reg));
	s.reg[GDB_EFER] = 0;
	assert_false(qemu_start_walks(s.reg));
	s = state_at(0xfff0, REAL);
	assert_false(qemu_start_walks(s.reg));
}

/* What was waited for, how long, where the guest is, and no more than one line; only what memory
 * can be the cause of says so.
 */
static void test_words(void **state)
{
	struct start_state s = state_at(0xffffffff81000123, LONG);
	char err[512];

	(void)state;
	s.mapped = true;
	qemu_start_explain(&s, ENTRY, 60, err, sizeof(err));
	assert_non_null(strstr(err, "0xffffffff82b00000 in 60 s (rip 0xffffffff81000123)"));
	assert_non_null(strstr(err, "hardware breakpoints"));
	assert_null(strstr(err, "memory"));
	assert_null(strchr(err, '\n'));
	s.mapped = false;
	qemu_start_explain(&s, ENTRY, 60, err, sizeof(err));
	assert_non_null(strstr(err, "nokaslr"));
	assert_null(strstr(err, "memory"));
	s = state_at(0x1a7c3f0, LONG);
	s.insn[0] = 0xf4;
	qemu_start_explain(&s, ENTRY, 60, err, sizeof(err));
	assert_non_null(strstr(err, "given up"));
	assert_non_null(strstr(err, "memory (-m)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_firmware), cmocka_unit_test(test_unpacking),
		cmocka_unit_test(test_kernel),	 cmocka_unit_test(test_walks),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("qemu-start", tests, NULL, NULL);
}
