// SPDX-License-Identifier: GPL-2.0-or-later
/* test-reader.c - trace and trace_pipe read in pieces, by several, and while they are written. */
#include "tests/unit/output-world.h"
#include "tests/elsewhere.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tracer/output/reader.h"

enum { CPUS = 3, EVENTS = 1000, BASE = 0x10000000 };

struct setup {
	struct world *w;
	struct output_config cfg;
	struct ring *ring[CPUS];
	uint64_t ts;
};

static struct setup setup_new(size_t bytes)
{
	struct setup s = {.w = world_new()};

	s.cfg = world_config(s.w, OUTPUT_DEFAULT, "function");
	world_note(s.w, 1, 1, "init");
	world_add(s.w, BASE - 16, 16, "caller");
	for (int i = 0; i < CPUS; i++) {
		s.ring[i] = ring_new(bytes);
		assert_non_null(s.ring[i]);
	}
	return s;
}

static void setup_free(struct setup *s)
{
	for (int i = 0; i < CPUS; i++)
		ring_free(s->ring[i]);
	world_free(s->w);
}

/* Its ip is no symbol's, so its number can be read from the text. */
static void put(struct ring *r, uint64_t ts, uint64_t number)
{
	struct trace_function_entry *e = ring_reserve(r, sizeof(*e), ts);

	assert_non_null(e);
	*e = (struct trace_function_entry){
		.ent = {.type = TRACE_FN, .pid = 1},
		.ip = BASE + number,
		.parent_ip = BASE - 16,
	};
	ring_commit(r);
}

static void put_all(struct setup *s, int nr)
{
	for (int i = 0; i < nr; i++, s->ts += 1000)
		put(s->ring[i % 7 % CPUS], s->ts, (uint64_t)i);
}

static struct reader *open_reader(struct setup *s, int cpu, bool consume)
{
	struct reader *r = reader_open(s->ring, CPUS, cpu, consume, &s->cfg);

	assert_non_null(r);
	return r;
}

/* All there is, in reads of len bytes; terminated. */
static char *read_all(struct reader *r, size_t len)
{
	struct text text = {0};
	char *buf = malloc(len);
	ssize_t n;

	assert_non_null(buf);
	while ((n = reader_read(r, buf, len)) > 0) {
		assert_true((size_t)n <= len);
		text_add(&text, buf, (size_t)n);
	}
	assert_int_equal(n, 0);
	text_putc(&text, '\0');
	free(buf);
	return text.buf;
}

static char *read_once(struct setup *s, int cpu, bool consume, size_t len)
{
	struct reader *r = open_reader(s, cpu, consume);
	char *text = read_all(r, len);

	reader_close(r);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t nr = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		nr++;
	return nr;
}

static const char *behind_header(const char *text)
{
	while (*text == '#')
		text = next_line(text);
	return text;
}

static const size_t sizes[] = {1, 7, 100, 4096, 1 << 20};

static void test_pieces(void **state)
{
	struct setup s = setup_new(1 << 20);
	char *whole, *text;

	(void)state;
	put_all(&s, EVENTS);
	whole = read_once(&s, READER_ALL_CPUS, false, 1 << 20);
	assert_non_null(strstr(whole, "entries-in-buffer/entries-written: 1000/1000   #P:2\n"));
	assert_int_equal(count(whole, " <-caller\n"), EVENTS);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		text = read_once(&s, READER_ALL_CPUS, false, sizes[i]);
		assert_text_equal(text, whole);
		free(text);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		text = read_once(&s, READER_ALL_CPUS, true, sizes[i]);
		assert_text_equal(text, behind_header(whole));
		free(text);
		text = read_once(&s, READER_ALL_CPUS, true, sizes[i]);
		assert_string_equal(text, "");
		free(text);
		s.ts = 0;
		for (int cpu = 0; cpu < CPUS; cpu++)
			ring_reset(s.ring[cpu]);
		put_all(&s, EVENTS);
	}
	free(whole);
	setup_free(&s);
}

