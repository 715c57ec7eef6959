// SPDX-License-Identifier: GPL-2.0-or-later
/* test-detour.c - functions that begin with a jump into the payload, and what it took the place of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/boot.h"
#include "tracer/window/detour.h"
#include "tracer/guest/site.h"
#include "tracer/tracer.h"

#include <errno.h>

#define FN_DETOURED 0x2f00

/* push %rbp; mov %rsp, %rbp; push %rbx; sub $16, %rsp */
static const uint8_t prologue[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x10};
#define MOVED 5 /* bytes: whole instructions that a jump fits into */

static struct trace *t;

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	memcpy(fake_at(FAKE_VA(FN_DETOURED)), prologue, sizeof(prologue));
	t = tramp_started((struct trace_config){0});
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tramp_end(t);
	free(fake.ram);
	return 0;
}

static struct payload_detour learned(void)
{
	const struct payload_text *text = trampoline_text(t);
	struct payload_detour d = {.entry = text->event_data, .rest = text->event_data_rest};

	assert_int_equal(detour_learn(&t->guest, FAKE_VA(FN_DETOURED), &d), 0);
	assert_int_equal(d.va, FAKE_VA(FN_DETOURED));
	assert_int_equal(d.size, MOVED);
	return d;
}

static void inserted(const struct payload_detour *d)
{
	assert_int_equal(
		detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_PRINTS, d, 1), 0);
}

/* Where the jump at this place of the payload's text or of the kernel's leads to. */
static uint64_t jump_target(const uint8_t *insn, uint64_t va)
{
	uint8_t call[SITE_SIZE];

	assert_int_equal(insn[0], INSN_JMP);
	memcpy(call, insn, sizeof(call));
	call[0] = INSN_CALL;
	return site_call_target(call, va);
}

/* What was moved, and a jump behind it. */
static void rest_is_there(const struct payload_detour *d)
{
	uint64_t va = tramp_window() + WINDOW_TEXT + d->rest;
	uint8_t rest[MOVED + SITE_SIZE];

	window_get_at(WINDOW_TEXT + d->rest, rest, sizeof(rest));
	assert_memory_equal(rest, prologue, MOVED);
	assert_int_equal(jump_target(rest + MOVED, va + MOVED), d->va + MOVED);
}

static void a_function_goes_through_the_payload(void **state)
{
	struct payload_detour d = learned();

	(void)state;
	inserted(&d);
	assert_int_equal(jump_target(fake_at(d.va), d.va), tramp_window() + WINDOW_TEXT + d.entry);
	rest_is_there(&d);
	assert_int_equal(detours_remove(&t->guest, trampoline_window(t)), 0);
	assert_memory_equal(fake_at(d.va), prologue, sizeof(prologue));
}

/* The copies are executed in the place of what they are copies of, the jump back likewise. */
static void what_is_executed_there_is_known(void **state)
{
	uint64_t text = tramp_window() + WINDOW_TEXT;
	struct payload_detour d = learned();
	struct guest_ours o = {0};

	(void)state;
	fake_map(guest_image_pa(&t->guest, t->guest.pgtable_root), tramp_window(), TRACE_WINDOW_MIN,
		 FAKE_WINDOW);
	assert_true(guest_is_ours(&t->guest, text + d.rest + 1, &o));
	assert_false(o.home || o.returns);
	inserted(&d);
	for (uint32_t off = 0; off <= MOVED; off++) {
		assert_true(guest_is_ours(&t->guest, text + d.rest + off, &o));
		assert_int_equal(o.home, d.va + off);
		assert_int_equal(guest_home(&t->guest, text + d.rest + off), d.va + off);
	}
	assert_true(guest_is_ours(&t->guest, text + d.rest + MOVED + 1, &o));
	assert_false(o.home || o.returns);
	assert_true(guest_is_ours(&t->guest, text + d.entry, &o));
	assert_true(o.returns && !o.home && !o.words && !o.bare);
	assert_true(guest_is_ours(&t->guest, text + trampoline_text(t)->function, &o));
	assert_true(o.returns && !o.home && !o.words && o.bare);
	assert_true(guest_is_ours(&t->guest, tramp_window() + WINDOW_MOVED_TEXT, &o));
	assert_false(o.home || o.returns);
	assert_false(guest_is_ours(&t->guest, tramp_window() - 1, &o));
	assert_false(guest_is_ours(&t->guest, tramp_window() + WINDOW_RINGS, &o));
	assert_int_equal(detours_remove(&t->guest, trampoline_window(t)), 0);
}

/* As at the end of a boot. */
static void payload_is_written_anew(void **state)
{
	struct payload_detour d = learned();

	(void)state;
	inserted(&d);
	assert_int_equal(trampoline_returns(t), 0);
	rest_is_there(&d);
	assert_int_equal(detours_remove(&t->guest, trampoline_window(t)), 0);
}

static void others_that_have_been_there_are_left(void **state)
{
	struct payload_detour d = learned();

	(void)state;
	inserted(&d);
	memcpy(fake_at(d.va), prologue + 1, SITE_SIZE);
	assert_int_equal(detours_remove(&t->guest, trampoline_window(t)), 0);
	assert_memory_equal(fake_at(d.va), prologue + 1, SITE_SIZE);
	assert_int_equal(
		detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_PRINTS, &d, 1),
		-EBUSY);
	assert_memory_equal(fake_at(d.va), prologue + 1, SITE_SIZE);
}

