// SPDX-License-Identifier: GPL-2.0-or-later
/* test-leftover.c - what a tracer that was killed has left is found, and taken away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fake-life.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/boot.h"
#include "tracer/guest/site.h"
#include "tracer/collect/collect.h"
#include "tracer/internal.h"
#include "tracer/tracer.h"

static uint8_t before[IMAGE_END];
static struct trace *t; /* that comes later */

/* One that dies: its host's side goes, what it has put into the guest stays. */
static void tracer_dies(void)
{
	struct trace *dying = tramp_started((struct trace_config){0});
	char err[256];

	boot_end(dying);
	assert_int_equal(collect_close(dying, true, err, sizeof(err)), 0);
	trace_free(dying);
	assert_true(tramp_target(FN_ALPHA));
	assert_true(tramp_window());
}

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	memcpy(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
	t = tramp_trace((struct trace_config){.running = true});
	guest_bind(&t->guest, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.paused, 0);
	trace_free(t);
	free(fake.ram);
	return 0;
}

static void recovered(int want)
{
	char err[256] = "";
	int ret = leftover_remove(t, &leftover_limits, err, sizeof(err));

	if (ret != want)
		fail_msg("%d instead of %d %s", ret, want, err);
}

static void sites_and_window_are_taken_away(void **state)
{
	(void)state;
	recovered(0); /* there is nothing yet */
	tracer_dies();
	recovered(3); /* alpha, beta, mutex_lock */
	assert_int_equal(tramp_window(), 0);
	assert_memory_equal(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
	recovered(0);
}

static void what_is_not_the_dead_ones_stays(void **state)
{
	static const uint8_t jump[SITE_SIZE] = {0xe9, 1, 2, 3, 4};
	uint8_t call[SITE_SIZE];

	(void)state;
	tracer_dies();
	memcpy(fake_at(FAKE_VA(FN_BETA)), jump, sizeof(jump));
	site_call_make(call, FAKE_VA(FN_SCHEDULE), FAKE_VA(FN_START_KERNEL));
	memcpy(fake_at(FAKE_VA(FN_SCHEDULE)), call, sizeof(call));
	recovered(2);
	assert_memory_equal(fake_at(FAKE_VA(FN_BETA)), jump, sizeof(jump));
	assert_memory_equal(fake_at(FAKE_VA(FN_SCHEDULE)), call, sizeof(call));
	assert_int_equal(tramp_window(), 0);
}

/* Who waits for the dead one's answer gets it, and nobody records any more. */
static void calls_are_answered(void **state)
{
	uint32_t flags;

	(void)state;
	tracer_dies();
	tramp_call_make(1, FAKE_VA(FN_MUTEX_LOCK), 0, 0);
	recovered(3);
	assert_int_equal(tramp_call_state(0), PAYLOAD_CALL_NONE);
	assert_int_equal(tramp_call_state(1), PAYLOAD_CALL_DONE);
	for (unsigned int cpu = 0; cpu < TRAMP_CPUS; cpu++) {
		window_get_at(ctl_off(cpu, CTL_FLAGS), &flags, sizeof(flags));
		assert_int_equal(flags, 0);
	}
}

static void sites_are_back_and_it_leaves(void)
{
	static unsigned int runs;

	assert_memory_equal(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
	assert_true(runs > 2 || tramp_window());
	if (++runs == 3)
		fake.now[1].rip = FAKE_VA(FN_START_KERNEL);
}

/* Sites go back at once, the window when it can. */
static void somebody_inside_is_waited_for(void **state)
{
	(void)state;
	tracer_dies();
	fake.now[1].rip = tramp_window() + WINDOW_TEXT + 4;
	fake.run = sites_are_back_and_it_leaves;
	recovered(3);
	assert_int_equal(fake.now[1].rip, FAKE_VA(FN_START_KERNEL));
	assert_int_equal(tramp_window(), 0);
}

/* What a guest can make of the header, at any place: found or not, the host does no harm. */
static void any_header_does_no_harm(void **state)
{
	static const uint64_t values[] = {
		0, 1, 8, 0x7fffffff, 0x80000000, UINT64_MAX, UINT64_C(1) << 63, TRAMP_REGION};
	uint8_t directory[4096];
	struct payload_header good;

	(void)state;
	tracer_dies();
	window_get_at(WINDOW_HEADER, &good, sizeof(good));
	memcpy(directory, fake_at(FAKE_VA(DIRECTORY)), sizeof(directory));
	for (uint64_t off = 0; off < sizeof(good); off += 4) {
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			char err[256];

			window_put_at(WINDOW_HEADER, &good, sizeof(good));
			window_put_at(WINDOW_HEADER + off, &values[i],
				      off + 8 <= sizeof(good) ? 8 : 4);
			leftover_remove(t, &leftover_limits, err, sizeof(err));
			/* It may have been a good one still. */
			memcpy(fake_at(FAKE_VA(DIRECTORY)), directory, sizeof(directory));
		}
	}
	window_put_at(WINDOW_HEADER, &good, sizeof(good));
	recovered(0);
	assert_int_equal(tramp_window(), 0);
	assert_memory_equal(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
}

/* A form of our own calls: no site of it is given back what it says. */
static void form_is_not_believed(uint8_t size, uint8_t relative)
{
	struct payload_form form = {.size = size, .relative = relative};

	tracer_dies();
	form.entry = (uint32_t)(tramp_target(FN_MUTEX_LOCK) - tramp_window() - WINDOW_TEXT);
	window_put_at(WINDOW_HEADER + offsetof(struct payload_header, form), &form, sizeof(form));
	recovered(3);
	assert_memory_equal(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
}

/* Its distance would lie before its bytes, or behind them; or it has fewer than a call, or too
 * many. */
static void forms_are_not_believed(void **state)
{
	static const uint8_t relative[] = {1, 3, SITE_SIZE + 1, SITE_SIZE + 8, 255};
	static const uint8_t size[] = {0, 1, SITE_SIZE - 1, PAYLOAD_FORM_MAX + 1, 255};

	(void)state;
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(0x3000), 'T');
	for (size_t i = 0; i < sizeof(relative); i++)
		form_is_not_believed(SITE_SIZE, relative[i]);
	for (size_t i = 0; i < sizeof(size); i++)
		form_is_not_believed(size[i], 0);
}

/* --- who dies after any write ---------------------------------------------------------------- */

/* Of one that attaches, traces, and detaches. */
static void life_lived(void)
{
	struct trace *whole;

	life_begin();
	whole = tramp_started((struct trace_config){0});
	assert_true(tramp_target(FN_ALPHA));
	tramp_end(whole);
	life_end();
	assert_memory_equal(life.first + FAKE_PA, fake.ram + FAKE_PA, IMAGE_END);
}

/* All but what the machine gives for windows, which nobody looks at but who finds one. */
static void is_as_before(size_t n, size_t part)
{
	const size_t window = FAKE_WINDOW + TRACE_WINDOW_MIN, table = FAKE_TABLE + 4096;

	if (tramp_window() || memcmp(fake.ram, life.first, FAKE_TABLE) ||
	    memcmp(fake.ram + table, life.first + table, FAKE_WINDOW - table) ||
	    memcmp(fake.ram + window, life.first + window, FAKE_RAM - window))
		fail_msg("something is left of one that died after write %zu and %zu bytes", n,
			 part);
}

static void whenever_it_dies_all_is_taken_away(void **state)
{
	char err[256] = "";

	(void)state;
	life_lived();
	assert_true(life.n > 8);
	for (size_t n = 0; n <= life.n; n++) {
		size_t len = n < life.n ? life.write[n].len : 0;
		const size_t parts[] = {0, 8, len / 2 & ~7, len ? (len - 1) & ~7 : 0};

		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			if (i && (!parts[i] || parts[i] >= len))
				continue;
			life_until(n, parts[i]);
			if (leftover_remove(t, &leftover_limits, err, sizeof(err)) < 0)
				fail_msg("after write %zu and %zu bytes: %s", n, parts[i], err);
			is_as_before(n, parts[i]);
		}
	}
	life_free();
}

static void offsets_are_not_believed(void **state)
{
	static const size_t offs[] = {
		offsetof(struct payload_header, exit),
		offsetof(struct payload_header, exit_all),
		offsetof(struct payload_header, work),
		offsetof(struct payload_header, detour[0].entry),
		offsetof(struct payload_header, detour[0].rest),
		offsetof(struct payload_header, detour[PAYLOAD_DETOURS - 1].size),
	};
	const uint32_t bad = WINDOW_TEXT_SIZE;
	struct payload_header good;

	(void)state;
	tracer_dies();
	window_get_at(WINDOW_HEADER, &good, sizeof(good));
	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		window_put_at(WINDOW_HEADER + offs[i], &bad, sizeof(bad));
		recovered(0); /* no window of ours */
		window_put_at(WINDOW_HEADER, &good, sizeof(good));
	}
	recovered(3);
}

