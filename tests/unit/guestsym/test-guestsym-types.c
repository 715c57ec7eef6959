// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-types.c - where members lie, asked of made-up BTF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"
#include "tests/elsewhere.h"

/*
 * struct inner { int flags; };                      typedef struct inner inner_t;
 * struct task {
 *	int pid; const inner_t info; char comm[16];
 *	struct { int a; union { int b; short c; }; };
 *	unsigned int low:3, high:9; struct task *next;
 *	unsigned char *name; enum mode by;
 * };
 * enum mode { ABS, REL = 1, NONE = -1 };
 */
/* long_name open(struct *next, int fd, inner_t by_value, unsigned), void close(); five types. */
static void add_functions(struct btf *btf, int pointer, int i32, int u32, int by_value)
{
	int result = btf__add_typedef(btf, "long_name", i32), proto;

	proto = btf__add_func_proto(btf, result);
	btf__add_func_param(btf, "next", pointer);
	btf__add_func_param(btf, "fd", i32);
	btf__add_func_param(btf, "by_value", by_value);
	btf__add_func_param(btf, NULL, u32);
	btf__add_func(btf, "open", BTF_FUNC_STATIC, proto);
	proto = btf__add_func_proto(btf, 0);
	btf__add_func(btf, "close", BTF_FUNC_STATIC, proto);
}

static struct btf *make_btf(void)
{
	struct btf *btf = btf__new_empty();
	int i32, u32, c8, array, inner, alias, constant, hidden, choice, pointer;

	assert_non_null(btf);
	i32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	u32 = btf__add_int(btf, "unsigned int", 4, 0);
	c8 = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	array = btf__add_array(btf, i32, c8, 16);
	inner = btf__add_struct(btf, "inner", 4);
	btf__add_field(btf, "flags", i32, 0, 0);
	alias = btf__add_typedef(btf, "inner_t", inner);
	constant = btf__add_const(btf, alias);
	choice = btf__add_union(btf, NULL, 4);
	btf__add_field(btf, "b", i32, 0, 0);
	btf__add_field(btf, "c", c8, 0, 0);
	hidden = btf__add_struct(btf, NULL, 8);
	btf__add_field(btf, "a", i32, 0, 0);
	btf__add_field(btf, NULL, choice, 32, 0);
	pointer = btf__add_ptr(btf, hidden + 2);
	assert_int_equal(btf__add_struct(btf, "task", 64), hidden + 2);
	btf__add_field(btf, "pid", i32, 0, 0);
	btf__add_field(btf, "info", constant, 32, 0);
	btf__add_field(btf, "comm", array, 64, 0);
	btf__add_field(btf, NULL, hidden, 192, 0);
	btf__add_field(btf, "low", u32, 256, 3);
	btf__add_field(btf, "high", u32, 259, 9);
	btf__add_field(btf, "next", pointer, 320, 0);
	btf__add_field(btf, "name", hidden + 4, 384, 0);
	btf__add_field(btf, "by", hidden + 5, 448, 0);
	assert_int_equal(btf__add_int(btf, "unsigned char", 1, 0), hidden + 3);
	assert_int_equal(btf__add_ptr(btf, hidden + 3), hidden + 4);
	assert_int_equal(btf__add_enum(btf, "mode", 4), hidden + 5);
	btf__add_enum_value(btf, "ABS", 0);
	btf__add_enum_value(btf, "REL", 1);
	btf__add_enum_value(btf, "NONE", -1);
	add_functions(btf, pointer, i32, u32, constant);
	return btf;
}

static struct guestsym *open_with(const void *raw, size_t raw_len)
{
	static struct made_image m;
	struct guestsym *gs;
	uint64_t va;
	uint8_t *elf;
	size_t len;

	made_init(&m);
	va = made_put(&m, raw, raw_len);
	made_section(&m, ".BTF", va, raw_len, SHT_PROGBITS, SHF_ALLOC);
	elf = made_kernel(&m, MADE_DEBIAN, &len);
	gs = guestsym_parse(elf, len, NULL, 0);
	assert_non_null(gs);
	free(elf);
	return gs;
}

static struct guestsym *open_made(void)
{
	struct btf *btf = make_btf();
	struct guestsym *gs;
	uint32_t len;
	const void *raw = btf__raw_data(btf, &len);

