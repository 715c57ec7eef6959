// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-traps.c - traps: every hit counted, none lost, and the guest never any the worse. */
#include "tests/unit/testguest.h"

#include <capstone/capstone.h>

#define SET_CLEAR_ROUNDS 1000

static void set(struct guest *g, const struct machine_trap *traps, size_t n)
{
	assert_int_equal(machine_traps_set(g->m, traps, n), 0);
}

static void clear(struct guest *g, const struct machine_trap *traps, size_t n)
{
	uint64_t vas[GUEST_NR_WORK];

	for (size_t i = 0; i < n; i++)
		vas[i] = traps[i].va;
	assert_int_equal(machine_traps_clear(g->m, vas, n), 0);
}

/* --- counting ------------------------------------------------------------------------------ */

static void check_counts(unsigned int cpus, enum machine_trap_kind kind, const char *cmdline)
{
	struct machine_trap traps[2];
	_Atomic uint64_t *count;
	size_t size;
	void *before, *after;
	struct guest g;

	guest_new(&g, cpus, cmdline);
	before = guest_text(&g, &size);
	traps[0] = guest_trap_at(&g, "traced_leaf", kind, MACHINE_TRAP_SKIP);
	traps[1] = guest_trap_at(&g, "traced_parent", kind, MACHINE_TRAP_SKIP);
	set(&g, traps, 2);
	guest_run(&g);
	count = guest_var(&g, "leaf_count");
	for (unsigned int i = 0; i < cpus; i++) {
		assert_int_equal(count[i], 2000);
		assert_int_equal(g.hits[i], 2 * count[i]);
	}
	clear(&g, traps, 2);
	after = guest_text(&g, &size);
	assert_memory_equal(before, after, size);
	free(before);
	free(after);
	guest_free(&g);
}

static void test_counts_out(void **state)
{
	(void)state;
	check_counts(1, MACHINE_TRAP_OUT, "job=calls count=2000 end=poweroff");
	check_counts(2, MACHINE_TRAP_OUT, "job=calls count=2000 end=poweroff");
}

static void test_counts_int3(void **state)
{
	(void)state;
	check_counts(1, MACHINE_TRAP_INT3, "job=calls count=2000 end=poweroff");
	check_counts(2, MACHINE_TRAP_INT3, "job=calls count=2000 end=poweroff");
}

/* Where traced_leaf() returns: its one jump, which is to the return thunk. */
static uint64_t leaf_return(struct guest *g)
{
	uint64_t va = guest_sym(g, "traced_leaf");
	uint8_t code[128];
	const uint8_t *at = code;
	size_t left = sizeof(code);
	cs_insn *insn;
	csh cs;

	assert_int_equal(machine_read(g->m, guest_pa(va), code, sizeof(code)), 0);
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &cs), CS_ERR_OK);
	insn = cs_malloc(cs);
	while (cs_disasm_iter(cs, &at, &left, &va, insn) && insn->id != X86_INS_JMP)
		;
	assert_int_equal(insn->id, X86_INS_JMP);
	va = insn->address;
	cs_free(insn, 1);
	cs_close(&cs);
	return va;
}

/* A trap stands for the return itself: the guest counts as ever, each call's two traps hit. */
static void check_returns(unsigned int cpus, enum machine_trap_kind kind, uint8_t size)
{
	struct machine_trap traps[2];
	_Atomic uint64_t *count;
	struct guest g;

	guest_new(&g, cpus, "job=calls count=2000 end=poweroff");
	traps[0] = guest_trap_at(&g, "traced_leaf", kind, MACHINE_TRAP_SKIP);
	traps[1] = traps[0];
	traps[1].va = leaf_return(&g);
	traps[1].pa = guest_pa(traps[1].va);
	traps[1].size = size;
	traps[1].action = MACHINE_TRAP_RETURN;
	traps[1].cookie = traps[1].va ^ 0x5555;
	set(&g, traps, 2);
	guest_run(&g);
	count = guest_var(&g, "leaf_count");
	for (unsigned int i = 0; i < cpus; i++) {
		assert_int_equal(count[i], 2000);
		assert_int_equal(g.hits[i], 2 * count[i]);
	}
	guest_free(&g);
}

static void test_returns(void **state)
{
	(void)state;
	check_returns(1, MACHINE_TRAP_OUT, 5);
	check_returns(2, MACHINE_TRAP_OUT, 2);
	check_returns(2, MACHINE_TRAP_INT3, 1);
}

