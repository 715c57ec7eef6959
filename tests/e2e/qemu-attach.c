// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu-attach.c - attaches to a guest of tests/e2e/qemu-lib.sh again and again: what it shows is
 * right, its traps are exact, and it goes on as if nothing had been.
 *
 * usage: qemu-attach TARGET KERNEL SERIAL [URI]
 */
#include "tests/e2e/running-guest.h"
#include "tests/elsewhere.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define SITE_SIZE 5

/* --- attaching
 * ------------------------------------------------------------------------------------ */

static void count_hit(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;

	e->hits++;
	holds(hit->cookie == hit->va);
	holds(hit->regs->rip == hit->va + (hit->va == e->last_va ? SITE_SIZE : 0));
	holds(hit->tsc > e->last_tsc);
	e->last_tsc = hit->tsc;
	if (e->trap)
		e->trap(m, hit, arg);
}

static void attach(struct env *e)
{
	e->hits = 0;
	e->last_tsc = e->last_va = 0;
	e->trap = NULL;
	env_attach(e, count_hit);
}

static void detach(struct env *e)
{
	env_detach(e);
	elsewhere_check();
}

/* The fentry site of a function: at its start, or behind an endbr64. */
static uint64_t site(struct env *e, const char *name)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t start[sizeof(endbr64)];
	uint64_t va = running(e, name);

	assert_int_equal(read_virt(e, va, start, sizeof(start)), 0);
	return memcmp(start, endbr64, sizeof(start)) ? va : va + sizeof(start);
}

static struct machine_trap trap_on(struct env *e, const char *name)
{
	uint64_t va = site(e, name);

	e->last_va = va;
	return (struct machine_trap){
		.va = va,
		.pa = phys(e, va),
		.size = SITE_SIZE,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_SKIP,
		.cookie = va,
	};
}

/* --- tests
 * ---------------------------------------------------------------------------------------- */

static void test_info(void **state)
{
	const char *accel = getenv("GUEST_ACCEL");
	struct env *e = *state;
	struct machine_info info;

	attach(e);
	machine_get_info(e->m, &info);
	assert_string_equal(info.backend, "qemu");
	assert_string_equal(info.accel, accel ? accel : "tcg");
	assert_int_equal(info.vcpus, 2);
	assert_true(info.memory > 200 << 20 && info.memory < 400 << 20);
	assert_true(info.tsc_khz > 100000);
	assert_true(info.was_running);
	assert_int_equal(!info.name, !e->uri);
	assert_int_equal(!info.kernel_path, !e->uri);
	assert_null(machine_host_ptr(e->m, 0x100000, 8));
	detach(e);
	console_run(&e->console, "true");
}

static void test_kernel(void **state)
{
	struct env *e = *state;
	const char *banner = guestsym_banner(e->gs);
	char found[512] = "";
	uint8_t nop[SITE_SIZE];

	attach(e);
	find_kernel(e);
	assert_true(strlen(banner) < sizeof(found));
	assert_int_equal(read_virt(e, running(e, "linux_banner"), found, strlen(banner)), 0);
	assert_string_equal(found, banner);
	assert_int_equal(read_virt(e, site(e, "schedule"), nop, SITE_SIZE), 0);
	assert_memory_equal(nop, "\x0f\x1f\x44\x00\x00", SITE_SIZE);
	assert_int_equal(machine_read(e->m, UINT64_MAX - 4, found, 8), -EFAULT);
	assert_int_equal(machine_read(e->m, 1ull << 40, found, 8), -EFAULT);
	detach(e);
}

static uint64_t jiffies(struct env *e)
{
	uint64_t value;

	assert_int_equal(read_virt(e, running(e, "jiffies_64"), &value, sizeof(value)), 0);
	return value;
}

static void test_pause(void **state)
{
	struct env *e = *state;
	struct machine_regs regs, again;

	attach(e);
	for (int i = 0; i < 20; i++) {
		time_t end = time(NULL) + LIMIT_S;
		uint64_t before;

		machine_pause(e->m);
		machine_pause(e->m); /* they nest */
		before = jiffies(e);
		assert_int_equal(machine_get_regs(e->m, 1, &regs), 0);
		machine_resume(e->m);
		assert_int_equal(machine_get_regs(e->m, 1, &again), 0);
		assert_memory_equal(&regs, &again, sizeof(regs));
		assert_int_equal(machine_set_regs(e->m, 1, &regs), 0);
		assert_int_equal(jiffies(e), before);
		machine_resume(e->m);
		while (jiffies(e) == before && time(NULL) < end)
			sched_yield();
		assert_int_not_equal(jiffies(e), before);
	}
	assert_int_equal(machine_get_regs(e->m, 2, &regs), -EINVAL);
	detach(e);
}

