// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-returns.c - probes of returns in a kernel that keeps no room for them: which of its
 * functions' bytes they take, by which engine, and that these are given back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/guest/site.h"
#include "tracer/instance/files.h"
#include "tracer/control/files.h"

/* Offsets in the made-up image. */
enum {
	ALPHA_MIDDLE = FN_ALPHA + 9, /* what is not told here is zeros: instructions of two bytes */
	ALPHA_REPZ = FN_ALPHA + 0x20,
	ALPHA_LAST = FN_ALPHA + 0xf8, /* and seven bytes of padding */
	BETA_STATIC = FN_BETA + 0x21,
	BETA_LAST = FN_BETA + 0xff,
	CHAIN = 0x2700,
	CHAIN_SIZE = 0x40,
	CHAIN_LENGTH = 8,
	STATIC_CALLS = 0x5900,
	ETEXT = 0x3000,
};

static uint8_t before[IMAGE_END];
static char said[512];

static void put_bytes(uint32_t off, const char *bytes, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), bytes, len);
}

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(ETEXT), 'T');
	fake_symbol("__start_static_call_sites", FAKE_VA(STATIC_CALLS), 'R');
	fake_symbol("__stop_static_call_sites", FAKE_VA(STATIC_CALLS + 8), 'R');
	put(STATIC_CALLS, (uint32_t)(BETA_STATIC - STATIC_CALLS), 4);
	/* je over it; ret */
	put_bytes(ALPHA_MIDDLE - 2, "\x74\x01\xc3", 3);
	put_bytes(ALPHA_REPZ, "\xf3\xc3", 2);
	put_bytes(ALPHA_LAST, "\xc3\x0f\x1f\x80\x00\x00\x00\x00", 8);
	/* A static call to nothing, by a function that is jumped to next */
	put_bytes(BETA_STATIC, "\xc3\xcc\xcc\xcc\xcc", 5);
	put_bytes(BETA_LAST - 1, "\x90\xc3", 2);
	memcpy(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
	said[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.ntraps, 0);
	free(fake.ram);
	return 0;
}

static void take_message(void *arg, const char *text)
{
	(void)arg;
	snprintf(said, sizeof(said), "%s", text);
}

static struct trace *graph(enum trace_engine engine)
{
	struct trace *t =
		tramp_trace((struct trace_config){.engine = engine, .message = take_message});

	tramp_boot(t);
	assert_int_equal(returns_learn(t), 0);
	if (t->tramp)
		assert_int_equal(trampoline_returns(t), 0);
	assert_int_equal(instance_set_tracer(trace_top(t), "function_graph"), 0);
	return t;
}