/* Interrupts between any two instructions, and a trap in their handler as well. */
static void check_counts_with_interrupts(enum machine_trap_kind kind)
{
	struct machine_trap traps[2];
	uint64_t interrupts;
	struct guest g;

	guest_new(&g, 2, "job=calls count=3000 timer=1000000 end=poweroff");
	traps[0] = guest_trap_at(&g, "traced_leaf", kind, MACHINE_TRAP_SKIP);
	traps[1] = guest_trap_at(&g, "guest_interrupt", kind, MACHINE_TRAP_SKIP);
	set(&g, traps, 2);
	guest_run(&g);
	interrupts = guest_var(&g, "timer_count")[0] + guest_var(&g, "timer_count")[1];
	assert_true(interrupts > 0);
	assert_int_equal(guest_hits(&g), 6000 + interrupts);
	guest_free(&g);
}

static void test_interrupts_out(void **state)
{
	(void)state;
	check_counts_with_interrupts(MACHINE_TRAP_OUT);
}

static void test_interrupts_int3(void **state)
{
	(void)state;
	check_counts_with_interrupts(MACHINE_TRAP_INT3);
}

/* --- set and clear under load --------------------------------------------------------------- */

/*
 * With all vCPUs stopped: how many calls the guest has counted, and those that have passed their
 * site and are about to count themselves.
 */
static uint64_t calls_past_site(struct guest *g, const struct machine_trap *traps,
				const uint64_t *counted_at)
{
	_Atomic uint64_t *count = guest_var(g, "work_count");
	uint64_t n = 0;

	for (unsigned int i = 0; i < 2 * GUEST_NR_WORK; i++)
		n += count[i];
	for (unsigned int vcpu = 0; vcpu < 2; vcpu++) {
		struct machine_regs regs;

		assert_int_equal(machine_get_regs(g->m, vcpu, &regs), 0);
		for (unsigned int i = 0; i < GUEST_NR_WORK; i++)
			n += regs.rip > traps[i].va && regs.rip < counted_at[i];
	}
	return n;
}

static void check_set_clear(enum machine_trap_kind kind, unsigned int rounds)
{
	struct machine_trap traps[GUEST_NR_WORK];
	uint64_t counted_at[GUEST_NR_WORK], calls, hits;
	size_t size;
	void *before, *after;
	struct guest g;

	guest_new(&g, 2, "job=work nops=1 end=poweroff");
	guest_work_traps(&g, traps, kind, MACHINE_TRAP_SKIP);
	for (unsigned int i = 0; i < GUEST_NR_WORK; i++) {
		char name[24];

		snprintf(name, sizeof(name), "work_counted_%u", i);
		counted_at[i] = guest_sym(&g, name);
	}
	guest_start(&g);
	guest_wait_var(guest_var(&g, "work_count") + GUEST_NR_WORK, 1); /* both are up */
	before = guest_text(&g, &size);
	for (unsigned int round = 0; round < rounds; round++) {
		size_t n = 1 + round % GUEST_NR_WORK;

		machine_pause(g.m);
		set(&g, traps, GUEST_NR_WORK);
		calls = calls_past_site(&g, traps, counted_at);
		hits = guest_hits(&g);
		machine_resume(g.m);

		guest_wait_hits(&g, hits + 1 + round % 5);

		machine_pause(g.m);
		calls = calls_past_site(&g, traps, counted_at) - calls;
		hits = guest_hits(&g) - hits;
		clear(&g, traps, n);
		machine_resume(g.m);
		clear(&g, traps + n, GUEST_NR_WORK - n); /* on its own */
		if (hits != calls)
			fail_msg("round %u: %lu hits for %lu calls", round, (unsigned long)hits,
				 (unsigned long)calls);
	}
	after = guest_text(&g, &size);
	assert_memory_equal(before, after, size);
	guest_stop(&g);
	free(before);
	free(after);
	guest_free(&g);
}

static void test_set_clear_out(void **state)
{
	(void)state;
	check_set_clear(MACHINE_TRAP_OUT, SET_CLEAR_ROUNDS);
}

static void test_set_clear_int3(void **state)
{
	(void)state;
	check_set_clear(MACHINE_TRAP_INT3, SET_CLEAR_ROUNDS / 4);
}

struct swap {
	struct machine_trap traps[GUEST_NR_WORK];
	bool stop; /* only looked at and changed with the machine paused */
};

