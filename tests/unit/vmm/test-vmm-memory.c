// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-memory.c - what machines have: memory, windows, text that is patched, and registers. */
#include "tests/unit/testguest.h"

#include <asm/bootparam.h>

#include "vmm/kvm/kvm.h"

#define MIB (1ull << 20)

/* --- memory -------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
	uint64_t word = 0x1122334455667788, back = 0;
	struct guest g;

	(void)state;
	guest_new(&g, 1, "end=poweroff");
	assert_non_null(machine_host_ptr(g.m, 0, 64 * MIB));
	assert_null(machine_host_ptr(g.m, 0, 64 * MIB + 1));
	assert_null(machine_host_ptr(g.m, 64 * MIB, 1));
	assert_null(machine_host_ptr(g.m, UINT64_MAX - 3, 8));
	assert_int_equal(machine_write(g.m, 32 * MIB - 4, &word, 8), 0);
	assert_int_equal(machine_read(g.m, 32 * MIB - 4, &back, 8), 0);
	assert_int_equal(back, word);
	assert_int_equal(machine_read(g.m, 64 * MIB - 4, &back, 8), -EFAULT);
	guest_free(&g);
}

/* More than fits below the hole for devices, and none of it takes host memory until it is used. */
static void test_memory_above_4g(void **state)
{
	struct machine_config cfg;
	char err[256] = "";
	struct guest g;
	void *host;
	uint64_t pa;

	(void)state;
	if ((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) < 5120 * MIB)
		skip();
	guest_init(&g);
	cfg = guest_config(&g, 1, "end=poweroff");
	cfg.memory = 5120 * MIB;
	g.m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g.m)
		fail_msg("machine_new: %s", err);
	assert_non_null(machine_host_ptr(g.m, 0, 3072 * MIB));
	assert_null(machine_host_ptr(g.m, 3072 * MIB, 1));
	assert_null(machine_host_ptr(g.m, 4096 * MIB - 1, 1));
	assert_non_null(machine_host_ptr(g.m, 4096 * MIB, 2048 * MIB));
	assert_null(machine_host_ptr(g.m, 6144 * MIB, 1));
	assert_int_equal(machine_window(g.m, 1, &pa, &host), 0);
	assert_int_equal(pa, 6144 * MIB);
	guest_run(&g);
	guest_free(&g);
}

static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long size, resident;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &size, &resident), 2);
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Guest memory that nobody has touched takes none of the host's. */
static void test_resident_size(void **state)
{
	uint64_t before = resident_bytes();
	struct machine_config cfg;
	char err[256] = "";
	struct guest g;

	(void)state;
	guest_init(&g);
	cfg = guest_config(&g, 2, "job=calls end=poweroff");
	cfg.memory = 1024 * MIB;
	g.m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g.m)
		fail_msg("machine_new: %s", err);
	guest_run(&g);
	assert_true(resident_bytes() - before < 64 * MIB);
	guest_free(&g);
}

/* What the kernel is told: the boot protocol's structure, as the host can read it. */
static void test_boot_params(void **state)
{
	static const char initrd[] = "what an initrd holds is its own business";
	struct machine_config cfg;
	struct boot_params *bp;
	uint64_t usable = 0;
	char err[256] = "";
	struct guest g;

	(void)state;
	guest_init(&g);
	cfg = guest_config(&g, 1, "end=poweroff");
	cfg.initrd = initrd;
	cfg.initrd_size = sizeof(initrd);
	g.m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g.m)
		fail_msg("machine_new: %s", err);
	bp = machine_host_ptr(g.m, 0x7000, sizeof(*bp));
	assert_non_null(bp);
	assert_int_equal(bp->hdr.header, 0x53726448); /* HdrS */
	assert_int_equal(bp->hdr.ramdisk_size, sizeof(initrd));
	assert_memory_equal(machine_host_ptr(g.m, bp->hdr.ramdisk_image, sizeof(initrd)), initrd,
			    sizeof(initrd));
	assert_true(bp->hdr.ramdisk_image > guest_pa(guest_sym(&g, "_end")));
	for (unsigned int i = 0; i < bp->e820_entries; i++) {
		if (bp->e820_table[i].type == 1)
			usable += bp->e820_table[i].size;
	}
	assert_int_equal(usable, 64 * MIB - (0x100000 - 0x9fc00));
	guest_run(&g);
	guest_free(&g);
}

