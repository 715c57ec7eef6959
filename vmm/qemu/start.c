// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start.c - the qemu backend's other way to a guest: a transient libvirt domain of hvtrace's own.
 *
 * The domain is created standing at its reset and gets its stub there. The kernel is in memory only
 * after firmware, boot loader and its own decompressor have run, so the guest runs that far: to a
 * breakpoint at the link address of one of the first functions of the kernel proper. That is where
 * it comes by because KASLR is off (nokaslr, as in the kvm backend, where nothing moves the kernel
 * either); no lower address can be mistaken for it, since nothing before maps the upper half. It
 * is a hardware breakpoint, as there is no memory at the address yet that could hold another one.
 *
 * The domain lives no longer than the connection to libvirt, so a tracer that is killed leaves
 * nothing behind, and there is no need for a keeper.
 */
#include "vmm/qemu/qemu.h"
#include "vmm/qemu/start.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_S   60 /* firmware and decompressor; about 1.5 under TCG */
#define CR4_LA57   (1u << 12)
#define CR3_USER   (UINT64_C(1) << 12)		/* PTI_USER_PGTABLE_BIT */
#define KERNEL_MAP UINT64_C(0xffffffff80000000) /* __START_KERNEL_map */
#define PATH_ROOM  512

/* --- the domain ---------------------------------------------------------------------------------
 */

static int create_domain(struct qemu_machine *m, const struct machine_config *cfg, char *err,
			 size_t errlen)
{
	struct machine_config with = *cfg;

	if (!cfg->found && (!cfg->kernel_path || !cfg->kernel_entry)) {
		snprintf(err, errlen,
			 "QEMU cannot be told where this kernel begins (no start_kernel)");
		return -EINVAL;
	}
	if (cfg->firmware == MACHINE_FIRMWARE_UEFI && !qemu_start_uefi()) {
		snprintf(err, errlen,
			 "this host has no UEFI for guests: install it (Debian: package ovmf), or "
			 "use --firmware bios");
		return -ENOENT;
	}
	/*
	 * First, so that it is there whatever the rest has in it, such as quotes or a --. A kernel
	 * that boots counts the ticks in ten ticks' time by the TSC, and panics when they are four
	 * or fewer, which they can be where QEMU translates and the host is busy (timer_irq_works()
	 * in arch/x86/kernel/apic/io_apic.c, 6.1). Under KVM kernels leave that out by themselves.
	 */
	if (cfg->cmdline && asprintf(&m->cmdline, "%sno_timer_check %s",
				     cfg->found ? "" : "nokaslr ", cfg->cmdline) < 0) {
		m->cmdline = NULL;
		snprintf(err, errlen, "no memory for the kernel command line");
		return -ENOMEM;
	}
	with.cmdline = m->cmdline;
	m->domain = qemu_start_domain(&with, err, errlen);
	return m->domain ? 0 : -EIO;
}

static int serial_open(struct qemu_machine *m, unsigned int nr,
		       void (*write)(void *arg, const char *text, size_t len), void *arg,
		       struct qemu_console **port, char *err, size_t errlen)
{
	char path[PATH_ROOM];
	int rc = qemu_domain_serial_open(m->domain, nr, path, sizeof(path), err, errlen);

	if (rc)
		return rc;
	*port = qemu_console_open(path, write, arg, err, errlen);
	return *port ? 0 : -EIO;
}

static int connect_domain(struct qemu_machine *m, const struct machine_config *cfg, char *err,
			  size_t errlen)
{
	const struct gdb_caller caller = {.idle = cfg->cancelled, .arg = cfg->arg};
	char path[PATH_ROOM];
	int rc = serial_open(m, 0, cfg->console, cfg->arg, &m->console, err, errlen), fd;

	if (!rc && cfg->channel)
		rc = serial_open(m, 1, cfg->channel, cfg->arg, &m->channel, err, errlen);
	if (rc)
		return rc;
	rc = qemu_domain_stub_start(m->domain, false, path, sizeof(path), err, errlen);
	qemu_remember_folder(m, rc ? "" : path);
	fd = rc ? rc : gdb_dial(path, &caller, err, errlen);
	if (fd < 0)
		return fd;
	m->gdb = gdb_open(fd, err, errlen);
	qemu_clock_begin(m);
	return m->gdb ? 0 : -ECONNREFUSED;
}

/* --- up to the kernel ---------------------------------------------------------------------------
 */

/*
 * Where the kernel was linked to begin, which stays mapped: its first function is in init memory.
 * The image's entry is a physical address (arch/x86/kernel/vmlinux.lds.S, 6.1: phys_startup_64).
 */
static uint64_t kernel_start(const struct machine_config *cfg)
{
	Elf64_Ehdr head;

	if (!cfg->kernel || cfg->kernel_size < sizeof(head))
		return cfg->kernel_entry;
	memcpy(&head, cfg->kernel, sizeof(head));
	return KERNEL_MAP + head.e_entry;
}

