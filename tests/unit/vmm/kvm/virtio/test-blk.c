// SPDX-License-Identifier: GPL-2.0-or-later
/* test-blk.c - a block device, whose driver is the test, over an image. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/blk.h"

#define SECTORS 128u

#define OFFERED                                                                                    \
	(VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC | 1 << 2 | 1 << 6 |      \
	 1 << 9)
#define WRITABLE (OFFERED | 1 << 13 | 1 << 14)

enum { IN = 0, OUT = 1, FLUSH = 4, GET_ID = 8, DISCARD = 11, ZEROES = 13 };
enum { OK = 0, IOERR = 1, UNSUPP = 2 };

/* Where a request's parts are; descriptors 0 to 2. */
#define HEADER DATA
#define STATUS (DATA + 0x800)
#define BYTES  (DATA + 0x1000)

struct scene {
	struct driver v;
	char path[64];
	int fd;
};

static struct scene *scene_new(bool read_only)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct disk_config cfg = {
		.format = "raw", .path = s->path, .read_only = read_only, .keep = true};
	struct virtio_device *d;
	struct disk *disk;
	char err[256];

	assert_non_null(s);
	strcpy(s->path, "/tmp/test-blk-XXXXXX");
	s->fd = mkstemp(s->path);
	assert_true(s->fd >= 0);
	assert_int_equal(ftruncate(s->fd, SECTORS * 512), 0);
	assert_int_equal(pwrite(s->fd, "sector 3", 8, 3 * 512), 8);
	disk = disk_open(&cfg, err, sizeof(err));
	assert_non_null(disk);
	d = blk_new(disk, "the name of it, which is long");
	assert_non_null(d);
	assert_true(driver_init(&s->v, d));
	return s;
}

static int setup(void **state)
{
	struct scene *s = scene_new(false);

	driver_begin(&s->v, WRITABLE);
	*state = s;
	return 0;
}

static int setup_read_only(void **state)
{
	struct scene *s = scene_new(true);

	driver_begin(&s->v, OFFERED | 1 << 5);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	driver_exit(&s->v);
	unlink(s->path);
	close(s->fd);
	free(s);
	return 0;
}

struct header {
	uint32_t type, reserved;
	uint64_t sector;
};

static void add(struct driver *v, unsigned int first, struct header h, uint32_t len, bool out)
{
	uint64_t header = HEADER + first * 16, status = STATUS + first;

	memcpy(at(v, header), &h, sizeof(h));
	*(uint8_t *)at(v, status) = 0xff;
	set_desc(v, 0, first, (struct test_desc){header, 16, NEXT, (uint16_t)(first + 1)});
	set_desc(v, 0, first + 1,
		 (struct test_desc){BYTES + first * 0x1000, len, NEXT | (out ? 0 : WRITE),
				    (uint16_t)(first + 2)});
	set_desc(v, 0, first + 2, (struct test_desc){status, 1, WRITE, 0});
	add_chain(v, 0, (uint16_t)first);
	kick(v, 0);
}

/* What the device says of a request; *written: how much it has written for it, with the status. */
static uint8_t request(struct scene *s, struct header h, uint32_t len, bool out, uint32_t *written)
{
	add(&s->v, 0, h, len, out);
	assert_int_equal(wait_used(&s->v, 0, written), 0);
	return *(uint8_t *)at(&s->v, STATUS);
}

static void test_config(void **state)
{
	struct scene *s = *state;

	assert_true(offered(&s->v) == WRITABLE);
	assert_int_equal(reg_get(&s->v, 0x2000, 8), SECTORS);
	assert_int_equal(reg_get(&s->v, 0x2004, 4), 0);
	assert_int_equal(reg_get(&s->v, 0x200c, 4), VIRTQ_MAX - 2);
	assert_int_equal(reg_get(&s->v, 0x2014, 4), 512);
	assert_int_equal(reg_get(&s->v, 0x2028, 4), 1);
	assert_int_equal(reg_get(&s->v, 0x203c, 8), 0); /* behind its end */
	assert_int_equal(reg_get(&s->v, 0x203a, 8), 0); /* over it */
	assert_int_equal(reg_get(&s->v, 0x2ffc, 8), 0);
}

