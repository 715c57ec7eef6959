// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-entries.c - the forms of entries that no capture shows as text, symbols of modules,
 * and the tables of options. Expected texts follow kernel/trace/trace_output.c and
 * lib/vsprintf.c, 6.1.
 */
#include "tests/unit/output-world.h"

#include <inttypes.h>

static void world_print(struct world *w, struct output_config *cfg, const void *entry, size_t len,
			const char *want)
{
	struct ring_event ev = {.ts = 2000, .data = entry, .len = len};
	struct text text = {0};
	struct output o;

	(void)w;
	output_init(&o, cfg, &text);
	output_event(&o, 1, &ev, ev.ts);
	text_putc(&text, '\0');
	assert_text_equal(text.buf, want);
	output_exit(&o);
	text_free(&text);
}

static void world_print_as(struct world *w, uint32_t options, const void *entry, size_t len,
			   const char *want)
{
	struct output_config cfg = world_config(w, options, "nop");

	world_print(w, &cfg, entry, len, want);
}

#define NOTHING (OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO)

/* --- binary and hexadecimal --------------------------------------------------------------- */

/* The beginning of what options/bin gave: a header and two function entries. */
static void test_bin(void **state)
{
	static const struct {
		uint64_t ts, ip, parent_ip;
	} events[] = {
		{UINT64_C(0x32872db61), UINT64_C(0xffffffff813548d0), UINT64_C(0xffffffff81354c7f)},
		{UINT64_C(0x328737e62), UINT64_C(0xffffffff81354500), UINT64_C(0xffffffff81354921)},
	};
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT | OUTPUT_BIN, "function");
	struct text text = {0};
	struct output o;
	size_t len;
	char *want = data_file("bin.bin", &len);

	(void)state;
	output_init(&o, &cfg, &text);
	output_header(&o, 20, 20, false);
	for (size_t i = 0; i < 2; i++) {
		struct trace_function_entry e = {.ent = {.type = TRACE_FN, .pid = 0xc4},
						 .ip = events[i].ip,
						 .parent_ip = events[i].parent_ip};
		struct ring_event ev = {.ts = events[i].ts, .data = &e, .len = sizeof(e)};

		output_event(&o, 1, &ev, ev.ts);
	}
	assert_int_equal(text.len, len);
	assert_memory_equal(text.buf, want, len);
	free(want);
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

static void test_switch(void **state)
{
	const struct trace_switch_entry ctx = {
		.ent = {.type = TRACE_CTX, .pid = 7},
		.prev_pid = 7,
		.next_pid = 9,
		.next_cpu = 1,
		.prev_prio = 120,
		.prev_state = 1,
		.next_prio = 19,
		.next_state = 200, /* no such state */
	};
	struct trace_switch_entry wake = ctx;
	struct world *w = world_new();

	(void)state;
	wake.ent.type = TRACE_WAKE;
	wake.next_state = 0;
	world_note(w, 9, 9, "next");
	world_print_as(w, NOTHING, &ctx, sizeof(ctx),
		       "       7:120:S ==> [001]       9: 19:? next\n");
	world_print_as(w, NOTHING, &wake, sizeof(wake),
		       "       7:120:S   + [001]       9: 19:R next\n");
	world_print_as(w, OUTPUT_RAW, &ctx, sizeof(ctx), "7 120 S 1 9 19 ?\n");
	world_print_as(w, OUTPUT_RAW, &wake, sizeof(wake), "7 120 + 1 9 19 R\n");
	world_print_as(w, OUTPUT_HEX, &ctx, sizeof(ctx),
		       "00000007 78 53 00000001 00000009 13 0000003f \n");
	world_print_as(w, OUTPUT_HEX, &wake, sizeof(wake),
		       "00000007 78 2b 00000001 00000009 13 00000052 \n");
	world_free(w);
}

/* A form that a type does not have, and types that are not known. */
static void test_other_forms(void **state)
{
	const struct trace_stack_entry stack = {.ent = {.type = TRACE_STACK}};
	const struct trace_entry unknown = {.type = 314};
	struct world *w = world_new();

	(void)state;
	world_print_as(w, OUTPUT_RAW, &stack, sizeof(stack), "type: 4\n");
	world_print_as(w, OUTPUT_HEX, &stack, sizeof(stack), "type: 4\n\n");
	world_print_as(w, OUTPUT_BIN, &stack, sizeof(stack), "type: 4\n");
	world_print_as(w, NOTHING, &stack, sizeof(stack), "<stack trace>\n");
	world_print_as(w, OUTPUT_BIN, &unknown, sizeof(unknown), "");
	/* The first of them that is set decides. */
	world_print_as(w, OUTPUT_RAW | OUTPUT_HEX, &unknown, sizeof(unknown), "\n");
	world_print_as(w, OUTPUT_RAW | OUTPUT_HEX | OUTPUT_BIN, &stack, sizeof(stack), "type: 4\n");
	world_free(w);
}

