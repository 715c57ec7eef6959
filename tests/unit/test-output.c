// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output.c - text output against what Linux 6.1 printed from its own raw pages, and what no
 * capture shows. See also test-output-again.c.
 */
#include "tests/unit/output-world.h"

#include <inttypes.h>

#include "tracer/ring-page.h"

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

/*
 * Append what the event prints to want: the kernel's line, or for events of other types, which
 * have no printer here, its columns only. Returns what is behind in the kernel's text.
 */
static const char *want_line(struct text *want, const char *line, const char *got, size_t len)
{
	const char *unknown = memmem(got, len, "Unknown type", 12), *next = next_line(line);
	size_t columns;

	if (!unknown)
		unknown = memmem(got, len, " ?\n", 3); /* raw: its number and a question mark */
	if (!unknown) {
		while (!strncmp(next, " => ", 4))
			next = next_line(next);
		text_add(want, line, (size_t)(next - line));
		return next;
	}
	columns = (size_t)(unknown - got);
	while (columns && got[columns - 1] != ' ')
		columns--;
	text_add(want, line, columns);
	text_add(want, got + columns, len - columns);
	return next;
}

static void check_text_of(const char *name, const char *text_name, const char *tracer,
			  uint32_t options, uint64_t entries)
{
	struct world *w = world_of_capture(name);
	struct output_config cfg = world_config(w, options, tracer);
	struct text got = {0}, want = {0};
	struct output o;
	struct ring_walk walk;
	struct ring_event ev;
	char *page = data_file_of(name, "bin"), *text = data_file_of(name, text_name);
	const char *line = text;
	uint64_t lost;

	output_init(&o, &cfg, &got);
	output_header(&o, entries, entries, !entries);
	if (*line != '#') /* cut off */
		got.len = 0;
	for (; *line == '#'; line = next_line(line))
		text_add(&want, line, (size_t)(next_line(line) - line));
	assert_int_equal(ring_walk_page(&walk, page, &lost), 0);
	while (ring_walk_next(&walk, &ev) > 0) {
		size_t before = got.len;

		output_event(&o, 0, &ev, ev.ts);
		line = want_line(&want, line, got.buf + before, got.len - before);
	}
	text_putc(&got, '\0');
	text_putc(&want, '\0');
	assert_false(got.failed);
	assert_text_equal(got.buf, want.buf);
	free(text);
	free(page);
	output_exit(&o);
	text_free(&got);
	text_free(&want);
	world_free(w);
}

static void test_from_pages(void **state)
{
	(void)state;
	check_text_of("function-events", "txt", "function", OUTPUT_DEFAULT, 125);
	check_text_of("function-events", "raw-option.txt", "function", OUTPUT_DEFAULT | OUTPUT_RAW,
		      125);
	check_text_of("splice-function-events", "txt", "function", OUTPUT_DEFAULT, 185);
	check_text_of("stacktrace-option", "txt", "nop", OUTPUT_DEFAULT, 52);
	check_text_of("stacktrace-option", "raw-option.txt", "nop", OUTPUT_DEFAULT | OUTPUT_RAW,
		      52);
	check_text_of("time-extend-and-marker", "txt", "nop", OUTPUT_DEFAULT, 36);
	check_text_of("time-extend-and-marker", "raw-option.txt", "nop",
		      OUTPUT_DEFAULT | OUTPUT_RAW, 36);
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
