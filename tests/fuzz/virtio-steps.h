/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtio-steps.h - what a guest may do to a virtio device of whatever kind, at random. */
#ifndef HVTRACE_TESTS_VIRTIO_STEPS_H
#define HVTRACE_TESTS_VIRTIO_STEPS_H

#include <sched.h>

#include "tests/fuzz/input.h"
#include "tests/unit/virtio-driver.h"

#define QUEUES (VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)

/* An address that is somewhere in RAM mostly, at its end now and then. */
static inline uint64_t any_pa(struct input *in)
{
	uint8_t how = input_byte(in);

	if (how < 200)
		return DATA + how * 256u + input_byte(in);
	return how < 240 ? RAM_START + RAM_SIZE - input_byte(in) : input_u64(in);
}

static inline void any_desc(struct driver *v, unsigned int queue, struct input *in)
{
	unsigned int i = input_byte(in) % QUEUE_SIZE;
	uint16_t how = input_u16(in);
	struct test_desc d = {.pa = any_pa(in),
			      .len = how & 0x1000 ? (uint32_t)input_u64(in) : input_u16(in) % 2048,
			      .flags = how & 7,
			      .next = how >> 4 & (how & 0x2000 ? 255 : QUEUE_SIZE - 1)};

	set_desc(v, queue, i, d);
}

/* The words of RAM that queues are in, and some that are in their buffers. */
static inline void any_words(struct driver *v, unsigned int queue, struct input *in)
{
	uint64_t pa = input_byte(in) & 1 ? DATA + 0x1000 : desc_at(queue) + input_u16(in) % 0xc00u;

	for (unsigned int n = input_byte(in) % 4; n; n--, pa += 2) {
		uint16_t word = input_u16(in);

		memcpy(at(v, pa), &word, sizeof(word));
	}
}

static inline void any_step(struct driver *v, unsigned int queue, uint8_t what, struct input *in)
{
	static const uint8_t sizes[] = {1, 2, 4, 8};
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
		any_words(v, queue, in);
		break;
	case 4:
		any_desc(v, queue, in);
		break;
	case 5:
		add_chain(v, queue, input_byte(in) % (QUEUE_SIZE + 1));
		kick(v, queue);
		break;
	default:
		reg_put(v, input_byte(in) % 64u, size, input_u64(in));
	}
}

#endif
