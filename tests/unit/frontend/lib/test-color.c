// SPDX-License-Identifier: GPL-2.0-or-later
/* test-color.c - who sees colours, and of what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "frontend/lib/color.h"
#include "frontend/lib/output.h"
#include "frontend/lib/paint.h"
#include "tests/unit/on-terminal.h"

#define IN(code, text) "\033[" code "m" text "\033[m"
#define HEADING(text)  IN("1", text)
#define FAINT(text)    IN("2", text)
#define FUNCTION(text) IN("36", text)
#define EVENT(text)    IN("35", text)
#define GOOD(text)     IN("32", text)
#define WARN(text)     IN("33", text)
#define BAD(text)      IN("1;31", text)

/* --- lines ---------------------------------------------------------------------------------- */

struct line {
	enum paint as;
	const char *text, *painted;
};

static const struct line lines[] = {
	{PAINT_NOTHING, "hvtrace: it", "hvtrace: it"},
	{PAINT_MESSAGE, "hvtrace: it", HEADING("hvtrace:") " it"},
	{PAINT_MESSAGE, "hvtrace: warning: it", HEADING("hvtrace:") " " WARN("warning:") " it"},
	{PAINT_MESSAGE, "it", "it"},

	{PAINT_TRACE, "# tracer: nop", FAINT("# tracer: nop")},
	{PAINT_TRACE, "", ""},
	{PAINT_TRACE, "  bash-1  [000] d..1.    12.345678: vfs_read <-ksys_read",
	 "  bash-1  [000] d..1.    12.345678: " FUNCTION("vfs_read") FAINT(" <-ksys_read")},
	{PAINT_TRACE, "  bash-1  [000] d..1.    12.345678: sched_switch: prev_comm=bash",
	 "  bash-1  [000] d..1.    12.345678: " EVENT("sched_switch:") " prev_comm=bash"},
	{PAINT_TRACE, " => vfs_read", FAINT(" => ") FUNCTION("vfs_read")},
	{PAINT_TRACE, " 0)   1.234 us    |  vfs_read();",
	 " 0)   1.234 us    " FAINT("|") "  " FUNCTION("vfs_read") "();"},
	{PAINT_TRACE, " 0) + 10.000 us   |    vfs_read();",
	 " 0) " WARN("+ 10.000 us") "   " FAINT("|") "    " FUNCTION("vfs_read") "();"},
	{PAINT_TRACE, " 0) @ 123456.1 us |  }",
	 " 0) " BAD("@ 123456.1 us") " " FAINT("|") "  " FAINT("}")},
	{PAINT_TRACE, " 0)  bash-1  |  ! 110.00 us   |  vfs_read() {",
	 " 0)  bash-1  |  " WARN("! 110.00 us") "   " FAINT("|") "  " FUNCTION("vfs_read") "() {"},
	{PAINT_TRACE, " 0)               |  /* sched_switch: a|  b */",
	 " 0)               " FAINT("|") "  " FAINT("/* ") EVENT("sched_switch") ": a|  b */"},
	{PAINT_TRACE, "  bash-1  0d..1   12us+: vfs_read <-ksys_read",
	 "  bash-1  0d..1   " WARN("12us+") ": " FUNCTION("vfs_read") FAINT(" <-ksys_read")},
	{PAINT_TRACE, "  bash-1  0d..1    2us : vfs_read",
	 "  bash-1  0d..1    2us : " FUNCTION("vfs_read")},
	{PAINT_TRACE, "  bash-1     [000]     1.000002: funcgraph_exit:   ! 150.2 us |    }",
	 "  bash-1     [000]     1.000002: " EVENT("funcgraph_exit:") "   " WARN(
		 "! 150.2 us") " " FAINT("|") "    " FAINT("}")},

	{PAINT_CALLS, "# 12 calls", FAINT("# 12 calls")},
	{PAINT_CALLS, "     TOTAL  FUNCTION", HEADING("     TOTAL  FUNCTION")},
	{PAINT_CALLS, " 1 us  2  | `-vfs_read", " 1 us  2  | `-" FUNCTION("vfs_read")},
	{PAINT_CALLS, "hvtrace top: 5 calls/s", "hvtrace top: 5 calls/s"},
	{PAINT_WINDOWS, "  1   2 us  .:  a -> b",
	 "  1   2 us  .:  " FUNCTION("a") FAINT(" -> ") FUNCTION("b")},
	{PAINT_WINDOWS, "      => vfs_read", FAINT("      => ") FUNCTION("vfs_read")},
	{PAINT_WINDOWS, "  1   2 us  .:  all", "  1   2 us  .:  all"},
	{PAINT_GUESTS, "ID   NAME", HEADING("ID   NAME")},
	{PAINT_GUESTS, "1    guest    traced   2",
	 "1    " FUNCTION("guest") "    " GOOD("traced") "   2"},
	{PAINT_GUESTS, "-    guest    running  2", "-    " FUNCTION("guest") "    running  2"},
	{PAINT_EVENTS, "sched:sched_switch", FAINT("sched:") EVENT("sched_switch")},
	{PAINT_EVENTS, "vfs_read    [Function]", FUNCTION("vfs_read") FAINT("    [Function]")},
	{PAINT_EVENTS, "\tfield:int a;\toffset:8;", "\tfield:int a;\toffset:8;"},
	{PAINT_EVENTS, "name: sched_switch", "name: sched_switch"},
	{PAINT_CHECKS, "libvirt                  ok         9.0",
	 "libvirt                 " GOOD(" ok") "         9.0"},
	{PAINT_CHECKS, "libvirt                  FAILED     it",
	 "libvirt                 " BAD(" FAILED") "     it"},
	{PAINT_CHECKS, "libvirt                  not tried  it",
	 "libvirt                 " WARN(" not tried") "  it"},
	{PAINT_CHECKS, "interrupted: 1 ok", HEADING("interrupted: 1 ok")},
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct text t = {0};

		paint_line(lines[i].as, lines[i].text, strlen(lines[i].text), &t);
		text_putc(&t, '\0');
		assert_string_equal(t.buf, lines[i].painted);
		text_free(&t);
	}
}

