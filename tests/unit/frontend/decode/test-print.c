// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-print.c - events as text and as JSON. The texts are what trace-cmd report 3.1.6 prints for
 * the same file, but for those events that it has plugins for.
 */
#include "tests/unit/decode-world.h"

#define LINE_SWITCH "prev_comm=kthreadd prev_pid=2 ==> next_pid=33\n"

static void check_text(const struct print_config *cfg, const char *expected)
{
	struct decode_world w = decode_world();
	char *text = decode_world_text(&w, cfg);

	assert_string_equal(text, expected);
	free(text);
	decode_world_end(&w);
}

static void test_text(void **state)
{
	const struct print_config cfg = {0};

	(void)state;
	check_text(
		&cfg,
		"                 init-1     [000]     1.000000: function:             vfs_read <-- ext4_open\n"
		"one: CPU:1 [EVENTS DROPPED]\n"
		"   kworker/0:1 H-33    [001]     1.000001: irq_handler_entry:    irq=14 name=timer\n"
		"                 init-1     [000]     1.000001: funcgraph_entry:        0.540 us   |  vfs_write();\n"
		"                 init-1     [000]     1.000002: funcgraph_entry:                   |  vfs_open() {\n"
		"                 init-1     [000]     1.000002: funcgraph_entry:                   |    do_open() {\n"
		"     CPU:1 [7 EVENTS DROPPED]\n"
		"        kthreadd-2     [001]     1.000002: sched_switch:         " LINE_SWITCH
		"             kthreadd-2     [001]     1.000002: kernel_stack:         \t=> __schedule\n"
		"                 init-1     [000]     1.000152: funcgraph_exit:       ! 150.200 us |    }\n"
		"                 init-1     [000]     1.000152: funcgraph_exit:       $ 1234567890 us |  }\n"
		"one:            <...>-44    [001]     1.000200: print:                __schedule: hello \"\x01\xc3\xa4\xff\n");
}

static void test_options_of_graph(void **state)
{
	const struct print_config cfg = {.graph_tail = true, .graph_depth = true};
	struct decode_world w = decode_world();
	char *text = decode_world_text(&w, &cfg);

	(void)state;
	assert_non_null(strstr(text, "  0.540 us   |  vfs_write(); (0)\n"));
	assert_non_null(strstr(text, "           |    do_open() { (1)\n"));
	assert_non_null(strstr(text, "! 150.200 us |    } /* do_open */ (1)\n"));
	free(text);
	decode_world_end(&w);
}

static void test_latency_and_nanoseconds(void **state)
{
	const struct print_config cfg = {.latency = true, .nanoseconds = true};
	struct decode_world w = decode_world();
	char *text = decode_world_text(&w, &cfg);

	(void)state;
	assert_non_null(strstr(text, "       init-1       0.....     1.000000000: function:  "));
	assert_non_null(strstr(text, "\nkthreadd-2       1d..2.     1.000002200: sched_switch: "));
	free(text);
	decode_world_end(&w);
}

static void test_raw(void **state)
{
	const struct print_config cfg = {.raw = true};
	struct decode_world w = decode_world();
	char *text = decode_world_text(&w, &cfg);

	(void)state;
	assert_non_null(strstr(text, " irq_handler_entry:     irq=14 name=timer\n"));
	assert_non_null(strstr(
		text, " sched_switch:          prev_comm=kthreadd prev_pid=2 next_pid=33\n"));
	free(text);
	decode_world_end(&w);
}

/* By nothing but formats, calls and returns are events like others. */
static void test_plain(void **state)
{
	const struct print_config cfg = {.plain = true};
	struct decode_world w = decode_world();
	char *text = decode_world_text(&w, &cfg);

	(void)state;
	assert_non_null(strstr(text, " funcgraph_entry:      --> vfs_write\n"));
	assert_non_null(strstr(text, " funcgraph_exit:       <-- vfs_write\n"));
	free(text);
	decode_world_end(&w);
}

/* The same formats serve several, one after the other. */
static void test_again(void **state)
{
	const struct print_config plain = {.plain = true}, cfg = {0};
	struct decode_world w = decode_world();
	char *first = decode_world_text(&w, &cfg), *then;

	(void)state;
	for (int i = 0; i < 2; i++) {
		records_close(w.r);
		w.r = records_open(w.d, RECORDS_ALL);
		then = decode_world_text(&w, i ? &cfg : &plain);
		if (i)
			assert_string_equal(then, first);
		else
			assert_non_null(strstr(then, " funcgraph_entry:      --> vfs_write\n"));
		free(then);
	}
	free(first);
	decode_world_end(&w);
}

