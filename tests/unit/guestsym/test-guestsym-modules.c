// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-modules.c - modules in the made-up memory of a guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <malloc.h>

#include "guestsym/modules.h"
#include "tests/unit/made-guest.h"

#define TEXT_SIZE 0x400

static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static const uint8_t endbr_nop[9] = {0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00};

static struct made_guest g;
static uint64_t net, disk; /* their struct module */

/* Two functions, and init code that is gone. */
static void make_net(bool core_layout)
{
	uint64_t text, sites[4];

	net = made_module(&g, "net", TEXT_SIZE, core_layout);
	text = made_module_text(&g, net);
	memcpy(made_page(&g, text + 0x10), nop, sizeof(nop));
	memcpy(made_page(&g, text + 0x100), nop, sizeof(nop));
	{
		const struct made_module_symbol syms[] = {
			{text + 0x100, "net_send", 't', false},
			{text + 0x10, "net_open", 't', false},
			{text + 0x100, "net_send_alias", 'T', false},
			{0, "printk", 'U', true},
			{text + 0x100, ".Llocal", 't', false},
			{text + TEXT_SIZE + 0x40, "net_data", 'd', false},
		};

		made_module_symbols(&g, net, syms, 6);
	}
	sites[0] = text + 0x100;
	sites[1] = text + 0x10;
	sites[2] = text + TEXT_SIZE; /* init_module's */
	sites[3] = text + 0x50;	     /* an overridden function's */
	made_module_sites(&g, net, sites, 4);
}

static void make_guest(bool core_layout)
{
	uint64_t site;

	made_guest_init(&g, core_layout);
	site = made_function(&g.m, "first", 0x100, nop, sizeof(nop));
	made_page_add(&g, &site, 1);
	made_put(&g.m, "__ftrace_invalid_address__", sizeof("__ftrace_invalid_address__"));
	made_align(&g.m, 8);
	made_guest_done(&g);
	make_net(core_layout);
	disk = made_module(&g, "disk", 0x100, core_layout);
}

static int setup(void **state)
{
	(void)state;
	make_guest(true);
	return 0;
}

static struct guestsym *open_guest(void)
{
	struct guestsym_memory mem = made_memory(&g);
	char err[256];
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, err, sizeof(err));

	if (!gs)
		fail_msg("%s", err);
	return gs;
}

static int read_modules(struct guestsym_module **mods, size_t *n)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = open_guest();
	int err = guestsym_modules_read(gs, &mem, 0, mods, n);

	/* They do not depend on it. */
	guestsym_close(gs);
	return err;
}

/* --- what is found ----------------------------------------------------------------------- */

static void expect_net(const struct guestsym_module *m)
{
	uint64_t text = made_module_text(&g, net);

	assert_int_equal(m->addr, net);
	assert_string_equal(m->name, "net");
	assert_int_equal(m->state, GUESTSYM_MODULE_LIVE);
	assert_int_equal(m->text.start, text);
	assert_int_equal(m->text.end, text + TEXT_SIZE);
	assert_int_equal(m->nr_syms, 4);
	assert_string_equal(m->syms[0].name, "net_open");
	assert_string_equal(m->syms[1].name, "net_send");
	assert_string_equal(m->syms[2].name, "net_send_alias");
	assert_int_equal(m->syms[2].type, 'T');
	assert_int_equal(m->syms[3].addr, text + TEXT_SIZE + 0x40);
	assert_int_equal(m->nr_sites, 3);
	assert_int_equal(m->sites[0].addr, text + 0x10);
	assert_string_equal(m->sites[0].name, "net_open");
	assert_int_equal(m->sites[0].flags, GUESTSYM_SITE_NOP);
	assert_string_equal(m->sites[1].name, "__ftrace_invalid_address___64");
	assert_int_equal(m->sites[1].flags, GUESTSYM_SITE_INVALID);
	assert_int_equal(m->sites[2].func, text + 0x100);
	assert_string_equal(m->sites[2].name, "net_send");
}

static void expect_both(void)
{
	struct guestsym_module *mods;
	size_t n;

	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, 2);
	expect_net(&mods[0]);
	assert_string_equal(mods[1].name, "disk");
	assert_int_equal(mods[1].nr_sites, 0);
	guestsym_modules_free(mods, n);
}

