// SPDX-License-Identifier: GPL-2.0-or-later
/* test-fetch.c - what fetch arguments give, on made-up registers and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/made-events.h"
#include "tests/unit/made-probes.h"
#include "tracer/events/define/fetch.h"

/* A page of the kernel's and one of the task's; nothing is behind them. */
#define KERNEL UINT64_C(0xffff888000010000)
#define USER   UINT64_C(0x400000)

enum { PAGE_BYTES = 4096, HEAD = PROBE_HEAD, RECORD_MAX = 4000 };

struct memory {
	uint8_t kernel[PAGE_BYTES], user[PAGE_BYTES];
};

static int read_memory(void *arg, bool user, uint64_t va, void *buf, size_t len)
{
	struct memory *m = arg;
	uint64_t off = va - (user ? USER : KERNEL);

	if (off >= PAGE_BYTES || PAGE_BYTES - off < len)
		return -EFAULT;
	memcpy(buf, (user ? m->user : m->kernel) + off, len);
	return 0;
}

static size_t symbol(void *arg, uint64_t addr, char *buf, size_t size)
{
	(void)arg;
	return (size_t)snprintf(buf, size, "vfs_read+0x%x/0x30", (unsigned int)(addr & 0xff));
}

struct fetched {
	struct probe_def *def;
	uint8_t record[RECORD_MAX];
	size_t len;
};

static void fetch_up_to(struct fetched *f, const struct fetch_hit *hit, const char *line,
			size_t max)
{
	struct probe_symbols symbols = made_symbols;
	struct probe_words words;
	struct probe_error err;

	symbols.keeps_args = true;
	assert_int_equal(probe_words_split(&words, line), 0);
	if (probe_def_parse(&words, &symbols, &f->def, &err))
		fail_msg("%s: %s", line, err.what);
	probe_words_free(&words);
	memset(f->record, 0xaa, sizeof(f->record));
	f->len = fetch_args(f->def->arg, f->def->nr_args, hit, f->record, HEAD, max);
}

static uint64_t number(const struct fetched *f, unsigned int n)
{
	const struct fetch_arg *a = &f->def->arg[n];
	uint64_t value = 0;

	memcpy(&value, f->record + HEAD + a->offset, a->type->size);
	return value;
}

/* NULL: it could not be read. */
static const char *string_at(const struct fetched *f, unsigned int n, unsigned int i)
{
	uint32_t loc;

	memcpy(&loc, f->record + HEAD + f->def->arg[n].offset + 4 * i, sizeof(loc));
	if (!(loc >> 16))
		return NULL;
	assert_true((loc & 0xffff) + (loc >> 16) <= f->len);
	assert_int_equal(f->record[(loc & 0xffff) + (loc >> 16) - 1], 0);
	return (const char *)f->record + (loc & 0xffff);
}

struct world {
	struct memory memory;
	struct machine_regs regs;
	struct fetch_hit hit;
	struct fetched f;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->regs = (struct machine_regs){
		.rax = 0x16,
		.rdi = KERNEL,
		.rsi = USER + 0x10,
		.rdx = 3,
		.rsp = KERNEL + 0x800,
	};
	w->hit = (struct fetch_hit){.regs = &w->regs,
				    .ip = 0xffffffff81000001,
				    .comm = "gt",
				    .read = read_memory,
				    .symbol = symbol,
				    .arg = &w->memory};
	strcpy((char *)w->memory.user + 0x10, "/proc/self/stat");
	strcpy((char *)w->memory.kernel + 0x40, "in the kernel");
	memcpy(w->memory.kernel + 8, &(uint64_t){KERNEL + 0x40}, 8);
	memcpy(w->memory.kernel + 16, &(uint64_t){USER + 0x10}, 8);
	memcpy(w->memory.kernel + 24, &(uint64_t){0xdead000000000000}, 8);
	memcpy(w->memory.kernel + 0x800, &(uint64_t){0xffffffff81361dcd}, 8);
	memcpy(w->memory.kernel + 0x808, &(uint64_t){7}, 8);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	probe_def_free(w->f.def);
	free(w);
	return 0;
}

static void fetch(struct world *w, const char *line)
{
	fetch_up_to(&w->f, &w->hit, line, RECORD_MAX);
}

