/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * running-guest.h - a guest of tests/e2e/qemu-lib.sh, for tests that attach to it. What goes wrong
 * fails the test.
 */
#ifndef HVTRACE_TESTS_RUNNING_GUEST_H
#define HVTRACE_TESTS_RUNNING_GUEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/e2e/qemu-console.h"
#include "tracer/tracer.h"
#include "vmm/machine.h"

#define LIMIT_S 400 /* for things that must happen; takes nothing when they do */

struct env {
	const char *target, *kernel, *uri;
	struct guestsym *gs;
	uint64_t slide; /* KASLR's */
	uint64_t root;	/* of the kernel's page tables */
	unsigned int levels;

	struct machine *m; /* while attached */

	/* Of tests of traps. */
	machine_trap_fn *trap;
	_Atomic unsigned int hits;
	unsigned int limit;
	uint64_t last_tsc, last_va;

	/* Of tests of traces. */
	struct trace *trace;
	pid_t tracer;	      /* a process */
	bool without_debugfs; /* it finds none, as under a user who is not root */

	struct console console;
};

/*
 * Wait until the guest of these arguments, TARGET KERNEL SERIAL [URI], takes commands. argv ends
 * with NULL.
 */
void env_init(struct env *e, char **argv);

/* The handler gets e as its arg. */
void env_attach(struct env *e, machine_trap_fn *handler);
void env_detach(struct env *e);

/* --- the kernel of the attached guest ---------------------------------------------------- */

/* Where it lies, from the gate of the page fault; its tables, by what they map. */
void find_kernel(struct env *e);
int read_virt(struct env *e, uint64_t va, void *buf, size_t len);
uint64_t running(const struct env *e, const char *name); /* address of a symbol */
uint64_t phys(struct env *e, uint64_t va);
/* From _stext to _etext, to be freed. */
uint8_t *read_text(struct env *e, size_t *len);

/* --- traces of it -------------------------------------------------------------------------- */

/*
 * Attach, with hits handed to the trace, and have a trace of this configuration: the kernel, the
 * vCPUs and what messages go to are added to it.
 */
void env_trace(struct env *e, struct trace_config cfg);
/* The trace is over, and the guest let go. */
void env_trace_forget(struct env *e);

/* --- hvtrace as a process of its own -------------------------------------------------------- */

/* hvtrace attach with the target and these options, NULL at their end; what it records is not kept.
 */
void env_tracer_start(struct env *e, const char *const *options);
int env_tracer_wait(struct env *e); /* its status, as of waitpid() */
/* One that is killed when it, or its keeper, has sent this text to anybody: its status. */
int env_tracer_kill_at(struct env *e, const char *const *options, const char *text);
/* What one that was killed has left is taken away. */
void env_recover(struct env *e);

/* --- cmocka -------------------------------------------------------------------------------- */

/* The arguments as of env_init(), for env_setup(): cmocka has no way to hand them to it. */
extern char **env_arguments;
/* A guest whose kernel has been found is the tests' state. */
int env_setup(void **state);
int env_teardown(void **state);

#endif