static void test_traps(void **state)
{
	struct env *e = *state;
	struct machine_event ev;
	struct machine_trap trap;

	attach(e);
	trap = trap_on(e, "__x64_sys_sched_yield");
	assert_int_equal(machine_traps_set(e->m, &trap, 1), 0);
	assert_int_equal(machine_traps_set(e->m, &trap, 1), -EEXIST);
	console_run(&e->console, "workload sched_yield 100");
	assert_int_equal(e->hits, 100);
	assert_int_equal(machine_traps_clear(e->m, &trap.va, 1), 0);
	assert_int_equal(machine_traps_clear(e->m, &trap.va, 1), -ENOENT);
	console_run(&e->console, "workload sched_yield 100");
	assert_int_equal(e->hits, 100);
	machine_wake(e->m);
	assert_int_equal(machine_wait(e->m, &ev, -1), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_WAKE);
	assert_int_equal(machine_wait(e->m, &ev, 0), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_NONE);
	detach(e);
}

/* Two processes call it at the same time on two vCPUs: none of the calls gets lost. */
static void test_traps_both(void **state)
{
	struct env *e = *state;
	struct machine_trap trap;

	attach(e);
	trap = trap_on(e, "__x64_sys_sched_yield");
	assert_int_equal(machine_traps_set(e->m, &trap, 1), 0);
	console_run(&e->console, "workload sched_yield 60 & workload sched_yield 60; wait");
	assert_int_equal(e->hits, 120);
	detach(e);
}

static void clear_in_handler(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;

	if (e->hits < e->limit)
		return;
	machine_pause(m);
	holds(machine_traps_clear(m, &hit->va, 1) == 0);
	machine_resume(m);
}

static void test_handler(void **state)
{
	struct env *e = *state;
	struct machine_trap trap;

	attach(e);
	trap = trap_on(e, "__x64_sys_sched_yield");
	e->limit = 7;
	e->trap = clear_in_handler;
	assert_int_equal(machine_traps_set(e->m, &trap, 1), 0);
	console_run(&e->console, "workload sched_yield 30");
	assert_int_equal(e->hits, 7);

	e->trap = NULL;
	e->hits = 0;
	e->last_va = 0; /* goes on at the site, not behind it */
	trap.action = MACHINE_TRAP_ONCE;
	trap.kind = MACHINE_TRAP_INT3;
	trap.size = 1;
	assert_int_equal(machine_traps_set(e->m, &trap, 1), 0);
	console_run(&e->console, "workload sched_yield 30");
	assert_int_equal(e->hits, 1);
	assert_int_equal(machine_traps_clear(e->m, &trap.va, 1), -ENOENT);
	detach(e);
}

/* The function returns at once, with another result. */
static void return_4242(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;
	struct machine_regs regs = *hit->regs;

	if (!holds(read_virt(e, regs.rsp, &regs.rip, sizeof(regs.rip)) == 0))
		return;
	regs.rsp += 8;
	regs.rax = 4242;
	holds(machine_set_regs(m, hit->vcpu, &regs) == 0);
}

static void test_set_regs(void **state)
{
	struct env *e = *state;
	struct machine_trap trap;

	attach(e);
	trap = trap_on(e, "__x64_sys_getppid");
	e->trap = return_4242;
	assert_int_equal(machine_traps_set(e->m, &trap, 1), 0);
	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=4242"));
	detach(e);
	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=1\r"));
}