/* Each has its own place; who starts anew, or goes on behind the end, disturbs nobody. */
static void test_several(void **state)
{
	struct setup s = setup_new(1 << 20);
	struct reader *a, *b;
	char first[500], *rest, *whole, *again;

	(void)state;
	put_all(&s, 50);
	whole = read_once(&s, READER_ALL_CPUS, false, 64);
	a = open_reader(&s, READER_ALL_CPUS, false);
	b = open_reader(&s, READER_ALL_CPUS, false);
	assert_int_equal(reader_read(a, first, sizeof(first)), sizeof(first));
	again = read_all(b, 33);
	assert_text_equal(again, whole);
	free(again);
	rest = read_all(a, 17);
	assert_text_equal(rest, whole + sizeof(first));
	free(rest);

	put(s.ring[0], s.ts, 77);
	rest = read_all(a, 4096);
	assert_int_equal(count(rest, "\n"), 1);
	assert_non_null(strstr(rest, ": 0x1000004d <-caller\n"));
	free(rest);
	reader_rewind(b);
	rest = read_all(b, 4096);
	assert_non_null(strstr(rest, "written: 51/51 "));
	assert_int_equal(count(rest, " <-caller\n"), 51);
	free(rest);
	reader_close(a);
	reader_close(b);
	free(whole);
	setup_free(&s);
}

static void test_one_cpu(void **state)
{
	struct setup s = setup_new(1 << 20);
	char *text;

	(void)state;
	put_all(&s, 70);
	text = read_once(&s, 1, false, 100);
	assert_non_null(strstr(text, "written: 70/70 "));
	assert_int_equal(count(text, "[001]"), 20);
	assert_int_equal(count(text, " <-caller\n"), 20);
	free(text);
	text = read_once(&s, 2, true, 100);
	assert_int_equal(count(text, "[002]"), 20);
	free(text);
	text = read_once(&s, READER_ALL_CPUS, false, 100);
	assert_int_equal(count(text, " <-caller\n"), 50);
	free(text);

	/* Without events of its own, a CPU has no latency header, whatever the others have. */
	s.cfg.options |= OUTPUT_LATENCY_FORMAT;
	text = read_once(&s, 2, false, 100);
	assert_string_equal(text, "# tracer: function\n#\n");
	free(text);
	setup_free(&s);
}

static void test_empty(void **state)
{
	struct setup s = setup_new(0);
	struct reader *pipe = open_reader(&s, READER_ALL_CPUS, true);
	struct ring *none[CPUS] = {NULL};
	struct reader *r = reader_open(none, CPUS, READER_ALL_CPUS, false, &s.cfg);
	char *text, *without;

	(void)state;
	text = read_once(&s, READER_ALL_CPUS, false, 10);
	assert_non_null(strstr(text, "written: 0/0 "));
	assert_string_equal(behind_header(text), "");
	without = read_all(r, 10);
	assert_text_equal(without, text);
	free(without);
	reader_close(r);
	free(text);
	text = read_all(pipe, 10);
	assert_string_equal(text, "");
	free(text);
	s.cfg.help = "# nothing, but help\n";
	text = read_once(&s, READER_ALL_CPUS, false, 10);
	assert_string_equal(text, "# tracer: function\n#\n# nothing, but help\n");
	free(text);

	put(s.ring[2], 1, 1);
	text = read_once(&s, READER_ALL_CPUS, false, 10);
	assert_null(strstr(text, "help"));
	free(text);
	text = read_all(pipe, 10);
	assert_int_equal(count(text, "\n"), 1);
	free(text);
	reader_close(pipe);
	setup_free(&s);
}

/* A trace_pipe gives whole lines, and leaves in the rings what did not fit. */
static void test_pipe_lines(void **state)
{
	struct setup s = setup_new(1 << 20);
	char buf[1000], line[512] = "";
	struct text text = {0};
	char *whole, *rest;
	ssize_t n;

	(void)state;
	put_all(&s, 60);
	whole = read_once(&s, READER_ALL_CPUS, false, 4096);
	for (int i = 0; i < 4; i++) {
		struct reader *r = open_reader(&s, READER_ALL_CPUS, true);

		n = reader_read(r, buf, sizeof(buf));
		assert_true(n > 900 && buf[n - 1] == '\n');
		text_add(&text, buf, (size_t)n);
		reader_close(r);
	}
	/* Less than a line: its pieces come alone. */
	struct reader *r = open_reader(&s, READER_ALL_CPUS, true);

	n = reader_read(r, line, 20);
	assert_int_equal(n, 20);
	n += reader_read(r, line + n, sizeof(line) - 1 - (size_t)n);
	assert_true(n < 100 && line[n - 1] == '\n');
	text_add(&text, line, (size_t)n);
	reader_close(r);
	rest = read_once(&s, READER_ALL_CPUS, true, 4096);
	text_add(&text, rest, strlen(rest) + 1);
	assert_text_equal(text.buf, behind_header(whole));
	free(rest);
	free(whole);
	text_free(&text);
	setup_free(&s);
}

