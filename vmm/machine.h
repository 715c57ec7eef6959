/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - the door of vmm/: a guest that can be stopped, read, written and resumed.
 *
 * A machine is hvtrace's own KVM machine (vmm/kvm/), or a running guest of QEMU that it has
 * attached to (vmm/qemu/). Nothing in here knows that there is a tracer: it offers memory,
 * registers and traps.
 *
 * Errors: functions that return int give 0 (or a count) or a negative errno. The functions that
 * create or start a machine also fill `err` with one line that names what failed and the way out.
 *
 * Threads: a machine_* function may be called from any thread unless its comment says otherwise,
 * and from within a trap handler. Several machines may live in one process.
 */
#ifndef HVTRACE_VMM_MACHINE_H
#define HVTRACE_VMM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "vmm/devices.h"

struct machine;

/* General registers of a vCPU that is not running. */
struct machine_regs {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rsp, rbp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip, rflags;
};

/* What hvtrace needs of the control, segment and descriptor-table registers. */
struct machine_sregs {
	uint64_t cr0, cr2, cr3, cr4, efer;
	uint64_t fs_base, gs_base, kernel_gs_base;
	uint64_t idt_base, gdt_base;
	uint16_t idt_limit, gdt_limit;
	uint16_t cs, ss;
	uint8_t cpl;
};

/* --- traps ------------------------------------------------------------------------------- */

/* How the site is made to exit to the host. */
enum machine_trap_kind {
	MACHINE_TRAP_OUT,  /* out %al, $port + NOP: two bytes at least, the cheapest exit */
	MACHINE_TRAP_INT3, /* one byte, any site */
};

/* What stands for the replaced instruction when the guest goes on. */
enum machine_trap_action {
	MACHINE_TRAP_SKIP, /* go on behind the site (its bytes were a NOP or call __fentry__) */
	MACHINE_TRAP_ONCE, /* put the site's bytes back and run them: this trap fires once */
	/* Take the word at rsp off the stack and go on there (its bytes were a return). */
	MACHINE_TRAP_RETURN,
};

struct machine_trap {
	uint64_t va;	 /* address of the site as rip has it */
	uint64_t pa;	 /* its guest-physical address; a site's bytes lie side by side there */
	uint8_t size;	 /* bytes that the site takes, 1 to 8; MACHINE_TRAP_OUT needs 2 */
	uint8_t kind;	 /* enum machine_trap_kind */
	uint8_t action;	 /* enum machine_trap_action */
	uint64_t cookie; /* handed back at each hit */
};

struct machine_hit {
	unsigned int vcpu;
	/*
	 * The guest's TSC, read as soon as the vCPU had left the guest. Of an attached machine:
	 * worked out, good to some tens of microseconds (see vmm/qemu/clock.c).
	 */
	uint64_t tsc;
	uint64_t cookie;
	uint64_t va;
	/* As they were at the site, but for rip, which already has the place to go on at. */
	const struct machine_regs *regs;
};

/*
 * Called for each hit on the thread that drives the vCPU, with that vCPU stopped and the others
 * running: hits of different vCPUs arrive at the same time. (An attached machine has one thread:
 * all vCPUs stand, and one hit arrives at a time.) May call machine_pause(), machine_traps_set()
 * and machine_traps_clear().
 */
typedef void machine_trap_fn(struct machine *m, const struct machine_hit *hit, void *arg);

/* --- accesses to devices -------------------------------------------------------------------- */

/* An access to guest-physical memory where there is neither RAM nor a device of the host kernel's.
 */
struct machine_mmio {
	unsigned int vcpu;
	bool is_write;
	uint8_t size; /* 1 to 8: what is larger, or crosses a page, comes in pieces */
	uint64_t pa;
	uint64_t value; /* what is written, or was read; beyond `size` it is 0 */
	uint64_t tsc;	/* as in struct machine_hit; in QEMU: see machine_mmio_watch() */
	/* As they were; rip may be behind a write already, and what is read is in none of them.
	 * NULL: of a guest of QEMU's they are not known. */
	const struct machine_regs *regs;
};

/*
 * Called for each of them on the thread that drives the vCPU, as machine_trap_fn is; of a guest of
 * QEMU's later, in the order in which QEMU tells them, on another thread, one at a time, and before
 * the next hit of a trap.
 */
typedef void machine_mmio_fn(struct machine *m, const struct machine_mmio *access, void *arg);

