// SPDX-License-Identifier: GPL-2.0-or-later
/* test-trampoline.c - sites that become calls of the payload, and NOPs again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tracer/internal.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/guest/site.h"
#include "tracer/record/record.h"
#include "tracer/collect/collect.h"
#include "tracer/tracer.h"

static uint8_t before[IMAGE_END];

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	memcpy(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.ntraps, 0);
	free(fake.ram);
	return 0;
}

static void text_is_as_before(void)
{
	assert_memory_equal(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
}

static void sites_become_calls_and_nops_again(void **state)
{
	struct trace_status st;
	struct trace *t;

	(void)state;
	t = tramp_started((struct trace_config){0});
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
	assert_int_equal(tramp_target(FN_BETA), tramp_entry(payload_function));
	assert_int_equal(tramp_target(FN_SCHEDULE), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_get_status(t, &st);
	assert_string_equal(st.engine, "trampoline");
	assert_true(st.sites == 2 && st.traced == 2 && !st.skipped);
	tramp_end(t);
	text_is_as_before();
	assert_int_equal(tramp_window(), 0);
}

/* Up to the end of ftrace_init() each hit exits; what is no site goes on doing so. */
static void traps_come_first(void **state)
{
	struct trace *t;
	char err[256];

	(void)state;
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_AUTO});
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), 0);
	assert_non_null(fake_trap(FAKE_VA(FN_ALPHA)));
	assert_non_null(fake_trap(FAKE_VA(FN_BETA)));
	assert_true(trace_has_traps(t));
	tramp_trap(t, FAKE_VA(FN_FTRACE_INIT), FAKE_VA(FN_START_KERNEL + 0x50));
	text_is_as_before();
	assert_int_equal(fake.ntraps, 1);
	assert_int_equal(tramp_window(), 0);
	tramp_trap(t, FAKE_VA(FN_START_KERNEL + 0x50), 0);
	assert_int_equal(fake.ntraps, 0);
	assert_true(tramp_target(FN_ALPHA));
	assert_false(trace_has_traps(t));
	tramp_end(t);
	text_is_as_before();
}

static void what_fires_once_stays_a_trap(void **state)
{
	struct trace *t;

	(void)state;
	t = tramp_started((struct trace_config){.until = "register_kprobe"}); /* it has no site */
	assert_int_equal(fake.ntraps, 1);
	assert_int_equal(fake.traps[0].va, FAKE_VA(FN_KPROBES));
	assert_int_equal(fake.traps[0].action, MACHINE_TRAP_ONCE);
	tramp_trap(t, FAKE_VA(FN_KPROBES), 0);
	assert_int_equal(fake.woken, 1);
	tramp_end(t);
}

/* A call reaches 2 GiB to either side of it. */
static void what_is_out_of_reach_stays_a_trap(void **state)
{
	static const char *const filter[] = {"alpha", "far"};
	struct trace_config cfg = {.filter = filter, .nr_filter = 2};
	const uint64_t far = FAKE_DIRECT + FAKE_PA + 0x2e00;
	struct trace *t;

	(void)state;
	fake_symbol("far", far, 't');
	fake.sites[fake.nsites++] = (struct guestsym_site){far, far, "far", GUESTSYM_SITE_NOP};
	memcpy(fake_at(FAKE_VA(0x2e00)), site_nop, SITE_SIZE);
	t = tramp_started(cfg);
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
	assert_int_equal(tramp_target(0x2e00), 0);
	assert_int_equal(fake.ntraps, 1);
	assert_non_null(fake_trap(far));
	tramp_end(t);
}

static void what_somebody_uses_is_left_alone(void **state)
{
	static const uint8_t jump[SITE_SIZE] = {0xe9, 1, 2, 3, 4};
	struct trace_status st;
	uint8_t call[SITE_SIZE];
	struct trace *t;

	(void)state;
	memcpy(fake_at(FAKE_VA(FN_ALPHA)), jump, SITE_SIZE);
	t = tramp_started((struct trace_config){0});
	assert_memory_equal(fake_at(FAKE_VA(FN_ALPHA)), jump, SITE_SIZE);
	trace_get_status(t, &st);
	assert_true(st.traced == 1 && st.skipped == 1);
	/* The guest takes one of ours meanwhile. */
	site_call_make(call, FAKE_VA(FN_BETA), FAKE_VA(FN_START_KERNEL));
	memcpy(fake_at(FAKE_VA(FN_BETA)), call, SITE_SIZE);
	tramp_end(t);
	assert_memory_equal(fake_at(FAKE_VA(FN_ALPHA)), jump, SITE_SIZE);
	assert_memory_equal(fake_at(FAKE_VA(FN_BETA)), call, SITE_SIZE);
}

