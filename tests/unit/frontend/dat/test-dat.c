// SPDX-License-Identifier: GPL-2.0-or-later
/* test-dat.c - what a trace.dat file has is read, whichever version and compression it is of. */
#include "tests/unit/made-dat.h"

enum { NR_PAGES = 5 };

static uint8_t pages[3][NR_PAGES * RING_PAGE_SIZE];

static const struct made_vcpu top_vcpus[] = {
	{0, pages[0], sizeof(pages[0])},
	{1, pages[1], 0},
	{2, pages[1], 3 * RING_PAGE_SIZE},
};
static const struct made_vcpu one_vcpus[] = {
	{0, pages[2], RING_PAGE_SIZE},
	{1, pages[2], 2 * RING_PAGE_SIZE},
	{2, pages[2], 0},
};
static const struct made_buffer buffers[] = {
	{"", "global", top_vcpus, 3},
	{"one", "global", one_vcpus, 3},
	{NULL, NULL, NULL, 0},
};
static const struct dat_format formats[] = {
	{"ftrace", {"name: function\nID: 1\n", 0}},
	{"irq", {"name: softirq_entry\nID: 2\n", 0}},
	{"irq", {"name: softirq_exit\nID: 3\n", 0}},
	{"sched", {"name: sched_switch\nID: 4\n", 0}},
	{NULL, {NULL, 0}},
};

static const uint64_t trace_id = 0x1122334455667788;
static const uint32_t tsc2nsec[] = {0x80000000, 32, 17, 0};
static const struct made_option options[] = {
	{DAT_OPTION_DATE, "0x10", 5},
	{DAT_OPTION_CPUSTAT, "CPU: 0\n", 8},
	{DAT_OPTION_CPUSTAT, "CPU: 1\n", 8},
	{DAT_OPTION_UNAME, "Linux made", 11},
	{DAT_OPTION_OFFSET, "-5", 3},
	{DAT_OPTION_VERSION, "the writer", 11},
	{DAT_OPTION_TRACEID, &trace_id, sizeof(trace_id)},
	{DAT_OPTION_TSC2NSEC, tsc2nsec, sizeof(tsc2nsec)},
	{0, NULL, 0},
};

static const struct made_dat_spec specs[] = {
	{.version = 6},
	{.version = 7},
	{.version = 7, .compression = "zlib"},
	{.version = 7, .compression = "zstd"},
};

#define NR_SPECS (sizeof(specs) / sizeof(*specs))

/* Bytes that tell the vCPU and the page. */
static int fill_pages(void **state)
{
	(void)state;
	for (size_t v = 0; v < 3; v++)
		for (size_t i = 0; i < sizeof(pages[v]); i++)
			pages[v][i] = (uint8_t)(v * 64 + i / RING_PAGE_SIZE + (i & 7) * 13);
	return 0;
}

static struct made_dat_spec spec(size_t i)
{
	struct made_dat_spec s = specs[i];

	s.cpus = 3;
	s.kallsyms = "ffffffff81000000 T _stext\n";
	s.printk_formats = "0xffffffff82000000 : \"%s\"\n";
	s.cmdlines = "1 init\n2 kthreadd\n";
	s.formats = formats;
	s.options = options;
	s.buffers = buffers;
	return s;
}

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat_spec s = spec(i);
		struct dat *d = made_open(&s);
		const struct dat_info *info = dat_info(d);

		assert_int_equal(info->version, s.version);
		assert_string_equal(info->compression, s.compression ? s.compression : "none");
		assert_int_equal(info->page_size, 4096);
		assert_string_equal(info->header_page.text, made_header_page);
		assert_int_equal(info->header_page.len, strlen(made_header_page));
		assert_non_null(strstr(info->header_event.text, "compressed entry"));
		assert_string_equal(info->kallsyms.text, s.kallsyms);
		assert_string_equal(info->printk_formats.text, s.printk_formats);
		assert_string_equal(info->cmdlines.text, s.cmdlines);
		assert_int_equal(info->nr_formats, 4);
		for (size_t f = 0; f < 4; f++) {
			assert_string_equal(info->formats[f].system, formats[f].system);
			assert_string_equal(info->formats[f].text.text, formats[f].text.text);
		}
		dat_close(d);
	}
}

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat_spec s = spec(i);
		struct dat *d = made_open(&s);
		const struct dat_info *info = dat_info(d);
		struct dat_text o;

		assert_true(info->has_trace_id);
		assert_int_equal(info->trace_id, trace_id);
		assert_string_equal(info->clock, "global");
		assert_string_equal(info->uname, "Linux made");
		assert_string_equal(info->program, "the writer");
		assert_int_equal(info->ts_offset, 16 * 1000 - 5);
		assert_int_equal(info->tsc2nsec.shift, 32);
		assert_int_equal(info->tsc2nsec.offset, 17);
		assert_int_equal(dat_time(info, 0, 1000), 500 + 16 * 1000 - 5);
		assert_true(dat_counts_ns(info));
		assert_true(dat_option(d, DAT_OPTION_CPUSTAT, 1, &o));
		assert_string_equal(o.text, "CPU: 1\n");
		assert_false(dat_option(d, DAT_OPTION_CPUSTAT, 2, &o));
		dat_close(d);
	}
}

