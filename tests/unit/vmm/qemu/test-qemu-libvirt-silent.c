// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-libvirt-silent.c - a libvirt of our own that does not answer one of the calls: nobody
 * waits for it for ever, and what it hands out after all is given back.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/fake-libvirt.h"
#include "vmm/core/backend.h"
#include "vmm/core/errand.h"
#include "vmm/qemu/libvirt/domain.h"

#define LONG_MS 3600000

/* Yes, as soon as libvirt does not answer. */
static bool stuck(void *arg)
{
	(void)arg;
	return it_is_stuck();
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static const struct errand_patience gives_up = {LONG_MS, stuck, NULL};
static const struct errand_patience in_a_hurry = {1, never, NULL};

/* What was handed out comes back once it answers, the one connection last of all. */
static void all_is_given_back(void)
{
	it_answers_at_last();
	while (!lv.closed)
		sched_yield();
	assert_int_equal(lv.connections, 0);
	assert_int_equal(lv.domains, 0);
}

static void does_not_open(unsigned int call, const struct errand_patience *patience,
			  const char *expected)
{
	char err[512] = "";

	silence.call = call;
	assert_null(qemu_domain_open(NULL, "it", patience, err, sizeof(err)));
	assert_string_equal(err, expected);
	all_is_given_back();
	libvirt_set_up(NULL);
}

/* How many calls it takes to open the domain. */
static unsigned int count_calls(void)
{
	char err[512] = "";
	struct qemu_domain *d = qemu_domain_open(NULL, "it", &gives_up, err, sizeof(err));
	unsigned int calls = silence.calls;

	assert_non_null(d);
	assert_int_equal(qemu_domain_close(d, err, sizeof(err)), 0);
	return calls;
}

/* In whichever call; there are more of them than it takes to be connected. */
static void a_silent_one(void **state)
{
	unsigned int calls = count_calls();

	(void)state;
	assert_true(calls > 3);
	for (unsigned int call = 1; call <= calls; call++) {
		libvirt_set_up(NULL);
		does_not_open(call, &gives_up,
			      "libvirt does not answer (qemu:///system) yet: given up");
		does_not_open(call, &in_a_hurry,
			      "libvirt does not answer (qemu:///system): waited for 1 s; is its "
			      "daemon stopped, or the domain's QEMU?");
	}
}

/* Whoever lets go of the domain does not wait for ever, and no stub stays in it. */
static void a_stub_is_silent(unsigned int call)
{
	struct qemu_domain *d;
	char address[300] = "", err[512] = "";

	lv.answer = "Waiting for gdb connection on device 'unix:...'\r\n";
	d = qemu_domain_open(NULL, "it", &gives_up, err, sizeof(err));
	assert_non_null(d);
	silence.call = silence.calls + call;
	assert_int_equal(
		qemu_domain_stub_start(d, false, address, sizeof(address), err, sizeof(err)),
		-ECANCELED);
	assert_string_equal(err, "libvirt does not answer (qemu:///system) yet: given up");
	assert_string_equal(address, "");
	assert_int_equal(qemu_domain_close(d, err, sizeof(err)), -ETIMEDOUT);
	assert_non_null(strstr(err, "libvirt does not answer (qemu:///system): waited for "));
	all_is_given_back();
	assert_false(lv.stub);
}

static void a_stub_that_nobody_waits_for(void **state)
{
	(void)state;
	a_stub_is_silent(1);
	libvirt_set_up(NULL);
	a_stub_is_silent(2);
	assert_int_equal(lv.removed, 1); /* it was started in the end */
}

static void a_silent_list(void **state)
{
	const struct machine_patience patience = {stuck, NULL};
	struct machine_listing *list = NULL;
	char err[512] = "";

	(void)state;
	for (unsigned int call = 1; call <= 4; call++) {
		libvirt_set_up(NULL);
		silence.call = call;
		assert_int_equal(qemu_list(NULL, &patience, &list, err, sizeof(err)), -ECANCELED);
		assert_string_equal(err, "libvirt does not answer (qemu:///system) yet: given up");
		assert_null(list);
		all_is_given_back();
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, libvirt_set_up, libvirt_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_silent_one),
		TEST(a_stub_that_nobody_waits_for),
		TEST(a_silent_list),
	};

	return cmocka_run_group_tests_name("libvirt-silent", tests, NULL, NULL);
}
