// SPDX-License-Identifier: GPL-2.0-or-later
/* test-lines.c - formats that are text: csv, json, chrome, speedscope, folded. */
#include "tests/unit/export-world.h"
#include "tests/unit/host-scene.h"

static void check_begins(const struct exported *e, const char *expected)
{
	size_t len = strlen(expected);

	if (e->len < len || strncmp(e->text, expected, len) != 0)
		fail_msg("%.*s", (int)(len + 80), e->text);
}

/* A call that has no end within one that has, on two tasks. */
static struct dat *calls(void)
{
	static struct scene s;

	s = (struct scene){0};
	scene_page(&s, 0);
	made_trace_call(scene_now(&s), 1000, 1, MADE_FUNC(1), 0);
	made_trace_call(scene_now(&s), 2000, 1, MADE_FUNC(2), 1);
	made_trace_call(scene_now(&s), 2500, 33, MADE_FUNC(3), 0);
	made_trace_return(scene_now(&s), 4000, 1, MADE_FUNC(1), 0, 3000);
	made_trace_return(scene_now(&s), 4500, 1, MADE_FUNC(1), 0, 3000);
	return scene_open(&s);
}

static void test_csv(void **state)
{
	struct exported e = export_of(made_trace(), "csv");

	(void)state;
	check_begins(
		&e,
		"time,cpu,pid,comm,buffer,system,event,lost,info\n"
		"1.000000000,0,1,init,,ftrace,function,0, vfs_read <-- ext4_open\n"
		"1.000000500,1,33,kworker/0:1 H,one,irq,irq_handler_entry,some,irq=14 name=timer\n");
	assert_non_null(strstr(e.text, "\n1.000002300,1,2,kthreadd,,ftrace,kernel_stack,0, => "));
	/* Quoted, and what is no text replaced. */
	assert_non_null(strstr(e.text, ",print,0,\"__schedule: hello \"\"?\xc3\xa4?\"\n"));
	free(e.text);
}

static void test_json(void **state)
{
	struct exported e = export_of(made_trace(), "json");
	size_t lines = 0;

	(void)state;
	check_begins(&e, "{\"time\":1.000000000,\"cpu\":0,\"pid\":1,\"comm\":\"init\",");
	for (const char *at = e.text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, e.result.events);
	assert_int_equal(lines, 11);
	free(e.text);
}

static void test_chrome_calls(void **state)
{
	static const char expected[] =
		"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"init\"}},\n"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"init\"}},\n"
		"{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1000001.000,\"name\":\"vfs_read\"},\n"
		"{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1000002.000,\"name\":\"vfs_write\"},\n"
		"{\"ph\":\"M\",\"pid\":33,\"tid\":33,\"name\":\"thread_name\",\"args\":{\"name\":\"kworker/0:1 H\"}},\n"
		"{\"ph\":\"M\",\"pid\":33,\"tid\":33,\"name\":\"process_name\",\"args\":{\"name\":\"kworker/0:1 H\"}},\n"
		"{\"ph\":\"B\",\"pid\":33,\"tid\":33,\"ts\":1000002.500,\"name\":\"vfs_open\"},\n"
		"{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":1000004.000},\n"
		"{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":1000004.000},\n"
		"{\"ph\":\"E\",\"pid\":33,\"tid\":33,\"ts\":1000004.500}\n"
		"]}\n";
	struct exported e = export_of(calls(), "chrome");

	(void)state;
	assert_string_equal(e.text, expected);
	assert_int_equal(e.result.unbegun, 1);
	assert_int_equal(e.result.unended, 2);
	free(e.text);
}

static void test_chrome_events(void **state)
{
	static struct scene s;
	struct exported e;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_switch(&s, 1000, 1, 33);
	scene_mark(&s, 1500, 33, "C|5|a \"b\"|7");
	scene_mark(&s, 1600, 33, "B|33|work");
	scene_switch(&s, 3000, 33, 0);
	e = export_of(scene_open(&s), "chrome");
	assert_non_null(strstr(e.text, "{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":1000001.000,"
				       "\"name\":\"sched_switch\",\"s\":\"t\",\"cat\":\"sched\","
				       "\"args\":{\"prev_comm\":\"prev\",\"prev_pid\":1,"
				       "\"next_pid\":33}}"));
	assert_non_null(strstr(e.text, "{\"ph\":\"C\",\"pid\":5,\"tid\":5,\"ts\":1000001.500,"
				       "\"name\":\"a \\\"b\\\"\",\"args\":{\"value\":7}}"));
	assert_non_null(strstr(e.text, "{\"ph\":\"B\",\"pid\":67108866,\"tid\":33,"
				       "\"ts\":1000001.600,\"name\":\"work\"}"));
	assert_non_null(strstr(e.text, "{\"ph\":\"X\",\"pid\":16777216,\"tid\":0,"
				       "\"ts\":1000001.000,\"dur\":2.000,"));
	free(e.text);
}