/* --- branches ------------------------------------------------------------------------------- */

/* A call that is followed from its entry to its return, on one vCPU. */
struct machine_follow {
	unsigned int vcpu;
	uint64_t sp;	    /* rsp at its entry, where the address lies that it returns to */
	uint64_t leaves;    /* getting here ends it, too: another task may run from there on */
	unsigned int steps; /* how often the vCPU is stopped for it at most */
};

enum machine_follow_end {
	MACHINE_FOLLOW_ON,	 /* it is not over */
	MACHINE_FOLLOW_RETURNED, /* the call has */
	MACHINE_FOLLOW_LEFT,	 /* for user mode, or it has come to `leaves` */
	MACHINE_FOLLOW_BOUND,	 /* `steps` have been used up */
	MACHINE_FOLLOW_STOPPED,	 /* the owner wants no more, or it cannot go on */
};

/* A branch of a call that is followed; or, without a branch, that it is over. */
struct machine_branch {
	unsigned int vcpu;
	enum machine_follow_end end;
	uint64_t from, to; /* addresses of the instruction, and of what was executed next */
	uint64_t tsc;	   /* as in struct machine_hit */
	const struct machine_regs *regs; /* before or behind it */
};

/*
 * Called as machine_trap_fn is, for each branch that is taken, into exceptions too; false: no more
 * of this call. At its end once without a branch.
 */
typedef bool machine_branch_fn(struct machine *m, const struct machine_branch *b, void *arg);

/* --- creation ---------------------------------------------------------------------------- */

enum machine_msg_level { MACHINE_MSG_INFO, MACHINE_MSG_WARN };

/* What machine_config says of a kernel otherwise. */
struct machine_kernel {
	const void *elf; /* kept until the machine is freed, or another is asked for */
	size_t size;
	uint64_t entry; /* kernel_entry */
};

/*
 * The guest, which stands, is about to unpack a kernel, or has: image is a bzImage with nothing in
 * it but that kernel, from the guest's memory, which is not trusted. Called on the thread of
 * machine_new(), once or, when a guest resets itself before its kernel has begun, again. 0, or
 * -errno and err says why in one line: this is no kernel that can be traced.
 */
typedef int machine_found_fn(void *arg, const void *image, size_t len,
			     struct machine_kernel *kernel, char *err, size_t errlen);

struct machine_config {
	uint64_t memory;    /* bytes of guest RAM */
	unsigned int vcpus; /* 1 to MACHINE_MAX_VCPUS */
	const void *kernel; /* ELF image, held by the caller until machine_start() is back */
	size_t kernel_size;
	const void *initrd; /* or NULL */
	size_t initrd_size;
	/* An archive that lies before it, of a multiple of 4 bytes; or NULL. */
	const void *overlay;
	size_t overlay_size;
	const char *cmdline; /* kernel command line; a backend adds what its host needs */
	/*
	 * For "kvm": put the kernel anywhere, as KASLR does. The image is all that a bzImage
	 * unpacks to, which says behind the ELF file what has to be changed for that.
	 */
	bool kaslr;
	struct machine_devices devices;
	/* A folder for files that are needed until machine_new() is back; for devices alone. */
	const char *scratch;
	enum machine_firmware firmware; /* for "qemu"; with one, `found` is to be there as well */
	/*
	 * For "kvm", a file of machine_save(): the machine goes on from there, copying what it
	 * writes, once it is started; machine_info has what it is and which kernel runs. Of the
	 * above nothing is looked at then. NULL: it boots.
	 */
	const char *snapshot;
	/*
	 * What machine_info will call its kernel_path, and may be NULL, as soon as that is known:
	 * while the machine is still to be made. NULL: nobody asks.
	 */
	void (*kernel_known)(void *arg, const char *path);

	/*
	 * For "qemu", whose guest is loaded by a boot loader of its own: the same kernel and initrd
	 * (or NULL) as files that QEMU can open, and the link address of a function that the kernel
	 * comes by once, as early as possible: its image and page tables are in place there.
	 */
	const char *kernel_path, *initrd_path;
	uint64_t kernel_entry;
	/*
	 * For "qemu": which kernel will run, and where, is not known before one does, as KASLR is
	 * on, or it is the firmware that finds it (then kernel, kernel_path, initrd_path and
	 * cmdline are nothing). NULL: it is known.
	 */
	machine_found_fn *found;
	const char *connect; /* libvirt's URI, NULL: qemu:///system */
	/*
	 * machine_reboot() will be asked for when the guest has reset itself. Then all that is held
	 * until machine_start() is back is held until the machine is freed.
	 */
	bool reboots;
	/* Asked now and then while machine_new(), or machine_reboot(), waits for the guest. May be
	 * NULL. */
	bool (*cancelled)(void *arg);

