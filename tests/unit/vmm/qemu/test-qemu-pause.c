// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-pause.c - a guest that does not stop, and a thread of ours that does not notice that it
 * is given up. Time is made up: each wait that has a limit is over at once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "vmm/qemu/gdb/ask.h"
#include "vmm/qemu/qemu.h"

#define GOODBYE "$Qqemu.PhyMemMode:0#76$D;1#b0"

static struct {
	unsigned int waits; /* with a limit, that are over */
	bool leaves;	    /* the thread, at the second wait */
	unsigned int stuck; /* how often that was said */
	struct qemu_machine *m;
} now;

/* In place of the C library's. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): reserved ones there */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *at)
{
	(void)cond, (void)lock, (void)at;
	if (++now.waits == 2 && now.leaves)
		now.m->base.inside = 0;
	return ETIMEDOUT;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): reserved ones there */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	(void)cond, (void)lock;
	fail_msg("somebody waits without a limit");
	return 0;
}

/* Without the lock: it may take it. */
static void stuck(void *arg)
{
	struct qemu_machine *m = arg;

	assert_int_equal(pthread_mutex_trylock(&m->base.lock), 0);
	m->base.inside = 0; /* the process would end */
	pthread_mutex_unlock(&m->base.lock);
	now.stuck++;
}

/* Its thread waits for a stub that was asked to stop the guest. */
static void pause_one_that_runs(bool leaves)
{
	static const struct machine_ops ops = {.name = "none"};
	const struct machine_attach_config cfg = {.target = "gdb:none"};
	struct qemu_machine *m = qemu_alloc(&ops, &cfg);
	char heard[sizeof(GOODBYE)] = "";
	struct gdb gdb = {0};
	int fds[2];

	assert_non_null(m);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	gdb.conn.fd = fds[0];
	m->gdb = &gdb;
	m->base.inside = 1;
	m->base.stand.limits.stuck = stuck;
	m->base.stand.arg = m;
	m->running = m->interrupted = true;
	now.m = m;
	now.leaves = leaves;
	now.waits = now.stuck = 0;
	qemu_pause(&m->base);
	assert_int_equal(m->outside, 1);
	assert_int_equal(read(fds[1], heard, sizeof(heard)), strlen(GOODBYE));
	assert_string_equal(heard, GOODBYE);
	pthread_mutex_destroy(&m->io);
	machine_exit(&m->base);
	free(m);
	close(fds[0]);
	close(fds[1]);
}

static void test_thread_leaves(void **state)
{
	(void)state;
	pause_one_that_runs(true);
	assert_int_equal(now.waits, 2);
	assert_int_equal(now.stuck, 0);
}

/* Whoever waits for it would do so for ever, and with him the end of the trace. */
static void test_thread_stays(void **state)
{
	(void)state;
	pause_one_that_runs(false);
	assert_int_equal(now.waits, 2);
	assert_int_equal(now.stuck, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_leaves),
		cmocka_unit_test(test_thread_stays),
	};

	return cmocka_run_group_tests_name("pausing guests of QEMU", tests, NULL, NULL);
}
