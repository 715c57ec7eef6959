/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - the guest kernel's own state at a hit: task, preemption count, clock.
 *
 * Everything is read from guest memory through symbols and BTF, with no ioctl: the per-CPU base
 * comes from __per_cpu_offset[], which holds what the kernel's gs base holds
 * (arch/x86/kernel/setup_percpu.c), also before setup_per_cpu_areas().
 */
#ifndef HVTRACE_TRACER_GUEST_GUEST_H
#define HVTRACE_TRACER_GUEST_GUEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "guestsym/guestsym.h"
#include "tracer/guest/pvclock.h"
#include "tracer/guest/sched-ticks.h"
#include "vmm/machine.h"

#define GUEST_COMM_LEN 16 /* TASK_COMM_LEN */

/* Bit of thread_info.flags (arch/x86/include/asm/thread_info.h). */
#define GUEST_TIF_NEED_RESCHED 3

/* Where the kernel keeps the things we read. GUEST_NONE: this kernel does not have it. */
#define GUEST_NONE UINT64_MAX

/* Of the timekeeper: time.c */
struct guest_time_layout {
	uint64_t fast_mono, fast_raw; /* addresses of struct tk_fast; GUEST_NONE: none */
	uint64_t fast_seq, fast_base; /* offsets in it */
	uint64_t base_size;	      /* of struct tk_read_base, and offsets in it */
	uint64_t clock, cycle_last, mult, shift, xtime_nsec, base;
	uint64_t clocksource_name;		/* offset in struct clocksource */
	uint64_t timekeeper;			/* address of struct timekeeper */
	uint64_t tk_clock, offs_boot, offs_tai; /* offsets in it */
	uint64_t scd;				/* per-CPU offset of struct sched_clock_data */
	uint64_t pvclock;			/* of a pointer to struct pvclock_vcpu_time_info */
	uint64_t tick_raw, tick_gtod;		/* offsets in it */
};

struct guest_layout {
	uint64_t per_cpu_offset; /* address of __per_cpu_offset[] */
	uint64_t current_task;	 /* per-CPU offsets */
	uint64_t preempt_count;
	uint64_t cpu_number;
	uint64_t cyc2ns;
	uint64_t irq_stack; /* pointer to the highest word of the stack of interrupts */
	uint64_t task_pid, task_comm, task_tgid; /* offsets in task_struct */
	uint64_t task_flags;			 /* thread_info.flags */
	uint64_t task_migration_disabled;
	uint64_t c2n_data, c2n_seq;		 /* offsets in struct cyc2ns */
	uint64_t c2n_mul, c2n_shift, c2n_offset; /* offsets in struct cyc2ns_data */
	uint64_t c2n_size;			 /* of struct cyc2ns_data */
	uint64_t use_tsc, sched_clock_offset, jiffies, tick_nsec; /* addresses */
	uint64_t jiffies_start;		 /* what jiffies_64 begins with at boot */
	uint64_t kvm_sched_clock_offset; /* address: when sched_clock() began, by kvm-clock */
	/* Static keys sched_clock_running and __sched_clock_stable, and __gtod_offset: addresses */
	uint64_t clock_running, clock_stable, gtod_offset;
	struct guest_time_layout time;
};

/* Some bytes of guest memory, found once. */
struct guest_word {
	bool found;
	uint64_t pa;
	size_t len;
	const void *host; /* NULL: the machine has to be asked for each reading */
};

struct guest_cpu {
	/* The per-CPU area as found last; a new base looks the rest up again. */
	uint64_t base;
	struct guest_word current, preempt_count, cyc2ns;
};

/* What the clock that the kernel's log is stamped with was when it was looked at last. */
enum guest_clock_state {
	GUEST_CLOCK_PLAIN,   /* sched_clock() and an offset */
	GUEST_CLOCK_TICKS,   /* from tick to tick */
	GUEST_CLOCK_LINGERS, /* plain, but there may be records of before */
};

/* What there is at an address in code of ours. */
struct guest_ours {
	uint64_t home; /* where in the kernel's own text, if it is executed in its place; else 0 */
	/* Else: so many words lie on the stack in front of the address that it returns to. */
	bool returns; /* that is known */
	uint8_t words;
	/* It returns to where a function begins or is about to return, which has pushed nothing. */
	bool bare;
};

