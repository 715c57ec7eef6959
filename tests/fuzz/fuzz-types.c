// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-types.c - libFuzzer target for types: raw BTF that is made a flat table, and flat tables as
 * a hostile process would make them. Whatever is taken is asked for all that it has: no answer is
 * outside, or takes more steps than it may.
 *
 * The first byte says what the rest is: one of the two as it is, or changes to a sound one: 16-bit
 * position, 8-bit count (1 to 8), that many bytes; and so on.
 */
#include "guestsym/internal.h"
#include "tests/unit/asked-types.h"
#include "tests/unit/made-btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Something of each kind that is looked at. */
static uint8_t *make_sound(size_t *len)
{
	struct made_btf b;

	made_btf_init(&b);
	made_btf_int(&b, "int", 4);
	made_btf_type(&b, "", BTF_KIND_PTR, 0, 3);
	made_btf_type(&b, "task", BTF_KIND_STRUCT, 4, 24);
	made_btf_member(&b, "pid", 1, 0);
	made_btf_member(&b, "", 4, 32);
	made_btf_member(&b, "next", 2, 64);
	made_btf_member(&b, "comm", 6, 128);
	made_btf_type(&b, "", BTF_KIND_UNION, 2, 4);
	made_btf_member(&b, "a", 1, 0);
	made_btf_member(&b, "b", 7, 0);
	made_btf_type(&b, "task_t", BTF_KIND_TYPEDEF, 0, 3);
	made_btf_type(&b, "", BTF_KIND_ARRAY, 0, 0);
	made_btf_word(&b, 1);
	made_btf_word(&b, 1);
	made_btf_word(&b, 2);
	made_btf_type(&b, "", BTF_KIND_CONST, 0, 1);
	made_btf_type(&b, "", BTF_KIND_FUNC_PROTO, 2, 1);
	made_btf_pair(&b, "t", 2);
	made_btf_pair(&b, "mode", 7);
	made_btf_type(&b, "open", BTF_KIND_FUNC, 0, 8);
	made_btf_type(&b, "close", BTF_KIND_FUNC, 0, 8);
	made_btf_type(&b, "mode", BTF_KIND_ENUM, 2, 4);
	made_btf_pair(&b, "ABS", 0);
	made_btf_pair(&b, "REL", 1);
	return made_btf_raw(&b, len);
}

static void change(uint8_t *file, size_t file_len, const uint8_t *data, size_t len)
{
	while (len > 3) {
		size_t pos = (data[0] | data[1] << 8) % file_len;
		size_t n = data[2] % 8 + 1;

		data += 3;
		len -= 3;
		n = n < len ? n : len;
		n = n < file_len - pos ? n : file_len - pos;
		memcpy(file + pos, data, n);
		data += n;
		len -= n;
	}
}

static void load(const uint8_t *flat, size_t len)
{
	struct types *t;

	steps = 0;
	if (!types_load(flat, len, &t)) {
		ask_that(steps <= len, "checking takes too many steps");
		if (len)
			ask_all(t, flat, len);
	}
	types_free(t);
}

static void fuzz_flat(bool changed, const uint8_t *data, size_t len)
{
	struct blob flat;
	size_t raw_len;
	uint8_t *raw, *copy;

	if (!changed) {
		/* The first byte went before it: what is given to be loaded is aligned. */
		copy = malloc(len ? len : 1);
		if (!copy)
			abort();
		load(memcpy(copy, data, len), len);
		free(copy);
		return;
	}
	raw = make_sound(&raw_len);
	if (types_flatten(raw, raw_len, &flat))
		abort();
	copy = malloc(flat.len);
	if (!copy)
		abort();
	memcpy(copy, flat.data, flat.len);
	change(copy, flat.len, data, len);
	load(copy, flat.len);
	free(copy);
	free(raw);
	blob_free(&flat);
}

static void fuzz_raw(bool changed, const uint8_t *data, size_t len)
{
	size_t raw_len;
	uint8_t *raw;

	if (!changed) {
		ask_flattened(data, len);
		return;
	}
	raw = make_sound(&raw_len);
	change(raw, raw_len, data, len);
	ask_flattened(raw, raw_len);
	free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len < 2)
		return 0;
	if (data[0] & 1)
		fuzz_flat(data[0] & 2, data + 1, len - 1);
	else
		fuzz_raw(data[0] & 2, data + 1, len - 1);
	return 0;
}
