/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user-guest.h - on top of fake-guest.h: a made-up process with a stack, mappings in a maple tree
 * or in a list, and files on two file systems.
 */
#ifndef HVTRACE_TESTS_USER_GUEST_H
#define HVTRACE_TESTS_USER_GUEST_H

#include <stdlib.h>

#include "tests/unit/fake-guest.h"
#include "tracer/guest/user.h"

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

/* False: it cannot be told where its things are. */
static bool user_guest_make(bool tree)
{
	char err[256];

	memset(&fake, 0, sizeof(fake));
	memset(&at, 0, sizeof(at));
	fake.ram = calloc(1, FAKE_RAM);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	add_types(tree);
	memset(&guest, 0, sizeof(guest));
	if (!fake.ram || guest_learn(&guest, NULL, err, sizeof(err)))
		return false;
	guest_bind(&guest, NULL);
	user_learn(&at, NULL);
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
	return at.stacks && at.objects;
}

#endif
