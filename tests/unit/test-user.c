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

#include "tests/unit/fake-guest.h"
#include "tracer/user.h"

/* Offsets in the made-up image, and what lies there. */
enum {
	INIT_TASK = 0x1000,
	OTHER = 0x1400, /* the process whose pid is 7 */
	MM = 0x1800,
	PGD = 0x2000,
	KERNEL_STACK = 0x4000,
	STACK_SIZE = 0x4000,
	ROOT_NODE = 0x8000, /* of the maple tree; nodes are aligned to 256 bytes */
	LEAF_NODE = 0x8100,
	VMA_TEXT = 0x9000,
	VMA_ANON = 0x9100,
	VMA_LIB = 0x9200,
	FILE_TEXT = 0xa000,
	FILE_LIB = 0xa100,
	MOUNT_ROOT = 0xb000,
	MOUNT_USR = 0xb100,
	DENTRY_ROOT = 0xc000, /* and the others behind it */
	DENTRY_BIN = 0xc100,
	DENTRY_PROG = 0xc200,
	DENTRY_USR = 0xc300, /* that another file system is mounted on */
	DENTRY_USR_ROOT = 0xc400,
	DENTRY_LIB = 0xc500,
	NAMES = 0xd000,
	USER_PAGES = 0x20000, /* the process' stack */
	IMAGE_END = 0x30000,
};

/* Offsets in structures. */
enum {
	TASK_PID = 0,
	TASK_TASKS = 8,
	TASK_MM = 24,
	TASK_FLAGS = 32,
	TASK_STACK = 40,
	MM_PGD = 0,
	MM_MT = 8,
	MM_LIST = 24,
	VMA_START = 0,
	VMA_END = 8,
	VMA_FILE = 16,
	VMA_NEXT = 24,
	MOUNT_PARENT = 0,
	MOUNT_POINT = 8,
	MOUNT_MNT = 16,
	DENTRY_PARENT = 0,
	DENTRY_NAME = 8,
	DENTRY_LEN = 16,
	DENTRY_PPREV = 24,
	REGS_SIZE = 168,
};

#define USER_STACK UINT64_C(0x7ffc00000000)
#define USER_TEXT  UINT64_C(0x401000)
#define USER_LIB   UINT64_C(0x7f0000000000)

static struct guest_kernel guest;
static struct user_layout at;
static struct task_layout tasks;

static void put(uint64_t off, uint64_t value, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), &value, len);
}

static void put_user(uint64_t va, uint64_t value)
{
	put(USER_PAGES + (va - USER_STACK), value, 8);
}

static void add_types(bool tree)
{
	static const struct {
		const char *path;
		uint32_t offset, size;
	} fields[] = {
		{"task_struct.mm", TASK_MM, 8},
		{"task_struct.flags", TASK_FLAGS, 4},
		{"mm_struct.pgd", MM_PGD, 8},
		{"pt_regs.bp", 32, 8},
		{"pt_regs.ip", 128, 8},
		{"pt_regs.cs", 136, 8},
		{"pt_regs.sp", 152, 8},
		{"pt_regs.ss", 160, 8},
		{"mm_struct.mmap", MM_LIST, 8},
		{"vm_area_struct.vm_start", VMA_START, 8},
		{"vm_area_struct.vm_end", VMA_END, 8},
		{"vm_area_struct.vm_file", VMA_FILE, 8},
		{"vm_area_struct.vm_next", VMA_NEXT, 8},
		{"file.f_path.mnt", 0, 8},
		{"file.f_path.dentry", 8, 8},
		{"dentry.d_parent", DENTRY_PARENT, 8},
		{"dentry.d_name.name", DENTRY_NAME, 8},
		{"dentry.d_name.len", DENTRY_LEN, 4},
		{"dentry.d_hash.pprev", DENTRY_PPREV, 8},
		{"vfsmount.mnt_root", 0, 8},
		{"mount.mnt", MOUNT_MNT, 32},
		{"mount.mnt_parent", MOUNT_PARENT, 8},
		{"mount.mnt_mountpoint", MOUNT_POINT, 8},
		/* From here on of a kernel with maple trees. */
		{"mm_struct.mm_mt", MM_MT, 16},
		{"maple_tree.ma_root", 8, 8},
		{"maple_range_64.pivot", 8, 8 * 15},
		{"maple_range_64.slot", 128, 8 * 16},
		{"maple_arange_64.pivot", 8, 8 * 9},
		{"maple_arange_64.slot", 80, 8 * 10},
	};
	size_t n = sizeof(fields) / sizeof(fields[0]);

	for (size_t i = 0; i < n && (tree || strcmp(fields[i].path, "mm_struct.mm_mt") != 0); i++)
		fake_field(fields[i].path, fields[i].offset, fields[i].size);
}

static void add_dentry(uint32_t off, uint32_t parent, const char *name)
{
	uint32_t text = NAMES + (off - DENTRY_ROOT);

	put(off + DENTRY_PARENT, FAKE_VA(parent), 8);
	put(off + DENTRY_NAME, FAKE_VA(text), 8);
	put(off + DENTRY_LEN, strlen(name), 4);
	put(off + DENTRY_PPREV, 1, 8);
	memcpy(fake_at(FAKE_VA(text)), name, strlen(name));
}

