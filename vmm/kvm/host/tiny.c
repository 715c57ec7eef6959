// SPDX-License-Identifier: GPL-2.0-or-later
/* tiny.c - a machine of one vCPU and a few pages, for finding out what KVM does. */
#include "vmm/kvm/host/tiny.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PML4	 0x0ull
#define PDPT	 0x1000ull
#define PAGE_DIR 0x2000ull

#define LARGE_PAGE 0x200000ull

#define PTE_PRESENT_WRITABLE 0x3
#define PTE_LARGE	     0x80

#define CR0_PE	 (1u << 0)
#define CR0_PG	 (1u << 31)
#define CR4_PAE	 (1u << 5)
#define EFER_LME (1u << 8)
#define EFER_LMA (1u << 10)

#define CODE_SELECTOR 8
#define DATA_SELECTOR 16
#define GATE_SIZE     16
#define GATE_TYPE     0x8e00 /* present, interrupt gate */

#define TINY_NONE                                                                                  \
	(struct tiny)                                                                              \
	{                                                                                          \
		.vm_fd = -1, .vcpu_fd = -1, .memory = MAP_FAILED, .run = MAP_FAILED                \
	}

static const uint64_t gdt[] = {0, 0x00af9b000000ffff, 0x00cf93000000ffff};

void tiny_close(struct tiny *t)
{
	if (t->run != MAP_FAILED)
		munmap(t->run, t->run_size);
	if (t->vcpu_fd >= 0)
		close(t->vcpu_fd);
	if (t->vm_fd >= 0)
		close(t->vm_fd);
	if (t->memory != MAP_FAILED)
		munmap(t->memory, TINY_SIZE);
	*t = TINY_NONE;
}

static int tiny_map(struct tiny *t)
{
	struct kvm_userspace_memory_region ram = {.memory_size = TINY_SIZE};

	t->memory =
		mmap(NULL, TINY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->memory == MAP_FAILED)
		return -errno;
	ram.userspace_addr = (uintptr_t)t->memory;
	return ioctl(t->vm_fd, KVM_SET_USER_MEMORY_REGION, &ram) ? -errno : 0;
}

int tiny_open(struct tiny *t, int kvm_fd, bool irqchip)
{
	int err, size = ioctl(kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);

	*t = TINY_NONE;
	t->vm_fd = ioctl(kvm_fd, KVM_CREATE_VM, 0);
	if (t->vm_fd < 0)
		return -errno;
	err = tiny_map(t);
	if (err)
		return err;
	if (irqchip && ioctl(t->vm_fd, KVM_CREATE_IRQCHIP, 0))
		return -errno;
	t->vcpu_fd = ioctl(t->vm_fd, KVM_CREATE_VCPU, 0);
	if (t->vcpu_fd < 0)
		return -errno;
	if (size < (int)sizeof(*t->run))
		return -EINVAL;
	t->run_size = (size_t)size;
	t->run = mmap(NULL, t->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, t->vcpu_fd, 0);
	return t->run == MAP_FAILED ? -errno : 0;
}

static void tiny_put(struct tiny *t, uint64_t at, uint64_t value)
{
	memcpy(t->memory + at, &value, sizeof(value));
}

void tiny_gate(struct tiny *t, unsigned int vector, uint64_t handler)
{
	uint64_t at = TINY_IDT + (uint64_t)vector * GATE_SIZE;

	tiny_put(t, at,
		 (handler & 0xffff) | CODE_SELECTOR << 16 | (uint64_t)GATE_TYPE << 32 |
			 (handler >> 16 & 0xffff) << 48);
	tiny_put(t, at + 8, handler >> 32);
}

static int tiny_set_sregs(struct tiny *t)
{
	const struct kvm_segment code = {.limit = UINT32_MAX,
					 .selector = CODE_SELECTOR,
					 .type = 11,
					 .present = 1,
					 .s = 1,
					 .l = 1,
					 .g = 1};
	const struct kvm_segment data = {.limit = UINT32_MAX,
					 .selector = DATA_SELECTOR,
					 .type = 3,
					 .present = 1,
					 .s = 1,
					 .db = 1,
					 .g = 1};
	struct kvm_sregs sregs;

	if (ioctl(t->vcpu_fd, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cr0 |= CR0_PE | CR0_PG;
	sregs.cr3 = PML4;
	sregs.cr4 |= CR4_PAE;
	sregs.efer |= EFER_LME | EFER_LMA;
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.ss = data;
	sregs.gdt.base = TINY_GDT;
	sregs.gdt.limit = sizeof(gdt) - 1;
	sregs.idt.base = TINY_IDT;
	sregs.idt.limit = 0xfff;
	return ioctl(t->vcpu_fd, KVM_SET_SREGS, &sregs) ? -errno : 0;
}

int tiny_enter(struct tiny *t, const void *code, size_t len)
{
	const struct kvm_regs regs = {.rip = TINY_CODE, .rsp = TINY_STACK, .rflags = 2};

	if (len > TINY_SIZE - TINY_CODE)
		return -E2BIG;
	tiny_put(t, PML4, PDPT | PTE_PRESENT_WRITABLE);
	tiny_put(t, PDPT, PAGE_DIR | PTE_PRESENT_WRITABLE);
	for (uint64_t pa = 0; pa < TINY_SPAN; pa += LARGE_PAGE)
		tiny_put(t, PAGE_DIR + pa / LARGE_PAGE * sizeof(pa),
			 pa | PTE_PRESENT_WRITABLE | PTE_LARGE);
	memcpy(t->memory + TINY_GDT, gdt, sizeof(gdt));
	memcpy(t->memory + TINY_CODE, code, len);
	if (tiny_set_sregs(t) || ioctl(t->vcpu_fd, KVM_SET_REGS, &regs))
		return -errno;
	return 0;
}

int tiny_run(struct tiny *t)
{
	while (ioctl(t->vcpu_fd, KVM_RUN, 0)) {
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
	return 0;
}
