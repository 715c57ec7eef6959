// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calibrate.c - finds out whether the host runs guest kernel mode or interprets it, by timing a
 * loop in a small machine of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "vmm/kvm/kvm.h"

#define NSEC 1000000000ull

/* Enough when either is reached: a real CPU does the instructions in less than a millisecond. */
#define ENOUGH_INSNS 1000000
#define ENOUGH_NSEC  (NSEC / 5)

/*
 * An interpreter does a few millions a second, a CPU a thousand millions and more; one that QEMU's
 * TCG translates, for a host that is a guest itself, some tens of millions when it has to share.
 */
#define EMULATED_BELOW 10e6

#define PML4	    0x0
#define PDPT	    0x1000
#define PAGE_DIR    0x2000
#define CODE	    0x3000
#define MEMORY_SIZE 0x4000

#define PTE_PRESENT_WRITABLE 0x3
#define PTE_LARGE	     0x80

#define CR0_PE	 (1u << 0)
#define CR0_PG	 (1u << 31)
#define CR4_PAE	 (1u << 5)
#define EFER_LME (1u << 8)
#define EFER_LMA (1u << 10)

#define ROUNDS	    16384
#define CHUNK_INSNS (ROUNDS * 2 + 3) /* between two exits */

static const uint8_t loop_code[] = {
	0xb9, ROUNDS & 0xff, ROUNDS >> 8, 0, 0, /* start: mov $ROUNDS, %ecx */
	0xff, 0xc9,				/* again: dec %ecx */
	0x75, 0xfc,				/* jnz again */
	0xe6, 0x10,				/* out %al, $0x10 */
	0xeb, 0xf3,				/* jmp start */
};

struct bench {
	int vm_fd, vcpu_fd;
	uint8_t *memory;
	struct kvm_run *run;
	size_t run_size;
};

/* CPU time, which the guest's share is part of: a busy host is not a slow one. */
static uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

static void bench_exit(struct bench *b)
{
	if (b->run != MAP_FAILED)
		munmap(b->run, b->run_size);
	if (b->vcpu_fd >= 0)
		close(b->vcpu_fd);
	if (b->vm_fd >= 0)
		close(b->vm_fd);
	if (b->memory != MAP_FAILED)
		munmap(b->memory, MEMORY_SIZE);
}

static int bench_map(struct bench *b)
{
	struct kvm_userspace_memory_region ram = {.memory_size = MEMORY_SIZE};

	b->memory =
		mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->memory == MAP_FAILED)
		return -errno;
	ram.userspace_addr = (uintptr_t)b->memory;
	return ioctl(b->vm_fd, KVM_SET_USER_MEMORY_REGION, &ram) ? -errno : 0;
}

static int bench_open(struct bench *b, int kvm_fd)
{
	int err, size = ioctl(kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);

	*b = (struct bench){.vcpu_fd = -1, .memory = MAP_FAILED, .run = MAP_FAILED};
	b->vm_fd = ioctl(kvm_fd, KVM_CREATE_VM, 0);
	if (b->vm_fd < 0)
		return -errno;
	err = bench_map(b);
	if (err)
		return err;
	b->vcpu_fd = ioctl(b->vm_fd, KVM_CREATE_VCPU, 0);
	if (b->vcpu_fd < 0)
		return -errno;
	if (size < (int)sizeof(*b->run))
		return -EINVAL;
	b->run_size = (size_t)size;
	b->run = mmap(NULL, b->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, b->vcpu_fd, 0);
	return b->run == MAP_FAILED ? -errno : 0;
}

static void bench_put(struct bench *b, size_t at, uint64_t entry)
{
	memcpy(b->memory + at, &entry, sizeof(entry));
}

/* 64-bit mode, the first 2 MB mapped one to one, at the loop. */
static int bench_enter_loop(struct bench *b)
{
	struct kvm_regs regs = {.rip = CODE, .rflags = 2};
	struct kvm_segment code = {.limit = UINT32_MAX,
				   .selector = 8,
				   .type = 11,
				   .present = 1,
				   .s = 1,
				   .l = 1,
				   .g = 1};
	struct kvm_segment data = {.limit = UINT32_MAX,
				   .selector = 16,
				   .type = 3,
				   .present = 1,
				   .s = 1,
				   .db = 1,
				   .g = 1};
	struct kvm_sregs sregs;

	bench_put(b, PML4, PDPT | PTE_PRESENT_WRITABLE);
	bench_put(b, PDPT, PAGE_DIR | PTE_PRESENT_WRITABLE);
	bench_put(b, PAGE_DIR, PTE_PRESENT_WRITABLE | PTE_LARGE);
	memcpy(b->memory + CODE, loop_code, sizeof(loop_code));
	if (ioctl(b->vcpu_fd, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cr0 |= CR0_PE | CR0_PG;
	sregs.cr3 = PML4;
	sregs.cr4 |= CR4_PAE;
	sregs.efer |= EFER_LME | EFER_LMA;
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.ss = data;
	if (ioctl(b->vcpu_fd, KVM_SET_SREGS, &sregs) || ioctl(b->vcpu_fd, KVM_SET_REGS, &regs))
		return -errno;
	return 0;
}

static int bench_run_chunk(struct bench *b)
{
	while (ioctl(b->vcpu_fd, KVM_RUN, 0)) {
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
	return b->run->exit_reason == KVM_EXIT_IO ? 0 : -EIO;
}

static int bench_measure(struct bench *b, double *insns_per_sec)
{
	uint64_t start, spent, insns = 0;
	int err = bench_run_chunk(b); /* not counted: the host sets itself up */

	if (err)
		return err;
	start = bench_now();
	do {
		err = bench_run_chunk(b);
		if (err)
			return err;
		insns += CHUNK_INSNS;
		spent = bench_now() - start;
	} while (insns < ENOUGH_INSNS && spent < ENOUGH_NSEC);
	*insns_per_sec = (double)insns * (double)NSEC / (double)(spent ? spent : 1);
	return 0;
}

int kvm_calibrate(int kvm_fd, struct kvm_calibration *cal)
{
	struct bench b;
	int err = bench_open(&b, kvm_fd);

	if (!err)
		err = bench_enter_loop(&b);
	if (!err)
		err = bench_measure(&b, &cal->insns_per_sec);
	if (!err)
		cal->emulated = cal->insns_per_sec < EMULATED_BELOW;
	bench_exit(&b);
	return err;
}

int kvm_host_is_native(void)
{
	struct kvm_calibration cal;
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = kvm_calibrate(fd, &cal);
	close(fd);
	return rc ? rc : !cal.emulated;
}