static void count_notes(void *arg, const char *text)
{
	assert_non_null(strstr(text, "trampolines cannot be used"));
	++*(unsigned int *)arg;
}

static void no_window_is_said(void **state)
{
	struct trace_config cfg = {.engine = TRACE_ENGINE_AUTO, .message = count_notes};
	unsigned int notes = 0;
	struct trace_status st;
	struct trace *t;

	(void)state;
	cfg.message_arg = &notes;
	fake.window = false;
	t = tramp_trace(cfg);
	tramp_boot(t);
	assert_int_equal(notes, 1);
	assert_int_equal(tramp_target(FN_ALPHA), 0);
	assert_non_null(fake_trap(FAKE_VA(FN_ALPHA)));
	trace_get_status(t, &st);
	assert_string_equal(st.engine, "trap");
	tramp_end(t);
	text_is_as_before();
	/* Who asks for trampolines wants nothing else. */
	cfg.engine = TRACE_ENGINE_TRAMPOLINE;
	t = tramp_trace(cfg);
	tramp_boot(t);
	assert_int_equal(notes, 2);
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(trace_detach(t), -EOPNOTSUPP);
	trace_free(t);
	text_is_as_before();
}

/* Nothing waits for tasks to leave what nobody has been in. */
static void payload_that_does_not_fit_is_gone_at_once(void **state)
{
	unsigned int notes = 0;
	int64_t begin = tramp_ms();
	struct trace *t;

	(void)state;
	for (size_t i = 0; i < fake.nsyms; i++)
		if (!strcmp(fake.syms[i].name, "cpu_number"))
			fake.syms[i].name = "cpu_letter";
	fake.now[0].rsp = FAKE_VA(STACK + 0x100);
	fake.now[1].rsp = 0; /* a stack that makes no sense */
	t = tramp_trace((struct trace_config){.message = count_notes, .message_arg = &notes});
	tramp_boot(t);
	assert_int_equal(notes, 1);
	assert_int_equal(tramp_window(), 0);
	assert_true(tramp_ms() - begin < 15000); /* they would be waited for longer */
	tramp_end(t);
	text_is_as_before();
}

/* The record of the function itself is made by the host then, behind the guest's. */
static void until_is_a_call(void **state)
{
	struct trace *t;
	char *text;

	(void)state;
	t = tramp_started((struct trace_config){.until = "beta"});
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
	assert_int_equal(tramp_target(FN_BETA), tramp_entry(payload_call));
	put(STACK + 0x3f00, FAKE_VA(FN_START_KERNEL + 0x20), 8);
	tramp_function(0, 100, FN_ALPHA, PREEMPT_NO_RESCHED, 42);
	put(PER_CPU_AREA + PCPU_COUNT, COUNT_NONE + 1u, 4); /* as the payload leaves it */
	tramp_call(0, FAKE_VA(FN_BETA), FAKE_VA(STACK + 0x3f00), 0);
	put(PER_CPU_AREA + PCPU_COUNT, (uint32_t)COUNT_NONE, 4);
	assert_int_equal(fake.woken, 1);
	tramp_function(0, 6000, FN_ALPHA, PREEMPT_NO_RESCHED, 42);
	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);

	assert_string_equal(
		text, "            cpu0-42      [000] .....          100: alpha <-start_kernel\n"
		      "            cpu0-42      [000] .....         5000: beta <-start_kernel\n");
	free(text);
	trace_free(t);
	text_is_as_before();
}

/* --- patches that fail on their way ---------------------------------------------------------- */

static struct trace *started_with_failures(unsigned int failures)
{
	fake.patch_room = 1;
	fake.patch_failures = failures;
	return tramp_started((struct trace_config){0});
}

static void sweeps_that_fail_are_undone(void **state)
{
	struct trace *t;

	(void)state;
	t = started_with_failures(1);
	text_is_as_before();
	assert_int_equal(trace_detach(t), -EIO);
	assert_int_equal(tramp_window(), 0);
	trace_free(t);
	text_is_as_before();
}

static void what_cannot_be_undone_is_removed_at_the_end(void **state)
{
	struct trace *t;

	(void)state;
	t = started_with_failures(2);
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
	assert_int_equal(trace_detach(t), -EIO);
	assert_int_equal(tramp_window(), 0);
	trace_free(t);
	text_is_as_before();
}

