// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output.c - text output against what Linux 6.1 printed from its own raw pages, and what no
 * capture shows. See also test-output-again.c.
 */
#include "tests/unit/event-formats.h"
#include "tests/unit/output-world.h"

#include <inttypes.h>

#include "tracer/ring/page.h"

/* --- from raw pages ----------------------------------------------------------------------- */

static char *data_file_of(const char *name, const char *suffix)
{
	char file[128];

	snprintf(file, sizeof(file), "%s.%s", name, suffix);
	return data_file(file, NULL);
}

static struct world *world_of_capture(const char *name)
{
	struct world *w = world_new();
	uint64_t addr, size;
	char sym[64], comm[32];
	char *tasks = data_file_of(name, "saved_cmdlines.txt"), *symbols;
	int pid;

	for (const char *p = tasks; *p; p = next_line(p)) {
		assert_int_equal(sscanf(p, "%d %31s", &pid, comm), 2);
		world_note(w, pid, pid, comm);
	}
	symbols = data_file("symbols.txt", NULL);
	for (const char *p = symbols; *p; p = next_line(p)) {
		assert_int_equal(sscanf(p, "%" SCNx64 " %" SCNx64 " %63s", &addr, &size, sym), 3);
		world_add(w, addr, size, sym);
	}
	free(symbols);
	free(tasks);
	return w;
}

/* What of a trace the captures begin with is cut off in some: then there is no header. */
static void print_header(struct output *o, const char *text)
{
	uint64_t entries, written;
	const char *at = strstr(text, "written: ");

	if (*text != '#' || !at)
		return;
	assert_int_equal(sscanf(at, "written: %" SCNu64 "/%" SCNu64, &entries, &written), 2);
	output_header(o, entries, written, !entries);
}

static void print_pages(struct output *o, const char *pages, size_t len)
{
	for (size_t at = 0; at < len; at += RING_PAGE_SIZE) {
		struct ring_walk walk;
		struct ring_event ev;
		uint64_t lost;

		assert_int_equal(ring_walk_page(&walk, pages + at, &lost), 0);
		while (ring_walk_next(&walk, &ev) > 0)
			output_event(o, 0, &ev, ev.ts);
	}
}

static void check_text_of(struct event_printer *events, const char *name, const char *text_name,
			  const char *tracer, uint32_t options)
{
	struct world *w = world_of_capture(name);
	struct output_config cfg = world_config(w, options, tracer);
	struct text got = {0};
	struct output o;
	size_t len, text_len;
	char file[128], *pages, *text = data_file_of(name, text_name);

	snprintf(file, sizeof(file), "%s.bin", name);
	pages = data_file(file, &len);
	cfg.events = events;
	output_init(&o, &cfg, &got);
	print_header(&o, text);
	print_pages(&o, pages, len);
	text_putc(&got, '\0');
	assert_false(got.failed);
	text_len = strlen(text);
	if (text_len >= got.len) /* of some, not all pages were kept */
		text[got.len - 1] = '\0';
	assert_text_equal(got.buf, text);
	free(text);
	free(pages);
	output_exit(&o);
	text_free(&got);
	world_free(w);
}

/* A capture, as trace and with the raw option. */
static void check_capture(struct event_printer *events, const char *name, const char *tracer)
{
	check_text_of(events, name, "txt", tracer, OUTPUT_DEFAULT);
	check_text_of(events, name, "raw-option.txt", tracer, OUTPUT_DEFAULT | OUTPUT_RAW);
}

static void test_from_pages(void **state)
{
	struct formats *formats = formats_load("formats-used.txt");
	struct event_printer *events = formats_printer(formats, &(struct expr_names){0});

	(void)state;
	check_capture(events, "function-events", "function");
	check_text_of(events, "splice-function-events", "txt", "function", OUTPUT_DEFAULT);
	check_capture(events, "stacktrace-option", "nop");
	check_capture(events, "time-extend-and-marker", "nop");
	check_capture(events, "sched-events", "nop");
	check_capture(events, "syscalls-events", "nop");
	check_capture(events, "mono-clock-sched", "nop");
	check_capture(events, "absolute-timestamps", "nop");
	check_capture(events, "overflow-lost-events", "nop");
	event_printer_free(events);
	formats_free(formats);
}

/* --- what no capture shows ---------------------------------------------------------------- */

