// SPDX-License-Identifier: GPL-2.0-or-later
/* test-syscall-fix.c - finding the page fault entry and finishing `syscall`; needs no KVM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/kvm.h"

#define MSR_STAR  0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084

/* Guest memory, all of it mapped from BASE on. */
#define BASE  0xffffffff81000000ull
#define SIZE  0x4000
#define IDT   (BASE + 0x1000)
#define ENTRY (BASE + 0x2000)
#define STACK (BASE + 0x3000)
#define USER  (BASE + 0x3800) /* user code; where it lies makes no difference here */
#define LSTAR (BASE + 0x2800)

struct fake {
	struct kvm_machine m; /* first: handed back to the functions below */
	struct kvm_vcpu v;
	struct kvm_run run;
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	uint8_t mem[SIZE];
	uint64_t star, fmask;
	bool changed;
	unsigned int warnings;
	uint64_t trap_va, trap_pa;
	uint8_t trap_size;
	void (*trap)(struct kvm_vcpu *v, void *arg);
	void *trap_arg;
};

static struct fake *fake(struct kvm_vcpu *v)
{
	return (struct fake *)v->m;
}

struct kvm_regs *kvm_vcpu_regs(struct kvm_vcpu *v)
{
	return &fake(v)->regs;
}

void kvm_vcpu_regs_changed(struct kvm_vcpu *v)
{
	fake(v)->changed = true;
}

int kvm_vcpu_get_sregs(struct kvm_vcpu *v, struct kvm_sregs *sregs)
{
	*sregs = fake(v)->sregs;
	return 0;
}

int kvm_vcpu_set_sregs(struct kvm_vcpu *v, const struct kvm_sregs *sregs)
{
	fake(v)->sregs = *sregs;
	return 0;
}

int kvm_vcpu_get_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t *val)
{
	*val = msr == MSR_LSTAR ? LSTAR : msr == MSR_STAR ? fake(v)->star : fake(v)->fmask;
	return 0;
}

int kvm_virt_read(struct kvm_vcpu *v, uint64_t va, void *buf, size_t len)
{
	if (va < BASE || va - BASE > SIZE || len > SIZE - (va - BASE))
		return -EFAULT;
	memcpy(buf, fake(v)->mem + (va - BASE), len);
	return 0;
}

int machine_walk(struct machine *m, uint64_t root, unsigned int levels, uint64_t va, uint64_t *pa,
		 uint64_t *left)
{
	(void)m;
	(void)left;
	assert_int_equal(root, 0x1234000);
	assert_int_equal(levels, 4);
	*pa = va - BASE + 0x1000000;
	return 0;
}

int kvm_traps_set_own(struct kvm_machine *m, uint64_t va, uint64_t pa, uint8_t size,
		      const struct kvm_own_trap *own)
{
	struct fake *f = (struct fake *)m;

	assert_null(f->trap); /* once */
	f->trap_va = va;
	f->trap_pa = pa;
	f->trap_size = size;
	f->trap = own->fn;
	f->trap_arg = own->arg;
	return 0;
}

void machine_message(struct machine *m, enum machine_msg_level level, const char *fmt, ...)
{
	(void)fmt;
	assert_int_equal(level, MACHINE_MSG_WARN);
	((struct fake *)m)->warnings++;
}

/* --- the guest ----------------------------------------------------------------------------- */

static void put(struct fake *f, uint64_t va, const void *bytes, size_t len)
{
	memcpy(f->mem + (va - BASE), bytes, len);
}

static void put_gate(struct fake *f, uint64_t target)
{
	uint8_t gate[16] = {[2] = 0x10, [5] = 0x8e};

	memcpy(gate, &target, 2);
	memcpy(gate + 6, (uint8_t *)&target + 2, 2);
	memcpy(gate + 8, (uint8_t *)&target + 4, 4);
	put(f, IDT + 14 * 16, gate, sizeof(gate));
}

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->v.m = &f->m;
	f->v.run = &f->run;
	f->sregs.cr3 = 0x1234000;
	f->sregs.idt.base = IDT;
	f->sregs.idt.limit = 0xfff;
	f->star = 0x0023001000000000; /* as Linux sets it */
	f->fmask = 0x47700;
	f->run.msr.index = MSR_LSTAR;
	f->run.msr.data = LSTAR;
	put_gate(f, ENTRY);
	put(f, ENTRY, "\x90\x90\x90\xfc", 4);
	put(f, USER, "\x0f\x05", 2);
	f->m.syscall_fix = syscall_fix_new(&f->m);
	assert_non_null(f->m.syscall_fix);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	syscall_fix_free(f->m.syscall_fix);
	free(f);
	return 0;
}

