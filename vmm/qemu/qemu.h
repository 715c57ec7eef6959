/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu.h - what the files of vmm/qemu/ share: the machine and its parts.
 *
 * Two locks. m->base.lock guards the state of running and pausing (pause.c) and is held for
 * moments. m->io is held for one conversation with the stub, which needs the guest to stand: so it
 * is taken with the machine paused, or on the run thread between a stop and the next continue.
 * m->base.lock may be taken within m->io, not the other way round.
 */
#ifndef HVTRACE_VMM_QEMU_QEMU_H
#define HVTRACE_VMM_QEMU_QEMU_H

#include "vmm/core/backend.h"
#include "vmm/core/traps.h"
#include "vmm/qemu/gdb/gdb.h"
#include "vmm/qemu/keeper.h"
#include "vmm/qemu/kvm-tsc.h"
#include "vmm/qemu/libvirt/domain.h"
#include "vmm/qemu/mmio-lines.h"
#include "vmm/qemu/mmio-pipe.h"
#include "vmm/qemu/start.h"

#define QEMU_MAX_REGIONS 64

struct qemu_follow;
struct qemu_again;

struct qemu_region {
	uint64_t pa, size;
	uint64_t hva; /* in QEMU's address space */
};

struct qemu_ram {
	struct qemu_region region[QEMU_MAX_REGIONS]; /* sorted */
	unsigned int n; /* 0: the layout is unknown, only the stub can tell what is RAM */
	uint64_t size;
	pid_t pid;
	int mem_fd;	 /* the address space of QEMU: peer.h; or -1 */
	atomic_bool cut; /* nothing is read or written any more: qemu_ram_cut() */
	bool direct;	 /* QEMU's memory can be reached */
};

/* How the guest's TSC is told: see clock.c. */
struct qemu_clock {
	struct kvm_tsc host;	     /* what the host tells of the guest's TSCs, if host.n */
	uint64_t khz;		     /* of the host's TSC; 0: not measured yet */
	bool told;		     /* that the guest's cannot be read */
	uint16_t port;		     /* of the ACPI timer, 0: there is none */
	uint64_t ticks;		     /* of the ACPI timer, without its wrapping */
	uint64_t seen;		     /* when that was read, in host TSC without stops */
	uint64_t stop_begin;	     /* the host's TSC at the last stop */
	uint64_t stopped;	     /* sum of all stops before */
	uint64_t base_host, base_ns; /* a moment in the host's TSC and its CLOCK_MONOTONIC */
	uint64_t read, read_seen;    /* what qemu_clock_read() gave last, and when, as `seen` */
	/* For other threads than the one that runs the guest, as it was when that ran on; its lock
	 * is taken last. */
	pthread_mutex_t lock;
	struct {
		uint64_t ahead;				/* of the host's TSC, without stops: */
		uint64_t tsc_offset[MACHINE_MAX_VCPUS]; /* and what comes to it for a vCPU */
	} now;
};

/* Accesses to devices, which QEMU tells in its log: mmio.c. */
struct qemu_mmio {
	pthread_mutex_t lock; /* taken before whatever the owner takes when it is told of one */
	atomic_bool on;
	bool made; /* the pipe is there, and is QEMU's log */
	bool started;
	bool told; /* that some may be lost */
	pthread_t thread;
	int wake; /* the thread is to end */
	struct mmio_pipe pipe;
	struct mmio_lines lines;
	uint64_t at, at_ns;		   /* a moment by the host's TSC and its CLOCK_REALTIME */
	char log_back[2 * MMIO_PIPE_PATH]; /* the monitor's command for the end */
};

struct qemu_vcpu {
	uint32_t thread; /* the stub's number for it */
	pid_t tid;	 /* of the host's; 0: not known */
	bool gone;	 /* it was unplugged: qemu_vcpus_look() */
	bool known;	 /* reg is what the vCPU has at this stop */
	uint64_t reg[GDB_NR_REGS];
	bool tables; /* and so are those: */
	/* The stub does not tell them; as the monitor had them last. */
	uint64_t idt_base, gdt_base;
	uint16_t idt_limit, gdt_limit;
	/* Where the host does not tell: */
	bool tsc_tried;	     /* to find the offset out */
	uint64_t tsc_offset; /* from the clock to this vCPU's TSC */
};