/* What the guest has executed before, and so what TCG has translated, is executed anew. */
static void test_write_text(void **state)
{
	static const uint8_t insns[] = {0xb8, 0x39, 0x05, 0, 0, 0xc3}; /* mov $1337,%eax; ret */
	struct env *e = *state;
	uint8_t saved[sizeof(insns)], now[sizeof(insns)];
	uint64_t pa;

	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=1\r"));
	attach(e);
	pa = phys(e, site(e, "__x64_sys_getppid"));
	assert_int_equal(machine_read(e->m, pa, saved, sizeof(saved)), 0);
	assert_int_equal(machine_write_text(e->m, pa, insns, sizeof(insns)), 0);
	assert_int_equal(machine_read(e->m, pa, now, sizeof(now)), 0);
	assert_memory_equal(now, insns, sizeof(insns));
	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=1337\r"));
	assert_int_equal(machine_write_text(e->m, pa, saved, sizeof(saved)), 0);
	detach(e);
	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=1\r"));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/*
 * Every site that is a NOP is to become a jump to what follows it, except one whose function is to
 * return 1337.
 */
static size_t patches_make(struct env *e, struct machine_patch *set, struct machine_patch *restore)
{
	static const uint8_t insns[] = {0xb8, 0x39, 0x05, 0, 0, 0xc3}; /* mov $1337,%eax; ret */
	static const uint8_t nop[SITE_SIZE] = {0x0f, 0x1f, 0x44}, jump[SITE_SIZE] = {0xe9};
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(e->gs, &sites), count = 0;
	uint64_t end = running(e, "_etext"), special = site(e, "__x64_sys_getppid");

	for (size_t i = 0; i < n && sites[i].addr + e->slide < end; i++) {
		struct machine_patch *s = &set[count], *r = &restore[count];
		uint64_t va = sites[i].addr + e->slide;

		r->pa = s->pa = phys(e, va);
		r->size = s->size = va == special ? sizeof(insns) : SITE_SIZE;
		assert_int_equal(machine_read(e->m, r->pa, r->bytes, r->size), 0);
		if (memcmp(r->bytes, nop, SITE_SIZE))
			continue;
		memcpy(s->bytes, va == special ? insns : jump, s->size);
		count++;
	}
	return count;
}

/* All fentry sites at once, set and restored while the guest works. */
static void test_patch_text(void **state)
{
	struct env *e = *state;
	const struct guestsym_site *sites;
	size_t room = guestsym_fentry_sites(e->gs, &sites), n, len, len_after;
	struct machine_patch *set = calloc(room, sizeof(*set)),
			     *restore = calloc(room, sizeof(*restore));
	uint8_t *before, *after;

	assert_true(set && restore);
	attach(e);
	before = read_text(e, &len);
	n = patches_make(e, set, restore);
	assert_true(n > 30000);
	console_send(&e->console, "workload sched_yield 100000 getpid 100000");
	for (int i = 0; i < 4; i++) {
		double start = now(), middle;

		assert_int_equal(machine_patch_text(e->m, set, n), 0);
		middle = now();
		assert_int_equal(machine_patch_text(e->m, restore, n), 0);
		print_message("# %zu sites set in %.0f ms, restored in %.0f ms\n", n,
			      (middle - start) * 1e3, (now() - middle) * 1e3);
	}
	assert_true(console_done(&e->console, LIMIT_S * 1000));
	assert_int_equal(machine_patch_text(e->m, set, n), 0);
	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=1337\r"));
	assert_int_equal(machine_patch_text(e->m, restore, n), 0);
	console_run(&e->console, "sh -c 'echo ppid=$PPID'");
	assert_non_null(strstr(e->console.out, "\nppid=1\r"));
	after = read_text(e, &len_after);
	assert_int_equal(len_after, len);
	assert_memory_equal(after, before, len);
	detach(e);
	free(before);
	free(after);
	free(set);
	free(restore);
}

#define TOLD_MS 60000 /* that libvirt may take to tell of a reset */

/* After a reset the guest boots anew, whether we have heard of it or not. True: we have. */
static bool reset_is_told(struct env *e)
{
	struct machine_event ev = {.type = MACHINE_EVENT_NONE};
	struct machine_trap trap;

	attach(e);
	trap = trap_on(e, "__x64_sys_sched_yield");
	assert_int_equal(machine_traps_set(e->m, &trap, 1), 0);
	console_send(&e->console, "reboot -f");
	if (e->uri && !machine_wait(e->m, &ev, TOLD_MS) && ev.type != MACHINE_EVENT_NONE) {
		assert_int_equal(ev.type, MACHINE_EVENT_RESET);
		detach(e);
	}
	console_wait_up(&e->console);
	assert_int_equal(e->hits, 0);
	detach(e);
	console_run(&e->console, "workload sched_yield 10");
	return ev.type == MACHINE_EVENT_RESET;
}

/* A stub does not tell, and libvirt's event is lost now and then (tracer/reset.c looks for itself).
 */
static void test_reset(void **state)
{
	struct env *e = *state;
	unsigned int tries = 0;

	while (!reset_is_told(e) && e->uri) {
		print_message("# a reset that libvirt has not told of\n");
		assert_true(++tries < 3);
	}
}

static void test_poweroff(void **state)
{
	struct env *e = *state;
	struct machine_event ev, again;

	attach(e);
	console_send(&e->console, "poweroff -f");
	assert_int_equal(machine_wait(e->m, &ev, LIMIT_S * 1000), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_POWEROFF);
	assert_int_equal(machine_wait(e->m, &again, -1), 0);
	assert_int_equal(again.type, MACHINE_EVENT_POWEROFF);
	detach(e);
}

/* A test that has failed has not let go. */
static int teardown(void **state)
{
	detach(*state);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, NULL, teardown)

static char **arguments; /* cmocka has no way to hand them to setup() */

static int setup(void **state)
{
	static struct env e;

	env_init(&e, arguments + 1);
	*state = &e;
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_info),     TEST(test_kernel),	    TEST(test_pause),
		TEST(test_traps),    TEST(test_traps_both), TEST(test_handler),
		TEST(test_set_regs), TEST(test_write_text), TEST(test_patch_text),
		TEST(test_reset),    TEST(test_poweroff),
	};

	if (argc < 4) {
		fprintf(stderr, "usage: qemu-attach TARGET KERNEL SERIAL [URI]\n");
		return 2;
	}
	arguments = argv;
	return cmocka_run_group_tests_name("attaching", tests, setup, NULL);
}
