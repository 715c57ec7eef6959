// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-guestsym-parsers.c - kernels, sites and modules that another process has read are the same
 * as those that are read here, and what it says is not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guestsym/modules.h"
#include "tests/unit/made-guest.h"

static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static struct guestsym_parsers *parsers;
static char path[] = "/tmp/hvtrace-parsers-XXXXXX";

static int set_up(void **state)
{
	char err[256];
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return fd < 0 || guestsym_parsers_start(&parsers, -1, err, sizeof(err));
}

static int tear_down(void **state)
{
	(void)state;
	guestsym_parsers_stop(parsers);
	return unlink(path);
}

/* --- what is compared ---------------------------------------------------------------------------
 */

static void same_symbols(const struct guestsym *a, const struct guestsym *b)
{
	const struct guestsym_symbol *x, *y;
	size_t n = guestsym_symbols(a, &x);

	assert_int_equal(guestsym_symbols(b, &y), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(x[i].addr, y[i].addr);
		assert_int_equal(x[i].type, y[i].type);
		assert_string_equal(x[i].name, y[i].name);
	}
}

static void same_site_lists(const struct guestsym_site *x, const struct guestsym_site *y, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(x[i].addr, y[i].addr);
		assert_int_equal(x[i].func, y[i].func);
		assert_int_equal(x[i].flags, y[i].flags);
		assert_string_equal(x[i].name, y[i].name);
	}
}

static void same_sites(const struct guestsym *a, const struct guestsym *b)
{
	const struct guestsym_irq_site *p, *q;
	const struct guestsym_site *x, *y;
	size_t n = guestsym_fentry_sites(a, &x);

	assert_int_equal(guestsym_fentry_sites(b, &y), n);
	assert_true(n > 0);
	same_site_lists(x, y, n);
	n = guestsym_irq_sites(a, &p);
	assert_int_equal(guestsym_irq_sites(b, &q), n);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(p[i].addr, q[i].addr);
		assert_int_equal(p[i].kind, q[i].kind);
		assert_int_equal(p[i].len, q[i].len);
	}
}

static void same(struct guestsym *a, struct guestsym *b)
{
	struct guestsym_field f, g;

	assert_string_equal(guestsym_banner(a), guestsym_banner(b));
	assert_string_equal(guestsym_build_id(a), guestsym_build_id(b));
	assert_int_equal(guestsym_btf_types(a), guestsym_btf_types(b));
	assert_int_equal(guestsym_field(a, "module.name", &f),
			 guestsym_field(b, "module.name", &g));
	same_symbols(a, b);
	same_sites(a, b);
	guestsym_close(a);
	guestsym_close(b);
}

/* --- images -------------------------------------------------------------------------------------
 */

static void write_file(const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static struct guestsym *open_as(struct guestsym_parsers *p)
{
	char err[512];
	struct guestsym *gs = guestsym_open(p, path, GUESTSYM_FL_NOCACHE, err, sizeof(err));

	if (!gs)
		fail_msg("%s", err);
	return gs;
}

static void test_image(void **state)
{
	static struct made_image m;
	uint8_t *file;
	size_t len;

	(void)state;
	made_init(&m);
	made_function(&m, "irqs", 0x300, (const uint8_t[]){0xfa, 0xfb, 0xc3}, 3);
	file = made_kernel(&m, MADE_DEBIAN, &len);
	write_file(file, len);
	same(open_as(NULL), open_as(parsers));
	same(open_as(NULL), guestsym_open_bytes(NULL, "it", file, len, NULL, 0));
	same(open_as(NULL), guestsym_open_bytes(parsers, "it", file, len, NULL, 0));
	free(file);
}

/* The same line, wherever it was found out. */
static void test_bad_image(void **state)
{
	char here[512], there[512];

	(void)state;
	write_file("no kernel", 9);
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, here, sizeof(here)));
	assert_null(guestsym_open(parsers, path, GUESTSYM_FL_NOCACHE, there, sizeof(there)));
	assert_string_equal(here, there);
	assert_null(guestsym_open_bytes(parsers, "it", "no kernel", 9, there, sizeof(there)));
	assert_int_equal(strncmp(there, "it: is no Linux kernel", 22), 0);
}

/* --- memory and modules -------------------------------------------------------------------------
 */

static struct made_guest g;

