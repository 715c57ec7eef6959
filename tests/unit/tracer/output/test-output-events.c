// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-events.c - what Linux 6.1 printed of 199 kinds of events, from its own raw pages:
 * each byte of it.
 */
#include "tests/unit/event-formats.h"
#include "tests/unit/output-world.h"

#include <inttypes.h>

#include "tracer/ring/page.h"
#include "tracer/output/output.h"

enum { NAMES_MAX = 256 };

/* What the events needed of the kernel. */
struct kernel {
	struct world *w;
	struct {
		uint64_t value;
		char text[64];
		bool is_string;
	} name[NAMES_MAX];
	size_t nr;
};

static void add_symbol(struct kernel *k, const char *line)
{
	uint64_t addr, size;
	char name[64], module[32];

	assert_int_equal(sscanf(line, "symbol %" SCNx64 " %" SCNx64 " %63s %31s", &addr, &size,
				name, module),
			 4);
	world_add(k->w, addr, size, name);
	if (strcmp(module, "-") != 0)
		strcpy(k->w->sym[k->w->nr - 1].module, module);
}

static void add_name(struct kernel *k, const char *line)
{
	if (!strncmp(line, "symbol", 6)) {
		add_symbol(k, line);
		return;
	}
	assert_true(k->nr < NAMES_MAX);
	k->name[k->nr].is_string = line[0] == 's';
	assert_int_equal(sscanf(line, "%*s %" SCNx64 " %63[^\n]", &k->name[k->nr].value,
				k->name[k->nr].text),
			 2);
	k->nr++;
}

static struct kernel *kernel_new(void)
{
	struct kernel *k = calloc(1, sizeof(*k));
	char *names = formats_text("all-events.names.txt.gz", NULL), comm[17];
	char *tasks = data_file("all-events.saved_cmdlines.txt", NULL);
	int pid;

	assert_non_null(k);
	k->w = world_new();
	for (const char *line = names; *line; line = next_line(line))
		add_name(k, line);
	for (const char *line = tasks; *line; line = next_line(line)) {
		assert_int_equal(sscanf(line, "%d %16[^\n]", &pid, comm), 2);
		world_note(k->w, pid, pid, comm);
	}
	free(tasks);
	free(names);
	return k;
}

static void kernel_free(struct kernel *k)
{
	world_free(k->w);
	free(k);
}

static bool find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	return world_symbol(((struct kernel *)arg)->w, addr, sym);
}

static const char *read_string(void *arg, uint64_t addr)
{
	const struct kernel *k = arg;

	for (size_t i = 0; i < k->nr; i++) {
		if (k->name[i].is_string && k->name[i].value == addr)
			return k->name[i].text;
	}
	return NULL;
}

static bool find_constant(void *arg, const char *name, uint64_t *value)
{
	const struct kernel *k = arg;

	for (size_t i = 0; i < k->nr; i++) {
		if (k->name[i].is_string || strcmp(k->name[i].text, name) != 0)
			continue;
		*value = k->name[i].value;
		return true;
	}
	return false;
}

/* The only one that these events print. */
static uint64_t find_variable(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "vmemmap_base") ? 0 : 1;
}

static bool read_variable(void *arg, uint64_t addr, uint64_t *value)
{
	(void)arg;
	*value = UINT64_C(0xffe467e140000000);
	return addr;
}

static uint32_t type_size(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "struct page") ? 0 : 64;
}

/* Their format files do not say so. */
static void know_probes(struct formats *formats)
{
	for (size_t i = 0; i < formats->list.n; i++) {
		struct guestsym_event *ev = &formats->event[i];

		if (!strcmp(ev->name, "myopen") || !strcmp(ev->name, "myret"))
			ev->flags = GUESTSYM_EVENT_FL_KPROBE;
	}
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

static void test_capture(void **state)
{
	struct kernel *k = kernel_new();
	struct formats *formats = formats_load("all-events.formats.txt.gz");
	const struct expr_names names = {.arg = k,
					 .constant = find_constant,
					 .variable = find_variable,
					 .read = read_variable,
					 .type_size = type_size,
					 .hz = 250};
	struct output_config cfg = world_config(k->w, OUTPUT_DEFAULT, "nop");
	struct text got = {0};
	struct output o;
	char *pages, *want = formats_text("all-events.txt.gz", NULL);
	size_t len;

	(void)state;
	pages = formats_text("all-events.bin.gz", &len);
	know_probes(formats);
	assert_int_equal(formats->list.n, 199);
	cfg.events = formats_printer(formats, &names);
	cfg.symbol = find_symbol;
	cfg.string = read_string;
	cfg.arg = k;
	output_init(&o, &cfg, &got);
	print_pages(&o, pages, len);
	text_putc(&got, '\0');
	assert_text_equal(got.buf, want);
	output_exit(&o);
	text_free(&got);
	event_printer_free(cfg.events);
	formats_free(formats);
	kernel_free(k);
	free(pages);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_capture)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
