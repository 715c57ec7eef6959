// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-sites.c - fentry, return, irq, preempt, jump and tracepoint tables of made-up
 * kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"

static const uint8_t call[5] = {0xe8};
static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static const uint8_t endbr_nop[9] = {0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00};

static struct guestsym *open_made(struct made_image *m)
{
	struct guestsym *gs;
	uint8_t *elf;
	char err[256];
	size_t len;

	made_kallsyms(m, MADE_DEBIAN);
	elf = made_elf(m, &len);
	gs = guestsym_parse(elf, len, err, sizeof(err));
	free(elf);
	if (!gs)
		fail_msg("%s", err);
	return gs;
}

static void expect_site(const struct guestsym_site *s, uint64_t addr, uint64_t func,
			const char *name, uint32_t flags)
{
	assert_int_equal(s->addr, MADE_BASE + addr);
	assert_int_equal(s->func, MADE_BASE + func);
	assert_string_equal(s->name, name);
	assert_int_equal(s->flags, flags);
}

/* Unsorted, with zero entries, in init code, behind a weak function's replacement. */
static void make_fentry(struct made_image *m)
{
	uint64_t sites[6] = {0};

	made_init(m);
	sites[0] = made_function(m, "second", 0x200, nop, sizeof(nop));
	sites[2] = made_function(m, "first", 0x100, call, sizeof(call));
	sites[3] = sites[2] + 0x33;
	sites[5] = made_function(m, "at_boot", 0x1000, call, sizeof(call));
	made_symbol(m, "__init_begin", 'D', MADE_BASE + 0x1000);
	made_symbol(m, "__init_end", 'D', MADE_BASE + 0x1800);
	made_mcount(m, sites, 6);
}

static void test_fentry(void **state)
{
	static struct made_image m;
	const struct guestsym_site *s;
	struct guestsym *gs;

	(void)state;
	make_fentry(&m);
	gs = open_made(&m);
	assert_int_equal(guestsym_fentry_sites(gs, &s), 4);
	expect_site(&s[0], 0x100, 0x100, "first", 0);
	/* Without the rule in the kernel (before 6.0) the function's name is what it says. */
	expect_site(&s[1], 0x133, 0x100, "first", GUESTSYM_SITE_INVALID);
	expect_site(&s[2], 0x200, 0x200, "second", GUESTSYM_SITE_NOP);
	expect_site(&s[3], 0x1000, 0x1000, "at_boot", GUESTSYM_SITE_INIT);
	guestsym_close(gs);
}

/* A kernel that names its functions only says where the text of init memory is. */
static void test_fentry_init_text(void **state)
{
	static struct made_image m;
	const struct guestsym_irq_site *irq;
	const struct guestsym_site *s;
	struct guestsym *gs;
	uint64_t sites[3];

	(void)state;
	made_init(&m);
	sites[0] = made_function(&m, "first", 0x100, nop, sizeof(nop));
	sites[1] = made_function(&m, "at_boot", 0x1000, nop, sizeof(nop));
	sites[2] = made_function(&m, "behind", 0x1800, nop, sizeof(nop));
	m.mem[0x110] = 0xfa;
	m.mem[0x1010] = 0xfa; /* cli */
	made_symbol(&m, "_sinittext", 'T', MADE_BASE + 0x1000);
	made_symbol(&m, "_einittext", 'T', MADE_BASE + 0x1800);
	made_mcount(&m, sites, 3);
	gs = open_made(&m);
	assert_int_equal(guestsym_fentry_sites(gs, &s), 3);
	assert_int_equal(s[0].flags, GUESTSYM_SITE_NOP);
	assert_int_equal(s[1].flags, GUESTSYM_SITE_NOP | GUESTSYM_SITE_INIT);
	assert_int_equal(s[2].flags, GUESTSYM_SITE_NOP);
	assert_int_equal(guestsym_irq_sites(gs, &irq), 1);
	assert_int_equal(irq[0].addr, MADE_BASE + 0x110);
	guestsym_close(gs);
}

static void test_fentry_invalid(void **state)
{
	static const char text[] = "__ftrace_invalid_address__";
	static struct made_image m;
	const struct guestsym_site *s;
	struct guestsym *gs;
	uint64_t va;

	(void)state;
	make_fentry(&m);
	made_kallsyms(&m, MADE_DEBIAN);
	va = made_put(&m, text, sizeof(text));
	m.secs[2].size = va + sizeof(text) - m.secs[2].addr;
	{
		size_t len;
		uint8_t *elf = made_elf(&m, &len);

		gs = guestsym_parse(elf, len, NULL, 0);
		free(elf);
	}
	assert_non_null(gs);
	assert_int_equal(guestsym_fentry_sites(gs, &s), 4);
	expect_site(&s[1], 0x133, 0x100, "__ftrace_invalid_address___51", GUESTSYM_SITE_INVALID);
	guestsym_close(gs);
}

