// SPDX-License-Identifier: GPL-2.0-or-later
/* test-flag-find.c - calls of one function, looked for in the text of a made-up kernel and module.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/fake-guest.h"
#include "tracer/probe/critical/find.h"
#include "tracer/probe/critical/internal.h"
#include "tracer/probe/probe.h"
#include "tracer/internal.h"
#include "tracer/tracer.h"

/* Offsets in the image. */
enum {
	FIRST = 0x1000,
	SECOND = 0x1100,
	TARGET = 0x1200,
	ETEXT = 0x1300,
	IMAGE_END = 0x10000,
	MOD_PA = 0x200000,
	MOD_SIZE = 0x200000,
	CALL_SIZE = 5,
	LIMIT = 120, /* seconds for what must not go on for hours */
};

#define MOD_VA UINT64_C(0xffffffffc0000000)

static const struct payload_form form = {
	.size = CALL_SIZE, .relative = 4, .bytes = {INSN_CALL}, .target = FAKE_VA(TARGET)};

static struct trace *trace;

static void put_call(uint8_t *at, uint64_t va)
{
	site_call_make(at, va, FAKE_VA(TARGET));
}

static void put_kernel_call(uint64_t off)
{
	put_call(fake_at(FAKE_VA(off)), FAKE_VA(off));
}

static int set_up(void **state)
{
	static const struct trace_config cfg = {
		.vcpus = 1, .running = true, .tracer = "nop", .buffer_bytes = 16 << 10};
	char err[256];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_stext", FAKE_VA(FIRST), 'T');
	fake_symbol("first", FAKE_VA(FIRST), 't');
	fake_symbol("second", FAKE_VA(SECOND), 't');
	fake_symbol("target", FAKE_VA(TARGET), 't');
	fake_symbol("_etext", FAKE_VA(ETEXT), 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	fake_symbol("current_task", 0x100, 'A');
	fake_field("task_struct.pid", 0x20, 4);
	memset(fake_at(FAKE_VA(FIRST)), 0x90, ETEXT - FIRST);
	trace = trace_new(&cfg, err, sizeof(err));
	assert_non_null(trace);
	fake_map(guest_image_pa(&trace->guest, trace->guest.pgtable_root), MOD_VA, MOD_SIZE,
		 MOD_PA);
	alarm(LIMIT);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	alarm(0);
	trace_free(trace);
	free(fake.ram);
	return 0;
}

static void expect(struct flag_list *l, const uint64_t *va, size_t nr)
{
	assert_int_equal(l->nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(l->v[i], va[i]);
	free(l->v);
}

#define EXPECT(l, ...)                                                                             \
	expect(l, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* movabs, whose number looks like a call; then two calls in one function, one in the next. */
static void calls_are_instructions(void **state)
{
	struct flag_list all = {0}, in = {0};

	(void)state;
	memcpy(fake_at(FAKE_VA(FIRST)), "\x48\xb8", 2);
	put_kernel_call(FIRST + 2);
	put_kernel_call(FIRST + 0x10);
	put_kernel_call(FIRST + 0x20);
	put_kernel_call(SECOND + 0xf0);
	put_kernel_call(ETEXT - 3); /* not all of it is text */
	assert_int_equal(flag_find_all(trace, &form, &all), 0);
	EXPECT(&all, FAKE_VA(FIRST + 0x10), FAKE_VA(FIRST + 0x20), FAKE_VA(SECOND + 0xf0));
	assert_int_equal(flag_find_in(trace, "second", &form, &in), 0);
	EXPECT(&in, FAKE_VA(SECOND + 0xf0));
}

static void modules_make(const struct guestsym_module *mod)
{
	fake.mods[0] = *mod;
	fake.nmods = 1;
	assert_int_equal(modules_update(trace), 0);
}

/* Its symbols say that a function begins before its text. */
static void modules_keep_to_their_text(void **state)
{
	static const struct guestsym_symbol syms[] = {{MOD_VA, "before", 't'}};
	const struct guestsym_module mod = {
		.text = {MOD_VA + 0x100, MOD_VA + 0x200}, .syms = syms, .nr_syms = 1};
	struct flag_list l = {0};

	(void)state;
	memset(fake.ram + MOD_PA, 0x90, 0x300);
	put_call(fake.ram + MOD_PA + 0x80, MOD_VA + 0x80);
	put_call(fake.ram + MOD_PA + 0x100, MOD_VA + 0x100);
	put_call(fake.ram + MOD_PA + 0x1fb, MOD_VA + 0x1fb);
	modules_make(&mod);
	assert_int_equal(flag_find_module(trace, &mod, &form, &l), 0);
	EXPECT(&l, MOD_VA + 0x100, MOD_VA + 0x1fb);
}

static void modules_may_end_with_the_address_space(void **state)
{
	const struct guestsym_module mod = {.text = {UINT64_MAX - 0x1800, UINT64_MAX - 0x80}};
	struct flag_list l = {0};

	(void)state;
	modules_make(&mod);
	assert_int_equal(flag_find_module(trace, &mod, &form, &l), 0);
	assert_int_equal(l.nr, 0);
}

/* Functions that are nothing but calls are decoded once, not once for each call. */
static void modules_may_be_all_calls(void **state)
{
	enum { NR = 32, SIZE = 13107 * CALL_SIZE };
	static struct guestsym_symbol syms[NR];
	const struct guestsym_module mod = {
		.text = {MOD_VA, MOD_VA + NR * SIZE}, .syms = syms, .nr_syms = NR};
	struct flag_list l = {0};

	(void)state;
	for (uint64_t i = 0; i < NR; i++)
		syms[i] = (struct guestsym_symbol){MOD_VA + i * SIZE, "calls", 't'};
	for (uint64_t off = 0; off < NR * SIZE; off += CALL_SIZE)
		put_call(fake.ram + MOD_PA + off, MOD_VA + off);
	modules_make(&mod);
	assert_int_equal(flag_find_module(trace, &mod, &form, &l), 0);
	assert_int_equal(l.nr, NR * SIZE / CALL_SIZE);
	for (size_t i = 0; i < l.nr; i++)
		assert_int_equal(l.v[i], MOD_VA + i * CALL_SIZE);
	free(l.v);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* What may move is not known: as often as it is asked for, and not as if there were no such places.
 */
static void what_cannot_be_planned_is_not_found(void **state)
{
	static const struct guestsym_irq_site sites[] = {
		{.addr = FAKE_VA(FIRST + 0x30), .kind = GUESTSYM_IRQ_DISABLE, .len = 1},
		{.addr = FAKE_VA(FIRST + 0x40), .kind = GUESTSYM_IRQ_ENABLE, .len = 1},
	};

	(void)state;
	memcpy(fake.irq_sites, sites, sizeof(sites));
	fake.nirq_sites = 2;
	trace->engine = &trampoline_probe_ops;
	assert_int_equal(flag_sites_search(trace, CRITICAL_IRQS), -ENODATA);
	assert_int_equal(flag_sites_search(trace, CRITICAL_IRQS), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_be_planned_is_not_found),
		TEST(calls_are_instructions),
		TEST(modules_keep_to_their_text),
		TEST(modules_may_end_with_the_address_space),
		TEST(modules_may_be_all_calls),
	};

	return cmocka_run_group_tests_name("flag-find", tests, NULL, NULL);
}
