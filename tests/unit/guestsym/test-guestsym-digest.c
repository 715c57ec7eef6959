// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-digest.c - digests that somebody made up, with a checksum that is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "guestsym/digest.h"
#include "tests/unit/made-image.h"

static struct kernel kernel;
static struct blob image;

static int set_up(void **state)
{
	static const struct complaint nobody = {0};
	static struct made_image m;
	uint8_t *file;
	size_t len;

	(void)state;
	made_init(&m);
	file = made_kernel(&m, MADE_DEBIAN, &len);
	image = (struct blob){.data = file, .len = len, .map = file};
	return kernel_read(&kernel, &image, &nobody);
}

static int tear_down(void **state)
{
	(void)state;
	kernel_exit(&kernel);
	blob_free(&image);
	return 0;
}

static void make(struct blob *d)
{
	assert_int_equal(digest_make(d, &kernel), 0);
}

static void check_symbols(const struct symbols *s)
{
	assert_int_equal(s->n, kernel.symbols.n);
	assert_int_equal(s->start, kernel.symbols.start);
	assert_int_equal(s->end, kernel.symbols.end);
	for (size_t i = 0; i < s->n; i++) {
		assert_int_equal(s->v[i].addr, kernel.symbols.v[i].addr);
		assert_int_equal(s->v[i].type, kernel.symbols.v[i].type);
		assert_string_equal(s->v[i].name, kernel.symbols.v[i].name);
		assert_ptr_equal(symbols_lookup(s, s->v[i].name), &s->v[i]);
	}
}

static void check_sites(const struct fentry *f)
{
	assert_int_equal(f->n, kernel.fentry.n);
	for (size_t i = 0; i < f->n; i++) {
		assert_int_equal(f->v[i].addr, kernel.fentry.v[i].addr);
		assert_int_equal(f->v[i].func, kernel.fentry.v[i].func);
		assert_int_equal(f->v[i].flags, kernel.fentry.v[i].flags);
		assert_string_equal(f->v[i].name, kernel.fentry.v[i].name);
	}
}

static void check_tables(const struct tables *t)
{
	assert_int_equal(t->nr_returns, kernel.tables.nr_returns);
	if (t->nr_returns)
		assert_memory_equal(t->returns, kernel.tables.returns, t->nr_returns * 8);
	assert_int_equal(t->nr_tracepoints, kernel.tables.nr_tracepoints);
	for (size_t i = 0; i < t->nr_tracepoints; i++) {
		assert_int_equal(t->tracepoints[i].addr, kernel.tables.tracepoints[i].addr);
		assert_string_equal(t->tracepoints[i].name, kernel.tables.tracepoints[i].name);
	}
}

static void test_same(void **state)
{
	struct kernel k;
	struct blob d;

	(void)state;
	make(&d);
	assert_int_equal(digest_load(&k, &d, &image), 0);
	check_symbols(&k.symbols);
	check_sites(&k.fentry);
	check_tables(&k.tables);
	assert_memory_equal(&k.identity, &kernel.identity, sizeof(k.identity));
	assert_int_equal(k.event_probes, kernel.event_probes);
	assert_int_equal(k.elf.nr_segs, kernel.elf.nr_segs);
	kernel_exit(&k);
	blob_free(&d);
}

/* All that a kernel from a digest leads to lies in the digest or the image. */
static size_t use(const struct kernel *k)
{
	size_t used = 0;

	for (size_t i = 0; i < k->symbols.n; i++)
		symbols_lookup(&k->symbols, k->symbols.v[i].name);
	assert_null(symbols_lookup(&k->symbols, "no such name"));
	for (size_t i = 0; i < k->fentry.n; i++) {
		used += strlen(k->fentry.v[i].name);
		elf_image_at(&k->elf, k->fentry.v[i].addr, 5);
	}
	for (size_t i = 0; i < k->tables.nr_tracepoints; i++)
		used += strlen(k->tables.tracepoints[i].name);
	for (size_t i = 0; i < k->elf.nr_segs; i++) {
		const struct elf_segment *seg = &k->elf.segs[i];
		const uint8_t *p = elf_image_at(&k->elf, seg->va, seg->filesz);

		if (p && seg->filesz)
			used += p[0] + (size_t)p[seg->filesz - 1];
	}
	return used + strlen(k->identity.banner) + types_count(k->types);
}

