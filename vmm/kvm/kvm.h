/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm.h - what the files of vmm/kvm/ share: the machine, its vCPUs, and what devices may use.
 *
 * Errors: negative errno. What ends the guest is told to machine_end().
 */
#ifndef HVTRACE_VMM_KVM_KVM_H
#define HVTRACE_VMM_KVM_KVM_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm/core/backend.h"
#include "vmm/core/traps.h"
#include "vmm/kvm/host/calibrate.h"

struct kvm_machine;
struct kvm_vcpu;
struct serial;
struct pit;
struct i8042;
struct rtc;
struct acpi;
struct kvm_pci;
struct kvm_devices;
struct syscall_fix;
struct kvm_follow;

/* --- guest-physical layout ---------------------------------------------------------------- */

#define KVM_RAM_LOW_END	   0xc0000000ull  /* RAM below the hole for devices ends here at most */
#define KVM_RAM_HIGH_START 0x100000000ull /* the rest of it starts here */
#define KVM_RAM_MIN	   (16ull << 20)

#define KVM_BOOT_GDT	  0x500ull
#define KVM_BOOT_PARAMS	  0x7000ull  /* struct boot_params */
#define KVM_BOOT_SEED	  0x8000ull  /* for the random number generator */
#define KVM_BOOT_PGTABLE  0x9000ull  /* identity page tables, 6 pages */
#define KVM_BOOT_CMDLINE  0x20000ull /* command line, at most KVM_CMDLINE_MAX with its NUL */
#define KVM_CMDLINE_MAX	  2048u	     /* COMMAND_LINE_SIZE of x86 Linux */
#define KVM_RESERVED	  0x30000ull /* pages that the kernel is told to leave alone */
#define KVM_EBDA_START	  0x9fc00ull /* conventional memory ends here */
#define KVM_ACPI_START	  0xe0000ull /* ACPI tables, RSDP first; ends at KVM_ACPI_END */
#define KVM_ACPI_END	  0xf0000ull
#define KVM_MPTABLE_START 0xf0000ull
#define KVM_BIOS_END	  0x100000ull

#define KVM_PCI_START 0xd0000000ull /* BARs of devices, in the hole */
#define KVM_PCI_END   0xe0000000ull

#define KVM_IOAPIC_ADDR 0xfec00000u /* as the in-kernel irqchip has them */
#define KVM_LAPIC_ADDR	0xfee00000u

/* --- structures --------------------------------------------------------------------------- */

#define KVM_MEM_MAX 16 /* one or two of RAM, the rest are windows */

/* A page for each window's page table (reserved.c). */
#define KVM_RESERVED_PAGES (KVM_MEM_MAX - 1)

struct kvm_mem {
	uint64_t pa;
	uint64_t size;
	uint8_t *host;
	uint64_t offset; /* of RAM, in kvm_machine.ram_fd */
};

struct state_sections;
struct state_file;
struct kvm_snapshot;

/*
 * A device on I/O ports first..last. Called on the vCPUs' threads, several at a time: a device
 * that has state locks it. size is 1, 2 or 4; a register at an inner port of the access is the
 * device's to sort out. NULL in: reads as all ones; NULL out: writes are ignored.
 */
struct pio_device {
	const char *name;
	uint16_t first, last;
	void (*out)(void *dev, uint16_t port, unsigned int size, uint32_t val);
	uint32_t (*in)(void *dev, uint16_t port, unsigned int size);
	void *dev;
};

#define KVM_PIO_MAX 16

struct kvm_vcpu {
	struct kvm_machine *m;
	unsigned int index;
	int fd;
	struct kvm_run *run;
	size_t run_size;
	pthread_t thread;
	_Atomic pid_t tid;	   /* of it; 0: it has not begun */
	bool started;		   /* the thread exists; base.lock */
	bool inside;		   /* neither parked nor waiting in a pause; base.lock */
	unsigned int held;	   /* pauses that this vCPU's handler holds; own thread only */
	uint64_t tsc_offset;	   /* guest TSC = host TSC + this */
	bool tsc_stops;		   /* whenever the vCPU is not loaded: the offset means nothing */
	bool handling;		   /* an exit, or waiting for a pause meanwhile; own thread only */
	struct kvm_cpuid2 *cpuid;  /* as it was told: not every KVM gives it back */
	bool sregs_synced;	   /* run->s.regs.sregs are those of the last exit */
	uint64_t cpu_ns;	   /* CPU time of the thread when machine_wait() last looked */
	struct kvm_follow *follow; /* the call that is followed, or none; own thread only */
};

