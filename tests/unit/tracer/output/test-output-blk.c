// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-blk.c - the lines of the tracer blk: those of the captures (two traces, each in
 * several forms), and what no capture shows, by kernel/trace/blktrace.c (6.1).
 */
#include "tests/unit/output-world.h"

#include <inttypes.h>
#include <linux/blktrace_api.h>

#define ENTRIES_MAX	    64
#define START		    UINT64_C(9811326600) /* when the times of latency-format began */
#define MKDEV(major, minor) ((major) << 20 | (minor))

struct entry {
	struct trace_blk_entry e;
	uint64_t ts;
	unsigned int cpu;
};

struct capture {
	struct entry v[ENTRIES_MAX];
	size_t n;
	struct world *w;
};

/* --- what the lines say ------------------------------------------------------------------- */

static uint32_t action_of(const char *act)
{
	static const struct {
		const char *act;
		uint32_t action;
	} actions[] = {
		{"Q", BLK_TA_QUEUE}, {"G", BLK_TA_GETRQ},    {"P", BLK_TA_PLUG},
		{"D", BLK_TA_ISSUE}, {"C", BLK_TA_COMPLETE}, {"M", BLK_TA_BACKMERGE},
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(act, actions[i].act))
			return actions[i].action;
	fail_msg("what is %s?", act);
	return 0;
}

static uint32_t kind_of(const char *rwbs)
{
	uint32_t kind = strchr(rwbs, 'W') ? BLK_TC_WRITE : BLK_TC_READ;

	kind |= strchr(rwbs, 'A') ? BLK_TC_AHEAD : 0;
	kind |= strchr(rwbs, 'S') ? BLK_TC_SYNC : 0;
	return BLK_TC_ACT(kind);
}

/* "              dd-55      [000] d..1.     9.575639: 254,0    Q  RA 80 + 8 [dd]" */
static void read_line(struct capture *c, const char *line)
{
	unsigned int major, minor, bytes = 0, at = 0;
	struct entry *new = &c->v[c->n++];
	char comm[COMM_LEN], flags[8], act[8], rwbs[8];
	uint64_t seconds, usecs;

	assert_true(c->n <= ENTRIES_MAX);
	*new = (struct entry){.e.ent.type = TRACE_BLK};
	assert_int_equal(sscanf(line,
				" %15[^-]-%d [%u] %7s %" SCNu64 ".%" SCNu64 ": %u,%u %7s %7s %n",
				comm, &new->e.ent.pid, &new->cpu, flags, &seconds, &usecs, &major,
				&minor, act, rwbs, &at),
			 10);
	sscanf(line + at, "%" SCNu64 " + %u", &new->e.sector, &bytes);
	new->e.bytes = bytes << 9;
	new->e.device = MKDEV(major, minor);
	new->e.action = action_of(act) | kind_of(rwbs);
	new->ts = (seconds * 1000000 + usecs) * 1000;
	world_flags(flags, &new->e.ent);
	if (new->e.ent.pid)
		world_note(c->w, new->e.ent.pid, new->e.ent.pid, comm);
}

static void capture_open(struct capture *c, const char *name)
{
	char *text = data_file(name, NULL);

	memset(c, 0, sizeof(*c));
	c->w = world_new();
	for (const char *line = text; *line; line = next_line(line))
		if (*line != '#')
			read_line(c, line);
	free(text);
}

static void capture_close(struct capture *c)
{
	world_free(c->w);
}

/* --- the captures ------------------------------------------------------------------------- */

