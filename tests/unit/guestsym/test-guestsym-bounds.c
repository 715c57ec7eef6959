// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-bounds.c - what forged tables of symbols may cost, in steps and in bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>

#include "guestsym/internal.h"
#include "tests/unit/made-guest.h"
#include "tests/unit/touched-pages.h"

#define MANY  20000
#define ADDR  UINT64_C(0xffffffff81000000)
#define PAGES (MANY * sizeof(struct guestsym_symbol) / TOUCHED_PAGE + 2)

/* --- by name ----------------------------------------------------------------------------- */

/* Names that fall together in a table of slots when the checksum of images says where. */
static void make_colliding(char (*names)[16], size_t n, size_t mask)
{
	size_t made = 0;

	for (unsigned int i = 0; made < n; i++) {
		size_t len = snprintf(names[made], sizeof(names[made]), "f%u", i);

		made += (hash64(names[made], len) & mask) == 0;
	}
}

/* The longest row of slots that are taken: what looking up a name may cost. */
static size_t longest_row(const struct symbols *s)
{
	size_t longest = 0, row = 0;

	for (size_t i = 0; i < 2 * (s->mask + 1); i++) {
		row = s->slots[i & s->mask] ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	return longest;
}

static void test_colliding_names(void **state)
{
	static char names[1024][16];
	static struct guestsym_symbol v[1024];
	struct symbols s = {.v = v, .n = 1024};

	(void)state;
	make_colliding(names, 1024, 2047);
	for (size_t i = 0; i < 1024; i++)
		v[i] = (struct guestsym_symbol){ADDR + i, names[i], 't'};
	assert_int_equal(symbols_index(&s), 0);
	assert_int_equal(s.mask, 2047);
	for (size_t i = 0; i < 1024; i++)
		assert_ptr_equal(symbols_lookup(&s, names[i]), &v[i]);
	/* Of a half-full table some 30, of one that was foreseen all. */
	assert_in_range(longest_row(&s), 1, 512);
	symbols_exit(&s);
}

/* Another key, or another length of the same bytes, is another hash. */
static void test_keyed(void **state)
{
	static const uint8_t text[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	const struct guestsym_hash_key a = guestsym_hash_key_new(), b = guestsym_hash_key_new();

	(void)state;
	assert_int_not_equal(guestsym_hash_keyed(&a, text, 8), guestsym_hash_keyed(&b, text, 8));
	for (size_t i = 0; i < 8; i++)
		assert_int_not_equal(guestsym_hash_keyed(&a, text, i),
				     guestsym_hash_keyed(&a, text, i + 1));
}

/* --- by address -------------------------------------------------------------------------- */

/* All but the last one at one address. */
static void make_equal(struct symbols *s, struct guestsym_symbol *v)
{
	for (size_t i = 0; i < MANY; i++)
		v[i] = (struct guestsym_symbol){ADDR + 0x1000 * (i + 1 == MANY), "same", 't'};
	*s = (struct symbols){.v = v, .n = MANY, .start = ADDR, .end = ADDR + 0x2000};
}

static void test_find_among_equal(void **state)
{
	static struct guestsym_symbol v[MANY];
	const struct guestsym_symbol *sym;
	uint64_t off, size;
	struct symbols s;

	(void)state;
	make_equal(&s, v);
	s.v = touched_begin(v, sizeof(v), PAGES);
	for (int i = 0; i < 2; i++) {
		sym = symbols_find(&s, ADDR + 0x10, &off, &size);
		assert_ptr_equal(sym, s.v);
		assert_int_equal(off, 0x10);
		assert_int_equal(size, 0x1000);
	}
	/* Twice two searches that halve what is left. */
	assert_in_range(touched_end(), 1, PAGES / 2);
}

/* Many sites at many symbols of one address. */
static void test_sites_among_equal(void **state)
{
	static struct guestsym_symbol v[MANY];
	struct symbols s;
	struct fentry f;
	const struct elf_image e = {0};
	const struct fentry_rule rule = {.max_offset = 0};
	char none[64] = {0};

	(void)state;
	make_equal(&s, v);
	s.slots = (uint32_t *)none;
	assert_int_equal(fentry_alloc(&f, 500), 0);
	for (f.n = 0; f.n < 500; f.n++)
		f.v[f.n].addr = ADDR + f.n;
	s.v = touched_begin(v, sizeof(v), 4 * PAGES);
	assert_int_equal(fentry_resolve(&f, &e, &s, &rule), 0);
	assert_in_range(touched_end(), 1, 4 * PAGES);
	for (size_t i = 0; i < f.n; i++)
		assert_int_equal(f.v[i].func, ADDR);
	fentry_exit(&f);
}

/* --- the symbol table of an image -------------------------------------------------------- */

/* n functions whose names are the last of `longest` same letters, each one shorter by one. */
static int read_symtab(uint32_t n, uint32_t longest, struct symbols *s)
{
	size_t strings = (size_t)longest + 1, size = n * sizeof(Elf64_Sym);
	uint8_t *data = calloc(1, strings + size);
	struct elf_section secs[4] = {
		[1] = {.flags = SHF_ALLOC | SHF_EXECINSTR, .type = SHT_PROGBITS},
		[2] = {.type = SHT_SYMTAB, .link = 3, .off = strings, .size = size},
		[3] = {.type = SHT_STRTAB, .size = strings},
	};
	const struct elf_image e = {data, strings + size, NULL, 0, secs, 4};
	int err;

	assert_non_null(data);
	memset(data, 'x', longest);
	for (uint32_t i = 0; i < n; i++) {
		const Elf64_Sym sym = {
			.st_name = i % longest, .st_shndx = 1, .st_value = ADDR + i % 2};

		memcpy(data + strings + i * sizeof(sym), &sym, sizeof(sym));
	}
	err = symtab_read(&e, s);
	free(data);
	return err;
}

static void test_symtab_names(void **state)
{
	struct symbols s = {0};

	(void)state;
	/* Those that the kernel could have had. */
	assert_int_equal(read_symtab(600, 600, &s), 0);
	assert_int_equal(s.n, SYMBOL_NAME_MAX);
	symbols_exit(&s);
	assert_int_equal(read_symtab(300000, 500, &s), -E2BIG);
	assert_int_equal(read_symtab(IMAGE_SYMBOLS_MAX + 1, 2, &s), -E2BIG);
}

/* A terminal would obey them, C1 codes as well. */
static void test_plain_names(void **state)
{
	static const char *const bad[] = {"a\033[2Jb", "a\nb", "a b", "a\177", "a\2332Jb", "\r"};
	struct guestsym_symbol v[] = {{ADDR, "first", 'T'}, {ADDR + 1, "fn.cold$x_1", 't'}};
	struct symbols s = {.v = v, .n = 2};

	(void)state;
	assert_int_equal(symbols_index(&s), 0);
	free(s.slots_memory);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v[1].name = bad[i];
		s = (struct symbols){.v = v, .n = 2};
		assert_int_equal(symbols_index(&s), -EILSEQ);
		assert_null(s.slots_memory);
	}
}

/* --- kallsyms ---------------------------------------------------------------------------- */

#define BLOCK	 2048 /* of strings and an index of them */
#define STRINGS	 (BLOCK - 512)
#define SEARCHED (UINT32_C(16) << 20)

/*
 * Strings "aaa" and what is taken for the index of them wherever these may begin, but for what the
 * last one ends with.
 */
static void make_token_block(uint8_t *block)
{
	for (size_t i = 0; i < STRINGS; i += 4)
		memcpy(block + i, "aaa", 4);
	memcpy(block + STRINGS - 4, "a\0a", 4);
	for (uint16_t i = 0; i < 256; i++) {
		const uint16_t pos = 4 * i;

		memcpy(block + STRINGS + 2 * (size_t)i, &pos, 2);
	}
}

/* The search ends long before it has seen all that looks like tokens. */
static void test_token_search(void **state)
{
	uint8_t *data = malloc(SEARCHED);
	struct elf_segment seg = {.va = ADDR, .filesz = SEARCHED, .memsz = SEARCHED};
	struct elf_image e = {.segs = &seg, .nr_segs = 1, .len = SEARCHED};
	struct symbols s = {0};

	(void)state;
	assert_non_null(data);
	for (size_t i = 0; i < SEARCHED; i += BLOCK)
		make_token_block(data + i);
	e.data = touched_begin(data, SEARCHED, SEARCHED / TOUCHED_PAGE / 2);
	assert_int_equal(kallsyms_read(&e, &s), -ENOENT);
	assert_in_range(touched_end(), 1, SEARCHED / TOUCHED_PAGE / 2);
	free(data);
}

/* --- the tables of modules --------------------------------------------------------------- */

/* Addresses behind which there is one page again and again. */
#define ALIAS_SYMBOLS UINT64_C(0xffffc90000000000)
#define ALIAS_LETTERS UINT64_C(0xffffc91000000000)
#define ALIAS_ZEROS   UINT64_C(0xffffc92000000000)
#define ALIAS_END     UINT64_C(0xffffc93000000000)

static struct made_guest g;
static uint64_t mod, bytes_read;

/* Symbols whose names are the letters, and the letters. */
static int read_aliased(void *arg, uint64_t va, void *buf, size_t len)
{
	const Elf64_Sym sym = {.st_shndx = 1, .st_value = ADDR};

	bytes_read += len;
	if (va < ALIAS_SYMBOLS || va >= ALIAS_END)
		return made_read(arg, va, buf, len);
	memset(buf, va < ALIAS_ZEROS ? 'x' : 0, len);
	for (size_t i = 0; va < ALIAS_LETTERS && i + sizeof(sym) <= len; i += sizeof(sym))
		memcpy((uint8_t *)buf + i, &sym, sizeof(sym));
	return 0;
}

/* One more of these modules, with n symbols. */
static void make_module(uint32_t n, uint64_t symtab)
{
	mod = made_module(&g, "large", 0x10, true);
	made_poke(&g, mod + MODULE_SYMTAB, symtab, 8);
	made_poke(&g, mod + MODULE_NUM_SYMTAB, n, 4);
	made_poke(&g, mod + MODULE_STRTAB, ALIAS_LETTERS, 8);
	made_poke(&g, mod + MODULE_TYPETAB, ALIAS_LETTERS, 8);
}

static int read_modules(struct guestsym_module **mods, size_t *n)
{
	const struct guestsym_memory mem = {read_aliased, &g, MADE_BASE + 0x10, NULL};
	char err[256];
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, err, sizeof(err));
	int ret;

	if (!gs)
		fail_msg("%s", err);
	bytes_read = 0;
	ret = guestsym_modules_read(gs, &mem, 0, mods, n);
	guestsym_close(gs);
	return ret;
}

