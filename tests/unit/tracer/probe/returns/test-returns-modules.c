// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-returns-modules.c - returns of modules, which nothing lists: a static call to nothing at the
 * end of a function looks the same, is patched by the kernel later, and has to be what it was then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tracer/internal.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/guest/site.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/record/record.h"

/* Offsets in the made-up image. */
enum {
	THUNK = 0x2700,
	ETEXT = 0x3000,
	MODULE = 0x5a00, /* struct module, */
	LIST_AT = 0x10,	 /* what it says of its static calls, */
	NR_AT = 0x18,
	LIST = 0x5a40, /* and these */
	CALLS = 2,
};

/* The module's text, and what is where in it. */
#define TEXT UINT64_C(0xffffffffc0000000)
enum { MOD_PA = 0x300000, CALL = 0x20, RETURN = 0x40, OTHER_CALL = 0x60, SIZE = 0x1000 };

static bool thunks;

static void put_return(uint8_t *to, uint64_t va)
{
	site_return_make(to, va, thunks ? FAKE_VA(THUNK) : 0);
}

static void make_kernel(bool with_thunks)
{
	thunks = with_thunks;
	tramp_kernel_make();
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(ETEXT), 'T');
	if (thunks)
		fake_symbol("__x86_return_thunk", FAKE_VA(THUNK), 'T');
	for (size_t i = 0; thunks && i < fake.nsites; i++) {
		uint64_t va = fake.sites[i].addr + 0xf0;

		put_return(fake_at(va), va);
	}
}

static void put_call(uint32_t i, uint64_t va)
{
	put(LIST + 8 * i, (uint32_t)(va - FAKE_VA(LIST + 8 * i)), 4);
}

static void make_module(void)
{
	static const struct guestsym_symbol syms[] = {{TEXT, "mod_function", 't'}};
	static const struct guestsym_site sites[] = {{TEXT, TEXT, "mod_function", 0}};
	static const uint32_t returns[] = {CALL, RETURN, OTHER_CALL};

	fake_field("module.static_call_sites", LIST_AT, 8);
	fake_field("module.num_static_call_sites", NR_AT, 4);
	put(MODULE + LIST_AT, FAKE_VA(LIST), 8);
	put(MODULE + NR_AT, CALLS, 4);
	put_call(0, TEXT + OTHER_CALL);
	put_call(1, TEXT + CALL);
	fake.nmods = 1;
	fake.mods[0] = (struct guestsym_module){
		.addr = FAKE_VA(MODULE),
		.name = "mod",
		.text = {TEXT, TEXT + SIZE},
		.syms = syms,
		.nr_syms = 1,
		.sites = sites,
		.nr_sites = 1,
	};
	memset(fake.ram + MOD_PA, 0x90, SIZE);
	memcpy(fake.ram + MOD_PA, site_nop, sizeof(site_nop));
	memcpy(fake.ram + MOD_PA + CALL - 4, "\x74\x22\x74\x40", 4); /* je to the others */
	for (size_t i = 0; i < sizeof(returns) / sizeof(returns[0]); i++)
		put_return(fake.ram + MOD_PA + returns[i], TEXT + returns[i]);
}

static bool is_as_before(uint32_t off)
{
	uint8_t was[SITE_SIZE];

	put_return(was, TEXT + off);
	return !fake_trap(TEXT + off) && !memcmp(fake.ram + MOD_PA + off, was, SITE_SIZE);
}

/* A call where there is room for one, else a trap. */
static bool is_probe(uint32_t off)
{
	return fake.ram[MOD_PA + off] == 0xe8 || fake_trap(TEXT + off);
}

static struct trace *graph(void)
{
	static const char *const all[] = {NULL};
	struct trace *t = tramp_trace(
		(struct trace_config){.engine = TRACE_ENGINE_TRAMPOLINE, .filter = all});

	tramp_boot(t);
	assert_int_equal(returns_learn(t), 0);
	assert_int_equal(trampoline_returns(t), 0);
	assert_int_equal(instance_set_tracer(trace_top(t), "function_graph"), 0);
	fake_map(guest_image_pa(&t->guest, t->guest.pgtable_root), TEXT, SIZE, MOD_PA);
	trace_change_begin(t);
	assert_int_equal(modules_update(t), 0);
	assert_int_equal(selection_update(t), 0);
	trace_change_end(t);
	assert_true(is_probe(0));
	return t;
}

static void end(struct trace *t)
{
	tramp_end(t);
	assert_true(is_as_before(CALL) && is_as_before(RETURN) && is_as_before(OTHER_CALL));
	free(fake.ram);
}

static void static_calls_are_left_alone(bool with_thunks)
{
	struct trace *t;

	make_kernel(with_thunks);
	make_module();
	t = graph();
	assert_true(is_as_before(CALL));
	assert_true(is_as_before(OTHER_CALL));
	assert_true(is_probe(RETURN));
	end(t);
}

static void with_thunks(void **state)
{
	(void)state;
	static_calls_are_left_alone(true);
}

static void without_thunks(void **state)
{
	(void)state;
	static_calls_are_left_alone(false);
}

/* Which returns are calls is not known: none is patched, but its entry. */
static void list_is_unreadable(void **state)
{
	struct trace *t;

	(void)state;
	make_kernel(true);
	make_module();
	put(MODULE + LIST_AT, FAKE_VA(FAKE_RAM), 8);
	t = graph();
	assert_true(is_as_before(CALL) && is_as_before(RETURN) && is_as_before(OTHER_CALL));
	end(t);
}

static void list_has_no_end(void **state)
{
	struct trace *t;

	(void)state;
	make_kernel(true);
	make_module();
	put(MODULE + NR_AT, UINT32_MAX, 4);
	t = graph();
	assert_true(is_as_before(CALL) && is_as_before(RETURN) && is_as_before(OTHER_CALL));
	end(t);
}

static void module_has_none(void **state)
{
	struct trace *t;

	(void)state;
	make_kernel(true);
	make_module();
	put(MODULE + LIST_AT, 0, 8);
	put(MODULE + NR_AT, 0, 4);
	t = graph();
	assert_true(is_probe(CALL) && is_probe(RETURN) && is_probe(OTHER_CALL));
	end(t);
}

/* Fields that lie so far apart are not those of a kernel. */
static void fields_make_no_sense(void **state)
{
	struct trace *t;

	(void)state;
	make_kernel(true);
	make_module();
	for (size_t i = 0; i < fake.nfields; i++)
		if (!strcmp(fake.fields[i].path, "module.static_call_sites"))
			fake.fields[i].field.offset = UINT32_MAX - 4;
	t = graph();
	assert_true(is_as_before(CALL) && is_as_before(RETURN) && is_as_before(OTHER_CALL));
	end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_thunks),	      cmocka_unit_test(without_thunks),
		cmocka_unit_test(list_is_unreadable), cmocka_unit_test(list_has_no_end),
		cmocka_unit_test(module_has_none),    cmocka_unit_test(fields_make_no_sense),
	};

	return cmocka_run_group_tests_name("returns-modules", tests, NULL, NULL);
}
