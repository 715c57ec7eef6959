// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-hits.c - what a traced call costs: a hit of the function tracer with its full record,
 * against a bare exit to the host with nothing behind it.
 *
 * The test guest runs one loop all the time; only its site changes. It has no tasks: a page of its
 * RAM is made up to be what the tracer reads of a kernel for each record (task, name, preemption
 * count, clock), so that all of that is in the figure.
 */
#include "tests/unit/testguest.h"
#include "tracer/ring/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/tracer.h"
#include "tests/bench/bench.h"
#include "tests/bench/guest-loop.h"

enum { ROUNDS = 20, TRIES = 50, REPEATS = 31, FAKE_PA = 32 << 20 };

#define FAKE_VA (UINT64_C(0xffff888000000000) + FAKE_PA)

/* Offsets in the made-up page: per-CPU variables, then a task. */
enum { CURRENT = 0x100, COUNT = 0x108, CYC2NS = 0x140, TASK = 0x200 };
enum { TASK_FLAGS = 0, TASK_PID = 0x20, TASK_TGID = 0x24, TASK_COMM = 0x30, TASK_MIGRATION = 0x40 };

struct bench {
	struct guest g;
	struct guestsym *gs;
	struct trace *t;
	uint64_t loop_ns;
};

static void bench_hit(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct bench *b = arg;

	(void)m;
	trace_trap(b->t, hit);
}

static void put(struct bench *b, uint64_t pa, const void *data, size_t len)
{
	assert_int_equal(machine_write(b->g.m, pa, data, len), 0);
}

static void put_u64(struct bench *b, uint64_t pa, uint64_t value)
{
	put(b, pa, &value, sizeof(value));
}

/* Make the guest look like a kernel to tracer/guest/guest.c. */
static void fake_kernel(struct bench *b)
{
	struct guest_layout *at = &b->t->guest.at;

	*at = (struct guest_layout){
		.per_cpu_offset = guest_sym(&b->g, "regs_seen"),
		.current_task = CURRENT,
		.preempt_count = COUNT,
		.cyc2ns = CYC2NS,
		.task_pid = TASK_PID,
		.task_comm = TASK_COMM,
		.task_tgid = TASK_TGID,
		.task_flags = TASK_FLAGS,
		.task_migration_disabled = TASK_MIGRATION,
		.c2n_seq = 32,
		.c2n_shift = 4,
		.c2n_offset = 8,
		.c2n_size = 16,
		.use_tsc = guest_sym(&b->g, "regs_seen") + 8,
		.sched_clock_offset = guest_sym(&b->g, "regs_seen") + 16,
		.jiffies = GUEST_NONE,
		.tick_nsec = GUEST_NONE,
	};
	put_u64(b, guest_pa(at->per_cpu_offset), FAKE_VA);
	put_u64(b, guest_pa(at->use_tsc), 1);
	put_u64(b, FAKE_PA + CURRENT, FAKE_VA + TASK);
	put_u64(b, FAKE_PA + COUNT, 0x80000000);
	put_u64(b, FAKE_PA + CYC2NS, UINT64_C(10) << 32 | 400);
	put_u64(b, FAKE_PA + TASK + TASK_PID, UINT64_C(1234) << 32 | 1234);
	put(b, FAKE_PA + TASK + TASK_COMM, "bench", 6);
}

static void bench_start(struct bench *b)
{
	const char *filter = "traced_leaf";
	struct trace_config tc = {
		.vcpus = 1,
		.tracer = "function",
		.filter = &filter,
		.nr_filter = 1,
		.buffer_bytes = 1 << 20,
	};
	struct machine_config mc;
	char err[256];

	guest_init(&b->g);
	b->gs = guestsym_parse(b->g.image, b->g.image_size, err, sizeof(err));
	if (!b->gs)
		fail_msg("%s", err);
	tc.gs = b->gs;
	b->t = trace_new(&tc, err, sizeof(err));
	if (!b->t)
		fail_msg("%s", err);
	mc = guest_config(&b->g, 1, "job=bench end=poweroff");
	mc.trap = bench_hit;
	mc.console = NULL;
	mc.arg = b;
	b->g.m = machine_new("kvm", &mc, err, sizeof(err));
	if (!b->g.m)
		fail_msg("%s", err);
	if (trace_attach(b->t, b->g.m, err, sizeof(err)))
		fail_msg("%s", err);
	fake_kernel(b);
	guest_start(&b->g);
}

static double round_ns(struct bench *b)
{
	return guest_loop_ns(&b->g, TRIES, ROUNDS);
}

static void site_write(struct bench *b, const char bytes[5])
{
	machine_pause(b->g.m);
	put(b, guest_pa(guest_sym(&b->g, "bench_site")), bytes, 5);
	machine_resume(b->g.m);
}

static double bare_ns(struct bench *b)
{
	double ns;

	site_write(b, "\xe6\x7e\x0f\x1f");
	ns = round_ns(b);
	site_write(b, "\x0f\x1f\x44\x00");
	return ns;
}

/* The one that the filter selects stands for the loop: what is not selected is not recorded. */
static uint64_t recorded_probe(const struct bench *b)
{
	const struct probe_set *set = &b->t->probes;

	for (size_t i = 0; i < set->nr; i++)
		if (set->v[i].flags & PROBE_FL_RECORD)
			return i;
	fail_msg("no probe is recorded");
	return 0;
}

static double traced_ns(struct bench *b)
{
	struct machine_trap trap =
		guest_trap_at(&b->g, "bench_site", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	double ns;

	trap.cookie = recorded_probe(b);
	assert_int_equal(machine_traps_set(b->g.m, &trap, 1), 0);
	ns = round_ns(b);
	assert_int_equal(machine_traps_clear(b->g.m, &trap.va, 1), 0);
	return ns;
}

static void check_records(struct bench *b)
{
	struct ring_cursor *c = ring_look(b->t->instances->ring[0]);
	const struct trace_entry *e;
	struct ring_event ev;

	assert_true(ring_next(c, &ev));
	e = ev.data;
	assert_int_equal(e->type, TRACE_FN);
	assert_int_equal(e->pid, 1234);
	assert_true(ev.ts > 0);
	ring_cursor_free(c);
}

static void bench_hits(void **state)
{
	double bare[REPEATS], traced[REPEATS], ratio[REPEATS];
	struct bench b = {0};

	(void)state;
	bench_start(&b);
	round_ns(&b);
	for (int i = 0; i < REPEATS; i++) {
		bare[i] = bare_ns(&b);
		traced[i] = traced_ns(&b);
		ratio[i] = traced[i] / bare[i];
	}
	check_records(&b);
	assert_int_equal(trace_detach(b.t), 0);
	guest_var(&b.g, "job_stop")[0] = 1;
	guest_wait_end(&b.g, MACHINE_EVENT_POWEROFF);
	guest_free(&b.g);
	trace_free(b.t);
	guestsym_close(b.gs);
	print_message("bare exit                           %8.0f ns (median of %d)\n",
		      bench_median(bare, REPEATS), REPEATS);
	print_message("traced hit with full record         %8.0f ns\n",
		      bench_median(traced, REPEATS));
	bench_median(ratio, REPEATS);
	print_message("ratio                               %8.2f (%.2f to %.2f)\n",
		      ratio[REPEATS / 2], ratio[0], ratio[REPEATS - 1]);
	bench_figure("hits.ratio", ratio[REPEATS / 2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench_hits)};

	return guest_run_tests("bench-hits", tests);
}
