// SPDX-License-Identifier: GPL-2.0-or-later
/* test-wakeup.c - which wakeup the wakeup tracers wait for, and in which order they learn of
 * things. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tracer/tracers/sched-queue.h"
#include "tracer/tracers/wakeup-wait.h"

enum { IDLE = 120, NICE = 110, RT = 49, RT_MORE = 9, DEADLINE = -1 };

static struct sched_record woken(uint64_t ts, unsigned int vcpu, int32_t pid, int32_t prio)
{
	return (struct sched_record){.ts = ts,
				     .vcpu = vcpu,
				     .kind = SCHED_WOKEN,
				     .prev_prio = IDLE,
				     .next_pid = pid,
				     .next_prio = prio,
				     .next_cpu = vcpu};
}

static struct sched_record switched(uint64_t ts, unsigned int vcpu, int32_t from, int32_t to)
{
	return (struct sched_record){
		.ts = ts, .vcpu = vcpu, .prev_pid = from, .next_pid = to, .next_cpu = vcpu};
}

/* The latency that ends with this; 0: none does. */
static uint64_t step(struct wakeup *w, struct sched_record r)
{
	return wakeup_step(w, &r) ? r.ts - w->woken.ts : 0;
}

static void a_wakeup_ends_when_its_task_runs(void **state)
{
	struct wakeup w = {.kind = WAKEUP_ANY};

	(void)state;
	assert_int_equal(step(&w, woken(100, 0, 7, NICE)), 0);
	assert_int_equal(step(&w, switched(110, 0, 0, 8)), 0);
	assert_int_equal(step(&w, switched(130, 0, 8, 7)), 30);
	assert_int_equal(step(&w, switched(140, 0, 8, 7)), 0);
}

static void who_is_less_urgent_than_the_waker_is_not_waited_for(void **state)
{
	struct wakeup w = {.kind = WAKEUP_ANY};
	struct sched_record same = woken(100, 0, 7, IDLE);

	(void)state;
	assert_int_equal(step(&w, same), 0);
	assert_int_equal(step(&w, switched(150, 0, 0, 7)), 0);
}

static void only_who_is_more_urgent_takes_the_place(void **state)
{
	struct wakeup w = {.kind = WAKEUP_REALTIME};

	(void)state;
	step(&w, woken(100, 0, 5, NICE));
	assert_int_equal(step(&w, switched(105, 0, 0, 5)), 0);
	step(&w, woken(110, 0, 7, RT));
	step(&w, woken(120, 1, 8, RT)); /* no more urgent */
	assert_int_equal(step(&w, switched(130, 1, 0, 8)), 0);
	step(&w, woken(140, 1, 9, RT_MORE));
	assert_int_equal(step(&w, switched(150, 0, 0, 7)), 0);
	assert_int_equal(step(&w, switched(165, 1, 0, 9)), 25);
}

static void deadline_tasks_give_way_to_none(void **state)
{
	struct wakeup w = {.kind = WAKEUP_DEADLINE};

	(void)state;
	step(&w, woken(100, 0, 7, RT_MORE));
	assert_int_equal(step(&w, switched(101, 0, 0, 7)), 0);
	step(&w, woken(110, 0, 8, DEADLINE));
	step(&w, woken(120, 1, 9, DEADLINE));
	assert_int_equal(step(&w, switched(130, 1, 0, 9)), 0);
	assert_int_equal(step(&w, switched(145, 0, 0, 8)), 35);
}

static void who_has_moved_is_found(void **state)
{
	struct wakeup w = {.kind = WAKEUP_REALTIME};

	(void)state;
	step(&w, woken(100, 0, 7, RT));
	assert_int_equal(step(&w, switched(160, 3, 0, 7)), 60);
	assert_int_equal(w.woken.next_cpu, 0);
}

