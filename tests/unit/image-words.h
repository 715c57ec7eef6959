/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image-words.h - a made-up guest whose kernel's structures a test writes word by word. */
#ifndef HVTRACE_TESTS_IMAGE_WORDS_H
#define HVTRACE_TESTS_IMAGE_WORDS_H

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake-guest.h"
#include "tracer/guest/guest.h"

static struct guest_kernel guest;

/* At an offset in its image. */
static inline void put(uint64_t off, uint64_t value, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), &value, len);
}

/* All is zero, and it has no types and no symbols. */
static inline void image_set_up(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	assert_non_null(fake.ram);
	memset(&guest, 0, sizeof(guest));
	guest.text_va = FAKE_TEXT;
	guest.text_pa = FAKE_PA;
	guest.text_len = 0x100000;
}

static inline int image_tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

#endif