static void add_files(void)
{
	add_dentry(DENTRY_ROOT, DENTRY_ROOT, "/");
	add_dentry(DENTRY_BIN, DENTRY_ROOT, "bin");
	add_dentry(DENTRY_PROG, DENTRY_BIN, "prog");
	add_dentry(DENTRY_USR, DENTRY_ROOT, "usr");
	add_dentry(DENTRY_USR_ROOT, DENTRY_USR_ROOT, "/");
	add_dentry(DENTRY_LIB, DENTRY_USR_ROOT, "libc.so");
	put(MOUNT_ROOT + MOUNT_PARENT, FAKE_VA(MOUNT_ROOT), 8);
	put(MOUNT_ROOT + MOUNT_POINT, FAKE_VA(DENTRY_ROOT), 8);
	put(MOUNT_ROOT + MOUNT_MNT, FAKE_VA(DENTRY_ROOT), 8);
	put(MOUNT_USR + MOUNT_PARENT, FAKE_VA(MOUNT_ROOT), 8);
	put(MOUNT_USR + MOUNT_POINT, FAKE_VA(DENTRY_USR), 8);
	put(MOUNT_USR + MOUNT_MNT, FAKE_VA(DENTRY_USR_ROOT), 8);
	put(FILE_TEXT, FAKE_VA(MOUNT_ROOT + MOUNT_MNT), 8);
	put(FILE_TEXT + 8, FAKE_VA(DENTRY_PROG), 8);
	put(FILE_LIB, FAKE_VA(MOUNT_USR + MOUNT_MNT), 8);
	put(FILE_LIB + 8, FAKE_VA(DENTRY_LIB), 8);
}

static void add_vma(uint32_t off, uint64_t start, uint64_t end, uint32_t file, uint32_t next)
{
	put(off + VMA_START, start, 8);
	put(off + VMA_END, end, 8);
	put(off + VMA_FILE, file ? FAKE_VA(file) : 0, 8);
	put(off + VMA_NEXT, next ? FAKE_VA(next) : 0, 8);
}

/* The upper node has one leaf for what lies low, and one mapping's leaf again for all else. */
static void add_tree(void)
{
	uint64_t leaf = FAKE_VA(LEAF_NODE) | 1 << 3 | 2;

	put(MM + MM_MT + 8, FAKE_VA(ROOT_NODE) | 3 << 3 | 2, 8);
	put(ROOT_NODE + 8, UINT64_C(0x6fffffffffff), 8);
	put(ROOT_NODE + 80, leaf, 8);
	put(ROOT_NODE + 88, leaf, 8);
	put(LEAF_NODE + 8, USER_TEXT - 1, 8);
	put(LEAF_NODE + 16, USER_TEXT + 0xfff, 8);
	put(LEAF_NODE + 24, USER_TEXT + 0x1fff, 8);
	put(LEAF_NODE + 32, USER_LIB - 1, 8);
	put(LEAF_NODE + 40, USER_LIB + 0xfff, 8);
	put(LEAF_NODE + 128 + 8, FAKE_VA(VMA_TEXT), 8);
	put(LEAF_NODE + 128 + 16, FAKE_VA(VMA_ANON), 8);
	put(LEAF_NODE + 128 + 32, FAKE_VA(VMA_LIB), 8);
}

static void add_process(void)
{
	uint64_t regs = KERNEL_STACK + STACK_SIZE - REGS_SIZE;

	put(INIT_TASK + TASK_TASKS, FAKE_VA(OTHER + TASK_TASKS), 8);
	put(OTHER + TASK_TASKS, FAKE_VA(INIT_TASK + TASK_TASKS), 8);
	put(OTHER + TASK_PID, 7, 4);
	put(OTHER + TASK_MM, FAKE_VA(MM), 8);
	put(OTHER + TASK_STACK, FAKE_VA(KERNEL_STACK), 8);
	put(MM + MM_PGD, FAKE_VA(PGD), 8);
	put(MM + MM_LIST, FAKE_VA(VMA_TEXT), 8);
	add_vma(VMA_TEXT, USER_TEXT, USER_TEXT + 0x1000, FILE_TEXT, VMA_ANON);
	add_vma(VMA_ANON, USER_TEXT + 0x1000, USER_TEXT + 0x2000, 0, VMA_LIB);
	add_vma(VMA_LIB, USER_LIB, USER_LIB + 0x1000, FILE_LIB, 0);
	put(regs + 32, USER_STACK + 0x100, 8);
	put(regs + 128, USER_TEXT + 0x10, 8);
	put(regs + 136, 0x33, 8);
	put(regs + 152, USER_STACK + 0x80, 8);
	fake.maps[0].root = FAKE_PA + PGD;
	fake.maps[0].va = USER_STACK;
	fake.maps[0].len = 0x2000;
	fake.maps[0].pa = FAKE_PA + USER_PAGES;
	fake.nmaps = 1;
}

static void make(bool tree)
{
	char err[256];

	memset(&fake, 0, sizeof(fake));
	memset(&at, 0, sizeof(at));
	fake.ram = calloc(1, FAKE_RAM);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	add_types(tree);
	assert_int_equal(guest_learn(&guest, NULL, err, sizeof(err)), 0);
	guest_bind(&guest, NULL);
	user_learn(&at, NULL);
	assert_true(at.stacks && at.objects);
	tasks = (struct task_layout){
		.init_task = FAKE_VA(INIT_TASK),
		.tasks = TASK_TASKS,
		.stack = TASK_STACK,
		.pid = TASK_PID,
		.stack_size = STACK_SIZE,
	};
	add_files();
	add_process();
	add_tree();
}

static int set_up(void **state)
{
	(void)state;
	make(true);
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
	make(false);
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
	unsigned int seed = 1;

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
		TEST(trees_may_be_nonsense),
	};

	return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