	gs = open_with(raw, len);
	btf__free(btf);
	return gs;
}

static void expect(const struct guestsym *gs, const char *path, uint32_t offset, uint32_t size,
		   uint8_t bit_off, uint8_t bit_count)
{
	struct guestsym_field f;

	assert_int_equal(guestsym_field(gs, path, &f), 0);
	assert_int_equal(f.offset, offset);
	assert_int_equal(f.size, size);
	assert_int_equal(f.bit_off, bit_off);
	assert_int_equal(f.bit_count, bit_count);
}

static void test_fields(void **state)
{
	static const char *const missing[] = {
		"",	     "task",	    "task.",	     ".pid",	   "task..pid",
		"task.none", "none.pid",    "task.pid.",     "task.pid.x", "inner.pid",
		"int.x",     "task.comm.x", "task.next.pid",
	};
	struct guestsym *gs = open_made();
	struct guestsym_field f;

	(void)state;
	assert_int_equal(guestsym_btf_types(gs), 19);
	expect(gs, "task.pid", 0, 4, 0, 0);
	expect(gs, "task.info", 4, 4, 0, 0);
	expect(gs, "task.info.flags", 4, 4, 0, 0);
	expect(gs, "inner_t.flags", 0, 4, 0, 0);
	expect(gs, "task.comm", 8, 16, 0, 0);
	expect(gs, "task.a", 24, 4, 0, 0);
	expect(gs, "task.b", 28, 4, 0, 0);
	expect(gs, "task.c", 28, 1, 0, 0);
	expect(gs, "task.low", 32, 4, 0, 3);
	expect(gs, "task.high", 32, 4, 3, 9);
	expect(gs, "task.next", 40, 8, 0, 0);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		assert_int_equal(guestsym_field(gs, missing[i], &f), -ENOENT);
	guestsym_close(gs);
}

static void *ask(void *arg)
{
	struct guestsym_field f;

	holds(guestsym_field(arg, "task.info.flags", &f) == 0 && f.offset == 4 && f.size == 4);
	holds(guestsym_btf_types(arg) == 19);
	return NULL;
}

static void test_threads(void **state)
{
	struct guestsym *gs = open_made();
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, gs), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	elsewhere_check();
	guestsym_close(gs);
}

