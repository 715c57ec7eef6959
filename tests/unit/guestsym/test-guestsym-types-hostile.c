// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-types-hostile.c - BTF that no compiler writes: what is made of it, and its cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/libbpf.h>

#include "guestsym/internal.h"
#include "tests/unit/asked-types.h"
#include "tests/unit/made-btf.h"

#define NOWHERE 1000 /* an id, or a name, that there is not */

static unsigned int printed;

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	printed++;
	return 0;
}

/* What is said of it; it is freed. */
static int flatten(struct made_btf *b)
{
	size_t len;
	uint8_t *raw = made_btf_raw(b, &len);
	int err = ask_flattened(raw, len);

	free(raw);
	return err;
}

/* A table of it, which is freed. */
static struct types *load(struct made_btf *b, struct blob *flat)
{
	size_t len;
	uint8_t *raw = made_btf_raw(b, &len);
	struct types *t;

	assert_int_equal(ask_flattened(raw, len), 0);
	assert_int_equal(types_flatten(raw, len, flat), 0);
	assert_int_equal(types_load(flat->data, flat->len, &t), 0);
	free(raw);
	return t;
}

static void unload(struct types *t, struct blob *flat)
{
	types_free(t);
	blob_free(flat);
}

/* --- what is not there ------------------------------------------------------------------- */

static void test_ids(void **state)
{
	static const uint32_t kinds[] = {
		BTF_KIND_PTR,	   BTF_KIND_TYPEDEF,  BTF_KIND_VOLATILE, BTF_KIND_CONST,
		BTF_KIND_RESTRICT, BTF_KIND_FUNC,     BTF_KIND_TYPE_TAG, BTF_KIND_FUNC_PROTO,
		BTF_KIND_VAR,	   BTF_KIND_DECL_TAG,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (int sound = 0; sound < 2; sound++) {
			struct made_btf b;

			made_btf_init(&b);
			made_btf_int(&b, "int", 4);
			/* The first that there is not is the one behind it. */
			made_btf_type(&b, "x", kinds[i], 0, sound ? 2 : 3);
			if (kinds[i] == BTF_KIND_VAR || kinds[i] == BTF_KIND_DECL_TAG)
				made_btf_word(&b, 0);
			assert_int_equal(flatten(&b), sound ? 0 : -EINVAL);
		}
	}
}

static void test_ids_within(void **state)
{
	struct made_btf b;

	(void)state;
	made_btf_init(&b);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 1, 4);
	made_btf_member(&b, "m", NOWHERE, 0);
	assert_int_equal(flatten(&b), -EINVAL);

	made_btf_init(&b);
	made_btf_type(&b, "", BTF_KIND_FUNC_PROTO, 1, 0);
	made_btf_pair(&b, "p", UINT32_MAX);
	assert_int_equal(flatten(&b), -EINVAL);

	made_btf_init(&b);
	made_btf_type(&b, "", BTF_KIND_ARRAY, 0, 0);
	made_btf_member(&b, "", NOWHERE, 0);
	b.words[b.nr - 3] = NOWHERE;
	assert_int_equal(flatten(&b), -EINVAL);
}

/* Which word of a type with two members, two parameters or two enumerators is a name. */
static void test_names(void **state)
{
	static const struct {
		uint32_t kind, words;
		size_t names[3];
	} v[] = {
		{BTF_KIND_STRUCT, 9, {0, 3, 6}},
		{BTF_KIND_UNION, 9, {0, 3, 6}},
		{BTF_KIND_ENUM, 7, {0, 3, 5}},
		{BTF_KIND_FUNC_PROTO, 7, {0, 3, 5}},
	};

	(void)state;
	for (size_t i = 0; i < 3 * ARRAY_SIZE(v); i++) {
		for (int sound = 0; sound < 2; sound++) {
			struct made_btf b;

			made_btf_init(&b);
			made_btf_string(&b, "x");
			made_btf_word(&b, 0);
			made_btf_word(&b, v[i / 3].kind << 24 | 2);
			while (b.nr < v[i / 3].words)
				made_btf_word(&b, 0);
			b.words[v[i / 3].names[i % 3]] = b.strings_len - sound;
			b.ids = 1;
			assert_int_equal(flatten(&b), sound ? 0 : -EINVAL);
		}
	}
}