/* The first n entries are printed as a file has them. */
static void prints(struct capture *c, struct output_config *cfg, size_t n, const char *name)
{
	char *want = data_file(name, NULL);
	struct text text = {0};
	struct output o;

	output_init(&o, cfg, &text);
	output_header(&o, c->n, c->n, false);
	for (size_t i = 0; i < n; i++) {
		struct ring_event ev = {
			.ts = c->v[i].ts, .data = &c->v[i].e, .len = sizeof(c->v[i].e)};
		uint64_t next = i + 1 < n ? c->v[i + 1].ts : ev.ts;

		output_event(&o, c->v[i].cpu, &ev, next);
	}
	text_putc(&text, '\0');
	assert_text_equal(text.buf, want);
	output_exit(&o);
	text_free(&text);
	free(want);
}

static void prints_with(struct capture *c, uint32_t options, const char *name)
{
	struct output_config cfg = world_config(c->w, options, "blk");

	cfg.time_start = START;
	prints(c, &cfg, c->n, name);
}

static void test_default(void **state)
{
	struct capture c;

	(void)state;
	capture_open(&c, "blk.txt");
	assert_int_equal(c.n, 31);
	prints_with(&c, OUTPUT_DEFAULT, "blk.txt");
	capture_close(&c);
}

/* Whose times are those of the first lines of the other one, in full. */
static size_t take_classic_times(struct capture *c)
{
	char *text = data_file("blk-classic.txt", NULL);
	size_t n = 0;

	for (const char *line = text; *line; line = next_line(line)) {
		uint64_t seconds, ns;

		if (sscanf(line, "%*u,%*u %*u %" SCNu64 ".%" SCNu64, &seconds, &ns) == 2)
			c->v[n++].ts = seconds * 1000000000 + ns;
	}
	free(text);
	return n;
}

static void test_classic(void **state)
{
	struct output_config cfg;
	struct capture c;
	size_t n;

	(void)state;
	capture_open(&c, "blk.txt");
	n = take_classic_times(&c);
	assert_int_equal(n, 26);
	cfg = world_config(c.w, OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO, "blk");
	cfg.blk_options = OUTPUT_BLK_CLASSIC;
	prints(&c, &cfg, n, "blk-classic.txt");
	/* It goes before all other forms. */
	cfg.options |= OUTPUT_RAW | OUTPUT_BIN | OUTPUT_LATENCY_FORMAT;
	prints(&c, &cfg, n, "blk-classic.txt");
	capture_close(&c);
}

static void take_raw_times(struct capture *c)
{
	char *text = data_file("blk-raw.txt", NULL);
	size_t n = 0;

	for (const char *line = text; *line; line = next_line(line))
		if (*line != '#')
			sscanf(line, "%*d %*u %" SCNu64, &c->v[n++].ts);
	assert_int_equal(n, c->n);
	free(text);
}

static void test_forms(void **state)
{
	struct capture c;

	(void)state;
	capture_open(&c, "blk-readahead.txt");
	take_raw_times(&c);
	prints_with(&c, OUTPUT_DEFAULT, "blk-readahead.txt");
	prints_with(&c, OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, "blk-latency-format.txt");
	prints_with(&c, OUTPUT_DEFAULT | OUTPUT_VERBOSE, "blk-verbose.txt");
	prints_with(&c, OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO, "blk-nocontext-info.txt");
	prints_with(&c, OUTPUT_DEFAULT | OUTPUT_RAW, "blk-raw.txt");
	capture_close(&c);
}

/* --- what they do not show ---------------------------------------------------------------- */

struct made {
	struct trace_blk_entry e;
	uint8_t pdu[sizeof(struct blk_io_trace_remap)];
};

static struct made make(uint32_t action, uint32_t kind, uint64_t sector, uint32_t bytes)
{
	return (struct made){.e = {.ent = {.type = TRACE_BLK, .pid = 7},
				   .sector = sector,
				   .bytes = bytes,
				   .action = action | BLK_TC_ACT(kind),
				   .device = MKDEV(259U, 70000U)}};
}

