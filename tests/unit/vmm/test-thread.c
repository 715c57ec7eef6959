// SPDX-License-Identifier: GPL-2.0-or-later
/* test-thread.c - threads know what they are there for, and tell it before anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/thread.h"

struct seen {
	const char *kind;
	char name[16];
	sigset_t blocked;
	const char *told; /* before it ran */
};

static _Thread_local const char *told;

static void *look(void *arg)
{
	struct seen *s = arg;

	s->kind = thread_kind();
	pthread_getname_np(pthread_self(), s->name, sizeof(s->name));
	pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
	s->told = told;
	return NULL;
}

static void start_and_join(struct seen *s, const sigset_t *blocked)
{
	pthread_t thread;

	*s = (struct seen){0};
	assert_int_equal(thread_start(&thread, "looker", blocked, look, s), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_kind(void **state)
{
	struct seen s;

	(void)state;
	start_and_join(&s, NULL);
	assert_string_equal(s.kind, "looker");
	assert_string_equal(s.name, "looker");
	assert_null(s.told);
	assert_null(thread_kind());
}

static void test_signals(void **state)
{
	sigset_t one, before, after;
	struct seen s;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	start_and_join(&s, NULL);
	assert_true(sigismember(&s.blocked, SIGINT) && sigismember(&s.blocked, SIGUSR1));
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	start_and_join(&s, &one);
	assert_true(!sigismember(&s.blocked, SIGINT) && sigismember(&s.blocked, SIGUSR1));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signo = 1; signo < SIGRTMAX; signo++)
		assert_int_equal(sigismember(&before, signo), sigismember(&after, signo));
}

static void note(const char *kind, const char *starter)
{
	told = starter ? starter : kind;
}

static void *start_another(void *arg)
{
	pthread_t thread;

	assert_int_equal(thread_start(&thread, "another", NULL, look, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return NULL;
}

static void test_told_first(void **state)
{
	pthread_t thread;
	struct seen s;

	(void)state;
	thread_on_begin(note);
	start_and_join(&s, NULL);
	assert_string_equal(s.told, "looker");
	assert_int_equal(thread_start(&thread, "maker", NULL, start_another, &s), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(s.kind, "another");
	assert_string_equal(s.told, "maker");
	thread_on_begin(NULL);
	start_and_join(&s, NULL);
	assert_null(s.told);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_told_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
