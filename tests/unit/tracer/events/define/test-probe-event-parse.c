// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-probe-event-parse.c - definitions of kprobe events: what a kernel 6.1 makes of them, by what
 * it answered or by its source where that says more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/made-events.h"
#include "tests/unit/made-probes.h"
#include "tracer/events/filter/format.h"

#define CAPTURE "tests/data/tracefs-6.1/kprobe-events.txt"

static struct probe_def *parsed(const char *line)
{
	struct probe_words words;
	struct probe_error err;
	struct probe_def *def;
	int ret;

	assert_int_equal(probe_words_split(&words, line), 0);
	ret = probe_def_parse(&words, &made_symbols, &def, &err);
	if (ret)
		print_error("%s: %s\n", line, err.what);
	assert_int_equal(ret, 0);
	probe_words_free(&words);
	return def;
}

/* --- event probes ---------------------------------------------------------------------------- */

static const struct guestsym_event *find_switch(void *arg, const char *system, const char *event)
{
	(void)arg;
	return strcmp(system, "sched") || strcmp(event, "sched_switch") ? NULL : &made_switch;
}

/* One of the filters that are tried is good. */
static int check_filter(void *arg, const struct guestsym_event *event, const char *text)
{
	(void)arg, (void)event;
	return strcmp(text, "prev_pid == 1") ? -EINVAL : 0;
}

static const struct probe_attach attach = {.find = find_switch, .check_filter = check_filter};

static int parse_event_probe(const char *line, struct probe_def **def, struct probe_error *err)
{
	struct probe_words words;
	int ret;

	assert_int_equal(probe_words_split(&words, line), 0);
	ret = event_probe_def_parse(&words, &attach, def, err);
	probe_words_free(&words);
	return ret;
}

static struct probe_def *event_probe(const char *line)
{
	struct probe_error err;
	struct probe_def *def;

	if (parse_event_probe(line, &def, &err))
		fail_msg("%s: %s", line, err.what);
	return def;
}

static void test_event_probe(void **state)
{
	struct probe_def *def = event_probe("e sched/sched_switch p=$prev_pid:s32 $comm:string "
					    "n=+2($next_comm):string if prev_pid == 1");
	struct probe_event_made made;
	struct event_format format;
	struct text out = {0};

	(void)state;
	assert_string_equal(def->filter, "prev_pid == 1");
	assert_int_equal(def->arg[0].source, FETCH_FIELD);
	assert_int_equal(def->arg[0].number, 1);
	assert_int_equal(def->arg[1].source, FETCH_COMM);
	assert_int_equal(def->arg[2].number, 4);
	probe_def_print(def, 0, &out);
	assert_int_equal(probe_event_make(&made, def, 1399), 0);
	assert_string_equal(made.event.place, "(sched.sched_switch)");
	format = made_format(&made.event);
	event_format_print(&out, &format);
	text_putc(&out, '\0');
	assert_string_equal(
		out.buf,
		"e:eprobes/sched_switch sched.sched_switch p=$prev_pid:s32 arg2=$comm:string "
		"n=+2($next_comm):string\n"
		"name: sched_switch\nID: 1399\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:s32 p;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] arg2;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] n;\toffset:16;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \" p=%d arg2=\\\"%s\\\" n=\\\"%s\\\"\", REC->p, __get_str(arg2), "
		"__get_str(n)\n");
	text_free(&out);
	probe_event_unmake(&made);
	probe_def_free(def);
}

