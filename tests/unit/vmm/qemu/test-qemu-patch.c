// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-patch.c - sweeps of patches of an attached guest: through a scripted stub, and into
 * memory that is said to be QEMU's.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-stub.h"
#include "vmm/qemu/qemu.h"

#define SITES  5000
#define STEP   256 /* from one site to the next */
#define AHEAD  17  /* packets that the stub gets before it has to answer the first */
#define NHELLO 4

static const struct machine_patch call = {.size = 5, .bytes = {0xe8, 1, 2, 3, 4}};

/* --- through the stub ------------------------------------------------------------------------- */

static void under_tcg(struct qemu_machine *m, struct stub *s, const struct stub_step *script)
{
	char err[256] = "";

	stub_start(s, script);
	memset(m, 0, sizeof(*m));
	assert_int_equal(pthread_mutex_init(&m->io, NULL), 0);
	m->gdb = gdb_open(s->client, err, sizeof(err));
	if (!m->gdb)
		fail_msg("%s", err);
}

static void done(struct qemu_machine *m, struct stub *s)
{
	gdb_close(m->gdb);
	assert_true(stub_end(s));
	pthread_mutex_destroy(&m->io);
}

static void patches_make(struct machine_patch *patches, uint64_t pa)
{
	for (unsigned int i = 0; i < SITES; i++) {
		patches[i] = call;
		patches[i].pa = pa + (uint64_t)i * STEP;
	}
}

/* Each is answered when AHEAD - 1 more have come, and the last of them in the end. */
static void script_of_patches(struct stub_step *step, unsigned int pa, unsigned int n)
{
	static char want[SITES][32];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(want[i], sizeof(want[i]), "M%x,5:e801020304", pa + i * STEP);
		*step++ = (struct stub_step){.want = want[i], .say = i < AHEAD - 1 ? NULL : "OK"};
	}
	for (unsigned int i = 0; i < AHEAD - 1; i++)
		*step++ = (struct stub_step){.say = "OK"};
}

static void test_ahead(void **state)
{
	static struct stub_step script[NHELLO + 1 + SITES + AHEAD + 1] = {
		HELLO,
		{.want = "Qqemu.PhyMemMode:1", .say = "OK"},
	};
	static struct machine_patch patches[SITES];
	struct stub s = {0};
	struct qemu_machine m;

	(void)state;
	patches_make(patches, 0x1000000);
	script_of_patches(&script[NHELLO + 1], 0x1000000, SITES);
	under_tcg(&m, &s, script);
	assert_int_equal(qemu_patch_text(&m.base, patches, SITES), 0);
	done(&m, &s);
}

/* One that is refused: the rest of the answers is read, so that the next question gets its own. */
static void test_refused(void **state)
{
	static const struct stub_step script[] = {
		HELLO,
		{.want = "Qqemu.PhyMemMode:1", .say = "OK"},
		{.want = "M1000,5:e801020304"},
		{.want = "M1100,5:e801020304"},
		{.want = "M1200,5:e801020304", .say = "OK"},
		{.say = "E14"},
		{.say = "OK"},
		{.want = "m1000,2", .say = "e801"},
		{.want = "M1000,5:e801020304", .say = "OK"},
		END_OF_SCRIPT,
	};
	struct machine_patch patches[SITES];
	struct stub s = {0};
	struct qemu_machine m;
	uint8_t two[2];

	(void)state;
	patches_make(patches, 0x1000);
	under_tcg(&m, &s, script);
	assert_int_equal(qemu_patch_text(&m.base, patches, 3), -EFAULT);
	assert_int_equal(gdb_read_phys(m.gdb, 0x1000, two, sizeof(two)), 0);
	assert_int_equal(qemu_patch_text(&m.base, patches, 1), 0);
	done(&m, &s);
}

/* In the middle of a sweep QEMU goes away, or asks for a packet that was not kept. */
static void test_cut_off(void **state)
{
	static const struct stub_step hangs_up[] = {
		HELLO,
		{.want = "Qqemu.PhyMemMode:1", .say = "OK"},
		{.want = "M1000,5:e801020304", .say = "OK"},
		{.want = "M1100,5:e801020304"},
		END_OF_SCRIPT,
	};
	static const struct stub_step wants_again[] = {
		HELLO,
		{.want = "Qqemu.PhyMemMode:1", .say = "OK"},
		{.want = "M1000,5:e801020304"},
		{.want = "M1100,5:e801020304", .raw = "-"},
		END_OF_SCRIPT,
	};
	static struct machine_patch patches[SITES];
	struct stub s = {0};
	struct qemu_machine m;

	(void)state;
	patches_make(patches, 0x1000);
	under_tcg(&m, &s, hangs_up);
	assert_int_equal(qemu_patch_text(&m.base, patches, 2), -ECONNRESET);
	done(&m, &s);
	under_tcg(&m, &s, wants_again);
	assert_int_equal(qemu_patch_text(&m.base, patches, 2), -EBADMSG);
	done(&m, &s);
}

/* --- into memory --------------------------------------------------------------------------------
 */

/* Two regions that are neighbours in the guest only, with RAM that this process has. */
static void under_kvm(struct qemu_machine *m, uint8_t *low, uint8_t *high)
{
	*m = (struct qemu_machine){
		.kvm = true,
		.ram =
			{
				.n = 2,
				.pid = getpid(),
				.mem_fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				.direct = true,
				.region =
					{
						{.pa = 0x1000,
						 .size = 0x1000,
						 .hva = (uintptr_t)low},
						{.pa = 0x2000,
						 .size = SITES * STEP,
						 .hva = (uintptr_t)high},
					},
			},
	};
}

static void check_direct(struct qemu_machine *m, const uint8_t *low, const uint8_t *high)
{
	static struct machine_patch patches[SITES + 1];

	patches_make(patches, 0x2000);
	patches[SITES] = call;
	patches[SITES].pa = 0x1ffd; /* three bytes here, two there */
	patches[0].pa += 16;	    /* out of the way of those */
	assert_int_equal(qemu_patch_text(&m->base, patches, SITES + 1), 0);
	assert_memory_equal(low + 0xffd, call.bytes, 3);
	assert_memory_equal(high, call.bytes + 3, 2);
	assert_memory_equal(high + 16, call.bytes, 5);
	for (unsigned int i = 1; i < SITES; i++) {
		assert_memory_equal(high + (size_t)i * STEP, call.bytes, 5);
		assert_int_equal(high[(size_t)i * STEP + 5], 0);
		assert_int_equal(high[(size_t)i * STEP - 1], 0);
	}
}

static void test_direct(void **state)
{
	uint8_t *low = calloc(1, 0x1000), *high = calloc(SITES, STEP);
	struct machine_patch bad[] = {call, call};
	struct qemu_machine m;

	(void)state;
	under_kvm(&m, low, high);
	bad[0].pa = 0x1000;
	bad[1].pa = 0xffd;
	assert_int_equal(qemu_patch_text(&m.base, bad, 2), -EFAULT);
	assert_int_equal(low[0], 0);
	check_direct(&m, low, high);
	m.ram.region[1].hva = 0; /* QEMU has it no longer */
	bad[1].pa = 0x2000;
	assert_int_equal(qemu_patch_text(&m.base, bad, 2), -EFAULT);
	qemu_ram_exit(&m);
	free(low);
	free(high);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_direct),
	};

	return cmocka_run_group_tests_name("qemu patches", tests, NULL, NULL);
}
