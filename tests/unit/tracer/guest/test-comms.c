// SPDX-License-Identifier: GPL-2.0-or-later
/* test-comms.c - the table of task names: what it remembers, what it forgets, and many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "tracer/guest/comms.h"

static void note(struct comms *c, int32_t pid, int32_t tgid, const char *name)
{
	char comm[COMM_LEN] = {0};

	memcpy(comm, name, strnlen(name, COMM_LEN));
	comms_note(c, pid, tgid, comm);
}

static void expect(struct comms *c, int32_t pid, int32_t tgid, const char *name)
{
	char comm[COMM_LEN];

	comms_find(c, pid, comm);
	assert_string_equal(comm, name);
	assert_int_equal(comms_tgid(c, pid), tgid);
}

static void test_names(void **state)
{
	struct comms *c = comms_new(10);

	(void)state;
	note(c, 1, 1, "init");
	note(c, 77, 70, "worker");
	note(c, 0, 5, "swapper/0");
	note(c, -3, 5, "none");
	expect(c, 1, 1, "init");
	expect(c, 77, 70, "worker");
	expect(c, 0, 0, "<idle>");
	expect(c, 2, 0, "<...>");
	expect(c, -3, 0, "<XXX>");
	note(c, 77, 77, "worker"); /* a thread that has become its own group, by execve() */
	expect(c, 77, 77, "worker");
	note(c, 77, 77, "changed");
	expect(c, 77, 77, "changed");
	note(c, 5, 5, "no end in sight, none");
	expect(c, 5, 5, "no end in sight");
	comms_free(c);
	assert_null(comms_new(0));
}

static void count_one(void *arg, int32_t pid, int32_t tgid, const char comm[COMM_LEN])
{
	unsigned int *nr = arg;

	(void)pid;
	nr[0] += *comm != '\0';
	nr[1] += tgid != 0;
}

/* Names and groups are noted apart from each other, and what is known stays. */
static void test_halves(void **state)
{
	struct comms *c = comms_new(2);
	unsigned int nr[2] = {0};

	(void)state;
	comms_note(c, 7, 70, NULL);
	expect(c, 7, 70, "<...>");
	note(c, 8, 0, "eight");
	expect(c, 8, 0, "eight");
	comms_each(c, count_one, nr);
	assert_int_equal(nr[0], 1);
	assert_int_equal(nr[1], 1);
	note(c, 7, 0, "seven");
	expect(c, 7, 70, "seven");
	comms_note(c, 8, 80, NULL);
	expect(c, 8, 80, "eight");
	comms_note(c, 9, 0, NULL);
	expect(c, 9, 0, "<...>");
	/* Of whom had the place before nothing is left. */
	comms_note(c, 10, 100, NULL);
	expect(c, 10, 100, "<...>");
	note(c, 11, 0, "eleven");
	expect(c, 11, 0, "eleven");
	comms_free(c);
}

/* A place is given up for a new pid, the one filled longest ago first. */
static void test_bounded(void **state)
{
	struct comms *c = comms_new(3);

	(void)state;
	for (int pid = 1; pid <= 5; pid++)
		note(c, pid, pid, "task");
	note(c, 3, 3, "renamed"); /* stays where it is */
	expect(c, 1, 0, "<...>");
	expect(c, 2, 0, "<...>");
	expect(c, 3, 3, "renamed");
	expect(c, 4, 4, "task");
	expect(c, 5, 5, "task");
	note(c, 6, 6, "task");
	expect(c, 3, 0, "<...>");
	note(c, 3, 3, "back"); /* not in its old place: that is 6's now */
	expect(c, 6, 6, "task");
	expect(c, 4, 0, "<...>");
	expect(c, 3, 3, "back");
	comms_free(c);
}

/* Pids 32768 apart share a place, as in the kernel. */
static void test_same_place(void **state)
{
	struct comms *c = comms_new(100);

	(void)state;
	note(c, 7, 7, "low");
	note(c, 7 + 32768, 9, "high");
	expect(c, 7, 0, "<...>");
	expect(c, 7 + 32768, 9, "high");
	note(c, INT32_MAX, 1, "last");
	expect(c, INT32_MAX, 1, "last");
	comms_free(c);
}

struct shared {
	struct comms *c;
	_Atomic uint64_t bad;
};

/* Task pid is called "task <pid>", or "TASK <pid>" now and then. */
static void *noting(void *arg)
{
	struct shared *sh = arg;
	char name[32];

	for (uint32_t i = 0; i < 60000; i++) {
		int32_t pid = 1 + (int32_t)(i * 2654435761U % 50);

		snprintf(name, sizeof(name), i % 64 ? "task %d" : "TASK %d", pid);
		note(sh->c, pid, pid + 1000, name);
	}
	return NULL;
}

static void *finding(void *arg)
{
	struct shared *sh = arg;

	for (int32_t i = 0; i < 60000; i++) {
		int32_t pid = 1 + i % 50, tgid = comms_tgid(sh->c, pid);
		char comm[COMM_LEN], lower[32], upper[32];

		comms_find(sh->c, pid, comm);
		snprintf(lower, sizeof(lower), "task %d", pid);
		snprintf(upper, sizeof(upper), "TASK %d", pid);
		if (tgid && tgid != pid + 1000)
			sh->bad++;
		if (strcmp(comm, lower) && strcmp(comm, upper) && strcmp(comm, "<...>"))
			sh->bad++;
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct shared sh = {.c = comms_new(30)};
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, i < 2 ? noting : finding, &sh),
				 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(sh.bad, 0);
	comms_free(sh.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_halves),
		cmocka_unit_test(test_bounded), cmocka_unit_test(test_same_place),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
