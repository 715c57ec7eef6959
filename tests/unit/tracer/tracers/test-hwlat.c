// SPDX-License-Identifier: GPL-2.0-or-later
/* test-hwlat.c - waits of vCPUs that the host tells of, as the tracer hwlat shows them. */
#include "tests/unit/tracefs-world.h"

#include <errno.h>
#include <stdio.h>

#include "tracer/tracers/hwlat-sample.h"
#include "tracer/instance/files.h"
#include "tracer/tracer.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

/* --- one sample ------------------------------------------------------------------------------ */

static void waits_are_told_apart(void **state)
{
	struct machine_delay d = {.ns = 7000 * MS, .runs = 100};
	struct hwlat_sample s;

	(void)state;
	hwlat_sample_begin(&s, &d);
	hwlat_sample_look(&s, &d, 10);
	assert_false(hwlat_sample_exceeds(&s, 10));
	d.ns += 10 * US; /* no more than the threshold */
	d.runs++;
	hwlat_sample_look(&s, &d, 10);
	assert_false(hwlat_sample_exceeds(&s, 10));
	assert_int_equal(s.count, 0);
	d.ns += 500 * US;
	d.runs++;
	hwlat_sample_look(&s, &d, 10);
	assert_true(hwlat_sample_exceeds(&s, 10));
	assert_int_equal(s.longest, 500 * US);
	assert_true(s.first.tv_sec > 0);
	d.ns += 900 * US; /* three, of which the longest was at least a third of that */
	d.runs += 3;
	hwlat_sample_look(&s, &d, 10);
	assert_int_equal(s.longest, 500 * US);
	assert_int_equal(s.total, 1410 * US);
	assert_int_equal(s.count, 2);
}

/* --- the files ------------------------------------------------------------------------------- */

static void files_are_the_kernels(void **state)
{
	struct world *w = *state;

	expect(w, "hwlat_detector/window", "1000000\n");
	expect(w, "hwlat_detector/width", "500000\n");
	expect(w, "hwlat_detector/mode", "none [round-robin] per-cpu\n");
	assert_int_equal(put(w, "hwlat_detector/width", 0, "1000001"), -EINVAL);
	assert_int_equal(put(w, "hwlat_detector/window", 0, "499999"), -EINVAL);
	assert_int_equal(put(w, "hwlat_detector/width", 0, "x"), -EINVAL);
	assert_int_equal(put(w, "hwlat_detector/width", 0, "99999999999999999999"), -ERANGE);
	assert_int_equal(put(w, "hwlat_detector/width", 0, "1000000"), 7);
	expect(w, "hwlat_detector/width", "1000000\n");
	assert_int_equal(put(w, "hwlat_detector/mode", 0, "all\n"), -EINVAL);
	assert_int_equal(put(w, "hwlat_detector/mode", 0, " per-cpu\n"), 9);
	expect(w, "hwlat_detector/mode", "none round-robin [per-cpu]\n");
}

/* --- the tracer ------------------------------------------------------------------------------ */

static void attach(struct world *w)
{
	char err[256] = "";

	for (unsigned int v = 0; v < FAKE_VCPUS; v++)
		fake.delay[v] = (struct machine_delay){.ns = 1, .runs = 1};
	if (trace_attach(w->trace, (struct machine *)&fake, err, sizeof(err)))
		fail_msg("%s", err);
}

/* A vCPU waits so long, each time that it is looked for whether that has been told. */
static void waits_until_told(struct world *w, unsigned int vcpu, uint64_t ns)
{
	do {
		pthread_mutex_lock(&fake_lock);
		fake.delay[vcpu].ns += ns;
		fake.delay[vcpu].runs++;
		pthread_mutex_unlock(&fake_lock);
	} while (!instance_wait(trace_top(w->trace), ALL_VCPUS, 1));
}