static void test_window(void **state)
{
	_Atomic uint64_t *word;
	uint64_t pa, other_pa;
	void *host, *other;
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=window end=poweroff");
	assert_int_equal(machine_window(g.m, 0, &pa, &host), -EINVAL);
	assert_int_equal(machine_window(g.m, 5000, &pa, &host), 0);
	guest_start(&g);
	assert_int_equal(machine_window(g.m, 1, &other_pa, &other), 0); /* while it runs */
	assert_true(other_pa >= pa + 8192);
	assert_ptr_equal(machine_host_ptr(g.m, pa, 8192), host);
	assert_ptr_equal(machine_host_ptr(g.m, other_pa, 4096), other);
	word = other;
	*guest_var(&g, "window_pa") = other_pa;
	for (uint64_t i = 1; i <= 100; i++) {
		word[0] = i;
		word[2] = i;
		guest_wait_var(&word[1], i);
		guest_wait_var(&word[3], i);
	}
	guest_stop(&g);
	guest_free(&g);
}

static void test_windows_run_out(void **state)
{
	struct guest g;
	unsigned int n = 0;
	uint64_t pa;
	void *host;
	int rc;

	(void)state;
	guest_new(&g, 1, "end=poweroff");
	while (!(rc = machine_window(g.m, 4096, &pa, &host)))
		assert_true(++n < 100);
	assert_int_equal(rc, -ENOSPC);
	assert_true(n >= 8);
	guest_run(&g);
	guest_free(&g);
}

/* Does an entry of the list setup_data that the kernel gets cover this page? */
static bool is_reserved(struct guest *g, uint64_t page)
{
	const struct boot_params *bp = machine_host_ptr(g->m, KVM_BOOT_PARAMS, sizeof(*bp));
	struct setup_data data;
	unsigned int entries = 0;
	bool found = false;

	assert_non_null(bp);
	for (uint64_t at = bp->hdr.setup_data; at; at = data.next) {
		assert_true(++entries < 8);
		assert_int_equal(machine_read(g->m, at, &data, sizeof(data)), 0);
		found |= at <= page && page + 4096 <= at + sizeof(data) + data.len;
	}
	assert_int_equal(entries, 2); /* the random numbers' seed, too */
	return found;
}

static void test_reserved_pages(void **state)
{
	static const uint8_t zero[4096];
	uint64_t pa, last = 0;
	unsigned int n = 0;
	struct guest g;
	void *host;
	int rc;

	(void)state;
	guest_new(&g, 1, "end=poweroff");
	for (; !(rc = machine_reserved_page(g.m, &pa)); last = pa) {
		assert_true(++n < 100 && pa > last && pa % 4096 == 0);
		assert_true(is_reserved(&g, pa));
		assert_memory_equal(machine_host_ptr(g.m, pa, 4096), zero, 4096);
	}
	assert_int_equal(rc, -ENOSPC);
	while (!machine_window(g.m, 4096, &pa, &host))
		assert_true(n-- > 0);
	guest_run(&g);
	guest_free(&g);
}

/* --- registers ----------------------------------------------------------------------------- */

/* Runs in the middle of traced_regs(0x1111, 0x2222, 0x3333, 0x4444). */
static void regs_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;
	struct machine_delay delay;
	struct machine_regs regs;
	struct machine_sregs sregs;
	uint64_t pa, left;

	holds(hit->cookie == (hit->va ^ 0x5555));
	holds(hit->regs->rip == hit->va + GUEST_SITE_SIZE);
	holds(hit->regs->rdi == 0x1111);
	holds(machine_get_regs(m, hit->vcpu, &regs) == 0);
	holds(!memcmp(&regs, hit->regs, sizeof(regs)));
	holds(machine_get_regs(m, 2, &regs) == -EINVAL);
	holds(machine_get_delay(m, hit->vcpu, &delay) == 0);
	holds(delay.runs > 0);
	holds(machine_get_delay(m, 2, &delay) == -EINVAL);

	holds(machine_get_sregs(m, hit->vcpu, &sregs) == 0);
	holds(sregs.cs == 0x10);
	holds(sregs.cpl == 0);
	holds(sregs.cr3 == guest_pa(guest_sym(g, "init_pgt")));
	holds(sregs.idt_base == guest_sym(g, "idt"));
	holds(machine_walk(m, sregs.cr3, 4, hit->va, &pa, &left) == 0);
	holds(pa == guest_pa(hit->va));
	holds(left <= 4096);
	holds(machine_walk(m, sregs.cr3, 4, 0xffff888000000000 + pa, &pa, &left) == 0);
	holds(pa == guest_pa(hit->va));
	holds(left > 4096);

	regs.rsi = 0xcafe;
	holds(machine_set_regs(m, hit->vcpu, &regs) == 0);
}

