// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-fprobe-parse.c - definitions of probes at functions and tracepoints: what a kernel 6.12
 * makes of them (kernel/trace/trace_fprobe.c).
 */
#include <string.h>

#include "tests/unit/parsed-probe.h"

static int parse(const char *line, const struct probe_symbols *symbols, struct probe_def **def,
		 struct probe_error *err, uint16_t *pos)
{
	return parse_with(fprobe_def_parse, line, symbols, def, err, pos);
}

static struct probe_def *parsed(const char *line)
{
	struct probe_error err;
	struct probe_def *def;
	uint16_t pos;

	if (parse(line, &made_named, &def, &err, &pos))
		fail_msg("%s: %s", line, err.what);
	return def;
}

/* What they read as, with the names that are made. */
static void test_lines(void **state)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{"f vfs_read", "f:fprobes/vfs_read__entry vfs_read\n"},
		{"f vfs_read%return", "f:fprobes/vfs_read__exit vfs_read%return\n"},
		{"f20 vfs_read%return", "f20:fprobes/vfs_read__exit vfs_read%return\n"},
		{"f:one vfs_read $retval", "f:fprobes/one vfs_read%return arg1=$retval\n"},
		{"f vfs_read%return $arg2 $retval file->pid x=$arg3:x8",
		 "f:fprobes/vfs_read__exit vfs_read%return fd=fd arg2=$retval arg3=file->pid "
		 "x=$arg3:x8\n"},
		{"f vfs_read $arg* $retval",
		 "f:fprobes/vfs_read__exit vfs_read%return file=file fd=fd "
		 "mode=mode by_value=by_value arg5=$retval\n"},
		{"f:grp/ vfs_read a=$retval:x8",
		 "f:grp/vfs_read__exit vfs_read%return a=$retval:x8\n"},
		{"f vfs_open a=$retvalue", NULL},
		{"f:g.e vfs_read $arg*",
		 "f:g/e vfs_read file=file fd=fd mode=mode by_value=by_value\n"},
		{"f vfs_read $arg2:x8 file->pid $stack1 $comm",
		 "f:fprobes/vfs_read__entry vfs_read fd=fd:x8 arg2=file->pid arg3=$stack1 "
		 "arg4=$comm\n"},
		{"f mod:vfs.isra.0", "f:fprobes/mod_vfs_isra_0__entry mod:vfs.isra.0\n"},
		{"f vfs_open $arg1", "f:fprobes/vfs_open__entry vfs_open arg1=$arg1\n"},
		{"t sched_switch", "t:tracepoints/sched_switch sched_switch\n"},
		{"t 9lives", "t:tracepoints/_9lives 9lives\n"},
		{"t:g/e sched_switch $arg*",
		 "t:g/e sched_switch fd=fd mode=mode by_value=by_value\n"},
		{"t sched_switch $arg1 $stack",
		 "t:tracepoints/sched_switch sched_switch fd=fd arg2=$stack\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text out = {0};
		struct probe_error err;
		struct probe_def *def;
		uint16_t pos;

		if (!rows[i].want) {
			assert_int_equal(parse(rows[i].line, &made_named, &def, &err, &pos),
					 -EINVAL);
			continue;
		}
		def = parsed(rows[i].line);
		probe_def_print(def, 10, &out);
		text_putc(&out, '\0');
		assert_string_equal(out.buf, rows[i].want);
		text_free(&out);
		probe_def_free(def);
	}
}

/* Where arguments come from: a tracepoint's follow one that is none of its own. */
static void test_args(void **state)
{
	struct probe_def *def = parsed("t sched_switch mode x=$arg1 $stack0 y=@jiffies");

	(void)state;
	assert_int_equal(def->kind, PROBE_TPROBE);
	assert_false(def->is_return);
	assert_int_equal(def->arg[0].source, FETCH_ARG);
	assert_int_equal(def->arg[0].number, 2);
	assert_string_equal(def->arg[0].type->name, "u16");
	assert_int_equal(def->arg[1].source, FETCH_ARG);
	assert_int_equal(def->arg[1].number, 1);
	assert_int_equal(def->arg[2].source, FETCH_STACK);
	assert_int_equal(def->arg[3].source, FETCH_SYMBOL);
	probe_def_free(def);
	def = parsed("f vfs_read mode x=$arg1");
	assert_int_equal(def->arg[0].number, 2);
	assert_int_equal(def->arg[1].number, 0);
	probe_def_free(def);
}

/* Sizes that no number has, which a guest's types may say: as what nothing is known of. */
static void test_odd_sizes(void **state)
{
	struct probe_def *def = parsed("f vfs_read file->odd file->none file->wide");

	(void)state;
	assert_int_equal(def->nr_args, 3);
	for (unsigned int i = 0; i < def->nr_args; i++)
		assert_string_equal(def->arg[i].type->name, "x64");
	probe_def_free(def);
}

