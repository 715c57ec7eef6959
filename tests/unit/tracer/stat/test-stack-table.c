// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-stack-table.c - the text of stack_trace: of a stack that a real kernel has shown, and of
 * none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/stat/stack-table.h"
#include "tracer/output/output.h"

#define TOP UINT64_C(0xffffc90000014000)

static bool find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	static const struct output_symbol symbols[] = {
		{.name = "call_rcu", .off = 0xd6, .size = 0x650},
		{.name = "do_syscall_64", .off = 0x5d, .size = 0x90},
		{.name = "ext4_readdir", .off = 0x1a, .size = 0xa00, .module = "ext4"},
	};

	(void)arg;
	if (addr >= sizeof(symbols) / sizeof(symbols[0]))
		return false;
	*sym = symbols[addr];
	return true;
}

static const struct output_config config = {.symbol = find_symbol};

static void expect(const struct stack_table *s, bool disabled, const char *expected)
{
	struct text text = {0};

	stack_table_print(s, disabled, &config, &text);
	text_putc(&text, '\0');
	assert_false(text.failed);
	assert_string_equal(text.buf, expected);
	text_free(&text);
}

static void sizes(void **state)
{
	struct stack_table s = {.ip = {0, 2, 0xffffffffc0123456, 1}};
	/* At the innermost, sp is where its function's return address lies. */
	const uint64_t sps[] = {TOP - 3152, TOP - 3072, TOP - 1120, TOP - 168};

	(void)state;
	stack_table_fill(&s, sps, 4, TOP);
	expect(&s, false,
	       "        Depth    Size   Location    (4 entries)\n"
	       "        -----    ----   --------\n"
	       "  0)     3160      80   call_rcu+0xd6/0x650\n"
	       "  1)     3080    1952   ext4_readdir+0x1a/0xa00 [ext4]\n"
	       "  2)     1128     952   0xffffffffc0123456\n"
	       "  3)      176     176   do_syscall_64+0x5d/0x90\n");
}

/* Whatever an unwinder makes of a stack that a guest has scribbled over. */
static void senseless(void **state)
{
	struct stack_table s = {.ip = {0}};
	const uint64_t back[] = {TOP - 100, TOP - 50, TOP - 60, TOP - 8};
	const uint64_t beyond[] = {TOP - 100, TOP + 8, TOP + 16};
	const uint64_t elsewhere[] = {0x1000};

	(void)state;
	stack_table_fill(&s, back, 4, TOP);
	assert_int_equal(s.nr, 2);
	stack_table_fill(&s, beyond, 3, TOP);
	assert_int_equal(s.nr, 1);
	stack_table_fill(&s, elsewhere, 1, TOP);
	assert_int_equal(s.nr, 0);
}

static void disabled(void **state)
{
	const struct stack_table s = {.nr = 0};

	(void)state;
	expect(&s, true,
	       "        Depth    Size   Location    (0 entries)\n"
	       "        -----    ----   --------\n"
	       "#\n"
	       "#  Stack tracer disabled\n"
	       "#\n"
	       "# To enable the stack tracer, either add 'stacktrace' to the\n"
	       "# kernel command line\n"
	       "# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n"
	       "#\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(senseless),
		cmocka_unit_test(disabled),
	};

	return cmocka_run_group_tests_name("stack-table", tests, NULL, NULL);
}