static void check(const struct made *m, uint32_t options, size_t len, const char *want)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, options & ~OUTPUT_CONTEXT_INFO, "blk");
	struct ring_event ev = {.ts = 2000, .data = m, .len = len};
	struct text text = {0};
	struct output o;

	world_note(w, 7, 7, "mkfs");
	output_init(&o, &cfg, &text);
	output_event(&o, 1, &ev, ev.ts);
	text_putc(&text, '\0');
	assert_text_equal(text.buf, want);
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

static void says(struct made m, const char *want)
{
	check(&m, OUTPUT_DEFAULT, sizeof(m), want);
}

static struct made with_number(struct made m, uint64_t number)
{
	number = __builtin_bswap64(number);
	memcpy(m.e.pdu, &number, sizeof(number));
	m.e.pdu_len = sizeof(number);
	return m;
}

static struct made with_error(struct made m, int error)
{
	m.e.error = (uint16_t)error;
	return m;
}

static void test_actions(void **state)
{
	(void)state;
	says(make(BLK_TA_UNPLUG_IO, BLK_TC_READ, 0, 0), "259,70000  U   N [mkfs] 0\n");
	says(with_number(make(BLK_TA_UNPLUG_IO, BLK_TC_READ, 0, 0), 3),
	     "259,70000  U   N [mkfs] 3\n");
	says(with_number(make(BLK_TA_UNPLUG_TIMER, BLK_TC_READ, 0, 0), 3),
	     "259,70000 UT   N [mkfs] 3\n");
	says(with_number(make(BLK_TA_SPLIT, BLK_TC_WRITE, 16, 4096), 24),
	     "259,70000  X   W 16 / 24 [mkfs]\n");
	says(make(BLK_TA_BOUNCE, BLK_TC_READ, 8, 512), "259,70000  B   R 8 + 1 [mkfs]\n");
	says(make(BLK_TA_INSERT, BLK_TC_WRITE | BLK_TC_SYNC, 8, 512),
	     "259,70000  I  WS 8 + 1 [mkfs]\n");
	says(make(BLK_TA_FRONTMERGE, BLK_TC_READ, 8, 512), "259,70000  F   R 8 + 1 [mkfs]\n");
	says(make(BLK_TA_SLEEPRQ, BLK_TC_READ, 8, 512), "259,70000  S   R 8 + 1 [mkfs]\n");
	says(make(BLK_TA_REQUEUE, BLK_TC_READ, 8, 512), "259,70000  R   R 8 + 1 [0]\n");
}

/* -EIO as a number without a sign; a flush has no place, and no bytes. */
static void test_ends(void **state)
{
	(void)state;
	says(with_error(make(BLK_TA_COMPLETE, BLK_TC_READ, 8, 512), -5),
	     "259,70000  C   R 8 + 1 [65531]\n");
	says(make(BLK_TA_COMPLETE, BLK_TC_FLUSH, 0, 0), "259,70000  C  FN 0 [0]\n");
	says(make(BLK_TA_ISSUE, BLK_TC_FLUSH, 0, 0), "259,70000  D  FN [mkfs]\n");
}

static void test_kinds(void **state)
{
	const uint32_t all = BLK_TC_WRITE | BLK_TC_FLUSH | (uint32_t)BLK_TC_FUA | BLK_TC_AHEAD |
			     BLK_TC_SYNC | BLK_TC_META;

	(void)state;
	says(make(BLK_TA_QUEUE, all, 8, 512), "259,70000  Q FWFASM 8 + 1 [mkfs]\n");
	says(make(BLK_TA_QUEUE, BLK_TC_WRITE | BLK_TC_DISCARD, 8, 512),
	     "259,70000  Q   D 8 + 1 [mkfs]\n");
}

/* Commands to the device itself: so many bytes, no place. */
static void test_commands(void **state)
{
	(void)state;
	says(make(BLK_TA_ISSUE, BLK_TC_READ | BLK_TC_PC, 0, 96), "259,70000  D   R 96 [mkfs]\n");
	says(make(BLK_TA_COMPLETE, BLK_TC_READ | BLK_TC_PC, 0, 96), "259,70000  C   R [0]\n");
}

