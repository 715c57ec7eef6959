// SPDX-License-Identifier: GPL-2.0-or-later
/* test-assist-fpu.c - instructions carried out by insn-fpu.c; needs no KVM. */
#include "tests/unit/insn-fake.h"

static void test_mxcsr(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = DATA;
	put64(f, DATA_PA, 0x1fc0);
	assert_int_equal(RUN(f, "\x0f\xae\x17"), 0); /* ldmxcsr (%rdi) */
	assert_int_equal(f->fpu.mxcsr, 0x1fc0);
	f->regs.rdi = DATA + 8;
	assert_int_equal(RUN(f, "\x0f\xae\x1f"), 0); /* stmxcsr (%rdi) */
	assert_int_equal(get64(f, DATA_PA + 8), 0x1fc0);
	put64(f, DATA_PA, 0x10000);
	f->regs.rdi = DATA;
	assert_int_equal(RAISES(f, "\x0f\xae\x17")->vector, VECTOR_GP);
	f->sregs.cr0 |= 8; /* task switched */
	assert_int_equal(RAISES(f, "\x0f\xae\x1f")->vector, VECTOR_NM);
	f->sregs.cr4 = 0x20;
	assert_int_equal(RAISES(f, "\x0f\xae\x1f")->vector, VECTOR_UD);
}

static void test_x87(void **state)
{
	struct fake *f = *state;

	assert_int_equal(RUN(f, "\x9b"), 0);
	f->fpu.fsw = 0x3881; /* an exception is pending */
	assert_int_equal(RAISES(f, "\x9b")->vector, VECTOR_MF);
	assert_int_equal(RUN(f, "\xdb\xe2"), 0); /* fnclex */
	assert_int_equal(f->fpu.fsw, 0x3800);
	f->fpu.ftwx = 0xff;
	f->fpu.fcw = 0;
	assert_int_equal(RUN(f, "\xdb\xe3"), 0); /* fninit */
	assert_int_equal(f->fpu.fcw, 0x37f);
	assert_int_equal(f->fpu.fsw, 0);
	assert_int_equal(f->fpu.ftwx, 0);
	f->sregs.cr0 |= 8;
	assert_int_equal(RAISES(f, "\x9b")->vector, VECTOR_NM);
}

