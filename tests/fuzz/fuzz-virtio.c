// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-virtio.c - what a guest does to virtio devices: registers, configuration space, and queues
 * in memory that it changes at any time. Whatever it does, a reset comes to an end, and the device
 * works again. The devices live as long as the program does.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/input.h"
#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/blk.h"
#include "vmm/kvm/virtio/rng.h"

#define DISK_SIZE 65536
#define QUEUES	  (VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct driver drivers[3];

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
	struct virtio_device *all[] = {blk(false), blk(true), rng_new()};

	(void)argc, (void)argv;
	for (unsigned int i = 0; i < 3; i++)
		if (!all[i] || !driver_init(&drivers[i], all[i]))
			return -1;
	return 0;
}

/* An address that is somewhere in RAM mostly, at its end now and then. */
static uint64_t any_pa(struct input *in)
{
	uint8_t how = input_byte(in);

	if (how < 200)
		return DATA + how * 256u + input_byte(in);
	return how < 240 ? RAM_START + RAM_SIZE - input_byte(in) : input_u64(in);
}

static void any_desc(struct driver *v, struct input *in)
{
	unsigned int i = input_byte(in) % QUEUE_SIZE;
	uint16_t how = input_u16(in);
	struct test_desc d = {.pa = any_pa(in),
			      .len = how & 0x1000 ? (uint32_t)input_u64(in) : input_u16(in) % 2048,
			      .flags = how & 7,
			      .next = how >> 4 & (how & 0x2000 ? 255 : QUEUE_SIZE - 1)};

	set_desc(v, 0, i, d);
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

/* The words of RAM that queues are in, and those that DISCARD has its ranges in. */
static void any_words(struct driver *v, struct input *in)
{
	uint64_t pa = input_byte(in) & 1 ? DATA + 0x1000 : RAM_START + input_u16(in) % 0xc00u;

	for (unsigned int n = input_byte(in) % 4; n; n--, pa += 2) {
		uint16_t word = input_u16(in);

		memcpy(at(v, pa), &word, sizeof(word));
	}
}

static void any_step(struct driver *v, struct input *in)
{
	static const uint8_t sizes[] = {1, 2, 4, 8};
	uint8_t what = input_byte(in);
	unsigned int size = sizes[what >> 6];

	switch (what % 8) {
	case 0:
		reg_put(v, input_u16(in) % 0x7ff9u, size, input_u64(in));
		break;
	case 1:
		reg_get(v, input_u16(in) % 0x7ff9u, size);
		break;
	case 2:
		pci_config_write(&v->pci.function, input_byte(in), size == 8 ? 4 : size,
				 (uint32_t)input_u64(in));
		break;
	case 3:
		any_words(v, in);
		break;
	case 4:
		any_desc(v, in);
		break;
	case 5:
		add_chain(v, 0, input_byte(in) % (QUEUE_SIZE + 1));
		kick(v, 0);
		break;
	case 6:
		any_request(v, in);
		break;
	default:
		reg_put(v, input_byte(in) % 64u, size, input_u64(in));
	}
}

static void reset(struct driver *v)
{
	reg_put(v, 0x14, 1, 0);
	while (reg_get(v, 0x14, 1))
		sched_yield();
}

/* It does what it is for, however it was treated before. */
static void check_works(struct driver *v, unsigned int which)
{
	const uint32_t header[] = {8, 0, 0, 0}; /* of a disk: what is it called? */

	driver_begin(v, QUEUES);
	memcpy(at(v, DATA), header, sizeof(header));
	set_desc(v, 0, 0, (struct test_desc){DATA, 16, NEXT, 1});
	set_desc(v, 0, 1, (struct test_desc){DATA + 0x100, 21, WRITE, 0});
	add_chain(v, 0, which == 2);
	kick(v, 0);
	if (wait_used(v, 0, NULL) != (which == 2))
		abort();
	reset(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t how = input_byte(&in);
	struct driver *v = &drivers[how % 3];

	if (how & 0x80)
		driver_begin(v, QUEUES);
	while (in.size)
		any_step(v, &in);
	reset(v);
	check_works(v, how % 3);
	return 0;
}