/* No kernel has names with an end of the line in them, or longer ones than symbols may be. */
static void test_strings(void **state)
{
	char name[SYMBOL_NAME_MAX + 2];

	(void)state;
	for (size_t len = SYMBOL_NAME_MAX; len <= SYMBOL_NAME_MAX + 1; len++) {
		struct made_btf b;

		made_btf_init(&b);
		memset(name, 'n', len);
		name[len] = 0;
		made_btf_type(&b, name, BTF_KIND_STRUCT, 0, 4);
		assert_int_equal(flatten(&b), len <= SYMBOL_NAME_MAX ? 0 : -EINVAL);
	}
	for (int c = 1; c < 256; c++) {
		struct made_btf b;

		made_btf_init(&b);
		name[0] = (char)c;
		name[1] = 0;
		made_btf_type(&b, name, BTF_KIND_STRUCT, 0, 4);
		assert_int_equal(flatten(&b), c >= ' ' && c <= '~' ? 0 : -EINVAL);
	}
}

static void test_strings_ends(void **state)
{
	struct made_btf b;

	(void)state;
	made_btf_init(&b);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 0, 4);
	b.strings[b.strings_len - 1] = 's'; /* without an end */
	assert_int_equal(flatten(&b), -EINVAL);

	made_btf_init(&b);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 0, 4);
	b.strings[0] = 's'; /* without "" */
	assert_int_equal(flatten(&b), -EINVAL);

	made_btf_init(&b);
	made_btf_type(&b, "", BTF_KIND_STRUCT, 0, 4);
	b.strings_len = 0;
	assert_int_equal(flatten(&b), -EINVAL);
}

/* --- the header, and how much there is ---------------------------------------------------- */

static void test_header(void **state)
{
	static const uint32_t values[] = {0, 1, 23, 25, 26, 0xffff, 0x7fffffff, UINT32_MAX};
	struct made_btf b;
	uint8_t *raw, *copy;
	size_t len;

	(void)state;
	made_btf_init(&b);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 0, 4);
	raw = made_btf_raw(&b, &len);
	copy = malloc(len);
	assert_non_null(copy);
	assert_int_equal(ask_flattened(raw, len), 0);
	for (size_t at = 0; at < MADE_BTF_HEADER; at += 4) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			memcpy(copy, raw, len);
			memcpy(copy + at, &values[i], 4);
			/* Types may start anywhere, and none of them need be there. */
			if (memcmp(copy, raw, len) != 0 &&
			    at != offsetof(struct btf_header, type_off) &&
			    (values[i] || at != offsetof(struct btf_header, type_len)))
				assert_int_equal(ask_flattened(copy, len), -EINVAL);
			else
				ask_flattened(copy, len);
		}
	}
	for (size_t less = 1; less <= len; less++)
		assert_int_equal(ask_flattened(memcpy(copy + less, raw, len - less), len - less),
				 -EINVAL);
	free(copy);
	free(raw);
}

/* One that is longer is a newer one; what follows it is at even words. */
static void test_header_length(void **state)
{
	struct made_btf b;
	uint8_t *raw, *copy;
	size_t len;

	(void)state;
	made_btf_init(&b);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 0, 4);
	raw = made_btf_raw(&b, &len);
	for (uint32_t n = MADE_BTF_HEADER - 4; n <= MADE_BTF_HEADER + 4; n++) {
		copy = calloc(1, len + 4);
		assert_non_null(copy);
		memcpy(copy + n, raw + MADE_BTF_HEADER, len - MADE_BTF_HEADER);
		memcpy(copy, raw, n < MADE_BTF_HEADER ? n : MADE_BTF_HEADER);
		if (n < MADE_BTF_HEADER) /* the length of the strings is the first type's name */
			memcpy(copy + n, &b.strings_len, 4);
		memcpy(copy + offsetof(struct btf_header, hdr_len), &n, 4);
		assert_int_equal(ask_flattened(copy, len + 4),
				 n < MADE_BTF_HEADER || n % 4 ? -EINVAL : 0);
		free(copy);
	}
	free(raw);
}

static void test_counts(void **state)
{
	static const uint32_t kinds[] = {BTF_KIND_STRUCT,     BTF_KIND_UNION,  BTF_KIND_ENUM,
					 BTF_KIND_FUNC_PROTO, BTF_KIND_ENUM64, BTF_KIND_DATASEC};
	libbpf_print_fn_t print = libbpf_set_print(print_nothing);

	(void)state;
	printed = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct made_btf b;

		made_btf_init(&b);
		made_btf_type(&b, "x", kinds[i], UINT16_MAX, 4);
		made_btf_member(&b, "", 0, 0);
		assert_int_equal(flatten(&b), -EINVAL);
	}
	/* Nobody asked libbpf for its opinion; whoever did before is told again. */
	assert_int_equal(printed, 0);
	assert_ptr_equal(libbpf_set_print(print), print_nothing);
}

