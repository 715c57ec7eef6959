// SPDX-License-Identifier: GPL-2.0-or-later
/* test-trace-running.c - what a trace finds in a guest that runs, wherever it is: its kernel, and
 * modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tests/unit/trace-guest.h"
#include "tracer/lib/host-time.h"
#include "tracer/internal.h"
#include "tracer/control/files.h"
#include "tracer/guest/modules.h"
#include "tracer/tracer.h"
#include "tracer/instance/instance.h"

enum {
	SLIDE = 0x1c00000,
	SLID_PA = 0x400000, /* where the slid kernel lies */
	IDT_PA = 0x50000,
	GATE = 16,
	TABLES = 0x2000, /* its kernel half; the user half is one page above */
};

#define IDT_VA UINT64_C(0xfffffe0000000000)

static void put_gate(unsigned int vector, uint64_t handler)
{
	uint8_t *gate = fake.ram + IDT_PA + vector * GATE;
	uint32_t high = (uint32_t)(handler >> 32);

	memset(gate, 0, GATE);
	memcpy(gate, &handler, 2);
	memcpy(gate + 6, (const uint8_t *)&handler + 2, 2);
	memcpy(gate + 8, &high, sizeof(high));
}

/* Move the made-up kernel to where KASLR might have put it, booted, its vCPU in user mode. */
static void guest_slides(void)
{
	memcpy(fake.ram + SLID_PA, fake_at(FAKE_TEXT), IMAGE_END);
	memset(fake_at(FAKE_TEXT), 0, IMAGE_END);
	fake_symbol("asm_exc_divide_error", FAKE_VA(0xa000), 'T');
	fake_symbol("asm_exc_page_fault", FAKE_VA(0xa100), 'T');
	put_gate(0, FAKE_VA(0xa000) + SLIDE);
	put_gate(14, FAKE_VA(0xa100) + SLIDE);
	fake_map(TABLES, FAKE_TEXT + SLIDE, IMAGE_END, SLID_PA);
	fake_map(TABLES + 0x1000, IDT_VA, 4096, IDT_PA);
	fake_map(TABLES, IDT_VA, 4096, IDT_PA);
	fake_map(TABLES + 0x1000, FAKE_VA(0xa000) + SLIDE, 4096, SLID_PA + 0xa000);
	fake.sregs = (struct machine_sregs){
		.cr0 = UINT64_C(1) << 31,
		.cr3 = TABLES + 0x1000,
		.idt_base = IDT_VA,
		.idt_limit = 4095,
	};
}

static uint8_t *slid_at(uint32_t off)
{
	return fake.ram + SLID_PA + off;
}