	/* What the guest writes to its first serial port; on a vCPU's thread, or another one where
	 * it has several consoles. May be NULL. */
	void (*console)(void *arg, const char *text, size_t len);
	/* The same of its second one, which it has only where this is not NULL. */
	void (*channel)(void *arg, const char *text, size_t len);
	/* One line about what to expect (no line end). May be NULL. */
	void (*message)(void *arg, enum machine_msg_level level, const char *text);
	machine_trap_fn *trap;	   /* may be NULL when no trap is ever set */
	machine_mmio_fn *mmio;	   /* may be NULL; see machine_mmio_watch() */
	machine_branch_fn *branch; /* may be NULL when no call is ever followed */
	void *arg;		   /* for the functions above */
};

/* Sets of vCPUs are the bits of 64. */
#define MACHINE_MAX_VCPUS 64

/*
 * Create a machine with the backend of this name ("kvm", "qemu"), memory laid out and the kernel
 * loaded, vCPUs not yet running: traps may be set before the first instruction; with "qemu" before
 * that at kernel_entry. NULL on error.
 */
struct machine *machine_new(const char *backend, const struct machine_config *cfg, char *err,
			    size_t errlen);

/*
 * A call of a library's that did not come back was given up: its thread may be anywhere in it, and
 * exit(3) would take away what it uses. Then the process is to be left by _exit(2).
 */
bool machine_has_strays(void);

/*
 * Whether something is wanted still that has to be waited for: asked now and then, on the thread
 * that waits; true gives up, and what waits fails. NULL: never
 */
struct machine_patience {
	bool (*cancelled)(void *arg);
	void *arg;
};

/*
 * The backend for this host: "kvm" where KVM runs guest kernel mode on the processor, else "qemu"
 * if there is a libvirt at this URI (NULL: qemu:///system), else "kvm" all the same. why gets one
 * line that says so, for the user. Takes up to half a second, or as long as libvirt is waited for
 * that does not answer: half a minute.
 */
const char *machine_choose(const char *connect, const struct machine_patience *patience, char *why,
			   size_t len);

/* Whether KVM runs guest kernels on the processor here: false where it interprets, or is not there.
 */
bool machine_kvm_runs(void);

/* What an attached guest is never made to bear. */
struct machine_limits {
	/*
	 * A guest that stands for longer than this is let go, whatever is under way, and the
	 * machine ends with MACHINE_EVENT_ERROR; what is in its text stays there, as behind a
	 * tracer that was killed. 0: the default, MACHINE_STAND_MS, or MACHINE_STAND_EMULATED_MS
	 * where a host interprets.
	 */
	uint64_t stand_ms;
	/*
	 * It was let go, and who had it stand has not come back seconds later: nothing but the end
	 * of this process will end that. On a thread of its own. May be NULL.
	 */
	void (*stuck)(void *arg);
};

#define MACHINE_STAND_MS	  1000
#define MACHINE_STAND_EMULATED_MS 60000

/* A running guest to attach to. */
struct machine_attach_config {
	/* A libvirt domain's id, UUID or name; or a gdb stub: gdb:unix:PATH, gdb:HOST:PORT */
	const char *target;
	const char *connect; /* libvirt's URI, NULL: qemu:///system */
	/*
	 * A tracer that was killed has left its stub in the domain: take that over. The guest may
	 * stand at a trap; it runs on.
	 */
	bool recover;
	struct machine_limits limits;
	/* As in struct machine_config; while machine_attach() waits, and between its steps. */
	bool (*cancelled)(void *arg);
	/* As in struct machine_config. */
	void (*message)(void *arg, enum machine_msg_level level, const char *text);
	machine_trap_fn *trap;
	machine_mmio_fn *mmio; /* may be NULL */
	machine_branch_fn *branch;
	void *arg;
};

/*
 * Attach to a guest. It stands for some tens of milliseconds, then runs on if it ran before; one
 * that was found standing (machine_info.was_running) stands until machine_start(). NULL on error,
 * with the guest as it was.
 */