static struct made a_remap(void)
{
	struct made m = make(BLK_TA_REMAP, BLK_TC_WRITE, 2056, 4096);
	const struct blk_io_trace_remap r = {
		.device_from = __builtin_bswap32(MKDEV(8U, 1U)),
		.device_to = __builtin_bswap32(MKDEV(8U, 0U)),
		.sector_from = __builtin_bswap64(8),
	};

	memcpy(m.e.pdu, &r, sizeof(r));
	m.e.pdu_len = sizeof(r);
	return m;
}

static void test_remap(void **state)
{
	(void)state;
	says(a_remap(), "259,70000  A   W 2056 + 8 <- (8,1) 8\n");
}

/* Nothing is read past the end of an entry, nor of the table of actions. */
static void test_wrong(void **state)
{
	struct made m = a_remap();

	(void)state;
	check(&m, OUTPUT_DEFAULT, sizeof(m) - 1, "[ENTRY TOO SHORT]\n");
	check(&m, OUTPUT_DEFAULT, sizeof(m.e) - 1, "Unknown type 13\n");
	m.e.pdu_len = 8;
	says(m, "259,70000  A   W 2056 + 8 <- (8,1) 0\n");
	says(make(__BLK_TA_DRV_DATA, BLK_TC_READ, 0, 0), "Unknown action 11\n");
	says(make(0, BLK_TC_READ, 0, 0), "Unknown action 0\n");
}

/* What blkparse reads: the common header has given way to the magic number and the time. */
static void test_bin(void **state)
{
	struct made m = a_remap();
	struct world *w = world_new();
	struct output_config cfg =
		world_config(w, OUTPUT_BIN, "blk"); /* without the context's columns */
	struct ring_event ev = {.ts = 123456789, .data = &m, .len = sizeof(m)};
	struct blk_io_trace got;
	struct text text = {0};
	struct output o;

	(void)state;
	output_init(&o, &cfg, &text);
	output_event(&o, 1, &ev, ev.ts);
	assert_int_equal(text.len, sizeof(got) + sizeof(struct blk_io_trace_remap));
	memcpy(&got, text.buf, sizeof(got));
	assert_int_equal(got.magic, BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION);
	assert_int_equal(got.sequence, 0);
	assert_int_equal(got.time, 123456789);
	assert_int_equal(got.sector, 2056);
	assert_int_equal(got.action, m.e.action);
	assert_int_equal(got.pdu_len, m.e.pdu_len);
	assert_memory_equal(text.buf + sizeof(got), m.e.pdu, m.e.pdu_len);
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

/* They may be in the buffer when another tracer has followed: its header, and no classic lines. */
static void test_other_tracer(void **state)
{
	struct world *w = world_new();
	struct output_config cfg = world_config(w, 0, "nop");
	struct made m = make(BLK_TA_BOUNCE, BLK_TC_READ, 8, 512);
	struct ring_event ev = {.ts = 2000, .data = &m, .len = sizeof(m)};
	struct text text = {0};
	struct output o;

	(void)state;
	world_note(w, 7, 7, "mkfs");
	cfg.blk_options = OUTPUT_BLK_CLASSIC;
	output_init(&o, &cfg, &text);
	output_event(&o, 1, &ev, ev.ts);
	text_putc(&text, '\0');
	assert_text_equal(text.buf, "259,70000  B   R 8 + 1 [mkfs]\n");
	output_exit(&o);
	text_free(&text);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),	     cmocka_unit_test(test_classic),
		cmocka_unit_test(test_forms),	     cmocka_unit_test(test_actions),
		cmocka_unit_test(test_ends),	     cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_commands),     cmocka_unit_test(test_remap),
		cmocka_unit_test(test_wrong),	     cmocka_unit_test(test_bin),
		cmocka_unit_test(test_other_tracer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
