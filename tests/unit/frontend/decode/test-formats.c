// SPDX-License-Identifier: GPL-2.0-or-later
/* test-formats.c - formats and names of a file: what libtraceevent gets to see, and what not. */
#include "tests/unit/decode-world.h"

#include "frontend/decode/names.h"

static struct dat_text text_of(const char *text)
{
	return (struct dat_text){text, strlen(text)};
}

static void check_function(struct tep_handle *tep, uint64_t addr, const char *name)
{
	const char *found = tep_find_function(tep, addr);

	if (!name)
		assert_null(found);
	else
		assert_string_equal(found, name);
}

static void test_functions(void **state)
{
	struct tep_handle *tep = tep_alloc();
	char text[4096];
	struct dat_text kallsyms;

	(void)state;
	/* A line that is too long, others that are none, and a last one without an end. */
	snprintf(text, sizeof(text),
		 "0000000000001000 A percpu\n0000000000001008 a other\nffffffff81000000 T _stext\n"
		 "\nno line\nffffffff81000050\nffffffff81000060 T\nffffffff81000070 T \n"
		 "fffffffffffffffffff T far\n-5 T minus\nffffffff81000080 T $x\n"
		 "ffffffff81000090 t %02000d\nffffffff81000100 t second\n"
		 "ffffffffc0000000 t third\t[ext4]\nffffffffc0000100 t fourth\t[broken\n"
		 "ffffffffc0000200 t last",
		 1);
	kallsyms = text_of(text);
	assert_true(names_functions(tep, &kallsyms));
	assert_int_equal(tep_get_function_count(tep), 5);
	check_function(tep, 0x1000, NULL);
	check_function(tep, UINT64_C(0xffffffff81000090), "_stext");
	check_function(tep, UINT64_C(0xffffffff81000105), "second");
	check_function(tep, UINT64_C(0xffffffffc0000010), "third");
	check_function(tep, UINT64_C(0xffffffffc0000110), "fourth");
	kallsyms = (struct dat_text){NULL, 0};
	assert_true(names_functions(tep, &kallsyms));
	tep_free(tep);
}

static void test_tasks(void **state)
{
	struct tep_handle *tep = tep_alloc();
	const struct dat_text cmdlines =
		text_of("1 init\n33 kworker/0:1 H\n-1 minus\nx y\n5\n6 \n4294967297 far\n44  two");

	(void)state;
	assert_true(names_tasks(tep, &cmdlines));
	assert_string_equal(tep_data_comm_from_pid(tep, 1), "init");
	assert_string_equal(tep_data_comm_from_pid(tep, 33), "kworker/0:1 H");
	assert_string_equal(tep_data_comm_from_pid(tep, 44), "two");
	assert_false(tep_is_pid_registered(tep, 5));
	assert_false(tep_is_pid_registered(tep, 6));
	assert_false(tep_is_pid_registered(tep, -1));
	tep_free(tep);
}

/* Short ones are less than libtraceevent looks at. */
static void test_printk(void **state)
{
	struct tep_handle *tep = tep_alloc();
	const struct dat_text formats = text_of("0xffffffff82000000 : \"value %d\\n\"\n"
						"0xffffffff82000010 : \n0xffffffff82000020 : \"\n"
						"0xffffffff82000030 : \"\"\nnothing\n"
						"0xffffffff82000040:\"short\"\n");

	(void)state;
	assert_true(names_printk(tep, &formats));
	tep_free(tep);
}

/* A file that has these formats besides those it should have. */
static int load(const struct dat_format *formats, const char *header_page, char *err, size_t errlen)
{
	const struct formats_config cfg = {.no_plugins = true};
	static const struct made_vcpu vcpu = {0, "", 0};
	static const struct made_buffer buffers[] = {{"", "local", &vcpu, 1},
						     {NULL, NULL, NULL, 0}};
	const struct made_dat_spec s = {
		.version = 6,
		.cpus = 1,
		.formats = formats,
		.header_page = header_page,
		.buffers = buffers,
	};
	struct formats *f = formats_new(&cfg);
	struct dat *d = made_open(&s);
	int rc = formats_load(f, dat_info(d), err, errlen);

	formats_free(f);
	dat_close(d);
	return rc;
}

static void check_refused(const char *format, const char *why)
{
	const struct dat_format formats[] = {{"made", {format, 0}}, {NULL, {NULL, 0}}};
	char err[256] = "";

	assert_int_not_equal(load(formats, NULL, err, sizeof(err)), 0);
	assert_string_equal(err, why);
}

