// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-types-flat.c - flat tables of types as somebody hostile would write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/internal.h"
#include "tests/unit/asked-types.h"
#include "tests/unit/made-btf.h"

/* A table, and a copy of it to be changed, which is as long and no byte longer. */
struct table {
	struct blob flat;
	uint8_t *copy;
	struct flat_header h;
	struct flat_layout l;
};

/* Some of everything: two of what is sorted, members and parameters of several kinds. */
static void make_types(struct made_btf *b)
{
	made_btf_init(b);
	made_btf_int(b, "int", 4);
	made_btf_type(b, "", BTF_KIND_PTR, 0, 3);
	made_btf_type(b, "task", BTF_KIND_STRUCT, 3, 16);
	made_btf_member(b, "pid", 1, 0);
	made_btf_member(b, "", 4, 32);
	made_btf_member(b, "next", 2, 64);
	made_btf_type(b, "", BTF_KIND_UNION, 2, 4);
	made_btf_member(b, "a", 1, 0);
	made_btf_member(b, "b", 1, 0);
	made_btf_type(b, "task_t", BTF_KIND_TYPEDEF, 0, 3);
	made_btf_type(b, "", BTF_KIND_FUNC_PROTO, 2, 1);
	made_btf_pair(b, "t", 2);
	made_btf_pair(b, "", 1);
	made_btf_type(b, "", BTF_KIND_FUNC_PROTO, 1, 0);
	made_btf_pair(b, "fd", 1);
	made_btf_type(b, "open", BTF_KIND_FUNC, 0, 6);
	made_btf_type(b, "close", BTF_KIND_FUNC, 0, 7);
	made_btf_type(b, "mode", BTF_KIND_ENUM, 2, 4);
	made_btf_pair(b, "ABS", 0);
	made_btf_pair(b, "REL", (uint32_t)-1);
}

static int setup(void **state)
{
	struct table *tab = calloc(1, sizeof(*tab));
	struct made_btf b;
	uint8_t *raw;
	size_t len;

	make_types(&b);
	raw = made_btf_raw(&b, &len);
	assert_int_equal(types_flatten(raw, len, &tab->flat), 0);
	free(raw);
	tab->copy = malloc(tab->flat.len);
	assert_non_null(tab->copy);
	memcpy(&tab->h, tab->flat.data, sizeof(tab->h));
	tab->l = flat_layout(&tab->h);
	*state = tab;
	return 0;
}

static int teardown(void **state)
{
	struct table *tab = *state;

	blob_free(&tab->flat);
	free(tab->copy);
	free(tab);
	return 0;
}

/* What is said of the copy; when it is taken, everything is asked for. The copy is whole again. */
static int load(struct table *tab)
{
	struct types *t;
	int err = types_load(tab->copy, tab->flat.len, &t);

	if (!err)
		ask_all(t, tab->copy, tab->flat.len);
	else
		assert_null(t);
	types_free(t);
	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	return err;
}

static void test_sound(void **state)
{
	struct table *tab = *state;
	const struct flat_header *h = &tab->h;

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	assert_int_equal(load(tab), 0);
	assert_int_equal(h->btf_types, 10);
	assert_int_equal(h->nr_names, 2);
	assert_int_equal(h->nr_composites, 2);
	assert_int_equal(h->nr_members, 5);
	assert_int_equal(h->nr_functions, 2);
	assert_int_equal(h->nr_protos, 2);
	assert_int_equal(h->nr_params, 3);
	assert_int_equal(h->nr_enumerators, 2);
	/* int, pointer and what it points to, union, and that close() returns none */
	assert_int_equal(h->nr_types, 5);
	assert_int_equal(tab->flat.len % 8, 0);
}

static void test_header(void **state)
{
	static const uint32_t values[] = {0, 1, 7, 0x10000, 0x7fffffff, UINT32_MAX};
	struct table *tab = *state;

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (size_t at = 0; at < sizeof(struct flat_header); at += 4) {
		const uint32_t was = get_u32(tab->copy + at);

		for (size_t i = 0; i < ARRAY_SIZE(values) + 2; i++) {
			uint32_t v = i < ARRAY_SIZE(values)    ? values[i]
				     : i == ARRAY_SIZE(values) ? was + 1
							       : was - 1;

			memcpy(tab->copy + at, &v, 4);
			/* How many types there were of all is nothing that can be checked. */
			if (v == was || at == offsetof(struct flat_header, btf_types))
				assert_int_equal(load(tab), 0);
			else
				assert_int_equal(load(tab), -EINVAL);
		}
	}
}

