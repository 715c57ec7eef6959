// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kprobe-traps.c - where the handlers of the guest's kprobes exit, and the sites it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/instance/instance.h"
#include "tracer/dynevent/kprobe-traps.h"
#include "tracer/record/record.h"
#include "tracer/collect/collect.h"
#include "tracer/tracer.h"

enum {
	REGS = 0x5a00, /* a struct pt_regs */
	SP = STACK + 0x3f00,
};

static struct trace *t;

static int set_up(void **state)
{
	char err[256] = "";

	(void)state;
	tramp_kernel_make();
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	tramp_boot(t);
	t->m = (struct machine *)&fake;
	if (collect_open_events(t, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(kprobe_traps_insert(t), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
	free(fake.ram);
	return 0;
}

static uint64_t trap_va(void)
{
	return tramp_window() + WINDOW_TEXT + trampoline_text(t)->kprobe_trap;
}

static void it_is_in_the_window(void **state)
{
	const struct machine_trap *trap = fake_trap(trap_va());

	(void)state;
	assert_non_null(trap);
	assert_int_equal(trap->action, MACHINE_TRAP_SKIP);
	assert_int_equal(trap->size, 2);
	assert_int_equal(trap->pa, FAKE_WINDOW + (trap->va - tramp_window()));
	assert_int_equal(kprobe_traps_remove(t), 0);
	assert_null(fake_trap(trap_va()));
}

/* Of no row that there is: nothing is recorded, and nothing else is thought to have been hit. */
static void what_the_guest_makes_up(void **state)
{
	const uint64_t rows = tramp_window() + WINDOW_PROBES;
	const uint64_t row[] = {rows,
				rows + 1,
				rows - PROBE_ROW_SIZE,
				rows + (uint64_t)PROBE_ROWS * PROBE_ROW_SIZE,
				0,
				UINT64_MAX};
	struct machine_regs regs = {.rsp = FAKE_VA(SP), .rdi = FAKE_VA(REGS), .rflags = 0x202};
	struct machine_hit hit = {.va = trap_va(), .tsc = 1000, .regs = &regs};
	char *text;

	(void)state;
	hit.cookie = fake_trap(trap_va())->cookie;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		put(SP + 8, row[i], 8);
		assert_true(kprobe_traps_hit(t, &hit));
	}
	regs.rdi = regs.rsp = UINT64_MAX - 3;
	assert_true(kprobe_traps_hit(t, &hit));
	hit.cookie = 0;
	assert_false(kprobe_traps_hit(t, &hit));
	text = tramp_print(t);
	assert_string_equal(text, "");
	free(text);
}

static void traps_are(bool alpha, bool beta)
{
	assert_int_equal(fake_trap(FAKE_VA(FN_ALPHA)) != NULL, alpha);
	assert_int_equal(fake_trap(FAKE_VA(FN_BETA)) != NULL, beta);
}

static void sites_are_left_to_the_guest(void **state)
{
	static const uint8_t call[SITE_SIZE] = {0xe8, 1, 2, 3, 4};
	const uint64_t at[] = {FAKE_VA(FN_ALPHA), FAKE_VA(FN_BETA)};

	(void)state;
	traps_are(true, true);
	assert_int_equal(kprobe_traps_leave(t, at, 1), 0);
	traps_are(false, true);
	/* Other changes do not bring it back, */
	trace_change_begin(t);
	assert_int_equal(selection_patch(t), 0);
	trace_change_end(t);
	traps_are(false, true);
	assert_int_equal(kprobe_traps_leave(t, at, 2), 0);
	traps_are(false, false);
	assert_int_equal(kprobe_traps_leave(t, at + 1, 1), 0);
	traps_are(true, false);
	/* nor does the end of its probe while the kernel has something there. */
	memcpy(fake_at(FAKE_VA(FN_BETA)), call, SITE_SIZE);
	assert_int_equal(kprobe_traps_leave(t, NULL, 0), 0);
	traps_are(true, false);
	memcpy(fake_at(FAKE_VA(FN_BETA)), site_nop, SITE_SIZE);
	assert_int_equal(kprobe_traps_leave(t, NULL, 0), 0);
	traps_are(true, true);
}

static void at_an_endbr64_and_within(void **state)
{
	const uint64_t endbr = FAKE_VA(FN_ALPHA) - 4, within = FAKE_VA(FN_ALPHA) + 5;

	(void)state;
	assert_int_equal(kprobe_traps_leave(t, &endbr, 1), 0);
	traps_are(false, true);
	assert_int_equal(kprobe_traps_leave(t, &within, 1), 0);
	traps_are(true, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_in_the_window),
		TEST(what_the_guest_makes_up),
		TEST(sites_are_left_to_the_guest),
		TEST(at_an_endbr64_and_within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