#define FIELD                                                                                      \
	"name: lie\nID: 7\n" MADE_COMMON "\tfield:int a;\toffset:%s;\tsize:%s;\tsigned:1;\n"       \
	"\nprint fmt: \"%%d\", REC->a\n"

static void test_fields(void **state)
{
	static const struct {
		const char *offset, *size;
	} lies[] = {{"70000", "4"}, {"8", "70000"}, {"65530", "8"}};
	char text[1024], why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		snprintf(text, sizeof(text), FIELD, lies[i].offset, lies[i].size);
		snprintf(why, sizeof(why),
			 "made: it lies: the format of lie has a field at %s, of %s bytes",
			 lies[i].offset, lies[i].size);
		check_refused(text, why);
	}
}

/* In brackets, which are read by calling itself for what is in them. */
static void test_depth(void **state)
{
	char text[8192] = "name: deep\nID: 7\n" MADE_COMMON "\nprint fmt: \"%d\", ";
	size_t len = strlen(text);

	(void)state;
	memset(text + len, '(', 3000);
	strcpy(text + len + 3000, "REC->a\n");
	check_refused(text, "made: a format is too long or too deep: name: deep");
}

static void test_long(void **state)
{
	size_t len = 65 << 10;
	char *text = malloc(len + 1);

	(void)state;
	memset(text, 'x', len);
	text[len] = '\0';
	memcpy(text, "name: long\n", 11);
	check_refused(text, "made: a format is too long or too deep: name: long");
	free(text);
}

/* What it does not understand does no harm. */
static void test_garbage(void **state)
{
	const struct dat_format formats[] = {
		{"made", {"", 0}},
		{"made", {"name: a", 0}},
		{"made", {"name: a\nID: 9999999999999\nformat:\n", 0}},
		{"made", {"name: b\nID: 3\n" MADE_COMMON "\nprint fmt: \"%s %d\", REC->\n", 0}},
		{NULL, {NULL, 0}},
	};
	char err[256] = "";

	(void)state;
	assert_int_equal(load(formats, NULL, err, sizeof(err)), 0);
}

static void test_header(void **state)
{
	char err[256] = "";

	(void)state;
	assert_int_not_equal(load(NULL,
				  "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n",
				  err, sizeof(err)),
			     0);
	assert_string_equal(err, "made: it is of a kernel whose long has 4 bytes; hvtrace reads "
				 "files of 64-bit kernels");
}

/* A record is followed by zeros: strings end, and what was in a longer one before is gone. */
static void test_records(void **state)
{
	struct decode_world w = decode_world();
	const struct decode_event full = {.data = "0123456789abcdef", .len = 16, .lost = 5};
	const struct decode_event part = {.data = "xyz", .len = 3, .lost = DECODE_LOST_UNKNOWN};
	const struct tep_record *record = formats_record(w.f, FORMATS_ONE, &full);
	const struct tep_record *other = formats_record(w.f, FORMATS_OTHER, &full);
	static const char zeros[1000];

	(void)state;
	assert_memory_equal(record->data, "0123456789abcdef\0", 17);
	assert_int_equal(record->missed_events, 5);
	record = formats_record(w.f, FORMATS_ONE, &part);
	assert_memory_equal(record->data, "xyz", 3);
	assert_memory_equal((const char *)record->data + 3, zeros, sizeof(zeros));
	assert_int_equal(record->size, 3);
	assert_int_equal(record->missed_events, -1);
	assert_memory_equal(other->data, "0123456789abcdef\0", 17);
	decode_world_end(&w);
}

/* Its last field takes the rest, of which there is none. */
static void test_record_without_rest(void **state)
{
	struct decode_world w = decode_world();
	const uint32_t record[3] = {MADE_PRINT, 44, 0};
	struct decode_event ev = {.data = record, .len = sizeof(record), .id = MADE_PRINT};
	struct trace_seq s;

	(void)state;
	assert_int_equal(formats_record(w.f, FORMATS_ONE, &ev)->size, 16);
	trace_seq_init(&s);
	print_info(w.f, &ev, &s);
	trace_seq_terminate(&s);
	assert_string_equal(s.buffer, "0x0: ");
	ev.len = 4; /* too short to have a task */
	ev.id = 0;
	assert_int_equal(formats_record(w.f, FORMATS_ONE, &ev)->size, 16);
	trace_seq_destroy(&s);
	decode_world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_printk),	  cmocka_unit_test(test_fields),
		cmocka_unit_test(test_depth),	  cmocka_unit_test(test_long),
		cmocka_unit_test(test_garbage),	  cmocka_unit_test(test_header),
		cmocka_unit_test(test_records),	  cmocka_unit_test(test_record_without_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
