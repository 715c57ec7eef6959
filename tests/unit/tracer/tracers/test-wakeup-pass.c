// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-wakeup-pass.c - what the wakeup tracers keep of a pass of the collector's in which there are
 * many latencies, each longer than the one before. Records are the test's, and so is the count of
 * what is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/core/lock.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/instance/view.h"
#include "tracer/tracers/sched-records.h"
#include "tracer/tracers/tracers.h"

enum { IDLE = 120, RT = 49, PID = 7, MANY = 1000 };

static struct trace *t;
static struct instance *top;
static const struct tracer_ops *tracer_before;
static struct sched_record now; /* what the event that is collected says */
static uint64_t ts;
static unsigned int kept;

/* --- in place of others (tests/build.mk) ----------------------------------------------------- */

int __wrap_sched_records_init(struct sched_records *s, const struct guestsym_event_list *list,
			      const uint32_t *events, unsigned int n);
bool __wrap_sched_records_read(struct sched_records *s, unsigned int which,
			       const struct event_data *data, struct sched_record *to);
void __real_instance_keep_max(struct instance *i, const struct max_window *w,
			      const struct output_latency *latency);
void __wrap_instance_keep_max(struct instance *i, const struct max_window *w,
			      const struct output_latency *latency);

int __wrap_sched_records_init(struct sched_records *s, const struct guestsym_event_list *list,
			      const uint32_t *events, unsigned int n)
{
	(void)s;
	(void)list;
	(void)events;
	(void)n;
	return 0;
}

bool __wrap_sched_records_read(struct sched_records *s, unsigned int which,
			       const struct event_data *data, struct sched_record *to)
{
	(void)s;
	(void)which;
	(void)data;
	*to = now;
	return true;
}

void __wrap_instance_keep_max(struct instance *i, const struct max_window *w,
			      const struct output_latency *latency)
{
	kept++;
	__real_instance_keep_max(i, w, latency);
}

/* --- what the guest does --------------------------------------------------------------------- */

static void happens(enum sched_record_kind kind, unsigned int vcpu, int32_t prev, int32_t next)
{
	struct event_view v;
	struct trace_entry e = {.pid = PID};

	now = (struct sched_record){
		.ts = ts,
		.vcpu = vcpu,
		.kind = kind,
		.prev_pid = prev,
		.next_pid = next,
		.prev_prio = IDLE,
		.next_prio = RT,
		.next_cpu = vcpu,
		.next_comm = "seven",
	};
	event_view_init(&v, top, vcpu, &e, sizeof(e), ts, NULL);
	wakeup_rt_tracer_ops.event(top, 0, &v);
}

static void waits(unsigned int vcpu, uint64_t ns)
{
	ts += 10;
	happens(SCHED_WOKEN, vcpu, 0, PID);
	ts += ns;
	happens(SCHED_SWITCHED, vcpu, 0, PID);
}

/* What has come by the end of a pass is certain by that of the next one. */
static void pass_ends(void)
{
	wakeup_rt_tracer_ops.pass(top, 0);
	wakeup_rt_tracer_ops.pass(top, 0);
}

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	t = tramp_started((struct trace_config){0});
	top = t->instances;
	tracer_before = top->tracer;
	ts = 1000;
	kept = 0;
	assert_int_equal(wakeup_rt_tracer_ops.init(top, &top->tracer_data, NULL), 0);
	trace_writers_stop(t); /* the collector is this test */
	top->tracer = &wakeup_rt_tracer_ops;
	wakeup_rt_tracer_ops.start(top);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	wakeup_rt_tracer_ops.exit(top->tracer_data);
	top->tracer = tracer_before;
	top->tracer_data = NULL;
	trace_writers_go(t);
	tramp_end(t);
	free(fake.ram);
	return 0;
}

static void max_is(uint64_t ns, unsigned int cpu)
{
	assert_int_equal(top->max_latency, ns);
	assert_int_equal(top->max.ns, ns);
	assert_int_equal(top->max.cpu, cpu);
	assert_int_equal(top->max.pid, PID);
	assert_string_equal(top->max.comm, "seven");
}

/* --- tests ----------------------------------------------------------------------------------- */

static void the_longest_of_a_pass_is_kept(void **state)
{
	uint64_t start;

	(void)state;
	for (uint64_t n = 1; n <= MANY; n++)
		waits(0, 100 + n);
	start = ts - 100 - MANY;
	waits(1, 100 + MANY); /* no longer */
	waits(1, 50);
	pass_ends();
	max_is(100 + MANY, 0);
	assert_int_equal(top->max_start, start);
	assert_int_equal(kept, 1);
}

/* What was kept before is not forgotten for a shorter one, nor kept again. */
static void a_pass_without_a_longer_one_keeps_none(void **state)
{
	(void)state;
	waits(1, 500);
	pass_ends();
	waits(0, 400);
	pass_ends();
	max_is(500, 1);
	assert_int_equal(kept, 1);
	waits(0, 501);
	pass_ends();
	max_is(501, 0);
	assert_int_equal(kept, 2);
}

static void with_a_threshold_the_last_is_kept(void **state)
{
	(void)state;
	t->thresh = 200;
	for (uint64_t n = MANY; n; n--)
		waits(0, 200 + n);
	waits(1, 200);
	waits(0, 199);
	pass_ends();
	max_is(200, 1);
	assert_int_equal(kept, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_longest_of_a_pass_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pass_without_a_longer_one_keeps_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(with_a_threshold_the_last_is_kept, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("wakeup-pass", tests, NULL, NULL);
}