static void a_wait_is_recorded(void **state)
{
	unsigned long inner, outer, secs, nsecs, count, cpu;
	struct world *w = *state;
	char text[16384], *at;
	unsigned int seq;

	attach(w);
	assert_int_equal(put(w, "hwlat_detector/mode", 0, "per-cpu"), 7);
	assert_int_equal(put(w, "hwlat_detector/width", 0, "20000"), 5);
	assert_int_equal(put(w, "hwlat_detector/window", 0, "20000"), 5);
	assert_int_equal(put(w, "current_tracer", 0, "hwlat"), 5);
	waits_until_told(w, 1, 2 * MS);
	assert_int_equal(put(w, "tracing_on", 0, "0"), 1);
	get(w, "trace", text, sizeof(text));
	at = strstr(text, ": #1 ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, ": #%u inner/outer(us): %lu/%lu ts:%lu.%lu count:%lu\n", &seq,
				&inner, &outer, &secs, &nsecs, &count),
			 6);
	assert_int_equal(inner, 2000);
	assert_true(count >= 1 && outer >= count * 2000 && outer % 2000 == 0);
	while (*--at != '[')
		assert_true(at > text);
	assert_int_equal(sscanf(at, "[%lu]", &cpu), 1);
	assert_int_equal(cpu, 1);
	expect(w, "tracing_max_latency", "2000\n");
	assert_int_equal(put(w, "current_tracer", 0, "nop"), 3);
	trace_detach(w->trace);
}

/* In turns, but only those that tracing_cpumask has. */
static void one_vcpu_after_the_other(void **state)
{
	struct world *w = *state;
	char text[16384];

	attach(w);
	assert_int_equal(put(w, "hwlat_detector/width", 0, "2000"), 4);
	assert_int_equal(put(w, "hwlat_detector/window", 0, "2000"), 4);
	assert_int_equal(put(w, "tracing_cpumask", 0, "1"), 1);
	assert_int_equal(put(w, "current_tracer", 0, "hwlat"), 5);
	waits_until_told(w, 0, 1 * MS);
	assert_int_equal(put(w, "tracing_on", 0, "0"), 1);
	assert_int_equal(put(w, "tracing_cpumask", 0, "3"), 1);
	assert_int_equal(put(w, "trace", O_TRUNC, ""), 0);
	assert_int_equal(put(w, "tracing_on", 0, "1"), 1);
	waits_until_told(w, 1, 1 * MS);
	get(w, "trace", text, sizeof(text));
	assert_non_null(strstr(text, "[001]"));
	assert_int_equal(put(w, "current_tracer", 0, "nop"), 3);
	trace_detach(w->trace);
}

/* Its threshold is its own, and it is the tracer of one instance only. */
static void threshold_and_instances(void **state)
{
	struct world *w = *state;
	view_id dir, id;

	attach(w);
	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), 0);
	expect(w, "tracing_thresh", "0\n");
	assert_int_equal(put(w, "current_tracer", 0, "hwlat"), 5);
	expect(w, "tracing_thresh", "10\n");
	assert_int_equal(put(w, "instances/foo/current_tracer", 0, "hwlat"), -EBUSY);
	assert_int_equal(put(w, "tracing_thresh", 0, "70"), 2);
	assert_int_equal(put(w, "current_tracer", 0, "nop"), 3);
	expect(w, "tracing_thresh", "0\n");
	assert_int_equal(put(w, "instances/foo/current_tracer", 0, "hwlat"), 5);
	expect(w, "tracing_thresh", "70\n");
	trace_detach(w->trace);
	/* What it was is still to be seen; the thread ends with the trace. */
	expect(w, "instances/foo/current_tracer", "hwlat\n");
}

static void a_host_that_does_not_tell(void **state)
{
	struct world *w = *state;

	attach(w);
	fake.delay_error = -EOPNOTSUPP;
	assert_int_equal(put(w, "current_tracer", 0, "hwlat"), -EOPNOTSUPP);
	expect(w, "current_tracer", "nop\n");
	/* Not yet: the vCPU's thread has not begun. */
	fake.delay_error = -EAGAIN;
	assert_int_equal(put(w, "current_tracer", 0, "hwlat"), 5);
	assert_int_equal(put(w, "current_tracer", 0, "nop"), 3);
	trace_detach(w->trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_told_apart),
		cmocka_unit_test_setup_teardown(files_are_the_kernels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_wait_is_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_vcpu_after_the_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threshold_and_instances, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_host_that_does_not_tell, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("hwlat", tests, NULL, NULL);
}
