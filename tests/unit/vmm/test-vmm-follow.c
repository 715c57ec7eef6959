// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-follow.c - calls are followed: each of their branches is told, and the guest goes on. */
#include "tests/unit/testguest.h"

enum { CALLS = 500, CPUS = 2 };

/* What is seen of each vCPU's calls. */
static struct seen {
	uint64_t to; /* of the branch before; of none: where the call is */
	uint64_t returns_to;
	unsigned int calls, returned, bound, left, stopped, branches, leaves, bad;
} seen[CPUS];

static struct wish {
	uint64_t leaf, leaves_at;
	unsigned int steps, until; /* so many branches are wanted of each; 0: all */
} wish;

/* All that a call executes. */
static struct code {
	uint64_t va, size;
} code_of_call[4];

static void code_of_call_init(const struct guest *g)
{
	static const char *const names[] = {"traced_parent", "traced_leaf", "__fentry__",
					    "__x86_return_thunk"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const Elf64_Sym *sym = guest_elf_sym(g, names[i]);

		code_of_call[i] = (struct code){sym->st_value, sym->st_size};
	}
}

static bool is_of_call(uint64_t va)
{
	for (size_t i = 0; i < sizeof(code_of_call) / sizeof(code_of_call[0]); i++)
		if (va - code_of_call[i].va < code_of_call[i].size)
			return true;
	return false;
}

static void on_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	const struct machine_follow follow = {
		.vcpu = hit->vcpu,
		.sp = hit->regs->rsp,
		.leaves = wish.leaves_at,
		.steps = wish.steps,
	};
	struct seen *s = &seen[hit->vcpu];

	(void)arg;
	s->calls++;
	s->branches = 0;
	s->to = hit->regs->rip;
	s->returns_to = *(const uint64_t *)machine_host_ptr(m, guest_pa(hit->regs->rsp), 8);
	if (machine_follow(m, &follow))
		s->bad++;
	if (machine_follow(m, &follow) != -EBUSY)
		s->bad++;
}

/* Between two branches nothing but what lies side by side is executed. */
static bool is_next(const struct seen *s, const struct machine_branch *b)
{
	return b->from >= s->to && b->from - s->to < 256;
}

static bool is_the_calls(const struct seen *s, const struct machine_branch *b)
{
	return is_of_call(b->from) && (is_of_call(b->to) || b->to == s->returns_to);
}

static bool on_branch(struct machine *m, const struct machine_branch *b, void *arg)
{
	struct seen *s = &seen[b->vcpu];

	(void)m, (void)arg;
	if (b->end == MACHINE_FOLLOW_ON) {
		s->bad += !is_next(s, b) || !is_the_calls(s, b) || b->tsc == 0 ||
			  b->regs->rip != b->from;
		s->leaves += b->to == wish.leaf;
		s->to = b->to;
		return !wish.until || ++s->branches < wish.until;
	}
	s->returned += b->end == MACHINE_FOLLOW_RETURNED;
	s->bound += b->end == MACHINE_FOLLOW_BOUND;
	s->left += b->end == MACHINE_FOLLOW_LEFT;
	s->stopped += b->end == MACHINE_FOLLOW_STOPPED;
	return false;
}

/* False: this KVM interprets, where none is followed. */
static bool follow_calls(const char *cmdline, unsigned int cpus, unsigned int steps,
			 unsigned int until, bool leave)
{
	struct machine_trap trap;
	struct machine_config cfg;
	struct machine_info info;
	char err[256] = "";
	struct guest g;
	void *before, *after;
	size_t size;

	memset(seen, 0, sizeof(seen));
	guest_init(&g);
	g.trap = on_trap;
	cfg = guest_config(&g, cpus, cmdline);
	cfg.branch = on_branch;
	g.m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g.m)
		fail_msg("machine_new: %s", err);
	machine_get_info(g.m, &info);
	if (info.follow) {
		trap = guest_trap_at(&g, "traced_parent", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
		code_of_call_init(&g);
		wish = (struct wish){
			.leaf = guest_sym(&g, "traced_leaf"), .steps = steps, .until = until};
		wish.leaves_at = leave ? wish.leaf : 0;
		before = guest_text(&g, &size);
		assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
		guest_run(&g);
		assert_int_equal(machine_traps_clear(g.m, &trap.va, 1), 0);
		after = guest_text(&g, &size);
		assert_memory_equal(before, after, size);
		free(before);
		free(after);
	}
	guest_free(&g);
	return info.follow;
}

static void to_their_returns(void **state)
{
	(void)state;
	if (!follow_calls("job=calls count=500 end=poweroff", CPUS, 1000, 0, false))
		skip();
	for (unsigned int i = 0; i < CPUS; i++) {
		assert_int_equal(seen[i].calls, CALLS);
		assert_int_equal(seen[i].returned, CALLS);
		assert_int_equal(seen[i].leaves, CALLS);
		assert_int_equal(seen[i].bad, 0);
	}
}

/*
 * They execute __fentry__() on the same stack, and are no part of the call. On a host where one of
 * them takes as long as it is to the next one all of them come before the call has gone on.
 */
static void with_interrupts(void **state)
{
	(void)state;
	if (!follow_calls("job=calls count=500 timer=20000 ticks=100 interrupts=100 end=poweroff",
			  1, 1000, 0, false))
		skip();
	print_message("# %u calls, %u returned, %u to the bound, %u left, %u leaves, %u bad\n",
		      seen[0].calls, seen[0].returned, seen[0].bound, seen[0].left, seen[0].leaves,
		      seen[0].bad);
	assert_true(seen[0].calls >= CALLS);
	assert_int_equal(seen[0].returned, seen[0].calls);
	assert_int_equal(seen[0].leaves, seen[0].calls);
	assert_int_equal(seen[0].bad, 0);
}

static void as_far_as_is_wanted(void **state)
{
	(void)state;
	if (!follow_calls("job=calls count=500 end=poweroff", 1, 1, 0, false))
		skip();
	assert_int_equal(seen[0].bound, CALLS);
	assert_true(follow_calls("job=calls count=500 end=poweroff", 1, 1000, 1, false));
	assert_int_equal(seen[0].stopped, CALLS);
	assert_int_equal(seen[0].leaves, CALLS);
	assert_true(follow_calls("job=calls count=500 end=poweroff", 1, 1000, 0, true));
	assert_int_equal(seen[0].left, CALLS);
	assert_int_equal(seen[0].bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_their_returns),
		cmocka_unit_test(with_interrupts),
		cmocka_unit_test(as_far_as_is_wanted),
	};

	return guest_run_tests("calls that are followed", tests);
}
