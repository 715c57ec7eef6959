// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-watch.c - what becomes of domains, and how busy they are, with a libvirt of our own
 * that goes, comes again, and does not answer.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/fake-libvirt.h"
#include "vmm/core/backend.h"

#define NEWS_MAX 256 /* watch.c's */
#define WAIT_MS	 60000

static const struct machine_patience forever = {NULL, NULL};

static int set_up(void **state)
{
	events.gone = false;
	events.first = events.nr = 0;
	memset(&loads, 0, sizeof(loads));
	return libvirt_set_up(state);
}

/* --- the watch ----------------------------------------------------------------------------------
 */

static struct machine_watch *watches(void)
{
	char err[512] = "";
	struct machine_watch *w = qemu_watch_new(NULL, err, sizeof(err));

	if (!w)
		fail_msg("%s", err);
	return w;
}

/* The next of the news, when it comes. */
static struct machine_news next(struct machine_watch *w)
{
	struct pollfd fd = {.fd = qemu_watch_fd(w), .events = POLLIN};
	struct machine_news news;

	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	assert_true(qemu_watch_take(w, &news));
	return news;
}

static void nothing_more(struct machine_watch *w)
{
	struct pollfd fd = {.fd = qemu_watch_fd(w), .events = POLLIN};
	struct machine_news news;

	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_false(qemu_watch_take(w, &news));
}

static void what_becomes_of_domains(void **state)
{
	static const struct {
		int id, event, detail;
		enum machine_news_kind kind;
	} told[] = {
		{VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_STARTED, 0, MACHINE_NEWS_STARTED},
		{VIR_DOMAIN_EVENT_ID_REBOOT, 0, 0, MACHINE_NEWS_REBOOTED},
		{VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_RESUMED, 0, MACHINE_NEWS_STARTED},
		{VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CRASHED, 0, MACHINE_NEWS_PANICKED},
		{VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_STOPPED,
		 VIR_DOMAIN_EVENT_STOPPED_MIGRATED, MACHINE_NEWS_MIGRATED},
		{VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_STOPPED,
		 VIR_DOMAIN_EVENT_STOPPED_DESTROYED, MACHINE_NEWS_STOPPED},
	};
	struct machine_watch *w = watches();

	(void)state;
	assert_int_equal(next(w).kind, MACHINE_NEWS_CONNECTED);
	/* Of that nobody is told. */
	happens(VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_SUSPENDED, 0);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		happens(told[i].id, told[i].event, told[i].detail);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		struct machine_news news = next(w);

		assert_int_equal(news.kind, told[i].kind);
		assert_string_equal(news.name, "it");
		assert_string_equal(news.uuid, UUID);
	}
	nothing_more(w);
	qemu_watch_free(w);
}

static void it_goes_and_comes_again(void **state)
{
	struct machine_watch *w = watches();

	(void)state;
	assert_int_equal(next(w).kind, MACHINE_NEWS_CONNECTED);
	daemon_goes(true);
	assert_int_equal(next(w).kind, MACHINE_NEWS_LOST);
	daemon_goes(false);
	assert_int_equal(next(w).kind, MACHINE_NEWS_CONNECTED);
	happens(VIR_DOMAIN_EVENT_ID_REBOOT, 0, 0);
	assert_int_equal(next(w).kind, MACHINE_NEWS_REBOOTED);
	qemu_watch_free(w);
}

static bool all_told(void)
{
	bool told;

	pthread_mutex_lock(&events.lock);
	told = !events.nr;
	pthread_mutex_unlock(&events.lock);
	return told;
}

/* Whoever does not take them is told that there were more. */
static void too_many(void **state)
{
	const struct timespec tick = {.tv_nsec = 1000000};
	struct machine_watch *w = watches();

	(void)state;
	assert_int_equal(next(w).kind, MACHINE_NEWS_CONNECTED);
	for (unsigned int i = 0; i < NEWS_MAX + 44; i++)
		happens(VIR_DOMAIN_EVENT_ID_REBOOT, 0, 0);
	for (unsigned int ms = 0; ms < WAIT_MS && !all_told(); ms++)
		nanosleep(&tick, NULL);
	for (unsigned int i = 0; i < NEWS_MAX - 1; i++)
		assert_int_equal(next(w).kind, MACHINE_NEWS_REBOOTED);
	assert_int_equal(next(w).kind, MACHINE_NEWS_LOST);
	nothing_more(w);
	qemu_watch_free(w);
}