struct qemu_machine {
	struct machine base;
	struct machine_attach_config cfg;
	struct qemu_domain *domain; /* NULL: a bare stub */
	bool was_running;	    /* when it was found */
	bool created;		    /* by start.c */
	atomic_bool finding;	    /* then: a reset is no end yet, but counts */
	atomic_uint resets;
	unsigned int resets_seen;
	struct qemu_again *again;     /* what it boots with when it has reset itself; or NULL */
	uint64_t slide, moved;	      /* machine_info's */
	char *cmdline;		      /* then: of its kernel, */
	struct qemu_console *console; /* and its serial ports: the first, */
	struct qemu_console *channel; /* and the second, where it has one */
	struct gdb *gdb;
	struct keeper keeper;
	pthread_mutex_t io;
	bool kvm;
	bool pinned;	 /* pin.c */
	bool was_reset;	 /* regs.c: another kernel's registers are not ours; with m->io held */
	bool loses_int3; /* machine_info's */
	bool keeps_translated;	/* tried in vain, or its version does; with m->io held */
	atomic_uint nvcpus;	/* with those that are gone, and come */
	bool vcpus_came;	/* some of them, since it was attached to */
	unsigned int max_vcpus; /* that it can have, also more than there is room for */
	struct qemu_vcpu vcpu[MACHINE_MAX_VCPUS];
	struct qemu_ram ram;
	struct qemu_clock clock;
	struct qemu_mmio mmio;
	char folder[MMIO_PIPE_PATH]; /* of the stub's socket, or "" */
	struct trap_table traps;
	struct qemu_follow *follow; /* the call that is followed, or NULL; run thread only */
	struct qemu_vcpu *view;	    /* NULL, or has other page tables than its own: view.c */
	uint64_t view_cr3;	    /* its own */

	/* base.lock; base.inside: the thread has the guest running or handles a stop */
	pthread_t thread;
	bool started;	       /* the thread is there */
	bool stands;	       /* the guest, because of us: qemu_stands() */
	bool want_run;	       /* the guest is to run when nobody pauses it */
	bool running;	       /* the guest has been told to run, and not been heard to stop */
	bool interrupted;      /* and has been told to stop */
	bool foreign;	       /* someone else has stopped it: it is not ours to continue */
	unsigned int requests; /* pauses asked for and not ended */
	unsigned int outside;  /* of them those that other threads have got */
	unsigned int held;     /* by the handler at work */
};

static inline struct qemu_machine *qemu_machine(struct machine *base)
{
	return (struct qemu_machine *)base; /* base is its first member */
}

/* start.c: machine_ops.create */
struct machine *qemu_create(const struct machine_ops *ops, const struct machine_config *cfg,
			    char *err, size_t errlen);

/* start.c: from its reset to its kernel's first function, where it stands. */
int qemu_start_bring(struct qemu_machine *m, const struct machine_config *cfg, char *err,
		     size_t errlen);

/* start-again.c */
/* For qemu_reboot(), if that may come. 0 or -ENOMEM. */
int qemu_again_init(struct qemu_machine *m, const struct machine_config *cfg);
/* Its kernel is about to run: from here on it stands where it begins after a reset. 0 or -errno. */
int qemu_again_await(struct qemu_machine *m);
void qemu_again_free(struct qemu_machine *m);
/* A vCPU has stopped: has it for that reset? Then the machine has ended. On the run thread. */
bool qemu_again_stopped(struct qemu_machine *m, unsigned int vcpu);
/* libvirt tells of a reset. False: that is the end. Any thread. */
bool qemu_again_told(struct qemu_machine *m);
void qemu_again_look(struct machine *base);			 /* machine_ops.idle */
bool qemu_again_is_boot(const struct qemu_machine *m);		 /* and not the first one */
int qemu_reboot(struct machine *base, char *err, size_t errlen); /* machine_ops.reboot */

/* attach.c */
/* machine_attach() */
struct machine *qemu_take_over(const struct machine_ops *ops,
			       const struct machine_attach_config *cfg, char *err, size_t errlen);
/* A machine that qemu_destroy() can take apart, attached to nothing yet, or NULL. */
struct qemu_machine *qemu_alloc(const struct machine_ops *ops,
				const struct machine_attach_config *cfg);