static void end(struct trace *t)
{
	tramp_end(t);
	assert_memory_equal(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
}

static void trap_is(uint32_t off, enum machine_trap_kind kind, uint8_t size)
{
	const struct machine_trap *trap = fake_trap(FAKE_VA(off));

	assert_non_null(trap);
	assert_int_equal(trap->action, MACHINE_TRAP_RETURN);
	assert_int_equal(trap->kind, kind);
	assert_int_equal(trap->size, size);
	assert_int_equal(trap->pa, FAKE_PA + off);
}

/* As short as they are: one byte is enough. */
static void returns_are_traps(void **state)
{
	struct trace *t = graph(TRACE_ENGINE_TRAP);

	(void)state;
	trap_is(ALPHA_MIDDLE, MACHINE_TRAP_INT3, 1);
	trap_is(ALPHA_REPZ, MACHINE_TRAP_OUT, 2);
	trap_is(ALPHA_LAST, MACHINE_TRAP_OUT, SITE_SIZE);
	trap_is(BETA_LAST, MACHINE_TRAP_INT3, 1);
	assert_null(fake_trap(FAKE_VA(BETA_STATIC)));
	assert_int_equal(fake.ntraps, 2 + 4);
	assert_non_null(strstr(said, "3 of the 4 to be traced exit to the host"));
	end(t);
}

static void one_with_padding_is_a_call(void **state)
{
	struct trace *t = graph(TRACE_ENGINE_TRAMPOLINE);

	(void)state;
	assert_int_equal(tramp_target(ALPHA_LAST), tramp_entry(payload_exit));
	trap_is(ALPHA_MIDDLE, MACHINE_TRAP_INT3, 1);
	trap_is(ALPHA_REPZ, MACHINE_TRAP_OUT, 2);
	trap_is(BETA_LAST, MACHINE_TRAP_INT3, 1);
	assert_int_equal(fake.ntraps, 3);
	end(t);
}

/* Found again with the probes in place; and not when nobody wants them. */
static void selections_change(void **state)
{
	struct trace *t = graph(TRACE_ENGINE_TRAMPOLINE);

	(void)state;
	assert_int_equal(instance_set_tracer(trace_top(t), "function"), 0);
	assert_int_equal(fake.ntraps, 0);
	assert_memory_equal(before + ALPHA_LAST, fake_at(FAKE_VA(ALPHA_LAST)), 8);
	said[0] = '\0';
	for (int i = 0; i < 2; i++) {
		assert_int_equal(instance_set_tracer(trace_top(t), "function_graph"), 0);
		assert_int_equal(fake.ntraps, 3);
		assert_int_equal(tramp_target(ALPHA_LAST), tramp_entry(payload_exit));
	}
	assert_string_equal(said, ""); /* that was said before */
	end(t);
}

/* What the padding is by now is somebody else's business. */
static void changed_bytes_are_left_alone(void **state)
{
	struct trace *t = graph(TRACE_ENGINE_TRAMPOLINE);

	(void)state;
	assert_int_equal(instance_set_tracer(trace_top(t), "function"), 0);
	put_bytes(ALPHA_LAST, "\x0f\x1f\x84\x00\x00\x00\x00\x00", 8);
	memcpy(before, fake_at(FAKE_TEXT), ALPHA_LAST + 8);
	memcpy(before + FN_ALPHA, site_nop, SITE_SIZE);
	memcpy(before + FN_BETA, site_nop, SITE_SIZE);
	memcpy(before + FN_MUTEX_LOCK, site_nop, SITE_SIZE);
	assert_int_equal(instance_set_tracer(trace_top(t), "function_graph"), 0);
	assert_memory_equal(fake_at(FAKE_VA(ALPHA_LAST)), before + ALPHA_LAST, 8);
	assert_int_equal(fake.ntraps, 3);
	end(t);
}

/* Where static calls are is not known, so nothing may be patched. */
static void unreadable_static_calls(void **state)
{
	struct trace *t;

	(void)state;
	for (size_t i = 0; i < fake.nsyms; i++)
		if (!strcmp(fake.syms[i].name, "__stop_static_call_sites"))
			fake.syms[i].addr = FAKE_VA(FAKE_RAM);
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	tramp_boot(t);
	assert_int_equal(returns_learn(t), 0);
	assert_false(returns_known(t));
	assert_int_equal(instance_set_tracer(trace_top(t), "function_graph"), -EOPNOTSUPP);
	end(t);
}

/* Functions that nobody traces, the last of which beta jumps to, and each to the one before it. */
static void chain_make(void)
{
	static const char *const names[CHAIN_LENGTH] = {"c0", "c1", "c2", "c3",
							"c4", "c5", "c6", "c7"};
	const uint32_t last = CHAIN + (CHAIN_LENGTH - 1) * CHAIN_SIZE, jump = FN_BETA + 0x30;

	for (uint32_t i = 0; i < CHAIN_LENGTH; i++) {
		fake_symbol(names[i], FAKE_VA(CHAIN + i * CHAIN_SIZE), 'T');
		put_bytes(CHAIN + i * CHAIN_SIZE, "\xeb\xbe\xc3", 3);
	}
	put_bytes(CHAIN, "\x90\x90", 2);
	put_bytes(jump, "\xe9\x00\x00\x00\x00\x90", 6);
	put(jump + 1, last - (jump + SITE_SIZE), 4);
	memcpy(before, fake_at(FAKE_TEXT), PER_CPU_OFFSET);
}

static void jumps_are_followed_backwards(void **state)
{
	struct trace *t;

	(void)state;
	chain_make();
	t = graph(TRACE_ENGINE_TRAP);
	for (uint32_t i = 0; i < CHAIN_LENGTH; i++)
		trap_is(CHAIN + i * CHAIN_SIZE + 2, MACHINE_TRAP_INT3, 1);
	assert_int_equal(fake.ntraps, 2 + 4 + CHAIN_LENGTH);
	end(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(returns_are_traps),       TEST(one_with_padding_is_a_call),
		TEST(selections_change),       TEST(changed_bytes_are_left_alone),
		TEST(unreadable_static_calls), TEST(jumps_are_followed_backwards),
	};

	return cmocka_run_group_tests_name("returns", tests, NULL, NULL);
}
