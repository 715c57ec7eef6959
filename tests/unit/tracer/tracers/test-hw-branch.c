// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-hw-branch.c - the tracer hw-branch-tracer on a made-up guest: which calls it has followed,
 * and the text that comes of their branches.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/trace-guest.h"

enum { FN_SCHEDULE = 0x2000 };

static char noted[512];

static void on_note(void *arg, const char *text)
{
	(void)arg;
	snprintf(noted, sizeof(noted), "%s", text);
}

static int set_up(void **state)
{
	guest_set_up(state);
	noted[0] = '\0';
	fake_symbol("__schedule", FAKE_VA(FN_SCHEDULE), 't');
	fake.follow = true;
	fake.vcpus = 2;
	return 0;
}

static struct trace *start(const char *tracer, uint64_t max_events)
{
	struct trace_config cfg = {
		.tracer = tracer, .vcpus = 2, .max_events = max_events, .message = on_note};
	char err[256] = "";
	struct trace *t = trace_with(cfg, err, sizeof(err));

	if (!t || trace_attach(t, (struct machine *)&fake, err, sizeof(err)))
		fail_msg("%s", err);
	return t;
}

static void filter(struct trace *t, const char *text)
{
	struct func_file *file;

	trace_change_begin(t);
	assert_int_equal(func_file_open(instance_functions(trace_top(t)), FUNC_FILTER,
					O_WRONLY | O_TRUNC, &file),
			 0);
	assert_int_equal(func_file_write(file, text, strlen(text)), strlen(text));
	func_file_close(file);
	trace_change_end(t);
}

static uint64_t next_tsc(void)
{
	static uint64_t tsc = 1000;

	tsc += 1000;
	return tsc;
}

/* A call of the function at off on a vCPU, if it has a trap: how often calls were followed. */
static unsigned int calls(struct trace *t, unsigned int vcpu, uint32_t off)
{
	const struct machine_trap *trap = fake_trap(FAKE_VA(off));
	struct machine_regs regs = {.rsp = FAKE_VA(STACK), .rflags = 0x202};
	struct machine_hit hit = {
		.vcpu = vcpu, .tsc = next_tsc(), .va = FAKE_VA(off), .regs = &regs};

	if (trap) {
		hit.cookie = trap->cookie;
		trace_trap(t, &hit);
	}
	return fake.follows;
}

static bool branches(struct trace *t, unsigned int vcpu, uint32_t from, uint32_t to)
{
	const struct machine_regs regs = {.rflags = 0x202};
	const struct machine_branch b = {
		.vcpu = vcpu,
		.from = FAKE_VA(from),
		.to = FAKE_VA(to),
		.tsc = next_tsc(),
		.regs = &regs,
	};

	return trace_branch(t, &b);
}

static void ends(struct trace *t, unsigned int vcpu, enum machine_follow_end how)
{
	const struct machine_branch b = {.vcpu = vcpu, .end = how};

	assert_false(trace_branch(t, &b));
}

static void expect(struct trace *t, const char *want)
{
	struct instance_reader *r = instance_read_open(trace_top(t), ALL_VCPUS, false);
	char buf[4096];
	ssize_t n, len = 0;

	assert_non_null(r);
	while ((n = instance_read(r, buf + len, sizeof(buf) - 1 - (size_t)len, len)) > 0)
		len += n;
	instance_read_close(r);
	buf[len] = '\0';
	assert_string_equal(buf, want);
}

#define HEADER "# tracer: hw-branch-tracer\n#\n# CPU#        TO  <-  FROM\n"