static void test_read(void **state)
{
	struct scene *s = *state;
	uint32_t written;

	assert_int_equal(request(s, (struct header){IN, 0, 3}, 1024, false, &written), OK);
	assert_int_equal(written, 1025);
	assert_memory_equal(at(&s->v, BYTES), "sector 3\0", 9);
}

static void test_write_and_flush(void **state)
{
	struct scene *s = *state;
	char bytes[9] = "";
	uint32_t written;

	memcpy(at(&s->v, BYTES + 512), "changed", 7);
	assert_int_equal(request(s, (struct header){OUT, 0, SECTORS - 2}, 1024, true, &written),
			 OK);
	assert_int_equal(written, 1);
	assert_int_equal(request(s, (struct header){FLUSH, 0, 0}, 0, true, &written), OK);
	assert_int_equal(pread(s->fd, bytes, 8, (SECTORS - 1) * 512), 8);
	assert_string_equal(bytes, "changed");
}

static void test_outside(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t sector;
		uint32_t len;
	} rows[] = {
		{IN, SECTORS, 512},    {IN, SECTORS - 1, 1024},
		{IN, UINT64_MAX, 512}, {IN, UINT64_MAX / 512, 512},
		{IN, 0, 511},	       {IN, 0, 513},
		{OUT, SECTORS, 512},   {OUT, UINT64_MAX - 1, 1024},
		{OUT, 0, 100},	       {IN, 0, (SECTORS + 1) * 512},
	};
	struct scene *s = *state;
	uint32_t written;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct header h = {rows[i].type, 0, rows[i].sector};

		assert_int_equal(request(s, h, rows[i].len, h.type == OUT, &written), IOERR);
		assert_int_equal(written, 1);
	}
	assert_int_equal(lseek(s->fd, 0, SEEK_END), SECTORS * 512);
}

static void test_other_types(void **state)
{
	struct scene *s = *state;
	uint32_t written;

	assert_int_equal(request(s, (struct header){GET_ID, 0, 0}, 20, false, &written), OK);
	assert_int_equal(written, 21);
	assert_memory_equal(at(&s->v, BYTES), "the name of it, whic", 20);
	assert_int_equal(request(s, (struct header){GET_ID, 0, 0}, 4, false, &written), OK);
	assert_int_equal(written, 5);
	assert_int_equal(request(s, (struct header){77, 0, 0}, 512, false, &written), UNSUPP);
	assert_int_equal(request(s, (struct header){2, 0, 0}, 512, false, &written), UNSUPP);
}

static uint8_t range_with(struct scene *s, uint32_t type, uint64_t sector, uint32_t sectors,
			  uint32_t flags, uint32_t len)
{
	uint32_t words[] = {(uint32_t)sector, (uint32_t)(sector >> 32), sectors, flags}, written;

	memcpy(at(&s->v, BYTES), words, sizeof(words));
	return request(s, (struct header){type, 0, 0}, len, true, &written);
}

static uint8_t range(struct scene *s, uint32_t type, uint64_t sector, uint32_t sectors,
		     uint32_t len)
{
	return range_with(s, type, sector, sectors, 0, len);
}

static void test_zeroes(void **state)
{
	struct scene *s = *state;
	char bytes[8];

	assert_int_equal(range(s, ZEROES, 2, 2, 16), OK);
	assert_int_equal(pread(s->fd, bytes, 8, 3 * 512), 8);
	assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0", 8);
	assert_int_equal(range_with(s, ZEROES, 4, 2, 1, 16), OK); /* and their room back */
	assert_int_equal(range(s, DISCARD, 0, SECTORS, 16), OK);
	assert_int_equal(range(s, ZEROES, SECTORS - 1, 2, 16), IOERR);
	assert_int_equal(range(s, ZEROES, UINT64_MAX, 2, 16), IOERR);
	assert_int_equal(range(s, DISCARD, 0, UINT32_MAX, 16), IOERR);
	assert_int_equal(range(s, ZEROES, 0, 1, 15), IOERR);
	assert_int_equal(range(s, ZEROES, 0, 1, 32), IOERR); /* two of them */
	assert_int_equal(range_with(s, ZEROES, 0, 1, 1, 16), OK);
	assert_int_equal(range_with(s, ZEROES, 0, 1, 2, 16), UNSUPP);
	assert_int_equal(range_with(s, DISCARD, 0, 1, 1, 16), UNSUPP);
	assert_int_equal(lseek(s->fd, 0, SEEK_END), SECTORS * 512);
}

