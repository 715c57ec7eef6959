// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-mmio-lines.c - what QEMU's log says of accesses to devices, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/qemu/mmio-lines.h"

#define READ "memory_region_ops_read cpu 1 mr 0x55d0 addr 0xfe000014 value 0xf size 1 name 'v'"

static bool parse(const char *text, struct mmio_line *line)
{
	return mmio_line_parse(text, strlen(text), line);
}

static void a_line_tells_an_access(void **state)
{
	struct mmio_line line;

	(void)state;
	assert_true(parse(READ, &line));
	assert_int_equal(line.cpu, 1);
	assert_false(line.is_write);
	assert_int_equal(line.size, 1);
	assert_int_equal(line.addr, 0xfe000014);
	assert_int_equal(line.value, 0xf);
	assert_int_equal(line.ns, 0);
	assert_true(parse("memory_region_ops_write cpu 0 mr (nil) addr 0xffffffffffffffff "
			  "value 0xffffffffffffffff size 8 name 'a b'",
			  &line));
	assert_true(line.is_write);
	assert_int_equal(line.cpu, 0);
	assert_int_equal(line.addr, UINT64_MAX);
	assert_int_equal(line.value, UINT64_MAX);
}

/* No more of it than was accessed. */
static void a_value_has_its_width(void **state)
{
	struct mmio_line line;

	(void)state;
	assert_true(parse("memory_region_ops_read cpu 0 mr 0x1 addr 0x1 value 0x123456789abcdef0 "
			  "size 2 name ''",
			  &line));
	assert_int_equal(line.value, 0xdef0);
}

static void a_line_has_its_time(void **state)
{
	struct mmio_line line;

	(void)state;
	assert_true(parse("5439@1795763814.000345:" READ, &line));
	assert_true(line.ns == UINT64_C(1795763814000345000));
	assert_true(parse("2026-11-27T07:16:54.801288Z " READ, &line));
	assert_true(line.ns == UINT64_C(1795763814801288000));
	assert_true(parse("2026-11-27T07:16:54Z " READ, &line));
	assert_true(line.ns == UINT64_C(1795763814000000000));
	assert_true(parse("1@99999999999999999.1:" READ, &line)); /* it is none */
	assert_int_equal(line.ns, 0);
}

static void other_lines_do_not(void **state)
{
	static const char *const lines[] = {
		"",
		"memory_region_ops_",
		"memory_region_ops_read",
		" " READ,
		"memory_region_ops_reads cpu 1 mr 0x55d0 addr 0x1 value 0xf size 1 name 'v'",
		"memory_region_subpage_read cpu 1 mr 0x55d0 addr 0x1 value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu -1 mr 0x55d0 addr 0x1 value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu 4294967295 mr 0x55d0 addr 0x1 value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu 1 mr  addr 0x1 value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 1 value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x1 value 0xF size 1 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x11112222333344445 value 0xf size 1 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x1 value 0xf size 0 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x1 value 0xf size 3 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x1 value 0xf size 16 name 'v'",
		"memory_region_ops_read cpu 1 mr 0x55d0 addr 0x1 value 0xf size 1",
		"5439@1795763814:" READ,
		"5439@1795763814.:" READ,
		"2026-11-27T08:16:54" READ,
		"2026-11-27T08:16:54. Z " READ,
		"qemu-system-x86_64: warning: memory_region_ops_read cpu 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct mmio_line line;

		if (parse(lines[i], &line))
			fail_msg("%s", lines[i]);
	}
}

/* Each line, cut off anywhere, is looked at no further than that. */
static void a_line_is_cut_off(void **state)
{
	struct mmio_line line;

	(void)state;
	for (size_t len = 0; len < strlen(READ); len++) {
		char text[sizeof(READ)];

		memcpy(text, READ, len);
		memset(text + len, '1', sizeof(text) - len); /* what would be read on */
		assert_int_equal(mmio_line_parse(text, len, &line),
				 len > strlen(READ) - strlen("name 'v'") - 1);
	}
}

struct told {
	unsigned int n;
	uint64_t sum;
};

static void tell(void *arg, const struct mmio_line *line)
{
	struct told *told = arg;

	told->n++;
	told->sum += line->addr;
}

static void lines_come_in_pieces(void **state)
{
	static const char text[] = READ "\nanything\n\n" READ "\n" READ;
	struct mmio_lines lines;
	struct told told;

	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		lines = (struct mmio_lines){0};
		told = (struct told){0};
		for (size_t at = 0; at < sizeof(text) - 1; at += piece)
			mmio_lines_feed(&lines, text + at,
					piece < sizeof(text) - 1 - at ? piece
								      : sizeof(text) - 1 - at,
					tell, &told);
		assert_int_equal(told.n, 2); /* the third has no end yet */
		assert_int_equal(told.sum, 2 * UINT64_C(0xfe000014));
		mmio_lines_feed(&lines, "\n", 1, tell, &told);
		assert_int_equal(told.n, 3);
	}
}

/* It is none, and those behind it are told. */
static void a_line_is_too_long(void **state)
{
	static const size_t pieces[] = {1, 7, MMIO_LINE_MAX, 100000};
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	snprintf(text, sizeof(text), "%s", READ);
	text[strlen(READ)] = 'x';
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct mmio_lines lines = {0};
		struct told told = {0};

		for (size_t at = 0, n; at < sizeof(text); at += n) {
			n = pieces[i] < sizeof(text) - at ? pieces[i] : sizeof(text) - at;
			mmio_lines_feed(&lines, text + at, n, tell, &told);
		}
		mmio_lines_feed(&lines, "\n" READ "\n", sizeof(READ) + 1, tell, &told);
		assert_int_equal(told.n, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_tells_an_access), cmocka_unit_test(a_value_has_its_width),
		cmocka_unit_test(a_line_has_its_time),	  cmocka_unit_test(other_lines_do_not),
		cmocka_unit_test(a_line_is_cut_off),	  cmocka_unit_test(lines_come_in_pieces),
		cmocka_unit_test(a_line_is_too_long),
	};

	return cmocka_run_group_tests_name("qemu mmio lines", tests, NULL, NULL);
}