struct machine *machine_attach(const struct machine_attach_config *cfg, char *err, size_t errlen);

/* A libvirt domain that runs or is paused. */
#define MACHINE_UUID_SIZE 37 /* of its text, with the end */

struct machine_listing {
	unsigned int id, vcpus;
	char name[128], uuid[MACHINE_UUID_SIZE];
	const char *state; /* "running", "paused" … */
	char accel[8];	   /* "tcg", "kvm" */
	char kernel[1024]; /* path of the image that it is started with, "" when it says none */
	char *metadata;	   /* for machine_has_label() */
};

/*
 * The domains of the libvirt at this URI (NULL: qemu:///system): their number, with *list for
 * machine_list_free(); or a negative errno, and err says why in one line. One that does not answer
 * is waited for as long as the patience lasts, half a minute at most.
 */
int machine_list(const char *connect, const struct machine_patience *patience,
		 struct machine_listing **list, char *err, size_t errlen);
void machine_list_free(struct machine_listing *list, int nr); /* NULL is allowed */

/*
 * Whether the metadata of its domain say KEY=VALUE in one of the usual ways: an element KEY with
 * that text or value, an attribute KEY, or an element with name (or key) and value. A prefix
 * (nova:) may be left out of the key.
 */
bool machine_has_label(const struct machine_listing *l, const char *key, const char *value);

/* How much of a host's time a running domain's vCPUs have had. */
struct machine_load {
	char uuid[MACHINE_UUID_SIZE];
	unsigned int vcpus; /* that are told of */
	struct machine_vcpu_load {
		uint64_t ran_ns;
		uint64_t waited_ns; /* ready to run, and no processor was free: what is steal to it
				     */
		bool counted;	    /* waited_ns is known */
	} vcpu[MACHINE_MAX_VCPUS];
};

/*
 * Those of the libvirt at this URI (NULL: qemu:///system), as the host's scheduler counts them
 * since each thread began (virConnectGetAllDomainStats(), "vcpu.<num>.delay"; libvirt 7.2): their
 * number, with *loads to be freed by free(); else as machine_list().
 */
int machine_get_loads(const char *connect, const struct machine_patience *patience,
		      struct machine_load **loads, char *err, size_t errlen);

/* What becomes of the domains of a libvirt. */
enum machine_news_kind {
	MACHINE_NEWS_STARTED,  /* it runs: booted, restored, or come by migration */
	MACHINE_NEWS_STOPPED,  /* it is no more here */
	MACHINE_NEWS_MIGRATED, /* the same, and another host has it */
	MACHINE_NEWS_REBOOTED,
	MACHINE_NEWS_PANICKED,
	MACHINE_NEWS_CONNECTED, /* the libvirt answers, again; of no domain */
	MACHINE_NEWS_LOST,	/* it does no more, or some news were more than there is room for */
};

struct machine_news {
	enum machine_news_kind kind;
	char name[128], uuid[MACHINE_UUID_SIZE]; /* "": of no domain */
};

struct machine_watch;

/*
 * Watch the libvirt at this URI (NULL: qemu:///system), which may come and go: it is connected to
 * again and again. NULL: err says why in one line.
 */
struct machine_watch *machine_watch_new(const char *connect, char *err, size_t errlen);
/* A descriptor that can be read as long as there is something to take. */
int machine_watch_fd(const struct machine_watch *w);
/* The next of the news, in their order. False: there is none. */
bool machine_watch_take(struct machine_watch *w, struct machine_news *news);
/* Waits for a libvirt that does not answer for two seconds at most. NULL is allowed. */
void machine_watch_free(struct machine_watch *w);

/* What there is to have guests with. */
struct machine_libvirt {
	unsigned int version[3], qemu[3]; /* major, minor, release; 0.0.0: not told */
	bool kvm;			  /* it can give a domain KVM */
};

/* The libvirt at this URI (NULL: qemu:///system): 0, or -errno and err says why. */
int machine_get_libvirt(const char *connect, const struct machine_patience *patience,
			struct machine_libvirt *v, char *err, size_t errlen);

/*
 * A guest of libvirt's that machine_attach() can be tried with: a domain that runs, which nobody is
 * attached to. It goes with machine_guest_free(), and when this process ends, however that may be.
 */
struct machine_guest;