/* struct module until 6.3 and since. */
static void test_layouts(void **state)
{
	(void)state;
	make_guest(true);
	expect_both();
	make_guest(false);
	expect_both();
}

/* The kernel has been linked elsewhere: the list is where it is now. */
static void test_slide(void **state)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = open_guest();
	struct guestsym_module *mods;
	uint64_t head = made_addr(&g, "modules"), next;
	size_t n;

	(void)state;
	memcpy(&next, made_page(&g, head), 8);
	made_poke(&g, head + 0x40, next, 8);
	made_poke(&g, disk + MODULE_LIST, head + 0x40, 8);
	assert_int_equal(guestsym_modules_read(gs, &mem, 0x40, &mods, &n), 0);
	assert_int_equal(n, 2);
	expect_net(&mods[0]);
	guestsym_modules_free(mods, n);
	guestsym_close(gs);
}

/* With IBT in the kernel also a module's sites are behind an endbr64, or where one was. */
static void test_ibt(void **state)
{
	uint64_t text, site;
	struct guestsym_module *mods;
	size_t n;

	(void)state;
	made_guest_init(&g, true);
	site = made_function(&g.m, "first", 0x100, endbr_nop, sizeof(endbr_nop)) + 4;
	made_guest_done(&g);
	made_page_add(&g, &site, 1);
	net = made_module(&g, "net", TEXT_SIZE, true);
	text = made_module_text(&g, net);
	made_module_symbols(&g, net,
			    &(struct made_module_symbol){text + 0x10, "net_open", 't', false}, 1);
	made_module_sites(&g, net, &(uint64_t){text + 0x14}, 1);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(mods[0].nr_sites, 1);
	assert_string_equal(mods[0].sites[0].name, "net_open");
	assert_int_equal(mods[0].sites[0].func, text + 0x10);
	assert_int_equal(mods[0].sites[0].flags, 0);
	guestsym_modules_free(mods, n);
}

static void test_states(void **state)
{
	struct guestsym_module *mods;
	size_t n;

	(void)state;
	made_poke(&g, net + MODULE_STATE, 1, 4);
	made_poke(&g, disk + MODULE_STATE, 2, 4);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(mods[0].state, GUESTSYM_MODULE_COMING);
	assert_int_equal(mods[1].state, GUESTSYM_MODULE_GOING);
	guestsym_modules_free(mods, n);
	/* Not there yet, or any more. */
	made_poke(&g, net + MODULE_STATE, 3, 4);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(mods[0].name, "disk");
	guestsym_modules_free(mods, n);
}

/* --- reading again ----------------------------------------------------------------------- */

static struct guestsym_module_copies *copy(const struct guestsym *gs,
					   const struct guestsym_module *known, size_t n)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym_module_copies *copies;

	assert_int_equal(guestsym_modules_copy(gs, &mem, 0, known, n, &copies), 0);
	return copies;
}

/* The guest need not stand while its copies are parsed: nothing is read of it. */
static void test_two_steps(void **state)
{
	struct guestsym *gs = open_guest();
	struct guestsym_module_copies *copies = copy(gs, NULL, 0);
	struct guestsym_module *mods;
	unsigned int reads = g.reads;
	size_t n;

	(void)state;
	memset(made_page(&g, net), 0, MODULE_SIZE_OF);
	memset(made_page(&g, made_addr(&g, "modules")), 0, 16);
	assert_int_equal(guestsym_modules_parse(copies, &mods, &n), 0);
	assert_int_equal(g.reads, reads);
	assert_int_equal(n, 2);
	assert_string_equal(mods[0].syms[0].name, "net_open");
	assert_int_equal(mods[0].nr_sites, 3);
	guestsym_modules_free(mods, n);
	guestsym_close(gs);
}

/* What has not changed is not read again, and stays whichever reading is freed first. */
static void test_known(void **state)
{
	struct guestsym *gs = open_guest();
	struct guestsym_module *old, *mods;
	const char *name;
	unsigned int reads;
	size_t nr_old, n;

	(void)state;
	assert_int_equal(guestsym_modules_parse(copy(gs, NULL, 0), &old, &nr_old), 0);
	name = old[0].syms[0].name;
	made_poke(&g, net + MODULE_STATE, 2, 4);
	reads = g.reads;
	assert_int_equal(guestsym_modules_parse(copy(gs, old, nr_old), &mods, &n), 0);
	/* The head of the list, and two modules. */
	assert_int_equal(g.reads - reads, 3);
	guestsym_modules_free(old, nr_old);
	assert_int_equal(n, 2);
	assert_int_equal(mods[0].state, GUESTSYM_MODULE_GOING);
	assert_ptr_equal(mods[0].syms[0].name, name);
	assert_string_equal(name, "net_open");
	guestsym_modules_free(mods, n);
	guestsym_close(gs);
}

