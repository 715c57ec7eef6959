// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-call-type.c - what goes in front of a function that a kernel with checks of indirect calls
 * is to call: as it stands in front of one of the kernel's own, in its several shapes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tracer/guest/call-type.h"

#define MODEL UINT64_C(0xffffffff81000100)
#define SLIDE UINT64_C(0x2000000)

static const uint8_t *there; /* in front of the model; NULL: no memory */
static const char *checks;   /* the symbol that tells of checks */
static const char *model;

uint64_t guestsym_addr(const struct guestsym *gs, const char *name)
{
	(void)gs;
	if (checks && !strcmp(name, checks))
		return 1;
	return !strcmp(name, model) ? MODEL : 0;
}

int guest_read(struct guest_kernel *g, uint64_t va, void *buf, size_t len)
{
	(void)g;
	assert_int_equal(va, MODEL + SLIDE - CALL_TYPE_SIZE);
	assert_int_equal(len, CALL_TYPE_SIZE);
	if (!there)
		return -EFAULT;
	memcpy(buf, there, len);
	return 0;
}

static bool read_as(enum call_type type, uint8_t bytes[CALL_TYPE_SIZE])
{
	static struct guest_kernel g = {.slide = SLIDE}; /* too large for a stack */

	return call_type_read(NULL, &g, type, bytes);
}

static int set_up(void **state)
{
	(void)state;
	there = NULL;
	checks = "report_cfi_failure";
	model = "poweroff_work_func";
	return 0;
}

/* Of the linux-source-6.12 kernels: __CFI_TYPE(), with and without CONFIG_CALL_PADDING. */
static void test_hash(void **state)
{
	static const uint8_t padded[CALL_TYPE_SIZE] = {0xb8, 1, 2, 3, 4, 0x65, 0x48, 0xc1,
						       0x3d, 9, 9, 9, 9, 5,    0x90, 0x90},
			     plain[CALL_TYPE_SIZE] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
						      0x90, 0x90, 0x90, 0x90, 0x90, 0xb8,
						      1,    2,	  3,	4};
	uint8_t bytes[CALL_TYPE_SIZE], expected[CALL_TYPE_SIZE];

	(void)state;
	there = padded;
	memset(expected, 0xcc, sizeof(expected));
	memcpy(expected, padded, 5);
	assert_true(read_as(CALL_TYPE_WORK, bytes));
	assert_memory_equal(bytes, expected, sizeof(bytes));
	there = plain;
	memset(expected, 0xcc, sizeof(expected));
	memcpy(expected + 11, plain + 11, 5);
	assert_true(read_as(CALL_TYPE_WORK, bytes));
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

/* fineibt_preamble of arch/x86/kernel/alternative.c; what calls something works in its place only.
 */
static void test_preamble(void **state)
{
	uint8_t preamble[CALL_TYPE_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x81, 0xea, 1,
					    2,	  3,	4,    0x74, 0x03, 0x0f, 0x0b, 0x90},
		bytes[CALL_TYPE_SIZE];

	(void)state;
	there = preamble;
	assert_true(read_as(CALL_TYPE_WORK, bytes));
	assert_memory_equal(bytes, preamble, sizeof(bytes));
	preamble[11] = 0xe8;
	assert_false(read_as(CALL_TYPE_WORK, bytes));
}

static void test_none(void **state)
{
	static const uint8_t unknown[CALL_TYPE_SIZE] = {0x90};
	uint8_t bytes[CALL_TYPE_SIZE], nothing[CALL_TYPE_SIZE];

	(void)state;
	memset(nothing, 0xcc, sizeof(nothing));
	assert_false(read_as(CALL_TYPE_WORK, bytes));
	there = unknown;
	assert_false(read_as(CALL_TYPE_WORK, bytes));
	assert_memory_equal(bytes, nothing, sizeof(bytes));
	model = "";
	assert_false(read_as(CALL_TYPE_WORK, bytes));
	/* Nobody looks. */
	checks = NULL;
	assert_true(read_as(CALL_TYPE_WORK, bytes));
	assert_memory_equal(bytes, nothing, sizeof(bytes));
}

static void test_models(void **state)
{
	static const struct {
		enum call_type type;
		const char *model;
	} has[] = {
		{CALL_TYPE_WORK, "poweroff_work_func"},
		{CALL_TYPE_KPROBE, "kprobe_dispatcher"},
		{CALL_TYPE_KPROBE, "aggr_pre_handler"},
		{CALL_TYPE_KPROBE, "pre_handler_kretprobe"},
		{CALL_TYPE_KRETPROBE, "kretprobe_dispatcher"},
	};
	static const uint8_t hash[CALL_TYPE_SIZE] = {0xb8};
	uint8_t bytes[CALL_TYPE_SIZE];

	(void)state;
	there = hash;
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
		model = has[i].model;
		for (unsigned int type = 0; type < CALL_TYPES; type++)
			assert_int_equal(read_as(type, bytes), type == has[i].type);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hash),
		TEST(test_preamble),
		TEST(test_none),
		TEST(test_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