/*
 * cfg as for the backend "qemu": memory, vcpus, the paths, cmdline, connect, console and
 * cancelled, and their arg. Back as soon as it runs. NULL: err says why in one line.
 */
struct machine_guest *machine_guest_new(const struct machine_config *cfg, char *err, size_t errlen);
const char *machine_guest_name(const struct machine_guest *g);	/* of the domain */
const char *machine_guest_accel(const struct machine_guest *g); /* "tcg", "kvm" */
bool machine_guest_was_reset(const struct machine_guest *g);
void machine_guest_free(struct machine_guest *g); /* NULL is allowed */

/*
 * Stop all vCPUs for good and free everything. An attached guest is let go instead: traps are
 * cleared, and it runs or stands as it was found. NULL is allowed. Not from a trap handler.
 */
void machine_free(struct machine *m);

/* Let the vCPUs run. */
int machine_start(struct machine *m, char *err, size_t errlen);

/*
 * A guest has reset itself, machine_wait() has told that, and whoever has traced it is detached:
 * it boots again. The machine is as machine_new() has left it, with the kernel loaded and vCPUs not
 * yet running, until machine_start(); traps and windows are gone with the memory that they were in,
 * and disks hold what was written to them. The guest's TSC goes on, where the backend can have it
 * so. machine_info tells anew where the kernel lies; machine_config.found, which one it is. Not
 * from a trap handler. 0, or -errno and err says why in one line: then the machine has ended for
 * good. -EINVAL: it has ended otherwise, or machine_config.reboots was not set.
 */
int machine_reboot(struct machine *m, char *err, size_t errlen);

/* Where a snapshot goes, and what it says about the guest's kernel. */
struct machine_save {
	int fd; /* of a regular file, whose contents are replaced; it may have holes */
	/*
	 * Or, not NULL: gets the bytes of such a file and their places, in any order; what is left
	 * out is zeros, and without the last ones it is none. 0, or -errno, which ends it.
	 */
	int (*put)(void *arg, const void *data, size_t len, uint64_t at);
	void *arg;
	const char *kernel_path, *kernel_id; /* of the image, and its build id; or NULL */
	/*
	 * It is traced, and remains so: traps are not in the file, but windows are, and what calls
	 * them, as if the tracer had been killed. machine_info.left_windows says so then.
	 */
	bool traced;
};

/*
 * Keep all of a guest: memory, vCPUs, devices; the machine pauses itself around it and goes on.
 * Unless `traced` it has no traps, and nobody is attached to it: what a tracer has put in would be
 * in the file.
 * -EOPNOTSUPP: it is of another backend than "kvm"; -EBUSY: there is something that cannot be
 * saved; or -errno. err says why, and the file is empty then.
 */
int machine_save(struct machine *m, const struct machine_save *save, char *err, size_t errlen);

/* Name of the backend with index i and what it is, or NULL past the last. */
const char *machine_backend(unsigned int i, const char **desc);

/* --- what kind of machine ---------------------------------------------------------------- */

struct machine_info {
	const char *backend;
	unsigned int vcpus; /* those that were unplugged, too */
	/* How many there can be, with those that may be plugged in; more than MACHINE_MAX_VCPUS? */
	unsigned int max_vcpus;
	uint64_t memory;
	/* The host interprets guest kernel mode instead of running it (see docs/emulating-hosts).
	 */
	bool emulated;
	double kernel_insns_per_sec; /* as calibrated at start; 0 when not emulated */
	uint64_t tsc_khz;	     /* frequency of the guest's TSC */
	const char *cmdline;	     /* the complete command line */
	uint64_t kernel_pa;	     /* lowest physical address the kernel image is loaded at */
	/*
	 * Of a guest that hvtrace has started: by how much its kernel's virtual addresses, and
	 * where it lies in memory, differ from what it was linked at. 0 without KASLR.
	 */
	uint64_t kernel_slide, kernel_moved;
	/* Of a guest of QEMU, where emulated, kernel_pa and, if attached, cmdline are not known: */
	const char *name, *uuid; /* of the domain, or NULL */
	const char *accel;	 /* "tcg" or "kvm" */
	const char *kernel_path; /* of the image that the domain is started with, or NULL */
	const char *kernel_id;	 /* its build id, of a machine from a snapshot, or NULL */
	bool was_running;
	/* From a snapshot with what a tracer had in the guest: to be taken away. */
	bool left_windows;
	/* Memory can be read and written at any time: else each access stops the guest. */
	bool direct;
	bool window; /* machine_window() can be had */
	bool mmio;   /* accesses to devices can be told: machine_mmio_watch() */
	bool follow; /* machine_follow() can be had */
	/* While it has traps it may lose an int3 of its own and run on behind it. */
	bool loses_int3;
};