/* Another module where one was. */
static void test_known_no_more(void **state)
{
	static const struct {
		unsigned int off, len;
		uint64_t v;
	} other[] = {
		{MODULE_NAME, 4, 0x74656e32},
		{MODULE_NUM_SYMTAB, 4, 3},
		{MODULE_NUM_SITES, 4, 1},
		{MODULE_TEXT_SIZE + 4, 4, TEXT_SIZE / 2},
	};
	struct guestsym *gs = open_guest();
	struct guestsym_module *old, *mods;
	size_t nr_old, n;

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		make_guest(true);
		assert_int_equal(guestsym_modules_parse(copy(gs, NULL, 0), &old, &nr_old), 0);
		made_poke(&g, net + other[i].off, other[i].v, other[i].len);
		assert_int_equal(guestsym_modules_parse(copy(gs, old, nr_old), &mods, &n), 0);
		assert_int_equal(n, 2);
		assert_ptr_not_equal(mods[0].memory, old[0].memory);
		assert_ptr_equal(mods[1].memory, old[1].memory);
		guestsym_modules_free(mods, n);
		guestsym_modules_free(old, nr_old);
	}
	guestsym_close(gs);
}

static bool is_cancelled(void *arg)
{
	(void)arg;
	return true;
}

static void test_cancelled(void **state)
{
	struct guestsym *gs = open_guest();
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym_module_copies *copies;

	(void)state;
	mem.cancelled = is_cancelled;
	assert_int_equal(guestsym_modules_copy(gs, &mem, 0, NULL, 0, &copies), -ECANCELED);
	assert_null(copies);
	guestsym_close(gs);
}

/* --- what makes no sense ----------------------------------------------------------------- */

/* The module is listed, with nothing in it. */
static void expect_empty_net(void)
{
	struct guestsym_module *mods;
	size_t n;

	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(mods[0].name, "net");
	assert_int_equal(mods[0].nr_syms, 0);
	assert_int_equal(mods[0].nr_sites, 0);
	guestsym_modules_free(mods, n);
}

static void test_bad_module(void **state)
{
	static const struct {
		unsigned int off, len;
		uint64_t v;
	} bad[] = {
		{MODULE_SYMTAB, 8, 0x1000},	    {MODULE_NUM_SYMTAB, 4, UINT32_MAX},
		{MODULE_NUM_SYMTAB, 4, 1 << 20},    {MODULE_TYPETAB, 8, 0x1000},
		{MODULE_SITES, 8, 0x1000},	    {MODULE_NUM_SITES, 4, UINT32_MAX},
		{MODULE_TEXT_BASE, 8, UINT64_MAX},  {MODULE_TEXT_SIZE + 4, 4, UINT32_MAX},
		{MODULE_TEXT_SIZE + 4, 4, 1 << 25},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		make_guest(true);
		made_poke(&g, net + bad[i].off, bad[i].v, bad[i].len);
		expect_empty_net();
	}
}

/* Names that are not mapped, or have no end, or are said to be gigabytes away. */
static void test_bad_names(void **state)
{
	struct guestsym_module *mods;
	uint64_t symtab, end = MADE_HEAP + MADE_HEAP_SIZE;
	size_t n;

	(void)state;
	memcpy(&symtab, made_page(&g, net + MODULE_SYMTAB), 8);
	made_poke(&g, net + MODULE_STRTAB, 0x1000, 8);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(mods[0].nr_syms, 0);
	assert_int_equal(mods[0].nr_sites, 3);
	guestsym_modules_free(mods, n);
	made_poke(&g, net + MODULE_STRTAB, end - 0x100, 8);
	memset(made_page(&g, end - 0x100), 'x', 0x100);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(mods[0].nr_syms, 5);
	for (size_t i = 0; i < mods[0].nr_syms; i++)
		assert_true(strlen(mods[0].syms[i].name) < 0x100);
	guestsym_modules_free(mods, n);
	make_guest(true);
	made_poke(&g, symtab + sizeof(Elf64_Sym), UINT32_MAX, 4);
	expect_empty_net();
}