struct guest_kernel {
	struct machine *m;
	/* Whether ip is in code of ours, and what there is. Any thread. NULL: there is no such. */
	bool (*ours)(void *arg, uint64_t ip, struct guest_ours *o);
	void *ours_arg;
	int64_t (*now_ms)(void); /* the host's clock, for how long the guest may stand */
	/* What is being learnt and set up is not wanted any more; NULL: it is. Any thread */
	bool (*given_up)(void *arg);
	void *given_up_arg;
	struct guest_layout at;
	uint64_t text_va, text_pa, text_len; /* the kernel image: link address, where it lies */
	uint64_t slide;			     /* its run-time address minus its link address */
	uint64_t page_offset_base;	     /* address of the variable, or GUEST_NONE */
	uint64_t pgtable_root;		     /* address of init_top_pgt */
	uint64_t l5_enabled;		     /* address of __pgtable_l5_enabled, or GUEST_NONE */
	struct guest_cpu cpu[MACHINE_MAX_VCPUS];
	/*
	 * Of a vCPU that waits for us in the payload, which interrupts may come into meanwhile: its
	 * preempt_count at the site.
	 */
	struct guest_call {
		bool made;
		uint32_t preempt_count;
	} call[MACHINE_MAX_VCPUS];
	pthread_mutex_t pvclock_lock;
	struct pvclock_mapping pvclock[MACHINE_MAX_VCPUS];
	/* clock.c */
	struct sched_ticks ticks[MACHINE_MAX_VCPUS];
	atomic_int clock; /* enum guest_clock_state */
	_Atomic uint64_t ticked_ns;
};

struct guest_state {
	int32_t pid, tgid;
	uint8_t flags;	       /* TRACE_FLAG_*, as struct trace_entry has them */
	uint8_t preempt_count; /* low nibble depth, high nibble migrate-disable */
	char comm[GUEST_COMM_LEN];
};

/*
 * 0, or -EOPNOTSUPP with one line in err: without types, or names of its data, nothing tells which
 * task runs, nor the time. Every record would be wrong, and none would look it.
 */
int guest_tells(const struct guestsym *gs, char *err, size_t errlen);
/*
 * Learn the layout, into what is all zero. -ENODATA or -ENOENT with one line in err when the image
 * does not tell.
 */
int guest_learn(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen);
/* The machine that it runs in, whose kernel lies where the image says. */
void guest_bind(struct guest_kernel *g, struct machine *m);
/*
 * Find where KASLR has put the kernel of a guest that runs already; the machine is paused. -ESRCH
 * and others, with one line in err: it is another kernel than the image, and which.
 */
int guest_locate(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen);

/* enum system_states (include/linux/kernel.h, 6.1 and 6.12). */
enum guest_system_state {
	GUEST_SYSTEM_BOOTING = 0,	  /* until rest_init(); until 4.12, until init is started */
	GUEST_SYSTEM_FREEING_INITMEM = 2, /* until 5.13 it is SYSTEM_RUNNING */
};

/*
 * How far the kernel that was located has come. -ENOENT: the image does not tell where that is
 * (CONFIG_KALLSYMS_ALL); or another error.
 */
int guest_system_state(struct guest_kernel *g, const struct guestsym *gs, uint32_t *state);

/*
 * Whether the kernel that was located has its text as it is to be. While it boots, it still looks
 * at that itself: alternative_instructions() compares each place where a function returns with what
 * the build has put there, and warns of what it finds instead (arch/x86/kernel/alternative.c).
 * 0, also where that cannot be told; -EAGAIN, with one line in err: not yet.
 */
int guest_is_up(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen);

/*
 * Have the machine's vCPUs go by the numbers that the kernel which was located has for them; the
 * machine is paused and has no traps. 0, or an error with one line in err.
 */
int guest_number_vcpus(struct guest_kernel *g, char *err, size_t errlen);

/*
 * Whether the vCPU has the kernel that was located, by its interrupt table; the machine is paused.
 * 0, -ESRCH: another one or none, others: its registers cannot be read.
 */
int guest_check(const struct guest_kernel *g, const struct guestsym *gs, unsigned int vcpu);

static inline bool guest_is_ours(const struct guest_kernel *g, uint64_t ip, struct guest_ours *o)
{
	return g->ours && g->ours(g->ours_arg, ip, o);
}

/* ip, or if it is in code of ours that stands for some of the kernel's: where that is. */
static inline uint64_t guest_home(const struct guest_kernel *g, uint64_t ip)
{
	struct guest_ours o;

	return guest_is_ours(g, ip, &o) && o.home ? o.home : ip;
}

/* Physical address of link address va of the kernel image. */
uint64_t guest_image_pa(const struct guest_kernel *g, uint64_t va);

/* Physical address of a kernel virtual address, as the kernel's own page tables have it. */
int guest_translate(struct guest_kernel *g, uint64_t va, uint64_t *pa);
/* Copy from kernel virtual memory: 0 or -EFAULT. */
int guest_read(struct guest_kernel *g, uint64_t va, void *buf, size_t len);
/*
 * Copy to kernel virtual memory, of which two pages at most: neighbours there, and anywhere in the
 * guest's memory. 0, or -EFAULT and nothing is written.
 */