static void check_regs(enum machine_trap_kind kind)
{
	struct machine_trap trap;
	_Atomic uint64_t *seen;
	struct guest g;

	guest_new(&g, 2, "job=regs end=poweroff");
	g.trap = regs_handler;
	trap = guest_trap_at(&g, "traced_regs", kind, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
	guest_run(&g);
	assert_int_equal(guest_hits(&g), 1);
	seen = guest_var(&g, "regs_seen");
	assert_int_equal(seen[0], 0x1111);
	assert_int_equal(seen[1], 0xcafe);
	assert_int_equal(seen[2], 0x3333);
	assert_int_equal(seen[3], 0x4444);
	guest_free(&g);
}

/* The site and what counts the call behind it: a jump over that makes calls that do not count. */
static struct machine_patch jump_over_count(const struct guest *g, unsigned int i)
{
	struct machine_patch patch = {.size = GUEST_SITE_SIZE, .bytes = {0xe9}};
	char name[24];
	uint32_t rel;
	uint64_t va;

	snprintf(name, sizeof(name), "work_%u", i);
	va = guest_sym(g, name);
	patch.pa = guest_pa(va);
	snprintf(name, sizeof(name), "work_counted_%u", i);
	rel = (uint32_t)(guest_sym(g, name) - (va + GUEST_SITE_SIZE));
	memcpy(patch.bytes + 1, &rel, sizeof(rel));
	return patch;
}

/* Patched sites do what the patch says while the guest runs, others what they did. */
static void test_patch_text(void **state)
{
	struct machine_patch set[GUEST_NR_WORK / 2], restore[GUEST_NR_WORK / 2];
	_Atomic uint64_t *count;
	size_t n = GUEST_NR_WORK / 2, size;
	void *before, *after;
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=work nops=1 end=poweroff");
	count = guest_var(&g, "work_count");
	guest_start(&g);
	guest_wait_var(count + GUEST_NR_WORK, 1); /* both are up, and have written their NOPs */
	before = guest_text(&g, &size);
	for (unsigned int i = 0; i < n; i++) {
		restore[i] = set[i] = jump_over_count(&g, i);
		machine_read(g.m, set[i].pa, restore[i].bytes, set[i].size);
	}
	for (int round = 0; round < 100; round++) {
		uint64_t seen[2 * GUEST_NR_WORK];

		machine_pause(g.m);
		assert_int_equal(machine_patch_text(g.m, set, n), 0);
		for (unsigned int i = 0; i < 2 * GUEST_NR_WORK; i++)
			seen[i] = count[i];
		machine_resume(g.m);
		guest_wait_var(&count[n], seen[n] + 20);
		guest_wait_var(&count[GUEST_NR_WORK + n], seen[GUEST_NR_WORK + n] + 20);
		/* One that had passed its site already may count. */
		for (unsigned int i = 0; i < n; i++) {
			assert_true(count[i] <= seen[i] + 1);
			assert_true(count[GUEST_NR_WORK + i] <= seen[GUEST_NR_WORK + i] + 1);
		}
		assert_int_equal(machine_patch_text(g.m, restore, n), 0); /* on its own */
		guest_wait_var(&count[0], seen[0] + 3);
	}
	after = guest_text(&g, &size);
	assert_memory_equal(before, after, size);
	guest_stop(&g);
	free(before);
	free(after);
	guest_free(&g);
}

static void test_patch_text_refused(void **state)
{
	struct machine_patch patch[] = {
		{.pa = 40 * MIB, .size = 1, .bytes = {0x5a}},
		{.pa = 41 * MIB, .size = MACHINE_PATCH_MAX},
	};
	uint8_t byte;
	struct guest g;

	(void)state;
	guest_new(&g, 1, "end=poweroff");
	patch[1].size = 0;
	assert_int_equal(machine_patch_text(g.m, patch, 2), -EINVAL);
	patch[1].size = MACHINE_PATCH_MAX + 1;
	assert_int_equal(machine_patch_text(g.m, patch, 2), -EINVAL);
	patch[1].size = MACHINE_PATCH_MAX;
	patch[1].pa = 64 * MIB - 1;
	assert_int_equal(machine_patch_text(g.m, patch, 2), -EFAULT);
	patch[1].pa = UINT64_MAX - 1;
	assert_int_equal(machine_patch_text(g.m, patch, 2), -EFAULT);
	assert_int_equal(machine_read(g.m, patch[0].pa, &byte, 1), 0);
	assert_int_equal(byte, 0); /* nothing was written */
	patch[1].pa = 64 * MIB - MACHINE_PATCH_MAX;
	assert_int_equal(machine_patch_text(g.m, patch, 2), 0);
	assert_int_equal(machine_read(g.m, patch[0].pa, &byte, 1), 0);
	assert_int_equal(byte, 0x5a);
	assert_int_equal(machine_patch_text(g.m, NULL, 0), 0);
	guest_free(&g);
}

static void test_regs_out(void **state)
{
	(void)state;
	check_regs(MACHINE_TRAP_OUT);
}

static void test_regs_int3(void **state)
{
	(void)state;
	check_regs(MACHINE_TRAP_INT3);
}

/* From the second exit on they come another way. */
static void sregs_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;
	struct machine_sregs sregs;

	holds(machine_get_sregs(m, hit->vcpu, &sregs) == 0);
	holds(sregs.cs == 0x10);
	holds(sregs.cpl == 0);
	holds(sregs.cr3 == guest_pa(guest_sym(g, "init_pgt")));
	holds(sregs.idt_base == guest_sym(g, "idt"));
	holds(sregs.gdt_base == guest_sym(g, "gdt"));
}