/*
 * One symbol each, whose name is as far away as one may be, where nothing is mapped or in what is
 * the last page of all: what is not read takes no memory, and costs nothing of what modules may
 * have in all.
 */
static void test_far_names(void **state)
{
	static const Elf64_Sym far = {.st_name = (UINT32_C(32) << 20) - 1, .st_shndx = 1};
	enum { FAR = 40, MAPPED = 0x100 };
	uint64_t end = MADE_HEAP + MADE_HEAP_SIZE, symtab = heap_put(&g, &far, sizeof(far));
	struct guestsym_module_copies *copies;
	struct guestsym *gs;
	size_t strings = 0;

	(void)state;
	for (int i = 0; i < FAR; i++) {
		uint64_t mod = made_module(&g, "far", 0x10, true);

		made_poke(&g, mod + MODULE_SYMTAB, symtab, 8);
		made_poke(&g, mod + MODULE_NUM_SYMTAB, 1, 4);
		made_poke(&g, mod + MODULE_STRTAB, i ? 0x1000 : end - MAPPED, 8);
		made_poke(&g, mod + MODULE_TYPETAB, symtab, 8);
	}
	gs = open_guest();
	copies = copy(gs, NULL, 0);
	assert_int_equal(copies->n, 2 + FAR);
	for (size_t i = 2; i < copies->n; i++) {
		assert_true(copies->v[i].whole);
		strings += copies->v[i].strings_len;
		assert_true(malloc_usable_size(copies->v[i].strings) < MADE_PAGE);
	}
	assert_int_equal(strings, MAPPED);
	guestsym_modules_copies_free(copies);
	guestsym_close(gs);
}

/* What a terminal would obey is no name of a symbol's, nor of a module's. */
static void test_control_characters(void **state)
{
	struct guestsym_module *mods;
	uint64_t names;
	size_t n, all, syms;

	(void)state;
	make_guest(true);
	assert_int_equal(read_modules(&mods, &all), 0);
	syms = mods[0].nr_syms;
	guestsym_modules_free(mods, all);
	memcpy(&names, made_page(&g, net + MODULE_STRTAB), 8);
	made_poke(&g, names + 1, 0x1b, 1);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, all);
	assert_int_equal(mods[0].nr_syms, syms - 1);
	guestsym_modules_free(mods, n);
	made_poke(&g, net + MODULE_NAME, 0x9b, 1);
	assert_int_equal(read_modules(&mods, &n), 0);
	assert_int_equal(n, all - 1);
	guestsym_modules_free(mods, n);
}

static void expect_error(int err)
{
	struct guestsym_module *mods;
	size_t n;

	assert_int_equal(read_modules(&mods, &n), err);
	assert_null(mods);
	assert_int_equal(n, 0);
}

/* It is found out before anything is copied a second time. */
static void expect_loop(void)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = open_guest();
	struct guestsym_module_copies *copies;
	unsigned int reads = g.reads;

	guestsym_modules_copies_free(copy(gs, NULL, 0));
	reads = g.reads - reads;
	made_poke(&g, disk + MODULE_LIST, net + MODULE_LIST, 8);
	g.reads = 0;
	assert_int_equal(guestsym_modules_copy(gs, &mem, 0, NULL, 0, &copies), -ELOOP);
	assert_int_equal(g.reads, reads);
	made_poke(&g, disk + MODULE_LIST, disk + MODULE_LIST, 8);
	g.reads = 0;
	assert_int_equal(guestsym_modules_copy(gs, &mem, 0, NULL, 0, &copies), -ELOOP);
	assert_int_equal(g.reads, reads);
	guestsym_close(gs);
}

static void test_bad_list(void **state)
{
	(void)state;
	expect_loop();
	made_poke(&g, disk + MODULE_LIST, 0x1000, 8);
	expect_error(-EFAULT);
	made_poke(&g, made_addr(&g, "modules"), 0, 8);
	expect_error(-EFAULT);
}