static void test_stack_end(void **state)
{
	struct {
		struct trace_stack_entry e;
		uint64_t caller[3];
	} TRACE_ENTRY_LAYOUT stack = {
		.e.ent.type = TRACE_STACK,
		.caller = {0x1000, UINT64_MAX, 0x2000},
	};
	struct world *w = world_new();

	(void)state;
	world_print_as(w, NOTHING, &stack, sizeof(stack), "<stack trace>\n => 0x00001000\n");
	stack.caller[1] = 0;
	/* The last one is not there in full. */
	world_print_as(w, NOTHING, &stack, sizeof(stack) - 4,
		       "<stack trace>\n => 0x00001000\n => 0\n");
	world_free(w);
}

/* --- symbols ------------------------------------------------------------------------------ */

static void test_symbols(void **state)
{
	struct trace_function_entry e = {
		.ent.type = TRACE_FN, .ip = UINT64_C(0xffffffffc0001010), .parent_ip = 0x4000};
	struct world *w = world_new();
	struct output_config cfg;
	uint32_t offset = NOTHING | OUTPUT_SYM_OFFSET;

	(void)state;
	world_add(w, UINT64_C(0xffffffffc0001000), 0x20, "ext4_sync");
	snprintf(w->sym[0].module, sizeof(w->sym[0].module), "ext4");
	world_print_as(w, NOTHING, &e, sizeof(e), "ext4_sync <-0x00004000\n");
	world_print_as(w, offset, &e, sizeof(e), "ext4_sync+0x10/0x20 [ext4] <-0x4000\n");
	world_print_as(w, offset | OUTPUT_SYM_ADDR, &e, sizeof(e),
		       "ext4_sync+0x10/0x20 [ext4] <ffffffffc0001010> <-0x4000 "
		       "<0000000000004000>\n");
	cfg = world_config(w, offset, "function");
	cfg.kretprobe = 0x4000;
	world_print(w, &cfg, &e, sizeof(e), "ext4_sync+0x10/0x20 [ext4] <-[unknown/kretprobe'd]\n");
	world_free(w);
}

/* More symbols than are remembered, long names, and each again. */
static void test_many_symbols(void **state)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, NOTHING, "function");
	struct text text = {0};
	struct output o;
	char want[80];

	(void)state;
	world_add(w, 0x10, 1, "a_name_that_is_longer_than_what_is_remembered_of_one_sym");
	output_init(&o, &cfg, &text);
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 1; i < 40000; i++) {
			struct trace_function_entry e = {.ent.type = TRACE_FN, .ip = i};
			struct ring_event ev = {.data = &e, .len = sizeof(e)};

			text.len = 0;
			output_event(&o, 0, &ev, 0);
			text_putc(&text, '\0');
			snprintf(want, sizeof(want), "0x%08" PRIx64 "\n", i);
			if (i == 0x10)
				snprintf(want, sizeof(want), "%s\n", w->sym[0].name);
			assert_string_equal(text.buf, want);
		}
	}
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

/* --- text that was put into the trace ----------------------------------------------------- */

static const char *world_string(void *arg, uint64_t addr)
{
	(void)arg;
	switch (addr) {
	case 1:
		return "hello\n";
	case 2:
		return "n=%d %5u|%-4x|%s %c%% %lld %hhd\n";
	case 3:
		return "%ps %pS %p %pM|%6s|%-6.2s|%*d\n";
	case 4:
		return "%d %s %lx %";
	default:
		return NULL;
	}
}

static void test_bputs(void **state)
{
	struct trace_bputs_entry e = {.ent.type = TRACE_BPUTS, .ip = 0x5000, .str = 1};
	struct world *w = world_new();
	struct output_config cfg = world_config(w, NOTHING, "nop");

	(void)state;
	cfg.string = world_string;
	world_add(w, 0x5000, 16, "here");
	world_print(w, &cfg, &e, sizeof(e), "here: hello\n");
	cfg.options |= OUTPUT_RAW;
	world_print(w, &cfg, &e, sizeof(e), ": 5000 : hello\n");
	cfg.options |= OUTPUT_PRINTK_MSG_ONLY;
	world_print(w, &cfg, &e, sizeof(e), "hello\n");
	cfg.options &= ~(uint32_t)OUTPUT_PRINTK; /* then it is not asked for */
	world_print(w, &cfg, &e, sizeof(e), ": 5000 : hello\n");
	cfg.options = NOTHING;
	e.str = 99;
	world_print(w, &cfg, &e, sizeof(e), "here: (0x0000000000000063)\n");
	cfg.string = NULL;
	world_print(w, &cfg, &e, sizeof(e), "here: (0x0000000000000063)\n");
	world_free(w);
}

struct packed {
	uint8_t bytes[256];
	size_t len;
};

