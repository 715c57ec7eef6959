// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-mmio.c - the lines of the tracer mmiotrace: those of the captures, and what no
 * capture shows, by kernel/trace/trace_mmiotrace.c (6.1).
 */
#include "tests/unit/output-world.h"

#include <inttypes.h>

#include "tracer/output/reader.h"

#define ENTRIES_MAX 64

union entry {
	struct trace_entry ent;
	struct trace_mmio_rw_entry rw;
	struct trace_mmio_map_entry map;
};

struct capture {
	union entry v[ENTRIES_MAX];
	uint64_t ts[ENTRIES_MAX];
	size_t n;
	struct world *w;
};

/* --- what the lines say ------------------------------------------------------------------- */

static uint64_t ts_of(uint64_t seconds, uint64_t us)
{
	return (seconds * 1000000 + us) * 1000;
}

/* "R 1 13.142222 1 0xfe000014 0x0 0x0 0" */
static bool read_rw(const char *line, union entry *e, uint64_t *ts)
{
	uint64_t seconds, us, phys, value, pc;
	int id, width;
	char op;

	if (sscanf(line,
		   "%c %d %" SCNu64 ".%" SCNu64 " %d 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0\n",
		   &op, &width, &seconds, &us, &id, &phys, &value, &pc) != 8)
		return false;
	e->rw = (struct trace_mmio_rw_entry){
		.ent.type = TRACE_MMIO_RW,
		.phys = phys,
		.value = value,
		.pc = pc,
		.map_id = id,
		.opcode = op == 'R' ? MMIO_READ : MMIO_WRITE,
		.width = (uint8_t)width,
	};
	*ts = ts_of(seconds, us);
	return true;
}

/* "MAP 13.137853 1 0xfe000000 0xffffc90000025000 0x3c 0x0 0", "UNMAP 13.108931 -1 0x0 0" */
static bool read_map(const char *line, union entry *e, uint64_t *ts)
{
	uint64_t seconds, us, phys, virt, len;
	int id;

	e->map = (struct trace_mmio_map_entry){.ent.type = TRACE_MMIO_MAP};
	if (sscanf(line, "MAP %" SCNu64 ".%" SCNu64 " %d 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64,
		   &seconds, &us, &id, &phys, &virt, &len) == 6) {
		e->map.opcode = MMIO_MAP;
		e->map.phys = phys;
		e->map.virt = virt;
		e->map.len = len;
	} else if (sscanf(line, "UNMAP %" SCNu64 ".%" SCNu64 " %d", &seconds, &us, &id) == 3) {
		e->map.opcode = MMIO_UNMAP;
	} else {
		return false;
	}
	e->map.map_id = id;
	*ts = ts_of(seconds, us);
	return true;
}

/* All but what `skip` or a '#' begins. */
static void capture_open(struct capture *c, const char *name, const char *skip)
{
	char *text = data_file(name, NULL);

	memset(c, 0, sizeof(*c));
	c->w = world_new();
	for (const char *line = text; *line; line = next_line(line)) {
		if (*line == '#' || !strncmp(line, skip, strlen(skip)) ||
		    !strncmp(line, "VERSION", 7))
			continue;
		assert_true(c->n < ENTRIES_MAX);
		if (!read_rw(line, &c->v[c->n], &c->ts[c->n]) &&
		    !read_map(line, &c->v[c->n], &c->ts[c->n]))
			fail_msg("what is %.60s?", line);
		c->n++;
	}
	free(text);
}

static size_t size_of(const union entry *e)
{
	return e->ent.type == TRACE_MMIO_RW ? sizeof(e->rw) : sizeof(e->map);
}

/* --- the captures ------------------------------------------------------------------------- */

/* Whatever the options are, lines and header are the same. */
static void prints_trace(uint32_t options)
{
	char *want = data_file("mmiotrace.txt", NULL);
	struct output_config cfg;
	struct text text = {0};
	struct capture c;
	struct output o;

	capture_open(&c, "mmiotrace.txt", "#");
	assert_int_equal(c.n, 28);
	cfg = world_config(c.w, options, "mmiotrace");
	cfg.cpus = 1;
	output_init(&o, &cfg, &text);
	output_header(&o, 83, 83, false);
	for (size_t i = 0; i < c.n; i++) {
		struct ring_event ev = {.ts = c.ts[i], .data = &c.v[i], .len = size_of(&c.v[i])};

		output_event(&o, 0, &ev, ev.ts);
	}
	text_putc(&text, '\0');
	assert_text_equal(text.buf, want);
	output_exit(&o);
	text_free(&text);
	world_free(c.w);
	free(want);
}

static void test_trace(void **state)
{
	static const uint32_t forms[] = {0, OUTPUT_RAW, OUTPUT_HEX, OUTPUT_BIN,
					 OUTPUT_PRINTK_MSG_ONLY | OUTPUT_PRINTK};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		prints_trace(OUTPUT_DEFAULT | forms[i]);
}

/* --- trace_pipe ----------------------------------------------------------------------------- */

static struct ring *ring_of(const struct capture *c)
{
	struct ring *r = ring_new(1 << 16);

