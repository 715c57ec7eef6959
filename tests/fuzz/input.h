/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input.h - an input of a fuzz target, read from its beginning: zeros follow. */
#ifndef HVTRACE_TESTS_INPUT_H
#define HVTRACE_TESTS_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *data;
	size_t size;
};

static inline uint8_t input_byte(struct input *in)
{
	return in->size ? in->size--, *in->data++ : 0;
}

static inline uint16_t input_u16(struct input *in)
{
	uint16_t low = input_byte(in);

	return (uint16_t)(low | input_byte(in) << 8);
}

static inline uint64_t input_u64(struct input *in)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < 64; i += 8)
		value |= (uint64_t)input_byte(in) << i;
	return value;
}

#endif
