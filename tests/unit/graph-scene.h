/* SPDX-License-Identifier: GPL-2.0-or-later */
/* graph-scene.h - calls of a few made-up functions, entry by entry, and what they are printed as.
 */
#ifndef HVTRACE_TESTS_UNIT_GRAPH_SCENE_H
#define HVTRACE_TESTS_UNIT_GRAPH_SCENE_H

#include "tests/unit/graph-rings.h"

enum { FOO = 0x1000, BAR = 0x2000, IRQ = 0x3000, MODULE = 0x4000, IRQ_END = 0x3100 };

struct scene {
	struct world *w;
	struct output_config cfg;
	struct rings rings;
	uint64_t ts;
	int32_t pid;
};

static inline struct scene scene_new(uint32_t options, uint32_t graph_options)
{
	struct scene s = {.w = world_new(), .rings = rings_new(GRAPH_CPUS), .pid = 7};

	world_add(s.w, FOO, 0x100, "foo");
	world_add(s.w, BAR, 0x100, "bar");
	world_add(s.w, IRQ, 0x100, "irq");
	world_add(s.w, MODULE, 0x100, "func");
	snprintf(s.w->sym[3].module, sizeof(s.w->sym[3].module), "ext4");
	world_note(s.w, 7, 7, "a-longer-name");
	s.cfg = graph_config(s.w, options, graph_options);
	s.cfg.irqentry_start = IRQ;
	s.cfg.irqentry_end = IRQ_END;
	return s;
}

static inline void scene_put(struct scene *s, const void *data, size_t len)
{
	rings_put(&s->rings, 0, s->ts += 1000, data, len);
}

static inline void enter(struct scene *s, uint64_t func, int depth)
{
	const struct trace_graph_entry e = {
		.ent = {.type = TRACE_GRAPH_ENT, .pid = s->pid},
		.func = func,
		.depth = depth,
	};

	scene_put(s, &e, sizeof(e));
}

static inline void leave(struct scene *s, uint64_t func, int depth, uint64_t ns)
{
	const struct trace_graph_exit e = {
		.ent = {.type = TRACE_GRAPH_RET, .pid = s->pid},
		.func = func,
		.depth = depth,
		.overrun = 5,
		.calltime = 1000,
		.rettime = 1000 + ns,
	};

	scene_put(s, &e, sizeof(e));
}

static inline void call(struct scene *s, uint64_t func, int depth)
{
	enter(s, func, depth);
	leave(s, func, depth, 500);
}

/* Read as trace, without its header, then as trace_pipe, which leaves the rings empty. */
static inline void scene_expect(struct scene *s, const char *want)
{
	char *got = read_all(&s->rings, &s->cfg, false, 4096);

	assert_text_equal(behind_header(got), want);
	free(got);
	got = read_all(&s->rings, &s->cfg, true, 70);
	assert_text_equal(got, want);
	free(got);
}

static inline void scene_free(struct scene *s)
{
	rings_free(&s->rings);
	world_free(s->w);
}

#endif
