// SPDX-License-Identifier: GPL-2.0-or-later
/* test-disks.c - the block devices of a made-up guest: disks, and a partition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/image-words.h"
#include "tracer/guest/disks.h"

/* Offsets in the made-up image. */
enum {
	POINTER = 0x100, /* blockdev_superblock */
	SUPER = 0x200,
	VDA = 0x1000, /* struct bdev_inode */
	VDA1 = 0x1200,
	NBD0 = 0x1400,
	DISK_VDA = 0x2000,
	DISK_NBD = 0x2100,
};

/* Offsets in structures. */
enum {
	S_INODES = 24,
	INODE = 64, /* in struct bdev_inode */
	NEXT = 40,
	DEVICE = 8,
	DISK = 16,
	MAJOR = 0,
	MINOR = 4,
	NAME = 12,
};

#define DEV(major, minor) ((major) << DISK_MINOR_BITS | (minor))

static void add_types(void)
{
	fake_field("super_block.s_inodes", S_INODES, 16);
	fake_field("inode.i_sb_list", NEXT, 16);
	fake_field("bdev_inode.bdev", 0, INODE);
	fake_field("bdev_inode.vfs_inode", INODE, 128);
	fake_field("block_device.bd_dev", DEVICE, 4);
	fake_field("block_device.bd_disk", DISK, 8);
	fake_field("gendisk.major", MAJOR, 4);
	fake_field("gendisk.first_minor", MINOR, 4);
	fake_field("gendisk.disk_name", NAME, DISK_NAME_MAX);
}

static void add_disk(uint32_t off, uint32_t major, uint32_t minor, const char *name)
{
	put(off + MAJOR, major, 4);
	put(off + MINOR, minor, 4);
	memcpy(fake_at(FAKE_VA(off + NAME)), name, strlen(name) + 1);
}

static void add_device(uint32_t off, uint32_t device, uint32_t disk, uint64_t next)
{
	put(off + DEVICE, device, 4);
	put(off + DISK, disk ? FAKE_VA(disk) : 0, 8);
	put(off + INODE + NEXT, next, 8);
}

static uint64_t node_of(uint32_t off)
{
	return FAKE_VA(off + INODE + NEXT);
}

static int set_up(void **state)
{
	(void)state;
	image_set_up();
	fake_symbol("blockdev_superblock", FAKE_VA(POINTER), 'B');
	add_types();
	put(POINTER, FAKE_VA(SUPER), 8);
	put(SUPER + S_INODES, node_of(NBD0), 8);
	add_disk(DISK_VDA, 254, 0, "vda");
	add_disk(DISK_NBD, 43, 0, "nbd0");
	add_device(NBD0, DEV(43U, 0U), DISK_NBD, node_of(VDA1));
	add_device(VDA1, DEV(259U, 7U), DISK_VDA, node_of(VDA));
	add_device(VDA, DEV(254U, 0U), DISK_VDA, FAKE_VA(SUPER + S_INODES));
	return 0;
}

static void partitions_have_disks(void **state)
{
	struct disks d;

	(void)state;
	assert_int_equal(disks_read(&guest, NULL, &d), 0);
	assert_int_equal(d.n, 3);
	assert_int_equal(disks_find(&d, DEV(259U, 7U))->whole, DEV(254U, 0U));
	assert_int_equal(disks_find(&d, DEV(254U, 0U))->whole, DEV(254U, 0U));
	assert_string_equal(disks_find(&d, DEV(43U, 0U))->name, "nbd0");
	assert_null(disks_find(&d, DEV(43U, 1U)));
	assert_int_equal(disks_named(&d, "vda")->device, DEV(254U, 0U));
	assert_null(disks_named(&d, "vdb"));
	disks_free(&d);
	assert_null(disks_find(&d, DEV(43U, 0U)));
}

static void names_are_cut_where_they_make_no_sense(void **state)
{
	struct disks d;

	(void)state;
	memset(fake_at(FAKE_VA(DISK_VDA + NAME)), 'x', DISK_NAME_MAX);
	memcpy(fake_at(FAKE_VA(DISK_NBD + NAME)), "nbd\n0", 5);
	assert_int_equal(disks_read(&guest, NULL, &d), 0);
	assert_int_equal(strlen(disks_find(&d, DEV(254U, 0U))->name), DISK_NAME_MAX - 1);
	assert_string_equal(disks_find(&d, DEV(43U, 0U))->name, "nbd");
	disks_free(&d);
}

/* One that is just going. */
static void a_device_without_a_disk_is_left_out(void **state)
{
	struct disks d;

	(void)state;
	add_device(VDA1, DEV(259U, 7U), 0, node_of(VDA));
	assert_int_equal(disks_read(&guest, NULL, &d), 0);
	assert_int_equal(d.n, 2);
	disks_free(&d);
}

static void lists_that_do_not_end_are_none(void **state)
{
	struct disks d;

	(void)state;
	add_device(VDA, DEV(254U, 0U), DISK_VDA, node_of(VDA1));
	assert_int_equal(disks_read(&guest, NULL, &d), -EFAULT);
	add_device(VDA, DEV(254U, 0U), DISK_VDA, UINT64_C(0x1234));
	assert_int_equal(disks_read(&guest, NULL, &d), -EFAULT);
}

static void a_kernel_may_not_tell(void **state)
{
	struct disks d;

	(void)state;
	put(POINTER, 0, 8); /* it boots */
	assert_int_equal(disks_read(&guest, NULL, &d), -ENODATA);
	put(POINTER, FAKE_VA(SUPER), 8);
	fake.nfields--;
	assert_int_equal(disks_read(&guest, NULL, &d), -ENODATA);
	fake.nfields++;
	fake.nsyms = 0;
	assert_int_equal(disks_read(&guest, NULL, &d), -ENODATA);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, image_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(partitions_have_disks),
		TEST(names_are_cut_where_they_make_no_sense),
		TEST(a_device_without_a_disk_is_left_out),
		TEST(lists_that_do_not_end_are_none),
		TEST(a_kernel_may_not_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
