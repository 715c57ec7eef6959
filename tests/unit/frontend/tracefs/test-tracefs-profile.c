// SPDX-License-Identifier: GPL-2.0-or-later
/* test-tracefs-profile.c - the files of the function profiler and of the stack tracer. */
#include "tests/unit/tracefs-world.h"

#include <errno.h>

static void test_profile(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;

	expect(w, "function_profile_enabled", "0\n");
	expect(w, "trace_stat/function1",
	       "  Function                               Hit    Time            Avg"
	       "             s^2\n"
	       "  --------                               ---    ----            ---"
	       "             ---\n");
	assert_int_equal(put(w, "trace_stat/function1", 0, "0"), -EINVAL);
	assert_int_equal(open_path(w, "trace_stat/function2", O_RDONLY, &f), -ENOENT);
	assert_int_equal(put(w, "function_profile_enabled", 0, "x"), -EINVAL);
	assert_int_equal(put(w, "function_profile_enabled", 0, "7"), 1);
	expect(w, "function_profile_enabled", "1\n");
	/* The graph of calls has one user; the tracer before has gone all the same. */
	assert_int_equal(put(w, "current_tracer", 0, "function"), 8);
	assert_int_equal(put(w, "current_tracer", 0, "function_graph"), -EBUSY);
	expect(w, "current_tracer", "nop\n");
	assert_int_equal(put(w, "function_profile_enabled", 0, "0"), 1);
	assert_int_equal(put(w, "current_tracer", 0, "function_graph"), 14);
	assert_int_equal(put(w, "function_profile_enabled", 0, "1"), -EBUSY);
	expect(w, "function_profile_enabled", "0\n");
	assert_int_equal(put(w, "function_profile_enabled", 0, "0"), 1);
}

static void test_stack(void **state)
{
	struct world *w = *state;

	expect(w, "stack_max_size", "0\n");
	assert_int_equal(put(w, "stack_max_size", 0, "1000\n"), 5);
	expect(w, "stack_max_size", "1000\n");
	/* A size without a stack. */
	expect(w, "stack_trace",
	       "        Depth    Size   Location    (0 entries)\n"
	       "        -----    ----   --------\n");
	assert_int_equal(put(w, "stack_max_size", 0, "-1"), -EINVAL);
	assert_int_equal(put(w, "stack_trace", 0, "0"), -EINVAL);
	assert_int_equal(put(w, "stack_tracer_enabled", 0, "2147483648"), -EINVAL);
	assert_int_equal(put(w, "stack_tracer_enabled", 0, "0"), 1);
	expect(w, "stack_tracer_enabled", "0\n");
}

/* A filter of its own, without commands: they would act on an instance. */
static void test_stack_filter(void **state)
{
	static const char *const commands[] = {"vfs_read:traceoff\n", "vfs_read:snapshot\n",
					       "vfs_read:stacktrace:3\n"};
	struct world *w = *state;

	expect(w, "stack_trace_filter", "#### all functions enabled ####\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_int_equal(put(w, "stack_trace_filter", 0, commands[i]), -ENODEV);
	assert_int_equal(put(w, "stack_trace_filter", O_TRUNC, "vfs_read\n"), 9);
	expect(w, "stack_trace_filter", "vfs_read\n");
	expect(w, "set_ftrace_filter", "#### all functions enabled ####\n");
	assert_int_equal(put(w, "stack_trace_filter", O_APPEND, "no_such_function\n"), -EINVAL);
	assert_int_equal(put(w, "stack_trace_filter", O_TRUNC, ""), 0);
	expect(w, "stack_trace_filter", "#### all functions enabled ####\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_profile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stack_filter, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("tracefs-profile", tests, NULL, NULL);
}
