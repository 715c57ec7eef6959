// SPDX-License-Identifier: GPL-2.0-or-later
/* test-flag-table.c - the table of places where windows begin and end. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tracer/probe/critical/table.h"

#define KERNEL 0x1000
#define MODULE 0x9000

static struct flag_table *new_table(void)
{
	struct flag_table *ft = flag_table_new();

	assert_non_null(ft);
	return ft;
}

/* Some sites, descending, each a byte before the other. */
static void add(struct flag_table *ft, uint8_t kind, uint64_t last, size_t nr)
{
	struct flag_site *v = calloc(nr, sizeof(*v));

	assert_non_null(v);
	for (size_t i = 0; i < nr; i++)
		v[i] = (struct flag_site){last - i, (uint32_t)(last - i), kind, FLAG_STAYS};
	assert_int_equal(flag_table_add(ft, v, nr), 0);
	free(v);
}

static bool of_module(void *arg, const struct flag_site *s)
{
	(void)arg;
	return s->va >= MODULE;
}

static void test_by_address(void **state)
{
	struct flag_table *ft = new_table();
	const struct flag_site *all;
	struct flag_site s;
	size_t nr;

	(void)state;
	assert_false(flag_table_at(ft, KERNEL, &s));
	assert_int_equal(flag_table_add(ft, NULL, 0), 0);
	add(ft, 1, KERNEL + 9, 10);
	add(ft, 2, KERNEL - 1, 1);
	all = flag_table_all(ft, &nr);
	assert_int_equal(nr, 11);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(all[i].va, KERNEL - 1 + i);
	assert_true(flag_table_at(ft, KERNEL + 9, &s));
	assert_int_equal(s.probe, KERNEL + 9);
	assert_int_equal(s.kind, 1);
	assert_true(flag_table_at(ft, KERNEL - 1, &s));
	assert_int_equal(s.kind, 2);
	assert_false(flag_table_at(ft, KERNEL + 10, &s));
	flag_table_free(ft);
}

static void test_forget(void **state)
{
	struct flag_table *ft = new_table();
	struct flag_site s;
	size_t nr;

	(void)state;
	add(ft, 1, KERNEL, 3);
	add(ft, 1, MODULE + 2, 3);
	add(ft, 2, MODULE + 0x100, 1);
	flag_table_forget(ft, of_module, NULL);
	flag_table_all(ft, &nr);
	assert_int_equal(nr, 3);
	assert_true(flag_table_at(ft, KERNEL, &s));
	assert_false(flag_table_at(ft, MODULE, &s));
	add(ft, 3, MODULE, 1);
	assert_true(flag_table_at(ft, MODULE, &s));
	assert_int_equal(s.kind, 3);
	flag_table_free(ft);
}

static void test_has(void **state)
{
	struct flag_table *ft = new_table();

	(void)state;
	assert_false(flag_table_has(ft, 1, 0, UINT64_MAX));
	add(ft, 1, MODULE + 4, 1);
	add(ft, 2, MODULE + 8, 1);
	assert_true(flag_table_has(ft, 1, MODULE, MODULE + 8));
	assert_false(flag_table_has(ft, 2, MODULE, MODULE + 8));
	assert_true(flag_table_has(ft, 2, MODULE + 8, MODULE + 9));
	assert_false(flag_table_has(ft, 1, MODULE + 5, UINT64_MAX));
	assert_false(flag_table_has(ft, 3, 0, UINT64_MAX));
	flag_table_free(ft);
}

struct looker {
	struct flag_table *ft;
	atomic_bool stop;
	unsigned int missed;
};

/* A site of the kernel is always there. */
static void *look(void *arg)
{
	struct looker *l = arg;
	struct flag_site s;

	while (!atomic_load(&l->stop))
		l->missed += !flag_table_at(l->ft, KERNEL, &s) || s.probe != KERNEL;
	return NULL;
}

static void test_while_modules_come_and_go(void **state)
{
	struct looker l = {.ft = new_table()};
	pthread_t thread;

	(void)state;
	add(l.ft, 1, KERNEL, 100);
	assert_int_equal(pthread_create(&thread, NULL, look, &l), 0);
	for (unsigned int i = 0; i < 200; i++) {
		add(l.ft, 1, MODULE + 500, 500);
		flag_table_forget(l.ft, of_module, NULL);
	}
	atomic_store(&l.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(l.missed, 0);
	flag_table_free(l.ft);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_address),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_has),
		cmocka_unit_test(test_while_modules_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