static void running_kernels_are_found_where_they_are(void **state)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK) + SLIDE, .rflags = 0x202};
	struct machine_hit hit = {.va = FAKE_VA(FN_ALPHA) + SLIDE, .regs = &regs};
	const struct machine_trap *trap;
	struct trace_function_entry e = {0};
	struct ring_cursor *c;
	char err[256] = "";
	struct trace *t;

	(void)state;
	guest_slides();
	memcpy(slid_at(PER_CPU_OFFSET), &(uint64_t){FAKE_VA(PER_CPU_AREA) + SLIDE}, 8);
	memcpy(slid_at(PER_CPU_AREA + PCPU_CURRENT), &(uint64_t){FAKE_VA(TASK) + SLIDE}, 8);
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	if (trace_attach_running(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	/* Init text is gone, and so is the need to guard the boot. */
	assert_int_equal(fake.ntraps, 3);
	trap = fake_trap(FAKE_VA(FN_ALPHA) + SLIDE);
	assert_non_null(trap);
	assert_true(trap->pa == SLID_PA + FN_ALPHA);
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
	c = ring_look(t->instances->ring[0]);
	assert_true(next_entry(t, c, &e));
	assert_true(e.ip == FAKE_VA(FN_ALPHA) + SLIDE);
	assert_int_equal(e.ent.pid, 42);
	ring_cursor_free(c);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void guest_panics(enum trace_on_panic what, bool ends)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK) + SLIDE, .rflags = 0x202};
	struct machine_hit hit = {.va = FAKE_VA(FN_BETA) + SLIDE, .regs = &regs};
	char err[256] = "";
	struct trace_status st;
	struct trace *t;

	for (size_t i = 0; i < fake.nsites; i++)
		if (!strcmp(fake.sites[i].name, "beta"))
			fake.sites[i].name = "panic";
	fake_symbol("panic", FAKE_VA(FN_BETA), 'T');
	guest_slides();
	memcpy(slid_at(PER_CPU_OFFSET), &(uint64_t){FAKE_VA(PER_CPU_AREA) + SLIDE}, 8);
	memcpy(slid_at(PER_CPU_AREA + PCPU_CURRENT), &(uint64_t){FAKE_VA(TASK) + SLIDE}, 8);
	t = trace_with((struct trace_config){.running = true, .on_panic = what}, err, sizeof(err));
	assert_non_null(t);
	if (trace_attach_running(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	hit.cookie = fake_trap(FAKE_VA(FN_BETA) + SLIDE)->cookie;
	trace_trap(t, &hit);
	trace_get_status(t, &st);
	assert_int_equal(st.panicked, ends);
	assert_int_equal(st.done, ends);
	assert_int_equal(st.error, 0);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

/* Of a guest that was attached to the trace ends with it. */
static void panics_end_the_trace(void **state)
{
	(void)state;
	guest_panics(TRACE_ON_PANIC_STOP, true);
}

/* Then whatever else ends it is what is said to have done so. */
static void panics_may_be_ignored(void **state)
{
	(void)state;
	guest_panics(TRACE_ON_PANIC_IGNORE, false);
}

static void other_kernels_are_refused(void **state)
{
	char err[512] = "";
	struct trace *t;

	(void)state;
	fake_symbol("linux_banner", FAKE_VA(0xb000), 'D');
	fake.banner = "Linux version 6.1.0-fake";
	guest_slides();
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	memcpy(slid_at(0xb000), "Linux version 6.1.0-real\n", 26);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -ESRCH);
	assert_non_null(strstr(err, "'Linux version 6.1.0-real', not 'Linux version 6.1.0-fake'"));
	put_gate(14, FAKE_VA(0xa200) + SLIDE); /* the gates disagree */
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -ESRCH);
	assert_non_null(strstr(err, "the guest does not run Linux 6.1.0-fake"));
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(fake.paused, 0);
	trace_free(t);
}