static void what_cannot_be_moved_is_refused(void **state)
{
	static const uint8_t bad[][SITE_SIZE] = {
		{0xe8, 1, 2, 3, 4},		/* call */
		{0x53, 0xeb, 0x10, 0x90, 0x90}, /* push; jmp */
		{0x55, 0x53, 0xcc, 0x90, 0x90}, /* push; push; int3 */
		{0x06, 0x06, 0x06, 0x06, 0x06}, /* none */
	};
	struct payload_detour d = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(fake_at(FAKE_VA(FN_DETOURED)), bad[i], sizeof(bad[i]));
		assert_int_equal(detour_learn(&t->guest, FAKE_VA(FN_DETOURED), &d), -EOPNOTSUPP);
	}
	assert_int_equal(
		detours_insert(&t->guest, t->gs, trampoline_window(t), PAYLOAD_DETOURS, &d, 1),
		-E2BIG);
}

/* It is that of the same place where the copy is. */
static void addresses_stay_what_they_are(void **state)
{
	/* push %rbx; mov 0x100(%rip), %rdi */
	static const uint8_t code[] = {0x53, 0x48, 0x8b, 0x3d, 0, 1, 0, 0};
	const struct payload_text *text = trampoline_text(t);
	struct payload_detour d = {.entry = text->event_data, .rest = text->event_data_rest};
	uint8_t rest[sizeof(code) + SITE_SIZE];
	uint64_t va;
	int32_t rel;

	(void)state;
	memcpy(fake_at(FAKE_VA(FN_DETOURED)), code, sizeof(code));
	assert_int_equal(detour_learn(&t->guest, FAKE_VA(FN_DETOURED), &d), 0);
	assert_int_equal(d.size, sizeof(code));
	inserted(&d);
	window_get_at(WINDOW_TEXT + d.rest, rest, sizeof(rest));
	memcpy(&rel, rest + 4, sizeof(rel));
	va = tramp_window() + WINDOW_TEXT + d.rest + sizeof(code);
	assert_int_equal(va + (uint64_t)(int64_t)rel, FAKE_VA(FN_DETOURED) + sizeof(code) + 0x100);
	assert_memory_equal(rest, code, 4);
	assert_int_equal(jump_target(rest + sizeof(code), va), d.va + sizeof(code));
	assert_int_equal(detours_remove(&t->guest, trampoline_window(t)), 0);
	assert_memory_equal(fake_at(d.va), code, sizeof(code));
}

/* The two functions as clang has them in a 6.12, and gcc's; how much of them makes room. */
static void what_compilers_begin_with_can_be_moved(void **state)
{
	static const struct {
		uint8_t code[12];
		uint8_t endbr, size;
	} begins[] = {
		/* endbr64; mov (%rdi),%eax; not %eax; xor %ecx,%ecx */
		{{0xf3, 0x0f, 0x1e, 0xfa, 0x8b, 0x07, 0xf7, 0xd0, 0x31, 0xc9, 0xa8, 0x1e}, 4, 6},
		/* endbr64; push %r15; push %r14; push %rbx */
		{{0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57, 0x41, 0x56, 0x53, 0x49, 0x89, 0xff}, 4, 5},
		/* The same where the kernel wants nobody to branch there; push %r15; push %r14 */
		{{0x66, 0x0f, 0x1f, 0x00, 0x41, 0x57, 0x41, 0x56, 0x53, 0x49, 0x89, 0xff}, 4, 5},
		{{0x0f, 0x1f, 0x40, 0xd6, 0x41, 0x57, 0x41, 0x56, 0x53, 0x49, 0x89, 0xff}, 4, 5},
		/* mov (%rdi),%eax; and $0x1f,%eax */
		{{0x8b, 0x07, 0x83, 0xe0, 0x1f, 0x90}, 0, 5},
		/* movslq %edi,%rdi; shl $3,%rdi */
		{{0x48, 0x63, 0xff, 0x48, 0xc1, 0xe7, 0x03}, 0, 7},
	};
	struct payload_detour d = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		memcpy(fake_at(FAKE_VA(FN_DETOURED)), begins[i].code, sizeof(begins[i].code));
		assert_int_equal(detour_learn(&t->guest, FAKE_VA(FN_DETOURED), &d), 0);
		assert_int_equal(d.va, FAKE_VA(FN_DETOURED) + begins[i].endbr);
		assert_int_equal(d.size, begins[i].size);
	}
}

#define FN_OTHER (FN_DETOURED + 0x40)

/* One of two jumps is written, and then it fails so many times. */
static void insert_fails(unsigned int times)
{
	struct payload_detour d[] = {learned(), learned()};

	memcpy(fake_at(FAKE_VA(FN_OTHER)), prologue, sizeof(prologue));
	assert_int_equal(detour_learn(&t->guest, FAKE_VA(FN_OTHER), &d[1]), 0);
	fake.patch_room = 1;
	fake.patch_failures = times;
	assert_int_equal(
		detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_PRINTS, d, 2), -EIO);
}

static void jumps_that_fail_are_undone(void **state)
{
	(void)state;
	insert_fails(1);
	assert_memory_equal(fake_at(FAKE_VA(FN_DETOURED)), prologue, sizeof(prologue));
}

static void what_cannot_be_undone_is_removed_at_the_end(void **state)
{
	(void)state;
	insert_fails(2);
	assert_int_equal(*fake_at(FAKE_VA(FN_DETOURED)), INSN_JMP);
	assert_int_equal(trace_detach(t), 0);
	assert_memory_equal(fake_at(FAKE_VA(FN_DETOURED)), prologue, sizeof(prologue));
	assert_int_equal(tramp_window(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_function_goes_through_the_payload, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_executed_there_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(payload_is_written_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(others_that_have_been_there_are_left, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_moved_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(addresses_stay_what_they_are, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_compilers_begin_with_can_be_moved, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(jumps_that_fail_are_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_undone_is_removed_at_the_end, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("detour", tests, NULL, NULL);
}