/* --- limits ---------------------------------------------------------------------------------- */

static int64_t seconds; /* each look at the clock takes one */

static int64_t slow_ms(void)
{
	return ++seconds * 1000;
}

static int64_t no_ms(void)
{
	return 0;
}

/* It gives up with one line, and what the dead one has left is as it was. */
static void left_alone(const struct leftover_limits *limits, int want)
{
	static uint8_t text[PER_CPU_OFFSET];
	char err[256] = "";

	memcpy(text, fake_at(FAKE_TEXT), sizeof(text));
	assert_int_equal(leftover_remove(t, limits, err, sizeof(err)), want);
	assert_non_null(strstr(err, "is left as it is"));
	assert_null(strchr(err, '\n'));
	assert_true(strlen(err) < sizeof(err) - 1);
	assert_memory_equal(text, fake_at(FAKE_TEXT), sizeof(text));
	assert_true(tramp_window());
	assert_int_equal(fake.paused, 0);
}

static void patches_are_bounded(void **state)
{
	struct leftover_limits limits = leftover_limits;

	(void)state;
	tracer_dies();
	limits.patches = 2;
	left_alone(&limits, -E2BIG);
	recovered(3);
}

static void time_is_bounded(void **state)
{
	struct leftover_limits limits = leftover_limits;

	(void)state;
	tracer_dies();
	limits.now_ms = slow_ms;
	limits.ms = 2000;
	left_alone(&limits, -ETIMEDOUT);
	recovered(3);
}

