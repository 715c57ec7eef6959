// SPDX-License-Identifier: GPL-2.0-or-later
/* test-summary.c - what programs are told of a session's end. */
#include "tests/unit/host-scene.h"

#include "frontend/lib/json.h"
#include "frontend/report/exits.h"
#include "frontend/session/summary.h"

#include <errno.h>

static void put(struct json *j, void *arg)
{
	summary_put(arg, j);
}

static void written(struct summary *s, const char *expected)
{
	struct text t = {0};

	json_to_text(put, s, &t);
	text_putc(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.buf, expected);
	text_free(&t);
}

static void test_all(void **state)
{
	static const struct trace_vcpu_status vcpu[] = {
		{.events = 90, .staging_lost = 5, .dropped = 2, .overwritten = 3},
		{.events = 10, .staging_lost = 6},
	};
	static const struct trace_status st = {
		.traced = 7,
		.skipped = 1,
		.hits = 100,
		.lost = 13,
		.overwritten = 3,
		.staging_lost = 11,
		.corrupt = 4,
		.engine = "trampoline",
	};
	static const struct machine_pauses pauses = {
		.count = 3, .total_ns = 5000, .longest_ns = 4000, .longest_what = "attaching"};
	static const struct summary_file output = {
		.opened = true,
		.path = "a \"b\".dat",
		.recorded = true,
		.sized = true,
		.bytes = 12345,
		.record_bytes = 8192,
	};
	struct summary s = {
		.guest = "g\n1",
		.release = "6.1.0",
		.tracer = "function",
		.end = "time",
		.reason = "the time is over",
		.seconds = 2.0625,
		.trace = &st,
		.vcpu = vcpu,
		.vcpus = 2,
		.boots = 2,
		.pauses = &pauses,
		.output = &output,
	};

	(void)state;
	written(&s, "{\n"
		    "  \"status\": 0,\n"
		    "  \"end\": \"time\",\n"
		    "  \"reason\": \"the time is over\",\n"
		    "  \"guest\": \"g\\u000a1\",\n"
		    "  \"release\": \"6.1.0\",\n"
		    "  \"tracer\": \"function\",\n"
		    "  \"seconds\": 2.062,\n"
		    "  \"engine\": \"trampoline\",\n"
		    "  \"boots\": 2,\n"
		    "  \"functions\": 7,\n"
		    "  \"functions_left_out\": 1,\n"
		    "  \"events\": 100,\n"
		    "  \"lost\": 13,\n"
		    "  \"lost_by\": {\"guest\": 7, \"senseless\": 4, \"buffer\": 2},\n"
		    "  \"overwritten\": 3,\n"
		    "  \"cpus\": [{\"cpu\": 0, \"events\": 90, \"lost\": 7, \"overwritten\": 3}, "
		    "{\"cpu\": 1, \"events\": 10, \"lost\": 6, \"overwritten\": 0}],\n"
		    "  \"standstill\": {\"count\": 3, \"total_ns\": 5000, \"longest_ns\": 4000, "
		    "\"longest_for\": \"attaching\", \"exceeded\": false},\n"
		    "  \"output\": {\"file\": \"a \\\"b\\\".dat\", \"bytes\": 12345, "
		    "\"record_bytes\": 8192, \"error\": null}\n"
		    "}\n");
}

/* Nothing was traced. */
static void test_failure(void **state)
{
	static const struct summary_file output = {.error = -ENOSPC};
	struct summary s = {
		.end = "error",
		.reason = "no such guest",
		.tracer = "nop",
		.status = 1,
		.output = &output,
	};

	(void)state;
	written(&s, "{\n"
		    "  \"status\": 1,\n"
		    "  \"end\": \"error\",\n"
		    "  \"reason\": \"no such guest\",\n"
		    "  \"guest\": null,\n"
		    "  \"release\": null,\n"
		    "  \"tracer\": \"nop\",\n"
		    "  \"seconds\": 0.000,\n"
		    "  \"output\": {\"file\": null, \"bytes\": null, \"record_bytes\": null, "
		    "\"error\": \"No space left on device\"}\n"
		    "}\n");
}

/* Exits of a vCPU, and who took its CPU. */
static struct exits *see(struct host_scene *s)
{
	struct decode_world w = decode_world_of(host_open_scene(s));
	struct exits *e = exits_new(w.f, NULL, NULL);
	const struct decode_event *ev;

	assert_non_null(e);
	exits_vcpu(e, 0, HOST_TID);
	while ((ev = records_next(w.r)))
		exits_event(e, ev);
	decode_world_end(&w);
	return e;
}

static void test_host(void **state)
{
	static const struct summary_file output = {.path = NULL};
	struct host_scene scene = {.nr = 0};
	struct summary_host host = {
		.file = {.opened = true,
			 .path = "a-host.dat",
			 .recorded = true,
			 .sized = true,
			 .bytes = 300,
			 .record_bytes = 200},
		.events = 4,
		.lost = true,
	};
	struct summary s = {.end = "time", .reason = "", .output = &output, .host = &host};
	struct exits *e;

	(void)state;
	host_page(&scene, 1000, 0);
	host_exit(&scene, 1000, HOST_TID, 1);
	host_switch(&scene, 1500, HOST_TID, 5, 0);
	host_switch(&scene, 1600, 5, HOST_TID, 0);
	host_entry(&scene, 2000, HOST_TID);
	e = see(&scene);
	host.exits = e;
	written(&s, "{\n"
		    "  \"status\": 0,\n"
		    "  \"end\": \"time\",\n"
		    "  \"reason\": \"\",\n"
		    "  \"guest\": null,\n"
		    "  \"release\": null,\n"
		    "  \"tracer\": null,\n"
		    "  \"seconds\": 0.000,\n"
		    "  \"output\": {\"file\": null, \"bytes\": null, \"record_bytes\": null, "
		    "\"error\": null},\n"
		    "  \"host_events\": {\"events\": 4, \"lost\": true, \"file\": \"a-host.dat\", "
		    "\"bytes\": 300, \"record_bytes\": 200, \"error\": null, "
		    "\"exits\": [{\"reason\": \"npf\", \"count\": 1, \"total_ns\": 900, "
		    "\"max_ns\": 900}], "
		    "\"taken\": [{\"cpu\": 0, \"count\": 1, \"total_ns\": 100, \"max_ns\": 100}]}\n"
		    "}\n");
	exits_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
