// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-reboot.c - machines whose guest resets itself, and boots again. */
#include "tests/unit/testguest.h"

#include "vmm/kvm/kvm.h"

static void reboot_new(struct guest *g, unsigned int cpus, const char *cmdline)
{
	struct machine_config cfg;
	char err[256] = "";

	guest_init(g);
	cfg = guest_config(g, cpus, cmdline);
	cfg.reboots = true;
	g->m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g->m)
		fail_msg("machine_new: %s", err);
}

static void reboot(struct guest *g)
{
	char err[256] = "";

	if (machine_reboot(g->m, err, sizeof(err)))
		fail_msg("machine_reboot: %s", err);
}

static unsigned int times_said(const struct guest *g, const char *what)
{
	unsigned int n = 0;

	for (const char *at = g->console; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* By each way that there is; the job runs the same each time, on all vCPUs. */
static void resets_by(const char *cmdline, enum machine_event_type type)
{
	struct guest g;

	reboot_new(&g, 2, cmdline);
	for (unsigned int boot = 1; boot <= 3; boot++) {
		if (boot > 1)
			reboot(&g);
		assert_int_equal(*guest_var(&g, "leaf_count"), 0);
		guest_start(&g);
		guest_wait_end(&g, type);
		assert_int_equal(*guest_var(&g, "leaf_count"), 50);
		assert_int_equal(times_said(&g, "\nok\n"), boot);
	}
	assert_int_equal(times_said(&g, "cpus=2"), 3);
	guest_free(&g);
}

static void test_ways(void **state)
{
	(void)state;
	resets_by("job=calls count=50 end=cf9", MACHINE_EVENT_RESET);
	resets_by("job=calls count=50 end=i8042", MACHINE_EVENT_RESET);
	resets_by("job=calls count=50 end=triple", MACHINE_EVENT_CRASH);
}

/* Interrupts are off, timers stand, and what a vCPU was in the middle of is not gone on with. */
static void test_timers(void **state)
{
	struct guest g;

	(void)state;
	reboot_new(&g, 2, "job=calls count=10 interrupts=3 timer=2000000 end=cf9");
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	reboot(&g);
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	assert_int_equal(times_said(&g, "\nok\n"), 2);
	guest_free(&g);
}

/* Those of before are gone, wherever they were; the same can be set again. */
static void traps_of(enum machine_trap_kind kind)
{
	struct machine_trap trap;
	struct guest g;

	reboot_new(&g, 2, "job=calls count=20 end=cf9");
	trap = guest_trap_at(&g, "traced_leaf", kind, MACHINE_TRAP_SKIP);
	for (unsigned int boot = 1; boot <= 4; boot++) {
		if (boot > 1)
			reboot(&g);
		/* In the second boot there is none. */
		if (boot != 2)
			assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
		guest_start(&g);
		guest_wait_end(&g, MACHINE_EVENT_RESET);
		assert_int_equal(guest_hits(&g), 40 * (boot > 1 ? boot - 1 : 1));
	}
	guest_free(&g);
}

static void test_traps(void **state)
{
	(void)state;
	traps_of(MACHINE_TRAP_OUT);
	traps_of(MACHINE_TRAP_INT3);
}

/* More often than there is room for windows at the same time; and what was written is gone. */
static void test_memory(void **state)
{
	uint64_t word = 0x1122334455667788, back = 1, first = 0, pa;
	struct guest g;
	void *host;

	(void)state;
	reboot_new(&g, 1, "end=cf9");
	for (unsigned int boot = 0; boot < KVM_MEM_MAX; boot++) {
		if (boot)
			reboot(&g);
		assert_int_equal(machine_read(g.m, 32 << 20, &back, sizeof(back)), 0);
		assert_int_equal(back, 0);
		assert_int_equal(machine_write(g.m, 32 << 20, &word, sizeof(word)), 0);
		assert_null(machine_host_ptr(g.m, UINT64_C(1) << 32, 1));
		assert_int_equal(machine_window(g.m, 4096, &pa, &host), 0);
		assert_int_equal(machine_window(g.m, 4096, &back, &host), 0);
		assert_int_equal(machine_reserved_page(g.m, &back), 0);
		if (!boot)
			first = pa;
		assert_int_equal(pa, first);
		guest_start(&g);
		guest_wait_end(&g, MACHINE_EVENT_RESET);
	}
	guest_free(&g);
}

/* Of all times that there are of the guest's it is the one that does not begin again. */
static void test_tsc_goes_on(void **state)
{
	uint64_t before;
	struct guest g;

	(void)state;
	reboot_new(&g, 1, "job=tsc end=cf9");
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	before = *guest_var(&g, "tsc_after");
	assert_true(before > 0);
	reboot(&g);
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	assert_true(*guest_var(&g, "tsc_before") > before);
	guest_free(&g);
}

static void refused(struct guest *g)
{
	struct machine_event before = {.type = MACHINE_EVENT_NONE}, behind = before;
	char err[256] = "";

	machine_has_ended(g->m, &before);
	assert_int_equal(machine_reboot(g->m, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "it has not reset itself");
	machine_has_ended(g->m, &behind);
	assert_int_equal(before.type, behind.type);
}

static void test_refused(void **state)
{
	struct guest g;

	(void)state;
	reboot_new(&g, 1, "job=work end=poweroff");
	refused(&g); /* it has not begun, */
	guest_start(&g);
	refused(&g); /* runs, */
	guest_stop(&g);
	refused(&g); /* and has powered itself off */
	guest_free(&g);
	guest_new(&g, 1, "end=cf9"); /* nobody has said that it may */
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	refused(&g);
	guest_free(&g);
}

/* One that does not boot again, or waits for that, can be freed. */
static void test_freed_anywhere(void **state)
{
	struct guest g;

	(void)state;
	reboot_new(&g, 2, "end=cf9");
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	guest_free(&g);
	reboot_new(&g, 2, "end=cf9");
	guest_start(&g);
	guest_wait_end(&g, MACHINE_EVENT_RESET);
	reboot(&g);
	guest_free(&g);
	reboot_new(&g, 2, "job=work end=cf9");
	guest_start(&g);
	guest_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),	       cmocka_unit_test(test_timers),
		cmocka_unit_test(test_traps),	       cmocka_unit_test(test_memory),
		cmocka_unit_test(test_tsc_goes_on),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_freed_anywhere),
	};

	return guest_run_tests("vmm reboot", tests);
}