/* Records of the tracer blk have no format in the file, but it is known. */
static void test_blktrace(void **state)
{
	static const struct dat_format formats[] = {
		{"ftrace",
		 {"name: user_stack\nID: 12\n" MADE_COMMON
		  "\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
		  "\nprint fmt: \"%d\", REC->tgid\n",
		  0}},
		{NULL, {NULL, 0}},
	};
	static struct made_page page;
	static const struct made_vcpu vcpu = {0, page.bytes, RING_PAGE_SIZE};
	static const struct made_buffer buffers[] = {{"", "global", &vcpu, 1},
						     {NULL, NULL, NULL, 0}};
	const uint32_t record[12] = {13, 1, 0, 0, 2048, 0, 4096, 0x10001, 77};
	struct made_dat_spec s = {.version = 6};
	struct decode_world w;
	char *text;

	(void)state;
	made_trace_spec(&s);
	made_page_begin(&page, 5000);
	made_page_event(&page, 5000, record, sizeof(record));
	made_page_end(&page, 0);
	s.formats = formats;
	s.buffers = buffers;
	s.cpus = 1;
	w = decode_world_of(made_open(&s));
	text = decode_world_text(&w, &(struct print_config){0});
	assert_string_equal(
		text, "            init-1     [000]     0.000005: blktrace:             77\n");
	free(text);
	decode_world_end(&w);
}

/* Of a kind that the file has no format of, and too short for the one that it has. */
static void test_unknown(void **state)
{
	static struct made_page page;
	static const struct made_vcpu vcpu = {0, page.bytes, RING_PAGE_SIZE};
	static const struct made_buffer buffers[] = {{"", "counter", &vcpu, 1},
						     {NULL, NULL, NULL, 0}};
	const struct made_record unknown = {.type = 999, .pid = 5}, entry = {.type = MADE_ENTRY};
	struct made_dat_spec s = {.version = 7};
	const struct print_config cfg = {0};
	struct decode_world w;
	char *text;

	(void)state;
	made_trace_spec(&s);
	made_page_begin(&page, 0);
	made_page_event(&page, 77, &unknown, 16);
	made_page_event(&page, 78, &entry, 4);
	made_page_event(&page, 79, &entry, 16);
	made_page_end(&page, 0);
	s.buffers = buffers;
	s.cpus = 1;
	w = decode_world_of(made_open(&s));
	text = decode_world_text(&w, &cfg);
	assert_non_null(strstr(text, " (NULL):               [UNKNOWN EVENT]\n"));
	assert_non_null(strstr(text, "funcgraph_entry:      !--> 0x0\n"));
	free(text);
	decode_world_end(&w);
}

static void test_json(void **state)
{
	static const char expected[] =
		"{\"time\":1.000000000,\"cpu\":0,\"pid\":1,\"comm\":\"init\",\"event\":\"function\","
		"\"system\":\"ftrace\",\"function\":\"vfs_read\",\"parent\":\"ext4_open\",\"fields\":{"
		"\"ip\":18446744071578845444,\"parent_ip\":18446744072635809808}}\n"
		"{\"time\":1.000000500,\"cpu\":1,\"pid\":33,\"comm\":\"kworker/0:1 H\",\"event\":"
		"\"irq_handler_entry\",\"system\":\"irq\",\"buffer\":\"one\",\"lost\":true,\"fields\":{"
		"\"irq\":14,\"name\":\"timer\"}}\n";
	static const char last[] =
		"{\"time\":1.000200000,\"cpu\":1,\"pid\":44,\"comm\":\"<...>\",\"event\":\"print\","
		"\"system\":\"ftrace\",\"buffer\":\"one\",\"message\":\"__schedule: hello "
		"\\\"\\u0001\xc3\xa4\\u00ff\",\"fields\":{\"ip\":18446744071578846464,\"buf\":"
		"\"hello \\\"\\u0001\xc3\xa4\\u00ff\\u000a\"}}\n";
	struct decode_world w = decode_world();
	const struct decode_event *ev;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	while ((ev = records_next(w.r)))
		print_json(w.d, w.f, NULL, ev, out);
	fclose(out);
	assert_memory_equal(text, expected, sizeof(expected) - 1);
	assert_non_null(strstr(text, "\"lost\":7,\"fields\":{\"prev_comm\":\"kthreadd\","
				     "\"prev_pid\":2,\"next_pid\":33}}\n"));
	assert_non_null(strstr(text, "\"stack\":[\"__schedule\",\"0x123\",\"ext4_open\"],"));
	assert_string_equal(text + len - (sizeof(last) - 1), last);
	free(text);
	decode_world_end(&w);
}

static void test_stat(void **state)
{
	static const char expected[] =
		"\nKernel buffer statistics:\n"
		"  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
		"        recorded in the trace data. They should all be zero.\n\n"
		"CPU: 0\nentries: 0\n\nCPU: 1\nentries: 5\n\n\n"
		"CPU0 data recorded at offset=0x1000\n    4096 bytes in size\n"
		"CPU1 data recorded at offset=0x2000\n    4096 bytes in size\n";
	struct dat *d = made_trace();
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	print_stat(d, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	dat_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_options_of_graph),
		cmocka_unit_test(test_latency_and_nanoseconds),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_blktrace),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_stat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