void qemu_destroy(struct machine *base);
void qemu_let_go(struct machine *base); /* machine_ops.let_go */
/* m->gdb is connected and the guest stands: learn what there is. */
int qemu_look(struct qemu_machine *m, char *err, size_t errlen);
/* For m->folder: of a stub's address. */
void qemu_remember_folder(struct qemu_machine *m, const char *address);
/* Its major and minor number, as 702; 0: it does not tell. With m->io held, the guest standing. */
unsigned int qemu_version(struct qemu_machine *m);
/* The machine ends when libvirt says that the guest was reset. 0 or -errno. */
int qemu_watch(struct qemu_machine *m);

/*
 * ram.c. Before the run thread is there, with the guest standing. mtree: the monitor's "info mtree
 * -f", or NULL if there is no monitor.
 */
int qemu_ram_init(struct qemu_machine *m, const char *mtree);
void qemu_ram_exit(struct qemu_machine *m);
/* From here on what would be read or written of it directly fails with -ECONNRESET. Any thread. */
void qemu_ram_cut(struct qemu_machine *m);
bool qemu_ram_has(const struct qemu_machine *m, uint64_t pa, size_t len);
/* Of [pa, pa + len), which is RAM of known layout: where it lies in QEMU, and how much of it. */
size_t qemu_ram_piece(const struct qemu_ram *ram, uint64_t pa, size_t len, uint64_t *hva);
/* Called with m->io held and the guest standing; qemu_read() takes care of both. */
int qemu_read_standing(struct qemu_machine *m, uint64_t pa, void *buf, size_t len);
/* Likewise, and the vCPU's registers are known: machine_walk() of tables of its kind. */
int qemu_walk_standing(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t root,
		       uint64_t va, uint64_t *pa);
/* Likewise: is this address of the vCPU's the one of this memory? */
bool qemu_maps_to(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t va, uint64_t pa);
int qemu_read(struct machine *base, uint64_t pa, void *buf, size_t len);
int qemu_write(struct machine *base, uint64_t pa, const void *buf, size_t len);
int qemu_write_text(struct machine *base, uint64_t pa, const void *buf, size_t len);

/*
 * pin.c. The guest stands, has just been connected to, and nothing was written yet: it is not
 * migrated or saved from here on, or there is a message that this cannot be kept from happening.
 * -EBUSY: that is being done already; 0 or another -errno with one line in err.
 */
int qemu_pin(struct qemu_machine *m, char *err, size_t errlen);
/* Nothing is written any more. It still stands. 0 or -errno: the keeper has it to say still. */
int qemu_unpin(struct qemu_machine *m);

/* patch.c: machine_patch_text() of a paused machine. -ECONNRESET: nobody knows whether it stands.
 */
int qemu_patch_text(struct machine *base, const struct machine_patch *patches, size_t n);

/* monitor.c: numbers in what QEMU's monitor prints */
int qemu_monitor_regions(const char *mtree, struct qemu_region *regions, unsigned int max);
uint16_t qemu_monitor_port(const char *mtree, const char *device); /* 0: none */
int qemu_monitor_hva(const char *answer, uint64_t *hva);
int qemu_monitor_tables(const char *registers, struct qemu_vcpu *vcpus, unsigned int n);
int qemu_monitor_threads(const char *cpus, struct qemu_vcpu *vcpus, unsigned int n);
unsigned int qemu_monitor_vcpus(const char *slots); /* 0: it does not tell */
int qemu_monitor_port_value(const char *answer, uint32_t *value);
unsigned int qemu_monitor_version(const char *answer); /* 702 for 7.2; 0: none */

/* vcpus.c */
/* The vCPUs of a guest that stands and has just been connected to. 0, or one line in err. */
int qemu_vcpus_find(struct qemu_machine *m, char *err, size_t errlen);
int qemu_vcpus_look(struct machine *base); /* machine_look_at_vcpus() */
/* machine_number_vcpus() */
int qemu_vcpus_number(struct machine *base, const unsigned int *to, unsigned int n);
/* Whether some have been plugged in since. Called with m->io held and the guest standing. */
bool qemu_vcpus_grew(struct qemu_machine *m);

/* halt.c: machine_ops.has_halted */
bool qemu_has_halted(struct machine *base);

