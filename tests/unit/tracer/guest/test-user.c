// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-user.c - stacks of user mode, and the files behind their addresses: a made-up process with
 * mappings in a maple tree or in a list, and files on two file systems.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/seed.h"
#include "tests/unit/user-guest.h"

static int set_up(void **state)
{
	(void)state;
	assert_true(user_guest_make(true));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static unsigned int stack(uint64_t ips[8])
{
	return user_stack(&guest, &at, &tasks, FAKE_VA(OTHER), ips, 8);
}

static void frames_are_followed(void **state)
{
	uint64_t ips[8];

	(void)state;
	put_user(USER_STACK + 0x100, USER_STACK + 0xffc); /* across two pages */
	put_user(USER_STACK + 0x108, 0x401111);
	put_user(USER_STACK + 0xffc, 0);
	put_user(USER_STACK + 0x1004, 0x402222);
	assert_int_equal(stack(ips), 3);
	assert_int_equal(ips[0], USER_TEXT + 0x10);
	assert_int_equal(ips[1], 0x401111);
	assert_int_equal(ips[2], 0x402222);
	assert_int_equal(user_stack(&guest, &at, &tasks, FAKE_VA(OTHER), ips, 2), 2);
	assert_int_equal(user_stack(&guest, &at, &tasks, FAKE_VA(OTHER), ips, 0), 0);
}

/* A frame that is its own caller fills what there is room for. */
static void frames_may_be_nonsense(void **state)
{
	static const uint64_t frames[] = {USER_STACK + 0x78,   /* below the stack pointer */
					  USER_STACK + 0x1ff8, /* half of it is not mapped */
					  FAKE_VA(KERNEL_STACK),   FAKE_DIRECT,
					  UINT64_MAX - 7,	   UINT64_C(0x7ffffffff000),
					  UINT64_C(0x7fffffffeff8)};
	uint64_t ips[8], regs = KERNEL_STACK + STACK_SIZE - REGS_SIZE;

	(void)state;
	put_user(USER_STACK + 0x100, USER_STACK + 0x100);
	put_user(USER_STACK + 0x108, 0x401111);
	assert_int_equal(stack(ips), 8);
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		put(regs + 32, frames[i], 8);
		assert_int_equal(stack(ips), 1);
	}
}

/*
 * The kernel takes a task of 32 bits for one of its own size (arch_stack_walk_user(), 6.12): what
 * is said to be a caller are two words that its function was called with, and then it is nowhere.
 */
static void frames_of_32_bits_are_read_as_64(void **state)
{
	uint64_t ips[8], regs = KERNEL_STACK + STACK_SIZE - REGS_SIZE;

	(void)state;
	fake.maps[0].va = UINT64_C(0xffffc000);
	put(regs + 32, 0xffffc100, 8);
	put(regs + 128, 0x8049001, 8);
	put(regs + 136, 0x23, 8);
	put(regs + 152, 0xffffc0f0, 8);
	put_user(USER_STACK + 0x100,
		 UINT64_C(0x08049040ffffc120)); /* the caller, in 4 bytes each */
	put_user(USER_STACK + 0x108, UINT64_C(0x2222222211111111));
	put_user(USER_STACK + 0x120, UINT64_C(0x0804905400000000));
	put_user(USER_STACK + 0x128, UINT64_C(0x4444444433333333));
	assert_int_equal(stack(ips), 2);
	assert_int_equal(ips[0], 0x8049001);
	assert_int_equal(ips[1], UINT64_C(0x2222222211111111));

	put_user(USER_STACK + 0x108, 0);
	assert_int_equal(stack(ips), 1);
}

static void no_user_mode_no_stack(void **state)
{
	uint64_t ips[8], regs = KERNEL_STACK + STACK_SIZE - REGS_SIZE;

	(void)state;
	put(OTHER + TASK_FLAGS, 0x00200000, 4);
	assert_int_equal(stack(ips), 0);
	put(OTHER + TASK_FLAGS, 0, 4);
	put(regs + 136, 0x10, 8);
	assert_int_equal(stack(ips), 0);
	put(regs + 136, 0x33, 8);
	put(OTHER + TASK_MM, 0, 8);
	assert_int_equal(stack(ips), 0);
	put(OTHER + TASK_MM, FAKE_VA(MM), 8);
	put(OTHER + TASK_STACK, 8, 8);
	assert_int_equal(stack(ips), 0);
	assert_int_equal(user_stack(&guest, &at, &tasks, UINT64_MAX, ips, 8), 0);
}

/* --- files ----------------------------------------------------------------------------------- */

static void file_is(uint64_t ip, const char *want, uint64_t want_start)
{
	char path[USER_PATH_MAX];
	uint64_t start = 0;
	bool found = user_object(&guest, &at, &tasks, 7, ip, path, &start);

	assert_int_equal(found, want != NULL);
	if (!want)
		return;
	assert_string_equal(path, want);
	assert_int_equal(start, want_start);
}

static void files_are_found(void)
{
	file_is(USER_TEXT, "/bin/prog", USER_TEXT);
	file_is(USER_TEXT + 0xfff, "/bin/prog", USER_TEXT);
	file_is(USER_LIB + 5, "/usr/libc.so", USER_LIB);
	file_is(USER_TEXT - 1, NULL, 0);
	file_is(USER_TEXT + 0x1000, NULL, 0); /* of no file */
	file_is(USER_TEXT + 0x2000, NULL, 0);
	file_is(USER_LIB + 0x1000, NULL, 0);
	file_is(0, NULL, 0);
	file_is(UINT64_MAX, NULL, 0);
}