static void test_speedscope(void **state)
{
	static const char first[] =
		"{\"type\":\"evented\",\"name\":\"init-1\",\"unit\":\"nanoseconds\","
		"\"startValue\":1000001000,\"endValue\":1000004500,\"events\":[\n"
		"{\"type\":\"O\",\"frame\":4,\"at\":1000001000},\n"
		"{\"type\":\"O\",\"frame\":5,\"at\":1000002000},\n"
		"{\"type\":\"C\",\"frame\":5,\"at\":1000004000},\n"
		"{\"type\":\"C\",\"frame\":4,\"at\":1000004000}\n]},\n";
	static const char second[] =
		"\"events\":[\n{\"type\":\"O\",\"frame\":6,\"at\":1000002500},\n"
		"{\"type\":\"C\",\"frame\":6,\"at\":1000004500}\n]}\n]}\n";
	struct exported e = export_of(calls(), "speedscope");

	(void)state;
	check_begins(&e, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
	assert_non_null(strstr(e.text,
			       "\n{\"name\":\"preemption off\"},\n{\"name\":\"vfs_read\"},\n"
			       "{\"name\":\"vfs_write\"},\n{\"name\":\"vfs_open\"}\n]},"));
	assert_non_null(strstr(e.text, first));
	assert_non_null(strstr(e.text, second));
	free(e.text);
}

static void test_folded(void **state)
{
	static struct scene s;
	struct exported e = export_of(calls(), "folded");

	(void)state;
	assert_string_equal(e.text, "init-1;vfs_read 4000\n"
				    "init-1;vfs_read;vfs_write 2000\n");
	free(e.text);
	/* Of function there are counts, by callers. */
	s = (struct scene){0};
	scene_page(&s, 0);
	for (unsigned int i = 0; i < 3; i++)
		scene_function(&s, i, 1, 2);
	e = export_of(scene_open(&s), "folded");
	assert_string_equal(e.text, "init-1;__schedule;vfs_write 3\n");
	free(e.text);
}

/* What the host did with the guest's vCPUs, beside what these did. */
static void test_host(void **state)
{
	static const char slices[] =
		"\"ts\":999999.000,\"name\":\"npf\"},\n"
		"{\"ph\":\"B\",\"pid\":67108871,\"tid\":1,\"ts\":999999.100,"
		"\"name\":\"taken by thief\"},\n"
		"{\"ph\":\"E\",\"pid\":67108871,\"tid\":1,\"ts\":999999.200},\n"
		"{\"ph\":\"E\",\"pid\":67108871,\"tid\":1,\"ts\":999999.300},\n";
	struct host_scene s = {.nr = 0};
	struct decode_world guest, host;
	struct exported e;

	(void)state;
	host_page(&s, MADE_T0 - 1000, 0);
	host_exit(&s, MADE_T0 - 1000, HOST_TID + 1, 1);
	host_switch(&s, MADE_T0 - 900, HOST_TID + 1, 5, 0);
	host_switch(&s, MADE_T0 - 800, 5, HOST_TID + 1, 1);
	host_entry(&s, MADE_T0 - 700, HOST_TID + 1);
	for (int i = 0; i < 3; i++) {
		static const char *const formats[] = {"chrome", "csv", "folded"};

		guest = decode_world_of(host_open_guest());
		host = decode_world_of(host_open_scene(&s));
		assert_true(export_is_host(host.d, guest.d));
		assert_false(export_is_host(guest.d, host.d));
		assert_int_equal(export_takes_host(export_find(formats[i])), i < 2);
		e = export_both(&guest, &host, formats[i]);
		if (!i && !strstr(e.text, slices))
			fail_msg("%.1000s", e.text);
		if (i == 1)
			check_begins(&e, "time,cpu,pid,comm,buffer,system,event,lost,info,file\n"
					 "0.999999000,0,1001,CPU 1/KVM,,kvm,kvm_exit,0,"
					 "vcpu 0 reason npf rip 0x0,made\n");
		free(e.text);
		decode_world_end(&guest);
		decode_world_end(&host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv),	     cmocka_unit_test(test_json),
		cmocka_unit_test(test_chrome_calls), cmocka_unit_test(test_chrome_events),
		cmocka_unit_test(test_speedscope),   cmocka_unit_test(test_folded),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
