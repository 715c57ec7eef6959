/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made-likely.h - on top of fake-guestsym.h and the image of a made-up guest: what its kernel keeps
 * of each likely() and unlikely().
 */
#ifndef HVTRACE_TESTS_MADE_LIKELY_H
#define HVTRACE_TESTS_MADE_LIKELY_H

#include <stdint.h>

/* As struct ftrace_likely_data of 6.1 is. */
enum {
	LIKELY_FUNC = 0,
	LIKELY_FILE = 8,
	LIKELY_LINE = 16,
	LIKELY_CORRECT = 24,
	LIKELY_INCORRECT = 32,
	LIKELY_CONSTANT = 40,
	LIKELY_SIZE = 48,
};

/* There are n of them, from this offset in the image on. The last symbol is where they end. */
static inline void likely_add(uint32_t at, uint32_t n)
{
	fake_symbol("__start_annotated_branch_profile", FAKE_VA(at), 'D');
	fake_symbol("__stop_annotated_branch_profile", FAKE_VA(at + n * LIKELY_SIZE), 'D');
	fake_type("ftrace_likely_data", LIKELY_SIZE);
	fake_field("ftrace_likely_data.data.func", LIKELY_FUNC, 8);
	fake_field("ftrace_likely_data.data.file", LIKELY_FILE, 8);
	fake_field("ftrace_likely_data.data.line", LIKELY_LINE, 4);
	fake_field("ftrace_likely_data.data.correct", LIKELY_CORRECT, 8);
	fake_field("ftrace_likely_data.data.incorrect", LIKELY_INCORRECT, 8);
	fake_field("ftrace_likely_data.constant", LIKELY_CONSTANT, 8);
}

/* The name at *end of the image, which is moved behind it: its address. */
static inline uint64_t likely_name(uint32_t *end, const char *name)
{
	uint64_t va = FAKE_VA(*end);

	strcpy((char *)fake_at(va), name);
	*end += (uint32_t)strlen(name) + 1;
	return va;
}

/* The one at this offset, with its names at *end. */
static inline void likely_put(uint32_t at, const char *func, const char *file, uint32_t line,
			      uint32_t *end)
{
	put(at + LIKELY_FUNC, likely_name(end, func), 8);
	put(at + LIKELY_FILE, likely_name(end, file), 8);
	put(at + LIKELY_LINE, line, 4);
}

#endif