static void print_one(struct output *o, unsigned int cpu, uint64_t lost)
{
	struct trace_function_entry e = {.ent = {.type = TRACE_FN}, .ip = 0, .parent_ip = 1};
	struct ring_event ev = {.ts = 1500, .data = &e, .len = sizeof(e), .lost = lost};

	output_event(o, cpu, &ev, ev.ts);
}

#define COLUMNS(cpu) "          <idle>-0       [00" #cpu "] .....     0.000002: "

static void check_text(struct text *text, const char *want)
{
	text_putc(text, '\0');
	assert_text_equal(text->buf, want);
	text->len = 0;
}

static void test_lost_and_started(void **state)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "function");
	struct text text = {0};
	struct output o;

	(void)state;
	output_init(&o, &cfg, &text);
	output_header(&o, 5, 6, false);
	text.len = 0;
	print_one(&o, 0, 0);
	print_one(&o, 1, 0);
	print_one(&o, 2, 3);
	print_one(&o, 2, 0);
	print_one(&o, 0, RING_LOST_UNKNOWN);
	check_text(
		&text,
		COLUMNS(0) "0 <-0x00000001\n" COLUMNS(
			1) "0 <-0x00000001\n"
			   "CPU:2 [LOST 3 EVENTS]\n"
			   "##### CPU 2 buffer started ####\n" COLUMNS(
				   2) "0 <-0x00000001\n" COLUMNS(2) "0 <-0x00000001\n"
								    "CPU:0 [LOST EVENTS]\n" COLUMNS(
									    0) "0 <-0x00000001\n");
	output_exit(&o);
	/* As trace_pipe: nothing about buffers. */
	output_init(&o, &cfg, &text);
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		print_one(&o, cpu, 0);
	check_text(&text, COLUMNS(0) "0 <-0x00000001\n" COLUMNS(1) "0 <-0x00000001\n" COLUMNS(
				  2) "0 <-0x00000001\n");
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

static void test_bad_entries(void **state)
{
	static const struct {
		uint32_t options;
		const char *want;
	} forms[] = {
		{OUTPUT_DEFAULT,
		 "          <idle>-0       [000] .....     0.000000: Unknown type 1\n"},
		{OUTPUT_DEFAULT | OUTPUT_RAW, "0 0 0 1 ?\n"},
		{OUTPUT_DEFAULT | OUTPUT_HEX, "00000000 00000000 0000000000000000 \n"},
	};
	struct trace_entry e = {.type = TRACE_FN};
	struct ring_event shorter = {.data = &e, .len = sizeof(e)},
			  shortest = {.data = &e, .len = 4};
	struct world *w = world_new();
	struct text text = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct output_config cfg = world_config(w, forms[i].options, "function");
		struct output o;

		output_init(&o, &cfg, &text);
		output_event(&o, 0, &shorter, 0);
		check_text(&text, forms[i].want);
		output_event(&o, 0, &shortest, 0);
		check_text(&text, "[ENTRY TOO SHORT]\n");
		output_exit(&o);
	}
	text_free(&text);
	world_free(w);
}

/* Every combination of context bits (trace_print_lat_fmt). */
static void test_flags(void **state)
{
	static const struct {
		uint8_t flags, count;
		const char *want;
	} cases[] = {
		{0, 0, "....."},
		{TRACE_FLAG_IRQS_OFF | TRACE_FLAG_BH_OFF, 0xf1, "D..1f"},
		{TRACE_FLAG_BH_OFF | TRACE_FLAG_NEED_RESCHED, 0x1a, "bn.a1"},
		{TRACE_FLAG_PREEMPT_RESCHED | TRACE_FLAG_NMI, 0x20, ".pz.2"},
		{TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED | TRACE_FLAG_HARDIRQ, 3,
		 ".Nh3."},
		{TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ, 0, "d.H.."},
		{TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI, 0, "..Z.."},
		{TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI, 0, "..z.."},
	};
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "function");
	struct text text = {0};
	struct output o;

	(void)state;
	output_init(&o, &cfg, &text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_function_entry e = {
			.ent = {.type = TRACE_FN,
				.flags = cases[i].flags,
				.preempt_count = cases[i].count},
		};
		struct ring_event ev = {.data = &e, .len = sizeof(e)};
		char want[128];

		snprintf(want, sizeof(want), "          <idle>-0       [000] %s     0.000000: 0\n",
			 cases[i].want);
		output_event(&o, 0, &ev, 0);
		check_text(&text, want);
	}
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_pages),
		cmocka_unit_test(test_lost_and_started),
		cmocka_unit_test(test_bad_entries),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