struct kvm_machine {
	struct machine base; /* first: a struct machine * is a struct kvm_machine * */
	/* kernel, initrd and cmdline only until the guest is loaded, if it does not reboot */
	struct machine_config cfg;
	int kvm_fd, vm_fd;
	struct kvm_calibration cal;
	bool sync_sregs; /* KVM can deliver segment and control registers with exits */
	uint64_t tsc_khz;
	uint64_t kernel_pa;
	uint64_t kernel_slide, kernel_moved; /* as in struct machine_info */
	uint64_t entry; /* physical address of the kernel's first instruction */
	char cmdline[KVM_CMDLINE_MAX];
	struct state_sections *reset;  /* vCPUs and chips before its first boot; NULL: it has one */
	bool stands;		       /* it boots again, and waits for machine_start() */
	struct kvm_snapshot *snapshot; /* that it goes on from, until it is started; or NULL */
	struct kvm_snapshot *came_from; /* the same from then on */
	bool restored;			/* it has come from one, */
	bool left_windows;		/* of a guest that was traced: */
	char *kernel_path, *kernel_id;	/* of its kernel, as that says, or NULL */

	struct kvm_mem mem[KVM_MEM_MAX];
	_Atomic unsigned int nmem; /* entries below it change at a reboot alone */
	unsigned int nram;	   /* so many of them are RAM, the first ones */
	int ram_fd;		   /* a file that RAM is, where others have to map it; or -1 */
	atomic_uint nreserved;	   /* reserved pages that have been given away */
	struct pio_device pio[KVM_PIO_MAX];
	unsigned int npio; /* fixed once vCPUs run */

	struct serial *serial, *channel; /* channel: NULL where nobody asks for it */
	struct pit *pit;		 /* NULL: the in-kernel one */
	struct i8042 *i8042;
	struct rtc *rtc;
	struct acpi *acpi;
	struct kvm_pci *pci;		 /* NULL: there is none, */
	struct kvm_devices *devices;	 /* nor any of these */
	struct syscall_fix *syscall_fix; /* NULL when the host needs none */
	pthread_mutex_t traps_lock;	 /* taken within a pause, which several threads may have */
	struct trap_table traps;

	unsigned int nvcpus;
	struct kvm_vcpu vcpu[MACHINE_MAX_VCPUS];

	/* base.lock */
	unsigned int requests; /* pauses asked for or held */
	unsigned int outside;  /* pauses held by threads that are no vCPU's */
};

/* --- for devices (kvm.c, bus.c, memory.c) -------------------------------------------------- */

/* Put a device on the bus, before the vCPUs run. The struct is copied. -ENOSPC, -EBUSY. */
int kvm_bus_add(struct kvm_machine *m, const struct pio_device *dev);
/* Level of an ISA interrupt line (0 to 15). Any thread. */
int kvm_irq_line(struct kvm_machine *m, unsigned int irq, bool level);
/* Host address of guest memory (RAM and windows), or NULL; as machine_host_ptr(). */
void *kvm_host_ptr(struct kvm_machine *m, uint64_t pa, size_t len);
/* Copies: 0 or -EFAULT; physical, and through the vCPU's page tables (own thread or paused). */
int kvm_mem_read(struct kvm_machine *m, uint64_t pa, void *buf, size_t len);
int kvm_mem_write(struct kvm_machine *m, uint64_t pa, const void *buf, size_t len);
int kvm_virt_read(struct kvm_vcpu *v, uint64_t va, void *buf, size_t len);

/* --- registers: the vCPU's own thread, or while it is paused (regs.c) ----------------------- */

/* General registers as of the last exit. Call kvm_vcpu_regs_changed() after writing to them. */
struct kvm_regs *kvm_vcpu_regs(struct kvm_vcpu *v);
void kvm_vcpu_regs_changed(struct kvm_vcpu *v);
int kvm_vcpu_get_sregs(struct kvm_vcpu *v, struct kvm_sregs *sregs);
int kvm_vcpu_set_sregs(struct kvm_vcpu *v, const struct kvm_sregs *sregs);
int kvm_vcpu_get_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t *val);
int kvm_vcpu_set_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t val);
/* Make the guest take exception nr at the present rip (which for #BP is behind the int3). */
int kvm_vcpu_inject(struct kvm_vcpu *v, uint8_t nr, bool has_error, uint32_t error);

/* --- traps (traps.c) ------------------------------------------------------------------------ */

/*
 * A trap of the backend's own: hits go to own->fn instead of the machine's handler, on the vCPU's
 * thread, with rip still set behind the site; fn may change registers. kind is MACHINE_TRAP_OUT.
 * own lives as long as the trap.
 */
struct kvm_own_trap {
	void (*fn)(struct kvm_vcpu *v, void *arg);
	void *arg;
};
int kvm_traps_set_own(struct kvm_machine *m, uint64_t va, uint64_t pa, uint8_t size,
		      const struct kvm_own_trap *own);

/* --- devices and helpers in files of their own ---------------------------------------------- */