/* Without the colours it is what it was, whatever that is; nothing else is asked of a name. */
static void test_text_stays(void **state)
{
	static const char *const bits[] = {"|",		" us", "] ",   "1.5: ", "# ",	   " => ",
					   " <-",	"a",   " -> ", ":",	"12us+: ", "]",
					   "hvtrace: ", "}",   " ",    "-"};
	enum { NR = sizeof(bits) / sizeof(bits[0]) };

	(void)state;
	for (unsigned int n = 0; n < NR * NR * NR; n++) {
		char line[64];

		snprintf(line, sizeof(line), "%s%s%s", bits[n % NR], bits[n / NR % NR],
			 bits[n / NR / NR]);
		for (enum paint as = PAINT_NOTHING; as <= PAINT_CHECKS; as++) {
			struct text t = {0};
			char plain[64];
			size_t len = 0;

			paint_line(as, line, strlen(line), &t);
			for (size_t i = 0; i < t.len; i++) {
				if (t.buf[i] == '\033')
					while (t.buf[i] != 'm')
						i++;
				else
					plain[len++] = t.buf[i];
			}
			plain[len] = '\0';
			assert_string_equal(plain, line);
			text_free(&t);
		}
	}
}

/* --- who sees them ---------------------------------------------------------------------------- */

#define TITLE	"\033]0;pwned\007\n"
#define PLAIN	"# a\nb\n"
#define PAINTED FAINT("# a") "\nb\n"

static void say(void)
{
	output_paint(PAINT_TRACE);
	/* A line that comes in pieces is one. */
	fputs("#", stdout);
	fflush(stdout);
	fputs(" a\nb\n", stdout);
}

static void say_title(void)
{
	output_paint(PAINT_TRACE);
	fputs(TITLE, stdout);
}

/* What it says to a terminal, or a pipe, with these variables. */
static void shown(void (*program)(void), bool terminal, const char *const variables[3][2],
		  const char *option, const char *expected)
{
	char said[256];
	int end;
	pid_t pid = on_terminal_fork(terminal, STDOUT_FILENO, &end);

	if (!pid) {
		clearenv();
		for (int i = 0; i < 3 && variables[i][0]; i++)
			setenv(variables[i][0], variables[i][1], 1);
		if (!color_choose(option) || output_start())
			_exit(1);
		program();
		_exit(output_end(0));
	}
	on_terminal_read(pid, end, said, sizeof(said));
	assert_string_equal(said, expected);
}

static void test_who(void **state)
{
	static const struct {
		bool terminal;
		const char *variables[3][2];
		const char *option, *expected;
	} cases[] = {
		{true, {{"TERM", "xterm"}}, "auto", PAINTED},
		{true, {{"TERM", "xterm"}}, "never", PLAIN},
		{true, {{"TERM", "dumb"}}, "auto", PLAIN},
		{true, {{NULL}}, "auto", PLAIN},
		{true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, "auto", PLAIN},
		{true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}, "auto", PAINTED},
		{true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, "always", PAINTED},
		{true, {{"TERM", "dumb"}, {"CLICOLOR_FORCE", "1"}}, "auto", PAINTED},
		{false, {{"TERM", "xterm"}}, "auto", PLAIN},
		{false, {{"TERM", "xterm"}}, "always", PAINTED},
		{false, {{"CLICOLOR_FORCE", "1"}}, "auto", PAINTED},
		{false, {{"CLICOLOR_FORCE", "0"}}, "auto", PLAIN},
		{false, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}, "auto", PLAIN},
		{false, {{"CLICOLOR_FORCE", "1"}}, "never", PLAIN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		shown(say, cases[i].terminal, cases[i].variables, cases[i].option,
		      cases[i].expected);
	assert_false(color_choose("sometimes"));
}

/* A guest has none of its own, wherever colours are seen; files have none at all. */
static void test_not_of_guests(void **state)
{
	char path[] = "/tmp/test-color-XXXXXX", got[64] = "";
	int fd = mkstemp(path);
	FILE *f;

	static const char *const none[3][2] = {{NULL}};

	(void)state;
	shown(say_title, false, none, "always", "\\x1b]0;pwned\\x07\n");
	shown(say_title, false, none, "auto", TITLE);
	assert_true(fd >= 0);
	assert_true(color_choose("always"));
	f = output_open(path, NULL);
	assert_non_null(f);
	fputs("# \033[31m\n", f);
	assert_int_equal(fclose(f), 0);
	assert_true(read(fd, got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "# \033[31m\n");
	close(fd);
	unlink(path);
	color_choose("auto");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_text_stays),
		cmocka_unit_test(test_who),
		cmocka_unit_test(test_not_of_guests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
