// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-symtab.c - images that still have their ELF symbol table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"

static void make_symbols(struct made_image *m)
{
	static const uint8_t call[5] = {0xe8};
	uint64_t site;

	made_init(m);
	made_section(m, ".data..percpu", MADE_BASE + MADE_TEXT, 64, SHT_PROGBITS,
		     SHF_ALLOC | SHF_WRITE);
	m->secs[2].addr = 0;
	made_symbol(m, "current_task", 'D', 0x30);
	site = made_function(m, "do_one", 0x100, call, sizeof(call));
	made_mcount(m, &site, 1);
	/* One address: plain names first, then underscores, linker's marks, weak ones. */
	made_symbol(m, "weak", 'W', MADE_BASE + 0x200);
	made_symbol(m, "__start_thing", 'T', MADE_BASE + 0x200);
	made_symbol(m, "__x_plain", 'T', MADE_BASE + 0x200);
	made_symbol(m, "plain", 't', MADE_BASE + 0x200);
	made_symbol(m, "plain_too", 't', MADE_BASE + 0x200);
	made_symbol(m, "weak_data", 'V', MADE_BASE + 0x3000);
	made_symbol(m, "data", 'd', MADE_BASE + 0x3008);
	/* Not for users of the kernel. */
	made_symbol(m, "__crc_printk", 'T', MADE_BASE + 0x200);
	made_symbol(m, ".Lloop", 't', MADE_BASE + 0x200);
	made_symbol(m, "kallsyms_names", 'D', MADE_BASE + 0x3000);
	made_symbol(m, "", 't', MADE_BASE + 0x200);
	made_symtab(m);
}

static struct guestsym *open_made(struct made_image *m, char *err)
{
	size_t len;
	uint8_t *elf = made_elf(m, &len);
	struct guestsym *gs = guestsym_parse(elf, len, err, 256);

	free(elf);
	return gs;
}

static void test_symtab(void **state)
{
	static const struct made_symbol expected[] = {
		{0x200, 't', "plain"},	   {0x200, 't', "plain_too"},
		{0x200, 'T', "__x_plain"}, {0x200, 'T', "__start_thing"},
		{0x200, 'W', "weak"},	   {0x3000, 'V', "weak_data"},
		{0x3008, 'd', "data"},
	};
	static struct made_image m;
	const struct guestsym_symbol *s;
	struct guestsym *gs;
	char err[256];
	size_t n, i = 0;

	(void)state;
	make_symbols(&m);
	gs = open_made(&m, err);
	if (!gs)
		fail_msg("%s", err);
	n = guestsym_symbols(gs, &s);
	assert_int_equal(n, m.nr_syms - 4);
	while (i < n && strcmp(s[i].name, "plain") != 0)
		i++;
	for (size_t j = 0; j < 5; i++, j++) {
		assert_int_equal(s[i].addr, MADE_BASE + expected[j].addr);
		assert_int_equal(s[i].type, expected[j].type);
		assert_string_equal(s[i].name, expected[j].name);
	}
	assert_string_equal(s[0].name, "current_task");
	assert_int_equal(s[0].type, 'A');
	assert_int_equal(guestsym_lookup(gs, "weak_data")->type, 'V');
	assert_int_equal(guestsym_lookup(gs, "data")->type, 'd');
	assert_null(guestsym_lookup(gs, "__crc_printk"));
	guestsym_close(gs);
}

/* Static symbols that ThinLTO has renamed are found by what the source calls them, if nothing else
 * is. */
static void test_renamed(void **state)
{
	static const struct {
		const char *name;
		uint64_t at; /* 0: is not found */
	} lookups[] = {
		{"tk_core", 0x3010}, {"tk_core.llvm.123", 0x3010},
		{"both", 0x3028},    {"both.llvm.77", 0x3020},
		{"twice", 0x3030},   {"twice.llvm.9", 0x3038},
		{"cold", 0},	     {"none", 0},
		{"text", 0},	     {"", 0},
		{"tk_core.llvm", 0}, {"tk_core.llvm.12", 0},
	};
	static const uint8_t call[5] = {0xe8};
	static struct made_image m;
	struct guestsym *gs;
	char err[256];
	uint64_t site;

	(void)state;
	made_init(&m);
	site = made_function(&m, "do_one", 0x100, call, sizeof(call));
	made_mcount(&m, &site, 1);
	made_symbol(&m, "tk_core.llvm.123", 'D', MADE_BASE + 0x3010);
	made_symbol(&m, "both.llvm.77", 'D', MADE_BASE + 0x3020);
	made_symbol(&m, "both", 'd', MADE_BASE + 0x3028);
	made_symbol(&m, "twice.llvm.8", 'D', MADE_BASE + 0x3030);
	made_symbol(&m, "twice.llvm.9", 'D', MADE_BASE + 0x3038);
	made_symbol(&m, "cold.llvm.5.cold", 'D', MADE_BASE + 0x3040);
	made_symbol(&m, "none.llvm.", 'D', MADE_BASE + 0x3048);
	made_symbol(&m, "text.llvm.x1", 'D', MADE_BASE + 0x3050);
	made_symbol(&m, ".llvm.1", 'D', MADE_BASE + 0x3058);
	made_symtab(&m);
	gs = open_made(&m, err);
	if (!gs)
		fail_msg("%s", err);
	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		uint64_t at = lookups[i].at ? MADE_BASE + lookups[i].at : 0;

		if (guestsym_addr(gs, lookups[i].name) != at)
			fail_msg("%s", lookups[i].name);
	}
	/* Its name is what the kernel calls it. */
	assert_string_equal(guestsym_lookup(gs, "tk_core")->name, "tk_core.llvm.123");
	guestsym_close(gs);
}

static void test_bit_flips(void **state)
{
	static struct made_image m;
	struct guestsym *gs;
	char err[256];

	(void)state;
	make_symbols(&m);
	for (size_t bit = 8 * (m.secs[3].addr - MADE_BASE); bit < 8 * m.used; bit += 3) {
		m.mem[bit / 8] ^= 1 << bit % 8;
		gs = open_made(&m, err);
		assert_true(gs || err[0]);
		guestsym_close(gs);
		m.mem[bit / 8] ^= 1 << bit % 8;
	}
}

/* A string table without an end, and none: the image counts as stripped. */
static void test_no_strings(void **state)
{
	static struct made_image m;
	char err[256];

	(void)state;
	make_symbols(&m);
	m.secs[4].size -= 2;
	assert_null(open_made(&m, err));
	assert_non_null(strstr(err, "CONFIG_KALLSYMS"));
	m.secs[3].link = 1000;
	assert_null(open_made(&m, err));
	m.secs[3].link = 0;
	assert_null(open_made(&m, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symtab),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_bit_flips),
		cmocka_unit_test(test_no_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
