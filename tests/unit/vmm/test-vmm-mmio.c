// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-mmio.c - accesses to devices are told of: each once, with its value, in their order. */
#include "tests/unit/testguest.h"

enum { ROUNDS = 20, ACCESSES = 9, CPUS = 2 };

/* As tests/guest/mmio.c does them, from 0x14 on in a page of the vCPU's own. */
static const struct machine_mmio round_of[ACCESSES] = {
	{.is_write = true, .size = 1, .pa = 0x14, .value = 0}, /* the round's number */
	{.is_write = true, .size = 2, .pa = 0x16, .value = 0x1234},
	{.is_write = true, .size = 4, .pa = 0x18, .value = 0x89abcdef},
	{.is_write = true, .size = 8, .pa = 0x20, .value = 0x0123456789abcdef},
	{.size = 1, .pa = 0x14, .value = UINT8_MAX},
	{.size = 2, .pa = 0x16, .value = UINT16_MAX},
	{.size = 4, .pa = 0x18, .value = UINT32_MAX},
	{.size = 8, .pa = 0x20, .value = UINT64_MAX},
	{.size = 1, .pa = 0x4000, .value = UINT8_MAX},
};

static struct seen {
	struct machine_mmio v[ROUNDS * ACCESSES];
	unsigned int n;
} seen[CPUS];

static void on_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct seen *s = &seen[access->vcpu];
	struct guest *g = arg;

	if (s->n < ROUNDS * ACCESSES)
		s->v[s->n] = *access;
	s->n++;
	/* Somebody else may stop the machine meanwhile, and so may this. */
	machine_pause(m);
	machine_resume(m);
	if (access->regs->rip < GUEST_VIRT_BASE)
		g->hits[access->vcpu]++;
}

static void check_access(const struct machine_mmio *got, const struct machine_mmio *want,
			 unsigned int cpu, uint64_t value)
{
	assert_int_equal(got->is_write, want->is_write);
	assert_int_equal(got->size, want->size);
	assert_int_equal(got->pa, 0xfd000000 + 0x10000 * cpu + want->pa);
	assert_int_equal(got->value, value);
}

static void test_all_widths(void **state)
{
	struct machine_config cfg;
	struct machine_info info;
	char err[256] = "";
	struct guest g;

	(void)state;
	guest_init(&g);
	cfg = guest_config(&g, CPUS, "job=mmio count=20 end=poweroff");
	cfg.mmio = on_mmio;
	g.m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g.m)
		fail_msg("machine_new: %s", err);
	machine_get_info(g.m, &info);
	assert_true(info.mmio);
	guest_run(&g);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		const struct seen *s = &seen[cpu];

		assert_int_equal(s->n, ROUNDS * ACCESSES);
		assert_int_equal(g.hits[cpu], 0);
		for (unsigned int i = 0; i < s->n; i++) {
			unsigned int k = i % ACCESSES;

			check_access(&s->v[i], &round_of[k], cpu,
				     k ? round_of[k].value : i / ACCESSES);
			assert_true(!i || s->v[i].tsc > s->v[i - 1].tsc);
		}
	}
	guest_free(&g);
}

/* Nobody asks: the guest goes on all the same. */
static void test_nobody_asks(void **state)
{
	struct guest g;

	(void)state;
	guest_new(&g, 1, "job=mmio count=3 end=poweroff");
	guest_run(&g);
	guest_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_widths),
		cmocka_unit_test(test_nobody_asks),
	};

	return guest_run_tests("accesses to devices", tests);
}
