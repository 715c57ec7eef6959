// SPDX-License-Identifier: GPL-2.0-or-later
/* test-file.c - a trace.dat file through hvtrace.h: each kind of field, and what is not there. */
#include "tests/unit/decode-world.h"

#include "frontend/api/local.h"

#define MADE "tests/data/trace-dat/made.dat"

static struct hvtrace_file *file;
static const struct hvtrace_event *ev;

static int set_up(void **state)
{
	char err[256];

	(void)state;
	file = hvtrace_file_open(MADE, err, sizeof(err));
	if (!file)
		fail_msg("%s", err);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hvtrace_file_close(file);
	return 0;
}

/* The next one of this name. */
static void next_of(const char *name)
{
	do
		assert_int_equal(hvtrace_file_next(file, &ev), 1);
	while (strcmp(hvtrace_event_name(ev), name) != 0);
}

static size_t field(const char *name)
{
	int i = hvtrace_event_find(ev, name);

	assert_in_range(i, 0, INT32_MAX);
	assert_string_equal(hvtrace_field_name(ev, (size_t)i), name);
	return (size_t)i;
}

static void test_head(void **state)
{
	(void)state;
	assert_int_equal(hvtrace_file_vcpus(file), 2);
	assert_string_equal(hvtrace_file_error(file), "");
	next_of("sched_switch");
	assert_string_equal(hvtrace_event_system(ev), "sched");
	assert_string_equal(hvtrace_event_comm(ev), "kthreadd");
	assert_string_equal(hvtrace_event_instance(ev), "");
	assert_int_equal(hvtrace_event_pid(ev), 2);
	assert_int_equal(hvtrace_event_vcpu(ev), 1);
	assert_int_equal(hvtrace_event_lost(ev), 7);
	assert_int_equal(hvtrace_event_time(ev), MADE_T0 + 2200);
	assert_string_equal(hvtrace_event_text(ev),
			    "prev_comm=kthreadd prev_pid=2 ==> next_pid=33");
	next_of("print");
	assert_string_equal(hvtrace_event_instance(ev), "one");
	assert_string_equal(hvtrace_event_comm(ev), "<...>");
}

static void test_numbers_and_strings(void **state)
{
	size_t len;

	(void)state;
	next_of("irq_handler_entry");
	assert_int_equal(hvtrace_event_lost(ev), HVTRACE_LOST_SOME);
	assert_int_equal(hvtrace_event_fields(ev), 2);
	assert_int_equal(hvtrace_field_type(ev, field("irq")), HVTRACE_SIGNED);
	assert_int_equal(hvtrace_field_number(ev, field("irq")), 14);
	assert_int_equal(hvtrace_field_type(ev, field("name")), HVTRACE_STRING);
	assert_string_equal(hvtrace_field_string(ev, field("name")), "timer");
	assert_ptr_equal(hvtrace_field_string(ev, field("name")),
			 hvtrace_field_string(ev, field("name")));
	next_of("sched_switch");
	assert_string_equal(hvtrace_field_string(ev, field("prev_comm")), "kthreadd");
	hvtrace_event_raw(ev, &len);
	assert_int_equal(len, 32);
}

/* It has more than the eight numbers of its format, or fewer. */
static void test_stack(void **state)
{
	const void *bytes;
	uint64_t first;
	size_t len;

	(void)state;
	next_of("kernel_stack");
	assert_int_equal(hvtrace_field_type(ev, field("caller")), HVTRACE_BYTES);
	assert_int_equal(hvtrace_field_element(ev, field("caller")), 8);
	bytes = hvtrace_field_bytes(ev, field("caller"), &len);
	assert_int_equal(len, 32);
	memcpy(&first, bytes, sizeof(first));
	assert_string_equal(hvtrace_event_symbol(ev, first), "__schedule");
	assert_null(hvtrace_event_symbol(ev, 0x123));
}

static void test_nothing(void **state)
{
	size_t len = 1;

	(void)state;
	next_of("function");
	assert_int_equal(hvtrace_event_find(ev, "prev_comm"), -1);
	for (size_t i = 2; i < 4; i++) {
		assert_string_equal(hvtrace_field_name(ev, i), "");
		assert_int_equal(hvtrace_field_type(ev, i), HVTRACE_NONE);
		assert_int_equal(hvtrace_field_number(ev, i), 0);
		assert_string_equal(hvtrace_field_string(ev, i), "");
		assert_int_equal(hvtrace_field_element(ev, i), 0);
		assert_null(hvtrace_field_bytes(ev, i, &len));
		assert_int_equal(len, 0);
	}
}

static void test_end(void **state)
{
	int n = 0, rc;

	(void)state;
	while ((rc = hvtrace_file_next(file, &ev)) == 1)
		n++;
	assert_int_equal(rc, 0);
	assert_int_equal(n, 11);
	assert_null(ev);
	assert_int_equal(hvtrace_file_next(file, &ev), 0);
}

/* A record that ends before its fields, and one whose event nobody knows. */
static void test_short_records(void **state)
{
	struct decode_world w = decode_world();
	const uint32_t head[2] = {MADE_IRQ, 1}, unknown[2] = {999, 1};
	struct decode_event now = {.data = head, .len = sizeof(head), .id = MADE_IRQ, .pid = 1};
	struct hvtrace_event event;
	size_t len;

	(void)state;
	assert_int_equal(api_event_init(&event), 0);
	api_event_set(&event, w.f, w.d, &now);
	ev = &event;
	assert_int_equal(hvtrace_event_fields(ev), 2);
	assert_int_equal(hvtrace_field_number(ev, field("irq")), 0);
	assert_string_equal(hvtrace_field_string(ev, field("name")), "");
	hvtrace_field_bytes(ev, field("name"), &len);
	assert_int_equal(len, 0);
	now = (struct decode_event){.data = unknown, .len = sizeof(unknown), .id = 999};
	api_event_set(&event, w.f, w.d, &now);
	assert_string_equal(hvtrace_event_name(ev), "999");
	assert_string_equal(hvtrace_event_system(ev), "");
	assert_int_equal(hvtrace_event_fields(ev), 0);
	hvtrace_event_text(ev);
	api_event_exit(&event);
	decode_world_end(&w);
}

static void test_not_opened(void **state)
{
	char err[256], little[8];

	(void)state;
	assert_null(hvtrace_file_open("tests/data/trace-dat/README", err, sizeof(err)));
	assert_non_null(strstr(err, "it is no trace.dat file"));
	assert_null(hvtrace_file_open("tests/data", err, sizeof(err)));
	assert_int_equal(strncmp(err, "tests/data: ", 12), 0);
	assert_null(hvtrace_file_open("tests/data/none", little, sizeof(little)));
	assert_string_equal(little, "tests/d");
	hvtrace_file_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_head, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_numbers_and_strings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
		cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_not_opened),
	};

	return cmocka_run_group_tests_name("api-file", tests, NULL, NULL);
}