/* What a kernel showed: f=0 sym=vfs_open+0x1/0x30 arr={0xcd,0x1d,0x36,0x81} str="gt" */
static void test_captured(void **state)
{
	const uint8_t address[] = {0xcd, 0x1d, 0x36, 0x81};
	struct world *w = *state;

	fetch(w, "p:bits vfs_open f=%ax:b4@2/32 sym=%ip:symbol arr=+0(%sp):x8[4] str=$comm:string");
	assert_int_equal(number(&w->f, 0), 5);
	assert_int_equal(number(&w->f, 1), 0xffffffff81000001);
	assert_memory_equal(w->f.record + HEAD + 12, address, 4);
	assert_string_equal(string_at(&w->f, 3, 0), "gt");
	assert_int_equal(w->f.len, HEAD + 20 + 3);
}

static void test_sources(void **state)
{
	struct world *w = *state;

	fetch(w, "p vfs_read $stack0 $stack1:u8 $stack $arg3:u16 $arg7:u32 \\-2:s8 %cs:x16 "
		 "$stack2000 lit=\\\"text\" %dx:s32");
	assert_int_equal(number(&w->f, 0), 0xffffffff81361dcd);
	assert_int_equal(number(&w->f, 1), 7);
	assert_int_equal(number(&w->f, 2), KERNEL + 0x800);
	assert_int_equal(number(&w->f, 3), 3);
	assert_int_equal(number(&w->f, 4), 7);
	assert_int_equal(number(&w->f, 5), 0xfe);
	assert_int_equal(number(&w->f, 6), 0x10);
	assert_int_equal(number(&w->f, 7), 0);
	assert_string_equal(string_at(&w->f, 8, 0), "text");
	assert_int_equal(number(&w->f, 9), 3);
}

/* What it was called with; of what was on the stack, what is there by then. */
static void test_arguments_at_a_return(void **state)
{
	static const uint64_t args[FETCH_ARG_REGS] = {11, 12, 13, 14, 15, USER + 0x10};
	struct world *w = *state;

	w->hit.args = args;
	fetch(w, "r vfs_read $arg1 $arg5:u8 $arg7:x32 $arg8 %di a=+0($arg6):ustring");
	assert_int_equal(number(&w->f, 0), 11);
	assert_int_equal(number(&w->f, 1), 15);
	assert_int_equal(number(&w->f, 2), 0x81361dcd);
	assert_int_equal(number(&w->f, 3), 7);
	assert_int_equal(number(&w->f, 4), KERNEL);
	assert_string_equal(string_at(&w->f, 5, 0), "/proc/self/stat");
}

static void test_memory(void **state)
{
	struct world *w = *state;

	fetch(w, "p vfs_read a=+8(%di):x32 b=+0(+8(%di)):string c=+0(%si):ustring "
		 "d=+0(+16(%di)):string e=+0(%si):string f=+u0(%si):x8 g=+8(%di):string[3] "
		 "h=+8(%di):symstr i=@0xffff888000010040:string");
	assert_int_equal(number(&w->f, 0), (uint32_t)(KERNEL + 0x40));
	assert_string_equal(string_at(&w->f, 1, 0), "in the kernel");
	assert_string_equal(string_at(&w->f, 2, 0), "/proc/self/stat");
	assert_string_equal(string_at(&w->f, 3, 0), "/proc/self/stat");
	assert_string_equal(string_at(&w->f, 4, 0), "/proc/self/stat");
	assert_int_equal(number(&w->f, 5), '/');
	assert_string_equal(string_at(&w->f, 6, 0), "in the kernel");
	assert_string_equal(string_at(&w->f, 6, 1), "/proc/self/stat");
	assert_null(string_at(&w->f, 6, 2));
	assert_string_equal(string_at(&w->f, 7, 0), "vfs_read+0x40/0x30");
	assert_string_equal(string_at(&w->f, 8, 0), "in the kernel");
}

/* What cannot be read is zero, or no string; the arguments behind it are there all the same. */
static void test_faults(void **state)
{
	struct world *w = *state;

	fetch(w, "p vfs_read a=+4092(%di):x64 b=+0(+24(%di)):string c=+0(+0(+24(%di))):u32 "
		 "d=+0(+24(%di)):u8[2] e=+4094(%di):string f=%dx:u8");
	assert_int_equal(number(&w->f, 0), 0);
	assert_null(string_at(&w->f, 1, 0));
	assert_int_equal(number(&w->f, 2), 0);
	assert_int_equal(number(&w->f, 3), 0);
	assert_string_equal(string_at(&w->f, 4, 0), "");
	assert_int_equal(number(&w->f, 5), 3);
	memset(w->memory.kernel + 4000, 'x', 96);
	probe_def_free(w->f.def);
	fetch(w, "p vfs_read e=+4094(%di):string");
	assert_null(string_at(&w->f, 0, 0));
}