static void test_event_probe_refused(void **state)
{
	static const struct {
		const char *line;
		int ret;
		const char *what;
		unsigned int word;
		size_t offset;
	} rows[] = {
		{"e", -ECANCELED, NULL, 0, 0},
		{"p:x sched.sched_switch", -ECANCELED, NULL, 0, 0},
		{"e:1x sched.sched_switch", -EINVAL,
		 "Event name must follow the same rules as C identifiers", 0, 2},
		{"e:g/1x sched.sched_switch", -EINVAL,
		 "Event name must follow the same rules as C identifiers", 0, 4},
		{"e:x sched_switch", -EINVAL, "This requires both group and event name to attach",
		 1, 0},
		{"e:x sched.", -EINVAL, "This requires both group and event name to attach", 1, 0},
		{"e:x sched.none", -ENODEV, "Attached event does not exist", 1, 0},
		{"e:x sched.sched_switch if", -EINVAL, "No filter rule after 'if'", 3, 0},
		{"e:x sched.sched_switch $none if none == 1", -EINVAL, NULL, 0, 0},
		{"e:x sched.sched_switch a=$prev_pid b=$none", -ENOENT,
		 "Attached event does not have this field", 3, 0},
		{"e:x sched.sched_switch $stack", -ENOENT,
		 "Attached event does not have this field", 2, 0},
		{"e:x sched.sched_switch a=%di", -EINVAL, "Invalid fetch argument", 2, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_error err;
		struct probe_def *def;
		int ret = parse_event_probe(rows[i].line, &def, &err);

		if (ret != rows[i].ret || !err.what != !rows[i].what ||
		    (err.what && (strcmp(err.what, rows[i].what) != 0 || err.word != rows[i].word ||
				  err.offset != rows[i].offset)))
			fail_msg("%s: %d, %s, at %u, %zu", rows[i].line, ret, err.what, err.word,
				 err.offset);
	}
}

/* Kernels since 6.5 say so of the variable, where it stands. */
static void test_event_probe_of_no_field(void **state)
{
	static const struct probe_attach newer = {
		.find = find_switch, .check_filter = check_filter, .fields_are_variables = true};
	struct probe_words words;
	struct probe_error err;
	struct probe_def *def;

	(void)state;
	assert_int_equal(probe_words_split(&words, "e:x sched.sched_switch $COMM b=+0($none)"), 0);
	assert_int_equal(event_probe_def_parse(&words, &newer, &def, &err), -EINVAL);
	assert_string_equal(err.what, "Invalid $-variable specified");
	assert_int_equal(err.word, 3);
	assert_int_equal(err.offset, 5);
	probe_words_free(&words);
	assert_int_equal(probe_words_split(&words, "e:x sched.sched_switch a=foo"), 0);
	assert_int_equal(event_probe_def_parse(&words, &newer, &def, &err), -EINVAL);
	assert_string_equal(err.what, "BTF is not available or not supported");
	assert_int_equal(err.word, 2);
	assert_int_equal(err.offset, 2);
	probe_words_free(&words);
}

/* As the kernel: the event that it is at may be named either way. */
static bool takes(const char *removal, const struct probe_def *def);

static void test_event_probe_removal(void **state)
{
	struct probe_def *def = event_probe("e:x sched.sched_switch a=$prev_pid");

	(void)state;
	assert_true(takes("-:x", def));
	assert_true(takes("-:eprobes/x sched.sched_switch", def));
	assert_true(takes("!e:x sched/sched_switch a=$prev_pid", def));
	assert_false(takes("-:x sched", def));
	assert_false(takes("-:x sched.sched_waking", def));
	assert_false(takes("-:x sched.sched_switch a=$next_pid", def));
	probe_def_free(def);
}

/* --- what it is in the files ----------------------------------------------------------------- */

/* The part of the capture behind a line up to another one. */
static char *captured(const char *begin, const char *end)
{
	FILE *file = fopen(CAPTURE, "r");
	struct text part = {0};
	char line[1024];
	bool in = false;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (in && !strncmp(line, end, strlen(end)))
			break;
		if (in)
			text_puts(&part, line);
		else
			in = !strncmp(line, begin, strlen(begin));
	}
	fclose(file);
	text_putc(&part, '\0');
	assert_false(part.failed);
	return part.buf;
}