void machine_get_info(struct machine *m, struct machine_info *info);
/* For so many a trace has room: as many as there can be, or as it can follow. */
unsigned int machine_traceable_vcpus(const struct machine_info *info);
/*
 * Whether every vCPU has halted with interrupts off, or has not been started: nothing in the guest
 * goes on any more. The machine is paused. False as well where that cannot be found out.
 */
bool machine_has_halted(struct machine *m);
/*
 * Look for vCPUs that have been plugged in or unplugged since; the machine is paused. Their number
 * as machine_info.vcpus has it then: new ones come last, registers of those that are gone give
 * -ENODEV from then on. -E2BIG: there are more than MACHINE_MAX_VCPUS; or the backend's error.
 */
int machine_look_at_vcpus(struct machine *m);
/*
 * Have the vCPUs go by other numbers, those that the guest's kernel has for them: number[i], each
 * another one, of vCPU i of the `n` that there are. Those that none has are as of vCPUs that were
 * unplugged. The machine is paused and has no traps. 0, -E2BIG: there cannot be so many, as far as
 * the backend can tell; -EOPNOTSUPP: it has no others.
 */
int machine_number_vcpus(struct machine *m, const unsigned int *number, unsigned int n);

/* --- memory ------------------------------------------------------------------------------ */

/*
 * Host address of [pa, pa + len) of guest RAM, or NULL when any of it is not RAM. Valid until
 * machine_free(). The guest may change the bytes at any time: read each one once. NULL always for
 * an attached machine, whose memory is another process's.
 */
void *machine_host_ptr(struct machine *m, uint64_t pa, size_t len);

/* Copy from and to guest-physical memory: 0, or -EFAULT when any byte is not RAM. */
int machine_read(struct machine *m, uint64_t pa, void *buf, size_t len);
int machine_write(struct machine *m, uint64_t pa, const void *buf, size_t len);
/* The same for instructions, so that every vCPU executes the new ones once it runs again. */
int machine_write_text(struct machine *m, uint64_t pa, const void *buf, size_t len);

#define MACHINE_PATCH_MAX 11

/* New bytes of one place in guest text; they lie side by side in guest-physical memory. */
struct machine_patch {
	uint64_t pa;
	uint8_t size; /* 1 to MACHINE_PATCH_MAX */
	uint8_t bytes[MACHINE_PATCH_MAX];
};

/*
 * Write n patches in one sweep; the machine pauses itself
 * around it unless it is paused already. -EINVAL and -EFAULT (not RAM) before anything is written;
 * another error: the machine's, and some may have been written.
 */
int machine_patch_text(struct machine *m, const struct machine_patch *patches, size_t n);

/* A word of guest memory that tells the guest whether hvtrace lives. */
struct machine_gone_word {
	uint64_t pa; /* a multiple of 8 */
	uint64_t here, gone;
};

/*
 * Should hvtrace die from here on, and the guest live on, this word becomes `gone`, within a
 * second, if it is `here` then; NULL: none does. Nothing where a guest dies with hvtrace, or its
 * memory can only be written through a stub. 0, or -EFAULT: not RAM.
 */
int machine_when_gone(struct machine *m, const struct machine_gone_word *word);

/*
 * Walk x86-64 page tables (levels: 4 or 5) from the table at guest-physical address root: the
 * physical address behind va, or -EFAULT. *left, when not NULL, gets the bytes up to the end of
 * the page that maps it. (Intel SDM vol. 3, 4.5.)
 */
int machine_walk(struct machine *m, uint64_t root, unsigned int levels, uint64_t va, uint64_t *pa,
		 uint64_t *left);

/*
 * Memory that the guest's memory map does not mention, seen by both sides: `size` bytes (rounded
 * up to pages) at guest-physical *pa, host address in *host. -ENOMEM, -ENOSPC, -EOPNOTSUPP in an
 * attached machine.
 */
int machine_window(struct machine *m, size_t size, uint64_t *pa, void **host);