/* Two counts that together ask for as many bytes as before. */
static void test_counts(void **state)
{
	struct table *tab = *state;
	struct flat_header h = tab->h;

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	h.nr_params++;
	h.nr_functions--;
	memcpy(tab->copy, &h, sizeof(h));
	assert_int_equal(load(tab), -EINVAL);
	h = tab->h;
	h.strings_len += sizeof(struct flat_type) * h.nr_types;
	h.nr_types = 0;
	memcpy(tab->copy, &h, sizeof(h));
	assert_int_equal(load(tab), -EINVAL);
	h = tab->h;
	h.nr_types += h.strings_len / sizeof(struct flat_type);
	h.strings_len %= sizeof(struct flat_type);
	memcpy(tab->copy, &h, sizeof(h));
	assert_int_equal(load(tab), -EINVAL);
}

static void test_length(void **state)
{
	struct table *tab = *state;
	struct types *t;

	for (size_t len = 1; len < tab->flat.len; len++) {
		uint8_t *part = malloc(len);

		assert_non_null(part);
		memcpy(part, tab->flat.data, len);
		assert_int_equal(types_load(part, len, &t), -EINVAL);
		free(part);
	}
}

/* All of it, where 64-bit numbers do not start. */
static void test_unaligned(void **state)
{
	struct table *tab = *state;
	uint8_t *bytes = malloc(tab->flat.len + 4);
	struct types *t;

	assert_non_null(bytes);
	memcpy(bytes + 4, tab->flat.data, tab->flat.len);
	assert_int_equal(types_load(bytes + 4, tab->flat.len, &t), -EINVAL);
	free(bytes);
}

static void test_none(void **state)
{
	struct guestsym_value result;
	struct types_member m;
	struct guestsym_field f;
	struct types *t;
	uint32_t size;

	(void)state;
	assert_int_equal(types_load(NULL, 0, &t), 0);
	assert_int_equal(types_count(t), 0);
	assert_int_equal(types_field(t, "task.pid", &f), -ENODATA);
	assert_int_equal(types_size(t, "task", &size), -ENODATA);
	assert_int_equal(types_member(t, "task", 0, &m), -ENODATA);
	assert_int_equal(types_function(t, "open", NULL, 0, &result), -ENODATA);
	assert_int_equal(types_enumerators(t, NULL, 0), -ENODATA);
	types_free(t);
}

/* All bytes behind the header, one after the other: refused, or no answer leads outside. */
static void test_each_byte(void **state)
{
	struct table *tab = *state;
	unsigned int refused = 0;

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (size_t at = sizeof(struct flat_header); at < tab->flat.len; at++) {
		for (int bit = 0; bit < 8; bit++) {
			tab->copy[at] ^= 1 << bit;
			refused += load(tab) != 0;
		}
		tab->copy[at] = 0xff;
		refused += load(tab) != 0;
	}
	assert_in_range(refused, 1000, 9 * tab->flat.len);
}

static void test_each_word(void **state)
{
	static const uint32_t values[] = {0, 1, 2, 0x80, 0x7fffffff, UINT32_MAX};
	struct table *tab = *state;

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (size_t at = sizeof(struct flat_header); at < tab->l.strings; at += 4) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			memcpy(tab->copy + at, &values[i], 4);
			load(tab);
		}
	}
}

/* Every number of another entry and every name, one too large. */
static void test_numbers(void **state)
{
	struct table *tab = *state;
	const struct flat_header *h = &tab->h;
	const struct {
		uint64_t at;
		uint32_t limit;
	} v[] = {
		{tab->l.enumerators, h->strings_len},
		{tab->l.enumerators + offsetof(struct flat_enumerator, zero), 1},
		{tab->l.members + offsetof(struct flat_member, name), h->strings_len},
		{tab->l.members + offsetof(struct flat_member, type), h->nr_types},
		{tab->l.members + offsetof(struct flat_member, bits), UINT8_MAX + 1},
		{tab->l.names, h->strings_len},
		{tab->l.names + offsetof(struct flat_name, composite), h->nr_composites},
		{tab->l.functions, h->strings_len},
		{tab->l.functions + offsetof(struct flat_function, proto), h->nr_protos},
		{tab->l.protos + offsetof(struct flat_proto, result), h->nr_types},
		{tab->l.params + offsetof(struct flat_param, name), h->strings_len},
		{tab->l.params + offsetof(struct flat_param, type), h->nr_types},
		{tab->l.types + offsetof(struct flat_type, name), h->strings_len},
		{tab->l.types + offsetof(struct flat_type, composite), h->nr_composites + 1},
		{tab->l.types + offsetof(struct flat_type, of), h->nr_types + 1},
		{tab->l.types + offsetof(struct flat_type, kind), GUESTSYM_VALUE_OTHER + 1},
		{tab->l.types + offsetof(struct flat_type, kind), FLAT_FORMS << 16},
	};

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		memcpy(tab->copy + v[i].at, &v[i].limit, 4);
		assert_int_equal(load(tab), -EINVAL);
	}
}

