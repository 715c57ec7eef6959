// SPDX-License-Identifier: GPL-2.0-or-later
/* test-errand.c - calls that come back, late or never, and those who do not wait for them. */
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vmm/core/errand.h"

enum { LONG_MS = 3600000 };

/* What outlives an errand: it is freed wherever its last owner is. */
struct post {
	sem_t go, gone;
	int answer;
};

struct asked {
	struct errand errand;
	struct post *post;
	int answer;
};

static void run(struct errand *e)
{
	struct asked *a = (struct asked *)e;

	sem_wait(&a->post->go);
	a->answer = a->post->answer;
}

static void release(struct errand *e)
{
	sem_post(&((struct asked *)e)->post->gone);
}

static const struct errand_ops ops = {"errand", run, release};

static struct asked *asked_new(struct post *post)
{
	struct asked *a = errand_new(sizeof(*a), &ops);

	assert_non_null(a);
	a->post = post;
	sem_init(&post->go, 0, 0);
	sem_init(&post->gone, 0, 0);
	return a;
}

static bool is_gone(struct post *post)
{
	return !sem_trywait(&post->gone);
}

static void one_that_comes_back(void **state)
{
	const struct errand_patience patience = {.ms = LONG_MS};
	struct post post = {.answer = 42};
	struct asked *a = asked_new(&post);

	(void)state;
	sem_post(&post.go);
	assert_int_equal(errand_run(&a->errand, &patience), 0);
	assert_int_equal(a->answer, 42);
	assert_false(is_gone(&post));
	assert_false(errand_any_left());
	errand_put(&a->errand);
	sem_wait(&post.gone);
}

static bool count_down(void *arg)
{
	unsigned int *left = arg;

	return !--*left;
}

/* It is not freed under the one that is at work on it, and is once that has come back. */
static void given_up(struct errand_patience patience, int rc)
{
	struct post post = {.answer = 42};
	struct asked *a = asked_new(&post);

	assert_int_equal(errand_run(&a->errand, &patience), rc);
	assert_true(errand_any_left());
	errand_put(&a->errand);
	assert_false(is_gone(&post));
	sem_post(&post.go);
	sem_wait(&post.gone);
	sem_destroy(&post.go);
	sem_destroy(&post.gone);
}

static void nobody_waits_for_ever(void **state)
{
	(void)state;
	given_up((struct errand_patience){.ms = 0}, -ETIMEDOUT);
	given_up((struct errand_patience){.ms = 50}, -ETIMEDOUT);
}

static void nobody_waits_who_is_to_end(void **state)
{
	(void)state;
	for (unsigned int looks = 1; looks < 4; looks++) {
		unsigned int left = looks;

		given_up((struct errand_patience){LONG_MS, count_down, &left}, -ECANCELED);
		assert_int_equal(left, 0);
	}
}

static void none_that_was_never_run(void **state)
{
	struct post post;
	struct asked *a = asked_new(&post);

	(void)state;
	errand_put(&a->errand);
	assert_true(is_gone(&post));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_comes_back),
		cmocka_unit_test(nobody_waits_for_ever),
		cmocka_unit_test(nobody_waits_who_is_to_end),
		cmocka_unit_test(none_that_was_never_run),
	};

	return cmocka_run_group_tests_name("errand", tests, NULL, NULL);
}