/* Known ones count as well: they take memory, however often they are read. */
static void test_module_known_cost(void **state)
{
	const struct guestsym_memory mem = {read_aliased, &g, MADE_BASE + 0x10, NULL};
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, NULL, 0);
	struct guestsym_module_copies *copies;
	struct guestsym_module *mods = NULL;
	size_t n = 0;
	int err = 0;

	(void)state;
	for (int i = 0; i < 8 && !err; i++) {
		struct guestsym_module *old = mods;
		size_t nr_old = n;

		/* A quarter of the names that there may be. */
		make_module(1 << 15, ALIAS_SYMBOLS);
		err = guestsym_modules_copy(gs, &mem, 0, old, nr_old, &copies);
		if (!err)
			err = guestsym_modules_parse(copies, &mods, &n);
		guestsym_modules_free(old, nr_old);
		assert_int_equal(err, i < 4 ? 0 : -E2BIG);
	}
	guestsym_close(gs);
}

static int set_up(void **state)
{
	static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	uint64_t site;

	(void)state;
	made_guest_init(&g, true);
	site = made_function(&g.m, "first", 0x100, nop, sizeof(nop));
	made_page_add(&g, &site, 1);
	made_guest_done(&g);
	return 0;
}

/* A name without an end is cut where the kernel cuts it. */
static void test_module_name(void **state)
{
	struct guestsym_module *mods;
	size_t n;

	(void)state;
	make_module(3, ALIAS_SYMBOLS);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(mods[0].nr_syms, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(strlen(mods[0].syms[i].name), SYMBOL_NAME_MAX);
	guestsym_modules_free(mods, n);
}

static void expect_too_much(void)
{
	struct guestsym_module *mods;
	size_t n;

	assert_int_equal(read_modules(&mods, &n), -E2BIG);
	assert_int_equal(n, 0);
	assert_in_range(bytes_read, 0, UINT64_C(256) << 20);
}

static void test_module_names_cost(void **state)
{
	(void)state;
	make_module(1 << 18, ALIAS_SYMBOLS);
	expect_too_much();
}

/* None has too many by itself, and none of them counts: they are passed over all the same. */
static void test_module_symbols_cost(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++)
		make_module(1 << 15, ALIAS_ZEROS);
	expect_too_much();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colliding_names),
		cmocka_unit_test(test_keyed),
		cmocka_unit_test(test_find_among_equal),
		cmocka_unit_test(test_sites_among_equal),
		cmocka_unit_test(test_symtab_names),
		cmocka_unit_test(test_plain_names),
		cmocka_unit_test(test_token_search),
		cmocka_unit_test_setup(test_module_name, set_up),
		cmocka_unit_test_setup(test_module_names_cost, set_up),
		cmocka_unit_test_setup(test_module_symbols_cost, set_up),
		cmocka_unit_test_setup(test_module_known_cost, set_up),
	};

	return cmocka_run_group_tests_name("guestsym-bounds", tests, NULL, NULL);
}
