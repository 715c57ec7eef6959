// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-exits.c - what a trap costs: the time of an exit with nothing behind it, and of a hit.
 *
 * The test guest runs one loop all the time; only its site changes: the NOP that it is, an `out`
 * that belongs to nobody, a trap. What the loop itself takes is subtracted.
 */
#include "tests/bench/guest-loop.h"

#define ROUNDS 100
#define TRIES  500

enum { BYTES = 5 };

static double round_ns(struct guest *g)
{
	return guest_loop_ns(g, TRIES, ROUNDS);
}

static void site_write(struct guest *g, const char *bytes)
{
	machine_pause(g->m);
	assert_int_equal(machine_write(g->m, guest_pa(guest_sym(g, "bench_site")), bytes, BYTES),
			 0);
	machine_resume(g->m);
}

static void no_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	(void)m;
	(void)hit;
	(void)arg;
}

static void sregs_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct machine_sregs sregs;

	(void)arg;
	machine_get_sregs(m, hit->vcpu, &sregs);
}

static double trap_ns(struct guest *g, enum machine_trap_kind kind)
{
	struct machine_trap trap = guest_trap_at(g, "bench_site", kind, MACHINE_TRAP_SKIP);
	double ns;

	assert_int_equal(machine_traps_set(g->m, &trap, 1), 0);
	ns = round_ns(g);
	assert_int_equal(machine_traps_clear(g->m, &trap.va, 1), 0);
	return ns;
}

static void start(struct guest *g, machine_trap_fn *handler)
{
	struct machine_config cfg;
	char err[256];

	guest_init(g);
	cfg = guest_config(g, 1, "job=bench end=poweroff");
	cfg.trap = handler;
	g->m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g->m)
		fail_msg("machine_new: %s", err);
	guest_start(g);
}

static void bench_exits(void **state)
{
	double loop, bare, out, int3, sregs;
	struct guest g;

	(void)state;
	start(&g, no_handler);
	loop = round_ns(&g);
	site_write(&g, "\xe6\x7e\x0f\x1f\x00");
	bare = round_ns(&g) - loop;
	site_write(&g, "\x0f\x1f\x44\x00\x00");
	out = trap_ns(&g, MACHINE_TRAP_OUT) - loop;
	int3 = trap_ns(&g, MACHINE_TRAP_INT3) - loop;
	guest_stop(&g);
	guest_free(&g);

	start(&g, sregs_handler);
	sregs = trap_ns(&g, MACHINE_TRAP_OUT) - loop;
	guest_stop(&g);
	guest_free(&g);

	print_message("guest's loop without exit: %8.0f ns\n", loop);
	print_message("bare exit:                 %8.0f ns\n", bare);
	print_message("trap hit, out:             %8.0f ns (%.2f of a bare exit)\n", out,
		      out / bare);
	print_message("trap hit, int3:            %8.0f ns (%.2f)\n", int3, int3 / bare);
	print_message("out, and reading sregs:    %8.0f ns (%.2f)\n", sregs, sregs / bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bench_exits)};

	return guest_run_tests("bench-exits", tests);
}