/* Both vCPUs' handlers, at the same time, take the other one's traps out and put them back. */
static void set_clear_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;
	struct swap *swap = g->user;
	struct machine_trap *trap = swap->traps + 4 * hit->vcpu;
	uint64_t vas[4] = {trap[0].va, trap[1].va, trap[2].va, trap[3].va};

	machine_pause(m);
	if (!swap->stop) {
		holds(machine_traps_clear(m, vas, 4) == 0);
		holds(machine_traps_set(m, trap, 4) == 0);
	}
	machine_resume(m);
}

static void test_set_clear_in_handlers(void **state)
{
	struct swap swap = {0};
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=work end=poweroff");
	guest_work_traps(&g, swap.traps, MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	g.trap = set_clear_handler;
	g.user = &swap;
	set(&g, swap.traps, GUEST_NR_WORK);
	guest_start(&g);
	guest_wait_hits(&g, 1000);
	machine_pause(g.m);
	swap.stop = true;
	clear(&g, swap.traps, GUEST_NR_WORK);
	machine_resume(g.m);
	guest_stop(&g);
	guest_free(&g);
}

/* --- once ----------------------------------------------------------------------------------- */

static void check_once(enum machine_trap_kind kind)
{
	struct machine_trap traps[GUEST_NR_WORK];
	size_t size;
	void *before, *after;
	struct guest g;

	guest_new(&g, 2, "job=work nops=1 end=poweroff");
	guest_work_traps(&g, traps, kind, MACHINE_TRAP_ONCE);
	guest_start(&g);
	guest_wait_var(guest_var(&g, "work_count") + GUEST_NR_WORK, 1);
	before = guest_text(&g, &size);
	for (uint64_t round = 1; round <= 100; round++) {
		set(&g, traps, GUEST_NR_WORK); /* so all have gone by themselves */
		guest_wait_hits(&g, round * GUEST_NR_WORK);
	}
	machine_pause(g.m);
	assert_int_equal(guest_hits(&g), 100 * GUEST_NR_WORK);
	after = guest_text(&g, &size);
	assert_memory_equal(before, after, size);
	machine_resume(g.m);
	guest_stop(&g);
	free(before);
	free(after);
	guest_free(&g);
}

static void test_once_out(void **state)
{
	(void)state;
	check_once(MACHINE_TRAP_OUT);
}

static void test_once_int3(void **state)
{
	(void)state;
	check_once(MACHINE_TRAP_INT3);
}

/* --- the guest's own breakpoints ------------------------------------------------------------ */

static void test_guests_own_int3(void **state)
{
	struct machine_trap trap;
	struct guest g;

	(void)state;
	guest_new(&g, 1, "job=int3 count=50 end=poweroff"); /* nobody asked for breakpoints */
	guest_run(&g);
	guest_free(&g);

	guest_new(&g, 1, "job=int3 count=50 end=poweroff");
	trap = guest_trap_at(&g, "traced_int3", MACHINE_TRAP_INT3, MACHINE_TRAP_SKIP);
	set(&g, &trap, 1); /* elsewhere */
	guest_run(&g);
	assert_int_equal(guest_hits(&g), 0);
	guest_free(&g);

	guest_new(&g, 1, "job=mixed-int3 count=50 end=poweroff");
	trap = guest_trap_at(&g, "traced_int3", MACHINE_TRAP_INT3, MACHINE_TRAP_SKIP);
	set(&g, &trap, 1);
	guest_run(&g);
	assert_int_equal(guest_hits(&g), 50);
	guest_free(&g);
}

/* An `out` to our port that the guest has itself is nobody's trap. */
static void test_guests_own_out(void **state)
{
	struct guest g;

	(void)state;
	guest_new(&g, 1, "job=out end=poweroff");
	guest_start(&g);
	guest_wait_var(guest_var(&g, "out_count"), 1000);
	guest_stop(&g);
	assert_int_equal(guest_hits(&g), 0);
	guest_free(&g);
}

/* --- the table ------------------------------------------------------------------------------ */

#define BATCH 37000

/* As many as a kernel has functions, in memory of the guest that it does not use. */
static void test_large_batch(void **state)
{
	const uint64_t pa = 48ull << 20, va = 0xffffffffa0000000;
	struct machine_trap *traps = calloc(BATCH, sizeof(*traps));
	uint64_t *vas = calloc(BATCH, sizeof(*vas));
	struct timespec t[3];
	uint8_t *text;
	struct guest g;

	(void)state;
	guest_new(&g, 1, "end=poweroff");
	text = machine_host_ptr(g.m, pa, BATCH * 16);
	assert_non_null(text);
	for (uint64_t i = 0; i < BATCH; i++) {
		vas[i] = va + i * 16;
		traps[i] = (struct machine_trap){.va = vas[i], .pa = pa + i * 16, .size = 5};
		memcpy(text + i * 16, &i, 5);
	}
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	set(&g, traps, BATCH);
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	for (uint64_t i = 0; i < BATCH; i++)
		assert_memory_equal(text + i * 16, "\xe6\x7e\x90\x90\x90", 5);
	clock_gettime(CLOCK_MONOTONIC, &t[2]);
	print_message("# %d traps set in %.1f ms\n", BATCH,
		      (double)(t[1].tv_sec - t[0].tv_sec) * 1e3 +
			      (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e6);
	assert_int_equal(machine_traps_clear(g.m, vas, BATCH), 0);
	for (uint64_t i = 0; i < BATCH; i++)
		assert_memory_equal(text + i * 16, &i, 5);
	guest_run(&g);
	free(traps);
	free(vas);
	guest_free(&g);
}

/* The second of two traps cannot be set, so neither is. */
static void refused(struct guest *g, const struct machine_trap *good,
		    const struct machine_trap *bad, int error)
{
	const struct machine_trap both[] = {*good, *bad};

	assert_int_equal(machine_traps_set(g->m, both, 2), error);
}

static void no_traps(struct guest *g, const struct machine_trap *good)
{
	const struct machine_trap other =
		guest_trap_at(g, "work_1", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	static const uint8_t sizes[] = {1, 9, 0};
	struct machine_trap bad = other;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bad.size = sizes[i];
		refused(g, good, &bad, -EINVAL);
	}
	bad = other;
	bad.kind = 2;
	refused(g, good, &bad, -EINVAL);
	bad = other;
	bad.action = 3;
	refused(g, good, &bad, -EINVAL);
	bad = other;
	bad.pa = (64 << 20) - 4;
	refused(g, good, &bad, -EFAULT);
}

static void traps_in_the_way(struct guest *g, const struct machine_trap *good)
{
	static const int apart[] = {0, 4, -4};
	struct machine_trap bad;

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		bad = *good;
		bad.va += (uint64_t)(int64_t)apart[i];
		bad.pa += (uint64_t)(int64_t)apart[i];
		refused(g, good, &bad, -EEXIST);
	}
	bad = *good; /* the same memory by another address */
	bad.va -= GUEST_VIRT_BASE;
	refused(g, good, &bad, -EEXIST);
}

static void clears_all_or_none(struct guest *g, const struct machine_trap *good)
{
	struct machine_trap both[] = {*good, *good};
	uint64_t vas[2] = {good->va, good->va + 1};

	both[1].va -= 5, both[1].pa -= 5; /* side by side */
	set(g, both, 2);
	assert_int_equal(machine_traps_clear(g->m, vas, 2), -ENOENT);
	vas[1] = both[1].va;
	assert_int_equal(machine_traps_clear(g->m, vas, 2), 0);
	assert_int_equal(machine_traps_clear(g->m, vas, 1), -ENOENT);
}

static void test_errors(void **state)
{
	void (*const tries[])(struct guest * g, const struct machine_trap *good) = {
		no_traps, traps_in_the_way, clears_all_or_none};
	struct machine_trap good;
	size_t size;
	void *before, *after;
	struct guest g;

	(void)state;
	guest_new(&g, 1, "end=poweroff");
	before = guest_text(&g, &size);
	good = guest_trap_at(&g, "work_0", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		tries[i](&g, &good);
		after = guest_text(&g, &size);
		assert_memory_equal(before, after, size); /* it has left no trace */
		free(after);
	}
	guest_run(&g);
	free(before);
	guest_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_out),
		cmocka_unit_test(test_counts_int3),
		cmocka_unit_test(test_interrupts_out),
		cmocka_unit_test(test_interrupts_int3),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_set_clear_out),
		cmocka_unit_test(test_set_clear_int3),
		cmocka_unit_test(test_set_clear_in_handlers),
		cmocka_unit_test(test_once_out),
		cmocka_unit_test(test_once_int3),
		cmocka_unit_test(test_guests_own_int3),
		cmocka_unit_test(test_guests_own_out),
		cmocka_unit_test(test_large_batch),
		cmocka_unit_test(test_errors),
	};

	return guest_run_tests("vmm-traps", tests);
}
