/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - stack traces of the guest's kernel, worked out on the host from the words of its
 * stacks: by the kernel's ORC tables, or along %rbp in a kernel that is built with frame pointers.
 *
 * They are what the kernel's own stack_trace_save_regs() would save at that place (it skips and
 * adds nothing; records of the guest's function tracer have its trampoline's frame in front), as if
 * code of ours in the guest were not there (guest_is_ours()): what that has interrupted, or calls,
 * goes on at the site. But a trace ends early
 *
 *  - at a return address that the guest itself has replaced: by its function_graph tracer, by a
 *    kretprobe;
 *  - in code that comes from no image (BPF, the guest's own ftrace trampolines), in a module that
 *    unwind_modules() was not told of, and in a module's init code, unless that has frame pointers.
 */
#ifndef HVTRACE_TRACER_UNWIND_UNWIND_H
#define HVTRACE_TRACER_UNWIND_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"
#include "tracer/guest/guest.h"
#include "vmm/machine.h"

struct unwind;

/*
 * gs may go once it is back. Takes some 20 ms and 5 MB. NULL when the kernel has neither ORC tables
 * nor frame pointers, or there is no memory; err gets one line.
 */
struct unwind *unwind_new(const struct guestsym *gs, char *err, size_t errlen);
void unwind_free(struct unwind *u); /* NULL is allowed */

/*
 * These are the modules now; their tables are copied, so mods may go. The guest is paused, and
 * nobody unwinds meanwhile. 0 or -ENOMEM; a module whose tables cannot be read is left out.
 */
int unwind_modules(struct unwind *u, const struct guestsym *gs, struct guest_kernel *g,
		   const struct guestsym_module *mods, size_t n);

/*
 * The trace of a vCPU that stands, with these registers: regs->rip, then from the innermost frame
 * on the return addresses, and where an exception or an interrupt came in the address that it came
 * at, up to the way into the kernel or the start of the thread. User mode is not part of it.
 * Returns how many, at most max, at least one unless max is 0.
 *
 * sps, when not NULL, gets for each of them the stack pointer at that address: a return address was
 * in the word below it. Without tables (u is NULL): regs->rip alone.
 *
 * Several threads may unwind at the same time.
 */
unsigned int unwind_stack(const struct unwind *u, struct guest_kernel *g,
			  const struct machine_regs *regs, uint64_t *ips, uint64_t *sps,
			  unsigned int max);

/*
 * The same at a function's entry, of which only ip, sp and %rbp are known: sp is where the address
 * lies that it returns to. The task must still stand there.
 */
unsigned int unwind_entry(const struct unwind *u, struct guest_kernel *g, uint64_t ip, uint64_t sp,
			  uint64_t bp, uint64_t *ips, uint64_t *sps, unsigned int max);

/* Words that were on a stack at some moment. */
struct unwind_words {
	uint64_t sp; /* address of the first */
	const uint64_t *word;
	unsigned int n;
};

/*
 * The same of what has been copied, all that it goes by: the stack that the task was on, and others
 * that it leads to. The trace ends where the copies do.
 */
unsigned int unwind_copies(const struct unwind *u, struct guest_kernel *g, uint64_t ip, uint64_t sp,
			   uint64_t bp, const struct unwind_words *copies, unsigned int nr,
			   uint64_t *ips, unsigned int max);

#endif