/* With IBT sites are behind an endbr64. */
static void test_fentry_ibt(void **state)
{
	static struct made_image m;
	const struct guestsym_site *s;
	struct guestsym *gs;
	uint64_t sites[3];

	(void)state;
	made_init(&m);
	sites[0] = made_function(&m, "with", 0x100, endbr_nop, sizeof(endbr_nop)) + 4;
	sites[1] = made_function(&m, "without", 0x200, nop, sizeof(nop));
	sites[2] = sites[1] + 8;
	made_mcount(&m, sites, 3);
	gs = open_made(&m);
	assert_int_equal(guestsym_fentry_sites(gs, &s), 3);
	expect_site(&s[0], 0x104, 0x100, "with", GUESTSYM_SITE_NOP);
	expect_site(&s[1], 0x200, 0x200, "without", GUESTSYM_SITE_NOP);
	assert_int_equal(s[2].flags, GUESTSYM_SITE_INVALID);
	guestsym_close(gs);
}

/* A kernel that runs may have made NOPs of all endbr64: FineIBT does. */
static void test_fentry_ibt_nops(void **state)
{
	static const uint8_t code[][9] = {
		{0x66, 0x0f, 0x1f, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x40, 0xd6, 0x0f, 0x1f, 0x44, 0x00, 0x00},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
		static struct made_image m;
		const struct guestsym_site *s;
		struct guestsym *gs;
		uint64_t site;

		made_init(&m);
		site = made_function(&m, "with", 0x100, code[i], sizeof(code[i])) + 4;
		made_mcount(&m, &site, 1);
		gs = open_made(&m);
		assert_int_equal(guestsym_fentry_sites(gs, &s), 1);
		expect_site(&s[0], 0x104, 0x100, "with", GUESTSYM_SITE_NOP);
		guestsym_close(gs);
	}
}

static void test_tables(void **state)
{
	static struct made_image m;
	const struct guestsym_tracepoint *tps;
	const uint64_t *returns;
	uint64_t name, tp, site;
	struct guestsym *gs;

	(void)state;
	made_init(&m);
	site = made_function(&m, "f", 0x100, call, sizeof(call));
	made_symbol(&m, "trace_event_raw_event_sched_switch", 't', MADE_BASE + 0x180);
	made_symbol(&m, "trace_event_raw_event_sys_enter", 't', MADE_BASE + 0x190);
	made_mcount(&m, &site, 1);

	made_label(&m, "__return_sites", 'D');
	made_put_rel(&m, MADE_BASE + 0x150);
	made_put_rel(&m, MADE_BASE + 0x123);
	made_label(&m, "__return_sites_end", 'D');

	name = made_put(&m, "sched_switch", 13);
	made_align(&m, 8);
	tp = made_put64(&m, name);
	made_label(&m, "__start___tracepoints_ptrs", 'D');
	made_put_rel(&m, tp);
	made_put_rel(&m, MADE_BASE + MADE_SIZE); /* not in the image */
	made_label(&m, "__stop___tracepoints_ptrs", 'D');

	gs = open_made(&m);
	assert_int_equal(guestsym_return_sites(gs, &returns), 2);
	assert_int_equal(returns[0], MADE_BASE + 0x123);
	assert_int_equal(returns[1], MADE_BASE + 0x150);
	assert_int_equal(guestsym_tracepoints(gs, &tps), 1);
	assert_int_equal(tps[0].addr, tp);
	assert_string_equal(tps[0].name, "sched_switch");
	assert_int_equal(guestsym_event_probes(gs), 2);
	guestsym_close(gs);
}

/* --- irq sites --------------------------------------------------------------------------- */

/* pv_ops with four operations, and a function with a call through each of the slots. */
static void make_pv(struct made_image *m)
{
	static const char *const ops[] = {"pv_native_save_fl", "pv_native_irq_disable",
					  "pv_native_irq_enable", "native_write_cr2"};
	uint64_t pv_ops, site;

	made_init(m);
	site = made_function(m, "f", 0x100, call, sizeof(call));
	made_mcount(m, &site, 1);
	made_align(m, 8);
	made_label(m, "pv_ops", 'D');
	pv_ops = MADE_BASE + m->used;
	for (int i = 0; i < 4; i++) {
		uint32_t rel = pv_ops + 8 * i - (MADE_BASE + 0x200 + 6 * i + 6);

		made_put64(m, made_function(m, ops[i], 0x400 + 16 * i, call, sizeof(call)));
		m->mem[0x200 + 6 * i] = 0xff;
		m->mem[0x201 + 6 * i] = 0x15;
		memcpy(m->mem + 0x202 + 6 * i, &rel, 4);
	}
	/* The same with an absolute address. */
	memcpy(m->mem + 0x300, "\xff\x14\x25", 3);
	memcpy(m->mem + 0x303, &(uint32_t){(uint32_t)pv_ops + 8}, 4);
}