static void make_guest(void)
{
	const uint8_t cli[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xfa, 0xfb, 0xc3};
	uint64_t site, mod, text;

	made_guest_init(&g, true);
	site = made_function(&g.m, "first", 0x100, cli, sizeof(cli));
	made_page_add(&g, &site, 1);
	made_guest_done(&g);
	mod = made_module(&g, "net", 0x400, true);
	text = made_module_text(&g, mod);
	memcpy(made_page(&g, text + 0x10), nop, sizeof(nop));
	{
		const struct made_module_symbol syms[] = {{text + 0x10, "net_open", 't', false},
							  {text + 0x100, "net_send", 't', false}};
		const uint64_t sites[] = {text + 0x10, text + 0x50};

		made_module_symbols(&g, mod, syms, 2);
		made_module_sites(&g, mod, sites, 2);
	}
	made_module(&g, "disk", 0x100, true);
}

static struct guestsym *open_memory_as(struct guestsym_parsers *p)
{
	struct guestsym_memory mem = made_memory(&g);
	char err[256];
	struct guestsym *gs = guestsym_open_memory(p, &mem, err, sizeof(err));

	if (!gs)
		fail_msg("%s", err);
	return gs;
}

static void test_memory(void **state)
{
	(void)state;
	make_guest();
	same(open_memory_as(NULL), open_memory_as(parsers));
}

struct modules {
	struct guestsym_module *v;
	size_t n;
};

static struct modules modules_as(struct guestsym_parsers *p, int *err)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = open_memory_as(p);
	struct modules m;

	*err = guestsym_modules_read(gs, &mem, 0, &m.v, &m.n);
	guestsym_close(gs);
	return m;
}

static void test_modules(void **state)
{
	struct modules here, there;
	int err;

	(void)state;
	make_guest();
	here = modules_as(NULL, &err);
	assert_int_equal(err, 0);
	there = modules_as(parsers, &err);
	assert_int_equal(err, 0);
	assert_int_equal(here.n, 2);
	assert_int_equal(there.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct guestsym_module *a = &here.v[i], *b = &there.v[i];

		assert_string_equal(a->name, b->name);
		assert_int_equal(a->nr_syms, b->nr_syms);
		for (size_t k = 0; k < a->nr_syms; k++)
			assert_string_equal(a->syms[k].name, b->syms[k].name);
		assert_int_equal(a->nr_sites, b->nr_sites);
		same_site_lists(a->sites, b->sites, a->nr_sites);
	}
	guestsym_modules_free(here.v, here.n);
	guestsym_modules_free(there.v, there.n);
}

/* --- lies ---------------------------------------------------------------------------------------
 */

static void test_site_lies(void **state)
{
	static const struct guestsym_irq_site lies[][2] = {
		{{MADE_BASE + 1, GUESTSYM_IRQ_ENABLE, 1}, {0x1000, GUESTSYM_IRQ_ENABLE, 1}},
		{{MADE_BASE + 1, GUESTSYM_IRQ_ENABLE, 1}, {MADE_BASE + 1, GUESTSYM_IRQ_ENABLE, 1}},
		{{MADE_BASE + 1, GUESTSYM_IRQ_RESTORE + 1, 1}, {MADE_BASE + 2, 0, 1}},
		{{MADE_BASE + 1, GUESTSYM_IRQ_ENABLE, 0}, {MADE_BASE + 2, 0, 1}},
		{{MADE_BASE + 1, GUESTSYM_IRQ_ENABLE, 16}, {MADE_BASE + 2, 0, 1}},
		{{MADE_BASE + 1, GUESTSYM_IRQ_SAVE, 2}, {MADE_BASE + 2, 0, 1}},
		{{MADE_BASE + 1, GUESTSYM_IRQ_ENABLE, 1}, {MADE_BASE + 0xfff, 0, 2}},
	};
	const struct kernel k = {.symbols = {.start = MADE_BASE, .end = MADE_BASE + 0x1000}};
	struct found_sites found;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		assert_int_equal(sites_take(&k, SITES_IRQ, lies[i], sizeof(lies[i]), &found),
				 -EINVAL);
		free(found.v);
		/* Half of one. */
		assert_int_equal(sites_take(&k, SITES_IRQ, lies[i], sizeof(lies[0][0]) + 1, &found),
				 -EINVAL);
	}
	assert_int_equal(sites_take(&k, SITES_IRQ, lies[0], sizeof(lies[0][0]), &found), 0);
	assert_int_equal(found.n, 1);
	free(found.v);
}

