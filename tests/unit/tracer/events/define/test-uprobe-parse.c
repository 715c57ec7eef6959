// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-uprobe-parse.c - definitions of probes in user mode: what kernels 6.1 and 6.12 make of them
 * (kernel/trace/trace_uprobe.c).
 */
#include <string.h>

#include "tests/unit/parsed-probe.h"

static int parse(const char *line, const struct probe_symbols *symbols, struct probe_def **def,
		 struct probe_error *err, uint16_t *pos)
{
	return parse_with(uprobe_def_parse, line, symbols, def, err, pos);
}

static struct probe_def *parsed(const char *line)
{
	struct probe_error err;
	struct probe_def *def;
	uint16_t pos;

	if (parse(line, &made_files, &def, &err, &pos))
		fail_msg("%s: %s", line, err.what);
	return def;
}

/* What they read as, with the names that are made: with a "p", up to what is no letter. */
static void test_lines(void **state)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{"p:myup /bin/gt:0x183e a=%di:s32 s=+0(%si):ustring",
		 "p:uprobes/myup /bin/gt:0x000000000000183e a=%di:s32 s=+0(%si):ustring\n"},
		{"r:myupr /bin/gt:0x183e ret=$retval:s32",
		 "r:uprobes/myupr /bin/gt:0x000000000000183e ret=$retval:s32\n"},
		{"p /bin/gt:6206", "p:uprobes/p_gt_0x183e /bin/gt:0x000000000000183e\n"},
		{"r /bin/gt:0x183e", "r:uprobes/p_gt_0x183e /bin/gt:0x000000000000183e\n"},
		{"p /bin/gt:0x183e%return $retval",
		 "r:uprobes/p_gt_0x183e /bin/gt:0x000000000000183e arg1=$retval\n"},
		{"p:g.e /lib/libc.so.6:010(0x20)",
		 "p:g/e /lib/libc.so.6:0x0000000000000008(0x20)\n"},
		{"p /lib/libc.so.6:8%return(0)",
		 "r:uprobes/p_libc_0x8 /lib/libc.so.6:0x0000000000000008\n"},
		{"p:g/ /a:b/c-d:1", "p:g/p_c_0x1 /a:b/c-d:0x0000000000000001\n"},
		{"pany /bin/gt:1", "p:uprobes/p_gt_0x1 /bin/gt:0x0000000000000001\n"},
		{"p ./gt:1 @+0x10 @0x20:u8 $stack3000 $stack $comm %cs:x16 \\-1",
		 "p:uprobes/p__0x1 ./gt:0x0000000000000001 arg1=@+0x10 arg2=@0x20:u8 "
		 "arg3=$stack3000 arg4=$stack arg5=$comm arg6=%cs:x16 arg7=\\-1\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_def *def = parsed(rows[i].line);
		struct text out = {0};

		if (i == sizeof(rows) / sizeof(rows[0]) - 1)
			strcpy(def->event, "p__0x1");
		probe_def_print(def, 10, &out);
		text_putc(&out, '\0');
		assert_string_equal(out.buf, rows[i].want);
		text_free(&out);
		probe_def_free(def);
	}
}

struct refused {
	const char *line;
	int error;
	const char *what; /* NULL: nothing is logged */
	unsigned int pos;
};

static void refuse(const struct refused *r, size_t n, const struct probe_symbols *symbols)
{
	for (size_t i = 0; i < n; i++) {
		struct probe_error err;
		struct probe_def *def;
		uint16_t pos;
		int ret = parse(r[i].line, symbols, &def, &err, &pos);

		if (ret != r[i].error || pos != r[i].pos || !err.what != !r[i].what ||
		    (err.what && strcmp(err.what, r[i].what) != 0))
			fail_msg("%s: %d at %u: %s", r[i].line, ret, pos, err.what);
	}
}