/*
 * A page of guest RAM that the kernel has in its direct map, as all RAM, and never uses, for it was
 * told at its boot that something lies there: the place for what its own code may look at, such as
 * the page table of a window, which itself is in no direct map. Zeroed; another one each time, to
 * the last, one for each window that can be had. -ENOSPC: there are no more; -EOPNOTSUPP in an
 * attached machine.
 */
int machine_reserved_page(struct machine *m, uint64_t *pa);

/* --- running ----------------------------------------------------------------------------- */

/*
 * Pause all vCPUs; returns when none is in the guest. Calls nest; machine_resume() ends one.
 * From a trap handler the calling vCPU counts as paused. A vCPU that waits here for another one's
 * pause counts as paused as well, so two handlers may pause at the same time: one goes first.
 * A vCPU is never paused between a trap and the place where it goes on behind it.
 */
void machine_pause(struct machine *m);
void machine_resume(struct machine *m);
/* The same; what says why, for machine_pauses: static text that fits behind "hvtrace was". */
void machine_pause_for(struct machine *m, const char *what);
/*
 * A vCPU waits for what hvtrace does between these two, as it does for the answer to a call: it
 * counts as a pause. They nest, as pauses do.
 */
void machine_serve_begin(struct machine *m, const char *what);
void machine_serve_end(struct machine *m);

#define MACHINE_PAUSE_ROWS 26

/*
 * How often the guest has stood because of hvtrace, and for how long: pauses; of an attached guest
 * all else as well, from attaching over each hit of a trap to letting go.
 */
struct machine_pauses {
	uint64_t count, total_ns, longest_ns;
	const char *longest_what; /* why, or NULL */
	/* Row 0: shorter than 1 us; row i: 2^(i-1) to 2^i us; the last also has all longer ones. */
	uint64_t row[MACHINE_PAUSE_ROWS];
	uint64_t limit_ns; /* machine_limits.stand_ms; 0: there is none */
	bool exceeded;	   /* the guest was let go therefore */
};

void machine_get_pauses(struct machine *m, struct machine_pauses *pauses);

/* How long a vCPU had to wait for a processor of the host while it had something to do. */
struct machine_delay {
	uint64_t ns;   /* all that is over by now, since its thread began */
	uint64_t runs; /* how often it has got one */
};

/*
 * By the figures of the host's scheduler, at any time. -EOPNOTSUPP: the host's kernel does not
 * count it (CONFIG_SCHED_INFO), or which thread runs the vCPU cannot be told; -EAGAIN: none does
 * yet; -EINVAL: no such vCPU.
 */
int machine_get_delay(struct machine *m, unsigned int vcpu, struct machine_delay *delay);

/* The process that runs the guest, which may be our own; errors as of machine_get_delay(). */
int machine_get_process(struct machine *m, pid_t *pid);
/* The thread in it that runs a vCPU; likewise. */
int machine_get_thread(struct machine *m, unsigned int vcpu, pid_t *tid);

/* How a vCPU's TSC follows the host's: guest = (host * ratio >> frac_bits) + offset. */
struct machine_tsc {
	uint64_t ratio; /* 1 where it is not scaled, and frac_bits is 0 */
	unsigned int frac_bits;
	uint64_t offset;
};

/*
 * As it is now. Before anything is given up (it may open files). -EOPNOTSUPP: the two are in no
 * such relation, or nobody tells, as with an emulated guest, whose TSC stands when it does;
 * -EINVAL: no such vCPU.
 */
int machine_get_tsc_line(struct machine *m, unsigned int vcpu, struct machine_tsc *line);

/*
 * Have accesses to devices told, by machine_config.mmio, or no more; at the beginning they are not.
 * A machine of hvtrace's own tells them always. A guest of QEMU's stands meanwhile, and QEMU's log
 * is ours until the machine is freed, not from trap handlers and with no lock held that
 * machine_config.mmio takes; their times are QEMU's where it has -msg timestamp=on (libvirt's
 * have), else those at which they are heard of. 0, or -errno and err says why in one line.
 */
int machine_mmio_watch(struct machine *m, bool on, char *err, size_t errlen);

/* Registers of a paused vCPU (or of the one whose trap is being handled). */
int machine_get_regs(struct machine *m, unsigned int vcpu, struct machine_regs *regs);
int machine_set_regs(struct machine *m, unsigned int vcpu, const struct machine_regs *regs);
int machine_get_sregs(struct machine *m, unsigned int vcpu, struct machine_sregs *sregs);