static void calls_are_followed(void **state)
{
	struct trace *t = start("hw-branch-tracer", 0);

	(void)state;
	filter(t, "alpha\n");
	assert_null(fake_trap(FAKE_VA(FN_BETA)));
	assert_int_equal(calls(t, 0, FN_ALPHA), 1);
	assert_int_equal(fake.followed.vcpu, 0);
	assert_true(fake.followed.sp == FAKE_VA(STACK));
	assert_true(fake.followed.leaves == FAKE_VA(FN_SCHEDULE));
	assert_int_equal(fake.followed.steps, trace_branch_steps(t));
	/* another one meanwhile, and within it */
	assert_int_equal(calls(t, 1, FN_ALPHA), 1);
	assert_int_equal(calls(t, 0, FN_ALPHA), 1);
	assert_true(branches(t, 0, FN_ALPHA + 0x20, FN_BETA));
	assert_true(branches(t, 0, FN_BETA + 0x8, FN_ALPHA + 0x25));
	ends(t, 0, MACHINE_FOLLOW_RETURNED);
	assert_int_equal(calls(t, 1, FN_ALPHA), 2);
	assert_true(branches(t, 1, FN_ALPHA + 0x30, FN_SCHEDULE));
	expect(t, HEADER "   0  beta+0x0/0x100\t  <-  alpha+0x20/0x100\n"
			 "   0  alpha+0x25/0x100\t  <-  beta+0x8/0x100\n"
			 "   1  __schedule+0x0/0x100\t  <-  alpha+0x30/0x100\n");
	assert_int_equal(trace_detach(t), 0);
	assert_false(branches(t, 1, FN_ALPHA, FN_BETA));
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

/* What the user does meanwhile ends it. */
static void no_more_is_wanted(void **state)
{
	struct trace *t = start("hw-branch-tracer", 0);

	(void)state;
	filter(t, "alpha\n");
	assert_int_equal(calls(t, 0, FN_ALPHA), 1);
	instance_set_on(trace_top(t), false);
	assert_false(branches(t, 0, FN_ALPHA, FN_BETA));
	ends(t, 0, MACHINE_FOLLOW_STOPPED);
	assert_int_equal(calls(t, 0, FN_ALPHA), 1);
	instance_set_on(trace_top(t), true);
	assert_int_equal(calls(t, 0, FN_ALPHA), 2);
	assert_int_equal(instance_set_tracer(trace_top(t), "nop"), 0);
	assert_false(branches(t, 0, FN_ALPHA, FN_BETA));
	ends(t, 0, MACHINE_FOLLOW_STOPPED);
	assert_null(fake_trap(FAKE_VA(FN_ALPHA)));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* A machine that cannot begin is asked again at the next call. */
static void one_that_cannot_be(void **state)
{
	struct trace *t = start("hw-branch-tracer", 0);

	(void)state;
	filter(t, "alpha\n");
	fake.follow_error = -ENOMEM;
	assert_int_equal(calls(t, 0, FN_ALPHA), 1);
	assert_int_equal(calls(t, 1, FN_ALPHA), 2);
	fake.follow_error = 0;
	assert_int_equal(calls(t, 1, FN_ALPHA), 3);
	assert_int_equal(calls(t, 0, FN_ALPHA), 3);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void as_many_steps_as_asked_for(void **state)
{
	struct trace *t = start("hw-branch-tracer", 0);

	(void)state;
	filter(t, "alpha\n");
	assert_int_equal(trace_set_branch_steps(t, 0), -EINVAL);
	assert_int_equal(trace_set_branch_steps(t, UINT64_C(1) << 32), -EINVAL);
	assert_int_equal(trace_set_branch_steps(t, 7), 0);
	assert_int_equal(calls(t, 0, FN_ALPHA), 1);
	assert_int_equal(fake.followed.steps, 7);
	ends(t, 0, MACHINE_FOLLOW_BOUND);
	assert_non_null(strstr(noted, "followed for 7 steps (hvtrace/branch_steps)"));
	noted[0] = '\0';
	assert_int_equal(calls(t, 0, FN_ALPHA), 2);
	ends(t, 0, MACHINE_FOLLOW_BOUND);
	assert_string_equal(noted, "");
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* Each of them would be stopped at each call. */
static void too_many_functions(void **state)
{
	enum { MANY = 101 };
	static char names[MANY][16];
	struct trace *t;

	(void)state;
	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "many_%u", i);
		add_function(names[i], 0xa000 + 16 * i, 0);
	}
	t = start("hw-branch-tracer", 0);
	assert_null(fake_trap(FAKE_VA(FN_ALPHA)));
	assert_non_null(strstr(noted, "it looks at no function: set_ftrace_filter selects 105, and "
				      "may select 100 at most"));
	filter(t, "alpha\n");
	assert_non_null(fake_trap(FAKE_VA(FN_ALPHA)));
	filter(t, "many_*\n");
	assert_null(fake_trap(FAKE_VA(FN_ALPHA)));
	assert_null(fake_trap(FAKE_VA(0xa000)));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void a_machine_that_cannot(void **state)
{
	struct trace *t = start("nop", 0);

	(void)state;
	assert_true(trace_has_tracer(t, "hw-branch-tracer"));
	fake.follow = false;
	assert_false(trace_has_tracer(t, "hw-branch-tracer"));
	assert_int_equal(instance_set_tracer(trace_top(t), "hw-branch-tracer"), -EOPNOTSUPP);
	assert_non_null(strstr(noted, "hw-branch-tracer: calls are followed in guests that"));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_followed, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(no_more_is_wanted, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(one_that_cannot_be, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(as_many_steps_as_asked_for, set_up,
						guest_tear_down),
		cmocka_unit_test_setup_teardown(too_many_functions, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(a_machine_that_cannot, set_up, guest_tear_down),
	};

	return cmocka_run_group_tests_name("hw-branch-tracer", tests, NULL, NULL);
}