/* Its event is as that of a kprobe at the same place. */
static void test_events(void **state)
{
	struct probe_def *def = parsed("f vfs_read%return $retval->pid n=$retval->name:string");
	struct probe_event_made made;

	(void)state;
	assert_int_equal(probe_event_make(&made, def, 1), 0);
	assert_string_equal(made.event.system, "fprobes");
	assert_string_equal(made.event.name, "vfs_read__exit");
	assert_string_equal(made.print_fmt, "\"(%lx <- %lx) arg1=%d n=\\\"%s\\\"\", "
					    "REC->__probe_func, REC->__probe_ret_ip, REC->arg1, "
					    "__get_str(n)");
	probe_event_unmake(&made);
	probe_def_free(def);
	def = parsed("t sched_switch mode");
	assert_int_equal(probe_event_make(&made, def, 1), 0);
	assert_string_equal(made.event.system, "tracepoints");
	assert_string_equal(made.print_fmt, "\"(%lx) mode=%u\", REC->__probe_ip, REC->mode");
	probe_event_unmake(&made);
	probe_def_free(def);
}

#define DIGITS "1234567890123456789012345678901234567890123456789012345678901234"

static void test_refused(void **state)
{
	static const struct {
		const char *line;
		int error;
		unsigned int pos;
		const char *what;
	} rows[] = {
		{"f", ECANCELED, 0, NULL},
		{"t", ECANCELED, 0, NULL},
		{"p vfs_read", ECANCELED, 0, NULL},
		{"f0 vfs_read%return", EINVAL, 1, "Invalid maxactive number"},
		{"f1x vfs_read%return", EINVAL, 1, "Invalid maxactive number"},
		{"f" DIGITS " vfs_read%return", EINVAL, 1, "Invalid maxactive number"},
		{"f4097 vfs_read%return", EINVAL, 1, "Maxactive is too big"},
		{"f5 vfs_read", EINVAL, 1, "Maxactive is only for function exit"},
		{"t5 sched_switch", EINVAL, 1, "Maxactive is only for function exit"},
		{"f vfs_read%entry", EINVAL, 10, "Invalid probed address suffix"},
		{"t sched_switch%return", EINVAL, 14, "Invalid probed address suffix"},
		{"t sched-switch", EINVAL, 7, "Invalid character in tracepoint name"},
		{"t sched_switch a=$retval", EINVAL, 17, "$retval is not available on probe"},
		{"t nosuch", EINVAL, 2, "Tracepoint is not found"},
		{"f: vfs_read", EINVAL, 2, "Event name is not specified"},
		{"f:/x vfs_read", EINVAL, 2, "Group name is not specified"},
		{"f:a-b vfs_read", EINVAL, 2,
		 "Event name must follow the same rules as C identifiers"},
		{"f vfs_read %ax", EINVAL, 11, "Invalid fetch argument"},
		{"t sched_switch +0(%ax)", EINVAL, 18, "Invalid fetch argument"},
		{"f vfs_read nosuch", ENOENT, 11, "This variable is not found at this probe point"},
		{"f vfs_read a=file->nosuch", ENOENT, 19, "This field is not found."},
		{"t sched_switch file", ENOENT, 15,
		 "This variable is not found at this probe point"},
		{"t sched_switch $arg4", ENOENT, 15,
		 "This variable is not found at this probe point"},
		{"f vfs_write%return $retval", ENOENT, 19, "This function returns 'void' type"},
		{"f vfs_open $arg*", EOPNOTSUPP, 11, "BTF is not available or not supported"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_error err;
		struct probe_def *def;
		uint16_t pos;
		int ret = parse(rows[i].line, &made_named, &def, &err, &pos);

		if (ret != -rows[i].error || pos != rows[i].pos)
			print_error("%s: %d at %u: %s\n", rows[i].line, ret, pos, err.what);
		assert_int_equal(ret, -rows[i].error);
		assert_int_equal(pos, rows[i].pos);
		assert_null(def);
		if (rows[i].what)
			assert_string_equal(err.what, rows[i].what);
	}
}

/* Where nothing is known of tracepoints a line of one is of no kind that there is. */
static void test_no_tracepoints(void **state)
{
	struct probe_symbols symbols = made_named;
	struct probe_error err;
	struct probe_def *def;
	uint16_t pos;

	(void)state;
	symbols.tracepoint = NULL;
	assert_int_equal(parse("t sched_switch", &symbols, &def, &err, &pos), -ECANCELED);
	assert_int_equal(parse("f vfs_read", &symbols, &def, &err, &pos), 0);
	probe_def_free(def);
}

static bool takes(const char *removal, const struct probe_def *def)
{
	struct probe_removal r;
	struct probe_words words;
	bool taken;

	assert_int_equal(probe_words_split(&words, removal), 0);
	assert_int_equal(probe_removal_parse(&words, &r), 0);
	taken = probe_removal_takes(&r, def);
	probe_words_free(&words);
	return taken;
}

/* By the function's name alone, as trace_fprobe_match_command_head() has it. */
static void test_removal(void **state)
{
	struct probe_def *def = parsed("f:g/e vfs_read%return $retval");

	(void)state;
	assert_true(takes("-:g/e", def));
	assert_true(takes("-:g/e vfs_read", def));
	assert_true(takes("-:g/e vfs_read arg1=$retval", def));
	assert_false(takes("-:g/e vfs_read%return", def));
	assert_false(takes("-:fprobes/", def));
	probe_def_free(def);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	       cmocka_unit_test(test_args),
		cmocka_unit_test(test_events),	       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_tracepoints), cmocka_unit_test(test_removal),
		cmocka_unit_test(test_odd_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
