// SPDX-License-Identifier: GPL-2.0-or-later
/* test-check.c - whether an image is whole: by its partitions, and with a program in place of
 * qemu-img. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frontend/image/image.h"
#include "frontend/lib/cancel.h"
#include "tests/unit/frontend/image/workplace.h"

#include <endian.h>

#define SECTORS 80

static char err[512];

static int check(const char *format, const struct cancel *cancel)
{
	*err = '\0';
	return image_check(in_workplace("image"), format, cancel, err, sizeof(err));
}

/* A disk with one partition, the last of four. */
static void put_disk(uint8_t active, uint8_t type, uint32_t start, uint32_t sectors)
{
	unsigned char image[SECTORS * 512] = {0};
	unsigned char *e = image + 446 + 3 * 16;

	e[0] = active;
	e[4] = type;
	start = htole32(start);
	sectors = htole32(sectors);
	memcpy(e + 8, &start, sizeof(start));
	memcpy(e + 12, &sectors, sizeof(sectors));
	image[510] = 0x55;
	image[511] = 0xaa;
	put_bytes("image", (const char *)image, sizeof(image));
}

static void test_partitions(void **state)
{
	(void)state;
	put_disk(0x80, 0x83, 8, SECTORS - 8);
	assert_int_equal(check("raw", NULL), 0);
	put_disk(0, 0x83, 8, SECTORS - 7);
	assert_int_equal(check("raw", NULL), -EIO);
	assert_string_equal(err,
			    "it has been cut off: it has 40960 bytes, and partitions in 41472");
	put_disk(0, 0xee, 1, UINT32_MAX - 1);
	assert_int_equal(check("raw", NULL), -EIO);
	/* The whole disk, however large; no partition; code of a file system's. */
	put_disk(0, 0xee, 1, UINT32_MAX);
	assert_int_equal(check("raw", NULL), 0);
	put_disk(0, 0, 8, 1000);
	assert_int_equal(check("raw", NULL), 0);
	put_disk(0x41, 0x83, 8, 1000);
	assert_int_equal(check("raw", NULL), 0);
	put_text("image", "short");
	assert_int_equal(check("raw", NULL), 0);
}

static void qemu_img_ends_with(const char *format, int status)
{
	char script[256];

	snprintf(script, sizeof(script),
		 "#!/bin/sh\n[ \"$1 $2 $3 $4\" = \"check -f %s --\" ] && exit %d\nexit 9\n", format,
		 status);
	put_program("qemu-img", script);
}

static void test_qemu_img(void **state)
{
	(void)state;
	search_only_there();
	put_text("image", "");
	assert_int_equal(check("qcow2", NULL), 0); /* nobody can tell */
	qemu_img_ends_with("qcow2", 2);
	assert_int_equal(check("qcow2", NULL), -EIO);
	assert_string_equal(err, "it is damaged, or has been cut off: qemu-img check says where");
	assert_int_equal(check("vmdk", NULL), 0);
	put_program("qemu-img",
		    "#!/bin/sh\necho ERROR: cluster offset points after EOF >&2; exit 1\n");
	assert_int_equal(check("vmdk", NULL), -EIO);
	/* It is in use; clusters that nobody uses; a format without checks. */
	for (int status = 0; status < 64; status += status < 3 ? 1 : 60) {
		if (status == 2)
			continue;
		qemu_img_ends_with("vhdx", status);
		assert_int_equal(check("vhdx", NULL), 0);
	}
}

static void test_cancel(void **state)
{
	struct cancel cancel = {0};

	(void)state;
	put_text("image", "");
	put_program("qemu-img", "#!/bin/sh\nexec sleep 600\n");
	assert_int_equal(cancel_open(&cancel), 0);
	cancel_ask(&cancel, SIGINT);
	assert_int_equal(check("qcow2", &cancel), -ECANCELED);
	assert_string_equal(err, "qemu-img was told to end");
	cancel_close(&cancel);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_workplace, leave_workplace)
	const struct CMUnitTest tests[] = {
		TEST(test_partitions),
		TEST(test_qemu_img),
		TEST(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