static void pack(struct packed *p, const void *value, size_t size, size_t align)
{
	while (p->len % align)
		p->len++;
	memcpy(p->bytes + p->len, value, size);
	p->len += size;
}

static struct packed pack_bprint(uint64_t fmt)
{
	struct trace_bprint_entry e = {.ent.type = TRACE_BPRINT, .ip = 0x5000, .fmt = fmt};
	struct packed p = {.len = 0};

	pack(&p, &e, sizeof(e), 1);
	return p;
}

static void test_bprint(void **state)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, NOTHING, "nop");
	struct packed p = pack_bprint(2);

	(void)state;
	cfg.string = world_string;
	world_add(w, 0x5000, 16, "here");
	snprintf(w->sym[0].module, sizeof(w->sym[0].module), "mod");

	pack(&p, &(int){-5}, 4, 4);
	pack(&p, &(unsigned int){42}, 4, 4);
	pack(&p, &(unsigned int){0xab}, 4, 4);
	pack(&p, "text", 5, 1);
	pack(&p, "c", 1, 1);
	pack(&p, &(int64_t){-6000000000}, 8, 4);
	pack(&p, &(int8_t){-1}, 1, 1);
	world_print(w, &cfg, p.bytes, p.len, "here: n=-5    42|ab  |text c% -6000000000 -1\n");

	p = pack_bprint(3);
	pack(&p, &(uint64_t){0x5004}, 8, 4);
	pack(&p, &(uint64_t){0x5004}, 8, 4);
	pack(&p, &(uint64_t){UINT64_C(0xffff888000001000)}, 8, 4);
	pack(&p, "00:11", 6, 1);
	pack(&p, "abc", 4, 1);
	pack(&p, "abc", 4, 1);
	pack(&p, &(int){4}, 4, 4);
	pack(&p, &(int){7}, 4, 4);
	world_print(w, &cfg, p.bytes, p.len,
		    "here: here [mod] here+0x4/0x10 [mod] ffff888000001000 00:11|   abc|ab    |   "
		    "7\n");

	/* Arguments that are not there. */
	p = pack_bprint(4);
	pack(&p, &(int){3}, 4, 4);
	pack(&p, "cut", 3, 1);
	world_print(w, &cfg, p.bytes, p.len, "here: 3 cut 0 ");
	world_free(w);
}

static void test_print_unterminated(void **state)
{
	struct {
		struct trace_print_entry e;
		char text[8];
	} TRACE_ENTRY_LAYOUT print = {.e = {.ent.type = TRACE_PRINT}, .text = "12345678"};
	struct world *w = world_new();

	(void)state;
	world_print_as(w, NOTHING, &print, sizeof(print), "0: 12345678");
	world_print_as(w, OUTPUT_RAW, &print, sizeof(print), "# 0 12345678");
	world_print_as(w, OUTPUT_HEX, &print, sizeof(print), "type: 5\n\n");
	world_free(w);
}

/* --- options ------------------------------------------------------------------------------ */

static void add_options(struct text *t, const struct output_options *options)
{
	for (size_t i = 0; i < options->nr; i++)
		text_printf(t, "%s%s\n", options->defaults & options->row[i].flag ? "" : "no",
			    options->row[i].name);
}

/* trace_options as it reads after boot. */
static void test_options(void **state)
{
	char *want = data_file("trace_options", NULL);
	struct text text = {0};

	(void)state;
	add_options(&text, &output_trace_options);
	add_options(&text, output_tracer_options("nop"));
	text_putc(&text, '\0');
	assert_text_equal(text.buf, want);
	text.len = 0;
	add_options(&text, output_tracer_options("function"));
	text_putc(&text, '\0');
	assert_text_equal(text.buf, "nofunc_stack_trace\nnofunc-no-repeats\n");
	text.len = 0;
	add_options(&text, output_tracer_options("function_graph"));
	text_putc(&text, '\0');
	/* graph-time: as of kernels with the function profiler */
	assert_text_equal(text.buf, "nofuncgraph-overrun\nfuncgraph-cpu\nfuncgraph-overhead\n"
				    "nofuncgraph-proc\nfuncgraph-duration\nnofuncgraph-abstime\n"
				    "funcgraph-irqs\nnofuncgraph-tail\nsleep-time\ngraph-time\n");
	assert_int_equal(output_tracer_options("no such tracer")->nr, 0);

	for (size_t i = 0; i < output_trace_options.nr; i++)
		assert_int_equal(output_trace_options.row[i].flag, 1u << i);
	text_free(&text);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bin),	    cmocka_unit_test(test_switch),
		cmocka_unit_test(test_other_forms), cmocka_unit_test(test_stack_end),
		cmocka_unit_test(test_symbols),	    cmocka_unit_test(test_many_symbols),
		cmocka_unit_test(test_bputs),	    cmocka_unit_test(test_bprint),
		cmocka_unit_test(test_options),	    cmocka_unit_test(test_print_unterminated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