static void running_end(struct trace *t)
{
	fake.run = NULL;
	fake.elsewhere = 0;
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

/* Its kernel has still to look at its own text, in which nothing of ours may stand then. */
static void kernels_that_only_begin_to_boot_are_refused(void **state)
{
	uint32_t *system_state = (uint32_t *)slid_at(0xb000);
	char err[256] = "";
	struct trace *t;

	(void)state;
	fake_symbol("system_state", FAKE_VA(0xb000), 'D');
	guest_slides();
	*system_state = GUEST_SYSTEM_BOOTING;
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -EAGAIN);
	assert_non_null(strstr(err, "has only begun to boot"));
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(fake.paused, 0);
	trace_free(t);

	*system_state = GUEST_SYSTEM_BOOTING + 1; /* SYSTEM_SCHEDULING */
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	if (trace_attach_running(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(fake.ntraps, 3);
	running_end(t);
}

/* Its page tables, as the guest's memory has them: 2 MiB of text at SLIDE. */
static void put_tables(void)
{
	enum { PUD = TABLES + 0x2000, PMD = PUD + 0x1000, TABLE = 0x63, LARGE = 0xe3 };

	memcpy(fake.ram + TABLES + 511 * 8, &(uint64_t){PUD | TABLE}, 8);
	memcpy(fake.ram + PUD + 510 * 8, &(uint64_t){PMD | TABLE}, 8);
	memcpy(fake.ram + PMD + ((FAKE_TEXT + SLIDE) >> 21 & 511) * 8, &(uint64_t){SLID_PA | LARGE},
	       8);
}

/* KVM's traps, and nobody can write to the memory of QEMU: not where page tables are isolated. */
static void traps_that_could_stay_are_refused(void **state)
{
	enum { CPU_DATA = 0xb000, CAPABILITY = 0x20, PTI_AT = CPU_DATA + CAPABILITY + 7 * 4 };
	struct trace_config cfg = {.running = true};
	char err[256] = "";
	struct trace *t;

	(void)state;
	fake_symbol("boot_cpu_data", FAKE_VA(CPU_DATA), 'D');
	fake_field("cpuinfo_x86.x86_capability", CAPABILITY, 24 * 4);
	fake.accel = "kvm";
	guest_slides();
	put_tables();
	memcpy(slid_at(PTI_AT), &(uint32_t){UINT32_C(1) << 11}, 4);
	t = trace_with(cfg, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -EACCES);
	assert_non_null(strstr(err, "isolates page tables"));
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
	memset(slid_at(PTI_AT), 0, 4);
	t = trace_with(cfg, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), 0);
	assert_int_equal(fake.ntraps, 3);
	running_end(t);
}

/* Nor where the guest could crash at an int3 of its own; with either way to begin. */
static void guests_that_lose_int3_are_refused(void **state)
{
	char err[256] = "";
	struct trace *t;

	(void)state;
	guest_slides();
	fake.loses_int3 = true;
	t = trace_with((struct trace_config){.running = true}, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -EOPNOTSUPP);
	assert_non_null(strstr(err, "nrips"));
	trace_free(t);
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), -EOPNOTSUPP);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

#define MOD_TEXT UINT64_C(0xffffffffc0000000)

enum { MOD_PA = 0x200000, FN_INIT_MODULE = 0x1500, FN_FREE_MODULE = 0x1600 };

static const struct guestsym_symbol mod_syms[] = {
	{MOD_TEXT, "mod_first", 't'},
	{MOD_TEXT + 0x40, "mod_second", 't'},
};
static const struct guestsym_site mod_sites[] = {
	{MOD_TEXT, MOD_TEXT, "mod_first", 0},
	{MOD_TEXT + 0x40, MOD_TEXT + 0x40, "mod_second", 0},
};

static void guest_has_module(enum guestsym_module_state state)
{
	fake.nmods = 1;
	fake.mods[0] = (struct guestsym_module){
		.addr = 0x1234,
		.name = "mod",
		.state = state,
		.text = {MOD_TEXT, MOD_TEXT + 0x1000},
		.syms = mod_syms,
		.nr_syms = 2,
		.sites = mod_sites,
		.nr_sites = 2,
	};
	memcpy(fake.ram + MOD_PA, nop5, sizeof(nop5));
	memcpy(fake.ram + MOD_PA + 0x40, nop5, sizeof(nop5));
	fake_map(FAKE_PA + TOP_PGT, MOD_TEXT, 0x1000, MOD_PA);
}

static void hit_with(struct trace *t, uint64_t va, uint64_t rdi)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK), .rdi = rdi, .rflags = 0x202};
	struct machine_hit hit = {.va = va, .regs = &regs};
	const struct machine_trap *trap = fake_trap(va);

	assert_non_null(trap);
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
	assert_int_equal(fake.paused, 0);
}

