/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ktables.h - a running kernel's page tables and interrupt table, as its vCPUs have them. */
#ifndef HVTRACE_TRACER_GUEST_KTABLES_H
#define HVTRACE_TRACER_GUEST_KTABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm/machine.h"

struct ktables {
	struct machine *m;
	uint64_t root;
	unsigned int levels;
	uint64_t idt_base;
	uint32_t idt_size; /* bytes */
	bool kept;
	uint64_t top[512]; /* what the root held when it was kept */
};

/*
 * The kernel's tables that a vCPU of a paused machine has. 0, -ESRCH (nothing that looks like a
 * kernel), others.
 */
int ktables_find(struct machine *m, unsigned int vcpu, struct ktables *t);
/*
 * Before the machine runs on: the root is of the task that the vCPU was in, and goes with it. The
 * tables that its upper half names are all tasks', and stay. 0 or -EFAULT.
 */
int ktables_keep(struct ktables *t);
/* Copy from kernel virtual memory: 0 or -EFAULT. */
int ktables_read(const struct ktables *t, uint64_t va, void *buf, size_t len);
/*
 * Physical address of the page directory (the table whose entries map 2 MiB each) for the GiB that
 * va is in: 0, or -EFAULT when there is none. Needs m, root and levels only.
 */
int ktables_directory(const struct ktables *t, uint64_t va, uint64_t *pa);
/* Address of the handler of an interrupt vector: 0 or -EFAULT. */
int ktables_handler(const struct ktables *t, unsigned int vector, uint64_t *handler);

#endif
