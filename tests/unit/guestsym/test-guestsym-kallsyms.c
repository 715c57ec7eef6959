// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-kallsyms.c - symbol tables of every layout, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"

/* A name that takes more than 127 codes. */
static const char long_name[] =
	"0123456789012345678901234567890123456789012345678901234567890123456789"
	"0123456789012345678901234567890123456789012345678901234567890123456789";

static char numbered[600][16];

static void add_symbols(struct made_image *m, const struct made_layout *l)
{
	if (l->addresses == MADE_ABSOLUTE_PERCPU) {
		made_symbol(m, "first_percpu", 'A', 0);
		made_symbol(m, "current_task", 'A', 0x1fb80);
	}
	made_symbol(m, "sched_clock", 'T', MADE_BASE + 0x10);
	made_symbol(m, "sched_alias", 'T', MADE_BASE + 0x10);
	made_symbol(m, "trace_a_very_long_token_of_the_table_x", 't', MADE_BASE + 0x20);
	made_symbol(m, long_name, 'W', MADE_BASE + 0x30);
	/* Two markers and a bit. */
	for (int i = 0; i < 520; i++) {
		snprintf(numbered[i], sizeof(numbered[i]), "f%d", i);
		made_symbol(m, numbered[i], 't', MADE_BASE + 0x300 + 2 * i);
	}
}

static void check_symbols(const struct guestsym *gs, const struct made_image *m)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(gs, &syms);

	assert_int_equal(n, m->nr_syms);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(syms[i].addr, m->syms[i].addr);
		assert_int_equal(syms[i].type, m->syms[i].type);
		assert_string_equal(syms[i].name, m->syms[i].name);
	}
}

static void test_layouts(void **state)
{
	static struct made_image m;
	struct guestsym *gs;
	uint8_t *file;
	char err[256];
	size_t len;

	(void)state;
	for (size_t i = 0; i < MADE_LAYOUTS; i++) {
		made_init(&m);
		add_symbols(&m, &made_layouts[i]);
		file = made_kernel(&m, &made_layouts[i], &len);
		gs = guestsym_parse(file, len, err, sizeof(err));
		free(file);
		if (!gs)
			fail_msg("%s: %s", made_layouts[i].name, err);
		check_symbols(gs, &m);
		guestsym_close(gs);
	}
}

/* The tables may be in a segment without a .rodata section, as in an image without sections. */
static void test_no_sections(void **state)
{
	static struct made_image m;
	struct guestsym *gs;
	uint8_t *file;
	char err[256];
	size_t len;

	(void)state;
	for (size_t i = 0; i < MADE_LAYOUTS; i++) {
		made_init(&m);
		add_symbols(&m, &made_layouts[i]);
		free(made_kernel(&m, &made_layouts[i], &len));
		m.secs[2].name = ".other";
		file = made_elf(&m, &len);
		gs = guestsym_parse(file, len, err, sizeof(err));
		free(file);
		if (!gs)
			fail_msg("%s: %s", made_layouts[i].name, err);
		check_symbols(gs, &m);
		guestsym_close(gs);
	}
}

static void test_lookup(void **state)
{
	static struct made_image m;
	const struct guestsym_symbol *sym;
	uint64_t off, size;
	struct guestsym *gs;
	uint8_t *file;
	char err[256];
	size_t len;

	(void)state;
	made_init(&m);
	add_symbols(&m, MADE_DEBIAN);
	made_symbol(&m, "f7", 'd', MADE_BASE + 0x1000);
	file = made_kernel(&m, MADE_DEBIAN, &len);
	gs = guestsym_parse(file, len, err, sizeof(err));
	free(file);
	if (!gs)
		fail_msg("%s", err);

	assert_int_equal(guestsym_addr(gs, "do_one"), MADE_BASE + 0x100);
	assert_int_equal(guestsym_addr(gs, "f7"), MADE_BASE + 0x300 + 14);
	assert_int_equal(guestsym_addr(gs, "first_percpu"), 0);
	assert_non_null(guestsym_lookup(gs, "first_percpu"));
	assert_null(guestsym_lookup(gs, "do_on"));
	assert_null(guestsym_lookup(gs, ""));
	assert_int_equal(guestsym_lookup(gs, long_name)->type, 'W');

	sym = guestsym_find(gs, MADE_BASE + 0x1f, &off, &size);
	assert_string_equal(sym->name, "sched_clock");
	assert_int_equal(off, 0xf);
	assert_int_equal(size, 0x10);
	assert_string_equal(guestsym_find(gs, MADE_BASE + 0x10, NULL, NULL)->name, "sched_clock");
	assert_null(guestsym_find(gs, MADE_BASE - 1, NULL, NULL));
	assert_null(guestsym_find(gs, MADE_BASE + MADE_SIZE, NULL, NULL));
	assert_null(guestsym_find(gs, 0x1fb80, NULL, NULL));
	assert_null(guestsym_find(gs, UINT64_MAX, NULL, NULL));
	guestsym_close(gs);
}

/* Whatever a bit of the tables says: symbols or an error, nothing else. */
static void test_bit_flips(void **state)
{
	static struct made_image m;
	size_t len, start, end, accepted = 0;
	struct guestsym *gs;
	uint8_t *file;
	char err[256];

	(void)state;
	for (size_t i = 0; i < MADE_LAYOUTS; i++) {
		made_init(&m);
		file = made_kernel(&m, &made_layouts[i], &len);
		start = m.secs[2].off;
		end = start + m.secs[2].size;
		for (size_t bit = 8 * start + i; bit < 8 * end; bit += 5) {
			file[bit / 8] ^= 1 << bit % 8;
			gs = guestsym_parse(file, len, err, sizeof(err));
			assert_true(gs || err[0]);
			accepted += gs != NULL;
			guestsym_close(gs);
			file[bit / 8] ^= 1 << bit % 8;
		}
		free(file);
	}
	assert_true(accepted > 0);
}

/* The section that holds the tables ends early, at every length. */
static void test_truncated_tables(void **state)
{
	static struct made_image m;
	struct guestsym *gs;
	uint8_t *file;
	char err[256];
	size_t len;

	(void)state;
	for (size_t i = 0; i < MADE_LAYOUTS; i++) {
		made_init(&m);
		free(made_kernel(&m, &made_layouts[i], &len));
		/* Behind the tables there is nothing that a search of the segments would find. */
		for (size_t cut = 0; cut < m.secs[2].size; cut += 1 + cut % 7) {
			struct made_image part = m;

			memset(part.mem + (m.secs[2].addr - MADE_BASE) + cut, 0,
			       m.secs[2].size - cut);
			part.secs[2].size = cut;
			file = made_elf(&part, &len);
			gs = guestsym_parse(file, len, err, sizeof(err));
			/* seqs_of_names comes last and is not needed. */
			if (!gs && !strstr(err, "CONFIG_KALLSYMS"))
				fail_msg("%s cut to %zu: %s", made_layouts[i].name, cut, err);
			guestsym_close(gs);
			free(file);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),		 cmocka_unit_test(test_no_sections),
		cmocka_unit_test(test_lookup),		 cmocka_unit_test(test_bit_flips),
		cmocka_unit_test(test_truncated_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
