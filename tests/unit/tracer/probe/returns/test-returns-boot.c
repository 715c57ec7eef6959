// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-returns-boot.c - returns of a kernel with thunks while it boots: they are probes from its
 * first call on, and its own while alternative_instructions() makes of them what they stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/guest/site.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"

enum {
	ALPHA_RETURN = FN_ALPHA + 0xf0,
	BETA_RETURN = FN_BETA + 0xf0,
	THUNK = 0x2700,
	ALTERNATIVES = 0x2780,
	BACK = FN_START_KERNEL + 0x80, /* where that returns to */
	ETEXT = 0x3000,
};

static void jump_to_thunk(uint32_t off, uint8_t bytes[SITE_SIZE])
{
	int32_t rel = (int32_t)(THUNK - (off + SITE_SIZE));

	bytes[0] = INSN_JMP;
	memcpy(bytes + 1, &rel, sizeof(rel));
}

/* Each of its functions has one. */
static void returns_make(void)
{
	for (size_t i = 0; i < fake.nsites; i++) {
		uint32_t off = (uint32_t)(fake.sites[i].addr - FAKE_TEXT) + 0xf0;

		jump_to_thunk(off, fake_at(FAKE_VA(off)));
	}
}

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(ETEXT), 'T');
	fake_symbol("__x86_return_thunk", FAKE_VA(THUNK), 'T');
	fake_symbol("alternative_instructions", FAKE_VA(ALTERNATIVES), 'T');
	returns_make();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.ntraps, 0);
	free(fake.ram);
	return 0;
}

static struct trace *graph(enum trace_engine engine)
{
	static const char *const filter[] = {"alpha", "beta"};
	struct trace_config cfg = {
		.vcpus = TRAMP_CPUS,
		.tracer = "function_graph",
		.engine = engine,
		.clock = "x86-tsc",
		.buffer_bytes = 65536,
		.window_bytes = TRACE_WINDOW_MIN,
		.filter = filter,
		.nr_filter = 2,
	};
	char err[256] = "";
	struct trace *t = trace_new(&cfg, err, sizeof(err));

	if (!t || trace_attach(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return t;
}

static void returns_to_thunk(uint32_t off)
{
	uint8_t jump[SITE_SIZE];

	jump_to_thunk(off, jump);
	assert_memory_equal(fake_at(FAKE_VA(off)), jump, SITE_SIZE);
}

static void is_trap(uint32_t off)
{
	const struct machine_trap *trap = fake_trap(FAKE_VA(off));

	assert_non_null(trap);
	assert_int_equal(trap->action, MACHINE_TRAP_RETURN);
	assert_int_equal(trap->size, SITE_SIZE);
}

static void is_probe(enum trace_engine engine, uint32_t off)
{
	if (engine == TRACE_ENGINE_TRAP)
		is_trap(off);
	else
		assert_int_equal(tramp_target(off), tramp_entry(payload_exit));
}

static void is_plain(uint32_t off)
{
	static const uint8_t plain[SITE_SIZE] = {0xc3, 0xcc, 0xcc, 0xcc, 0xcc};

	assert_memory_equal(fake_at(FAKE_VA(off)), plain, SITE_SIZE);
}

/* What the kernel does. */
static void kernel_patches(void)
{
	for (size_t i = 0; i < fake.nsites; i++)
		memcpy(fake_at(fake.sites[i].addr + 0xf0), "\xc3\xcc\xcc\xcc\xcc", SITE_SIZE);
}

static void boot_with(enum trace_engine engine)
{
	struct trace *t = graph(engine);

	is_trap(ALPHA_RETURN);
	is_trap(BETA_RETURN);
	tramp_trap(t, FAKE_VA(FN_FTRACE_INIT), FAKE_VA(FN_START_KERNEL + 0x50));
	assert_null(fake_trap(FAKE_VA(ALPHA_RETURN)));
	tramp_trap(t, FAKE_VA(FN_START_KERNEL + 0x50), 0);
	is_probe(engine, ALPHA_RETURN);
	is_probe(engine, BETA_RETURN);

	tramp_trap(t, FAKE_VA(ALTERNATIVES), FAKE_VA(BACK));
	assert_null(fake_trap(FAKE_VA(ALPHA_RETURN)));
	/* As when the boot goes over to trampolines just now. */
	assert_int_equal(probes_remove(t, 0, PROBE_FL_ONCE), 0);
	assert_int_equal(probes_insert(t, 0, PROBE_FL_ONCE), 0);
	assert_null(fake_trap(FAKE_VA(ALPHA_RETURN)));
	returns_to_thunk(ALPHA_RETURN);
	returns_to_thunk(BETA_RETURN);
	assert_false(returns_known(t));
	kernel_patches();
	tramp_trap(t, FAKE_VA(BACK), 0);
	assert_true(returns_known(t));
	is_probe(engine, ALPHA_RETURN);
	is_probe(engine, BETA_RETURN);
	tramp_end(t);
	is_plain(ALPHA_RETURN);
	is_plain(BETA_RETURN);
}

static void traps_make_room(void **state)
{
	(void)state;
	boot_with(TRACE_ENGINE_TRAP);
}

static void calls_make_room(void **state)
{
	(void)state;
	boot_with(TRACE_ENGINE_TRAMPOLINE);
}

/* Nothing is known of one without thunks before it has booted. */
static void others_wait(void **state)
{
	struct trace *t;

	(void)state;
	for (size_t i = 0; i < fake.nsites; i++)
		put((uint32_t)(fake.sites[i].addr - FAKE_TEXT) + 0xf0, 0, 8);
	t = graph(TRACE_ENGINE_TRAP);
	assert_false(returns_known(t));
	assert_null(fake_trap(FAKE_VA(ALPHA_RETURN)));
	tramp_end(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(traps_make_room),
		TEST(calls_make_room),
		TEST(others_wait),
	};

	return cmocka_run_group_tests_name("returns-boot", tests, NULL, NULL);
}