/* All is bounded together, also of modules without sites, whose text is not read here. */
static void test_much_text(void **state)
{
	const uint32_t most = UINT32_C(64) << 20;
	const struct made_module_symbol sym = {made_module_text(&g, net), "fn", 't', false};
	struct guestsym_module *mods;
	size_t n;

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t mod = made_module(&g, "long", 0x100, true);

		made_module_symbols(&g, mod, &sym, 1);
		made_poke(&g, mod + MODULE_TEXT_SIZE + 4, most, 4);
	}
	assert_int_equal(read_modules(&mods, &n), 0);
	guestsym_modules_free(mods, n);
	made_poke(&g, disk + MODULE_TEXT_SIZE + 4, most, 4);
	expect_error(-E2BIG);
}

/* Who makes digests may say that sites are where the module has no text. */
static void test_site_lies(void **state)
{
	enum { LAST_SITE = 0x100 };
	static const struct {
		uint32_t text_size;
		uint64_t moved;
		int err;
	} texts[] = {
		{TEXT_SIZE, 0, 0},
		{LAST_SITE + 5, 0, 0},
		{LAST_SITE + 4, 0, -EINVAL},
		{LAST_SITE, 0, -EINVAL},
		{4, 0, -EINVAL},
		{TEXT_SIZE, 0x11, -EINVAL}, /* of the first, at 0x10 */
	};
	struct guestsym *gs = open_guest();

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct guestsym_module_copies *copies = copy(gs, NULL, 0);
		struct guestsym_module *mods = calloc(copies->n, sizeof(*mods));
		struct blob digests;
		size_t n;

		assert_non_null(mods);
		assert_int_equal(modules_digest(copies, &digests), 0);
		copies->v[0].facts.text_size = texts[i].text_size;
		copies->v[0].facts.text += texts[i].moved;
		assert_int_equal(modules_take(copies, &digests, mods, &n), texts[i].err);
		guestsym_modules_free(mods, n);
		guestsym_modules_copies_free(copies);
		blob_free(&digests);
	}
	guestsym_close(gs);
}

/* A site is all in the text, or it is none. */
static void test_site_at_end(void **state)
{
	uint64_t text = made_module_text(&g, net), sites = 0;
	struct guestsym_module *mods;
	size_t n;

	(void)state;
	memcpy(&sites, made_page(&g, net + MODULE_SITES), 8);
	made_poke(&g, sites + 2 * sizeof(sites), text + TEXT_SIZE - 4, 8); /* init_module's */
	assert_int_equal(read_modules(&mods, &n), 0);
	expect_net(&mods[0]);
	guestsym_modules_free(mods, n);
}

static void test_no_modules(void **state)
{
	static struct made_image m;
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym_module *mods;
	struct guestsym *gs;
	uint64_t site;
	uint8_t *elf;
	size_t n, len;

	(void)state;
	made_init(&m);
	site = made_function(&m, "first", 0x100, nop, sizeof(nop));
	made_mcount(&m, &site, 1);
	made_kallsyms(&m, MADE_DEBIAN);
	elf = made_elf(&m, &len);
	gs = guestsym_parse(elf, len, NULL, 0);
	free(elf);
	assert_non_null(gs);
	assert_int_equal(guestsym_modules_read(gs, &mem, 0, &mods, &n), -ENOENT);
	guestsym_modules_free(mods, n);
	guestsym_close(gs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test_setup(test_slide, setup),
		cmocka_unit_test(test_ibt),
		cmocka_unit_test_setup(test_states, setup),
		cmocka_unit_test_setup(test_two_steps, setup),
		cmocka_unit_test_setup(test_known, setup),
		cmocka_unit_test(test_known_no_more),
		cmocka_unit_test_setup(test_cancelled, setup),
		cmocka_unit_test(test_bad_module),
		cmocka_unit_test_setup(test_bad_names, setup),
		cmocka_unit_test_setup(test_far_names, setup),
		cmocka_unit_test_setup(test_control_characters, setup),
		cmocka_unit_test_setup(test_bad_list, setup),
		cmocka_unit_test_setup(test_much_text, setup),
		cmocka_unit_test_setup(test_site_lies, setup),
		cmocka_unit_test_setup(test_site_at_end, setup),
		cmocka_unit_test(test_no_modules),
	};

	return cmocka_run_group_tests_name("guestsym-modules", tests, NULL, NULL);
}