/* The file is looked up before anything else is read. */
static void test_refused(void **state)
{
	static const struct refused rows[] = {
		{"p", -ECANCELED, NULL, 0},
		{"e /bin/gt:1", -ECANCELED, NULL, 0},
		{"p /bin/gt", -ECANCELED, NULL, 0},
		{"p /bin/gt:zz", -ECANCELED, NULL, 0},
		{"p gt:1", -ECANCELED, NULL, 0},
		{"p:1x /nonexist:0x10(", -ENOENT, "Failed to find the given file", 5},
		{"p /bin:0x10", -EINVAL, "Not a regular file", 2},
		{"p /secret:0x10", -ETIMEDOUT, NULL, 0},
		{"p /bin/gt:1(2", -EINVAL, "Reference counter brace is not closed", 13},
		{"p /bin/gt:1(2)x", -EINVAL, "Reference counter has wrong suffix", 14},
		{"p /bin/gt:1()", -EINVAL, "Invalid reference counter offset", 12},
		{"p /bin/gt:1(z)", -EINVAL, "Invalid reference counter offset", 12},
		{"p /bin/gt:1%ret", -EINVAL, "Invalid probed address suffix", 11},
		{"p /bin/gt:1x", -EINVAL, "Invalid uprobe offset", 10},
		{"p /bin/gt:0x10000000000000000", -ERANGE, "Invalid uprobe offset", 10},
		{"p: /bin/gt:1", -EINVAL, "Event name is not specified", 2},
		{"p:/x /bin/gt:1", -EINVAL, "Group name is not specified", 2},
		{"p:g/1x /bin/gt:1", -EINVAL,
		 "Event name must follow the same rules as C identifiers", 4},
		{"p /bin/gt:1 @jiffies", -EINVAL, "Symbol is not available with uprobe", 12},
		{"p /bin/gt:1 @+x", -EINVAL, "Invalid file offset value", 12},
		{"p /bin/gt:1 $retval", -EINVAL, "$retval is not available on probe", 12},
		{"p /bin/gt:1 $arg1", -EINVAL, "Invalid $-variable specified", 12},
		{"p /bin/gt:1 a=file", -EINVAL, "Invalid fetch argument", 14},
		{"r /bin/gt:1 $retvalue", -EINVAL, "Invalid $-variable specified", 12},
		{"p /bin/gt:1 a=%di:char", -EINVAL, "Unknown type is specified", 18},
		{"p /bin/gt:1 a=+0(%di", -EINVAL, "Dereference brace is not closed", 20},
	};

	(void)state;
	refuse(rows, sizeof(rows) / sizeof(rows[0]), &made_files);
}

/* A kernel that knows arguments by their names (6.12) says so, and knows no symbols of user mode.
 */
static void test_refused_by_names(void **state)
{
	static const struct refused rows[] = {
		{"p /bin/gt:1 $arg1", -EINVAL, "$arg* can be used only on function entry or exit",
		 12},
		{"p /bin/gt:1 $arg0", -EINVAL, "Invalid argument number", 12},
		{"p /bin/gt:1 $arg*", -EINVAL, "Invalid $-variable specified", 12},
		{"p /bin/gt:1 a=file", -EINVAL, "BTF is not available or not supported", 14},
		{"p /bin/gt:1 a=%di:symbol", -EINVAL, "Unknown type is specified", 18},
		{"p /bin/gt:1 a=%di:symstr", -EINVAL, "Unknown type is specified", 18},
	};
	struct probe_symbols named = made_files;
	struct probe_error err;
	struct probe_def *def;
	uint16_t pos;

	(void)state;
	named.has_char = named.has_names = true;
	named.dentries = &made_dentries;
	refuse(rows, sizeof(rows) / sizeof(rows[0]), &named);
	assert_int_equal(
		parse("r /bin/gt:1 $retvalue a=%di:char %si:%pd", &named, &def, &err, &pos),
		-EINVAL);
	assert_int_equal(parse("r /bin/gt:1 $retvalue a=%di:char", &named, &def, &err, &pos), 0);
	assert_int_equal(def->arg[0].source, FETCH_RETVAL);
	probe_def_free(def);
}

/* Words behind the name of one that is to be removed have to be as it reads. */
static void test_removal(void **state)
{
	static const struct {
		const char *line;
		bool takes;
	} rows[] = {
		{"-:e", true},
		{"-:g/e", true},
		{"-:g/e /bin/gt:0x0000000000000001(0x20)", true},
		{"-:g/e /bin/gt:0x0000000000000001(0x20) a=%di", true},
		{"-:g/e /bin/gt:0x0000000000000001", false},
		{"-:g/e /bin/gt:1(0x20)", false},
		{"-:g/e /bin/gt:0x0000000000000001(0x20) a=%si", false},
	};
	struct probe_def *def = parsed("p:g/e /bin/gt:1(0x20) a=%di");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_removal removal;
		struct probe_words words;

		assert_int_equal(probe_words_split(&words, rows[i].line), 0);
		assert_int_equal(probe_removal_parse(&words, &removal), 0);
		assert_int_equal(probe_removal_takes(&removal, def), rows[i].takes);
		probe_words_free(&words);
	}
	probe_def_free(def);
}

/* It is printed without symbols. */
static void test_events(void **state)
{
	struct probe_def *def = parsed("r:myupr /bin/gt:0x183e ret=$retval:s32");
	struct probe_event_made made;

	(void)state;
	assert_int_equal(probe_event_make(&made, def, 1), 0);
	assert_string_equal(made.event.system, "uprobes");
	assert_string_equal(made.print_fmt, "\"(%lx <- %lx) ret=%d\", REC->__probe_func, "
					    "REC->__probe_ret_ip, REC->ret");
	assert_true(made.event.flags & GUESTSYM_EVENT_FL_UPROBE);
	assert_false(made.event.flags & GUESTSYM_EVENT_FL_KPROBE);
	probe_event_unmake(&made);
	probe_def_free(def);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_removal), cmocka_unit_test(test_refused_by_names),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
