/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper.h - a small process that lets the guest run on when the tracer is killed.
 *
 * A stub keeps its breakpoints when the connection to it ends, and a guest that meets one then
 * stands for ever. The keeper holds the connection as well; when the tracer is gone without having
 * said goodbye, it has the breakpoints removed and the guest continued. One that is stopped while
 * the guest waits for it is killed.
 */
#ifndef HVTRACE_VMM_QEMU_KEEPER_H
#define HVTRACE_VMM_QEMU_KEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define QEMU_INT3 0xcc /* what QEMU's breakpoints are in guests under KVM */

#define KEEPER_LOOK_MS 1000 /* how often it is looked whether the tracer has been stopped */

#define KEEPER_FIRST_MAX  512
#define KEEPER_ALSO_MAX	  2048
#define KEEPER_PIN_MAX	  64
#define KEEPER_DETACH_MAX 64
#define KEEPER_BYTES_MAX  (256 << 10)

struct keeper {
	pid_t pid;		     /* 0: there is none */
	int alive;		     /* the keeper's other end closes when we die */
	atomic_bool let_go;	     /* keeper_let_go() was called */
	struct keeper_shared *share; /* memory that both have: what the keeper has been told */
};

/* A byte of guest text under a breakpoint. */
struct keeper_byte {
	uint64_t hva; /* in QEMU's address space */
	uint8_t byte; /* what was there before */
};

/* A word of guest memory that tells the guest whether its tracer lives. */
struct keeper_word {
	uint64_t hva;	  /* in QEMU's address space */
	uint64_t was, is; /* is: what it is to be once the tracer is gone, if it is `was` still */
};

/* Start one for the connected socket; run_on: the guest is to run. 0 or -errno. */
int keeper_start(struct keeper *k, int sock, bool run_on);
/*
 * Should the tracer die from here on, the stub gets these packets before the guest runs on: they
 * undo what only the tracer knows of. NULL: none, as at the start. 0 or -EMSGSIZE.
 */
int keeper_first(const struct keeper *k, const char *packets);
/*
 * And these behind them; NULL: none. The keeper gets a descriptor of its own of `hold`, if it is
 * one, and has that open until its end: a pipe that QEMU opens for writing waits for ever for who
 * reads. 0, also without a keeper, or -errno.
 */
int keeper_also(struct keeper *k, const char *packets, int hold);
/*
 * And this one, once nothing is to be written any more and before the guest runs on (pin.c); NULL:
 * none. 0, also without a keeper, or -EMSGSIZE.
 */
int keeper_pinned(const struct keeper *k, const char *packet);
/*
 * QEMU's address space (peer.h), for what follows: the keeper gets a descriptor of its own. 0, also
 * without a keeper, or -errno.
 */
int keeper_memory(struct keeper *k, int mem);
/*
 * The breakpoints under KVM, where they are bytes in memory that QEMU may not be able to take out
 * by itself (view.c): should the tracer die, the keeper writes back those that are still int3. To
 * be told before they are set, and after they are cleared. begin gives room for n of them, NULL:
 * there is no keeper, or they are more than KEEPER_BYTES_MAX; end has the keeper go by them from
 * now on.
 */
struct keeper_byte *keeper_bytes_begin(struct keeper *k, size_t n);
void keeper_bytes_end(struct keeper *k, size_t n);
/* Should the tracer die from here on, the keeper writes this word, first of all; NULL: none. */
void keeper_word(struct keeper *k, const struct keeper_word *word);
/*
 * The guest stands, because of the tracer, or does not. One that is stopped (SIGSTOP) while the
 * guest does, or while the stub has something to say, is killed by the keeper two looks later: who
 * would let the guest run on else?
 */
void keeper_stands(const struct keeper *k, bool stands);
/* The guest has been given back: the keeper is not needed any more. */
void keeper_stop(struct keeper *k);
/*
 * The keeper says the last thing to the stub, the packet that lets the guest run on, and ends. A
 * tracer that is killed then leaves nobody who would say it once more, or not at all: QEMU 7.2 dies
 * of what guest_release() says to one that is detached (gdb_get_cpu_pid() of gdbstub.c, of no CPU).
 * 0, -ETIMEDOUT: no answer, or -ESRCH: there is no keeper, nothing was said.
 */
int keeper_detach(struct keeper *k, const char *packet);
/*
 * Have the keeper do at once what it does when the tracer dies, without waiting for it; the others
 * here only wait for its end then. Any thread, while no other one starts or ends the keeper.
 */
void keeper_let_go(struct keeper *k);
/* It cannot be given back: let the keeper do what it does when the tracer dies, and wait for that.
 */
void keeper_release(struct keeper *k);

#endif