/* A page fault has arrived at its entry. */
static void fault(struct fake *f, uint64_t rip, uint64_t cs)
{
	const uint64_t frame[] = {0x15, rip, cs, 0x10246, 0x7ffd00001000, 0x2b};

	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_non_null(f->trap);
	put(f, STACK, frame, sizeof(frame));
	f->regs = (struct kvm_regs){.rip = ENTRY + 3,
				    .rsp = STACK,
				    .rflags = 0x10002,
				    .rax = 39,
				    .rcx = USER + 2,
				    .r11 = 0x50246};
	f->trap(&f->v, f->trap_arg);
}

/* --- finding the entry --------------------------------------------------------------------- */

static void test_arm(void **state)
{
	struct fake *f = *state;

	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_int_equal(f->trap_va, ENTRY);
	assert_int_equal(f->trap_pa, 0x1002000);
	assert_int_equal(f->trap_size, 3);
	syscall_fix_wrmsr(f->m.syscall_fix, &f->v); /* of the next vCPU */
	assert_int_equal(f->warnings, 0);
}

static void test_arm_behind_endbr(void **state)
{
	struct fake *f = *state;

	put(f, ENTRY, "\xf3\x0f\x1e\xfa\x0f\x1f\x00\xfc", 8);
	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_int_equal(f->trap_va, ENTRY + 4);
	assert_int_equal(f->trap_size, 3);
}

static void test_other_msr(void **state)
{
	struct fake *f = *state;

	f->run.msr.index = MSR_STAR;
	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_null(f->trap);
}

static void test_cannot_arm(void **state)
{
	struct fake *f = *state;

	put(f, ENTRY, "\x55\x48\x89\xe5", 4); /* no place for a trap */
	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_null(f->trap);
	assert_int_equal(f->warnings, 1);
}

static void test_no_gate(void **state)
{
	struct fake *f = *state;

	f->sregs.idt.limit = 14 * 16 + 14; /* one byte short */
	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_null(f->trap);
	assert_int_equal(f->warnings, 1);
}

static void test_gate_to_nowhere(void **state)
{
	struct fake *f = *state;

	put_gate(f, 0xfffffffffffffffe);
	syscall_fix_wrmsr(f->m.syscall_fix, &f->v);
	assert_null(f->trap);
	assert_int_equal(f->warnings, 1);
}

/* --- finishing the call -------------------------------------------------------------------- */

static void test_finish(void **state)
{
	struct fake *f = *state;

	fault(f, LSTAR, 0x33);
	assert_true(f->changed);
	assert_int_equal(f->regs.rip, LSTAR);
	assert_int_equal(f->regs.rsp, 0x7ffd00001000);
	assert_int_equal(f->regs.rflags, 0x50246 & ~0x47700 & ~0x10000);
	assert_int_equal(f->regs.rax, 39);
	assert_int_equal(f->regs.rcx, USER + 2);
	assert_int_equal(f->sregs.cs.selector, 0x10);
	assert_int_equal(f->sregs.cs.l, 1);
	assert_int_equal(f->sregs.cs.dpl, 0);
	assert_int_equal(f->sregs.ss.selector, 0x18);
	assert_int_equal(f->sregs.ss.dpl, 0);
}

static void assert_goes_on(struct fake *f)
{
	assert_false(f->changed);
	assert_int_equal(f->regs.rip, ENTRY + 3);
	assert_int_equal(f->regs.rsp, STACK);
}

static void test_other_faults(void **state)
{
	struct fake *f = *state;

	fault(f, USER, 0x33);
	assert_goes_on(f);
}

static void test_kernel_fault(void **state)
{
	struct fake *f = *state;

	fault(f, LSTAR, 0x10);
	assert_goes_on(f);
}

/* A jump of user mode to the kernel's address stays a fault. */
static void test_no_syscall_instruction(void **state)
{
	struct fake *f = *state;

	put(f, USER, "\xff\xe0", 2);
	fault(f, LSTAR, 0x33);
	assert_goes_on(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_arm),		 TEST(test_arm_behind_endbr),
		TEST(test_other_msr),	 TEST(test_cannot_arm),
		TEST(test_no_gate),	 TEST(test_gate_to_nowhere),
		TEST(test_finish),	 TEST(test_other_faults),
		TEST(test_kernel_fault), TEST(test_no_syscall_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