/* Each line of kprobe_events reads as it was, also when it is what was written. */
static void test_lines(void **state)
{
	char *lines = captured("--- kprobe_events", "---"), *at = lines, *end;
	struct text out = {0};
	unsigned int n = 0;

	(void)state;
	for (; (end = strchr(at, '\n')); at = end + 1, n++) {
		struct probe_def *def;

		*end = '\0';
		def = parsed(at);
		out.len = 0;
		probe_def_print(def, 10, &out);
		text_putc(&out, '\0');
		assert_int_equal(out.buf[out.len - 2], '\n');
		out.buf[out.len - 2] = '\0';
		assert_string_equal(out.buf, at);
		probe_def_free(def);
	}
	assert_int_equal(n, 4);
	text_free(&out);
	free(lines);
}

static void test_formats(void **state)
{
	static const struct {
		const char *line;
		uint16_t id;
	} rows[] = {
		{"p:bits vfs_open f=%ax:b4@2/32 sym=%ip:symbol arr=+0(%sp):x8[4] str=$comm:string",
		 1396},
		{"p:myopen do_sys_openat2 dfd=%di:s32 filename=+0(%si):ustring flags=+0(%dx):x64",
		 1392},
		{"r:myret do_sys_openat2 ret=$retval:s64", 1393},
		{"r20:myret20 vfs_read", 1395},
	};
	char *want = captured("--- format", "---");
	struct text out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_def *def = parsed(rows[i].line);
		struct probe_event_made made;
		struct event_format format;

		assert_int_equal(probe_event_make(&made, def, rows[i].id), 0);
		format = made_format(&made.event);
		event_format_print(&out, &format);
		assert_string_equal(made.event.system, "kprobes");
		probe_event_unmake(&made);
		probe_def_free(def);
	}
	text_putc(&out, '\0');
	assert_string_equal(out.buf, want);
	text_free(&out);
	free(want);
}

/* Names that are made, and where probes are. */
static void test_names(void **state)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{"p vfs_read", "p:kprobes/p_vfs_read_0 vfs_read\n"},
		{"p vfs_read+0x10", "p:kprobes/p_vfs_read_16 vfs_read+16\n"},
		{"r vfs_read", "r10:kprobes/r_vfs_read_0 vfs_read\n"},
		{"p vfs_read%return", "r10:kprobes/r_vfs_read_0 vfs_read\n"},
		{"p 0xffffffff81000010", "p:kprobes/p_0xffffffff81000010 0xffffffff81000010\n"},
		{"p ext4:ext4_read.part.0",
		 "p:kprobes/p_ext4_ext4_read_part_0_0 ext4:ext4_read.part.0\n"},
		{"p:g/ vfs_read", "p:g/p_vfs_read_0 vfs_read\n"},
		{"p:my-g/e vfs_read", "p:my-g/e vfs_read\n"},
		{"p:g.e vfs_read", "p:g/e vfs_read\n"},
		{"pxyz vfs_read", "p:kprobes/p_vfs_read_0 vfs_read\n"},
		{" p  vfs_read\t%di ", "p:kprobes/p_vfs_read_0 vfs_read arg1=%di\n"},
		{"p vfs_read $arg1 $arg9:u8",
		 "p:kprobes/p_vfs_read_0 vfs_read arg1=$arg1 arg2=$arg9:u8\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_def *def = parsed(rows[i].line);
		struct text out = {0};

		probe_def_print(def, 10, &out);
		text_putc(&out, '\0');
		assert_string_equal(out.buf, rows[i].want);
		text_free(&out);
		probe_def_free(def);
	}
}

/* --- what is wrong ---------------------------------------------------------------------------- */

