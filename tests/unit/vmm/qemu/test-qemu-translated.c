// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-translated.c - sweeps of patches under TCG, into memory once QEMU has thrown away what
 * it has translated of the guest's code: for that a vCPU comes to a breakpoint where it is, twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"

#define SITES	   1000
#define STEP	   16
#define WHERE	   UINT64_C(0xffffffff81000010)
#define BREAKPOINT "[Z0,ffffffff81000010,1]"
#define CLEARED	   "[z0,ffffffff81000010,1]"
#define RUNS	   "[vCont;c:p1.1]"
#define WITHOUT_IF "[P11=00000000]"
#define BY_STUB	   "[M1000,5:e801020304]"

static char version[] = "10.0.11 (Debian 1:10.0.11+ds-1)\r\n";
static const uint8_t call[] = {0xe8, 1, 2, 3, 4};

/* q->arg: its version, NULL: it does not tell. QEMU may die of being asked how much there is. */
static bool monitor(struct fake_qemu *q, const char *command, char *text, size_t size)
{
	assert_string_not_equal(command, "info jit");
	if (strcmp(command, "info version") != 0)
		return false;
	snprintf(text, size, "%s", q->arg ? (const char *)q->arg : "unknown command\r\n");
	return true;
}

static struct fake_qemu *guest(char *says)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	q->monitor = monitor;
	q->arg = says;
	q->comes = true;
	q->cs = 0x10;
	q->rip = WHERE;
	return q;
}

static void sweep(struct machine *m, unsigned int n)
{
	struct machine_patch patches[SITES];

	for (unsigned int i = 0; i < n; i++) {
		patches[i] = (struct machine_patch){.pa = 0x1000 + i * STEP, .size = sizeof(call)};
		memcpy(patches[i].bytes, call, sizeof(call));
	}
	assert_int_equal(machine_patch_text(m, patches, n), 0);
}

/* Sweeps of a guest that stands, and what was said for them: q->heard. */
static void sweeps(struct fake_qemu *q, const unsigned int *n, unsigned int count)
{
	struct machine_attach_config cfg = {.target = q->target};
	struct machine *m;
	char err[256];

	fake_start(q);
	m = machine_attach(&cfg, err, sizeof(err));
	if (!m)
		fail_msg("%s", err);
	while (!q->running && !machine_has_ended(m, NULL))
		sched_yield();
	machine_pause(m);
	for (unsigned int i = 0; i < count; i++) {
		memset(q->ram + 0x1000, 0, (size_t)SITES * STEP);
		sweep(m, n[i]);
		for (unsigned int k = 0; k < n[i]; k++)
			assert_memory_equal(q->ram + 0x1000 + (size_t)k * STEP, call, sizeof(call));
	}
	machine_resume(m);
	machine_free(m);
	fake_end(q);
}

static unsigned int times(const struct fake_qemu *q, const char *said)
{
	unsigned int n = 0;

	for (const char *at = q->heard; (at = strstr(at, said)); at += strlen(said))
		n++;
	return n;
}

static bool in_order(const struct fake_qemu *q, const char *const said[], size_t n)
{
	const char *at = q->heard;

	for (size_t i = 0; i < n && at; i++)
		at = strstr(at, said[i]);
	return at;
}

/* The vCPU is told to run with interrupts off, and is then as it was. */
static void test_thrown_away(void **state)
{
	static const char *const way[] = {BREAKPOINT, WITHOUT_IF, RUNS, WITHOUT_IF, RUNS, CLEARED};
	struct fake_qemu *q = guest(version);

	(void)state;
	sweeps(q, (const unsigned int[]){SITES}, 1);
	assert_true(in_order(q, way, sizeof(way) / sizeof(way[0])));
	assert_int_equal(times(q, RUNS), 2);
	assert_int_equal(times(q, BY_STUB), 0);
	assert_int_equal(q->rip, WHERE);
	free(q);
}

static void test_too_few(void **state)
{
	struct fake_qemu *q = guest(version);

	(void)state;
	sweeps(q, (const unsigned int[]){SITES - 1}, 1);
	assert_int_equal(times(q, RUNS), 0);
	assert_int_equal(times(q, BY_STUB), 1);
	free(q);
}

/* All of them go through the stub, and no vCPU is told to run. */
static void nobody_runs(struct fake_qemu *q)
{
	sweeps(q, (const unsigned int[]){SITES}, 1);
	assert_int_equal(times(q, RUNS), 0);
	assert_int_equal(times(q, BY_STUB), 1);
	free(q);
}

static void test_nobody_can_run(void **state)
{
	struct fake_qemu *q = guest(version);

	(void)state;
	q->halted = true;
	nobody_runs(q);
	q = guest(version);
	q->cs = 0x33; /* user mode */
	nobody_runs(q);
	q = guest(version);
	q->rip = 0x1000;
	nobody_runs(q);
}

/* It is not for us to let it run. */
static void test_stopped_by_others(void **state)
{
	struct fake_qemu *q = guest(version);

	(void)state;
	q->stop = "T02thread:p01.01;";
	nobody_runs(q);
}

/* A newer QEMU, or who knows which. */
static void test_kept(void **state)
{
	static char newer[] = "10.1.50\r\n", newest[] = "11.0.0\r\n";

	(void)state;
	nobody_runs(guest(newer));
	nobody_runs(guest(newest));
	nobody_runs(guest(NULL));
}

/* A vCPU that does not come is stopped. */
static void test_does_not_come(void **state)
{
	struct fake_qemu *q = guest(version);

	(void)state;
	q->comes = false;
	sweeps(q, (const unsigned int[]){SITES, SITES}, 2);
	assert_int_equal(times(q, RUNS), 1);
	assert_int_equal(times(q, RUNS "[^C]"), 1);
	assert_int_equal(times(q, CLEARED), 1);
	assert_int_equal(times(q, BY_STUB), 2);
	free(q);
}

/* The vCPU runs through its firmware when it is stopped, and gets nothing of what it was before. */
static void test_reset(void **state)
{
	static const char *const way[] = {RUNS, CLEARED};
	struct fake_qemu *q = guest(version);

	(void)state;
	q->cr3 = 0x2000;
	q->resets = "vCont;c:";
	sweeps(q, (const unsigned int[]){SITES}, 1);
	assert_true(in_order(q, way, sizeof(way) / sizeof(way[0])));
	assert_int_equal(times(q, RUNS), 1);
	assert_null(strstr(strstr(q->heard, RUNS), "[P"));
	assert_int_equal(q->rip, FAKE_RESET_RIP);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thrown_away),    cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_nobody_can_run), cmocka_unit_test(test_stopped_by_others),
		cmocka_unit_test(test_kept),	       cmocka_unit_test(test_does_not_come),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests_name("what QEMU has translated", tests, NULL, NULL);
}