int guest_write(struct guest_kernel *g, uint64_t va, const void *buf, size_t len);
/* As guest_read() for guestsym, which goes on as long as g is not given up: -ECANCELED. */
struct guestsym_memory guest_memory(struct guest_kernel *g);
bool guest_is_given_up(const struct guest_kernel *g);
/* It does nothing any more, as machine_has_halted(): the machine is paused for that. */
bool guest_has_halted(const struct guest_kernel *g);
/* Find bytes that lie within one page, for reading them again and again. */
void guest_find(struct guest_kernel *g, uint64_t va, size_t len, struct guest_word *w);
/* Copy len of them from off on. False, and buf as it was: that many were not found. */
bool guest_copy(struct guest_kernel *g, const struct guest_word *w, uint64_t off, void *buf,
		size_t len);
/* Their first len (8 at most) bytes as a number; 0 when they were not found. */
uint64_t guest_get(struct guest_kernel *g, const struct guest_word *w, size_t len);
/*
 * A variable of the kernel image by its link address; `otherwise` when this kernel does not have
 * it.
 */
uint64_t guest_image_u64(struct guest_kernel *g, uint64_t va, uint64_t otherwise);
uint32_t guest_image_u32(struct guest_kernel *g, uint64_t va, uint32_t otherwise);

/*
 * State of the CPU that the vCPU is, at a hit with these registers. Called by that vCPU's thread.
 * What cannot be read (guest memory is not trusted) is left zero.
 */
void guest_get_state(struct guest_kernel *g, unsigned int vcpu, const struct machine_regs *regs,
		     struct guest_state *st);

/* Of this CPU: address of the current task, preempt_count as it is; 0 when they cannot be read. */
uint64_t guest_current(struct guest_kernel *g, unsigned int vcpu);
uint32_t guest_preempt_count(struct guest_kernel *g, unsigned int vcpu);

/*
 * How a CPU turns its TSC into sched_clock() time, as the kernel has it now. Before the kernel has
 * set its clock up, whatever the TSC: the time of the last timer tick.
 */
struct guest_clock {
	uint64_t offset; /* ns */
	uint32_t mul, shift;
	uint64_t since;	  /* 0, or the TSC before which */
	uint64_t earlier; /* this was the offset */
	/* What is to be made of it, NULL: nothing; of this CPU and of the first one. */
	const struct sched_ticks *ticks, *first;
};

/*
 * With stable: as local_clock(), which printk stamps its lines with, as long as g lives. For times
 * of some ticks ago, too, if guest_watch_ticks() is called now and then.
 */
void guest_get_clock(struct guest_kernel *g, unsigned int vcpu, bool stable, struct guest_clock *c);
/* For guest_get_clock(): from sched_clock() to local_clock(). */
void guest_clock_tick(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c);
/* What it is at a given TSC is told by ticks, which have to be watched. */
static inline bool guest_clock_ticks(struct guest_kernel *g)
{
	return atomic_load(&g->clock) == GUEST_CLOCK_TICKS;
}

/*
 * Note when the kernel's clock ticks, if it does: the length of a tick in ns, or 0. To be called a
 * few times in each.
 */
uint64_t guest_watch_ticks(struct guest_kernel *g, unsigned int vcpus);
/* The same whatever the TSC, for when that is not known: the time of the last timer tick. */
void guest_get_tick(struct guest_kernel *g, bool stable, struct guest_clock *c);

/* Of the kernel's timekeeping: CLOCK_MONOTONIC, _RAW, CLOCK_BOOTTIME, CLOCK_TAI. */
enum guest_time { GUEST_TIME_MONO, GUEST_TIME_RAW, GUEST_TIME_BOOT, GUEST_TIME_TAI };

/*
 * How such a time follows from the TSC of this CPU about now, by what the kernel has now. tsc is 0
 * when that is not known: then it is the time of the timekeeper's last update.
 */
void guest_get_time(struct guest_kernel *g, unsigned int vcpu, enum guest_time time, uint64_t tsc,
		    struct guest_clock *c);

/* Whether the kernel's time goes on between its ticks: it is by a clocksource that can be read. */
bool guest_time_goes_on(struct guest_kernel *g);

/* The kernel's count of timer ticks since it began, as time; ns. */
uint64_t guest_jiffies_ns(struct guest_kernel *g);

static inline uint64_t guest_clock_ns(const struct guest_clock *c, uint64_t tsc)
{
	uint64_t offset = c->since && (int64_t)(tsc - c->since) < 0 ? c->earlier : c->offset;
	uint64_t ns = offset + (uint64_t)(((unsigned __int128)tsc * c->mul) >> (c->shift & 63));

	return c->ticks ? sched_ticks_time(c->ticks, c->first, ns) : ns;
}

/* Some ns later. */
static inline void guest_clock_add(struct guest_clock *c, uint64_t ns)
{
	c->offset += ns;
	c->earlier += ns;
}

/* Address of the highest word of this CPU's stack of interrupts; 0: it is not known, or has none.
 */
uint64_t guest_irq_stack(struct guest_kernel *g, unsigned int vcpu);

/* What %gs:disp32 takes for a per-CPU variable of struct guest_layout, at run time. */
uint64_t guest_percpu_disp(const struct guest_kernel *g, uint64_t var);

#endif