/* In user mode with page table isolation the kernel's tables are those beside the vCPU's own. */
static bool is_mapped(struct qemu_machine *m, const struct start_state *s, uint64_t va)
{
	unsigned int levels = s->reg[GDB_CR4] & CR4_LA57 ? 5 : 4;
	uint64_t root = s->reg[GDB_CR3], pa;

	if (!qemu_start_walks(s->reg))
		return false;
	return !machine_walk(&m->base, root, levels, va, &pa, NULL) ||
	       (qemu_start_is_user(s->reg) &&
		!machine_walk(&m->base, root & ~CR3_USER, levels, va, &pa, NULL));
}

static int state_read(struct qemu_machine *m, const struct machine_config *cfg,
		      struct start_state *s)
{
	int rc;

	*s = (struct start_state){0};
	rc = qemu_start_regs(m, s->reg);
	if (rc)
		return rc;
	s->mapped = is_mapped(m, s, kernel_start(cfg));
	/* What unpacks the kernel has memory where it is: an address of it is that of its RAM. */
	if (gdb_read_phys(m->gdb, s->reg[GDB_RIP] - 1, s->insn, sizeof(s->insn)))
		memset(s->insn, 0, sizeof(s->insn));
	return 0;
}

static void explain_timeout(struct qemu_machine *m, const struct machine_config *cfg, char *err,
			    size_t errlen)
{
	struct start_state s;
	int rc = state_read(m, cfg, &s);

	if (rc)
		snprintf(err, errlen,
			 "the guest did not come by its kernel's first function at 0x%" PRIx64
			 " in %d s, and QEMU does not tell where it is: %s",
			 cfg->kernel_entry, KERNEL_S, strerror(-rc));
	else
		qemu_start_explain(&s, cfg->kernel_entry, KERNEL_S, err, errlen);
}

static int run_to_kernel(struct qemu_machine *m, const struct machine_config *cfg, char *err,
			 size_t errlen)
{
	const struct start_run run = {.at = &cfg->kernel_entry,
				      .n = 1,
				      .end_ms = qemu_start_now_ms() + KERNEL_S * INT64_C(1000)};
	int rc = qemu_start_run(m, cfg, &run);

	if (rc == -ETIMEDOUT)
		explain_timeout(m, cfg, err, errlen);
	else if (rc == -ECANCELED)
		snprintf(err, errlen, "interrupted before the kernel had unpacked itself");
	else if (rc == -ESHUTDOWN || rc == -ECONNRESET || rc == -EPIPE)
		snprintf(err, errlen,
			 "the guest ended before it came by its kernel's first function at "
			 "0x%" PRIx64 ": --console may show why; it may need more memory (-m)",
			 cfg->kernel_entry);
	else if (rc)
		snprintf(err, errlen, "QEMU's gdb stub does not run the guest to its kernel: %s",
			 strerror(-rc));
	return rc;
}

int qemu_start_bring(struct qemu_machine *m, const struct machine_config *cfg, char *err,
		     size_t errlen)
{
	int rc;

	if (cfg->found)
		return qemu_start_find(m, cfg, err, errlen);
	rc = run_to_kernel(m, cfg, err, errlen);
	/* Where its memory lies is known by then, and may not be looked for any more. */
	return rc || qemu_again_is_boot(m) ? rc : qemu_look(m, err, errlen);
}

static int start(struct qemu_machine *m, const struct machine_config *cfg, char *err, size_t errlen)
{
	int rc = create_domain(m, cfg, err, errlen);

	if (rc)
		return rc;
	/* It also answers libvirt, which drops who is silent for half a minute. */
	rc = qemu_watch(m);
	if (rc) {
		snprintf(err, errlen, "cannot listen to libvirt: %s", strerror(-rc));
		return rc;
	}
	machine_message(&m->base, MACHINE_MSG_INFO, "the guest is domain %s of libvirt, under %s",
			qemu_domain_name(m->domain), qemu_domain_is_kvm(m->domain) ? "KVM" : "TCG");
	rc = connect_domain(m, cfg, err, errlen);
	if (!rc)
		rc = qemu_start_bring(m, cfg, err, errlen);
	if (rc)
		return rc;
	qemu_clock_open(m);
	rc = qemu_again_await(m);
	if (rc) {
		snprintf(err, errlen, "the guest cannot be made to stand at its reset: %s",
			 strerror(-rc));
		return rc;
	}
	rc = qemu_run_start(m, false);
	if (rc)
		snprintf(err, errlen, "cannot start a thread: %s", strerror(-rc));
	return rc;
}

struct machine *qemu_create(const struct machine_ops *ops, const struct machine_config *cfg,
			    char *err, size_t errlen)
{
	const struct machine_attach_config how = {
		.message = cfg->message,
		.trap = cfg->trap,
		.mmio = cfg->mmio,
		.branch = cfg->branch,
		.arg = cfg->arg,
	};
	struct qemu_machine *m = qemu_alloc(ops, &how);

	if (!m) {
		snprintf(err, errlen, "no memory for the machine");
		return NULL;
	}
	m->created = true;
	if (qemu_again_init(m, cfg))
		snprintf(err, errlen, "no memory for the machine");
	else if (!start(m, cfg, err, errlen))
		return &m->base;
	qemu_destroy(&m->base);
	return NULL;
}