static void test_full(void **state)
{
	struct world *w = *state;

	fetch_up_to(&w->f, &w->hit, "p vfs_read c=+0(%si):ustring", HEAD + 4 + 16);
	assert_int_equal(w->f.len, HEAD + 4 + 16);
	probe_def_free(w->f.def);
	fetch_up_to(&w->f, &w->hit, "p vfs_read c=+0(%si):ustring", HEAD + 4 + 15);
	assert_int_equal(w->f.len, 0);
	assert_int_equal(w->f.record[HEAD + 4 + 15], 0xaa);
}

/* What there is no function of the probe's for: fields, and what their strings are taken for. */
static uint64_t field(void *arg, uint64_t n)
{
	(void)arg;
	return n ? KERNEL + 8 : 0xfffffffffffffff6;
}

static const struct guestsym_event *find_switch(void *arg, const char *system, const char *event)
{
	(void)arg, (void)system, (void)event;
	return &made_switch;
}

static void test_fields(void **state)
{
	static const char line[] = "e sched.sched_switch a=$prev_comm:s16 b=$prev_pid:string "
				   "c=+2($prev_pid):string d=+0($prev_pid):u16 e=$comm:string";
	const struct probe_attach attach = {.find = find_switch};
	struct memory m = {0};
	const struct fetch_hit hit = {
		.comm = "task", .read = read_memory, .symbol = symbol, .field = field, .arg = &m};
	struct probe_words words;
	struct probe_error err;
	struct fetched f;

	(void)state;
	memcpy(m.kernel + 8, "text", sizeof("text"));
	assert_int_equal(probe_words_split(&words, line), 0);
	assert_int_equal(event_probe_def_parse(&words, &attach, &f.def, &err), 0);
	probe_words_free(&words);
	f.len = fetch_args(f.def->arg, f.def->nr_args, &hit, f.record, HEAD, RECORD_MAX);
	assert_int_equal(number(&f, 0), 0xfff6);
	assert_string_equal(string_at(&f, 1, 0), "text");
	assert_string_equal(string_at(&f, 2, 0), "xt");
	assert_int_equal(number(&f, 3), 'e' << 8 | 't');
	assert_string_equal(string_at(&f, 4, 0), "task");
	probe_def_free(f.def);
}

/* All that a uprobe reads is user mode's, whatever an address there looks like. */
static void test_user(void **state)
{
	static const struct fetch_user user = {
		.cs = 0x33, .ss = 0x2b, .orig_ax = UINT64_MAX, .file = USER - 0x1000};
	struct world *w = *state;
	struct probe_words words;
	struct probe_error err;
	struct fetched *f = &w->f;

	assert_int_equal(probe_words_split(&words, "p /bin/gt:1 $stack0 $stack1 %cs:u16 %ss:u16 "
						   "%orig_ax @+0x1010:string @0x400020:u8 "
						   "+0(%di):u8 +0(%di):string +0(%si):ustring "
						   "+0($stack0) $stack4000 +0(+0(%bp)):string"),
			 0);
	assert_int_equal(uprobe_def_parse(&words, &made_files, &f->def, &err), 0);
	probe_words_free(&words);
	w->regs.rsp = USER + 0x800;
	w->regs.rbp = USER + 0x808;
	memcpy(w->memory.user + 0x800, &(uint64_t){KERNEL}, 8);
	memcpy(w->memory.user + 0x808, &(uint64_t){USER + 0x10}, 8);
	w->memory.user[0x20] = 9;
	w->hit.user = &user;
	f->len = fetch_args(f->def->arg, f->def->nr_args, &w->hit, f->record, HEAD, RECORD_MAX);
	assert_int_equal(number(f, 0), KERNEL);
	assert_int_equal(number(f, 1), USER + 0x10);
	assert_int_equal(number(f, 2), 0x33);
	assert_int_equal(number(f, 3), 0x2b);
	assert_int_equal(number(f, 4), UINT64_MAX);
	assert_string_equal(string_at(f, 5, 0), w->memory.user + 0x10);
	assert_int_equal(number(f, 6), 9);
	assert_int_equal(number(f, 7), 0);
	assert_null(string_at(f, 8, 0));
	assert_string_equal(string_at(f, 9, 0), w->memory.user + 0x10);
	assert_int_equal(number(f, 10), 0);
	assert_int_equal(number(f, 11), 0);
	assert_string_equal(string_at(f, 12, 0), w->memory.user + 0x10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_captured, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_arguments_at_a_return, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_user, set_up, tear_down),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
