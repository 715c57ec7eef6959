// SPDX-License-Identifier: GPL-2.0-or-later
/* test-pid-filter.c - set_ftrace_pid and set_ftrace_notrace_pid: writes, what is read, forks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tracer/filter/pid-filter.h"

static void count_change(void *arg)
{
	++*(int *)arg;
}

static ssize_t put(struct pid_filter *f, const char *text)
{
	return pid_filter_write(f, PID_FILTER_TRACE, text, strlen(text));
}

static void expect_file(struct pid_filter *f, enum pid_filter_file file, const char *want)
{
	struct text out = {0};

	pid_filter_print(f, file, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, want);
	text_free(&out);
}

static void expect(struct pid_filter *f, const char *want)
{
	expect_file(f, PID_FILTER_TRACE, want);
}

/* control/pid-files.txt and errno-newline-terminated-writes.txt of the real kernel. */
static void test_writes(void **state)
{
	struct pid_filter f;
	int changes = 0;

	(void)state;
	assert_int_equal(pid_filter_init(&f, count_change, &changes), 0);
	expect(&f, "no pid\n");
	assert_int_equal(put(&f, "1"), 1);
	expect(&f, "1\n");
	assert_int_equal(put(&f, "100 50"), 6);
	expect(&f, "1\n50\n100\n");
	assert_int_equal(changes, 2);
	pid_filter_truncate(&f, PID_FILTER_TRACE);
	assert_int_equal(changes, 3);
	expect(&f, "no pid\n");
	pid_filter_truncate(&f, PID_FILTER_TRACE);
	assert_int_equal(changes, 3); /* nothing to do */
	assert_int_equal(put(&f, ""), 0);
	assert_int_equal(put(&f, "-1"), -EINVAL);
	assert_int_equal(put(&f, "abc\n"), -EINVAL);
	assert_int_equal(put(&f, "3 4 x"), -EINVAL);
	expect(&f, "no pid\n"); /* all or nothing */
	assert_int_equal(changes, 3);
	assert_int_equal(put(&f, "99999999"), 8);
	assert_int_equal(put(&f, "1 2 3\n"), 6);
	expect(&f, "1\n2\n3\n99999999\n");
	pid_filter_truncate(&f, PID_FILTER_TRACE);
	assert_int_equal(put(&f, "\n"), 1);
	expect(&f, "no pid\n");
	pid_filter_exit(&f);
}

static void test_numbers(void **state)
{
	struct pid_filter f;
	char word[200];

	(void)state;
	assert_int_equal(pid_filter_init(&f, NULL, NULL), 0);
	assert_int_equal(put(&f, "0x10 010 +7 0 5 5\t6"), 19);
	expect(&f, "0\n5\n6\n7\n8\n16\n");
	assert_int_equal(put(&f, "1073741824"), -EPERM); /* trace_pid_write() says -1 */
	assert_int_equal(put(&f, "4294967299"), 10);	 /* the low half counts */
	assert_int_equal(put(&f, "1073741823"), 10);
	assert_int_equal(put(&f, "18446744073709551616"), -EINVAL);
	assert_int_equal(put(&f, "5x"), -EINVAL);
	assert_int_equal(put(&f, "0x"), -EINVAL);
	expect(&f, "0\n3\n5\n6\n7\n8\n16\n1073741823\n");
	assert_int_equal(pid_filter_write(&f, PID_FILTER_TRACE,
					  "11\0"
					  "12",
					  5),
			 5);
	assert_int_equal(pid_filter_write(&f, PID_FILTER_TRACE,
					  " \0"
					  "13",
					  4),
			 2);
	expect(&f, "0\n3\n5\n6\n7\n8\n11\n12\n16\n1073741823\n");
	memset(word, '0', sizeof(word));
	word[127] = '\0';
	assert_int_equal(put(&f, word), 127);
	word[127] = '0';
	word[128] = '\0';
	assert_int_equal(put(&f, word), -EINVAL);
	pid_filter_exit(&f);
}

