// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * boot.c - the state that a Linux kernel's 64-bit entry point expects.
 *
 * Linux Documentation/arch/x86/boot.rst, "64-bit boot protocol": 64-bit mode, interrupts off, a
 * flat code segment at 0x10 and data segment at 0x18, identity page tables that cover the kernel,
 * boot_params and the command line, and the address of boot_params in rsi.
 */
#include "vmm/kvm/local.h"

#include <asm/bootparam.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_SIZE 4096u
#define PMD_SIZE  (2ull << 20)

#define PTE_TABLE 0x3ull  /* present, writable */
#define PTE_LARGE 0x83ull /* and a page of its own size */

#define CR0_BOOT  (1ull << 31 | 1ull << 16 | 1ull << 5 | 1ull << 4 | 1ull) /* PG WP NE ET PE */
#define CR4_BOOT  (1ull << 5)						   /* PAE */
#define EFER_BOOT (1ull << 10 | 1ull << 8)				   /* LMA LME */

#define BOOT_FLAG    0xaa55
#define BOOT_MAGIC   0x53726448 /* "HdrS" */
#define BOOT_VERSION 0x20f
#define BOOT_LOADER  0xff /* none of the assigned ones */

#define E820_RAM      1
#define E820_RESERVED 2

/*
 * On every host: without cfg.kaslr the kernel is told so; the TSC's frequency, which needs no
 * calibration then, and no watchdog over it, which would compare it with ticks that come late.
 * The user's words come last and so have the last word.
 *
 * On hosts that interpret kernel mode: without what their emulator cannot do or does too slowly.
 * They report some features whatever CPUID says, and the local APIC's timer ticks faster than its
 * handler runs there; ticks that come late must not be taken for a broken timer. Without ACPI there
 * is no interpreter of AML to interpret, but also, for kernels that do not know MP tables (Debian's
 * for clouds), only one CPU, and no interrupts of PCI devices. The crypto code's self-tests (Debian
 * has them on) exponentiate numbers of 2,048 bits for ten minutes.
 *
 * clearcpuid takes names since 5.18, numbers always; Linux has room for 127 characters of them:
 * smap, smep, fsgsbase, umip, erms, fsrm (whose rep movsb is interpreted byte by byte); pclmulqdq,
 * ssse3, sse4_1, sse4_2, movbe, popcnt, aes, avx, rdrand, bmi1, avx2, bmi2, avx512f, rdseed,
 * sha_ni.
 */
#define CMDLINE_ALL "tsc=reliable"
#define CMDLINE_EMULATED                                                                           \
	" no_timer_check nolapic_timer mitigations=off noxsave cryptomgr.notests"                  \
	" clearcpuid=308,295,288,514,297,580,129,137,147,148,150,151,153,156,158,291,293,296,304,306,317"
#define CMDLINE_EMULATED_UP CMDLINE_EMULATED " acpi=off"

static const char *cmdline_fixed(const struct kvm_machine *m)
{
	if (!m->cal.emulated)
		return CMDLINE_ALL;
	return m->nvcpus > 1 || m->pci ? CMDLINE_ALL CMDLINE_EMULATED
				       : CMDLINE_ALL CMDLINE_EMULATED_UP;
}

static int cmdline_write(struct kvm_machine *m, char *err, size_t errlen)
{
	const char *user = m->cfg.cmdline ? m->cfg.cmdline : "";
	int len = snprintf(m->cmdline, sizeof(m->cmdline), "%s%s tsc_early_khz=%llu%s%s",
			   m->cfg.kaslr ? "" : "nokaslr ", cmdline_fixed(m),
			   (unsigned long long)m->tsc_khz, *user ? " " : "", user);

	if (len >= (int)sizeof(m->cmdline)) {
		snprintf(err, errlen, "the kernel command line is too long: %d bytes, %u fit", len,
			 KVM_CMDLINE_MAX - 1);
		return -E2BIG;
	}
	return kvm_mem_write(m, KVM_BOOT_CMDLINE, m->cmdline, (size_t)len + 1);
}

static uint64_t head_size(const struct machine_config *cfg)
{
	return cfg->overlay ? cfg->overlay_size : 0;
}

static uint64_t rest_size(const struct machine_config *cfg)
{
	return cfg->initrd ? cfg->initrd_size : 0;
}

/* As high as the kernel can still reach early (initrd_addr_max of boot.rst), above the kernel. */
uint64_t kvm_initrd_start(const struct kvm_machine *m)
{
	uint64_t top = m->mem[0].size < 0x7fffffffull ? m->mem[0].size : 0x7fffffffull;
	uint64_t head = head_size(&m->cfg), rest = rest_size(&m->cfg);

	return head > top || rest > top - head ? 0
					       : (top - head - rest) & ~(uint64_t)(PAGE_SIZE - 1);
}

static int initrd_load(struct kvm_machine *m, uint64_t kernel_end, struct setup_header *hdr,
		       char *err, size_t errlen)
{
	uint64_t head = head_size(&m->cfg), rest = rest_size(&m->cfg), at = kvm_initrd_start(m);
	int rc;

	if (!head && !rest)
		return 0;
	if (at < kernel_end) {
		snprintf(err, errlen,
			 "the initrd (%llu KiB) does not fit into %llu MiB of guest memory",
			 (unsigned long long)(head + rest) >> 10,
			 (unsigned long long)m->cfg.memory >> 20);
		return -ENOMEM;
	}
	hdr->ramdisk_image = (uint32_t)at;
	hdr->ramdisk_size = (uint32_t)(head + rest);
	rc = kvm_mem_write(m, at, m->cfg.overlay, head);
	return rc ? rc : kvm_mem_write(m, at + head, m->cfg.initrd, rest);
}

