// SPDX-License-Identifier: GPL-2.0-or-later
/* test-ret-insns.c - returns of made-up functions, and how much room there is at each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracer/probe/returns/insns.h"

#define AT   UINT64_C(0xffffffff81234560)
#define TEXT UINT64_C(0x1000000) /* of functions, from AT on */

static struct ret_insns *insns;

static bool is_text(void *arg, uint64_t va)
{
	(void)arg;
	return va - AT < TEXT;
}

static int set_up(void **state)
{
	(void)state;
	insns = ret_insns_new(is_text, NULL);
	return !insns;
}

static int tear_down(void **state)
{
	(void)state;
	ret_insns_free(insns);
	return 0;
}

/* These are the returns: offset and size of each, up to a size of 0. */
static void check(const char *code, size_t len, bool padded, const uint8_t (*want)[2])
{
	const struct ret_insn *found;
	int n = ret_insns_find(insns, (const uint8_t *)code, len, AT, padded, &found), i;

	for (i = 0; want[i][1]; i++) {
		assert_true(i < n);
		assert_int_equal(found[i].va - AT, want[i][0]);
		assert_int_equal(found[i].size, want[i][1]);
	}
	assert_int_equal(n, i);
}

#define CHECK(padded, code, ...)                                                                   \
	check(code, sizeof(code) - 1, padded, (const uint8_t[][2]){__VA_ARGS__, {0, 0}})

/* push %rbp; je +2; pop %rbp; ret; pop %rbp; repz ret; pop %rbp; ret */
#define BODY "\x55\x74\x02\x5d\xc3\x5d\xf3\xc3\x5d\xc3"

static void all_are_found(void **state)
{
	(void)state;
	CHECK(true, BODY, {4, 1}, {6, 2}, {9, 1});
}

static void padding_is_room(void **state)
{
	(void)state;
	CHECK(true, BODY "\x90", {4, 1}, {6, 2}, {9, 2});
	CHECK(true, BODY "\x0f\x1f\x40\x00", {4, 1}, {6, 2}, {9, 5});
	CHECK(true, BODY "\xcc\xcc\xcc\xcc\xcc\xcc", {4, 1}, {6, 2}, {9, 5});
	CHECK(true, "\xf3\xc3\x66\x90\xcc", {0, 5});
	CHECK(true, "\xf3\xc3\x66\x90", {0, 4});
	/* nopw %cs:0(%rax,%rax) */
	CHECK(true, "\xc3\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", {0, 5});
	/* Of assembly nothing is known. */
	CHECK(false, BODY "\x0f\x1f\x40\x00", {4, 1}, {6, 2}, {9, 1});
}

/* What is between is run when it is jumped over or to. */
static void padding_within_is_none(void **state)
{
	(void)state;
	CHECK(true, "\x74\x06\xc3\x0f\x1f\x44\x00\x00\x31\xc0\xc3", {2, 1}, {10, 1});
	/* je to the nop: a static branch, for example */
	CHECK(true, "\x74\x01\xc3\x0f\x1f\x44\x00\x00", {2, 1});
	CHECK(true, "\x0f\x84\x01\x00\x00\x00\xc3\x0f\x1f\x44\x00\x00", {6, 1});
	/* The last thing is a jump, whatever is behind it. */
	CHECK(true, "\x74\x01\xc3\xeb\xfb\x90\x90\x90\x90\x90", {2, 1});
}

static void bytes_of_others_are_none(void **state)
{
	(void)state;
	/* mov $0xc3c3c3c3, %eax; ret $8; lret; bound to no return at all */
	CHECK(true, "\xb8\xc3\xc3\xc3\xc3\xc2\x08\x00\xcb", {0, 0});
	CHECK(true, "\xe8\xc3\xc3\xc3\x00\xc3", {5, 1});
}

static void unknown_code_ends_it(void **state)
{
	(void)state;
	CHECK(true, "\x74\x01\xc3\x06\xc3\xcc\xcc\xcc\xcc", {2, 1});
	/* serialize, of which the decoder does not know */
	CHECK(true, "\x0f\x01\xe8\xc3", {3, 1});
	/* A kprobe at mov %cl, 0xc3(%rax): what is left of it are other instructions */
	CHECK(true, "\x74\x01\xc3\x50\xcc\x88\xc3\x00\x00\x00\xc3\xcc\xcc\xcc\xcc", {2, 1});
	/* An optimised one: a jump to elsewhere */
	CHECK(true, "\x74\x01\xc3\xe9\x00\x00\x00\x40\xc3\xc3\xcc\xcc\xcc\xcc", {2, 1});
	/* A jump to another function */
	CHECK(true, "\x74\x01\xc3\xe9\x00\x00\x10\x00\xc3\xcc\xcc\xcc\xcc", {2, 1}, {8, 5});
}

static void cut_off_code_is_read_to_its_end(void **state)
{
	static const char code[] = BODY "\x0f\x1f\x40\x00\xe9\x00\x01\x00\x00";

	(void)state;
	for (size_t len = 0; len < sizeof(code); len++) {
		const struct ret_insn *found;
		char *copy = test_malloc(len + 1);
		int n;

		for (size_t i = 0; i < len; i++)
			copy[i] = code[i];
		n = ret_insns_find(insns, (const uint8_t *)copy, len, AT, true, &found);
		for (int i = 0; i < n; i++)
			assert_true(found[i].va + found[i].size <= AT + len);
		test_free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_found),
		cmocka_unit_test(padding_is_room),
		cmocka_unit_test(padding_within_is_none),
		cmocka_unit_test(bytes_of_others_are_none),
		cmocka_unit_test(unknown_code_ends_it),
		cmocka_unit_test(cut_off_code_is_read_to_its_end),
	};

	return cmocka_run_group_tests_name("ret-insns", tests, set_up, tear_down);
}