/* regs.c */
int qemu_get_regs(struct machine *base, unsigned int vcpu, struct machine_regs *regs);
int qemu_set_regs(struct machine *base, unsigned int vcpu, const struct machine_regs *regs);
int qemu_get_sregs(struct machine *base, unsigned int vcpu, struct machine_sregs *sregs);
/* Called with m->io held: */
int qemu_vcpu_fetch(struct qemu_machine *m, struct qemu_vcpu *v);
/* -ESTALE: it was reset meanwhile, begins as a reset has it, and is not written to any more. */
int qemu_vcpu_set(struct qemu_machine *m, struct qemu_vcpu *v, enum gdb_reg reg, uint64_t value);
int qemu_vcpu_tables(struct qemu_machine *m);
void qemu_vcpu_runs(struct qemu_vcpu *v); /* what is known of it ends with that */
/* All of them or none, should this process be killed; -ESTALE as above. */
int qemu_vcpu_set_all(struct qemu_machine *m, struct qemu_vcpu *v, const struct gdb_reg_value *regs,
		      unsigned int n);
/* By all registers of a vCPU in a kernel, then and now, but for those that were written since. */
bool qemu_vcpu_was_reset(const uint64_t *before, const uint64_t *now,
			 const struct gdb_reg_value *written, unsigned int n);
void qemu_vcpu_regs(const struct qemu_vcpu *v, struct machine_regs *regs);
/* The same registers, for qemu_vcpu_set_all(). */
#define QEMU_NR_GENERAL (sizeof(struct machine_regs) / sizeof(uint64_t))
void qemu_vcpu_general(const struct qemu_vcpu *v, struct gdb_reg_value regs[QEMU_NR_GENERAL]);

/* run.c */
int qemu_run_start(struct qemu_machine *m, bool run);
/* The guest stands, because of us (what: see stand_begin()), or does not. On the run thread, or
 * without one. */
void qemu_stands(struct qemu_machine *m, bool stands, const char *what);
void qemu_run_let(struct qemu_machine *m); /* the guest run from now on */
/* End the thread, with the guest standing. */
void qemu_run_stop(struct qemu_machine *m);

/* pause.c */
bool qemu_run_is_thread(struct qemu_machine *m); /* the caller is the run thread */
/* The guest stands. Not even a pause makes it so once the connection is lost while it runs. */
bool qemu_run_is_over(struct qemu_machine *m);
void qemu_pause(struct machine *base);
void qemu_resume(struct machine *base);
/* The run thread's handler is back: a pause that it keeps is from now on anybody's to end. */
void qemu_pause_handler_done(struct qemu_machine *m);
void qemu_kick_locked(struct machine *base); /* machine_ops.kick_locked */

/* traps.c */
int qemu_traps_set(struct machine *base, const struct machine_trap *traps, size_t n);
int qemu_traps_clear(struct machine *base, const uint64_t *vas, size_t n);
/* All of them, when detaching; the run thread has ended. */
int qemu_traps_clear_all(struct qemu_machine *m);
/* vcpu has stopped at a breakpoint; on the run thread. */
void qemu_traps_hit(struct qemu_machine *m, unsigned int vcpu);
/* Likewise, and it has come after us: the machine ends if the breakpoint is ours. */
void qemu_traps_hit_unknown(struct qemu_machine *m, uint32_t thread);

/* follow.c: machine_follow() */
int qemu_follow(struct machine *base, const struct machine_follow *follow);
/*
 * A handler is back that may have asked for that: until the call is over. True: the guest has
 * stopped for another reason than a step, as `stop` says. On the run thread.
 */
bool qemu_follow_run(struct qemu_machine *m, struct gdb_stop *stop);
void qemu_follow_free(struct qemu_machine *m);

/*
 * view.c. With m->io held and the guest standing: between these two breakpoints may be set and
 * cleared at these addresses of traps. -EFAULT: no vCPU sees all of them.
 */
int qemu_view_begin(struct qemu_machine *m, const uint64_t *vas, size_t n);
int qemu_view_end(struct qemu_machine *m);

