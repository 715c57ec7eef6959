/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scribble.h - on top of fake-guest.h: what fuzz targets of readers of guest memory share. The
 * guest is made once, and sound; an input is a list of changes to places in its memory, which are
 * as they were behind it.
 */
#ifndef HVTRACE_TESTS_SCRIBBLE_H
#define HVTRACE_TESTS_SCRIBBLE_H

#include <stdlib.h>

#include "tests/fuzz/input.h"
#include "tests/unit/fake-guest.h"

/* What some reader looks at. */
struct place {
	uint64_t pa, va; /* va: as pointers of the guest have it */
	uint32_t size;	 /* 8 at least */
	uint8_t *sound;	 /* a copy */
};

/* An address in one of the places, or any. */
static uint64_t input_address(struct input *in, const struct place *places, size_t n)
{
	size_t which = input_byte(in) % (n + 1);
	uint16_t off = input_u16(in);

	return which < n ? places[which].va + off % places[which].size : input_u64(in);
}

static inline void places_keep(struct place *places, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		places[i].sound = malloc(places[i].size);
		if (!places[i].sound)
			abort();
		memcpy(places[i].sound, fake.ram + places[i].pa, places[i].size);
	}
}

static inline void places_restore(const struct place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memcpy(fake.ram + places[i].pa, places[i].sound, places[i].size);
}

/*
 * All that is left of the input: a place, where in it, how many bytes (1 to 16), and these; or a
 * word, which is an address.
 */
static inline void scribble(const struct place *places, size_t n, struct input *in)
{
	while (in->size > 3) {
		const struct place *p = &places[input_byte(in) % n];
		uint32_t off = input_u16(in) * 4u % p->size, kind = input_byte(in) % 24;
		uint8_t bytes[16];
		uint32_t len = kind < sizeof(bytes) ? kind + 1 : sizeof(uint64_t);

		if (kind < sizeof(bytes)) {
			for (uint32_t i = 0; i < len; i++)
				bytes[i] = input_byte(in);
		} else {
			uint64_t word = input_address(in, places, n);

			memcpy(bytes, &word, sizeof(word));
		}
		memcpy(fake.ram + p->pa + off, bytes, len < p->size - off ? len : p->size - off);
	}
}

#endif