static void test_lost(void **state)
{
	struct setup s = setup_new(0);
	struct reader *look = open_reader(&s, 0, false), *pipe = open_reader(&s, 0, true);
	char first[1], *text;

	(void)state;
	put(s.ring[0], 1, 0);
	assert_int_equal(reader_read(look, first, 1), 1);
	free(read_all(look, 4096));
	/* Three pages, of which the oldest goes; its first event has been read. */
	for (uint64_t i = 1; i < 3 * RING_PAGE_DATA / 24; i++)
		put(s.ring[0], i, i);
	text = read_all(look, 4096);
	assert_int_equal(count(text, "CPU:0 [LOST EVENTS]\n"), 1);
	assert_memory_equal(text, "CPU:0", 5);
	free(text);
	text = read_all(pipe, 4096);
	assert_int_equal(count(text, "CPU:0 [LOST "), 1);
	assert_null(strstr(text, "LOST EVENTS"));
	assert_memory_equal(text, "CPU:0", 5);
	free(text);
	reader_close(look);
	reader_close(pipe);

	text = read_once(&s, READER_ALL_CPUS, false, 4096);
	assert_null(strstr(text, "LOST"));
	free(text);
	setup_free(&s);
}

static uint64_t version_of(void *arg)
{
	return ((struct world *)arg)->version;
}

/* What is printed follows the options and the symbols of the moment. */
static void test_changes(void **state)
{
	struct setup s = setup_new(1 << 20);
	struct reader *r;
	char buf[128] = "";

	(void)state;
	s.cfg.symbols_version = version_of;
	s.cfg.options &= ~(uint32_t)OUTPUT_CONTEXT_INFO;
	world_add(s.w, BASE, 32, "first");
	for (uint64_t i = 0; i < 6; i++)
		put(s.ring[0], i, 1);
	r = open_reader(&s, READER_ALL_CPUS, true);
	assert_int_equal(reader_read(r, buf, 20), 15);
	assert_memory_equal(buf, "first <-caller\n", 15);
	reader_set_options(r, s.cfg.options | OUTPUT_SYM_OFFSET, 0, 0);
	assert_int_equal(reader_read(r, buf, 40), 33);
	reader_set_options(r, s.cfg.options & ~(uint32_t)OUTPUT_PRINT_PARENT, 0, 0);
	assert_int_equal(reader_read(r, buf, 6), 6);
	snprintf(s.w->sym[1].name, sizeof(s.w->sym[1].name), "later");
	assert_int_equal(reader_read(r, buf, 6), 6);
	assert_memory_equal(buf, "first\n", 6);
	s.w->version++;
	assert_int_equal(reader_read(r, buf, 6), 6);
	assert_memory_equal(buf, "later\n", 6);
	/* latency-format is that of the beginning */
	reader_set_options(r, s.cfg.options | OUTPUT_LATENCY_FORMAT | OUTPUT_CONTEXT_INFO, 0, 0);
	assert_true(reader_read(r, buf, 70) > 40);
	assert_memory_equal(
		buf, "            init-1       [000] .....     0.000000: later <-caller\n", 66);
	reader_close(r);
	setup_free(&s);
}

/* --- while they are written --------------------------------------------------------------- */

enum { LIVE_EVENTS = 20000 };

struct live {
	struct setup s;
	atomic_bool done;
	_Atomic uint64_t seen[CPUS * LIVE_EVENTS]; /* how often each was read */
};

struct live_writer {
	struct live *live;
	int cpu;
};

static void *write_live(void *arg)
{
	struct live_writer *w = arg;

	for (uint64_t i = 0; i < LIVE_EVENTS; i++)
		put(w->live->s.ring[w->cpu], i * 1000, (uint64_t)w->cpu * LIVE_EVENTS + i);
	return NULL;
}

