// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-memory.c - kernels found in the made-up memory of a guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-guest.h"

static const uint8_t call[5] = {0xe8};
static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static struct made_guest g;

/* Three functions, of which one is in a second page of records, and an overridden one. */
static int setup(void **state)
{
	uint64_t sites[3], more[2];

	(void)state;
	made_guest_init(&g, true);
	sites[0] = made_function(&g.m, "first", 0x100, nop, sizeof(nop));
	sites[1] = sites[0] + 0x33;
	sites[2] = made_function(&g.m, "second", 0x200, call, sizeof(call));
	more[0] = made_function(&g.m, "third", 0x300, nop, sizeof(nop));
	more[1] = MADE_HEAP + 0x100; /* not the kernel's */
	made_symbol(&g.m, "__init_begin", 'D', MADE_BASE + 0x1000);
	made_symbol(&g.m, "__init_end", 'D', MADE_BASE + 0x2000);
	made_put(&g.m, "__ftrace_invalid_address__", sizeof("__ftrace_invalid_address__"));
	made_align(&g.m, 8);
	made_guest_done(&g);
	made_page_add(&g, sites, 3);
	made_page_add(&g, more, 2);
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

static void expect_refused(const struct guestsym_memory *mem, const char *why)
{
	char err[256];
	struct guestsym *gs = guestsym_open_memory(NULL, mem, err, sizeof(err));

	assert_null(gs);
	if (!strstr(err, why) || strchr(err, '\n'))
		fail_msg("'%s' does not say '%s'", err, why);
}

static void expect_guest_refused(const char *why)
{
	struct guestsym_memory mem = made_memory(&g);

	expect_refused(&mem, why);
}

static void expect_site(const struct guestsym_site *s, uint64_t addr, uint64_t func,
			const char *name, uint32_t flags)
{
	assert_int_equal(s->addr, MADE_BASE + addr);
	assert_int_equal(s->func, MADE_BASE + func);
	assert_string_equal(s->name, name);
	assert_int_equal(s->flags, flags);
}

/* --- what is found ----------------------------------------------------------------------- */

static void test_kernel(void **state)
{
	struct guestsym *gs = open_guest();
	uint8_t byte;
	uint64_t pa;
	size_t len;

	(void)state;
	assert_string_equal(guestsym_release(gs), "6.1.0-made");
	assert_int_equal(guestsym_addr(gs, "second"), MADE_BASE + 0x200);
	assert_true(guestsym_btf_types(gs) > 0);
	assert_null(guestsym_elf(gs, &len));
	assert_true(guestsym_from_memory(gs));
	assert_int_equal(len, 0);
	assert_int_equal(guestsym_phys(gs, MADE_BASE, &pa), -EFAULT);
	assert_int_equal(guestsym_read(gs, MADE_BASE + 0x200, &byte, 1), 0);
	assert_int_equal(byte, 0xe8);
	/* Init memory belongs to somebody else by now. */
	assert_int_equal(guestsym_read(gs, MADE_BASE + 0x1000, &byte, 1), -EFAULT);
	assert_int_equal(guestsym_read(gs, MADE_BASE + 0x2000, &byte, 1), 0);
	guestsym_close(gs);
}

static void test_sites(void **state)
{
	struct guestsym *gs = open_guest();
	const struct guestsym_site *s;

	(void)state;
	assert_int_equal(guestsym_fentry_sites(gs, &s), 4);
	expect_site(&s[0], 0x100, 0x100, "first", GUESTSYM_SITE_NOP);
	expect_site(&s[1], 0x133, 0x100, "__ftrace_invalid_address___51", GUESTSYM_SITE_INVALID);
	expect_site(&s[2], 0x200, 0x200, "second", 0);
	expect_site(&s[3], 0x300, 0x300, "third", GUESTSYM_SITE_NOP);
	guestsym_close(gs);
}

/* Pages of modules come and go: nothing that they say may matter. */
static void test_module_pages(void **state)
{
	uint64_t site = MADE_HEAP + 0x1000, page = made_page_add(&g, &site, 1);
	const struct guestsym_site *s;
	struct guestsym *gs;

	(void)state;
	made_poke(&g, page + PAGE_NEXT, 0x1234, 8);
	gs = open_guest();
	assert_int_equal(guestsym_fentry_sites(gs, &s), 4);
	guestsym_close(gs);
}

static void test_disabled(void **state)
{
	uint64_t first, records;
	const struct guestsym_site *s;
	struct guestsym *gs;

	(void)state;
	memcpy(&first, made_page(&g, made_addr(&g, "ftrace_pages_start")), 8);
	memcpy(&records, made_page(&g, first + PAGE_RECORDS), 8);
	made_poke(&g, records + 2 * RECORD_SIZE_OF + RECORD_FLAGS, 1 << 25, 8);
	gs = open_guest();
	assert_int_equal(guestsym_fentry_sites(gs, &s), 4);
	assert_int_equal(s[2].addr, MADE_BASE + 0x200);
	assert_int_equal(s[2].flags, GUESTSYM_SITE_INVALID);
	guestsym_close(gs);
}

static void test_listed_twice(void **state)
{
	uint64_t again = MADE_BASE + 0x200;
	const struct guestsym_site *s;
	struct guestsym *gs;

	(void)state;
	made_page_add(&g, &again, 1);
	gs = open_guest();
	assert_int_equal(guestsym_fentry_sites(gs, &s), 4);
	guestsym_close(gs);
}

/*
 * What mov %rdi,%rdx and a NOP of a static branch look like in their middle is no cli; serialize,
 * which decoders do not know, is no end.
 */
static void test_irq_sites(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x89, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, /* mov; nop */
		0x0f, 0x01, 0xe8,				/* serialize */
		0x9c, 0x58, 0x0f, 0x1f, 0x40, 0x00,		/* pushf; pop; nop */
		0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00,		/* cli; nop */
		0xfb,						/* sti, never a call */
		0xfb, 0x0f, 0x1f, 0x44, 0x00, 0x00,		/* sti; nop */
	};
	const struct guestsym_irq_site *v;
	struct guestsym *gs;

	(void)state;
	made_guest_init(&g, true);
	made_function(&g.m, "irqs", 0x400, code, sizeof(code));
	made_function(&g.m, "first", 0x500, nop, sizeof(nop));
	made_label(&g.m, "pv_ops", 'D');
	made_put64(&g.m, 0);
	made_guest_done(&g);
	made_page_add(&g, &(uint64_t){MADE_BASE + 0x500}, 1);
	gs = open_guest();
	assert_int_equal(guestsym_irq_sites(gs, &v), 3);
	assert_int_equal(v[0].addr, MADE_BASE + 0x40b);
	assert_int_equal(v[0].kind, GUESTSYM_IRQ_SAVE);
	assert_int_equal(v[1].addr, MADE_BASE + 0x411);
	assert_int_equal(v[1].kind, GUESTSYM_IRQ_DISABLE);
	assert_int_equal(v[2].addr, MADE_BASE + 0x418);
	assert_int_equal(v[2].kind, GUESTSYM_IRQ_ENABLE);
	assert_int_equal(v[2].len, 6);
	guestsym_close(gs);
}

