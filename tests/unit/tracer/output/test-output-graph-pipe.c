// SPDX-License-Identifier: GPL-2.0-or-later
/* test-output-graph-pipe.c - function_graph as trace_pipe: read in pieces, and while it is written.
 */
#include "tests/unit/graph-scene.h"
#include "tests/elsewhere.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- reading in pieces -------------------------------------------------------------------- */

static ssize_t read_some(struct reader *r, size_t len, const char *want)
{
	char buf[256] = "";
	ssize_t n = reader_read(r, buf, len);

	assert_true(n >= 0 && (size_t)n <= len);
	assert_string_equal(buf, want);
	return n;
}

/* A trace_pipe knows where it is from read to read, and what did not fit comes next. */
static void test_pipe_pieces(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct reader *r = reader_open(s.rings.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &s.cfg);

	(void)state;
	enter(&s, FOO, 0);
	enter(&s, BAR, 1);
	read_some(r, 50, " 0)               |  foo() {\n");
	read_some(r, 50, " 0)               |    bar() {\n");
	read_some(r, 50, "");
	/* Its return came too late to make it a leaf. */
	leave(&s, BAR, 1, 1);
	call(&s, BAR, 1);
	leave(&s, FOO, 0, 1);
	read_some(r, 10, " 0)   0.00");
	read_some(r, 50, "1 us    |    }\n");
	read_some(r, 60, " 0)   0.500 us    |    bar();\n 0)   0.001 us    |  }\n");
	/* A change of tasks is of the line behind it. */
	s.pid = 8;
	call(&s, FOO, 0);
	call(&s, FOO, 0);
	read_some(r, 200,
		  " ------------------------------------------\n"
		  " 0)   a-longe-7    =>    <...>-8    \n"
		  " ------------------------------------------\n\n"
		  " 0)   0.500 us    |  foo();\n 0)   0.500 us    |  foo();\n");
	reader_close(r);
	scene_free(&s);
}

/* Options take effect at once; of a graph also latency-format. */
static void test_options(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct reader *r = reader_open(s.rings.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &s.cfg);

	(void)state;
	for (int i = 0; i < 4; i++)
		call(&s, FOO, 0);
	read_some(r, 30, " 0)   0.500 us    |  foo();\n");
	reader_set_options(r, OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, GRAPH, 0);
	/* This one had been printed when the read before found that it does not fit. */
	read_some(r, 30, " 0)   0.500 us    |  foo();\n");
	read_some(r, 38, " 0)  ..... |   0.500 us    |  foo();\n");
	reader_set_options(r, OUTPUT_DEFAULT, OUTPUT_GRAPH_CPU, 0);
	reader_close(r);
	scene_free(&s);
}

/* A snapshot has taken the rings away: what was printed of them comes first. */
static void test_other_rings(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct rings others = rings_new(GRAPH_CPUS), mine = s.rings;
	struct reader *r = reader_open(mine.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &s.cfg);

	(void)state;
	enter(&s, FOO, 0);
	enter(&s, BAR, 1);
	enter(&s, BAR, 2);
	read_some(r, 30, " 0)               |  foo() {\n");
	assert_int_equal(reader_switch(r, others.ring), 0);
	s.rings = others;
	leave(&s, BAR, 1, 1);
	s.pid = 8;
	leave(&s, FOO, 0, 1);
	read_some(r, 255,
		  " 0)               |    bar() {\n"
		  " 0)   0.001 us    |    }\n"
		  " ------------------------------------------\n"
		  " 0)   a-longe-7    =>    <...>-8    \n"
		  " ------------------------------------------\n\n"
		  " 0)   0.001 us    |  }\n");
	reader_close(r);
	rings_free(&others);
	s.rings = mine;
	scene_free(&s);
}

/* --- while they are written --------------------------------------------------------------- */

enum { LIVE_CALLS = 30000, LIVE_BASE = 0x100000 };

struct live {
	struct scene s;
	atomic_bool done;
	/* How often each call's entry, and its return, was read; by its number in the address. */
	_Atomic uint64_t entered[LIVE_CALLS], left;
};

static void *live_write(void *arg)
{
	struct live *live = arg;

	for (uint64_t i = 0; i < LIVE_CALLS; i++)
		call(&live->s, LIVE_BASE + i, 0);
	return NULL;
}

/* " 0)   0.500 us    |  0x100007();", or the two lines of it */
static bool live_line(struct live *live, const char *line)
{
	const char *at = strstr(line, "|  ");
	uint64_t func;

	if (!holds(at != NULL))
		return false;
	if (at[3] != '}') {
		if (!holds(sscanf(at + 3, "0x%" SCNx64, &func) == 1 && func >= LIVE_BASE &&
			   func < LIVE_BASE + LIVE_CALLS))
			return false;
		atomic_fetch_add(&live->entered[func - LIVE_BASE], 1);
	}
	if (memcmp(next_line(at) - 3, " {\n", 3))
		atomic_fetch_add(&live->left, 1);
	return true;
}

static void *live_read(void *arg)
{
	struct live *live = arg;
	struct reader *r =
		reader_open(live->s.rings.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &live->s.cfg);
	char buf[4097];
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
		for (const char *line = buf; *line && live_line(live, line); line = next_line(line))
			;
	} while (n || !done);
	reader_close(r);
	return NULL;
}

/* Two at once, which take returns away from each other: nothing is lost, or there twice. */
static void test_live(void **state)
{
	struct live *live = calloc(1, sizeof(*live));
	pthread_t writer, reader[2];

	(void)state;
	assert_non_null(live);
	live->s = scene_new(OUTPUT_DEFAULT, GRAPH);
	for (unsigned int i = 0; i < GRAPH_CPUS; i++)
		assert_int_equal(ring_resize(live->s.rings.ring[i], 4 << 20), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&reader[i], NULL, live_read, live), 0);
	assert_int_equal(pthread_create(&writer, NULL, live_write, live), 0);
	pthread_join(writer, NULL);
	atomic_store(&live->done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(reader[i], NULL);
	elsewhere_check();
	for (int i = 0; i < LIVE_CALLS; i++)
		assert_int_equal(live->entered[i], 1);
	assert_int_equal(live->left, LIVE_CALLS);
	scene_free(&live->s);
	free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe_pieces),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_other_rings),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
