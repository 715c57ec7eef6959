/* SPDX-License-Identifier: GPL-2.0-or-later */
/* graph-rings.h - ring buffers with entries of function_graph, and how they are printed. */
#ifndef HVTRACE_TESTS_UNIT_GRAPH_RINGS_H
#define HVTRACE_TESTS_UNIT_GRAPH_RINGS_H

#include "tests/unit/graph-text.h"
#include "tracer/output/reader.h"

#define GRAPH OUTPUT_GRAPH_DEFAULT

struct rings {
	struct ring *ring[GRAPH_CPUS];
	unsigned int nr;
};

static inline struct rings rings_new(unsigned int nr)
{
	struct rings r = {.nr = nr};

	for (unsigned int i = 0; i < nr; i++) {
		r.ring[i] = ring_new(1 << 20);
		assert_non_null(r.ring[i]);
	}
	return r;
}

static inline void rings_free(struct rings *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		ring_free(r->ring[i]);
}

static inline void rings_put(struct rings *r, unsigned int cpu, uint64_t ts, const void *data,
			     size_t len)
{
	void *at = ring_reserve(r->ring[cpu], len, ts);

	assert_non_null(at);
	memcpy(at, data, len);
	ring_commit(r->ring[cpu]);
}

/* All there is, in reads of len bytes; terminated. */
static inline char *read_all(struct rings *r, const struct output_config *cfg, bool consume,
			     size_t len)
{
	struct reader *reader = reader_open(r->ring, r->nr, READER_ALL_CPUS, consume, cfg);
	struct text text = {0};
	char *buf = malloc(len);
	ssize_t n;

	assert_non_null(reader);
	assert_non_null(buf);
	while ((n = reader_read(reader, buf, len)) > 0)
		text_add(&text, buf, (size_t)n);
	assert_int_equal(n, 0);
	text_putc(&text, '\0');
	free(buf);
	reader_close(reader);
	return text.buf;
}

static const char *behind_header(const char *text)
{
	while (*text == '#')
		text = next_line(text);
	return text;
}

static inline struct output_config graph_config(struct world *w, uint32_t options,
						uint32_t graph_options)
{
	struct output_config cfg = world_config(w, options, "function_graph");

	cfg.graph_options = graph_options;
	return cfg;
}

#endif