static void modules_come_and_go(void **state)
{
	struct trace *t;
	struct module_symbol sym;

	(void)state;
	add_function("do_init_module", FN_INIT_MODULE, 0);
	add_function("free_module", FN_FREE_MODULE, 0);
	t = trace_started((struct trace_config){0});
	assert_null(fake_trap(MOD_TEXT));
	guest_has_module(GUESTSYM_MODULE_COMING);
	hit_with(t, FAKE_VA(FN_INIT_MODULE), 0x1234);
	assert_non_null(fake_trap(MOD_TEXT));
	assert_true(fake_trap(MOD_TEXT + 0x40)->pa == MOD_PA + 0x40);
	assert_string_equal(modules_name_at(t->modules, MOD_TEXT + 0x40), fake.mods[0].name);
	hit_with(t, MOD_TEXT + 0x40, 0);
	/* Read once more, as when another one is loaded: nothing twice. */
	hit_with(t, FAKE_VA(FN_INIT_MODULE), 0x1234);
	assert_int_equal(entries(t), 3);
	fake.mods[0].state = GUESTSYM_MODULE_GOING;
	hit_with(t, FAKE_VA(FN_FREE_MODULE), 0x1234);
	assert_null(fake_trap(MOD_TEXT));
	assert_null(fake_trap(MOD_TEXT + 0x40));
	/* Its records still have names. */
	assert_true(modules_symbol(t->modules, MOD_TEXT + 0x44, &sym));
	assert_string_equal(sym.name, "mod_second");
	assert_int_equal(sym.off, 4);
	/* Loaded again, at the same place. */
	fake.mods[0].state = GUESTSYM_MODULE_COMING;
	hit_with(t, FAKE_VA(FN_INIT_MODULE), 0x1234);
	assert_non_null(fake_trap(MOD_TEXT));
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

/* --- given up -------------------------------------------------------------------------------- */

static bool count_down(void *arg)
{
	unsigned int *left = arg;

	return !*left || !--*left;
}

/* 0, or -ECANCELED when it was given up at that look; then the guest is as it was. */
static int attach_given_up(unsigned int look)
{
	struct trace_config cfg = {
		.vcpus = 2, .running = true, .cancelled = count_down, .cancelled_arg = &look};
	uint8_t *before = malloc(FAKE_RAM);
	char err[256] = "";
	struct trace *t = trace_with(cfg, err, sizeof(err));
	int ret;

	assert_non_null(before);
	assert_non_null(t);
	memcpy(before, fake.ram, FAKE_RAM);
	ret = trace_attach_running(t, NULL, err, sizeof(err));
	if (ret) {
		assert_int_equal(ret, -ECANCELED);
		assert_string_equal(err, "given up before it was traced");
	}
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(fake.paused, 0);
	assert_memory_equal(before, fake.ram, FAKE_RAM);
	free(before);
	trace_free(t);
	return ret;
}

/* A kernel in memory may be a gigabyte that a guest has made up. */
static void reading_a_kernel_ends_when_it_is_given_up(void **state)
{
	unsigned int look = 1;
	struct trace_config cfg = {
		.running = true, .cancelled = count_down, .cancelled_arg = &look};
	char err[256] = "";
	struct trace *t;

	(void)state;
	guest_slides();
	put_gate(14, FAKE_VA(0xa200) + SLIDE); /* another one than the image: what is it? */
	t = trace_with(cfg, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -ECANCELED);
	assert_int_equal(fake.open_error, -ECANCELED);
	assert_string_equal(err, "given up before it was traced");
	assert_int_equal(fake.paused, 0);
	trace_free(t);
}

/* Whichever look it is that finds that it is not wanted any more. */
static void attaching_ends_wherever_it_is_given_up(void **state)
{
	unsigned int look = 1;

	(void)state;
	guest_slides();
	guest_has_module(GUESTSYM_MODULE_LIVE);
	fake_map(SLID_PA + TOP_PGT, MOD_TEXT, 0x1000, MOD_PA);
	while (attach_given_up(look))
		look++;
	assert_in_range(look, 11, 1000); /* more than there are steps */
}

/* --- a guest that may have been reset -------------------------------------------------------- */

static void clock_add(uint64_t ticks)
{
	uint64_t jiffies;

	memcpy(&jiffies, slid_at(JIFFIES), sizeof(jiffies));
	jiffies += ticks;
	memcpy(slid_at(JIFFIES), &jiffies, sizeof(jiffies));
}

static void clock_goes(void)
{
	clock_add(1);
}

static struct trace *running_started(void)
{
	struct trace_config cfg = {.vcpus = 2, .running = true};
	char err[256] = "";
	struct trace *t;

	guest_slides();
	t = trace_with(cfg, err, sizeof(err));
	if (!t || trace_attach_running(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return t;
}

/* Their registers are what the vCPU shows, each time that somebody looks. */
static void guests_of_the_guest_are_no_reset(void **state)
{
	struct trace *t;

	(void)state;
	t = running_started();
	fake.run = clock_goes;
	fake.elsewhere = 1;
	assert_false(guest_was_reset(t));
	fake.elsewhere = 3;
	assert_false(guest_was_reset(t));
	running_end(t);
}

static void resets_are_found(void **state)
{
	int64_t begin = host_ms();
	struct trace *t;

	(void)state;
	t = running_started();
	fake.elsewhere = 3;
	assert_true(guest_was_reset(t));
	assert_true(host_ms() - begin < 60000);
	/* The other vCPU halts in a kernel that has crashed. */
	fake.elsewhere = 1;
	assert_true(guest_was_reset(t));
	running_end(t);
}

static void clock_goes_back(void)
{
	clock_add((uint64_t)-1);
}

static void clocks_that_are_wound_back_are_of_another_kernel(void **state)
{
	struct trace *t;

	(void)state;
	t = running_started();
	fake.run = clock_goes_back;
	fake.elsewhere = 3;
	assert_true(guest_was_reset(t));
	running_end(t);
}

/* --- how long it stands ------------------------------------------------------------------------
 */

/* Traps as dear as can be: each takes longer than a piece may. */
static int64_t dear_now(void)
{
	static int64_t now;

	return now += NS_PER_S;
}

static void dear_rest(int64_t ns)
{
	(void)ns;
}

static const struct pieces_clock dear_clock = {dear_now, dear_rest};

static struct {
	size_t ntraps, most; /* most: set and cleared while it stood once */
} dear;

static void dear_runs(void)
{
	size_t set =
		fake.ntraps > dear.ntraps ? fake.ntraps - dear.ntraps : dear.ntraps - fake.ntraps;

	dear.most = set > dear.most ? set : dear.most;
	dear.ntraps = fake.ntraps;
}

static void no_standstill_is_for_many_traps(void **state)
{
	struct machine *m = (struct machine *)&fake;
	char err[256] = "";
	struct trace *t;

	(void)state;
	guest_slides();
	memset(&dear, 0, sizeof(dear));
	t = trace_with((struct trace_config){.running = true}, err, sizeof(err));
	assert_non_null(t);
	t->pieces.size = 1;
	t->pieces.clock = &dear_clock;
	fake.run = dear_runs;
	assert_int_equal(trace_attach_running(t, m, err, sizeof(err)), 0);
	assert_int_equal(fake.ntraps, 3);
	assert_int_equal(instance_set_tracer(trace_top(t), "nop"), 0);
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(instance_set_tracer(trace_top(t), "function"), 0);
	assert_int_equal(fake.ntraps, 3);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(dear.most, 1);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(running_kernels_are_found_where_they_are),
		TEST(panics_end_the_trace),
		TEST(panics_may_be_ignored),
		TEST(other_kernels_are_refused),
		TEST(kernels_that_only_begin_to_boot_are_refused),
		TEST(traps_that_could_stay_are_refused),
		TEST(guests_that_lose_int3_are_refused),
		TEST(modules_come_and_go),
		TEST(attaching_ends_wherever_it_is_given_up),
		TEST(reading_a_kernel_ends_when_it_is_given_up),
		TEST(guests_of_the_guest_are_no_reset),
		TEST(resets_are_found),
		TEST(clocks_that_are_wound_back_are_of_another_kernel),
		TEST(no_standstill_is_for_many_traps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