/*
 * The TSC of a vCPU whose trap is being handled: machine_hit.tsc and what has passed since, where
 * it goes on while the vCPU stands. Only of vCPUs that stop by themselves: not in QEMU.
 */
uint64_t machine_get_tsc(struct machine *m, unsigned int vcpu);

/*
 * Set or clear n traps; the machine pauses itself around it unless it is paused already. All or
 * none: on error nothing is changed. -EINVAL size or kind, -EFAULT not RAM, -EEXIST (set) two
 * traps overlap, -ENOENT (clear) no such trap. Clearing writes the bytes back that were found at
 * setting. The arrays belong to the caller.
 */
int machine_traps_set(struct machine *m, const struct machine_trap *traps, size_t n);
int machine_traps_clear(struct machine *m, const uint64_t *vas, size_t n);

/*
 * From the handler of a hit at a function's entry: follow this call, which begins when the handler
 * is back. Its branches, and its end, go to machine_config.branch. The vCPU is stopped again and
 * again for that. In hvtrace's own machine it runs from one branch to the next, while the others
 * and interrupts go on as ever; an interrupt's own branches are not told, and of exceptions page
 * faults alone. In QEMU it goes instruction by instruction, while the others stand and interrupts
 * wait. -EOPNOTSUPP: machine_info.follow is false; -EBUSY: one is followed on this vCPU (or, in
 * QEMU, on any); -EINVAL, -EFAULT: there is no such vCPU, or no stack at sp; -ENOMEM.
 */
int machine_follow(struct machine *m, const struct machine_follow *follow);

/* Bytes to the guest's first serial port. Returns how many it took. */
size_t machine_console_input(struct machine *m, const char *text, size_t len);
/* The same of its second one (machine_config.channel); without one it takes none. */
size_t machine_channel_input(struct machine *m, const char *text, size_t len);

/*
 * Press the guest's power button (ACPI): a system that listens to it shuts itself down, and the
 * machine ends with MACHINE_EVENT_POWEROFF. 0, or with one line in err: -EAGAIN, its kernel does
 * not listen (yet); -EOPNOTSUPP, it is not ours to press; or another error. Not from a trap
 * handler.
 */
int machine_power_button(struct machine *m, char *err, size_t errlen);

enum machine_event_type {
	MACHINE_EVENT_NONE,	/* the time is over */
	MACHINE_EVENT_WAKE,	/* machine_wake() was called */
	MACHINE_EVENT_RESET,	/* guest asked for a reset: keyboard controller, 0xcf9, ACPI */
	MACHINE_EVENT_POWEROFF, /* guest powered itself off (ACPI S5), or has gone: .text says which
				 */
	MACHINE_EVENT_HALT,	/* every vCPU halted with interrupts off: nothing will happen */
	MACHINE_EVENT_CRASH,	/* triple fault */
	/*
	 * The host cannot go on with this guest; text says why. Of an attached guest also: its
	 * QEMU has gone, or someone else has stopped it and may continue it.
	 */
	MACHINE_EVENT_ERROR,
};

struct machine_event {
	enum machine_event_type type;
	unsigned int vcpu;
	char text[256];
};

/*
 * Wait up to timeout_ms (-1: for ever) for what happens to the machine as a whole. Trap hits do
 * not come this way: they go to the handler. After RESET, POWEROFF, HALT, CRASH and ERROR no vCPU
 * runs any more and each further call returns the same event. One thread waits at a time.
 */
int machine_wait(struct machine *m, struct machine_event *ev, int timeout_ms);
/* Has it ended? Then *ev, when not NULL, is how. Any thread, at any time. */
bool machine_has_ended(struct machine *m, struct machine_event *ev);
/* Make machine_wait() return MACHINE_EVENT_WAKE. Safe in signal and trap handlers. */
void machine_wake(struct machine *m);

/* --- trials ------------------------------------------------------------------------------- */

/* How KVM of this host does one of the things that hvtrace counts on. */
struct machine_trial {
	const char *name;
	int rc; /* 0: as it has to be, 1: otherwise, or a negative errno: it could not be tried */
	char text[160]; /* what was seen, without line end */
};

/*
 * Try number i, from 0 on, in a machine of its own that is gone when this is back; it takes up to
 * half a second. False past the last. Opens /dev/kvm, so -ENOENT or -EACCES are what rc may be.
 */
bool machine_try_kvm(unsigned int i, struct machine_trial *trial);

#endif