/* Copies of modules that are packed, one byte of which is another one, or that end early. */
static void test_packed_lies(void **state)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym_module_copies *copies, lied;
	struct guestsym *gs;
	struct blob packed;
	size_t len;

	(void)state;
	make_guest();
	gs = open_memory_as(NULL);
	assert_int_equal(guestsym_modules_copy(gs, &mem, 0, NULL, 0, &copies), 0);
	assert_int_equal(modules_pack(copies, &packed), 0);
	assert_int_equal(modules_unpack(&packed, &lied), 0);
	assert_int_equal(lied.n, 2);
	free(lied.v);
	len = packed.len;
	for (packed.len = 0; packed.len < len; packed.len++) {
		assert_int_equal(modules_unpack(&packed, &lied), -EINVAL);
		free(lied.v);
	}
	for (size_t i = 0; i < len; i++) {
		uint8_t *at = (uint8_t *)packed.map + i, was = *at;

		*at = 0xff;
		if (!modules_unpack(&packed, &lied))
			for (size_t k = 0; k < lied.n; k++)
				assert_in_range((uintptr_t)lied.v[k].strings, (uintptr_t)packed.map,
						(uintptr_t)packed.map + len);
		free(lied.v);
		*at = was;
	}
	blob_free(&packed);
	guestsym_modules_copies_free(copies);
	guestsym_close(gs);
}

static struct guestsym_parsers *start_parsers(int *pid)
{
	struct guestsym_parsers *p;
	char err[512];
	int next;
	FILE *f;

	assert_int_equal(guestsym_parsers_start(&p, -1, err, sizeof(err)), 0);
	f = fopen("/proc/thread-self/children", "r");
	assert_non_null(f);
	while (fscanf(f, "%d", &next) == 1)
		*pid = next;
	fclose(f);
	return p;
}

/* It is said, and nothing waits. */
static void test_gone(void **state)
{
	struct guestsym_parsers *p;
	char err[512];
	int pid = 0;

	(void)state;
	p = start_parsers(&pid);
	kill(pid, SIGKILL);
	assert_null(guestsym_open(p, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	assert_non_null(strstr(err, "gone"));
	guestsym_parsers_stop(p);
}

/* What could not be found is not what is not there, and may be found by who asks next. */
static void test_sites_tried_again(void **state)
{
	struct guestsym_parsers *p;
	const struct guestsym_irq_site *v;
	struct guestsym *gs;
	char err[512];
	int pid = 0;

	(void)state;
	make_guest();
	p = start_parsers(&pid);
	gs = open_memory_as(p);
	kill(pid, SIGKILL);
	assert_int_equal(guestsym_find_sites(gs, err, sizeof(err)), -EPROTO);
	assert_string_equal(err, "places where interrupts go off or on: the process that reads it "
				 "is gone");
	assert_int_equal(guestsym_irq_sites(gs, &v), 0);
	gs->parsers = NULL;
	assert_int_equal(guestsym_find_sites(gs, err, sizeof(err)), 0);
	assert_string_equal(err, "");
	assert_true(guestsym_irq_sites(gs, &v) > 0);
	guestsym_close(gs);
	guestsym_parsers_stop(p);
}

/* Each try may take its time. */
static void test_sites_given_up(void **state)
{
	struct guestsym_parsers *p;
	struct guestsym *gs;
	char err[512];
	int pid = 0;

	(void)state;
	make_guest();
	p = start_parsers(&pid);
	gs = open_memory_as(p);
	kill(pid, SIGKILL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(guestsym_find_sites(gs, err, sizeof(err)), -EPROTO);
	gs->parsers = NULL;
	assert_int_equal(guestsym_find_sites(gs, err, sizeof(err)), -EPROTO);
	assert_string_equal(err, "places where interrupts go off or on: was tried 3 times: "
				 "Protocol error");
	guestsym_close(gs);
	guestsym_parsers_stop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),	       cmocka_unit_test(test_bad_image),
		cmocka_unit_test(test_memory),	       cmocka_unit_test(test_modules),
		cmocka_unit_test(test_site_lies),      cmocka_unit_test(test_packed_lies),
		cmocka_unit_test(test_gone),	       cmocka_unit_test(test_sites_tried_again),
		cmocka_unit_test(test_sites_given_up),
	};

	return cmocka_run_group_tests_name("guestsym-parsers", tests, set_up, tear_down);
}