static void files_in_a_tree(void **state)
{
	(void)state;
	files_are_found();
}

static void files_in_a_list(void **state)
{
	(void)state;
	free(fake.ram);
	assert_true(user_guest_make(false));
	assert_true(at.mm_tree == USER_NO_FIELD);
	files_are_found();
	add_vma(VMA_LIB, 8, 16, FILE_LIB, VMA_TEXT); /* a ring */
	file_is(USER_LIB, NULL, 0);
}

static void processes_that_have_gone(void **state)
{
	char path[USER_PATH_MAX];
	uint64_t start;

	(void)state;
	assert_false(user_object(&guest, &at, &tasks, 8, USER_TEXT, path, &start));
	put(OTHER + TASK_TASKS, FAKE_VA(OTHER + TASK_TASKS), 8); /* a ring without its head */
	assert_false(user_object(&guest, &at, &tasks, 8, USER_TEXT, path, &start));
	put(OTHER + TASK_MM, 0, 8);
	file_is(USER_TEXT, NULL, 0);
}

static void paths_that_are_not_plain(void **state)
{
	(void)state;
	put(DENTRY_PROG + DENTRY_PPREV, 0, 8);
	file_is(USER_TEXT, "/bin/prog (deleted)", USER_TEXT);
	memcpy(fake_at(FAKE_VA(NAMES + DENTRY_PROG - DENTRY_ROOT)), "p\ng", 3);
	put(DENTRY_PROG + DENTRY_LEN, 3, 4);
	put(DENTRY_PROG + DENTRY_PPREV, 1, 8);
	file_is(USER_TEXT, "/bin/p\\012g", USER_TEXT);
	put(DENTRY_PROG + DENTRY_PARENT, FAKE_VA(DENTRY_PROG), 8); /* of no tree */
	file_is(USER_TEXT, "/p\\012g", USER_TEXT);
	put(FILE_TEXT + 8, FAKE_VA(DENTRY_ROOT), 8);
	file_is(USER_TEXT, "/", USER_TEXT);
}

static void paths_may_be_nonsense(void **state)
{
	(void)state;
	put(DENTRY_BIN + DENTRY_PARENT, FAKE_VA(DENTRY_PROG), 8); /* each is the other's parent */
	file_is(USER_TEXT, NULL, 0);
	put(DENTRY_PROG + DENTRY_LEN, UINT32_MAX, 4);
	file_is(USER_TEXT, NULL, 0);
	put(DENTRY_PROG + DENTRY_LEN, 4, 4);
	put(DENTRY_PROG + DENTRY_NAME, UINT64_MAX - 2, 8);
	file_is(USER_TEXT, NULL, 0);
	put(MOUNT_USR + MOUNT_POINT, FAKE_VA(DENTRY_ROOT), 8); /* mounts on each other */
	put(MOUNT_ROOT + MOUNT_POINT, FAKE_VA(DENTRY_USR_ROOT), 8);
	put(MOUNT_ROOT + MOUNT_PARENT, FAKE_VA(MOUNT_USR), 8);
	file_is(USER_LIB, NULL, 0);
	put(FILE_LIB, UINT64_MAX, 8);
	file_is(USER_LIB, NULL, 0);
	put(VMA_LIB + VMA_FILE, 3, 8);
	file_is(USER_LIB, NULL, 0);
}

/* Nodes that are their own children, of no type, nowhere; then any words at all. */
static void trees_may_be_nonsense(void **state)
{
	unsigned int seed = test_seed();

	(void)state;
	put(ROOT_NODE + 80, FAKE_VA(ROOT_NODE) | 3 << 3 | 2, 8);
	file_is(USER_TEXT, NULL, 0);
	for (uint64_t type = 0; type < 16; type++) {
		put(MM + MM_MT + 8, UINT64_C(0xffffffffffffff00) | type << 3 | 2, 8);
		file_is(USER_TEXT, NULL, 0);
	}
	for (unsigned int round = 0; round < 2000; round++) {
		char path[USER_PATH_MAX];
		uint64_t start;

		put(MM + MM_MT + 8, FAKE_VA(ROOT_NODE) | (uint64_t)(rand_r(&seed) & 15) << 3 | 2,
		    8);
		for (unsigned int i = 0; i < 0x200; i += 8)
			put(ROOT_NODE + i,
			    FAKE_VA((uint64_t)rand_r(&seed) % 0x10000) | (rand_r(&seed) & 255), 8);
		user_object(&guest, &at, &tasks, 7, (uint64_t)rand_r(&seed) << 20, path, &start);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_are_followed),	TEST(frames_may_be_nonsense),
		TEST(no_user_mode_no_stack),	TEST(files_in_a_tree),
		TEST(files_in_a_list),		TEST(processes_that_have_gone),
		TEST(paths_that_are_not_plain), TEST(paths_may_be_nonsense),
		TEST(trees_may_be_nonsense),	TEST(frames_of_32_bits_are_read_as_64),
	};

	return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