/* Every line is one of ours, whole, or says that the other readers were faster. */
static bool check_lines(struct live *live, const char *text, bool count_them, double *last)
{
	for (; *text; text = next_line(text)) {
		char line[128] = "";
		unsigned int cpu;
		uint64_t ip;
		double ts;
		size_t len;

		if (!count_them && !strncmp(text, "CPU:", 4))
			continue;
		len = (size_t)(next_line(text) - text);
		if (!holds(len >= 60 && len < sizeof(line)))
			return false;
		memcpy(line, text, len);
		if (!holds(sscanf(line, " init-1 [%u] ..... %lf: 0x%" SCNx64 " <-caller\n", &cpu,
				  &ts, &ip) == 3) ||
		    !holds(ip - BASE < CPUS * LIVE_EVENTS && (ip - BASE) / LIVE_EVENTS == cpu))
			return false;
		if (count_them)
			atomic_fetch_add(&live->seen[ip - BASE], 1);
		else if (!holds(ts >= *last))
			return false;
		*last = ts;
	}
	return true;
}

static void *read_live_pipe(void *arg)
{
	struct live *live = arg;
	struct reader *r = reader_open(live->s.ring, CPUS, READER_ALL_CPUS, true, &live->s.cfg);
	char buf[4097];
	double last = 0;
	bool done;
	ssize_t n;

	if (!holds(r != NULL))
		return NULL;
	do {
		done = atomic_load(&live->done);
		n = reader_read(r, buf, sizeof(buf) - 1);
		if (!holds(n >= 0))
			break;
		buf[n] = '\0';
		if (!holds(!n || buf[n - 1] == '\n') || !check_lines(live, buf, true, &last))
			break;
	} while (n || !done);
	reader_close(r);
	return NULL;
}

/* All that there is now, in reads of len bytes; NULL: it cannot be read. */
static char *read_whole(struct live *live, size_t len)
{
	struct reader *r = reader_open(live->s.ring, CPUS, READER_ALL_CPUS, false, &live->s.cfg);
	struct text text = {0};
	char *buf = malloc(len);
	ssize_t n = -1;

	while (r && buf && (n = reader_read(r, buf, len)) > 0 && holds((size_t)n <= len))
		text_add(&text, buf, (size_t)n);
	text_putc(&text, '\0');
	free(buf);
	if (r)
		reader_close(r);
	if (!n)
		return text.buf;
	text_free(&text);
	return NULL;
}

static void *read_live_trace(void *arg)
{
	static const size_t chunks[] = {7, 4096, 65536};
	struct live *live = arg;
	bool done = false;

	for (int i = 0; !done; i++) {
		double last = 0;
		char *text;

		done = atomic_load(&live->done);
		text = read_whole(live, chunks[i % 3]);
		if (!holds(text && strstr(text, "entries-in-buffer")) ||
		    !check_lines(live, behind_header(text), false, &last))
			done = true;
		free(text);
	}
	return NULL;
}

static void test_live(void **state)
{
	struct live *live = calloc(1, sizeof(*live));
	struct live_writer writers[CPUS];
	pthread_t writing[CPUS], pipes[2], traces[2];

	(void)state;
	assert_non_null(live);
	live->s = setup_new(4 << 20); /* nothing is lost */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&traces[i], NULL, read_live_trace, live), 0);
		assert_int_equal(pthread_create(&pipes[i], NULL, read_live_pipe, live), 0);
	}
	for (int i = 0; i < CPUS; i++) {
		writers[i] = (struct live_writer){live, i};
		assert_int_equal(pthread_create(&writing[i], NULL, write_live, &writers[i]), 0);
	}
	for (int i = 0; i < CPUS; i++)
		pthread_join(writing[i], NULL);
	atomic_store(&live->done, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(pipes[i], NULL);
		pthread_join(traces[i], NULL);
	}
	elsewhere_check();
	/* The two took all of them, each once. */
	for (int i = 0; i < CPUS * LIVE_EVENTS; i++)
		assert_int_equal(live->seen[i], 1);
	setup_free(&live->s);
	free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),	   cmocka_unit_test(test_several),
		cmocka_unit_test(test_one_cpu),	   cmocka_unit_test(test_empty),
		cmocka_unit_test(test_pipe_lines), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_changes),	   cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
