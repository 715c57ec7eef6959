// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-virtio.c - what a guest does to virtio devices: registers, configuration space, and queues
 * in memory that it changes at any time. Whatever it does, a reset comes to an end, and the device
 * works again. The devices live as long as the program does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/virtio-steps.h"
#include "vmm/kvm/virtio/blk.h"
#include "vmm/kvm/virtio/console.h"
#include "vmm/kvm/virtio/rng.h"

#define DISK_SIZE 65536

enum { DISK, DISK_READ_ONLY, RNG, CONSOLE, NR_DRIVERS };
enum { CONSOLE_TX = 1 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct driver drivers[NR_DRIVERS];

static struct virtio_device *blk(bool read_only)
{
	char path[] = "/tmp/fuzz-virtio-XXXXXX", err[256] = "";
	struct disk_config cfg = {.path = path, .format = "raw", .read_only = read_only};
	int fd = mkstemp(path);
	struct disk *disk = NULL;

	if (fd >= 0 && !ftruncate(fd, DISK_SIZE))
		disk = disk_open(&cfg, err, sizeof(err));
	unlink(path);
	close(fd);
	if (!disk)
		fprintf(stderr, "%s\n", err);
	return disk ? blk_new(disk, "disk") : NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct virtio_device *all[] = {blk(false), blk(true), rng_new(), console_new(NULL, NULL)};

	(void)argc, (void)argv;
	for (unsigned int i = 0; i < NR_DRIVERS; i++)
		if (!all[i] || !driver_init(&drivers[i], all[i]))
			return -1;
	return 0;
}

/* A request as block drivers make them, in descriptors i to i + 2. */
static void any_request(struct driver *v, struct input *in)
{
	uint16_t i = input_byte(in) % (QUEUE_SIZE - 2);
	uint32_t header[4] = {input_byte(in) % 16, 0, input_byte(in), 0};
	uint16_t how = input_u16(in);

	if (how & 0x8000)
		header[3] = UINT32_MAX;
	memcpy(at(v, DATA + 16u * i), header, sizeof(header));
	set_desc(v, 0, i, (struct test_desc){DATA + 16u * i, 16, NEXT, (uint16_t)(i + 1)});
	set_desc(v, 0, i + 1u,
		 (struct test_desc){DATA + 0x1000, how & 0x3fffu, NEXT | (how & 0x4000 ? WRITE : 0),
				    (uint16_t)(i + 2)});
	set_desc(v, 0, i + 2u, (struct test_desc){DATA + 0x800, 1, WRITE, 0});
	add_chain(v, 0, i);
	kick(v, 0);
}

static void step(struct driver *v, struct input *in)
{
	static const char keys[255];
	const bool is_console = v == &drivers[CONSOLE];
	uint8_t what = input_byte(in);

	if (what % 8 != 6)
		any_step(v, is_console && what & 0x20, what, in);
	else if (is_console)
		console_type(v->d, keys, input_byte(in));
	else
		any_request(v, in);
}

/* It does what it is for, however it was treated before. */
static void check_works(struct driver *v, unsigned int which)
{
	const uint32_t header[] = {8, 0, 0, 0}; /* of a disk: what is it called? */
	const unsigned int queue = which == CONSOLE ? CONSOLE_TX : 0;
	const uint16_t next = which == CONSOLE ? 0 : NEXT;

	driver_begin(v, QUEUES);
	memcpy(at(v, DATA), header, sizeof(header));
	set_desc(v, queue, 0, (struct test_desc){DATA, 16, next, 1});
	set_desc(v, queue, 1, (struct test_desc){DATA + 0x100, 21, WRITE, 0});
	add_chain(v, queue, which == RNG);
	kick(v, queue);
	if (wait_used(v, queue, NULL) != (which == RNG))
		abort();
	reset(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t how = input_byte(&in);
	struct driver *v = &drivers[how % NR_DRIVERS];

	if (how & 0x80)
		driver_begin(v, QUEUES);
	while (in.size)
		step(v, &in);
	reset(v);
	check_works(v, how % NR_DRIVERS);
	return 0;
}
