/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-life.h - on top of fake-guest.h: what is written into the guest while a tracer lives, one
 * after the other, so that a test can have it die after any of them.
 */
#ifndef HVTRACE_TESTS_FAKE_LIFE_H
#define HVTRACE_TESTS_FAKE_LIFE_H

#include <stdlib.h>

#include "tests/unit/fake-guest.h"

#define LIFE_MAX 4096

static struct {
	struct {
		uint64_t pa;
		size_t len;
		uint8_t *bytes;
		unsigned int work; /* which of the guest's own that is part of; 0: the host's */
	} write[LIFE_MAX];
	size_t n;
	unsigned int work; /* what the guest does now */
	uint8_t *first;	   /* the guest's memory before all of them */
} life;

/* With fake_lock held. */
static void life_note(uint64_t pa, const void *buf, size_t len)
{
	uint8_t *bytes = malloc(len);

	if (!bytes || life.n == LIFE_MAX)
		abort();
	memcpy(bytes, buf, len);
	life.write[life.n].pa = pa;
	life.write[life.n].len = len;
	life.write[life.n].work = life.work;
	life.write[life.n++].bytes = bytes;
}

static void life_begin(void)
{
	life.first = malloc(FAKE_RAM);
	assert_non_null(life.first);
	memcpy(life.first, fake.ram, FAKE_RAM);
	fake.wrote = life_note;
}

static void life_end(void)
{
	fake.wrote = NULL;
}

static void life_free(void)
{
	for (size_t i = 0; i < life.n; i++)
		free(life.write[i].bytes);
	free(life.first);
	memset(&life, 0, sizeof(life));
}

/*
 * It has come to n writes, and `part` bytes of one more: no machine leaves a word half written. Its
 * traps are the keeper's to take out.
 */
static void life_until(size_t n, size_t part)
{
	memcpy(fake.ram, life.first, FAKE_RAM);
	for (size_t i = 0; i < n; i++)
		memcpy(fake.ram + life.write[i].pa, life.write[i].bytes, life.write[i].len);
	if (part)
		memcpy(fake.ram + life.write[n].pa, life.write[n].bytes, part);
	fake.ntraps = 0;
}

#endif