/* How Linux hides a process's FPU pointers from the next one on some AMD processors. */
static void test_emms_fild(void **state)
{
	static const uint8_t minus_5[] = {0, 0, 0, 0, 0, 0, 0, 0xa0, 0x01, 0xc0};
	static const uint8_t one[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
	static const uint8_t zero[10];
	struct fake *f = *state;

	f->fpu.ftwx = 0xff;
	assert_int_equal(RUN(f, "\x0f\x77"), 0); /* emms */
	assert_int_equal(f->fpu.ftwx, 0);
	f->regs.rdi = DATA;
	put64(f, DATA_PA, 0xfffffffb);
	assert_int_equal(RUN(f, "\xdb\x07"), 0); /* fildl (%rdi) */
	assert_int_equal(f->fpu.ftwx, 0x80);
	assert_int_equal(f->fpu.fsw, 7 << 11);
	assert_memory_equal(f->fpu.fpr[0], minus_5, 10);
	put64(f, DATA_PA, 1);
	assert_int_equal(RUN(f, "\xdf\x2f"), 0); /* fildll (%rdi) */
	put64(f, DATA_PA, 0xffff0000);
	assert_int_equal(RUN(f, "\xdf\x07"), 0); /* filds (%rdi) */
	assert_memory_equal(f->fpu.fpr[0], zero, 10);
	assert_memory_equal(f->fpu.fpr[1], one, 10);
	assert_memory_equal(f->fpu.fpr[2], minus_5, 10);
	assert_int_equal(f->fpu.ftwx, 0xe0);
	f->fpu.ftwx = 0xff; /* a full stack */
	assert_int_equal(RUN(f, "\xdb\x07"), -ENOSYS);
}

static void fill_fpu(struct kvm_fpu *fpu)
{
	memset(fpu, 0, sizeof(*fpu));
	for (unsigned int i = 0; i < sizeof(fpu->fpr); i++)
		((uint8_t *)fpu->fpr)[i] = (uint8_t)i;
	for (unsigned int i = 0; i < sizeof(fpu->xmm); i++)
		((uint8_t *)fpu->xmm)[i] = (uint8_t)(i ^ 0x5a);
	fpu->fcw = 0x27f;
	fpu->fsw = 0x3800;
	fpu->ftwx = 0x80;
	fpu->last_opcode = 0x123;
	fpu->last_ip = 0x1122334455667788;
	fpu->last_dp = 0x99aabbccddeeff00;
	fpu->mxcsr = 0x9fc0;
}

static void test_fxsave_fxrstor(void **state)
{
	struct fake *f = *state;
	struct kvm_fpu saved;

	fill_fpu(&f->fpu);
	saved = f->fpu;
	memset(f->ram + DATA_PA, 0xee, 512);
	f->regs.rdi = DATA;
	assert_int_equal(RUN(f, "\x48\x0f\xae\x07"), 0); /* fxsave64 (%rdi) */
	assert_memory_equal(f->ram + DATA_PA, "\x7f\x02\x00\x38\x80\x00\x23\x01", 8);
	assert_int_equal(get64(f, DATA_PA + 8), saved.last_ip);
	assert_int_equal(get64(f, DATA_PA + 24) & 0xffffffff, 0x9fc0);
	assert_memory_equal(f->ram + DATA_PA + 160, saved.xmm, 256);
	assert_int_equal(f->ram[DATA_PA + 464], 0xee); /* software's bytes are left alone */
	memset(&f->fpu, 0, sizeof(f->fpu));
	assert_int_equal(RUN(f, "\x48\x0f\xae\x0f"), 0); /* fxrstor64 (%rdi) */
	assert_memory_equal(&f->fpu, &saved, sizeof(saved));
	assert_int_equal(RUN(f, "\x0f\xae\x0f"), 0); /* fxrstor: 32 bits of the pointers */
	assert_int_equal(f->fpu.last_ip, 0x55667788);
	put64(f, DATA_PA + 24, 0x12340000);
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x0f")->vector, VECTOR_GP);
	f->regs.rdi = DATA + 8;
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x07")->vector, VECTOR_GP);
}

static void test_xsave_xrstor(void **state)
{
	struct fake *f = *state;
	struct kvm_fpu saved;

	fill_fpu(&f->fpu);
	saved = f->fpu;
	f->regs.rdi = DATA + 64;
	f->regs.rax = 0xffffffff;
	f->regs.rdx = 0xffffffff;
	put64(f, DATA_PA + 64 + 512, 4);		 /* a state that is not asked for stays */
	assert_int_equal(RUN(f, "\x48\x0f\xae\x27"), 0); /* xsave64 (%rdi) */
	assert_int_equal(get64(f, DATA_PA + 64 + 512), 4 | 3);
	put64(f, DATA_PA + 64 + 512, 2);		 /* no x87 state: it becomes initial */
	assert_int_equal(RUN(f, "\x48\x0f\xae\x2f"), 0); /* xrstor64 (%rdi) */
	assert_int_equal(f->fpu.fcw, 0x37f);
	assert_memory_equal(f->fpu.xmm, saved.xmm, sizeof(saved.xmm));
	put64(f, DATA_PA + 64 + 512, 8);
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x2f")->vector, VECTOR_GP);
}

static void test_xsavec_xrstor(void **state)
{
	struct fake *f = *state;
	struct kvm_fpu saved;

	fill_fpu(&f->fpu);
	saved = f->fpu;
	f->regs.rdi = DATA + 64;
	f->regs.rax = 2;
	assert_int_equal(RUN(f, "\x48\x0f\xc7\x67\x00"), 0); /* xsavec64 0(%rdi) */
	assert_int_equal(get64(f, DATA_PA + 64 + 512), 2);
	assert_int_equal(get64(f, DATA_PA + 64 + 520), 2 | 1ull << 63);
	memset(&f->fpu, 0, sizeof(f->fpu));
	assert_int_equal(RUN(f, "\x48\x0f\xae\x2f"), 0);
	assert_memory_equal(f->fpu.xmm, saved.xmm, sizeof(saved.xmm));
	assert_int_equal(f->fpu.mxcsr, saved.mxcsr);
	assert_int_equal(f->fpu.fcw, 0); /* not asked for */
}

static void test_xsave_refused(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = DATA + 64;
	f->xcr0 = 7;
	assert_int_equal(RUN(f, "\x48\x0f\xae\x27"), -ENOSYS); /* AVX state: not here */
	f->xcr0 = 3;
	f->regs.rdi = DATA + 32;
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x27")->vector, VECTOR_GP);
	f->sregs.cr4 = 0x6b0;
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x27")->vector, VECTOR_UD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mxcsr),	   TEST(test_x87),	    TEST(test_emms_fild),
		TEST(test_fxsave_fxrstor), TEST(test_xsave_xrstor), TEST(test_xsavec_xrstor),
		TEST(test_xsave_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