/* One changed word, and a checksum that is right. */
static void test_made_up(void **state)
{
	static const uint32_t values[] = {0, 1, 0xff, 0x7fffffff, 0x80000000, 0xffffffff};
	struct blob d;
	size_t used = 0;

	(void)state;
	make(&d);
	for (size_t pos = 0; pos + 4 <= d.len; pos += 4) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			uint32_t old = get_u32(d.data + pos);
			struct kernel k;
			uint64_t hash;

			memcpy((uint8_t *)d.map + pos, &values[i], 4);
			hash = hash64(d.data + DIGEST_HASHED_FROM, d.len - DIGEST_HASHED_FROM);
			memcpy((uint8_t *)d.map + offsetof(struct digest_header, hash), &hash, 8);
			if (!digest_load(&k, &d, &image))
				used += use(&k);
			kernel_exit(&k);
			memcpy((uint8_t *)d.map + pos, &old, 4);
		}
	}
	assert_true(used > 0);
	blob_free(&d);
}

/* Parsers that differ by one line may find other things. */
static void test_other_sources(void **state)
{
	struct kernel k;
	struct blob d;

	(void)state;
	make(&d);
	assert_int_equal(digest_load(&k, &d, &image), 0);
	kernel_exit(&k);
	((char *)d.map)[offsetof(struct digest_header, sources) + DIGEST_SOURCES_LEN - 1] ^= 1;
	assert_int_equal(digest_load(&k, &d, &image), -EINVAL);
	kernel_exit(&k);
	blob_free(&d);
}

/* The kernel with n tracepoints more, all of that name. */
static int load_with_tracepoints(size_t n, char *name)
{
	struct kernel lies = kernel, k;
	struct blob d;
	int err;

	lies.tables.tracepoints = calloc(n, sizeof(*lies.tables.tracepoints));
	assert_non_null(lies.tables.tracepoints);
	lies.tables.nr_tracepoints = n;
	for (size_t i = 0; i < n; i++)
		lies.tables.tracepoints[i].name = name;
	assert_int_equal(digest_make(&d, &lies), 0);
	err = digest_load(&k, &d, &image);
	kernel_exit(&k);
	blob_free(&d);
	free(lies.tables.tracepoints);
	return err;
}

/* More of something, or longer names, than a kernel has: memory and time would be as much. */
static void test_too_many(void **state)
{
	char name[SYMBOL_NAME_MAX + 1];

	(void)state;
	memset(name, 'x', SYMBOL_NAME_MAX);
	name[SYMBOL_NAME_MAX] = '\0';
	assert_int_equal(load_with_tracepoints(1000, name), 0);
	assert_int_equal(load_with_tracepoints(1 + (IMAGE_NAMES_MAX >> 9), name), -EINVAL);
	name[1] = '\0';
	assert_int_equal(load_with_tracepoints((1 << 21) + 1, name), -EINVAL);
}

/* What it says of itself is printed as one line, and may not go on behind that. */
static void test_banner(void **state)
{
	static const struct {
		const char *text;
		int err;
	} banners[] = {
		{"Linux version 6.1", 0},
		{"Linux version 6.1\n", -EINVAL},
		{"Linux version 6.1\n\33c", -EINVAL},
		{"Linux version 6.1\nmore", -EINVAL},
		{"Linux \33c", -EINVAL},
		{"Linux \x9b", -EINVAL},
	};
	struct kernel lies = kernel, k;
	struct blob d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(banners); i++) {
		memset(lies.identity.banner, 0, sizeof(lies.identity.banner));
		strcpy(lies.identity.banner, banners[i].text);
		assert_int_equal(digest_make(&d, &lies), 0);
		assert_int_equal(digest_load(&k, &d, &image), banners[i].err);
		kernel_exit(&k);
		blob_free(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	      cmocka_unit_test(test_made_up),
		cmocka_unit_test(test_other_sources), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_banner),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
