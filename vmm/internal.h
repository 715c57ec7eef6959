/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what machine.c shares with the backends: the ops table that each of them fills. */
#ifndef HVTRACE_VMM_INTERNAL_H
#define HVTRACE_VMM_INTERNAL_H

#include "vmm/machine.h"

/* A backend embeds this as the first member of its own machine. */
struct machine {
	const struct machine_ops *ops;
};

/*
 * What a backend does for the functions of machine.h of the same names. Every member is needed
 * unless its comment says otherwise.
 */
struct machine_ops {
	const char *name;
	const char *desc; /* one line for lists */
	/* NULL in backends that only attach */
	struct machine *(*create)(const struct machine_config *cfg, char *err, size_t errlen);
	void (*destroy)(struct machine *m);
	int (*start)(struct machine *m, char *err, size_t errlen);
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
	void (*pause)(struct machine *m);
	void (*resume)(struct machine *m);
	int (*get_regs)(struct machine *m, unsigned int vcpu, struct machine_regs *regs);
	int (*set_regs)(struct machine *m, unsigned int vcpu, const struct machine_regs *regs);
	int (*get_sregs)(struct machine *m, unsigned int vcpu, struct machine_sregs *sregs);
	int (*traps_set)(struct machine *m, const struct machine_trap *traps, size_t n);
	int (*traps_clear)(struct machine *m, const uint64_t *vas, size_t n);
	size_t (*console_input)(struct machine *m, const char *text, size_t len);
	int (*wait)(struct machine *m, struct machine_event *ev, int timeout_ms);
	void (*wake)(struct machine *m);
};

extern const struct machine_ops kvm_machine_ops;  /* vmm/kvm/kvm.c */
extern const struct machine_ops qemu_machine_ops; /* vmm/qemu/attach.c */

/* vmm/qemu/list.c: machine_list() */
int qemu_list(const char *uri, struct machine_listing **list, char *err, size_t errlen);
/* vmm/qemu/attach.c: machine_attach() */
struct machine *qemu_attach(const struct machine_attach_config *cfg, char *err, size_t errlen);

#endif