enum serial_port {
	SERIAL_CONSOLE, /* 0x3f8, irq 4 */
	SERIAL_CHANNEL, /* 0x2f8, irq 3 */
};

/*
 * serial.c: an 8250. What the guest says goes to output, which may be NULL, with cfg.arg. NULL: no
 * memory or port taken.
 */
struct serial *serial_new(struct kvm_machine *m, enum serial_port port,
			  void (*output)(void *arg, const char *text, size_t len));
void serial_free(struct serial *s); /* NULL is allowed, as for all *_free() here */
/* For a snapshot, and from one, as all *_save() and *_restore() here: 0, -EINVAL or -errno. */
void serial_save(struct serial *s, struct state_sections *to);
int serial_restore(struct serial *s, const struct state_file *from);
size_t serial_input(struct serial *s, const char *text, size_t len);

/*
 * pit.c: 8254 at 0x40 to 0x43 and the speaker port 0x61 in user space, irq 0, with a thread of its
 * own; its periodic interrupts come `stretch` times slower than programmed.
 */
struct pit *pit_new(struct kvm_machine *m, unsigned int stretch);
void pit_free(struct pit *p); /* its thread has ended when this is back */
void pit_save(struct pit *p, struct state_sections *to);
int pit_restore(struct pit *p, const struct state_file *from);

/* i8042.c: ports 0x60 and 0x64: no keyboard, the reset command (0xfe) ends the machine. */
struct i8042 *i8042_new(struct kvm_machine *m);
void i8042_free(struct i8042 *k);

/* rtc.c: the real-time clock at 0x70 and 0x71, which shows the host's time; no interrupts. */
struct rtc *rtc_new(struct kvm_machine *m);
void rtc_free(struct rtc *r);
void rtc_save(struct rtc *r, struct state_sections *to);
int rtc_restore(struct rtc *r, const struct state_file *from);

/*
 * acpi.c: tables at KVM_ACPI_START, the PM ports (S5 is MACHINE_EVENT_POWEROFF; the power button is
 * irq 9) and the reset register at 0xcf9. Writes guest memory, so RAM exists already.
 */
struct acpi *acpi_new(struct kvm_machine *m);
void acpi_free(struct acpi *a);
/* Press it. Any thread. -EAGAIN: the guest has not asked to be told. */
int acpi_power_button(struct acpi *a);
int acpi_write_tables(struct acpi *a); /* again, into memory that was cleared: 0 or -errno */
void acpi_save(struct acpi *a, struct state_sections *to);
int acpi_restore(struct acpi *a, const struct state_file *from);

/*
 * slots.c: an access of guest-physical memory that is no RAM. False: no device is there, and
 * nothing has happened.
 */
bool kvm_pci_mmio(struct kvm_pci *p, uint64_t pa, uint8_t *data, unsigned int size, bool write);

/* cpuid.c: what the vCPU says about itself; before its first run, after kvm_calibrate(). */
int kvm_cpuid_setup(struct kvm_vcpu *v);
/* That it says this; of malloc(), and the vCPU's from then on, also on error. */
int kvm_cpuid_set(struct kvm_vcpu *v, struct kvm_cpuid2 *cpuid);

/* mptable.c: processors and interrupt wiring for guests without ACPI, at KVM_MPTABLE_START. */
int kvm_mptable_write(struct kvm_machine *m);

/*
 * Entries of the boot protocol's list setup_data: *list is the physical address of the first entry
 * (0: none), and afterwards that of the new one, which the others follow.
 */
int kvm_rng_seed_write(struct kvm_machine *m, uint64_t *list); /* rng-seed.c: random numbers */
int kvm_reserved_write(struct kvm_machine *m, uint64_t *list); /* reserved.c: pages to keep off */

/*
 * assist.c: finish the instruction at rip that KVM's emulator has refused: registers and memory
 * as it leaves them, rip behind it, or its exception injected. False: cannot. int3 never comes
 * here (traps.c). On the vCPU's thread.
 */
bool kvm_assist(struct kvm_vcpu *v);

/*
 * syscall-fix.c: `syscall` on hosts that enter LSTAR at CPL 3. syscall_fix_wrmsr() is called for
 * KVM_EXIT_X86_WRMSR with run->msr (the filter asks for MSR_LSTAR only), after which the write is
 * done by kvm_vcpu_set_msr().
 */
struct syscall_fix *syscall_fix_new(struct kvm_machine *m); /* after the VM, before vCPUs exist */
void syscall_fix_free(struct syscall_fix *f);
void syscall_fix_forget(struct syscall_fix *f); /* its trap has gone with the guest's memory */
void syscall_fix_save(struct syscall_fix *f, struct state_sections *to);
int syscall_fix_restore(struct syscall_fix *f, const struct state_file *from);
void syscall_fix_wrmsr(struct syscall_fix *f, struct kvm_vcpu *v);

#endif