static void expect_irq(const struct guestsym_irq_site *s, uint64_t addr, int kind, int len)
{
	assert_int_equal(s->addr, MADE_BASE + addr);
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->len, len);
}

static void expect_pv_sites(struct made_image *m)
{
	const struct guestsym_irq_site *s;
	struct guestsym *gs = open_made(m);

	assert_int_equal(guestsym_irq_sites(gs, &s), 4);
	expect_irq(&s[0], 0x200, GUESTSYM_IRQ_SAVE, 6);
	expect_irq(&s[1], 0x206, GUESTSYM_IRQ_DISABLE, 6);
	expect_irq(&s[2], 0x20c, GUESTSYM_IRQ_ENABLE, 6);
	expect_irq(&s[3], 0x300, GUESTSYM_IRQ_DISABLE, 7);
	guestsym_close(gs);
}

static void test_parainstructions(void **state)
{
	static const uint64_t sites[] = {0x300, 0x200, 0x206, 0x20c, 0x212, 0x100};
	static struct made_image m;

	(void)state;
	make_pv(&m);
	made_align(&m, 8);
	made_label(&m, "__parainstructions", 'D');
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
		made_put64(&m, MADE_BASE + sites[i]);
		made_put64(&m, 0x0607);
	}
	made_label(&m, "__parainstructions_end", 'D');
	expect_pv_sites(&m);
}

/* Entries of 12 bytes (6.1), 13 (5.10) and 14 (6.12), each site listed twice. */
static void test_altinstructions(void **state)
{
	static const uint64_t sites[] = {0x200, 0x200, 0x206, 0x20c, 0x300, 0x300, 0x212, 0x100};
	static struct made_image m;

	(void)state;
	for (size_t stride = 12; stride <= 14; stride++) {
		make_pv(&m);
		made_align(&m, 8);
		made_label(&m, "__alt_instructions", 'D');
		for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
			made_put_rel(&m, MADE_BASE + sites[i]);
			made_put_rel(&m, MADE_BASE + 0x3000 + i);
			made_put(&m, "\1\0\6\1\0\0", stride - 8);
		}
		made_label(&m, "__alt_instructions_end", 'D');
		expect_pv_sites(&m);
	}
}

/* Without paravirt operations the instructions are looked for, but not inside of others. */
static void test_plain_instructions(void **state)
{
	static const uint8_t code[] = {
		0xe8, 0,    0,	  0,	0,    /* call */
		0xb8, 0xfa, 0xfb, 0x9d, 0x00, /* mov $0x9dfbfa,%eax */
		0xfa,			      /* cli */
		0xfb,			      /* sti */
		0x9d,			      /* popf */
		0xc3,			      /* ret */
	};
	static struct made_image m;
	const struct guestsym_irq_site *s;
	struct guestsym *gs;
	uint64_t site;

	(void)state;
	made_init(&m);
	site = made_function(&m, "f", 0x100, code, sizeof(code));
	made_symbol(&m, "table", 'r', MADE_BASE + 0x180);
	m.mem[0x180] = 0xfa;
	made_symbol(&m, "g", 't', MADE_BASE + 0x190);
	made_mcount(&m, &site, 1);
	gs = open_made(&m);
	assert_int_equal(guestsym_irq_sites(gs, &s), 3);
	expect_irq(&s[0], 0x10a, GUESTSYM_IRQ_DISABLE, 1);
	expect_irq(&s[1], 0x10b, GUESTSYM_IRQ_ENABLE, 1);
	expect_irq(&s[2], 0x10c, GUESTSYM_IRQ_RESTORE, 1);
	guestsym_close(gs);
}

/* --- the preempt count --------------------------------------------------------------------- */

#define COUNT 0x1fb40 /* per CPU, as 6.1 has it */

/* An instruction of these bytes with %gs:COUNT(%rip) behind them, and then the immediate. */
static void put_relative(struct made_image *m, uint64_t off, const char *op, size_t op_len,
			 const char *imm, size_t imm_len)
{
	uint32_t disp = (uint32_t)(COUNT - (MADE_BASE + off + op_len + 4 + imm_len));

	memcpy(m->mem + off, op, op_len);
	memcpy(m->mem + off + op_len, &disp, 4);
	memcpy(m->mem + off + op_len + 4, imm, imm_len);
}