/* pv_ops without these operations, or with: cli, sti, and the same in the entry code. */
static size_t bytes_found(bool ops, const struct guestsym_irq_site **v, struct guestsym **gs)
{
	static const uint8_t code[] = {0xfa, 0x90, 0xfb, 0xc3};

	made_guest_init(&g, true);
	made_function(&g.m, "irqs", 0x400, code, sizeof(code));
	made_function(&g.m, "__entry_text_start", 0x440, code, sizeof(code));
	made_function(&g.m, "__entry_text_end", 0x480, nop, sizeof(nop));
	made_function(&g.m, "first", 0x500, nop, sizeof(nop));
	if (ops)
		made_function(&g.m, "native_irq_disable", 0x600, nop, sizeof(nop));
	made_label(&g.m, "pv_ops", 'D');
	made_put64(&g.m, 0);
	made_guest_done(&g);
	made_page_add(&g, &(uint64_t){MADE_BASE + 0x500}, 1);
	*gs = open_guest();
	return guestsym_irq_sites(*gs, v);
}

static void test_irq_bytes(void **state)
{
	const struct guestsym_irq_site *v;
	struct guestsym *gs;

	(void)state;
	assert_int_equal(bytes_found(false, &v, &gs), 2);
	assert_int_equal(v[0].addr, MADE_BASE + 0x400);
	assert_int_equal(v[0].len, 1);
	assert_int_equal(v[1].addr, MADE_BASE + 0x402);
	guestsym_close(gs);
}

static void test_irq_bytes_of_xen(void **state)
{
	const struct guestsym_irq_site *v;
	struct guestsym *gs;

	(void)state;
	assert_int_equal(bytes_found(true, &v, &gs), 0);
	guestsym_close(gs);
}

/* Text's second page is init memory here: with page table isolation it is not even mapped. */
static void test_hole(void **state)
{
	struct guestsym *gs;
	uint8_t bytes[8];

	(void)state;
	g.hole[1] = true;
	gs = open_guest();
	assert_int_equal(guestsym_addr(gs, "second"), MADE_BASE + 0x200);
	assert_int_equal(guestsym_read(gs, MADE_BASE + 0xffc, bytes, 4), 0);
	assert_int_equal(guestsym_read(gs, MADE_BASE + 0xffc, bytes, 8), -EFAULT);
	assert_int_equal(guestsym_read(gs, MADE_BASE + 0x2000, bytes, 8), 0);
	guestsym_close(gs);
}

/* --- what is refused --------------------------------------------------------------------- */

static void test_lists_without_end(void **state)
{
	uint64_t pages = made_addr(&g, "ftrace_pages_start"), first;

	(void)state;
	memcpy(&first, made_page(&g, pages), 8);
	made_poke(&g, first + PAGE_NEXT, first, 8);
	expect_guest_refused("is damaged");
	made_poke(&g, first + PAGE_INDEX, 0, 4);
	expect_guest_refused("is damaged");
}