/* One more than are sorted. */
static void test_too_many(void **state)
{
	struct made_btf b;

	(void)state;
	for (uint32_t n = 1 << 20; n <= (1 << 20) + 1; n++) {
		made_btf_init(&b);
		for (uint32_t left = n, vlen; left; left -= vlen) {
			vlen = left < UINT16_MAX ? left : UINT16_MAX;
			made_btf_type(&b, "", BTF_KIND_ENUM, vlen, 4);
			for (uint32_t i = 0; i < vlen; i++)
				made_btf_pair(&b, "", i);
		}
		assert_int_equal(flatten(&b), n == 1 << 20 ? 0 : -E2BIG);
	}
}

static void test_too_large(void **state)
{
	const uint8_t nothing[1] = {0};
	struct blob flat;

	(void)state;
	/* It is not even looked at. */
	assert_int_equal(types_flatten(nothing, (64 << 20) + 1, &flat), -E2BIG);
	assert_null(flat.map);
	assert_int_equal(types_flatten(nothing, 0, &flat), -EINVAL);
}

/* --- loops ------------------------------------------------------------------------------- */

static void test_loops(void **state)
{
	struct guestsym_value v, result;
	struct guestsym_field f;
	struct made_btf b;
	struct blob flat;
	struct types *t;
	uint32_t size;

	(void)state;
	made_btf_init(&b);
	made_btf_type(&b, "one", BTF_KIND_TYPEDEF, 0, 2);
	made_btf_type(&b, "two", BTF_KIND_TYPEDEF, 0, 1);
	made_btf_type(&b, "", BTF_KIND_CONST, 0, 3);
	made_btf_type(&b, "", BTF_KIND_ARRAY, 0, 0);
	made_btf_word(&b, 4);
	made_btf_word(&b, 4);
	made_btf_word(&b, UINT32_MAX);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 3, 8);
	made_btf_member(&b, "typedef", 1, 0);
	made_btf_member(&b, "const", 3, 0);
	made_btf_member(&b, "array", 4, 0);
	made_btf_type(&b, "", BTF_KIND_FUNC_PROTO, 1, 6);
	made_btf_pair(&b, "p", 2);
	made_btf_type(&b, "f", BTF_KIND_FUNC, 0, 6);
	t = load(&b, &flat);
	assert_int_equal(types_size(t, "one", &size), -ENOENT);
	assert_int_equal(types_field(t, "s.typedef", &f), -EINVAL);
	assert_int_equal(types_field(t, "s.const", &f), -EINVAL);
	assert_int_equal(types_field(t, "s.array", &f), -EINVAL);
	assert_int_equal(types_function(t, "f", &v, 1, &result), 1);
	assert_int_equal(v.kind, GUESTSYM_VALUE_OTHER);
	assert_int_equal(v.size, 0);
	unload(t, &flat);
}

/* Four unnamed members that each are the struct itself: 4^16 of them within its reach. */
static void test_nested(void **state)
{
	struct guestsym_field f;
	struct made_btf b;
	struct blob flat;
	struct types *t;

	(void)state;
	made_btf_init(&b);
	made_btf_int(&b, "int", 4);
	made_btf_type(&b, "s", BTF_KIND_STRUCT, 6, 8);
	made_btf_member(&b, "x", 1, 32);
	for (int i = 0; i < 4; i++)
		made_btf_member(&b, "", 2, 0);
	made_btf_member(&b, "y", 1, 64);
	t = load(&b, &flat);
	steps = 0;
	assert_int_equal(types_field(t, "s.x", &f), 0);
	assert_int_equal(f.offset, 4);
	assert_int_equal(types_field(t, "s.none", &f), -EINVAL);
	assert_in_range(steps, 1, ASK_STEPS);
	unload(t, &flat);
}

