// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-switch.c - the guest's kernel calls tracing_off() and tracing_on(): what is kept of what its
 * vCPUs record around that, whenever it is collected.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/control/files.h"
#include "tracer/control/instances.h"
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/record/files.h"
#include "tracer/record/switch.h"
#include "tracer/tracepoint/switch.h"
#include "tracer/tracer.h"

enum { FN_OFF = 0x2800, FN_ON = 0x2900 };

static struct trace *t;
static char said[1024];

static void say(void *arg, const char *text)
{
	(void)arg;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

static void kernel_add_switches(void)
{
	/* mov 0x100(%rip), %rdi; test %rdi, %rdi */
	static const uint8_t code[] = {0x48, 0x8b, 0x3d, 0, 1, 0, 0, 0x48, 0x85, 0xff};

	fake_symbol("tracing_off", FAKE_VA(FN_OFF), 'T');
	fake_symbol("tracing_on", FAKE_VA(FN_ON), 'T');
	memcpy(fake_at(FAKE_VA(FN_OFF)), code, sizeof(code));
	memcpy(fake_at(FAKE_VA(FN_ON)), code, sizeof(code));
}

static void started(struct trace_config cfg)
{
	cfg.message = say;
	t = tramp_started(cfg);
	guest_switch_place(t);
}

static int set_up(void **state)
{
	(void)state;
	*said = '\0';
	tramp_kernel_make();
	kernel_add_switches();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(t);
	free(fake.ram);
	return 0;
}

static uint64_t word(void)
{
	uint64_t now;

	window_get_at(WINDOW_SWITCH, &now, sizeof(now));
	return now;
}

/* As the payload does. */
static void guest_off(uint64_t tsc)
{
	assert_int_equal(word(), (uint64_t)SWITCH_ON);
	window_put_at(WINDOW_SWITCH, &tsc, sizeof(tsc));
}

static void guest_on(unsigned int vcpu)
{
	tramp_call(vcpu, tramp_entry(payload_switch_call), FAKE_VA(STACK), 0);
}

static void function_at(unsigned int vcpu, uint64_t tsc)
{
	tramp_function(vcpu, tsc, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
}

/* The times of what is in the trace. */
static void trace_is(const char *want)
{
	char *text, times[256] = "";

	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	for (const char *at = text; (at = strstr(at, ": alpha")); at++) {
		const char *from = at;

		while (from > text && from[-1] != ' ')
			from--;
		snprintf(times + strlen(times), sizeof(times) - strlen(times), "%.*s ",
			 (int)(at - from), from);
	}
	free(text);
	assert_string_equal(times, want);
}

/* Nothing is collected meanwhile. */
static void collector_stands(bool stands)
{
	if (stands)
		trace_writers_stop(t);
	else
		trace_writers_go(t);
}

static void off_is_as_of_its_time_on_all_vcpus(void **state)
{
	(void)state;
	started((struct trace_config){0});
	assert_true(t->guest_switch.placed);
	collector_stands(true);
	function_at(0, 100);
	function_at(1, 150);
	guest_off(200);
	function_at(0, 201);
	function_at(1, 200);
	function_at(1, 250);
	collector_stands(false);
	tramp_wait(word() == SWITCH_OFF);
	assert_false(instance_is_on(trace_top(t)));
	function_at(0, 300);
	trace_is("100 150 200 ");
	assert_string_equal(said, "the guest's kernel calls tracing_off(): recording stops\n");
}

static void command_set(const char *command)
{
	struct func_filter *filter = instance_functions(trace_top(t));
	struct func_file *file = NULL;
	ssize_t len = (ssize_t)strlen(command);

	assert_int_equal(func_file_open(filter, FUNC_FILTER, O_WRONLY, &file), 0);
	assert_int_equal(instance_write_functions(trace_top(t), file, command, (size_t)len), len);
	instance_close_functions(trace_top(t), file);
}

/* Also those that are brought into one order first. */
static void commands_wait_for_it(void **state)
{
	(void)state;
	started((struct trace_config){0});
	command_set("beta:traceoff");
	collector_stands(true);
	function_at(1, 250);
	guest_off(200);
	function_at(0, 150);
	collector_stands(false);
	tramp_wait(word() == SWITCH_OFF);
	trace_is("150 ");
}

static void instances_go_on(void **state)
{
	struct instance *other;

	(void)state;
	started((struct trace_config){0});
	assert_int_equal(instance_new(t, "other"), 0);
	other = instance_get(t, "other");
	assert_non_null(other);
	guest_off(200);
	tramp_wait(word() == SWITCH_OFF);
	assert_true(instance_is_on(other));
	instance_put(other);
	trace_is("");
}

static void on_is_from_then_on(void **state)
{
	(void)state;
	started((struct trace_config){0});
	collector_stands(true);
	guest_off(200);
	function_at(0, 250);
	collector_stands(false);
	guest_on(1);
	assert_true(instance_is_on(trace_top(t)));
	assert_int_equal(word(), (uint64_t)SWITCH_ON);
	function_at(1, 300);
	guest_off(400);
	tramp_wait(word() == SWITCH_OFF);
	function_at(0, 401);
	trace_is("300 ");
	assert_string_equal(said, "the guest's kernel calls tracing_off(): recording stops\n"
				  "the guest's kernel calls tracing_on(): recording goes on\n"
				  "the guest's kernel calls tracing_off(): recording stops\n");
}

/* The user's word, either way. */
static void files_turn_it_too(void **state)
{
	(void)state;
	started((struct trace_config){0});
	instance_set_on(trace_top(t), false);
	assert_int_equal(word(), SWITCH_OFF);
	guest_on(0);
	assert_true(instance_is_on(trace_top(t)));
	guest_off(200);
	tramp_wait(word() == SWITCH_OFF);
	instance_set_on(trace_top(t), true);
	assert_int_equal(word(), (uint64_t)SWITCH_ON);
	function_at(0, 300);
	trace_is("300 ");
}

/* Whatever else it writes there. */
static void guests_may_write_anything(void **state)
{
	static const uint64_t junk[] = {1, UINT64_MAX - 1, 5};

	(void)state;
	started((struct trace_config){0});
	instance_set_on(trace_top(t), false);
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		window_put_at(WINDOW_SWITCH, &junk[i], sizeof(junk[i]));
		tramp_wait(word() == SWITCH_OFF);
	}
	assert_string_equal(said, "");
	instance_set_on(trace_top(t), true);
	function_at(0, 300);
	trace_is("300 ");
}

static void is_not_there(void)
{
	static const uint64_t off = 200;

	assert_false(t->guest_switch.placed);
	window_put_at(WINDOW_SWITCH, &off, sizeof(off));
	function_at(0, 300);
	trace_is("300 ");
}

static void may_be_ignored(void **state)
{
	(void)state;
	started((struct trace_config){.ignore_switches = true});
	assert_string_equal(said, "");
	is_not_there();
}

static void what_cannot_be_moved_is_told(void **state)
{
	(void)state;
	*fake_at(FAKE_VA(FN_ON)) = 0xe9; /* a jump */
	started((struct trace_config){0});
	assert_non_null(strstr(said, "tracing_off() and tracing_on() are not seen: "));
	is_not_there();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(off_is_as_of_its_time_on_all_vcpus, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(commands_wait_for_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(instances_go_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(on_is_from_then_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_turn_it_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(guests_may_write_anything, set_up, tear_down),
		cmocka_unit_test_setup_teardown(may_be_ignored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_moved_is_told, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("switch", tests, NULL, NULL);
}
