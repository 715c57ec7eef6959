// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-digest.c - digests that somebody made up, with a checksum that is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/internal.h"
#include "tests/unit/made-image.h"

enum { HASH_AT = 8, HASHED_FROM = 16 };

static struct elf_image elf;
static struct symbols symbols;
static struct fentry fentry;
static uint8_t *file;

static int set_up(void **state)
{
	static const struct complaint nobody = {0};
	static struct made_image m;
	size_t len;

	(void)state;
	made_init(&m);
	file = made_kernel(&m, MADE_DEBIAN, &len);
	return elf_image_init(&elf, file, len, &nobody) || kallsyms_read(&elf, &symbols) ||
	       symbols_index(&symbols) || (symbols_limit(&symbols, &elf), 0) ||
	       fentry_read(&fentry, &elf, &symbols);
}

static int tear_down(void **state)
{
	(void)state;
	fentry_exit(&fentry);
	symbols_exit(&symbols);
	elf_image_exit(&elf);
	free(file);
	return 0;
}

static void make(struct blob *d)
{
	const struct digest_counts counts = {.event_probes = 3, .btf_types = 5};

	assert_int_equal(digest_make(d, &symbols, &fentry, &counts), 0);
}

static void test_same(void **state)
{
	struct digest_counts counts;
	struct symbols s = {0};
	struct fentry f = {0};
	struct blob d;

	(void)state;
	make(&d);
	assert_int_equal(digest_read(&d, &s, &f, &counts), 0);
	assert_int_equal(counts.event_probes, 3);
	assert_int_equal(counts.btf_types, 5);
	assert_int_equal(s.n, symbols.n);
	for (size_t i = 0; i < s.n; i++) {
		assert_int_equal(s.v[i].addr, symbols.v[i].addr);
		assert_int_equal(s.v[i].type, symbols.v[i].type);
		assert_string_equal(s.v[i].name, symbols.v[i].name);
		assert_ptr_equal(symbols_lookup(&s, s.v[i].name), &s.v[i]);
	}
	assert_int_equal(f.n, fentry.n);
	for (size_t i = 0; i < f.n; i++) {
		assert_int_equal(f.v[i].addr, fentry.v[i].addr);
		assert_int_equal(f.v[i].func, fentry.v[i].func);
		assert_int_equal(f.v[i].flags, fentry.v[i].flags);
		assert_string_equal(f.v[i].name, fentry.v[i].name);
	}
	fentry_exit(&f);
	symbols_exit(&s);
	blob_free(&d);
}

/* Every answer that a digest with one changed word leads to stays inside of it. */
static void test_made_up(void **state)
{
	static const uint32_t values[] = {0, 1, 0xff, 0x7fffffff, 0x80000000, 0xffffffff};
	struct digest_counts counts;
	struct blob d;
	size_t used = 0;

	(void)state;
	make(&d);
	for (size_t pos = 0; pos + 4 <= d.len; pos += 4) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			uint32_t old = get_u32(d.data + pos);
			struct symbols s = {0};
			struct fentry f = {0};
			uint64_t hash;

			memcpy((uint8_t *)d.map + pos, &values[i], 4);
			hash = hash64(d.data + HASHED_FROM, d.len - HASHED_FROM);
			memcpy((uint8_t *)d.map + HASH_AT, &hash, 8);
			if (!digest_read(&d, &s, &f, &counts)) {
				for (size_t j = 0; j < s.n; j++)
					symbols_lookup(&s, s.v[j].name);
				for (size_t j = 0; j < f.n; j++)
					used += strlen(f.v[j].name);
				assert_null(symbols_lookup(&s, "no such name"));
			}
			fentry_exit(&f);
			symbols_exit(&s);
			memcpy((uint8_t *)d.map + pos, &old, 4);
		}
	}
	assert_true(used > 0);
	blob_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_made_up),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