static void e820_add(struct boot_params *bp, uint64_t start, uint64_t end, uint32_t type)
{
	bp->e820_table[bp->e820_entries++] = (struct boot_e820_entry){
		.addr = start,
		.size = end - start,
		.type = type,
	};
}

static void e820_fill(const struct kvm_machine *m, struct boot_params *bp)
{
	e820_add(bp, 0, KVM_EBDA_START, E820_RAM);
	e820_add(bp, KVM_EBDA_START, KVM_BIOS_END, E820_RESERVED);
	e820_add(bp, KVM_BIOS_END, m->mem[0].size, E820_RAM);
	if (m->nmem > 1)
		e820_add(bp, m->mem[1].pa, m->mem[1].pa + m->mem[1].size, E820_RAM);
}

static int params_write(struct kvm_machine *m, uint64_t kernel_end, char *err, size_t errlen)
{
	struct boot_params bp;
	uint64_t setup_data = 0;
	int rc;

	memset(&bp, 0, sizeof(bp));
	bp.hdr.boot_flag = BOOT_FLAG;
	bp.hdr.header = BOOT_MAGIC;
	bp.hdr.version = BOOT_VERSION;
	bp.hdr.type_of_loader = BOOT_LOADER;
	bp.hdr.loadflags = LOADED_HIGH | (m->cfg.kaslr ? KASLR_FLAG : 0);
	bp.hdr.cmd_line_ptr = (uint32_t)KVM_BOOT_CMDLINE;
	bp.hdr.cmdline_size = KVM_CMDLINE_MAX - 1;
	bp.acpi_rsdp_addr = KVM_ACPI_START;
	e820_fill(m, &bp);
	rc = kvm_rng_seed_write(m, &setup_data);
	if (!rc)
		rc = kvm_reserved_write(m, &setup_data);
	bp.hdr.setup_data = setup_data;
	if (!rc)
		rc = initrd_load(m, kernel_end, &bp.hdr, err, errlen);
	return rc ? rc : kvm_mem_write(m, KVM_BOOT_PARAMS, &bp, sizeof(bp));
}

/* The first 4 GiB at their own addresses: one PML4, one PDPT, four page directories. */
static int pgtables_write(struct kvm_machine *m)
{
	uint64_t *pml4 = kvm_host_ptr(m, KVM_BOOT_PGTABLE, 6 * PAGE_SIZE);
	uint64_t *pdpt, *pd;

	if (!pml4)
		return -EFAULT;
	pdpt = pml4 + 512;
	pd = pdpt + 512;
	pml4[0] = (KVM_BOOT_PGTABLE + PAGE_SIZE) | PTE_TABLE;
	for (unsigned int i = 0; i < 4; i++)
		pdpt[i] = (KVM_BOOT_PGTABLE + (2 + i) * PAGE_SIZE) | PTE_TABLE;
	for (unsigned int i = 0; i < 4 * 512; i++)
		pd[i] = i * PMD_SIZE | PTE_LARGE;
	return 0;
}

static const uint64_t boot_gdt[] = {
	0, 0, 0x00af9b000000ffffull, /* 0x10: 64-bit code */
	0x00cf93000000ffffull,	     /* 0x18: data */
};

static int memory_init(struct kvm_machine *m, char *err, size_t errlen)
{
	uint64_t kernel_end;
	int rc;

	snprintf(err, errlen, "cannot write what the kernel needs to boot");
	rc = kvm_load_elf(m, &kernel_end, err, errlen);
	if (!rc)
		rc = cmdline_write(m, err, errlen);
	if (!rc)
		rc = params_write(m, kernel_end, err, errlen);
	if (!rc)
		rc = pgtables_write(m);
	if (!rc)
		rc = kvm_mem_write(m, KVM_BOOT_GDT, boot_gdt, sizeof(boot_gdt));
	return rc ? rc : kvm_mptable_write(m);
}

static const struct kvm_segment boot_code = {
	.limit = 0xffffffff,
	.selector = 0x10,
	.type = 11,
	.present = 1,
	.s = 1,
	.l = 1,
	.g = 1,
};
static const struct kvm_segment boot_data = {
	.limit = 0xffffffff,
	.selector = 0x18,
	.type = 3,
	.present = 1,
	.s = 1,
	.db = 1,
	.g = 1,
};

static int vcpu_init(struct kvm_vcpu *v)
{
	struct kvm_regs *regs = kvm_vcpu_regs(v);
	struct kvm_sregs sregs;
	int rc = kvm_vcpu_get_sregs(v, &sregs);

	if (rc)
		return rc;
	sregs.cs = boot_code;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = boot_data;
	sregs.gdt.base = KVM_BOOT_GDT;
	sregs.gdt.limit = sizeof(boot_gdt) - 1;
	sregs.cr0 = CR0_BOOT;
	sregs.cr3 = KVM_BOOT_PGTABLE;
	sregs.cr4 = CR4_BOOT;
	sregs.efer = EFER_BOOT;
	memset(regs, 0, sizeof(*regs));
	regs->rip = v->m->entry;
	regs->rsi = KVM_BOOT_PARAMS;
	regs->rflags = 2; /* the bit that is always set */
	kvm_vcpu_regs_changed(v);
	return kvm_vcpu_set_sregs(v, &sregs);
}

int kvm_boot(struct kvm_machine *m, char *err, size_t errlen)
{
	int rc = memory_init(m, err, errlen);

	if (rc)
		return rc;
	rc = vcpu_init(&m->vcpu[0]);
	if (rc)
		snprintf(err, errlen, "KVM refuses the state to boot from: %s", strerror(-rc));
	return rc;
}
