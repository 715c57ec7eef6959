// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-max-graph.c - from the log of calls and returns to the graph of what was called in a window:
 * which entries there are, and that they read as the kernel's own trace does.
 */
#include "tests/unit/graph-rings.h"
#include "tracer/core/trace.h"
#include "tracer/graph/max-graph.h"
#include "tracer/payload/record.h"
#include "tracer/tracers/tracers.h"

enum {
	PID = 7,
	OTHER_PID = 8,
	STACK_TOP = 0x10004000,
	IRQ_STACK = 0x20000000,
	FRAME = 0x20,
	HARDIRQ = 1 << 16,
	LOG = 64,
	US = 1000,
};

enum { OUTER = 0x1000, LOCK = 0x2000, WORK = 0x3000, LEAF = 0x4000, NR_FUNCS = 4 };

struct scene {
	struct call_log *log;
	uint64_t now; /* us */
	struct max_graph g;
};

static const struct graph_filter no_filter;

static void log_record(struct scene *s, unsigned int type, uint32_t func, uint32_t sp, int32_t pid,
		       uint32_t state)
{
	const struct payload_record r = {
		.tsc = s->now * 3,
		.ip = func,
		.parent = 0x100 + sp,
		.sp = sp,
		.task = (uint32_t)pid,
		.state = PREEMPT_NO_RESCHED | state | type << STATE_TYPE_SHIFT,
	};

	call_log_add(s->log, 0, &r, GRAPH_TIME_START + s->now * US);
}

static uint32_t sp_of(int level)
{
	return STACK_TOP - (uint32_t)(level + 1) * FRAME;
}

static void enter(struct scene *s, uint64_t us, uint32_t func, int level)
{
	s->now = us;
	log_record(s, PAYLOAD_FUNCTION, func, sp_of(level), PID, STATE_IRQS_OFF);
}

static void leave(struct scene *s, uint64_t us, int level)
{
	s->now = us;
	log_record(s, PAYLOAD_EXIT, 0x9999, sp_of(level), PID, STATE_IRQS_OFF);
}

static struct scene scene_new(void)
{
	struct scene s = {.log = call_log_new(2, LOG)};

	assert_non_null(s.log);
	return s;
}

static void scene_free(struct scene *s)
{
	max_graph_free(&s->g);
	call_log_free(s->log);
}

static struct max_graph_part part_of(const struct scene *s, uint64_t from, uint64_t to)
{
	return (struct max_graph_part){
		.log = s->log,
		.from = GRAPH_TIME_START + from * US,
		.to = GRAPH_TIME_START + to * US,
		.filter = &no_filter,
	};
}

static void make(struct scene *s, const struct max_graph_part *part)
{
	max_graph_free(&s->g);
	assert_int_equal(max_graph_make(&s->g, part), 0);
}

/* Entry n is of this function, that deep; ns UINT64_MAX: it is no return. */
static void is_entry(const struct scene *s, size_t n, uint32_t func, int depth, uint64_t ns)
{
	const struct max_graph_entry *e = &s->g.v[n];

	assert_true(n < s->g.nr);
	assert_int_equal(e->ent.pid, PID);
	assert_int_equal(e->ent.flags, TRACE_FLAG_IRQS_OFF);
	assert_int_equal(e->call.func, KERNEL_HALF | func);
	assert_int_equal(e->call.depth, depth);
	assert_int_equal(e->ent.type, ns == UINT64_MAX ? TRACE_GRAPH_ENT : TRACE_GRAPH_RET);
	if (ns != UINT64_MAX)
		assert_int_equal(e->ret.rettime - e->ret.calltime, ns);
}

/* A window that begins within one function and ends within another. */
static void log_window(struct scene *s)
{
	enter(s, 1, OUTER, 0);
	enter(s, 5, LOCK, 1);
	/* at 10 it begins */
	leave(s, 12, 1);
	enter(s, 20, WORK, 1);
	enter(s, 22, LEAF, 2);
	leave(s, 27, 2);
	leave(s, 30, 1);
	enter(s, 35, LOCK, 1);
	/* at 40 it ends */
	leave(s, 41, 1);
	leave(s, 50, 0);
}

static void only_the_window_counts(void **state)
{
	struct scene s = scene_new();
	struct max_graph_part part = part_of(&s, 10, 40);

	(void)state;
	log_window(&s);
	make(&s, &part);
	assert_int_equal(s.g.nr, 5);
	is_entry(&s, 0, WORK, 0, UINT64_MAX);
	is_entry(&s, 1, LEAF, 1, UINT64_MAX);
	is_entry(&s, 2, LEAF, 1, 5 * US);
	is_entry(&s, 3, WORK, 0, 10 * US);
	is_entry(&s, 4, LOCK, 0, UINT64_MAX);
	assert_int_equal(s.g.v[2].ts, GRAPH_TIME_START + 27 * US);
	/* By ticks, three to a microsecond, where the times are none. */
	part.tsc_khz = 3000;
	make(&s, &part);
	is_entry(&s, 3, WORK, 0, 10 * US);
	scene_free(&s);
}