/* Modules whose text is the same four megabytes over and over, and none for most of it. */
static void modules_forge(uint64_t start, uint64_t end)
{
	const uint64_t base = TRAMP_REGION, part = UINT64_C(4) << 20;

	for (unsigned int i = 0; i < 32; i++)
		fake_map(FAKE_PA + TOP_PGT, base + i * part, part, FAKE_PA + part / 2);
	for (unsigned int i = 0; i < 2; i++)
		fake.mods[i] = (struct guestsym_module){.name = i ? "one" : "other",
							.addr = base + 64 * i,
							.text = {.start = start, .end = end}};
	fake.nmods = 2;
	machine_pause_for(NULL, "reading modules");
	assert_int_equal(modules_update(t), 0);
	machine_resume(NULL);
}

static uint64_t bytes_read;

static void count_bytes(uint64_t pa, size_t len)
{
	(void)pa;
	bytes_read += len;
}

static void bytes_are_bounded(void **state)
{
	struct leftover_limits limits = leftover_limits;

	(void)state;
	tracer_dies();
	modules_forge(TRAMP_REGION, TRAMP_REGION + limits.bytes);
	limits.now_ms = no_ms;
	bytes_read = 0;
	fake.before_read = count_bytes;
	left_alone(&limits, -E2BIG);
	fake.before_read = NULL;
	assert_in_range(bytes_read, 1, 2 * limits.bytes);
}

/* Text that ends where there are no more addresses. */
static void the_last_addresses_are_no_trap(void **state)
{
	(void)state;
	tracer_dies();
	modules_forge(UINT64_MAX - 100, UINT64_MAX);
	recovered(3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sites_and_window_are_taken_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_the_dead_ones_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_are_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(somebody_inside_is_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_header_does_no_harm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forms_are_not_believed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(offsets_are_not_believed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(patches_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(time_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bytes_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_last_addresses_are_no_trap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whenever_it_dies_all_is_taken_away, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("leftover", tests, NULL, NULL);
}