/* Calls into memory that the guest has got back would be its end. */
static void what_stays_in_the_guest_has_its_window(void **state)
{
	struct trace *t;

	(void)state;
	t = started_with_failures(3);
	assert_int_equal(trace_detach(t), -EIO);
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
	assert_int_equal(tramp_target(FN_BETA), 0);
	trace_free(t);
}

/* A module whose text is freed without a word keeps nothing else in the guest. */
static void what_is_not_mapped_any_more_is_left_alone(void **state)
{
	enum { MOD_PA = 0x300000 };
	static const char *const all[] = {NULL};
	const uint64_t text = UINT64_C(0xffffffffc0000000);
	const struct guestsym_symbol syms[] = {{text, "mod_function", 't'}};
	const struct guestsym_site sites[] = {{text, text, "mod_function", 0}};
	struct trace *t;

	(void)state;
	t = tramp_started((struct trace_config){.filter = all});
	fake.nmods = 1;
	fake.mods[0] = (struct guestsym_module){
		.name = "mod",
		.text = {text, text + 0x1000},
		.syms = syms,
		.nr_syms = 1,
		.sites = sites,
		.nr_sites = 1,
	};
	memcpy(fake.ram + MOD_PA, site_nop, sizeof(site_nop));
	fake_map(guest_image_pa(&t->guest, t->guest.pgtable_root), text, 0x1000, MOD_PA);
	trace_change_begin(t);
	assert_int_equal(modules_update(t), 0);
	assert_int_equal(selection_update(t), 0);
	trace_change_end(t);
	assert_int_equal(fake.ram[MOD_PA], 0xe8);
	fake.nmaps--;
	tramp_end(t);
	text_is_as_before();
	assert_int_equal(tramp_window(), 0);
}

static void count_stays(void *arg, const char *text)
{
	assert_non_null(strstr(text, "still has a probe"));
	++*(unsigned int *)arg;
}

/* The guest cannot be asked for the call that is tried; its site is written once or not again. */
static struct trace *tried_with_failures(unsigned int failures, unsigned int *notes)
{
	struct trace *t;
	char err[256];

	for (size_t i = 0; i < fake.nsyms; i++)
		if (!strcmp(fake.syms[i].name, "free_pages"))
			fake.syms[i].name = "";
	add_site("free_pages", FN_FREE);
	t = tramp_trace((struct trace_config){.message = count_stays, .message_arg = notes});
	guest_bind(&t->guest, NULL);
	t->borrow = borrow_new(NULL, &t->guest);
	assert_non_null(t->borrow);
	fake.trap_error = -EIO;
	fake.patch_room = 1;
	fake.patch_failures = failures;
	assert_int_equal(collect_open(t, err, sizeof(err)), -EIO);
	return t;
}

static void the_site_of_the_try_is_restored(void **state)
{
	unsigned int notes = 0;

	(void)state;
	trace_free(tried_with_failures(0, &notes));
	assert_int_equal(notes, 0);
	assert_int_equal(tramp_target(FN_FREE), 0);
	assert_int_equal(tramp_window(), 0);
}

static void the_window_of_the_try_stays_while_it_is_called(void **state)
{
	unsigned int notes = 0;

	(void)state;
	trace_free(tried_with_failures(1, &notes));
	assert_int_equal(notes, 1);
	assert_int_equal(tramp_target(FN_FREE), tramp_entry(payload_function));
}

static void count_resets(void *arg, const char *text)
{
	assert_non_null(strstr(text, "seems to have been reset"));
	++*(unsigned int *)arg;
}

/* Nothing but its clock has told. */
static void what_a_reset_may_have_left_is_said(void **state)
{
	unsigned int notes = 0;
	struct trace *t;

	(void)state;
	t = tramp_started((struct trace_config){.message = count_resets, .message_arg = &notes});
	t->cfg.running = true;
	t->life->pulse.gone = true;
	tramp_end(t);
	assert_int_equal(notes, 1);
	assert_true(tramp_target(FN_ALPHA));
	assert_true(tramp_window());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sites_become_calls_and_nops_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(traps_come_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_fires_once_stays_a_trap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_out_of_reach_stays_a_trap, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_somebody_uses_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_window_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(payload_that_does_not_fit_is_gone_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(until_is_a_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sweeps_that_fail_are_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_undone_is_removed_at_the_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_stays_in_the_guest_has_its_window, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_mapped_any_more_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_site_of_the_try_is_restored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_window_of_the_try_stays_while_it_is_called,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_reset_may_have_left_is_said, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("trampoline", tests, NULL, NULL);
}