static void test_bad_pages(void **state)
{
	uint64_t pages = made_addr(&g, "ftrace_pages_start"), first;

	(void)state;
	memcpy(&first, made_page(&g, pages), 8);
	made_poke(&g, first + PAGE_INDEX, UINT32_MAX, 4);
	expect_guest_refused("is damaged");
	made_poke(&g, first + PAGE_INDEX, 3, 4);
	made_poke(&g, first + PAGE_RECORDS, 0x1000, 8);
	expect_guest_refused("is damaged");
	made_poke(&g, pages, 0x1000, 8);
	expect_guest_refused("is damaged");
	made_poke(&g, pages, 0, 8);
	expect_guest_refused("has no fentry sites, or has not found them yet");
}

static void test_other_memory(void **state)
{
	struct guestsym_memory mem = made_memory(&g);

	(void)state;
	mem.hint = 0x400000;
	expect_refused(&mem, "is no address of an x86-64 Linux kernel");
	mem.hint = MADE_BASE + (UINT64_C(128) << 20);
	expect_refused(&mem, "nothing is mapped");
	/* Near the kernel, but none of its addresses. */
	mem.hint = MADE_BASE + MADE_SIZE;
	expect_refused(&mem, "no symbols");
	memset(g.m.mem + MADE_TEXT, 0, MADE_SIZE - MADE_TEXT);
	expect_guest_refused("no symbols");
}

static void test_no_types(void **state)
{
	(void)state;
	memset(made_page(&g, made_addr(&g, "__start_BTF")), 0, 16);
	expect_guest_refused("Linux 6.1.0-made has no types (BTF), so");
}

/* Without CONFIG_KALLSYMS_ALL no symbol leads to the banner, but its text does. */
static void test_names_of_functions_only(void **state)
{
	static const char *const others[] = {"Linux version 6.2 with\ta tab\n",
					     "Linux version of something"};

	(void)state;
	made_guest_init(&g, true);
	for (size_t i = 0; i < g.m.nr_syms; i++)
		if (g.m.syms[i].type != 'T' && strcmp(g.m.syms[i].name, "_end") != 0)
			g.m.syms[i].name = "anything";
	/* Other text that begins so is no banner. */
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		strcpy((char *)g.m.mem + 0x100 + 0x80 * i, others[i]);
	made_guest_done(&g);
	expect_guest_refused("Linux 6.1.0-made names its functions only, so");
}

static void test_no_banner(void **state)
{
	(void)state;
	memset(made_page(&g, made_addr(&g, "linux_banner")), 0, 16);
	memset(made_page(&g, made_addr(&g, "__start_BTF")), 0, 16);
	expect_guest_refused("Linux of unknown release has no types");
}

static int read_nothing(void *arg, uint64_t va, void *buf, size_t len)
{
	(void)arg;
	(void)va;
	memset(buf, 0, len);
	return len > 1 ? -EIO : 0;
}

static int read_zeroes(void *arg, uint64_t va, void *buf, size_t len)
{
	(void)arg;
	(void)va;
	memset(buf, 0, len);
	return 0;
}

static int read_every_other(void *arg, uint64_t va, void *buf, size_t len)
{
	(void)arg;
	if (len > MADE_PAGE || (va / MADE_PAGE) & 1)
		return -EFAULT;
	memset(buf, 0, len);
	return 0;
}

static void test_odd_readers(void **state)
{
	struct guestsym_memory mem = made_memory(&g);

	(void)state;
	mem.read = read_nothing;
	expect_refused(&mem, "cannot be read: Input/output error");
	mem.read = read_every_other;
	expect_refused(&mem, "is no kernel image");
	/* All of it is mapped: no more than some of it is read. */
	mem.read = read_zeroes;
	expect_refused(&mem, "no symbols");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kernel, setup),
		cmocka_unit_test_setup(test_sites, setup),
		cmocka_unit_test_setup(test_module_pages, setup),
		cmocka_unit_test_setup(test_disabled, setup),
		cmocka_unit_test_setup(test_listed_twice, setup),
		cmocka_unit_test(test_irq_sites),
		cmocka_unit_test(test_irq_bytes),
		cmocka_unit_test(test_irq_bytes_of_xen),
		cmocka_unit_test_setup(test_hole, setup),
		cmocka_unit_test_setup(test_lists_without_end, setup),
		cmocka_unit_test_setup(test_bad_pages, setup),
		cmocka_unit_test_setup(test_other_memory, setup),
		cmocka_unit_test_setup(test_no_types, setup),
		cmocka_unit_test(test_names_of_functions_only),
		cmocka_unit_test_setup(test_no_banner, setup),
		cmocka_unit_test_setup(test_odd_readers, setup),
	};

	return cmocka_run_group_tests_name("guestsym-memory", tests, NULL, NULL);
}
