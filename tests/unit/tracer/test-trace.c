// SPDX-License-Identifier: GPL-2.0-or-later
/* test-trace.c - probes, guards, guest state and limits of a trace, on a made-up guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "tests/unit/trace-guest.h"
#include "tracer/probe/probe.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"
#include "tracer/instance/instance.h"

static void hits_become_records(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct ring_cursor *c = ring_look(t->instances->ring[0]);
	struct trace_function_entry e = {0};

	(void)state;
	assert_true(guest_calls(t, FN_ALPHA, FAKE_VA(FN_START + 7)));
	assert_true(guest_calls(t, FN_BETA, FAKE_VA(FN_ALPHA + 9)));
	assert_true(next_entry(t, c, &e));
	assert_true(e.ip == FAKE_VA(FN_ALPHA) && e.parent_ip == FAKE_VA(FN_START + 7));
	assert_int_equal(e.ent.type, TRACE_FN);
	assert_int_equal(e.ent.pid, 42);
	assert_int_equal(e.ent.flags, 0);
	assert_true(next_entry(t, c, &e));
	assert_true(e.ip == FAKE_VA(FN_BETA) && e.parent_ip == FAKE_VA(FN_ALPHA + 9));
	assert_false(next_entry(t, c, &e));
	ring_cursor_free(c);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

/* Sets of vCPUs are 64 bits: all of them are one that no shift makes. */
static void the_last_of_all_vcpus_is_recorded(void **state)
{
	struct trace *t = trace_started((struct trace_config){.vcpus = MACHINE_MAX_VCPUS});

	(void)state;
	assert_true(instance_cpumask(t->instances) == UINT64_MAX);
	assert_int_equal(instance_set_cpumask(t->instances, UINT64_MAX - 1), 0);
	assert_true(instance_cpumask(t->instances) == UINT64_MAX - 1);
	assert_int_equal(instance_set_cpumask(t->instances, UINT64_C(1) << 63), 0);
	assert_true(instance_cpumask(t->instances) == UINT64_C(1) << 63);
	/* As the lock order of a sanitizer's build has it. */
	trace_writers_stop(t);
	trace_writers_go(t);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* As when a signal comes while the guest's modules are read. */
static void what_is_given_up_has_not_failed(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct trace_status st;

	(void)state;
	trace_fail(t, -ECANCELED);
	trace_get_status(t, &st);
	assert_int_equal(st.error, 0);
	assert_false(st.done);
	trace_fail(t, -EIO);
	trace_get_status(t, &st);
	assert_int_equal(st.error, -EIO);
	assert_true(st.done);
	assert_int_equal(trace_detach(t), -EIO);
	trace_free(t);

	t = trace_started((struct trace_config){0});
	trace_fail(t, -ECANCELED);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void forget(const char *name)
{
	for (size_t i = 0; i < fake.nsyms; i++)
		if (!strcmp(fake.syms[i].name, name))
			fake.syms[i].name = "another";
	for (size_t i = 0; i < fake.nfields; i++)
		if (!strcmp(fake.fields[i].path, name))
			fake.fields[i].path = "another";
}

static void expect_no_trace(bool running, const char *why)
{
	char err[256] = "";
	const struct trace *t =
		trace_with((struct trace_config){.running = running}, err, sizeof(err));

	assert_null(t);
	assert_string_equal(err, why);
}

/* Nothing would say whose the records are, nor when: there are none then. */
static void kernels_that_do_not_tell_are_refused(void **state)
{
	(void)state;
	for (int running = 0; running < 2; running++) {
		guest_tear_down(NULL);
		guest_set_up(NULL);
		forget("current_task");
		expect_no_trace(running, "Linux 6.1.0-fake names its functions only, so tasks and "
					 "times would be wrong; give its vmlinux, or use one built "
					 "with CONFIG_KALLSYMS_ALL=y");
		forget("task_struct.pid");
		expect_no_trace(running, "Linux 6.1.0-fake has no types (BTF) and names its "
					 "functions only, so tasks and times would be wrong; use a "
					 "kernel built with CONFIG_DEBUG_INFO_BTF=y and "
					 "CONFIG_KALLSYMS_ALL=y");
		fake_symbol("pcpu_hot", PCPU_CURRENT, 'A');
		expect_no_trace(running,
				"Linux 6.1.0-fake has no types (BTF), so tasks and times would be "
				"wrong; use a kernel built with CONFIG_DEBUG_INFO_BTF=y");
	}
	assert_int_equal(fake.ntraps, 0);
}

static void state_flags_are_the_kernels(void **state)
{
	static const struct {
		uint32_t count;
		uint64_t thread_flags, rflags;
		uint16_t migration;
		uint8_t flags, preempt_count;
	} cases[] = {
		{0x80000000, 0, 0x202, 0, 0, 0},
		{0x80000000, 0, 0x002, 0, TRACE_FLAG_IRQS_OFF, 0},
		{0x80000002, 0, 0x202, 0, 0, 2},
		{0x80000030, 0, 0x202, 0, 0, 15},
		{0x80010001, 0, 0x002, 0, TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ, 1},
		{0x80000100, 0, 0x202, 0, TRACE_FLAG_SOFTIRQ, 0},
		{0x80000200, 0, 0x202, 0, TRACE_FLAG_BH_OFF, 0},
		{0x80100000, 0, 0x202, 0, TRACE_FLAG_NMI, 0},
		{0x00000000, 8, 0x202, 0, TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED, 0},
		{0x80000001, 0, 0x202, 3, 0, 0x31},
	};
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine_regs regs = {.rflags = cases[i].rflags};
		struct guest_state st;

		put(PER_CPU_AREA + PCPU_COUNT, cases[i].count, 4);
		put(TASK + TASK_FLAGS, cases[i].thread_flags, 8);
		put(TASK + TASK_MIGRATION, cases[i].migration, 2);
		guest_get_state(&t->guest, 0, &regs, &st);
		assert_int_equal(st.flags, cases[i].flags);
		assert_int_equal(st.preempt_count, cases[i].preempt_count);
		assert_int_equal(st.tgid, 41);
		assert_string_equal(st.comm, "tester");
	}
	trace_detach(t);
	trace_free(t);
}

/* A wild task pointer costs the record its task, nothing more. */
static void hostile_pointers_read_as_zero(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct machine_regs regs = {.rflags = 0x202};
	struct guest_state st;

	(void)state;
	put(PER_CPU_AREA + PCPU_CURRENT, UINT64_MAX - 3, 8);
	guest_get_state(&t->guest, 0, &regs, &st);
	assert_int_equal(st.pid, 0);
	assert_string_equal(st.comm, "");
	put(PER_CPU_AREA + PCPU_CURRENT, FAKE_DIRECT + FAKE_RAM - TASK_COMM - 8, 8);
	guest_get_state(&t->guest, 0, &regs, &st);
	assert_string_equal(st.comm, "");
	trace_detach(t);
	trace_free(t);
}

static uint64_t sched_clock(struct guest_kernel *g, uint64_t tsc, bool stable)
{
	struct guest_clock c;

	guest_get_clock(g, 0, stable, &c);
	return guest_clock_ns(&c, tsc);
}

static void clock_is_the_kernels(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct guest_kernel *g = &t->guest;
	uint32_t copy = PER_CPU_AREA + PCPU_CYC2NS;

	(void)state;
	/* Before the TSC is in use: jiffies, from their start in the image. */
	assert_true(sched_clock(g, 123456, false) == 0);
	put(JIFFIES, 0xffff0003, 8);
	assert_true(sched_clock(g, 123456, false) == 12000000);
	/* Two copies; the sequence count says which one holds. */
	put(USE_TSC, 1, 4);
	put(copy, 1 << 10, 4);
	put(copy + 4, 11, 4);
	put(copy + 8, 1000, 8);
	put(copy + 16, 1 << 10, 4);
	put(copy + 20, 10, 4);
	put(copy + 24, UINT64_MAX - 99, 8); /* -100 */
	assert_true(sched_clock(g, 4000, false) == 3000);
	put(copy + 32, 1, 4);
	assert_true(sched_clock(g, 4000, false) == 3900);
	put(CLOCK_OFFSET, 7, 8);
	assert_true(sched_clock(g, 4000, false) == 3900);
	assert_true(sched_clock(g, 4000, true) == 3907);
	trace_detach(t);
	trace_free(t);
}

static void sites_are_clean_while_ftrace_init_runs(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	uint32_t back = FN_START + 0x20;

	(void)state;
	assert_true(guest_calls(t, FN_FTRACE_INIT, FAKE_VA(back)));
	assert_int_equal(fake.ntraps, 1);
	assert_non_null(fake_trap(FAKE_VA(back)));
	/* The kernel turns its calls into NOPs and goes back to start_kernel(). */
	for (size_t i = 0; i < fake.nsites; i++)
		memcpy(fake_at(fake.sites[i].addr), nop5, sizeof(nop5));
	assert_true(guest_calls(t, back, 0));
	assert_int_equal(fake.ntraps, fake.nsites);
	assert_true(guest_calls(t, FN_ALPHA, 0));
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void detach_inside_ftrace_init_leaves_nothing(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	assert_true(guest_calls(t, FN_FTRACE_INIT, FAKE_VA(FN_START + 0x20)));
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void freed_init_memory_is_left_alone(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	assert_non_null(fake_trap(FAKE_VA(FN_SETUP)));
	assert_true(guest_calls(t, FN_FREE_INITMEM, 0));
	assert_null(fake_trap(FAKE_VA(FN_SETUP)));
	assert_non_null(fake_trap(FAKE_VA(FN_ALPHA)));
	/* Also when the probes come back for another reason. */
	assert_int_equal(probes_remove(t, 0, PROBE_FL_ONCE), 0);
	assert_int_equal(probes_insert(t, 0, PROBE_FL_ONCE), 0);
	assert_null(fake_trap(FAKE_VA(FN_SETUP)));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void guards_without_filter_record_nothing(void **state)
{
	const char *only_alpha = "alpha";
	struct trace *t =
		trace_started((struct trace_config){.filter = &only_alpha, .nr_filter = 1});
	struct trace_status st;

	(void)state;
	assert_true(guest_calls(t, FN_FREE_INITMEM, 0));
	trace_get_status(t, &st);
	assert_int_equal(st.hits, 0);
	assert_int_equal(st.sites, 1);
	trace_detach(t);
	trace_free(t);
}

static char noted[256];

static void note(void *arg, const char *line)
{
	(void)arg;
	snprintf(noted, sizeof(noted), "%s", line);
}

/* The list of functions has one of the names at an address. */
static void other_names_are_taken(void **state)
{
	const char *other = "alpha_otherwise";
	char err[256] = "";
	struct trace *t;
	struct trace_status st;

	(void)state;
	fake_symbol(other, FAKE_VA(FN_ALPHA), 't');
	t = trace_with((struct trace_config){.filter = &other, .nr_filter = 1, .message = note},
		       err, sizeof(err));
	if (!t)
		fail_msg("%s", err);
	assert_string_equal(noted,
			    "alpha_otherwise is a name of alpha: the trace shows it by that");
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), 0);
	trace_get_status(t, &st);
	assert_int_equal(st.sites, 1);
	trace_detach(t);
	trace_free(t);
}

static void unknown_bytes_are_left_out(void **state)
{
	struct trace *t;
	struct trace_status st;

	(void)state;
	memset(fake_at(FAKE_VA(FN_BETA)), 0x90, 5);
	*fake_at(FAKE_VA(FN_ALPHA) + 2) ^= 1; /* a call, but to somewhere else */
	t = trace_started((struct trace_config){0});
	trace_get_status(t, &st);
	assert_int_equal(st.sites, 4);
	assert_int_equal(st.skipped, 2);
	assert_null(fake_trap(FAKE_VA(FN_BETA)));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void until_ends_the_trace_with_its_record(void **state)
{
	struct trace *t = trace_started((struct trace_config){.until = "beta"});
	struct trace_status st;

	(void)state;
	guest_calls(t, FN_ALPHA, 0);
	assert_int_equal(fake.woken, 0);
	guest_calls(t, FN_BETA, 0);
	guest_calls(t, FN_ALPHA, 0);
	trace_get_status(t, &st);
	assert_true(st.done);
	assert_int_equal(fake.woken, 1);
	assert_int_equal(entries(t), 2);
	trace_detach(t);
	trace_free(t);
}

static void until_works_without_a_site(void **state)
{
	struct trace *t = trace_started((struct trace_config){.until = "start_kernel"});
	struct trace_status st;

	(void)state;
	assert_true(guest_calls(t, FN_START, 0));
	trace_get_status(t, &st);
	assert_true(st.done);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* --- a kernel that crashes ------------------------------------------------------------------- */

/* What was said since, in lines; the first ones do. */
struct said {
	char text[4096];
};

static void say(void *arg, const char *text)
{
	struct said *said = arg;
	size_t len = strlen(said->text);

	snprintf(said->text + len, sizeof(said->text) - len, "%s\n", text);
}

/* A guest whose function beta is called otherwise. */
static struct trace *crash_started(struct trace_config cfg, const char *name, struct said *said)
{
	for (size_t i = 0; i < fake.nsites; i++)
		if (!strcmp(fake.sites[i].name, "beta"))
			fake.sites[i].name = name;
	fake_symbol(name, FAKE_VA(FN_BETA), 'T');
	cfg.message = say;
	cfg.message_arg = said;
	*said->text = '\0';
	return trace_started(cfg);
}

static void guest_crashes(struct trace *t)
{
	guest_calls(t, FN_BETA, FAKE_VA(FN_START));
	assert_int_equal(fake.paused, 0);
	trace_tell_crash(t);
}

static void crash_over(struct trace *t)
{
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void panics_stop_and_dump(void **state)
{
	static struct said said;
	struct trace *t = crash_started((struct trace_config){.on_panic = TRACE_ON_PANIC_DUMP},
					"panic", &said);
	struct trace_status st;

	(void)state;
	guest_calls(t, FN_ALPHA, FAKE_VA(FN_START));
	guest_crashes(t);
	guest_calls(t, FN_ALPHA, FAKE_VA(FN_START));
	assert_false(instance_is_on(trace_top(t)));
	assert_int_equal(entries(t), 2);
	trace_get_status(t, &st);
	assert_false(st.panicked); /* it is a boot: something else will end it */
	assert_false(st.done);
	assert_non_null(strstr(said.text, "the guest's kernel panics\n"
					  "Dumping ftrace buffer:\n"
					  "---------------------------------\n"));
	assert_non_null(strstr(said.text, ": alpha <-start_kernel\n"));
	assert_null(strchr(said.text, '#'));
	crash_over(t);
}

static void panics_may_be_ignored(void **state)
{
	static struct said said;
	struct trace *t = crash_started((struct trace_config){0}, "panic", &said);

	(void)state;
	guest_crashes(t);
	guest_calls(t, FN_ALPHA, FAKE_VA(FN_START));
	assert_true(instance_is_on(trace_top(t)));
	assert_int_equal(entries(t), 2);
	assert_string_equal(said.text, "the guest's kernel panics\n");
	crash_over(t);
}

static void panics_are_snapped(void **state)
{
	static struct said said;
	struct trace *t = crash_started((struct trace_config){.on_panic = TRACE_ON_PANIC_SNAPSHOT},
					"panic", &said);

	(void)state;
	guest_calls(t, FN_ALPHA, FAKE_VA(FN_START));
	guest_crashes(t);
	guest_calls(t, FN_ALPHA, FAKE_VA(FN_START));
	assert_true(instance_has_snapshot(trace_top(t)));
	assert_int_equal(entries(t), 1); /* what came behind it */
	crash_over(t);
}

static void oopses_dump_as_they_are_told(void **state)
{
	static const struct {
		const char *value;
		unsigned int dumps;
		const char *says;
	} cases[] = {
		{"0", 0, "recording stops"},
		{"1", 1, "Dumping ftrace buffer:\n---------------------------------\n"},
		{"2", 1, "Dumping ftrace buffer:\n---------------------------------\n"},
		{"orig_cpu", 1, "Dumping ftrace buffer:\n"},
		{"0,foo=2", 1, "Dumping ftrace instance foo buffer:\n   (ftrace buffer empty)\n"},
		{"foo", 1, "Dumping ftrace instance foo buffer:\n"},
		{"1,foo", 2, "Dumping ftrace instance foo buffer:\n"},
		{"bar", 0, "Instance bar not found\n"},
		{",,=", 0, "Instance  not found\n"},
	};
	static struct said said;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int dumps = 0;
		struct trace *t;

		if (i) {
			guest_tear_down(state);
			guest_set_up(state);
		}
		t = crash_started((struct trace_config){0}, "oops_enter", &said);
		assert_int_equal(instance_new(t, "foo"), 0);
		assert_int_equal(trace_set_dump_on_oops(t, cases[i].value), 0);
		guest_crashes(t);
		guest_crashes(t); /* nothing new to be seen */
		for (const char *at = said.text; (at = strstr(at, "Dumping")); at++)
			dumps++;
		assert_int_equal(dumps, cases[i].dumps);
		assert_non_null(strstr(said.text, cases[i].says));
		assert_false(instance_is_on(trace_top(t)));
		assert_int_equal(entries(t), 1);
		crash_over(t);
	}
}

static void values_have_a_length(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	char value[DUMP_ON_OOPS_MAX + 1];

	(void)state;
	memset(value, 'a', sizeof(value));
	value[DUMP_ON_OOPS_MAX] = '\0';
	assert_int_equal(trace_set_dump_on_oops(t, value), -EINVAL);
	assert_int_equal(trace_set_dump_on_oops(t, ""), -EINVAL);
	trace_dump_on_oops(t, value);
	assert_string_equal(value, "0");
	crash_over(t);
}

static void taints_by(struct trace *t, uint64_t flag)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK), .rdi = flag, .rflags = 0x202};
	struct machine_hit hit = {.va = FAKE_VA(FN_BETA), .regs = &regs};

	hit.cookie = fake_trap(hit.va)->cookie;
	trace_trap(t, &hit);
	trace_tell_crash(t);
}

/* They are told of, and recording goes on. */
static void stalls_are_noticed(void **state)
{
	static struct said said;
	struct trace *t = crash_started((struct trace_config){0}, "add_taint", &said);

	(void)state;
	taints_by(t, 9); /* TAINT_WARN */
	assert_string_equal(said.text, "");
	taints_by(t, 14);
	assert_string_equal(said.text, "vCPU 0: the guest's watchdog reports a soft lockup\n");
	assert_true(instance_is_on(trace_top(t)));
	crash_over(t);
	guest_tear_down(state);
	guest_set_up(state);
	t = crash_started((struct trace_config){0}, "rcu_check_gp_kthread_starvation", &said);
	guest_crashes(t);
	assert_string_equal(said.text, "vCPU 0: the guest's kernel reports an RCU stall\n");
	assert_true(instance_is_on(trace_top(t)));
	crash_over(t);
}

/* Again only once something was recorded in between. */
static void sysrq_z_dumps(void **state)
{
	static struct said said;
	struct trace *t = crash_started((struct trace_config){0}, "sysrq_ftrace_dump", &said);

	(void)state;
	guest_crashes(t);
	assert_non_null(strstr(said.text, " <-start_kernel\n"));
	assert_false(instance_is_on(trace_top(t)));
	*said.text = '\0';
	guest_crashes(t);
	assert_string_equal(said.text, "");
	instance_set_on(trace_top(t), true);
	guest_crashes(t);
	assert_non_null(strstr(said.text, "Dumping"));
	crash_over(t);
}

static void errors_end_the_trace(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct trace_status st;

	(void)state;
	trace_fail(t, -EFAULT);
	trace_get_status(t, &st);
	assert_true(st.done);
	assert_int_equal(fake.woken, 1);
	assert_int_equal(trace_detach(t), -EFAULT);
	trace_free(t);
}

/* How it has ended is what the machine tells, a little later. */
static void a_guest_that_has_gone_is_waited_for(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct trace_status st;

	(void)state;
	trace_fail(t, -ECONNRESET);
	trace_get_status(t, &st);
	assert_false(st.done);
	assert_int_equal(fake.woken, 0);
	assert_int_equal(trace_detach(t), -ECONNRESET);
	trace_free(t);
}

static void max_events_is_exact(void **state)
{
	struct trace *t = trace_started((struct trace_config){.max_events = 3});
	struct trace_status st;

	(void)state;
	for (int i = 0; i < 10; i++)
		guest_calls(t, FN_ALPHA, 0);
	trace_get_status(t, &st);
	assert_int_equal(st.hits, 3);
	assert_true(st.done);
	assert_int_equal(entries(t), 3);
	trace_detach(t);
	trace_free(t);
}

static void wrong_configurations_are_explained(void **state)
{
	const char *nothing = "zz*", *all = "*", *slip = "betta";
	const struct {
		struct trace_config cfg;
		const char *says;
	} cases[] = {
		{{.tracer = "nosuch"},
		 "unknown tracer 'nosuch'; there are: blk, mmiotrace, hw-branch-tracer, branch, hwlat, function_graph, wakeup_dl, wakeup_rt, wakeup, "
		 "preemptirqsoff, preemptoff, irqsoff, function, sched_switch, nop"},
		{{.clock = "sundial"}, "unknown clock 'sundial'"},
		{{.filter = &nothing, .nr_filter = 1}, "filter 'zz*' matches none"},
		{{.notrace = &nothing, .nr_notrace = 1}, "notrace 'zz*' matches none"},
		{{.notrace = &all, .nr_notrace = 1}, "leave no function"},
		{{.until = "gamma"}, "until 'gamma': the kernel has no such function"},
		{{.until = "alhpa"}, "no such function; did you mean alpha?"},
		{{.filter = &slip, .nr_filter = 1}, "; did you mean beta? ("},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char err[256] = "";

		assert_null(trace_with(cases[i].cfg, err, sizeof(err)));
		if (!strstr(err, cases[i].says))
			fail_msg("'%s' does not say '%s'", err, cases[i].says);
	}
}

static void failed_patching_is_told(void **state)
{
	char err[256] = "";
	struct trace *t = trace_with((struct trace_config){0}, err, sizeof(err));

	(void)state;
	fake.trap_error = -EFAULT;
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), -EFAULT);
	assert_non_null(strstr(err, "cannot place the probes"));
	fake.trap_error = 0;
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), 0);
	fake.trap_error = -EFAULT;
	assert_int_equal(trace_detach(t), -EFAULT);
	trace_free(t);
}

