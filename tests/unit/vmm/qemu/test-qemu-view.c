// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-view.c - breakpoints under KVM go by the page tables of a vCPU, which with page table
 * isolation may be in user mode and not see the kernel's text.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"

/* A pair of page tables: the kernel's half and the user's, which has no entry for the text. */
#define KERNEL FAKE_TABLES
#define USER   0x3000

static struct fake_qemu *guest_with(uint64_t cr3, bool elsewhere)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	q->kvm = true;
	q->high = cr3 >= FAKE_HIGH;
	q->cr3 = cr3;
	q->sees = KERNEL;
	fake_map(q);
	q->elsewhere = elsewhere;
	fake_put(q, FAKE_RAM / 2, 0x1234); /* what is looked at to find out */
	fake_start(q);
	return q;
}

static struct fake_qemu *guest(uint64_t cr3)
{
	return guest_with(cr3, false);
}

static struct machine *attach(struct fake_qemu *q)
{
	struct machine_attach_config cfg = {.target = q->target};
	char err[256];
	struct machine *m = machine_attach(&cfg, err, sizeof(err));

	if (!m)
		fail_msg("%s", err);
	fake_wait_running(q);
	return m;
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static const struct machine_trap traps[] = {
	{.va = FAKE_VA + 0x10, .pa = FAKE_TEXT + 0x10, .size = 5},
	{.va = FAKE_VA + 0x20, .pa = FAKE_TEXT + 0x20, .size = 5},
};

/* Set and cleared while the guest stands: gives how often CR3 was written. */
static unsigned int set_and_clear(uint64_t cr3)
{
	const uint64_t vas[] = {traps[0].va, traps[1].va};
	struct fake_qemu *q = guest(cr3);
	struct machine *m = attach(q);
	unsigned int written;

	machine_pause(m);
	assert_int_equal(machine_traps_set(m, traps, 2), 0);
	assert_true(q->cr3 == cr3);
	assert_int_equal(machine_traps_clear(m, vas, 2), 0);
	assert_true(q->cr3 == cr3);
	assert_int_equal(machine_traps_set(m, traps, 2), 0);
	machine_resume(m);
	machine_free(m); /* takes them out as well */
	fake_end(q);
	assert_true(q->cr3 == cr3);
	assert_int_equal(count(q->heard, "[Z0,"), 4);
	assert_int_equal(count(q->heard, "[z0,"), 4);
	written = count(q->heard, "[" FAKE_CR3_PACKET);
	free(q);
	return written;
}

static void a_vcpu_in_user_mode_is_lent_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(set_and_clear(USER), 4 * 2);
}

static void one_in_the_kernel_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(set_and_clear(KERNEL), 0);
}

static void text_that_nobody_sees_is_refused(void **state)
{
	const struct machine_trap other = {.va = FAKE_VA, .pa = FAKE_TEXT + 0x1000, .size = 5};
	struct fake_qemu *q = guest(USER);
	struct machine *m = attach(q);

	(void)state;
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, &other, 1), -EFAULT);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_int_equal(count(q->heard, "[Z0,"), 0);
	assert_true(q->cr3 == USER);
	free(q);
}

/* Of a vCPU in 32-bit code QEMU takes half of CR3, and has the guest run on with that. */
static void one_in_32_bit_code_is_not_lent(void **state)
{
	struct fake_qemu *q = guest(FAKE_HIGH + USER);
	struct machine *m = attach(q);

	(void)state;
	q->sees = FAKE_HIGH + KERNEL;
	q->cs = 0x23;
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, traps, 2), -EFAULT);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_int_equal(count(q->heard, "[Z0,"), 0);
	assert_true(q->cr3 == FAKE_HIGH + USER);
	free(q);
}

static void one_in_64_bit_code_is_lent(void **state)
{
	struct fake_qemu *q = guest(FAKE_HIGH + USER);
	struct machine *m = attach(q);

	(void)state;
	q->sees = FAKE_HIGH + KERNEL;
	q->cs = 0x33;
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, traps, 2), 0);
	assert_true(q->cr3 == FAKE_HIGH + USER);
	machine_resume(m);
	fake_wait_running(q);
	/* In 32-bit code meanwhile: what QEMU cannot take out is taken out by hand. */
	q->cs = 0x23;
	machine_pause(m);
	q->ram[traps[0].pa] = q->ram[traps[1].pa] = 0xcc;
	assert_int_equal(machine_traps_clear(m, (const uint64_t[]){traps[0].va, traps[1].va}, 2),
			 0);
	assert_int_equal(q->ram[traps[0].pa] | q->ram[traps[1].pa], 0);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_int_equal(count(q->heard, "[z0,"), 0);
	assert_true(q->cr3 == FAKE_HIGH + USER);
	free(q);
}

/* User mode has the first, and not the other. */
static void all_of_them_have_to_be_seen(void **state)
{
	const struct machine_trap two[] = {
		traps[0],
		{.va = FAKE_VA + (UINT64_C(2) << 20) + 0x30, .pa = FAKE_TEXT + 0x30, .size = 5}};
	struct fake_qemu *q = guest(USER);
	struct machine *m = attach(q);

	(void)state;
	fake_put(q, USER + 8 * (FAKE_VA >> 39 & 511), 0x8003);
	fake_put(q, 0x8000 + 8 * (FAKE_VA >> 30 & 511), 0x9003);
	fake_put(q, 0x9000 + 8 * (FAKE_VA >> 21 & 511), 0x6003);
	fake_put(q, 0x5000 + 8 * (two[1].va >> 21 & 511), 0xa003);
	fake_put(q, 0xa000 + 8 * (two[1].va >> 12 & 511), FAKE_TEXT | 3);
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, two, 2), 0);
	assert_true(q->cr3 == USER);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_int_equal(count(q->heard, "[" FAKE_CR3_PACKET), 2 * 2);
	free(q);
}

/* The stub alone: whatever vCPU it is at. */
static void without_its_memory(void **state)
{
	struct fake_qemu *q = guest_with(KERNEL, true);
	struct machine *m = attach(q);
	struct machine_info info;

	(void)state;
	machine_get_info(m, &info);
	assert_false(info.direct);
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, traps, 2), 0);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_int_equal(count(q->heard, "[Z0,"), 2);
	assert_int_equal(count(q->heard, "[z0,"), 2);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vcpu_in_user_mode_is_lent_the_kernels),
		cmocka_unit_test(one_in_the_kernel_is_left_alone),
		cmocka_unit_test(text_that_nobody_sees_is_refused),
		cmocka_unit_test(one_in_32_bit_code_is_not_lent),
		cmocka_unit_test(one_in_64_bit_code_is_lent),
		cmocka_unit_test(all_of_them_have_to_be_seen),
		cmocka_unit_test(without_its_memory),
	};

	return cmocka_run_group_tests_name("what a vCPU sees", tests, NULL, NULL);
}