/* All pages of a vCPU are those that were written. */
static void check_pages(struct dat *d, const struct dat_buffer *b, const struct dat_vcpu *v,
			const struct made_vcpu *made)
{
	struct dat_pages *p = dat_pages_open(d, b, v);
	const void *page;
	size_t size, at = 0;
	int rc;

	assert_non_null(p);
	while ((rc = dat_pages_next(p, &page, &size)) == 1) {
		assert_int_equal(size, RING_PAGE_SIZE);
		assert_true(at + size <= made->len);
		assert_memory_equal(page, (const uint8_t *)made->pages + at, size);
		at += size;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(at, made->len);
	assert_int_equal(dat_pages_next(p, &page, &size), 0);
	dat_pages_close(p);
}

static void check_buffers(struct dat *d)
{
	assert_int_equal(dat_nr_buffers(d), 2);
	for (size_t b = 0; b < 2; b++) {
		const struct dat_buffer *buffer = dat_buffer(d, b);

		assert_string_equal(buffer->name, buffers[b].name);
		assert_int_equal(buffer->nr_vcpus, 3);
		assert_int_equal(buffer->cpus, 3);
		for (unsigned int v = 0; v < 3; v++) {
			assert_int_equal(buffer->vcpus[v].cpu, v);
			assert_int_equal(buffer->vcpus[v].size, buffers[b].vcpus[v].len);
			check_pages(d, buffer, &buffer->vcpus[v], &buffers[b].vcpus[v]);
		}
	}
}

static void test_pages(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat_spec s = spec(i);

		for (s.chunk = RING_PAGE_SIZE; s.chunk <= 8 * RING_PAGE_SIZE; s.chunk *= 2) {
			struct dat *d = made_open(&s);

			check_buffers(d);
			dat_close(d);
		}
	}
}

/* More than is read at once. */
static void test_many_pages(void **state)
{
	size_t len = 150 * RING_PAGE_SIZE;
	uint8_t *many = malloc(len);
	const struct made_vcpu vcpu = {0, many, len};
	const struct made_buffer one[] = {{"", "local", &vcpu, 1}, {NULL, NULL, NULL, 0}};

	(void)state;
	assert_non_null(many);
	for (size_t i = 0; i < len; i++)
		many[i] = (uint8_t)(i * 2654435761U >> 13);
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat_spec s = spec(i);
		struct dat *d;

		s.cpus = 1;
		s.chunk = 10 * RING_PAGE_SIZE;
		s.buffers = one;
		d = made_open(&s);
		check_pages(d, dat_buffer(d, 0), &dat_buffer(d, 0)->vcpus[0], &vcpu);
		dat_close(d);
	}
	free(many);
}

/* The numbers of CPUs are what counts, and the top level is first. */
static void test_order(void **state)
{
	static const struct made_vcpu vcpus[] = {{7, pages[1], RING_PAGE_SIZE},
						 {2, pages[2], 2 * RING_PAGE_SIZE}};
	static const struct made_buffer some[] = {
		{"a", "local", vcpus, 1}, {"b", "local", vcpus, 1}, {"", "local", vcpus, 2},
		{"c", "local", vcpus, 1}, {NULL, NULL, NULL, 0},
	};
	static const char *const names[] = {"", "a", "b", "c"};
	struct made_dat_spec s = spec(1);
	const struct dat_buffer *b;
	struct dat *d;

	(void)state;
	s.buffers = some;
	d = made_open(&s);
	b = dat_buffer(d, 0);
	assert_int_equal(dat_nr_buffers(d), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(dat_buffer(d, i)->name, names[i]);
	assert_int_equal(b->cpus, 8);
	assert_int_equal(b->vcpus[0].cpu, 2);
	check_pages(d, b, &b->vcpus[0], &vcpus[1]);
	check_pages(d, b, &b->vcpus[1], &vcpus[0]);
	dat_close(d);
}

/* Its last page is what there is of it. */
static void test_part_of_a_page(void **state)
{
	static const struct made_vcpu vcpu = {0, pages[0], RING_PAGE_SIZE + 100};
	static const struct made_buffer one[] = {{"", "local", &vcpu, 1}, {NULL, NULL, NULL, 0}};

	(void)state;
	for (size_t i = 0; i < NR_SPECS; i++) {
		struct made_dat_spec s = spec(i);
		struct dat_pages *p;
		const void *page;
		struct dat *d;
		size_t size;

		s.cpus = 1;
		s.buffers = one;
		d = made_open(&s);
		p = dat_pages_open(d, dat_buffer(d, 0), &dat_buffer(d, 0)->vcpus[0]);
		assert_int_equal(dat_pages_next(p, &page, &size), 1);
		assert_int_equal(dat_pages_next(p, &page, &size), 1);
		assert_int_equal(size, 100);
		assert_memory_equal(page, pages[0] + RING_PAGE_SIZE, size);
		assert_int_equal(dat_pages_next(p, &page, &size), 0);
		dat_pages_close(p);
		dat_close(d);
	}
}

static void test_clocks(void **state)
{
	static const struct {
		const char *clock;
		bool ns;
	} clocks[] = {{"local", true},
		      {"mono_raw", true},
		      {"counter", false},
		      {"boot", false},
		      {"x86-tsc", false}};
	struct dat_info info = {0};

	(void)state;
	assert_true(dat_counts_ns(&info));
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		info.clock = clocks[i].clock;
		assert_int_equal(dat_counts_ns(&info), clocks[i].ns);
	}
	info.tsc2nsec = (struct dat_tsc2nsec){.mult = 1, .shift = 1};
	assert_true(dat_counts_ns(&info));
	assert_int_equal(dat_time(&info, 0, UINT64_C(1) << 63), UINT64_C(1) << 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),  cmocka_unit_test(test_options),
		cmocka_unit_test(test_pages),  cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_order),  cmocka_unit_test(test_part_of_a_page),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, fill_pages, NULL);
}