	assert_non_null(r);
	for (size_t i = 0; i < c->n; i++) {
		void *to = ring_reserve(r, size_of(&c->v[i]), c->ts[i]);

		assert_non_null(to);
		memcpy(to, &c->v[i], size_of(&c->v[i]));
		ring_commit(r);
	}
	return r;
}

static void read_all(struct reader *r, struct text *text, size_t len)
{
	char buf[4096];
	ssize_t n;

	while ((n = reader_read(r, buf, len)) > 0)
		text_add(text, buf, (size_t)n);
	assert_int_equal(n, 0);
	text_putc(text, '\0');
}

/* "PCIDEV ...\n" lines of a file. */
static char *devices_of(const char *file)
{
	const char *from = strstr(file, "PCIDEV"), *to = from;

	while (!strncmp(to, "PCIDEV", 6))
		to = next_line(to);
	return strndup(from, (size_t)(to - from));
}

static void prints_pipe(size_t len)
{
	char *want = data_file("mmiotrace-pipe.txt", NULL), *devices = devices_of(want);
	struct text text = {0};
	struct output_config cfg;
	struct reader *r;
	struct capture c;
	struct ring *ring;

	capture_open(&c, "mmiotrace-pipe.txt", "PCIDEV");
	assert_int_equal(c.n, 52);
	cfg = world_config(c.w, OUTPUT_DEFAULT, "mmiotrace");
	cfg.pci_devices = devices;
	ring = ring_of(&c);
	r = reader_open(&ring, 1, READER_ALL_CPUS, true, &cfg);
	assert_non_null(r);
	read_all(r, &text, len);
	assert_text_equal(text.buf, want);
	reader_close(r);
	ring_free(ring);
	text_free(&text);
	world_free(c.w);
	free(devices);
	free(want);
}

static void test_pipe(void **state)
{
	static const size_t lens[] = {7, 100, 4096};

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		prints_pipe(lens[i]);
}

static void put_access(struct ring *r, uint64_t ts, uint64_t value)
{
	struct trace_mmio_rw_entry *e = ring_reserve(r, sizeof(*e), ts);

	assert_non_null(e);
	*e = (struct trace_mmio_rw_entry){.ent.type = TRACE_MMIO_RW,
					  .phys = 0xfed40000,
					  .value = value,
					  .map_id = 1,
					  .opcode = MMIO_READ,
					  .width = 1};
	ring_commit(r);
}

/* No devices are known; it tells of what was lost, once, before what is left. */
static void test_pipe_lost(void **state)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "mmiotrace");
	struct ring *ring = ring_new(1 << 13);
	struct ring_stats st;
	struct text text = {0};
	struct reader *r;
	char want[128];

	(void)state;
	assert_non_null(ring);
	for (uint64_t i = 0; i < 1000; i++)
		put_access(ring, (i + 1) * 1000, i);
	ring_get_stats(ring, &st);
	assert_true(st.overrun > 0);
	r = reader_open(&ring, 1, READER_ALL_CPUS, true, &cfg);
	assert_non_null(r);
	read_all(r, &text, 4096);
	snprintf(want, sizeof(want),
		 "VERSION 20070824\nMARK 0.000000 Lost %" PRIu64 " events.\nCPU:0 ", st.overrun);
	assert_memory_equal(text.buf, want, strlen(want));
	assert_null(strstr(text.buf + strlen(want), "MARK"));
	assert_non_null(strstr(text.buf, "\nR 1 0.001000 1 0xfed40000 0x3e7 0x0 0\n"));
	reader_close(r);
	text_free(&text);
	ring_free(ring);
	world_free(w);
}

/* --- what no capture shows ------------------------------------------------------------------ */

static void prints(const void *data, size_t len, uint64_t ts, const char *want)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, OUTPUT_DEFAULT, "mmiotrace");
	struct ring_event ev = {.ts = ts, .data = data, .len = len};
	struct text text = {0};
	struct output o;

	output_init(&o, &cfg, &text);
	output_event(&o, 0, &ev, ts);
	text_putc(&text, '\0');
	assert_text_equal(text.buf, want);
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

/* Its line end is in it, or there is none. */
static void test_mark(void **state)
{
	struct {
		struct trace_print_entry e;
		char buf[16];
	} mark = {.e.ent.type = TRACE_PRINT, .buf = "here it is\n"};

	(void)state;
	prints(&mark, sizeof(mark), UINT64_C(12000003499), "MARK 12.000003 here it is\n");
	memcpy(mark.buf, "here", 5);
	prints(&mark, sizeof(mark), UINT64_C(12000003500), "MARK 12.000004 here");
}

/* As print_line does, which says that it has dealt with what it does not know. */
static void test_unknown(void **state)
{
	struct trace_function_entry fn = {.ent.type = TRACE_FN};
	struct trace_mmio_rw_entry rw = {.ent.type = TRACE_MMIO_RW, .opcode = 9};
	struct trace_mmio_map_entry map = {.ent.type = TRACE_MMIO_MAP, .opcode = 9};

	(void)state;
	prints(&fn, sizeof(fn), 0, "");
	prints(&rw, sizeof(rw), 0, "rw what?\n");
	prints(&map, sizeof(map), 0, "map what?\n");
	prints(&rw, sizeof(rw) - 4, 0, ""); /* too short to be one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),	  cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_pipe_lost), cmocka_unit_test(test_mark),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