/* Members and parameters are one's alone, all of them somebody's. */
static void test_parts(void **state)
{
	struct table *tab = *state;
	const struct {
		uint64_t at; /* of first; nr follows it */
		size_t size;
		uint32_t n; /* of all */
	} v[] = {
		{tab->l.composites + offsetof(struct flat_composite, first),
		 sizeof(struct flat_composite), tab->h.nr_members},
		{tab->l.protos + offsetof(struct flat_proto, first), sizeof(struct flat_proto),
		 tab->h.nr_params},
	};

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		uint8_t *at = tab->copy + v[i].at;

		at[v[i].size + 4]--; /* fewer of the last one */
		assert_int_equal(load(tab), -EINVAL);
		at[4]--; /* fewer of the first one */
		assert_int_equal(load(tab), -EINVAL);
		at[v[i].size]--; /* and the last one begins with what is nobody's now, or is not */
		assert_int_equal(load(tab), -EINVAL);
		at[4]--;
		at[v[i].size]--;
		at[v[i].size + 4]++; /* only how they share them: fine */
		assert_int_equal(load(tab), 0);
		memset(at + 4, 0xff, 4); /* so many that all of them together are few again */
		memset(at + v[i].size, 0xff, 4);
		at[v[i].size + 4] = v[i].n + 1;
		assert_int_equal(load(tab), -EINVAL);
	}
}

static void swap(uint8_t *a, size_t size)
{
	uint8_t first[16];

	assert_true(size <= sizeof(first));
	memcpy(first, a, size);
	memcpy(a, a + size, size);
	memcpy(a + size, first, size);
}

static void test_order(void **state)
{
	struct table *tab = *state;
	const struct {
		uint64_t at;
		size_t size;
	} v[] = {
		{tab->l.enumerators, sizeof(struct flat_enumerator)},
		{tab->l.names, sizeof(struct flat_name)},
		{tab->l.functions, sizeof(struct flat_function)},
	};

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		swap(tab->copy + v[i].at, v[i].size);
		assert_int_equal(load(tab), -EINVAL);
		memcpy(tab->copy + v[i].at, tab->copy + v[i].at + v[i].size, v[i].size);
		assert_int_equal(load(tab), -EINVAL); /* twice the same */
		memset(tab->copy + v[i].at, 0, 4);
		assert_int_equal(load(tab), -EINVAL); /* without a name */
	}
}

static void test_strings(void **state)
{
	struct table *tab = *state;
	uint8_t *strings = tab->copy + tab->l.strings;

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	strings[0] = 'x';
	assert_int_equal(load(tab), -EINVAL);
	strings[tab->h.strings_len - 1] = 'x';
	assert_int_equal(load(tab), -EINVAL);
	strings[1] = '\033';
	assert_int_equal(load(tab), -EINVAL);
	strings[1] = 0x9b;
	assert_int_equal(load(tab), -EINVAL);
}

/* Each unnamed union is made the struct that it is in. */
static void test_loop(void **state)
{
	struct table *tab = *state;
	struct flat_type *types = (struct flat_type *)(tab->copy + tab->l.types);

	memcpy(tab->copy, tab->flat.data, tab->flat.len);
	for (uint32_t i = 0; i < tab->h.nr_types; i++)
		types[i].composite = 1;
	assert_int_equal(load(tab), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sound, setup, teardown),
		cmocka_unit_test_setup_teardown(test_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_length, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unaligned, setup, teardown),
		cmocka_unit_test(test_none),
		cmocka_unit_test_setup_teardown(test_each_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_word, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loop, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