static void test_sregs_at_each_hit(void **state)
{
	struct machine_trap trap;
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=calls count=100 end=poweroff");
	g.trap = sregs_handler;
	trap = guest_trap_at(&g, "traced_leaf", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
	guest_run(&g);
	assert_int_equal(guest_hits(&g), 200);
	guest_free(&g);
}

static void test_regs_while_paused(void **state)
{
	struct machine_sregs sregs;
	struct machine_regs regs;
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=work end=poweroff");
	guest_start(&g);
	guest_wait_var(guest_var(&g, "work_count") + GUEST_NR_WORK, 1); /* both are up */
	for (unsigned int i = 0; i < 50; i++) {
		machine_pause(g.m);
		for (unsigned int vcpu = 0; vcpu < 2; vcpu++) {
			assert_int_equal(machine_get_regs(g.m, vcpu, &regs), 0);
			assert_true(regs.rip >= guest_sym(&g, "_stext"));
			assert_true(regs.rip < guest_sym(&g, "_etext"));
			/* Writing back what is there must not hurt it. */
			assert_int_equal(machine_set_regs(g.m, vcpu, &regs), 0);
			assert_int_equal(machine_get_sregs(g.m, vcpu, &sregs), 0);
			assert_int_equal(sregs.cr3, guest_pa(guest_sym(&g, "init_pgt")));
		}
		machine_resume(g.m);
	}
	guest_stop(&g);
	guest_free(&g);
}

static void tsc_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;

	(void)m;
	*(uint64_t *)g->user = hit->tsc;
}

static void test_tsc(void **state)
{
	struct machine_trap trap;
	struct guest g;
	uint64_t tsc = 0;

	(void)state;
	guest_new(&g, 1, "job=tsc end=poweroff");
	g.trap = tsc_handler;
	g.user = &tsc;
	trap = guest_trap_at(&g, "traced_tsc", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
	guest_run(&g);
	assert_true(tsc > *guest_var(&g, "tsc_before"));
	assert_true(tsc < *guest_var(&g, "tsc_after"));
	guest_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_above_4g),
		cmocka_unit_test(test_resident_size),
		cmocka_unit_test(test_boot_params),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_windows_run_out),
		cmocka_unit_test(test_reserved_pages),
		cmocka_unit_test(test_patch_text),
		cmocka_unit_test(test_patch_text_refused),
		cmocka_unit_test(test_regs_out),
		cmocka_unit_test(test_regs_int3),
		cmocka_unit_test(test_sregs_at_each_hit),
		cmocka_unit_test(test_regs_while_paused),
		cmocka_unit_test(test_tsc),
	};

	return guest_run_tests("vmm-memory", tests);
}