/* So many qualifiers as libbpf follows, and more. */
static void test_deep(void **state)
{
	struct made_btf b;
	struct blob flat;
	struct types *t;
	uint32_t size, id;

	(void)state;
	made_btf_init(&b);
	id = made_btf_type(&b, "s", BTF_KIND_STRUCT, 0, 8);
	for (int i = 0; i < 20; i++)
		id = made_btf_type(&b, "", BTF_KIND_CONST, 0, id);
	id = made_btf_type(&b, "near", BTF_KIND_TYPEDEF, 0, id);
	for (int i = 0; i < 20; i++)
		id = made_btf_type(&b, "", BTF_KIND_CONST, 0, id);
	made_btf_type(&b, "far", BTF_KIND_TYPEDEF, 0, id);
	t = load(&b, &flat);
	assert_int_equal(types_size(t, "near", &size), 0);
	assert_int_equal(size, 8);
	assert_int_equal(types_size(t, "far", &size), -ENOENT);
	unload(t, &flat);
}

/* --- which of several of one name --------------------------------------------------------- */

static void test_same_names(void **state)
{
	struct guestsym_value v, result;
	int64_t first, second;
	const struct types_enumerator wanted[] = {{"A", &first}, {"B", &second}};
	struct made_btf b;
	struct blob flat;
	struct types *t;
	uint32_t size;

	(void)state;
	made_btf_init(&b);
	made_btf_int(&b, "int", 4);
	made_btf_type(&b, "x", BTF_KIND_TYPEDEF, 0, 4);
	made_btf_type(&b, "y", BTF_KIND_TYPEDEF, 0, 1); /* what counts, though it is no struct */
	made_btf_type(&b, "", BTF_KIND_STRUCT, 0, 100);
	made_btf_type(&b, "y", BTF_KIND_TYPEDEF, 0, 4);
	made_btf_type(&b, "x", BTF_KIND_STRUCT, 0, 200);
	made_btf_type(&b, "x", BTF_KIND_UNION, 0, 300);
	made_btf_type(&b, "", BTF_KIND_FUNC_PROTO, 0, 1);
	made_btf_type(&b, "", BTF_KIND_FUNC_PROTO, 1, 0);
	made_btf_pair(&b, "p", 1);
	made_btf_type(&b, "f", BTF_KIND_FUNC, 0, 8);
	made_btf_type(&b, "f", BTF_KIND_FUNC, 0, 9);
	made_btf_type(&b, "g", BTF_KIND_FUNC, 0, 1); /* it has no prototype */
	made_btf_type(&b, "g", BTF_KIND_FUNC, 0, 9);
	made_btf_type(&b, "", BTF_KIND_ENUM, 2, 4);
	made_btf_pair(&b, "B", 1);
	made_btf_pair(&b, "A", 2);
	made_btf_type(&b, "", BTF_KIND_ENUM, 2, 4);
	made_btf_pair(&b, "B", (uint32_t)-3);
	made_btf_pair(&b, "", 4);
	t = load(&b, &flat);
	assert_int_equal(types_count(t), 15);
	assert_int_equal(types_size(t, "x", &size), 0);
	assert_int_equal(size, 200);
	assert_int_equal(types_size(t, "y", &size), -ENOENT);
	assert_int_equal(types_function(t, "f", &v, 1, &result), 0);
	assert_int_equal(types_function(t, "g", &v, 1, &result), -ENOENT);
	assert_int_equal(types_enumerators(t, wanted, 2), 0);
	assert_int_equal(first, 2);
	assert_int_equal(second, -3);
	unload(t, &flat);
}

/* Names that all have one end, each one letter longer than the one before: slow to compare. */
static void test_long_names(void **state)
{
	char name[SYMBOL_NAME_MAX + 1];
	struct made_btf b;
	uint32_t at;

	(void)state;
	memset(name, 'n', SYMBOL_NAME_MAX);
	name[SYMBOL_NAME_MAX] = 0;
	made_btf_init(&b);
	at = made_btf_string(&b, name);
	for (int i = 0; i < 20; i++) {
		for (uint32_t j = 0; j < SYMBOL_NAME_MAX; j++) {
			made_btf_type(&b, "", BTF_KIND_STRUCT, 0, j);
			b.words[b.nr - 3] = at + j;
		}
	}
	assert_int_equal(flatten(&b), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),	      cmocka_unit_test(test_ids_within),
		cmocka_unit_test(test_names),	      cmocka_unit_test(test_strings),
		cmocka_unit_test(test_header),	      cmocka_unit_test(test_strings_ends),
		cmocka_unit_test(test_counts),	      cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_too_large),     cmocka_unit_test(test_loops),
		cmocka_unit_test(test_nested),	      cmocka_unit_test(test_deep),
		cmocka_unit_test(test_same_names),    cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_header_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