/* clock.c */
void qemu_clock_begin(struct qemu_machine *m);			 /* the guest stands since now */
void qemu_clock_init(struct qemu_machine *m, const char *mtree); /* as qemu_ram_init() */
/* The guest need not stand: it takes until 20 ms after the beginning. */
void qemu_clock_open(struct qemu_machine *m);
void qemu_clock_close(struct qemu_machine *m);
uint64_t qemu_clock_khz(const struct qemu_machine *m); /* of the guest's TSC, since it was opened */
void qemu_clock_stopped(struct qemu_machine *m);       /* the run thread has seen the guest stop */
void qemu_clock_running(struct qemu_machine *m);       /* and is about to continue it */
/* On the run thread, with m->io held and the guest standing: */
uint64_t qemu_clock_tsc(struct qemu_machine *m, struct qemu_vcpu *v);
int qemu_tsc_line(struct machine *base, unsigned int vcpu, struct machine_tsc *line);
uint64_t qemu_clock_read(struct qemu_machine *m); /* that v's TSC differs from by an offset: */
struct qemu_vcpu *qemu_clock_offset_of(struct qemu_machine *m, struct qemu_vcpu *v); /* in there */

/* Any thread: a vCPU's TSC when the host's was `host`, since the guest last ran on. */
uint64_t qemu_clock_at(struct qemu_machine *m, unsigned int vcpu, uint64_t host);

/* mmio.c */
int qemu_mmio_init(struct qemu_machine *m); /* 0 or -errno; then qemu_mmio_exit() */
void qemu_mmio_exit(struct qemu_machine *m);
int qemu_mmio_watch(struct machine *base, bool on, char *err, size_t errlen);
/* The guest has stopped: what it has done before comes before that. On the run thread. */
void qemu_mmio_catch_up(struct qemu_machine *m);
/* QEMU's log goes back to where it was. Before the stub is let go of; the run thread has ended. */
void qemu_mmio_end(struct qemu_machine *m);

/* mmio-log.c. Of machine_info.mmio, as far as that is known without asking: */
bool qemu_mmio_can(const struct qemu_machine *m);
/* With m->io held, or as nobody else has m->gdb, and the guest standing: */
/* QEMU's log is m->mmio.pipe from here on, the keeper knows how that is undone. 0 or -errno. */
int qemu_mmio_log_open(struct qemu_machine *m, char *err, size_t errlen);
/* It has accesses in it, or no more. Switching off gives 0. */
int qemu_mmio_log_switch(struct qemu_machine *m, bool on, char *err, size_t errlen);
/* It has no accesses in it, and is what it was; the pipe is still to be closed. */
void qemu_mmio_log_end(struct qemu_machine *m);
/* A tracer that was killed, and its keeper too, have left QEMU writing its log for nobody: no more
 * of that. */
void qemu_mmio_recover(struct qemu_machine *m);

/* calibrate.c. On the run thread, with m->io held and the guest standing: */
/* v has its registers known and is at va, which is pa, in the kernel. Once for each vCPU. */
void qemu_clock_calibrate(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va, uint64_t pa);

/*
 * alone.c. With m->io held and the guest standing: the vCPU, whose registers are known, goes from
 * an address to one with a breakpoint, alone and with interrupts off; there: what registers it has
 * then. It has those of before again. 0, -EAGAIN: that breakpoint has not stopped it, -ESTALE: the
 * guest was reset meanwhile, and the vCPU has what that has left it with; others: QEMU's.
 */
struct qemu_way {
	uint64_t from, to;
	int patience_ms; /* before it is stopped */
	unsigned int tries;
};

#define QEMU_ALONE_MS 5000 /* a busy host lets a vCPU get somewhere within that time */

int qemu_alone(struct qemu_machine *m, struct qemu_vcpu *v, const struct qemu_way *way,
	       struct machine_regs *there);

/*
 * translated.c. Under TCG, with m->io held, of a guest that stands and that may be told to run: has
 * QEMU throw away what it has translated of the guest's code, in a few milliseconds. true: what is
 * written into its memory from now on is what is executed.
 */
bool qemu_translated_forget(struct qemu_machine *m);

/*
 * rdtsc.c: the vCPU's TSC, some microseconds before it stopped (m->clock.stop_begin), all else in
 * the guest as before. 0, -ENOENT: no place for it, -EAGAIN: not in time, others: QEMU's.
 */
int qemu_rdtsc(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va, uint64_t pa,
	       uint64_t *tsc);

#endif
