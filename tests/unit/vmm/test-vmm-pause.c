// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-pause.c - pausing from everywhere at once: nobody runs who should stand, nobody hangs.
 */
#include "tests/unit/testguest.h"

static uint64_t work_total(const struct guest *g)
{
	_Atomic uint64_t *count = guest_var(g, "work_count");
	uint64_t n = 0;

	for (unsigned int i = 0; i < 2 * GUEST_NR_WORK; i++)
		n += count[i];
	return n;
}

static void start_work(struct guest *g)
{
	guest_new(g, 2, "job=work end=poweroff");
	guest_start(g);
	guest_wait_var(guest_var(g, "work_count") + GUEST_NR_WORK, 1); /* both are up */
}

/* With the machine paused: nothing moves, however long one looks. */
static bool stands(const struct guest *g)
{
	uint64_t before = work_total(g);

	for (unsigned int i = 0; i < 20; i++)
		sched_yield();
	return work_total(g) == before;
}

static void test_pause_resume(void **state)
{
	struct guest g;

	(void)state;
	start_work(&g);
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t before;

		machine_pause(g.m);
		assert_true(stands(&g));
		machine_pause(g.m); /* they nest */
		machine_resume(g.m);
		assert_true(stands(&g));
		before = work_total(&g);
		machine_resume(g.m);
		if (i % 10 == 0) {
			time_t end = time(NULL) + GUEST_LIMIT_MS / 1000;

			while (work_total(&g) == before && time(NULL) < end)
				sched_yield();
			assert_true(work_total(&g) > before);
		}
	}
	guest_stop(&g);
	guest_free(&g);
}

static void test_pause_before_start(void **state)
{
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=work end=poweroff");
	machine_pause(g.m);
	guest_start(&g);
	for (unsigned int i = 0; i < 100; i++)
		sched_yield();
	assert_int_equal(g.console_len, 0);
	machine_resume(g.m);
	guest_wait_var(guest_var(&g, "work_count") + GUEST_NR_WORK, 1);
	guest_stop(&g);
	guest_free(&g);
}

/* --- from handlers -------------------------------------------------------------------------- */

struct crowd {
	_Atomic int inside; /* of those who must be alone */
	_Atomic bool stop;
	_Atomic unsigned int rounds;
};

static void be_alone(struct crowd *c, const struct guest *g)
{
	holds(atomic_fetch_add(&c->inside, 1) == 0);
	holds(stands(g));
	holds(atomic_fetch_sub(&c->inside, 1) == 1);
}

static void pausing_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;
	struct machine_regs regs;

	machine_pause(m);
	machine_pause(m);
	be_alone(g->user, g);
	machine_resume(m);
	be_alone(g->user, g);
	holds(machine_get_regs(m, !hit->vcpu, &regs) == 0 &&
	      machine_set_regs(m, !hit->vcpu, &regs) == 0);
	machine_resume(m);
}

static void *pausing_thread(void *arg)
{
	struct guest *g = arg;
	struct crowd *c = g->user;

	while (!c->stop) {
		machine_pause(g->m);
		holds(stands(g)); /* two of these threads may be here */
		holds(c->inside == 0);
		machine_resume(g->m);
		c->rounds++;
		sched_yield();
	}
	return NULL;
}

/* Handlers on both vCPUs and two other threads, all pausing as fast as they can. */
static void test_everybody_pauses(void **state)
{
	struct machine_trap traps[GUEST_NR_WORK];
	struct crowd crowd = {0};
	pthread_t threads[2];
	struct guest g;

	(void)state;
	start_work(&g);
	g.user = &crowd;
	g.trap = pausing_handler;
	guest_work_traps(&g, traps, MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, traps, GUEST_NR_WORK), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, pausing_thread, &g), 0);
	guest_wait_hits(&g, 300);
	crowd.stop = true;
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_true(crowd.rounds > 0);
	for (unsigned int i = 0; i < GUEST_NR_WORK; i++)
		assert_int_equal(machine_traps_clear(g.m, &traps[i].va, 1), 0);
	guest_stop(&g);
	guest_free(&g);
}

/* A handler stops the machine and leaves it to another thread to let it go on. */
static void stopping_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	const struct guest *g = arg;
	const struct crowd *c = g->user;

	(void)hit;
	machine_pause(m);
	if (c->stop)
		machine_resume(m);
	else
		machine_wake(m);
}

static void test_pause_outlives_handler(void **state)
{
	struct crowd crowd = {0};
	struct machine_trap trap;
	struct machine_event ev;
	struct guest g;

	(void)state;
	start_work(&g);
	g.user = &crowd;
	g.trap = stopping_handler;
	trap = guest_trap_at(&g, "work_3", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t hits;

		assert_int_equal(machine_wait(g.m, &ev, GUEST_LIMIT_MS), 0);
		assert_int_equal(ev.type, MACHINE_EVENT_WAKE);
		machine_pause(g.m); /* the handler has returned when this has */
		hits = guest_hits(&g);
		assert_true(stands(&g));
		assert_int_equal(guest_hits(&g), hits);
		machine_resume(g.m);
		assert_true(stands(&g));
		crowd.stop = i == 49;
		machine_resume(g.m);
	}
	assert_int_equal(machine_traps_clear(g.m, &trap.va, 1), 0);
	guest_stop(&g);
	guest_free(&g);
}

/* The machine goes while its handlers wait for pauses. */
static void test_free_while_pausing(void **state)
{
	struct machine_trap traps[GUEST_NR_WORK];
	struct crowd crowd = {0};
	struct guest g;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		start_work(&g);
		g.user = &crowd;
		g.trap = pausing_handler;
		guest_work_traps(&g, traps, MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
		assert_int_equal(machine_traps_set(g.m, traps, GUEST_NR_WORK), 0);
		guest_wait_hits(&g, 3);
		if (i % 2)
			machine_pause(g.m);
		guest_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause_resume),
		cmocka_unit_test(test_pause_before_start),
		cmocka_unit_test(test_everybody_pauses),
		cmocka_unit_test(test_pause_outlives_handler),
		cmocka_unit_test(test_free_while_pausing),
	};

	return guest_run_tests("vmm-pause", tests);
}