static unsigned int flushes; /* of the image */

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	__atomic_add_fetch(&flushes, 1, __ATOMIC_SEQ_CST);
	return __real_fdatasync(fd);
}

/* 5.2.6.2: what such a driver has been told is written stays written. */
static void test_driver_that_does_not_flush(void **state)
{
	struct scene *s = *state;
	uint32_t written;

	flushes = 0;
	assert_int_equal(request(s, (struct header){OUT, 0, 1}, 512, true, &written), OK);
	assert_int_equal(flushes, 0);
	driver_begin(&s->v, WRITABLE & ~(1u << 9));
	assert_int_equal(request(s, (struct header){OUT, 0, 1}, 512, true, &written), OK);
	assert_int_equal(flushes, 1);
	assert_int_equal(written, 1);
	assert_int_equal(request(s, (struct header){IN, 0, 1}, 512, false, &written), OK);
	assert_int_equal(flushes, 1);
}

static void test_read_only(void **state)
{
	struct scene *s = *state;
	uint32_t written;

	assert_true(offered(&s->v) == (OFFERED | 1 << 5));
	assert_int_equal(request(s, (struct header){OUT, 0, 3}, 512, true, &written), IOERR);
	assert_int_equal(range(s, ZEROES, 3, 1, 16), IOERR);
	assert_int_equal(request(s, (struct header){IN, 0, 3}, 512, false, &written), OK);
	assert_memory_equal(at(&s->v, BYTES), "sector 3", 8);
}

/* No room for the header, or for the status: nobody can be told but by the status register. */
static void test_requests_that_are_none(void **state)
{
	struct scene *s = *state;

	for (unsigned int i = 0; i < 3; i++) {
		driver_begin(&s->v, WRITABLE);
		if (i == 0)
			set_desc(&s->v, 0, 0, (struct test_desc){HEADER, 16, 0, 0});
		else if (i == 1)
			set_desc(&s->v, 0, 0, (struct test_desc){STATUS, 1, WRITE, 0});
		else
			set_desc(&s->v, 0, 0, (struct test_desc){HEADER, 15, NEXT, 1});
		set_desc(&s->v, 0, 1, (struct test_desc){STATUS, 1, WRITE, 0});
		add_chain(&s->v, 0, 0);
		kick(&s->v, 0);
		wait_status(&s->v, 64);
	}
}

static void test_many_at_a_time(void **state)
{
	struct scene *s = *state;

	for (unsigned int round = 0; round < 50; round++) {
		for (unsigned int i = 0; i < 2; i++)
			add(&s->v, 3 * i, (struct header){IN, 0, 3}, 512, false);
		for (unsigned int i = 0; i < 2; i++)
			wait_used(&s->v, 0, NULL);
		assert_int_equal(*(uint8_t *)at(&s->v, STATUS), OK);
		assert_int_equal(*(uint8_t *)at(&s->v, STATUS + 3), OK);
	}
}

/* The same descriptors over and over, without waiting: more than there can be. */
static void test_queue_that_is_flooded(void **state)
{
	struct scene *s = *state;

	add(&s->v, 0, (struct header){FLUSH, 0, 0}, 0, true);
	for (unsigned int i = 0; i < 5000; i++) {
		add_chain(&s->v, 0, 0);
		kick(&s->v, 0);
	}
	driver_begin(&s->v, WRITABLE); /* whatever came of it */
	test_read(state);
}

static void test_reset_while_reading(void **state)
{
	struct scene *s = *state;

	for (unsigned int i = 0; i < 50; i++) {
		add(&s->v, 0, (struct header){IN, 0, 0}, 32768, false);
		driver_begin(&s->v, WRITABLE);
	}
	test_read(state);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_config),
		TEST(test_read),
		TEST(test_write_and_flush),
		TEST(test_outside),
		TEST(test_other_types),
		TEST(test_zeroes),
		TEST(test_driver_that_does_not_flush),
		cmocka_unit_test_setup_teardown(test_read_only, setup_read_only, teardown),
		TEST(test_requests_that_are_none),
		TEST(test_many_at_a_time),
		TEST(test_queue_that_is_flooded),
		TEST(test_reset_while_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