static void functions_are_those_of_where_it_waits(void **state)
{
	struct wakeup w = {.kind = WAKEUP_REALTIME};
	struct sched_record move = {
		.ts = 130, .kind = SCHED_MOVED, .next_pid = 7, .next_prio = RT, .next_cpu = 2};
	struct sched_record other = {.ts = 110, .kind = SCHED_MOVED, .next_pid = 8, .next_cpu = 3};

	(void)state;
	step(&w, woken(100, 1, 7, RT));
	step(&w, other);
	assert_true(wakeup_waited_on(&w, 1, 120));
	assert_false(wakeup_waited_on(&w, 0, 120));
	assert_int_equal(step(&w, move), 0);
	assert_int_equal(step(&w, switched(160, 2, 0, 7)), 60);
	assert_true(wakeup_waited_on(&w, 1, 129));
	assert_false(wakeup_waited_on(&w, 1, 131));
	assert_false(wakeup_waited_on(&w, 2, 129));
	assert_true(wakeup_waited_on(&w, 2, 131));
	assert_false(wakeup_waited_on(&w, 3, 131));
}

/* A lost switch would make the next one look late. */
static void who_has_run_unseen_is_not_waited_for(void **state)
{
	struct wakeup w = {.kind = WAKEUP_REALTIME};

	(void)state;
	step(&w, woken(100, 0, 7, RT));
	step(&w, switched(900, 0, 7, 0));
	assert_int_equal(step(&w, switched(950, 0, 0, 7)), 0);
	step(&w, woken(1000, 0, 7, RT));
	step(&w, woken(2000, 0, 7, RT));
	assert_int_equal(step(&w, switched(2010, 0, 0, 7)), 10);
}

/* --- order ----------------------------------------------------------------------------------- */

static void add(struct sched_queue *q, struct sched_record r)
{
	assert_int_equal(sched_queue_add(q, &r), 0);
}

static void next_is(struct sched_queue *q, uint64_t ts)
{
	struct sched_record r;

	assert_true(sched_queue_next(q, &r));
	assert_int_equal(r.ts, ts);
}

static void nothing_is_next(struct sched_queue *q)
{
	struct sched_record r;

	assert_false(sched_queue_next(q, &r));
}

static void records_come_by_time(void **state)
{
	struct sched_queue q = {.certain = 0};

	(void)state;
	add(&q, woken(100, 0, 7, RT));
	sched_queue_pass(&q, 0);
	nothing_is_next(&q); /* vCPU 1 may have recorded something before */
	add(&q, switched(90, 1, 0, 7));
	add(&q, switched(120, 1, 7, 0));
	sched_queue_pass(&q, 0);
	next_is(&q, 90);
	next_is(&q, 100);
	nothing_is_next(&q);
	sched_queue_pass(&q, 1 << 1); /* certain up to its last */
	next_is(&q, 120);
	add(&q, woken(200, 0, 7, RT));
	sched_queue_pass(&q, 0);
	sched_queue_pass(&q, 1 << 1);
	nothing_is_next(&q);
	sched_queue_pass(&q, 0);
	next_is(&q, 200);
	sched_queue_exit(&q);
}

static void there_is_an_end_to_what_is_kept(void **state)
{
	struct sched_queue q = {.certain = 0};
	struct sched_record r = woken(1, 0, 7, RT);

	(void)state;
	for (uint64_t k = 0; k < SCHED_QUEUE_MAX; k++)
		add(&q, woken(k, 0, 7, RT));
	assert_int_equal(sched_queue_add(&q, &r), -ENOMEM);
	sched_queue_clear(&q);
	add(&q, r);
	sched_queue_pass(&q, 0);
	sched_queue_pass(&q, 0);
	next_is(&q, 1);
	sched_queue_exit(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wakeup_ends_when_its_task_runs),
		cmocka_unit_test(who_is_less_urgent_than_the_waker_is_not_waited_for),
		cmocka_unit_test(only_who_is_more_urgent_takes_the_place),
		cmocka_unit_test(deadline_tasks_give_way_to_none),
		cmocka_unit_test(who_has_moved_is_found),
		cmocka_unit_test(functions_are_those_of_where_it_waits),
		cmocka_unit_test(who_has_run_unseen_is_not_waited_for),
		cmocka_unit_test(records_come_by_time),
		cmocka_unit_test(there_is_an_end_to_what_is_kept),
	};

	return cmocka_run_group_tests_name("wakeup", tests, NULL, NULL);
}