/* As it was printed by the kernel's own tracer, but for what only that has. */
static void reads_as_the_kernels(void **state)
{
	static const char want[] =
		"       20 us |   0)     foo-7      |  d.... |               |  work() {\n"
		"       22 us |   0)     foo-7      |  d.... |   5.000 us    |    leaf();\n"
		"       30 us |   0)     foo-7      |  d.... |   10.000 us   |  }\n"
		"       35 us |   0)     foo-7      |  d.... |               |  lock() {\n";
	static const char *const names[NR_FUNCS] = {"outer", "lock", "work", "leaf"};
	struct rings rings = rings_new(1);
	struct scene s = scene_new();
	struct max_graph_part part = part_of(&s, 10, 40);
	struct world *w = world_new();
	struct output_config cfg =
		world_config(w, OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, "irqsoff");
	char *got;

	(void)state;
	for (unsigned int n = 0; n < NR_FUNCS; n++)
		world_add(w, KERNEL_HALF | (OUTER * (n + 1)), 0x100, names[n]);
	world_note(w, PID, PID, "foo");
	log_window(&s);
	make(&s, &part);
	for (size_t n = 0; n < s.g.nr; n++)
		rings_put(&rings, 0, s.g.v[n].ts, &s.g.v[n].ent, s.g.v[n].len);
	cfg.graph = true;
	cfg.graph_options = irqsoff_tracer_ops.graph;
	cfg.time_start = GRAPH_TIME_START;
	got = read_all(&rings, &cfg, false, 100);
	assert_text_equal(behind_header(got), want);
	free(got);
	rings_free(&rings);
	world_free(w);
	scene_free(&s);
}

static void the_latest_are_kept(void **state)
{
	struct scene s = scene_new();
	struct max_graph_part part = part_of(&s, 0, 10000);

	(void)state;
	for (uint64_t n = 0; n < 5 * LOG; n++) {
		enter(&s, 10 * n, LEAF, 0);
		leave(&s, 10 * n + 4, 0);
	}
	make(&s, &part);
	assert_int_equal(s.g.nr, LOG);
	is_entry(&s, 0, LEAF, 0, UINT64_MAX);
	is_entry(&s, LOG - 1, LEAF, 0, 4 * US);
	assert_int_equal(s.g.v[0].ts, GRAPH_TIME_START + (5 * LOG - LOG / 2) * 10 * US);
	/* What is missing makes what was before worth nothing. */
	call_log_clear(s.log, 0);
	enter(&s, 9000, WORK, 0);
	make(&s, &part);
	assert_int_equal(s.g.nr, 1);
	is_entry(&s, 0, WORK, 0, UINT64_MAX);
	/* Each vCPU has its own. */
	part.vcpu = 1;
	make(&s, &part);
	assert_int_equal(s.g.nr, 0);
	scene_free(&s);
}

/* On the same vCPU, but another task's, or an interrupt's: each is paired by itself. */
static void tasks_and_interrupts_are_apart(void **state)
{
	const struct pairing_stacks stacks = {
		.thread_size = 0x4000,
		.irq_size = 0x4000,
		.irq_start = {IRQ_STACK},
		.nr_irq = 1,
	};
	struct scene s = scene_new();
	struct max_graph_part part = part_of(&s, 10, 100);

	(void)state;
	part.stacks = &stacks;
	enter(&s, 20, WORK, 0);
	s.now = 30;
	log_record(&s, PAYLOAD_FUNCTION, LOCK, IRQ_STACK + 0x3000, PID, STATE_IRQS_OFF | HARDIRQ);
	s.now = 35;
	log_record(&s, PAYLOAD_EXIT, 0, IRQ_STACK + 0x3000, PID, STATE_IRQS_OFF | HARDIRQ);
	s.now = 40;
	log_record(&s, PAYLOAD_FUNCTION, LEAF, sp_of(0), OTHER_PID, STATE_IRQS_OFF);
	leave(&s, 50, 0);
	make(&s, &part);
	assert_int_equal(s.g.nr, 5);
	is_entry(&s, 0, WORK, 0, UINT64_MAX);
	assert_int_equal(s.g.v[1].call.depth, 1);
	assert_int_equal(s.g.v[2].ret.rettime - s.g.v[2].ret.calltime, 5 * US);
	assert_int_equal(s.g.v[3].ent.pid, OTHER_PID);
	assert_int_equal(s.g.v[3].call.depth, 0);
	is_entry(&s, 4, WORK, 0, 30 * US);
	scene_free(&s);
}

static bool before_25(const void *arg, unsigned int vcpu, uint64_t ts)
{
	assert_ptr_equal(arg, &no_filter);
	assert_int_equal(vcpu, 0);
	return ts < GRAPH_TIME_START + 25 * US;
}

static void filters_hold(void **state)
{
	/* max_graph_depth; the other two are of function_graph alone. */
	const struct graph_filter shallow = {.max_depth = 1, .no_irqs = true, .thresh_ns = 1 << 30};
	struct scene s = scene_new();
	struct max_graph_part part = part_of(&s, 10, 40);

	(void)state;
	log_window(&s);
	part.filter = &shallow;
	make(&s, &part);
	assert_int_equal(s.g.nr, 3);
	is_entry(&s, 0, WORK, 0, UINT64_MAX);
	is_entry(&s, 1, WORK, 0, 10 * US);
	is_entry(&s, 2, LOCK, 0, UINT64_MAX);
	part.filter = &no_filter;
	part.takes = before_25;
	part.arg = &no_filter;
	make(&s, &part);
	assert_int_equal(s.g.nr, 2);
	is_entry(&s, 1, LEAF, 1, UINT64_MAX);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_window_counts),
		cmocka_unit_test(reads_as_the_kernels),
		cmocka_unit_test(the_latest_are_kept),
		cmocka_unit_test(tasks_and_interrupts_are_apart),
		cmocka_unit_test(filters_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