static void guests_that_go_meanwhile_are_not_complained_of(void **state)
{
	char err[256] = "";
	struct trace *t;

	(void)state;
	for (int goes = 0; goes < 2; goes++) {
		fake.trap_error = 0;
		fake.ntraps = 0;
		fake.goes = goes;
		t = trace_with((struct trace_config){0}, err, sizeof(err));
		assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), 0);
		fake.trap_error = -ECONNRESET;
		assert_int_equal(trace_detach(t), goes ? 0 : -ECONNRESET);
		trace_free(t);
	}
}

static void write_functions(struct trace *t, enum func_file_kind kind, const char *text)
{
	struct func_file *file;

	trace_change_begin(t);
	assert_int_equal(func_file_open(instance_functions(trace_top(t)), kind, O_WRONLY, &file),
			 0);
	assert_int_equal(func_file_write(file, text, strlen(text)), strlen(text));
	func_file_close(file);
	trace_change_end(t);
}

/* What is written to files arrives where the records are made. */
static void graphs_are_filtered(void **state)
{
	const struct graph_filter *f;
	struct trace *t;

	(void)state;
	t = trace_started((struct trace_config){0});
	f = &trace_top(t)->graph;
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 7, true, 0), GRAPH_CALL_SHOWN);
	write_functions(t, FUNC_GRAPH, "alpha\n");
	write_functions(t, FUNC_GRAPH_NOTRACE, "beta\n");
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 0, false, 0),
			 GRAPH_CALL_SHOWN | GRAPH_CALL_NAMED);
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_BETA), 0, false, 0), GRAPH_CALL_HUSHED);
	trace_set_graph_depth(t, 3);
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 3, false, GRAPH_CALL_NAMED), 0);
	instance_set_tracer_option(trace_top(t), "function_graph", OUTPUT_GRAPH_IRQS, false);
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 1, true, GRAPH_CALL_NAMED), 0);
	assert_true(graph_filter_enters(f, GRAPH_CALL_SHOWN));
	trace_set_thresh(t, 1000);
	assert_false(graph_filter_enters(f, GRAPH_CALL_SHOWN));
	assert_false(graph_filter_leaves(f, GRAPH_CALL_SHOWN, 999));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hits_become_records),
		TEST(the_last_of_all_vcpus_is_recorded),
		TEST(state_flags_are_the_kernels),
		TEST(kernels_that_do_not_tell_are_refused),
		TEST(what_is_given_up_has_not_failed),
		TEST(hostile_pointers_read_as_zero),
		TEST(clock_is_the_kernels),
		TEST(sites_are_clean_while_ftrace_init_runs),
		TEST(detach_inside_ftrace_init_leaves_nothing),
		TEST(freed_init_memory_is_left_alone),
		TEST(guards_without_filter_record_nothing),
		TEST(other_names_are_taken),
		TEST(unknown_bytes_are_left_out),
		TEST(until_ends_the_trace_with_its_record),
		TEST(until_works_without_a_site),
		TEST(panics_stop_and_dump),
		TEST(panics_may_be_ignored),
		TEST(panics_are_snapped),
		TEST(oopses_dump_as_they_are_told),
		TEST(values_have_a_length),
		TEST(stalls_are_noticed),
		TEST(sysrq_z_dumps),
		TEST(errors_end_the_trace),
		TEST(a_guest_that_has_gone_is_waited_for),
		TEST(max_events_is_exact),
		TEST(wrong_configurations_are_explained),
		TEST(failed_patching_is_told),
		TEST(guests_that_go_meanwhile_are_not_complained_of),
		TEST(graphs_are_filtered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