static void test_traces(void **state)
{
	struct pid_filter f;

	(void)state;
	assert_int_equal(pid_filter_init(&f, NULL, NULL), 0);
	assert_false(pid_filter_on(&f));
	assert_true(pid_filter_traces(&f, 1));
	assert_int_equal(pid_filter_write(&f, PID_FILTER_NOTRACE, "2 3", 3), 3);
	assert_true(pid_filter_on(&f));
	assert_true(pid_filter_traces(&f, 1));
	assert_false(pid_filter_traces(&f, 2));
	assert_int_equal(put(&f, "3 4"), 3);
	assert_false(pid_filter_traces(&f, 1));
	assert_false(pid_filter_traces(&f, 2));
	assert_false(pid_filter_traces(&f, 3)); /* both */
	assert_true(pid_filter_traces(&f, 4));
	assert_false(pid_filter_traces(&f, -1));
	expect_file(&f, PID_FILTER_NOTRACE, "2\n3\n");
	pid_filter_truncate(&f, PID_FILTER_NOTRACE);
	assert_true(pid_filter_traces(&f, 3));
	assert_false(pid_filter_traces(&f, 2));
	pid_filter_exit(&f);
}

/* A list that has become empty is one all the same: it selects nobody. */
static void test_fork(void **state)
{
	struct pid_filter f;

	(void)state;
	assert_int_equal(pid_filter_init(&f, NULL, NULL), 0);
	pid_filter_fork(&f, 1, 2);
	expect(&f, "no pid\n");
	put(&f, "10");
	pid_filter_fork(&f, 10, 70000);
	pid_filter_fork(&f, 70000, 70001);
	pid_filter_fork(&f, 11, 12);
	expect(&f, "10\n70000\n70001\n");
	expect_file(&f, PID_FILTER_NOTRACE, "no pid\n");
	pid_filter_task_exit(&f, 10);
	pid_filter_task_exit(&f, 10);
	pid_filter_task_exit(&f, 70000);
	pid_filter_fork(&f, 70001, -5);
	expect(&f, "70001\n");
	pid_filter_task_exit(&f, 70001);
	expect(&f, "");
	assert_false(pid_filter_traces(&f, 10));
	put(&f, "\n");
	expect(&f, "no pid\n");
	assert_true(pid_filter_traces(&f, 10));
	pid_filter_exit(&f);
}

struct shared {
	struct pid_filter f;
	atomic_bool stop;
	atomic_int bad;
};

/* Pid 7 is traced always, 9 never, whatever happens to the others. */
static void *look(void *arg)
{
	struct shared *sh = arg;

	while (!atomic_load(&sh->stop))
		if (!pid_filter_traces(&sh->f, 7) || pid_filter_traces(&sh->f, 9))
			atomic_fetch_add(&sh->bad, 1);
	return NULL;
}

static void *fork_tasks(void *arg)
{
	struct shared *sh = arg;

	for (int32_t pid = 100; pid < 200000; pid += 3) {
		pid_filter_fork(&sh->f, 7, pid);
		pid_filter_fork(&sh->f, 9, pid + 1);
		pid_filter_task_exit(&sh->f, pid);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct shared sh = {.bad = 0};
	pthread_t lookers[2], forkers[2];

	(void)state;
	assert_int_equal(pid_filter_init(&sh.f, NULL, NULL), 0);
	put(&sh.f, "7");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&lookers[i], NULL, look, &sh), 0);
		assert_int_equal(pthread_create(&forkers[i], NULL, fork_tasks, &sh), 0);
	}
	for (int i = 0; i < 1000; i++)
		put(&sh.f, "7 8");
	for (int i = 0; i < 2; i++)
		pthread_join(forkers[i], NULL);
	atomic_store(&sh.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(lookers[i], NULL);
	assert_int_equal(sh.bad, 0);
	expect(&sh.f, "7\n8\n");
	pid_filter_exit(&sh.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes),	cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_traces),	cmocka_unit_test(test_fork),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
