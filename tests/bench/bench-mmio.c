// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-mmio.c - what an access to a device costs when the tracer mmiotrace records it, against the
 * exit that it is anyway. Two test guests read one register over and over; one of them is traced.
 */
#include "tests/unit/testguest.h"
#include "tests/bench/bench.h"
#include "tests/bench/guest-loop.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/entry.h"
#include "tracer/tracer.h"

enum { ROUNDS = 20, TRIES = 50, REPEATS = 31 };

struct bench {
	struct guest plain, traced;
	struct guestsym *gs;
	struct trace *t;
};

static void on_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct bench *b = arg;

	(void)m;
	trace_trap(b->t, hit);
}

static void on_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct bench *b = arg;

	(void)m;
	trace_mmio(b->t, access);
}

static void traced_new(struct bench *b)
{
	struct trace_config tc = {
		.vcpus = 1,
		.tracer = "mmiotrace",
		.buffer_bytes = 1 << 20,
		.engine = TRACE_ENGINE_TRAP,
	};
	struct machine_config mc;
	char err[256];

	guest_init(&b->traced);
	b->gs = guestsym_parse(b->traced.image, b->traced.image_size, err, sizeof(err));
	if (!b->gs)
		fail_msg("%s", err);
	tc.gs = b->gs;
	b->t = trace_new(&tc, err, sizeof(err));
	if (!b->t)
		fail_msg("%s", err);
	mc = guest_config(&b->traced, 1, "job=register end=poweroff");
	mc.trap = on_trap;
	mc.mmio = on_mmio;
	mc.console = NULL;
	mc.arg = b;
	b->traced.m = machine_new("kvm", &mc, err, sizeof(err));
	if (!b->traced.m)
		fail_msg("%s", err);
	if (trace_attach(b->t, b->traced.m, err, sizeof(err)))
		fail_msg("%s", err);
}

/* While the other one stands. */
static double access_ns(struct guest *g)
{
	double ns;

	machine_resume(g->m);
	ns = guest_loop_ns(g, TRIES, ROUNDS);
	machine_pause(g->m);
	return ns;
}

static void check_records(struct bench *b)
{
	struct ring_cursor *c = ring_look(b->t->instances->ring[0]);
	const struct trace_mmio_rw_entry *e;
	struct ring_event ev;

	assert_true(ring_next(c, &ev));
	e = ev.data;
	assert_int_equal(e->ent.type, TRACE_MMIO_RW);
	assert_int_equal(e->value, UINT32_MAX);
	assert_int_equal(e->map_id, 1);
	assert_true(ev.ts > 0);
	ring_cursor_free(c);
}

static void end(struct guest *g)
{
	machine_resume(g->m);
	guest_var(g, "job_stop")[0] = 1;
	guest_wait_end(g, MACHINE_EVENT_POWEROFF);
}

static void bench_mmio(void **state)
{
	double plain[REPEATS], traced[REPEATS], ratio[REPEATS];
	struct bench b = {0};

	(void)state;
	guest_new(&b.plain, 1, "job=register end=poweroff");
	traced_new(&b);
	guest_start(&b.plain);
	guest_start(&b.traced);
	guest_wait_var(guest_var(&b.plain, "bench_count"), 1);
	guest_wait_var(guest_var(&b.traced, "bench_count"), 1);
	machine_pause(b.plain.m);
	machine_pause(b.traced.m);
	for (int i = 0; i < REPEATS; i++) {
		plain[i] = access_ns(&b.plain);
		traced[i] = access_ns(&b.traced);
		ratio[i] = traced[i] / plain[i];
	}
	end(&b.plain);
	end(&b.traced);
	assert_int_equal(trace_detach(b.t), 0);
	check_records(&b);
	guest_free(&b.plain);
	guest_free(&b.traced);
	trace_free(b.t);
	guestsym_close(b.gs);
	print_message("access to a device                  %8.0f ns (median of %d)\n",
		      bench_median(plain, REPEATS), REPEATS);
	print_message("recorded by mmiotrace               %8.0f ns\n",
		      bench_median(traced, REPEATS));
	bench_median(ratio, REPEATS);
	print_message("ratio                               %8.2f (%.2f to %.2f)\n",
		      ratio[REPEATS / 2], ratio[0], ratio[REPEATS - 1]);
	bench_figure("mmio.ratio", ratio[REPEATS / 2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench_mmio)};

	return guest_run_tests("bench-mmio", tests);
}
