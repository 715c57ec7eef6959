// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-watchdog.c - a guest of QEMU that stands for too long runs on, whatever holds it: by
 * the keeper, while all that hvtrace asks for fails.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"

/* What the keeper says: the third is that QEMU has the disk no more that keeps the guest here. */
#define RELEASE "[^C][Qqemu.PhyMemMode:0][?][qRcmd,64726976655f64656c2068767472616365][D;1]"

static struct machine *attach(struct fake_qemu *q, uint64_t ms)
{
	const struct machine_attach_config cfg = {.target = q->target, .limits = {.stand_ms = ms}};
	char err[256] = "";
	struct machine *m;

	fake_start(q);
	m = machine_attach(&cfg, err, sizeof(err));
	if (!m)
		fail_msg("%s", err);
	fake_wait_running(q);
	return m;
}

static struct fake_qemu *fake_new(void)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	return q;
}

/* How often the keeper, or anybody, has let it go. */
static unsigned int releases(const struct fake_qemu *q)
{
	unsigned int n = 0;

	for (const char *at = q->heard; (at = strstr(at, "[D;1]")); at++)
		n++;
	return n;
}

static void ended_by_limit(struct machine *m, const char *what)
{
	struct machine_event ev;

	assert_int_equal(machine_wait(m, &ev, -1), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_ERROR);
	if (!strstr(ev.text, "stood for more than 300 ms") || !strstr(ev.text, what))
		fail_msg("%s", ev.text);
}

/* Whoever has it paused is not asked, and can do nothing to it any more. */
static void test_let_go(void **state)
{
	const struct machine_patch patch = {.pa = 0x3000, .size = 2, .bytes = {1, 2}};
	struct fake_qemu *q = fake_new();
	struct machine_regs regs;
	struct machine *m;
	uint8_t two[2];

	(void)state;
	q->kvm = true;
	m = attach(q, 300);
	machine_pause_for(m, "thinking");
	ended_by_limit(m, "while hvtrace was thinking");
	while (!q->detached)
		sched_yield(); /* for ever, where nobody lets it go */
	assert_int_equal(machine_read(m, 0x3000, two, sizeof(two)), -ECONNRESET);
	assert_int_equal(machine_write(m, 0x3000, two, sizeof(two)), -ECONNRESET);
	assert_int_equal(machine_patch_text(m, &patch, 1), -ECONNRESET);
	assert_int_equal(machine_get_regs(m, 0, &regs), -ECONNRESET);
	assert_int_equal(q->ram[0x3000], 0);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_int_equal(releases(q), 1);
	free(q);
}

/* One that waits for the stub is woken up. */
static void *reading_thread(void *arg)
{
	struct machine_regs regs;
	struct machine *m = arg;
	int rc;

	machine_pause_for(m, "waiting for the stub");
	rc = machine_get_regs(m, 0, &regs);
	machine_resume(m);
	return (void *)(intptr_t)rc;
}

static void test_waits_for_the_stub(void **state)
{
	struct fake_qemu *q = fake_new();
	struct machine *m = attach(q, 300);
	pthread_t thread;
	void *rc;

	(void)state;
	q->end = FAKE_FALLS_SILENT;
	q->limit = q->answered + 1; /* it stops yet */
	assert_int_equal(pthread_create(&thread, NULL, reading_thread, m), 0);
	ended_by_limit(m, "while hvtrace was waiting for the stub");
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -ECONNRESET);
	machine_free(m);
	fake_end(q);
	assert_non_null(strstr(q->heard, RELEASE));
	free(q);
}

/* What stands for a moment at a time goes on. */
static void test_short_stops(void **state)
{
	struct fake_qemu *q = fake_new();
	struct machine *m = attach(q, 3600000);
	struct machine_pauses pauses;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		machine_pause(m);
		machine_resume(m);
		fake_wait_running(q);
	}
	machine_get_pauses(m, &pauses);
	assert_true(pauses.count >= 20);
	assert_false(pauses.exceeded);
	assert_false(machine_has_ended(m, NULL));
	machine_free(m);
	fake_end(q);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_let_go),
		cmocka_unit_test(test_waits_for_the_stub),
		cmocka_unit_test(test_short_stops),
	};

	return cmocka_run_group_tests_name("letting guests go in time", tests, NULL, NULL);
}
