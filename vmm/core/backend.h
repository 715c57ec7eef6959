/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend.h - what vmm/ shares with its backends: the ops table that each of them fills. */
#ifndef HVTRACE_VMM_CORE_BACKEND_H
#define HVTRACE_VMM_CORE_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "vmm/core/stand.h"
#include "vmm/machine.h"

/*
 * A backend embeds this as the first member of its own machine. It is zeroed, and then set up by
 * machine_init().
 */
struct machine {
	const struct machine_ops *ops;
	/* As in struct machine_config; the backend sets them. */
	void (*message)(void *arg, enum machine_msg_level level, const char *text);
	void *arg;
	bool reboots; /* likewise */

	pthread_mutex_t lock;	  /* what follows up to end, and what the backend says */
	pthread_cond_t change;	  /* any of it has changed */
	unsigned int inside;	  /* threads that run the guest or handle an exit of it */
	unsigned int waiting;	  /* those that handle one, and wait for a pause of theirs */
	bool stopping;		  /* machine_free() is at work */
	struct machine_event end; /* MACHINE_EVENT_NONE while the guest runs */

	/* machine_let_go(): what the end is to be, whoever comes first with one; without the lock
	 */
	struct machine_event let_go_end;
	atomic_bool let_go;

	struct stand stand; /* how long the guest has stood */

	int event_fd;	   /* wakes machine_wait() */
	atomic_bool woken; /* machine_wake() was called */
	int64_t looked_ms; /* when machine_wait() last called ops->idle */

	/* delay.c: 1 and the descriptor that says what a vCPU's thread waits for; 0: not open */
	atomic_int delay_fd[MACHINE_MAX_VCPUS];
};

/*
 * What a backend does for the functions of machine.h of the same names, those that it has not in
 * common with the others. Every member is needed unless its comment says otherwise.
 */
struct machine_ops {
	const char *name;
	const char *desc; /* one line for lists */
	struct machine *(*create)(const struct machine_config *cfg, char *err, size_t errlen);
	void (*destroy)(struct machine *m);
	int (*start)(struct machine *m, char *err, size_t errlen);
	/* It has ended so that this can be asked for; machine_config.reboots was set */
	int (*reboot)(struct machine *m, char *err, size_t errlen);
	/* The machine is paused. NULL: it cannot be saved */
	int (*save)(struct machine *m, const struct machine_save *save, char *err, size_t errlen);
	void (*get_info)(struct machine *m, struct machine_info *info);
	/* NULL: memory has no host address, and there are the three below */
	void *(*host_ptr)(struct machine *m, uint64_t pa, size_t len);
	/* NULL: through host_ptr */
	int (*read)(struct machine *m, uint64_t pa, void *buf, size_t len);
	int (*write)(struct machine *m, uint64_t pa, const void *buf, size_t len);
	int (*write_text)(struct machine *m, uint64_t pa, const void *buf, size_t len);
	/* The sizes are right, the machine is paused. NULL: through host_ptr */
	int (*patch_text)(struct machine *m, const struct machine_patch *patches, size_t n);
	int (*window)(struct machine *m, size_t size, uint64_t *pa, void **host);
	/* NULL: a guest dies with hvtrace */
	int (*when_gone)(struct machine *m, const struct machine_gone_word *word);
	int (*reserved_page)(struct machine *m, uint64_t *pa); /* NULL: there are none */
	void (*pause)(struct machine *m);
	void (*resume)(struct machine *m);
	/*
	 * The guest has stood for too long: have it run on without us, by whatever can still do
	 * that, and have each call that is under way, or comes later, fail. On the thread that
	 * watches, without m->lock: who is to fail may hold it. NULL where nobody watches.
	 */
	void (*let_go)(struct machine *m);
	bool (*has_halted)(struct machine *m);	 /* the machine is paused */
	int (*look_at_vcpus)(struct machine *m); /* NULL: they do not come and go */
	/* NULL likewise */
	int (*number_vcpus)(struct machine *m, const unsigned int *number, unsigned int n);
	int (*get_regs)(struct machine *m, unsigned int vcpu, struct machine_regs *regs);
	int (*set_regs)(struct machine *m, unsigned int vcpu, const struct machine_regs *regs);
	int (*get_sregs)(struct machine *m, unsigned int vcpu, struct machine_sregs *sregs);
	uint64_t (*get_tsc)(struct machine *m, unsigned int vcpu);
	/* The thread of the host's that runs a vCPU; errors as of machine_get_delay(). */
	int (*vcpu_thread)(struct machine *m, unsigned int vcpu, pid_t *pid, pid_t *tid);
	int (*tsc_line)(struct machine *m, unsigned int vcpu, struct machine_tsc *line);
	/* NULL: each access is told anyway, or none (machine_info.mmio) */
	int (*mmio_watch)(struct machine *m, bool on, char *err, size_t errlen);
	/* All traps are well-formed, the machine is paused. */
	int (*traps_set)(struct machine *m, const struct machine_trap *traps, size_t n);
	int (*traps_clear)(struct machine *m, const uint64_t *vas, size_t n);
	int (*follow)(struct machine *m, const struct machine_follow *follow); /* NULL: it cannot */
	size_t (*console_input)(struct machine *m, const char *text, size_t len);
	size_t (*channel_input)(struct machine *m, const char *text, size_t len);
	int (*power_button)(struct machine *m, char *err, size_t errlen);
	/* Called with m->lock held: make whoever is inside leave. */
	void (*kick_locked)(struct machine *m);
	/* Called now and then while machine_wait() waits. May be NULL. */
	void (*idle)(struct machine *m);
};