/* It is left behind, and gives back what it has once it is answered. */
static void one_that_does_not_answer(void **state)
{
	const struct timespec tick = {.tv_nsec = 1000000};
	struct machine_watch *w;
	unsigned int ms;

	(void)state;
	silence.call = 2; /* connected, and no more */
	w = watches();
	for (ms = 0; ms < WAIT_MS && !it_is_stuck(); ms++)
		nanosleep(&tick, NULL);
	assert_true(it_is_stuck());
	nothing_more(w);
	qemu_watch_free(w);
	assert_int_equal(lv.closed, 0);
	it_answers_at_last();
	for (ms = 0; ms < WAIT_MS && !lv.closed; ms++)
		nanosleep(&tick, NULL);
	assert_int_equal(lv.closed, 1);
}

/* --- how busy they are --------------------------------------------------------------------------
 */

static virTypedParameter of_number(const char *name, unsigned long long value)
{
	virTypedParameter p = {.type = VIR_TYPED_PARAM_ULLONG, .value.ul = value};

	snprintf(p.field, sizeof(p.field), "%s", name);
	return p;
}

static virTypedParameter of_vcpus(unsigned int n)
{
	return (virTypedParameter){
		.field = "vcpu.current", .type = VIR_TYPED_PARAM_UINT, .value.ui = n};
}

static void how_busy_they_are(void **state)
{
	virTypedParameter params[] = {of_vcpus(2), of_number("vcpu.0.time", 700),
				      of_number("vcpu.0.delay", 30), of_number("vcpu.1.time", 900)};
	struct machine_load *l = NULL;
	char err[512] = "";

	(void)state;
	loads.params = params;
	loads.nr = sizeof(params) / sizeof(params[0]);
	assert_int_equal(qemu_get_loads(NULL, &forever, &l, err, sizeof(err)), 1);
	assert_string_equal(l->uuid, UUID);
	assert_int_equal(l->vcpus, 2);
	assert_int_equal(l->vcpu[0].ran_ns, 700);
	assert_int_equal(l->vcpu[0].waited_ns, 30);
	assert_true(l->vcpu[0].counted);
	assert_int_equal(l->vcpu[1].ran_ns, 900);
	assert_false(l->vcpu[1].counted); /* a libvirt before 7.2 */
	free(l);
	assert_int_equal(loads.handed_out, 0);
}

static void more_vcpus_than_there_are(void **state)
{
	virTypedParameter params[] = {of_vcpus(4000000000)};
	struct machine_load *l = NULL;
	char err[512] = "";

	(void)state;
	loads.params = params;
	loads.nr = 1;
	assert_int_equal(qemu_get_loads(NULL, &forever, &l, err, sizeof(err)), 1);
	assert_int_equal(l->vcpus, MACHINE_MAX_VCPUS);
	assert_false(l->vcpu[MACHINE_MAX_VCPUS - 1].counted);
	free(l);
}

static void it_does_not_tell(void **state)
{
	struct machine_load *l = NULL;
	char err[512] = "";

	(void)state;
	assert_int_equal(qemu_get_loads(NULL, &forever, &l, err, sizeof(err)), -EIO);
	assert_string_equal(err, "libvirt does not tell how busy domains are: it does not want to");
	lv.uri = NULL;
	assert_int_equal(qemu_get_loads(NULL, &forever, &l, err, sizeof(err)), -ECONNREFUSED);
	assert_null(l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, libvirt_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_becomes_of_domains),
		TEST(it_goes_and_comes_again),
		TEST(too_many),
		TEST(one_that_does_not_answer),
		TEST(how_busy_they_are),
		TEST(more_vcpus_than_there_are),
		TEST(it_does_not_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