static void refuses(const char *line, int error, unsigned int pos, const char *what)
{
	struct probe_words words;
	struct probe_error err;
	struct probe_def *def;
	uint16_t at = 0;
	char *command;
	int ret;

	assert_int_equal(probe_words_split(&words, line), 0);
	ret = probe_def_parse(&words, &made_symbols, &def, &err);
	command = probe_error_command(&words, &err, &at);
	if (ret != -error || (what && at != pos))
		print_error("%s: %d at %u\n", line, ret, at);
	assert_int_equal(ret, -error);
	assert_null(def);
	if (what) {
		assert_non_null(err.what);
		assert_string_equal(err.what, what);
		assert_string_equal(command, line);
		assert_int_equal(at, pos);
	} else {
		assert_null(err.what);
	}
	free(command);
	probe_words_free(&words);
}

#define NAME_RULES " name must follow the same rules as C identifiers"
#define DEREF_15   "+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(%ax)))))))))))))))"
#define DEREF_14   "+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(%ax))))))))))))))"

static const struct {
	const char *line;
	int error;
	unsigned int pos;
	const char *what;
} refusals[] = {
	{"p", EINVAL, 0, NULL},
	{"p:vfs_read", EINVAL, 0, NULL},
	{"x vfs_read", EINVAL, 0, NULL},
	{"p /bin/true:0x10", ECANCELED, 0, NULL},
	{"p5 vfs_read", EINVAL, 1, "Maxactive is not for kprobe"},
	{"r0:x vfs_read", EINVAL, 1, "Invalid maxactive number"},
	{"r4097:x vfs_read", EINVAL, 1, "Maxactive is too big"},
	{"p nosuch_symbol", ENOENT, 2, "Invalid probed address or symbol"},
	{"p twice", EADDRNOTAVAIL, 2, "The symbol is not unique"},
	{"p vfs_read-4", EINVAL, 2, "Invalid probed address or symbol"},
	{"p vfs_read%entry", EINVAL, 10, "Invalid probed address suffix"},
	{"r vfs_read+4", EINVAL, 2, "Retprobe address must be an function entry"},
	{"p:bad-name vfs_read", EINVAL, 2, "Event" NAME_RULES},
	{"p:a/b/c vfs_read", EINVAL, 4, "Event" NAME_RULES},
	{"p:/b vfs_read", EINVAL, 2, "Group name is not specified"},
	{"p:a%/b vfs_read", EINVAL, 2, "Group" NAME_RULES},
	{"p: vfs_read", EINVAL, 2, "Event name is not specified"},
	{"p:e1234567890123456789012345678901234567890123456789012345678901234 vfs_read", EINVAL, 2,
	 "Event name is too long"},
	{"p vfs_read %nosuch", EINVAL, 11, "Invalid register name"},
	{"p vfs_read a=%di:badtype", EINVAL, 17, "Unknown type is specified"},
	{"p vfs_read $retval", EINVAL, 11, "$retval is not available on probe"},
	{"p vfs_read $stack2049", EINVAL, 11, "Invalid stack number"},
	{"p vfs_read $arg0", EINVAL, 11, "Invalid argument number"},
	{"r vfs_read $arg1", EINVAL, 11, "Invalid $-variable specified"},
	{"p vfs_read+4 $arg1", EINVAL, 13, "Invalid $-variable specified"},
	{"p vfs_read +0(%di", EINVAL, 17, "Dereference brace is not closed"},
	{"p vfs_read +0", EINVAL, 11, "Dereference needs a brace"},
	{"p vfs_read +z(%di)", EINVAL, 11, "Invalid dereference offset"},
	{"p vfs_read +0($comm)", EINVAL, 14, "$comm can not be dereferenced"},
	{"p vfs_read +0(a)", EINVAL, 14, "Invalid fetch argument"},
	{"p vfs_read 1a=%di", EINVAL, 11, "Argument" NAME_RULES},
	{"p vfs_read a=%di a=%si", EINVAL, 17, "This argument name is already used"},
	{"p vfs_write %di $comm $stack0 $stack arg2=$arg2:u64", EINVAL, 37,
	 "This argument name is already used"},
	{"p vfs_read common_pid=%di", EINVAL, 11, "This argument name is already used"},
	{"p vfs_read =%di", EINVAL, 11, "Argument name is not specified"},
	{"p vfs_read a=", EINVAL, 13, "No argument expression"},
	{"p vfs_read \\", EINVAL, 12, "Invalid immediate value"},
	{"p vfs_read a=\\\"text", EINVAL, 19, "String is not closed with '\"'"},
	{"p vfs_read @+8", EINVAL, 11, "File offset is not available with kprobe"},
	{"p vfs_read @1z", EINVAL, 11, "Invalid memory address"},
	{"p vfs_read a=%di:string", EINVAL, 17, "String accepts only memory argument"},
	{"p vfs_read a=+u0(%di):symstr", EINVAL, 22, "Symbol String doesn't accept data/userdata"},
	{"p vfs_read a=%di:x8[2]", EINVAL, 17, "String accepts only memory argument"},
	{"p vfs_read a=+0(%di):x8[2", EINVAL, 25, "Array is not closed"},
	{"p vfs_read a=+0(%di):x8[2]x", EINVAL, 26, "Array has wrong suffix"},
	{"p vfs_read a=+0(%di):x8[0]", EINVAL, 24, "Invalid array size"},
	{"p vfs_read a=+0(%di):x8[65]", EINVAL, 24, "Array number is too big"},
	{"p vfs_read a=%di:b4@30/32", EINVAL, 17, "Invalid bitfield"},
	{"p vfs_read a=%di:b0@0/32", EINVAL, 17, "Invalid bitfield"},
	{"p vfs_read a=%di:b4@0/33", EINVAL, 17, "Unknown type is specified"},
	{"p vfs_read $comm:u8", EINVAL, 0, NULL},
	{"p vfs_read " DEREF_15, EINVAL, 14, "Dereference is too much nested"},
	{"p vfs_read a=%axaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", EINVAL,
	 13, "Argument expression is too long"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		refuses(refusals[i].line, refusals[i].error, refusals[i].pos, refusals[i].what);
}

/* --- what is to be fetched ---------------------------------------------------------------------
 */

static void test_args(void **state)
{
	struct probe_def *def = parsed("p vfs_read a=%sp b=+8(+u-16(%di)):s32 c=@sym+4:u8 "
				       "d=\\-5:x8 e=\\\"text\" f=+0(%si):ustring[3] "
				       "g=%ax:b4@2/32 " DEREF_14);
	const struct fetch_arg *a = def->arg;

	(void)state;
	assert_int_equal(def->nr_args, 8);
	assert_int_equal(a[0].source, FETCH_REG);
	assert_int_equal(a[0].number, FETCH_SP);
	assert_string_equal(a[0].type->name, "x64");
	assert_int_equal(a[1].nr_deref, 2);
	assert_int_equal(a[1].deref[0].offset, -16);
	assert_true(a[1].deref[0].user);
	assert_int_equal(a[1].deref[1].offset, 8);
	assert_false(a[1].deref[1].user);
	assert_int_equal(a[1].offset, 8);
	assert_int_equal(a[2].source, FETCH_SYMBOL);
	assert_string_equal(a[2].text, "sym+4");
	assert_int_equal(a[2].nr_deref, 1);
	assert_int_equal(a[3].number, (uint64_t)-5);
	assert_int_equal(a[4].source, FETCH_LITERAL);
	assert_string_equal(a[4].text, "text");
	assert_string_equal(a[4].type->name, "string");
	assert_int_equal(a[5].type->string, FETCH_USTRING);
	assert_int_equal(a[5].count, 3);
	assert_int_equal(a[6].bits, 4);
	assert_int_equal(a[6].first_bit, 2);
	assert_int_equal(a[6].offset, 8 + 4 + 1 + 1 + 4 + 12);
	assert_int_equal(a[7].nr_deref, 14);
	assert_int_equal(def->size, 8 + 4 + 1 + 1 + 4 + 12 + 4 + 8);
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

static void test_removal(void **state)
{
	static const char *const none[] = {"-:", "-", "-e", "-p:e", "!", "!e", "!p:"};
	struct probe_def *def = parsed("p:g/e vfs_read+16 a=%di b=%si");
	struct probe_removal r;
	struct probe_words words;

	(void)state;
	assert_true(takes("-:e", def));
	assert_true(takes("-:g/e", def));
	assert_true(takes("-:g/", def));
	assert_false(takes("-:kprobes/e", def));
	assert_false(takes("-:f", def));
	assert_true(takes("-:g/e vfs_read+16", def));
	assert_false(takes("-:g/e vfs_read", def));
	assert_true(takes("-:g/e vfs_read+16 a=%di", def));
	assert_false(takes("-:g/e vfs_read+16 a=%si", def));
	assert_false(takes("-:g/e vfs_read+16 a=%di b=%si c=%dx", def));
	assert_true(takes("!p:g/e vfs_read+16", def));
	assert_true(takes("!:g/", def));
	assert_false(takes("!p:g/e vfs_read", def));
	probe_def_free(def);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(probe_words_split(&words, none[i]), 0);
		assert_int_equal(probe_removal_parse(&words, &r), -EINVAL);
		probe_words_free(&words);
	}
}

static void test_differs(void **state)
{
	struct probe_def *a = parsed("p:e vfs_read x=%di y=%si"),
			 *b = parsed("p:e vfs_read x=%si y=%si"),
			 *c = parsed("p:e vfs_read x=%di y=%si:u8"),
			 *d = parsed("p:e vfs_read x=%di");

	(void)state;
	assert_int_equal(probe_def_differs(a, b), 0);
	assert_int_equal(probe_def_differs(a, c), 2);
	assert_int_equal(probe_def_differs(a, d), 2);
	assert_true(probe_def_same(a, a));
	assert_false(probe_def_same(a, b));
	probe_def_free(a);
	probe_def_free(b);
	probe_def_free(c);
	probe_def_free(d);
}

/* --- arguments by their names (6.12) --------------------------------------------------------- */

static int named(const char *line, struct probe_def **def, struct probe_error *err)
{
	struct probe_words words;
	int ret;

	assert_int_equal(probe_words_split(&words, line), 0);
	ret = probe_def_parse(&words, &made_named, def, err);
	probe_words_free(&words);
	return ret;
}

static void test_named(void **state)
{
	static const struct {
		const char *line, *args, *types;
	} lines[] = {
		{"p vfs_read $arg*", " file=file fd=fd mode=mode by_value=by_value",
		 " x64 s32 u16 x64"},
		{"p vfs_read fd m=mode:x8 $arg1 $arg2:u8", NULL, NULL},
		{"p vfs_read m=mode:x8 $arg1 x=$arg2 +8(file) $comm",
		 " m=mode:x8 file=file x=$arg2 arg4=+8(file) arg5=$comm", " x8 x64 x64 x64 string"},
		{"p vfs_read f=file:%pD file:%pd $arg1:%pD c=fd:char",
		 " f=+0x0(+0x28(+0x98(file))):string arg2=+0x0(+0x28(file)):string"
		 " arg3=+0x0(+0x28(+0x98(file))):string c=fd:char",
		 " string string string char"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct text args = {0}, types = {0};
		struct probe_error err;
		struct probe_def *def;
		int ret = named(lines[i].line, &def, &err);

		/* The same argument twice has the same name. */
		assert_int_equal(ret, lines[i].types ? 0 : -EINVAL);
		if (ret) {
			assert_string_equal(err.what, "This argument name is already used");
			continue;
		}
		for (unsigned int k = 0; k < def->nr_args; k++) {
			text_printf(&args, " %s=%s", def->arg[k].name, def->arg[k].body);
			text_printf(&types, " %s", def->arg[k].type->name);
		}
		text_putc(&args, '\0');
		text_putc(&types, '\0');
		assert_string_equal(args.buf, lines[i].args);
		assert_string_equal(types.buf, lines[i].types);
		text_free(&args);
		text_free(&types);
		probe_def_free(def);
	}
}

static void test_named_refused(void **state)
{
	static const struct {
		const char *line;
		int error;
		const char *what;
	} lines[] = {
		{"p vfs_read nosuch", -ENOENT, "This variable is not found at this probe point"},
		{"p vfs_read $arg5", -ENOENT, "This variable is not found at this probe point"},
		{"p vfs_read $argx", -EINVAL, "Invalid $-variable specified"},
		{"p vfs_read $arg", -EINVAL, "Invalid $-variable specified"},
		{"p vfs_read $arg0", -EINVAL, "Invalid argument number"},
		{"p vfs_read $arg1x", -ENOENT, "Invalid $-variable specified"},
		{"p vfs_read $arg* $arg*", -EINVAL,
		 "$arg* can be used only once in the parameters"},
		{"p vfs_read+4 $arg*", -EINVAL, "$arg* can be used only on function entry or exit"},
		{"p vfs_read+4 x=$arg1", -EINVAL,
		 "$arg* can be used only on function entry or exit"},
		{"p vfs_read+4 fd", -EINVAL, "BTF is not available or not supported"},
		{"p vfs_open $arg*", -EOPNOTSUPP, "BTF is not available or not supported"},
		{"p vfs_open fd", -ENOENT, "No BTF entry for this probe point"},
		{"r vfs_open $retval->pid", -ENOENT, "No BTF entry for this probe point"},
		{"r vfs_write $retval", -ENOENT, "This function returns 'void' type"},
		{"p vfs_read f=file->member", -ENOENT, "This field is not found."},
		{"p vfs_read f=file-pid", -EINVAL, "Failed to parse single hyphen. Forgot '>'?"},
		{"p vfs_read f=by_value.pid", -EOPNOTSUPP,
		 "Non pointer structure/union argument is not supported."},
		{"p vfs_read f=fd->pid", -EINVAL, "This is not a pointer to union/structure."},
		{"p vfs_read f=file->pid->pid", -EINVAL,
		 "This is not a pointer to union/structure."},
		{"p vfs_read f=file->pid.pid", -EINVAL, "Failed to get BTF type info."},
		{"p vfs_read f=file->name->pid", -EINVAL, "Failed to get BTF type info."},
		{"p vfs_read f=file->pid:string", -EINVAL, "This type does not fit for string."},
		{"p vfs_read f=1file", -EINVAL, "Invalid fetch argument"},
		{"p nosuch_symbol", -EINVAL, "Invalid probed address or symbol"},
		{"p twice", -EINVAL, "The symbol is not unique"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct probe_error err;
		struct probe_def *def;
		int ret = named(lines[i].line, &def, &err);

		if (ret != lines[i].error || strcmp(err.what, lines[i].what) != 0)
			print_error("%s: %d, %s\n", lines[i].line, ret, err.what);
		assert_int_equal(ret, lines[i].error);
		assert_string_equal(err.what, lines[i].what);
	}
}

/* Kernels before 6.9. */
static void test_arguments_of_entries_alone(void **state)
{
	static const struct {
		const char *line, *what;
	} lines[] = {
		{"p vfs_read+4 $arg*", "$arg* can be used only on function entry"},
		{"r vfs_read $arg1", "$arg* can be used only on function entry"},
		{"r vfs_read x=$arg1", "Invalid $-variable specified"},
		{"r vfs_read fd", "BTF is not available or not supported"},
	};
	struct probe_symbols symbols = made_named;

	(void)state;
	symbols.keeps_args = false;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct probe_words words;
		struct probe_error err;
		struct probe_def *def;

		assert_int_equal(probe_words_split(&words, lines[i].line), 0);
		assert_int_equal(probe_def_parse(&words, &symbols, &def, &err), -EINVAL);
		assert_string_equal(err.what, lines[i].what);
		probe_words_free(&words);
	}
}

/* And those from then on: of which a return is to be told what its entry has had. */
static void test_arguments_of_returns(void **state)
{
	static const struct {
		const char *line;
		bool keeps;
	} lines[] = {
		{"r vfs_read $arg1", true},	{"r vfs_read x=+8($arg9):u8", true},
		{"r vfs_read fd", true},	{"r vfs_read $arg*", true},
		{"p vfs_read%return fd", true}, {"r vfs_read $retval", false},
		{"p vfs_read $arg1", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct probe_error err;
		struct probe_def *def;

		assert_int_equal(named(lines[i].line, &def, &err), 0);
		assert_int_equal(probe_def_keeps_args(def), lines[i].keeps);
		probe_def_free(def);
	}
}

static void steps_are(const struct fetch_arg *a, const char *type, unsigned int n, int64_t first,
		      int64_t second)
{
	assert_string_equal(a->type->name, type);
	assert_int_equal(a->nr_deref, n);
	if (n > 0)
		assert_int_equal(a->deref[0].offset, first);
	if (n > 1)
		assert_int_equal(a->deref[1].offset, second);
}

/* Members, shown as their types say. */
static void test_members(void **state)
{
	struct probe_def *def;
	struct probe_error err;
	const struct fetch_arg *a;

	(void)state;
	assert_int_equal(
		named("p vfs_read file->pid b=file->next->in.state c=file->in.in.pid:x8 "
		      "d=file->comm:string e=file->name:string f=file->name:ustring "
		      "g=file->low h=file->high i=file->whole j=file->high:u8 k=file->comm "
		      "l=+4(file->next) m=file->next",
		      &def, &err),
		0);
	a = def->arg;
	assert_string_equal(a[0].name, "arg1");
	assert_string_equal(a[0].body, "file->pid");
	steps_are(&a[0], "s32", 1, 8, 0);
	steps_are(&a[1], "s32", 2, 16, 104);
	steps_are(&a[2], "x8", 1, 208, 0);
	steps_are(&a[3], "string", 1, 32, 0);
	steps_are(&a[4], "string", 2, 24, 0);
	assert_false(a[4].deref[1].user);
	steps_are(&a[5], "ustring", 2, 24, 0);
	assert_true(a[5].deref[1].user);
	steps_are(&a[6], "u32", 1, 0, 0);
	assert_int_equal(a[6].bits, 3);
	steps_are(&a[7], "u32", 1, 1, 0);
	assert_int_equal(a[7].bits, 5);
	assert_int_equal(a[7].first_bit, 3);
	assert_int_equal(a[8].bits, 0); /* the kernel takes such for whole numbers */
	assert_int_equal(a[9].bits, 0);
	steps_are(&a[10], "x64", 1, 32, 0);
	steps_are(&a[11], "x64", 2, 16, 4);
	steps_are(&a[12], "x64", 1, 16, 0);
	probe_def_free(def);
	assert_int_equal(named("r vfs_read $retval->pid n=$retval->name:string", &def, &err), 0);
	assert_int_equal(def->arg[0].source, FETCH_RETVAL);
	steps_are(&def->arg[0], "s32", 1, 8, 0);
	steps_are(&def->arg[1], "string", 2, 24, 0);
	probe_def_free(def);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_differs),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_named_refused),
		cmocka_unit_test(test_arguments_of_entries_alone),
		cmocka_unit_test(test_arguments_of_returns),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_event_probe),
		cmocka_unit_test(test_event_probe_refused),
		cmocka_unit_test(test_event_probe_of_no_field),
		cmocka_unit_test(test_event_probe_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
