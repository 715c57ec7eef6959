/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-btf.h - makes up BTF word by word, also such as no compiler would write. */
#ifndef HVTRACE_TESTS_MADE_BTF_H
#define HVTRACE_TESTS_MADE_BTF_H

#include <linux/btf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MADE_BTF_HEADER sizeof(struct btf_header)

struct made_btf {
	uint32_t *words; /* of the types */
	size_t nr, room;
	char strings[2048];
	uint32_t strings_len;
	uint32_t ids; /* of the last type */
};

static inline void made_btf_init(struct made_btf *b)
{
	memset(b, 0, sizeof(*b));
	b->strings_len = 1;
}

static inline void made_btf_word(struct made_btf *b, uint32_t word)
{
	if (b->nr == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->words = realloc(b->words, b->room * sizeof(*b->words));
	}
	if (!b->words)
		abort();
	b->words[b->nr++] = word;
}

/* "" is where it is in all BTF. */
static inline uint32_t made_btf_string(struct made_btf *b, const char *text)
{
	uint32_t at = b->strings_len, len = strlen(text) + 1;

	if (len == 1)
		return 0;
	if (len > sizeof(b->strings) - at)
		abort();
	memcpy(b->strings + at, text, len);
	b->strings_len += len;
	return at;
}

/* The first three words of a type, whose id it gives; what follows them is to be added. */
static inline uint32_t made_btf_type(struct made_btf *b, const char *name, uint32_t kind,
				     uint32_t vlen, uint32_t size_or_type)
{
	made_btf_word(b, made_btf_string(b, name));
	made_btf_word(b, kind << 24 | vlen);
	made_btf_word(b, size_or_type);
	return ++b->ids;
}

static inline uint32_t made_btf_int(struct made_btf *b, const char *name, uint32_t size)
{
	uint32_t id = made_btf_type(b, name, BTF_KIND_INT, 0, size);

	made_btf_word(b, BTF_INT_SIGNED << 24 | 8 * size);
	return id;
}

static inline void made_btf_member(struct made_btf *b, const char *name, uint32_t type,
				   uint32_t bit_off)
{
	made_btf_word(b, made_btf_string(b, name));
	made_btf_word(b, type);
	made_btf_word(b, bit_off);
}

/* An enumerator, or a parameter. */
static inline void made_btf_pair(struct made_btf *b, const char *name, uint32_t value_or_type)
{
	made_btf_word(b, made_btf_string(b, name));
	made_btf_word(b, value_or_type);
}

/* All of it, in memory of its own that is no longer than it. */
static inline uint8_t *made_btf_raw(struct made_btf *b, size_t *len)
{
	const uint32_t types_len = b->nr * sizeof(*b->words);
	const struct btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
		.type_len = types_len,
		.str_off = types_len,
		.str_len = b->strings_len,
	};
	uint8_t *raw;

	*len = sizeof(h) + types_len + b->strings_len;
	raw = malloc(*len);
	if (!raw)
		abort();
	memcpy(raw, &h, sizeof(h));
	if (types_len)
		memcpy(raw + sizeof(h), b->words, types_len);
	memcpy(raw + sizeof(h) + types_len, b->strings, b->strings_len);
	free(b->words);
	b->words = NULL;
	return raw;
}

#endif