static void test_enumerators(void **state)
{
	struct guestsym *gs = open_made();
	int64_t value;

	(void)state;
	assert_int_equal(guestsym_enumerator(gs, "ABS", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(guestsym_enumerator(gs, "NONE", &value), 0);
	assert_int_equal(value, -1);
	assert_int_equal(guestsym_enumerator(gs, "mode", &value), -ENOENT);
	assert_int_equal(value, -1);
	guestsym_close(gs);
}

static void value_is(const struct guestsym_value *v, const char *name, uint32_t size, int kind)
{
	assert_string_equal(v->name, name);
	assert_int_equal(v->size, size);
	assert_int_equal(v->kind, kind);
}

static void member_is(const struct guestsym *gs, uint32_t type, const char *name, uint64_t bit_off,
		      uint32_t bits, struct guestsym_member *m)
{
	assert_int_equal(guestsym_member(gs, type, name, m), 0);
	assert_int_equal(m->bit_off, bit_off);
	assert_int_equal(m->bits, bits);
}

/* What parameters and members are of. */
static void test_members_of(void **state)
{
	struct guestsym *gs = open_made();
	struct guestsym_value v[6], result;
	struct guestsym_member m;
	uint32_t task;

	(void)state;
	assert_int_equal(guestsym_function(gs, "open", v, 6, &result), 4);
	assert_int_equal(guestsym_pointee(gs, v[0].type, &task), 0);
	assert_int_equal(guestsym_member(gs, v[0].type, "pid", &m), -EINVAL);
	assert_int_equal(guestsym_member(gs, task, "nosuch", &m), -ENOENT);
	member_is(gs, task, "pid", 0, 0, &m);
	assert_int_equal(m.value.kind, GUESTSYM_VALUE_SIGNED);
	assert_int_equal(guestsym_pointee(gs, m.value.type, &task), -EINVAL);
	member_is(gs, task, "c", 224, 0, &m);
	member_is(gs, task, "high", 259, 9, &m);
	member_is(gs, task, "comm", 64, 0, &m);
	assert_true(m.value.is_array);
	assert_false(m.value.of_chars); /* char has a sign there */
	member_is(gs, task, "name", 384, 0, &m);
	assert_int_equal(m.value.kind, GUESTSYM_VALUE_POINTER);
	assert_true(m.value.of_chars);
	member_is(gs, task, "by", 448, 0, &m);
	assert_true(m.value.is_enum);
	member_is(gs, task, "next", 320, 0, &m);
	assert_false(m.value.of_chars);
	assert_int_equal(guestsym_pointee(gs, m.value.type, &task), 0);
	member_is(gs, task, "info", 32, 0, &m);
	member_is(gs, m.value.type, "flags", 0, 0, &m);
	assert_int_equal(guestsym_pointee(gs, UINT32_MAX, &task), -EINVAL);
	assert_int_equal(guestsym_member(gs, UINT32_MAX, "pid", &m), -EINVAL);
	guestsym_close(gs);
}

static void test_functions(void **state)
{
	struct guestsym *gs = open_made();
	struct guestsym_value v[6], result;

	(void)state;
	assert_int_equal(guestsym_function(gs, "open", v, 6, &result), 4);
	value_is(&v[0], "next", 8, GUESTSYM_VALUE_POINTER);
	value_is(&v[1], "fd", 4, GUESTSYM_VALUE_SIGNED);
	value_is(&v[2], "by_value", 4, GUESTSYM_VALUE_OTHER);
	value_is(&v[3], "", 4, GUESTSYM_VALUE_UNSIGNED);
	assert_int_equal(result.kind, GUESTSYM_VALUE_SIGNED);
	assert_int_equal(guestsym_function(gs, "open", v, 2, &result), 2);
	assert_int_equal(guestsym_function(gs, "close", v, 6, &result), 0);
	assert_int_equal(result.kind, GUESTSYM_VALUE_NONE);
	assert_int_equal(guestsym_function(gs, "task", v, 6, &result), -ENOENT);
	assert_int_equal(guestsym_function(gs, "nosuch", v, 6, &result), -ENOENT);
	guestsym_close(gs);
}

static void test_no_btf(void **state)
{
	struct guestsym *gs = open_with("no BTF at all", 14);
	struct guestsym_field f;

	(void)state;
	assert_int_equal(guestsym_field(gs, "task.pid", &f), -ENODATA);
	assert_int_equal(guestsym_enumerator(gs, "ABS", &(int64_t){0}), -ENODATA);
	assert_int_equal(guestsym_function(gs, "open", NULL, 0, NULL), -ENODATA);
	assert_int_equal(guestsym_btf_types(gs), 0);
	guestsym_close(gs);
}

/* A struct that is a member of itself, twice and unnamed: the search has to end. */
static void test_endless(void **state)
{
	struct btf *btf = btf__new_empty();
	struct guestsym_field f;
	struct guestsym *gs;
	const void *raw;
	uint32_t len;

	(void)state;
	assert_int_equal(btf__add_struct(btf, "loop", 8), 1);
	btf__add_field(btf, NULL, 1, 0, 0);
	btf__add_field(btf, NULL, 1, 0, 0);
	btf__add_field(btf, "x", 1, 0, 0);
	raw = btf__raw_data(btf, &len);
	gs = open_with(raw, len);
	btf__free(btf);
	assert_true(guestsym_field(gs, "loop.y", &f) < 0);
	guestsym_close(gs);
}

static void test_bit_flips(void **state)
{
	static const char *const paths[] = {"task.high", "task.c", "inner_t.flags", "task.none"};
	struct btf *btf = make_btf();
	struct guestsym_field f;
	uint32_t len;
	const void *raw = btf__raw_data(btf, &len);
	uint8_t *copy = malloc(len);

	(void)state;
	for (size_t bit = 0; bit < 8 * (size_t)len; bit++) {
		struct guestsym *gs;

		memcpy(copy, raw, len);
		copy[bit / 8] ^= 1 << bit % 8;
		gs = open_with(copy, len);
		for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
			assert_true(guestsym_field(gs, paths[i], &f) <= 0);
		guestsym_close(gs);
	}
	free(copy);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_btf),	  cmocka_unit_test(test_endless),
		cmocka_unit_test(test_bit_flips), cmocka_unit_test(test_enumerators),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_members_of),
	};

	libbpf_set_print(NULL); /* it would tell about each damaged BTF */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
