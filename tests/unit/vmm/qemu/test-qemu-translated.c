// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-translated.c - sweeps of patches under TCG, into memory once QEMU has thrown away what
 * it has translated of the guest's code: for that a vCPU comes to a breakpoint where it is.
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

static const uint8_t call[] = {0xe8, 1, 2, 3, 4};

/* What it has translated, and whether a breakpoint makes it throw that away; NULL: it tells not. */
struct jit {
	unsigned int blocks;
	bool keeps;
};

static bool monitor(struct fake_qemu *q, const char *command, char *text, size_t size)
{
	struct jit *jit = q->arg;

	if (strcmp(command, "info jit") != 0)
		return false;
	if (!jit)
		return true;
	if (!jit->keeps && strstr(q->heard, CLEARED))
		jit->blocks /= 2; /* not all at once */
	snprintf(text, size, "Translation buffer state:\r\nTB count            %u\r\n",
		 jit->blocks);
	return true;
}

static struct fake_qemu *guest(struct jit *jit)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	q->monitor = monitor;
	q->arg = jit;
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
	static const char *const way[] = {BREAKPOINT, WITHOUT_IF, RUNS, CLEARED};
	struct jit jit = {.blocks = 50000};
	struct fake_qemu *q = guest(&jit);

	(void)state;
	sweeps(q, (const unsigned int[]){SITES}, 1);
	assert_true(in_order(q, way, sizeof(way) / sizeof(way[0])));
	assert_int_equal(times(q, RUNS), 1);
	assert_int_equal(times(q, BY_STUB), 0);
	assert_int_equal(q->rip, WHERE);
	assert_int_equal(jit.blocks, 0);
	free(q);
}

static void test_nothing_to_throw_away(void **state)
{
	struct jit jit = {0};
	struct fake_qemu *q = guest(&jit);

	(void)state;
	sweeps(q, (const unsigned int[]){SITES, 64, 63}, 3);
	assert_int_equal(times(q, RUNS), 0);
	assert_int_equal(times(q, BY_STUB), 1); /* of too few to ask */
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
	struct jit jit = {.blocks = 50000};
	struct fake_qemu *q = guest(&jit);

	(void)state;
	q->halted = true;
	nobody_runs(q);
	q = guest(&jit);
	q->cs = 0x33; /* user mode */
	nobody_runs(q);
	q = guest(&jit);
	q->rip = 0x1000;
	nobody_runs(q);
	nobody_runs(guest(NULL));
}

/* It is not for us to let it run. */
static void test_stopped_by_others(void **state)
{
	struct jit jit = {.blocks = 50000};
	struct fake_qemu *q = guest(&jit);

	(void)state;
	q->stop = "T02thread:p01.01;";
	nobody_runs(q);
}

/* A newer QEMU: it is tried once. */
static void test_kept(void **state)
{
	struct jit jit = {.blocks = 5, .keeps = true};
	struct fake_qemu *q = guest(&jit);

	(void)state;
	sweeps(q, (const unsigned int[]){SITES, SITES}, 2);
	assert_int_equal(times(q, RUNS), 1);
	assert_int_equal(times(q, BY_STUB), 2);
	free(q);
}

/* A vCPU that does not come is stopped. */
static void test_does_not_come(void **state)
{
	struct jit jit = {.blocks = 5, .keeps = true};
	struct fake_qemu *q = guest(&jit);

	(void)state;
	q->comes = false;
	sweeps(q, (const unsigned int[]){SITES, SITES}, 2);
	assert_int_equal(times(q, RUNS), 1);
	assert_int_equal(times(q, RUNS "[^C]"), 1);
	assert_int_equal(times(q, CLEARED), 1);
	assert_int_equal(times(q, BY_STUB), 2);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thrown_away),    cmocka_unit_test(test_nothing_to_throw_away),
		cmocka_unit_test(test_nobody_can_run), cmocka_unit_test(test_stopped_by_others),
		cmocka_unit_test(test_kept),	       cmocka_unit_test(test_does_not_come),
	};

	return cmocka_run_group_tests_name("what QEMU has translated", tests, NULL, NULL);
}
