// SPDX-License-Identifier: GPL-2.0-or-later
/* test-module-loads.c - modules that come and go, again and again: a trace does not grow by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>

#include "tests/unit/trace-guest.h"
#include "tracer/tracer.h"

#define MOD_TEXT UINT64_C(0xffffffffc0000000)

enum {
	FN_INIT_MODULE = 0x1500,
	FN_FREE_MODULE = 0x1600,
	MOD_SIZE = 0x1000,
	MOD_PA = 0x200000,
	MOD_STRUCT = 0x1234,
	SYMS = 8,
	PLACES = 6,   /* where a kernel puts small modules that come and go */
	FIRST = 1500, /* loads after which all has its size */
	LAST = 4500,
	SLACK = 16384, /* bytes: lists that double, text of different lengths */
};

static struct guestsym_symbol syms[SYMS];
static struct guestsym_site sites[SYMS];

/* Its module is at that place, the same memory as at any other. */
static void put_module(unsigned int place)
{
	uint64_t start = MOD_TEXT + (uint64_t)place * MOD_SIZE;

	for (unsigned int i = 0; i < SYMS; i++) {
		syms[i] = (struct guestsym_symbol){start + 0x40 * i, "some_function_of_it", 't'};
		sites[i] = (struct guestsym_site){syms[i].addr, syms[i].addr, syms[i].name, 0};
		memcpy(fake.ram + MOD_PA + 0x40 * i, nop5, sizeof(nop5));
	}
	fake.maps[fake.nmaps - 1].va = start;
	fake.nmods = 1;
	fake.mods[0] = (struct guestsym_module){
		.addr = MOD_STRUCT,
		.name = "mod",
		.state = GUESTSYM_MODULE_COMING,
		.text = {start, start + MOD_SIZE},
		.syms = syms,
		.nr_syms = SYMS,
		.sites = sites,
		.nr_sites = SYMS,
	};
}

static void hit_with(struct trace *t, uint64_t va)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK), .rdi = MOD_STRUCT, .rflags = 0x202};
	struct machine_hit hit = {.va = va, .regs = &regs};
	const struct machine_trap *trap = fake_trap(va);

	assert_non_null(trap);
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
}

static void load(struct trace *t, unsigned int place)
{
	put_module(place);
	hit_with(t, FAKE_VA(FN_INIT_MODULE));
	assert_non_null(fake_trap(fake.mods[0].text.start + 0x40));
	hit_with(t, fake.mods[0].text.start + 0x40);
}

static void unload(struct trace *t)
{
	fake.mods[0].state = GUESTSYM_MODULE_GOING;
	hit_with(t, FAKE_VA(FN_FREE_MODULE));
	assert_null(fake_trap(fake.mods[0].text.start + 0x40));
}

static struct trace *trace_with_modules(void)
{
	add_function("do_init_module", FN_INIT_MODULE, 0);
	add_function("free_module", FN_FREE_MODULE, 0);
	fake_map(FAKE_PA + TOP_PGT, MOD_TEXT, MOD_SIZE, MOD_PA);
	return trace_started((struct trace_config){0});
}

/* By how many bytes the trace has grown between loads FIRST and LAST. */
static size_t growth(unsigned int places)
{
	struct trace *t = trace_with_modules();
	size_t first = 0, last;

	for (unsigned int i = 0; i < LAST; i++) {
		load(t, i % places);
		unload(t);
		if (i == FIRST)
			first = mallinfo2().uordblks;
	}
	last = mallinfo2().uordblks;
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
	return last > first ? last - first : 0;
}

static void loads_cost_no_memory(void **state)
{
	(void)state;
	assert_true(growth(PLACES) < SLACK);
}

/* What has gone is known for a while, by the addresses that nothing else has yet. */
static void nor_where_no_place_is_used_twice(void **state)
{
	(void)state;
	assert_true(growth(LAST) < SLACK);
}

/* What takes long about a module is done while the guest runs. */
static void nor_does_the_guest_stand_for_their_symbols(void **state)
{
	struct trace *t = trace_with_modules();

	(void)state;
	load(t, 0);
	load(t, 1);
	assert_int_equal(fake.parsed_running, 2);
	assert_int_equal(fake.parsed_standing, 0);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* They are in the list, then they are not, and the kernel has said nothing of it. */
static void nor_where_modules_leave_unseen(void **state)
{
	struct trace *t = trace_with_modules();
	size_t first = 0;

	(void)state;
	for (unsigned int i = 0; i < LAST; i++) {
		put_module(i);
		hit_with(t, FAKE_VA(FN_INIT_MODULE));
		if (i == FIRST)
			first = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks < first + SLACK);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loads_cost_no_memory),
		TEST(nor_where_no_place_is_used_twice),
		TEST(nor_does_the_guest_stand_for_their_symbols),
		TEST(nor_where_modules_leave_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