extern const struct machine_ops kvm_machine_ops;  /* vmm/kvm/kvm.c */
extern const struct machine_ops qemu_machine_ops; /* vmm/qemu/machine.c */

/*
 * vmm/kvm/host/calibrate.c: whether KVM runs guest kernel mode on the processor. 1: it does, 0: it
 * interprets it, or -errno: /dev/kvm cannot be used.
 */
int kvm_host_is_native(void);
/* vmm/qemu/start.c: 0, or -errno and err says why libvirt cannot be reached. */
int qemu_reachable(const char *uri, const struct machine_patience *patience, char *err,
		   size_t errlen);
/* vmm/qemu/libvirt/list.c: machine_list() */
int qemu_list(const char *uri, const struct machine_patience *patience,
	      struct machine_listing **list, char *err, size_t errlen);
void qemu_list_free(struct machine_listing *list, int nr);
bool qemu_has_label(const struct machine_listing *l, const char *key, const char *value);
/* vmm/qemu/libvirt/loads.c: machine_get_loads() */
int qemu_get_loads(const char *uri, const struct machine_patience *patience,
		   struct machine_load **loads, char *err, size_t errlen);
/* vmm/qemu/libvirt/watch.c: machine_watch_new() and those behind it */
struct machine_watch *qemu_watch_new(const char *uri, char *err, size_t errlen);
int qemu_watch_fd(const struct machine_watch *w);
bool qemu_watch_take(struct machine_watch *w, struct machine_news *news);
void qemu_watch_free(struct machine_watch *w);
/* vmm/qemu/machine.c: machine_attach() */
struct machine *qemu_attach(const struct machine_attach_config *cfg, char *err, size_t errlen);

/* walk.c: machine_walk() of a backend that reads the tables by a function of its own. */
typedef int machine_read_fn(struct machine *m, uint64_t pa, void *buf, size_t len);
int machine_walk_by(struct machine *m, machine_read_fn *read, uint64_t root, unsigned int levels,
		    uint64_t va, uint64_t *pa, uint64_t *left);

/* delay.c */
void machine_delays_close(struct machine *m);
/* What is open of vCPU i is of vCPU number[i] from now on. */
void machine_delays_number(struct machine *m, const unsigned int *number, unsigned int n);

/* event.c */
int machine_init(struct machine *m, const struct machine_ops *ops);
void machine_exit(struct machine *m);
/* Tell the owner of the machine one line. */
void machine_message(struct machine *m, enum machine_msg_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * The guest is at its end: no vCPU runs on; the first caller's reason is what machine_wait()
 * gives. Any thread.
 */
void machine_end(struct machine *m, enum machine_event_type type, unsigned int vcpu,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* It boots again: there is an end to wait for anew. Nobody waits, and no vCPU runs. */
void machine_begin_anew(struct machine *m);
/*
 * The guest has stood for too long: it is let go (machine_ops.let_go) before anything else, for
 * somebody may wait for a stub with m->lock held, and then at its end. This is the reason that
 * machine_wait() gives, not what fails as everything does then. Once, on the thread that watches.
 */
void machine_let_go(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Called with m->lock held: */
bool machine_over_locked(const struct machine *m); /* nobody gets inside any more */
void machine_enter_locked(struct machine *m);
void machine_leave_locked(struct machine *m);

#endif