static void make_preempt(struct made_image *m)
{
	uint64_t site;

	made_init(m);
	site = made_function(m, "f", 0x100, call, sizeof(call));
	memset(m->mem + 0x105, 0x90, 0x200 - 0x105);
	put_relative(m, 0x110, "\x65\xff\x05", 3, "", 0); /* incl */
	put_relative(m, 0x117, "\x65\xff\x0d", 3, "", 0); /* decl */
	memcpy(m->mem + 0x120, "\x65\xff\x04\x25\x40\xfb\x01", 8);
	memcpy(m->mem + 0x128, "\x65\xff\x0c\x25\x40\xfb\x01", 8);
	put_relative(m, 0x130, "\x65\x83\x05", 3, "\x02", 1);		  /* addl $2 */
	put_relative(m, 0x138, "\x65\x83\x2d", 3, "\x03", 1);		  /* subl $3 */
	put_relative(m, 0x140, "\x65\x81\x05", 3, "\x00\xfe\xff\xff", 4); /* addl $-0x200 */
	/* None: add of a register, mov, and, incq, of NMIs, another variable, in another one. */
	put_relative(m, 0x150, "\x65\x01\x35", 3, "", 0);
	put_relative(m, 0x158, "\x65\x44\x01\x0d", 4, "", 0);
	put_relative(m, 0x160, "\x65\x8b\x05", 3, "", 0);
	put_relative(m, 0x168, "\x65\x81\x25", 3, "\xff\xff\xff\x7f", 4);
	put_relative(m, 0x174, "\x65\x48\xff\x05", 4, "", 0);
	put_relative(m, 0x180, "\x65\x81\x05", 3, "\0\0\x11\0", 4);
	put_relative(m, 0x190, "\x65\x81\x05", 3, "\0\0\xef\xff", 4);
	put_relative(m, 0x1a0, "\x65\xff\x05", 3, "", 0);
	m->mem[0x1a3]++;
	put_relative(m, 0x1b2, "\x65\xff\x05", 3, "", 0);
	memcpy(m->mem + 0x1b0, "\x48\xb8", 2); /* movabs, %rax: 8 bytes of it */
	/* Cut off by the end of the function. */
	made_symbol(m, "g", 't', MADE_BASE + 0x200);
	put_relative(m, 0x1fb, "\x65\xff\x05", 3, "", 0);
	made_function(m, "at_boot", 0x1000, call, sizeof(call));
	put_relative(m, 0x1010, "\x65\xff\x05", 3, "", 0);
	made_symbol(m, "__init_begin", 'D', MADE_BASE + 0x1000);
	made_symbol(m, "__init_end", 'D', MADE_BASE + 0x1800);
	made_mcount(m, &site, 1);
}

static void expect_preempt(const struct guestsym_preempt_site *s, uint64_t addr, int value, int len)
{
	assert_int_equal(s->addr, MADE_BASE + addr);
	assert_int_equal(s->value, value);
	assert_int_equal(s->len, len);
}

static void test_preempt(void **state)
{
	static struct made_image m;
	const struct guestsym_preempt_site *s;
	struct guestsym *gs;

	(void)state;
	make_preempt(&m);
	made_symbol(&m, "__preempt_count", 'A', COUNT);
	gs = open_made(&m);
	assert_int_equal(guestsym_preempt_sites(gs, &s), 7);
	expect_preempt(&s[0], 0x110, 1, 7);
	expect_preempt(&s[1], 0x117, -1, 7);
	expect_preempt(&s[2], 0x120, 1, 8);
	expect_preempt(&s[3], 0x128, -1, 8);
	expect_preempt(&s[4], 0x130, 2, 8);
	expect_preempt(&s[5], 0x138, -3, 8);
	expect_preempt(&s[6], 0x140, -0x200, 11);
	guestsym_close(gs);
}

/* No such variable; and one in pcpu_hot, whose members nothing tells. */
static void test_no_preempt_count(void **state)
{
	static struct made_image m;
	const struct guestsym_preempt_site *s;
	struct guestsym *gs;

	(void)state;
	make_preempt(&m);
	gs = open_made(&m);
	assert_int_equal(guestsym_preempt_sites(gs, &s), 0);
	guestsym_close(gs);
	make_preempt(&m);
	made_symbol(&m, "pcpu_hot", 'A', COUNT);
	gs = open_made(&m);
	assert_int_equal(guestsym_preempt_sites(gs, &s), 0);
	guestsym_close(gs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fentry),
		cmocka_unit_test(test_fentry_init_text),
		cmocka_unit_test(test_fentry_invalid),
		cmocka_unit_test(test_fentry_ibt),
		cmocka_unit_test(test_fentry_ibt_nops),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_parainstructions),
		cmocka_unit_test(test_altinstructions),
		cmocka_unit_test(test_plain_instructions),
		cmocka_unit_test(test_preempt),
		cmocka_unit_test(test_no_preempt_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
