// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-branch.c - the tracer branch, and the option of that name, on a made-up guest whose kernel
 * tells how its likely() and unlikely() come out: when the function that tells is looked at, and
 * the text that comes of its records.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tests/unit/made-likely.h"
#include "tracer/control/files.h"
#include "tracer/control/instances.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/output/options.h"
#include "tracer/record/files.h"
#include "tracer/tracer.h"
#include "tracer/tracers/names.h"

enum {
	FN_UPDATE = 0x2a00,
	LIKELY = 0xc000, /* the kernel's own, two of them */
	OTHER = 0xc800,	 /* as of a module */
	NAMES = 0xd000,
};

/* push %rbp; mov %rsp, %rbp; push %rbx */
static const uint8_t prologue[] = {0x55, 0x48, 0x89, 0xe5, 0x53};

static struct trace *t;
static char said[1024];

static void say(void *arg, const char *text)
{
	(void)arg;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

static void kernel_tells_branches(void)
{
	uint32_t end = NAMES;

	fake_symbol("ftrace_likely_update", FAKE_VA(FN_UPDATE), 'T');
	memcpy(fake_at(FAKE_VA(FN_UPDATE)), prologue, sizeof(prologue));
	likely_add(LIKELY, 2);
	likely_put(LIKELY, "first", "kernel/a.c", 10, &end);
	likely_put(LIKELY + LIKELY_SIZE, "a_function_whose_name_is_longer_than_thirty",
		   "include/linux/a_file_whose_name_is_longer.h", 20, &end);
	likely_put(OTHER, "of_a_module", "b.c", 30, &end);
}

static int set_up_without(void **state)
{
	(void)state;
	*said = '\0';
	tramp_kernel_make();
	return 0;
}

static int set_up(void **state)
{
	set_up_without(state);
	kernel_tells_branches();
	return 0;
}

static void started(void)
{
	t = tramp_started((struct trace_config){.message = say});
	atomic_store(&t->booted, true);
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(t);
	free(fake.ram);
	return 0;
}

static bool is_seen(void)
{
	return memcmp(fake_at(FAKE_VA(FN_UPDATE)), prologue, sizeof(prologue)) != 0;
}

static void comes_out(unsigned int vcpu, uint64_t tsc, uint32_t at, uint32_t bits, uint32_t state)
{
	tramp_record(vcpu, (struct payload_record){
				   .tsc = tsc,
				   .parent = (uint32_t)FAKE_VA(at) | bits,
				   .task = 7,
				   .state = state | (uint32_t)PAYLOAD_BRANCH << STATE_TYPE_SHIFT,
			   });
}

static void trace_is(const char *want)
{
	char *text;

	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	assert_string_equal(text, want);
	free(text);
}

/* preempt_count is one too high in each, but where the guest has made it up. */
static void records_become_lines(void **state)
{
	(void)state;
	started();
	assert_false(is_seen());
	assert_int_equal(instance_set_tracer(trace_top(t), "branch"), 0);
	assert_true(is_seen());
	tramp_comm(0, 7, 7, "task");
	comes_out(0, 100, LIKELY, BRANCH_RIGHT, PREEMPT_NO_RESCHED | 1);
	comes_out(0, 200, LIKELY + LIKELY_SIZE, 0, PREEMPT_NO_RESCHED | 3 | STATE_IRQS_OFF);
	comes_out(1, 300, OTHER, BRANCH_RIGHT | BRANCH_CONSTANT, PREEMPT_NO_RESCHED | 1);
	comes_out(1, 400, LIKELY, 0, PREEMPT_NO_RESCHED);
	trace_is(
		"            task-7       [000] .....          100: [  ok  ] first:a.c:10\n"
		"            task-7       [000] d..2.          200: [ MISS ] a_function_whose_name_is_longe:a_file_whose_name_is:20\n"
		"            task-7       [001] .....          300: [  ok  ] of_a_module:b.c:30\n"
		"            task-7       [001] .....          400: [ MISS ] first:a.c:10\n");
}

static void header_is_the_kernels(void **state)
{
	static const char want[] =
		"# tracer: branch\n"
		"#\n"
		"#           TASK-PID    CPU#    TIMESTAMP  CORRECT  FUNC:FILE:LINE\n"
		"#              | |       |          |         |       |\n";
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	started();
	assert_int_equal(instance_set_tracer(trace_top(t), "branch"), 0);
	assert_int_equal(trace_detach(t), 0);
	assert_non_null(f);
	assert_int_equal(trace_print(t, f), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, want);
	free(text);
}

/* As what lies in no table, and cannot be read. */
static void nonsense_has_no_name(void **state)
{
	(void)state;
	started();
	assert_int_equal(instance_set_tracer(trace_top(t), "branch"), 0);
	tramp_comm(0, 7, 7, "task");
	tramp_record(0, (struct payload_record){
				.tsc = 100,
				.parent = 0xfffffff0,
				.task = 7,
				.state = PREEMPT_NO_RESCHED | 1 |
					 (uint32_t)PAYLOAD_BRANCH << STATE_TYPE_SHIFT,
			});
	trace_is("            task-7       [000] .....          100: [ MISS ] ::0\n");
}

static uint32_t payload_flags(unsigned int vcpu)
{
	uint32_t flags;

	window_get_at(ctl_off(vcpu, CTL_FLAGS), &flags, sizeof(flags));
	return flags;
}

/* And the payload records while somebody wants it, of all tasks. */
static void function_is_seen_while_wanted(void **state)
{
	struct instance *top, *other;

	(void)state;
	started();
	top = trace_top(t);
	assert_int_equal(instance_set_tracer(top, "nop"), 0);
	assert_int_equal(payload_flags(0), 0);
	assert_int_equal(instance_set_option(top, OUTPUT_BRANCH, true), 0);
	assert_true(is_seen());
	assert_int_equal(payload_flags(0), CTL_FL_ON);
	assert_int_equal(instance_set_tracer(top, "branch"), 0);
	assert_int_equal(instance_set_option(top, OUTPUT_BRANCH, false), 0);
	assert_true(is_seen());
	assert_int_equal(instance_set_tracer(top, "nop"), 0);
	assert_false(is_seen());
	assert_int_equal(payload_flags(0), 0);
	assert_int_equal(instance_new(t, "other"), 0);
	other = instance_get(t, "other");
	assert_int_equal(instance_set_tracer(other, "branch"), -EINVAL);
	assert_int_equal(instance_set_option(other, OUTPUT_BRANCH, true), 0);
	assert_true(is_seen());
	instance_put(other);
	assert_int_equal(instance_remove(t, "other"), 0);
	assert_false(is_seen());
	assert_int_equal(instance_set_tracer(top, "branch"), 0);
	assert_true(is_seen());
	assert_string_equal(said, "");
	trace_is("");
	assert_false(is_seen());
}

/* In the order of the vCPU; and not in an instance that does not ask. */
static void option_is_beside_the_tracer(void **state)
{
	struct instance *other;
	struct ring_stats stats;

	(void)state;
	started();
	assert_int_equal(instance_set_option(trace_top(t), OUTPUT_BRANCH, true), 0);
	assert_int_equal(instance_new(t, "other"), 0);
	other = instance_get(t, "other");
	assert_false(instance_options(other) & OUTPUT_BRANCH);
	tramp_comm(0, 7, 7, "task");
	tramp_function(0, 100, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
	comes_out(0, 200, LIKELY, BRANCH_RIGHT, PREEMPT_NO_RESCHED | 1);
	tramp_function(0, 300, FN_BETA, PREEMPT_NO_RESCHED, 7);
	trace_catch_up(t);
	assert_int_equal(instance_set_option(trace_top(t), OUTPUT_BRANCH, false), 0);
	comes_out(0, 400, LIKELY, BRANCH_RIGHT, PREEMPT_NO_RESCHED | 1); /* on its way */
	for (unsigned int v = 0; v < TRAMP_CPUS; v++) {
		ring_get_stats(other->ring[v], &stats);
		assert_int_equal(stats.entries, 0);
	}
	instance_put(other);
	trace_is("            task-7       [000] .....          100: alpha <-start_kernel\n"
		 "            task-7       [000] .....          200: [  ok  ] first:a.c:10\n"
		 "            task-7       [000] .....          300: beta <-start_kernel\n");
}

static void other_kernels_have_none(void **state)
{
	(void)state;
	started();
	assert_false(trace_has_tracer(t, "branch"));
	assert_int_equal(trace_branch_option_rows(t)->nr, 0);
	assert_int_equal(instance_set_tracer(trace_top(t), "branch"), -EOPNOTSUPP);
	assert_non_null(strstr(said, "CONFIG_PROFILE_ANNOTATED_BRANCHES"));
	*said = '\0';
	assert_int_equal(instance_set_option(trace_top(t), OUTPUT_BRANCH, true), -EOPNOTSUPP);
	assert_non_null(strstr(said, "CONFIG_PROFILE_ANNOTATED_BRANCHES"));
	assert_string_equal(instance_tracer(trace_top(t)), "function");
	trace_is("");
}

static void not_before_the_boot_is_over(void **state)
{
	(void)state;
	started();
	assert_true(trace_has_tracer(t, "branch"));
	assert_int_equal(trace_branch_option_rows(t)->nr, 1);
	atomic_store(&t->booted, false);
	assert_int_equal(instance_set_tracer(trace_top(t), "branch"), -EAGAIN);
	assert_int_equal(instance_set_option(trace_top(t), OUTPUT_BRANCH, true), -EAGAIN);
	assert_false(instance_options(trace_top(t)) & OUTPUT_BRANCH);
	assert_false(is_seen());
	assert_non_null(strstr(said, "branch: the kernel boots"));
	trace_is("");
}

static void what_cannot_be_moved_is_told(void **state)
{
	(void)state;
	*fake_at(FAKE_VA(FN_UPDATE)) = 0xe9; /* a jump */
	started();
	assert_int_equal(instance_set_tracer(trace_top(t), "branch"), -EOPNOTSUPP);
	assert_non_null(strstr(said, "branch: ftrace_likely_update() cannot be seen: "));
	assert_string_equal(instance_tracer(trace_top(t)), "function");
	trace_is("");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_become_lines),
		TEST(header_is_the_kernels),
		TEST(nonsense_has_no_name),
		TEST(function_is_seen_while_wanted),
		TEST(option_is_beside_the_tracer),
		cmocka_unit_test_setup_teardown(other_kernels_have_none, set_up_without, tear_down),
		TEST(not_before_the_boot_is_over),
		TEST(what_cannot_be_moved_is_told),
	};

	return cmocka_run_group_tests_name("branch", tests, NULL, NULL);
}
