/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprintf.h - conversions of the kernel's printf(), which are not quite those of C
 * (lib/vsprintf.c, 6.1).
 *
 * Formats are a guest's: what makes no sense prints something or nothing.
 */
#ifndef HVTRACE_TRACER_LIB_KPRINTF_H
#define HVTRACE_TRACER_LIB_KPRINTF_H

#include "tracer/lib/text.h"

enum { KPRINTF_WIDTH_MAX = 1024 }; /* wider ones are as wide as this */

enum kprintf_flag {
	KPRINTF_LEFT = 1 << 0,
	KPRINTF_PLUS = 1 << 1,
	KPRINTF_SPACE = 1 << 2,
	KPRINTF_SPECIAL = 1 << 3,
	KPRINTF_ZERO = 1 << 4,
};

/* One conversion: %[flags][width][.precision][length]conversion */
struct kprintf_spec {
	uint8_t flags;		       /* enum kprintf_flag */
	uint8_t size;		       /* of an integer, bytes */
	char conversion;	       /* 0: the format ends within it */
	bool width_arg, precision_arg; /* '*': they are to be set from arguments, in this order */
	int width, precision;	       /* -1: none */
};

/* What stands at `at`, behind the '%'. Returns what is behind its conversion character. */
const char *kprintf_parse(const char *at, struct kprintf_spec *spec);
void kprintf_set_width(struct kprintf_spec *spec, int width);
void kprintf_set_precision(struct kprintf_spec *spec, int precision);

/* d, i, u, o, x, X; p as it stands for a bare address. */
void kprintf_number(struct text *t, const struct kprintf_spec *spec, uint64_t value);
void kprintf_char(struct text *t, const struct kprintf_spec *spec, char c);
/* The text from `start` on is a string: cut it and pad it. */
void kprintf_end_string(struct text *t, const struct kprintf_spec *spec, size_t start);
void kprintf_string(struct text *t, const struct kprintf_spec *spec, const char *s, size_t len);

/*
 * The forms of %p that look at what the pointer points to, of which there are `room` bytes: h, b,
 * bl, M, m, I, i, U, a, 4cc, NF; `kind` is what stands behind the p. False: it is none of them.
 */
bool kprintf_bytes(struct text *t, const struct kprintf_spec *spec, const char *kind,
		   const uint8_t *bytes, size_t room);
/* What %p makes of an address that is not to be seen: siphash_1u64() of it. */
uint64_t kprintf_hash(uint64_t addr, const uint64_t key[2]);

#endif
