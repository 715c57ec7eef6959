/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobe-guest.h - probes that the guest's own kernel makes for us: register_kprobe() and
 * register_kretprobe(), of structs that lie in the window (payload.h, WINDOW_PROBES), with handlers
 * that are a piece of the payload (payload/kprobe.S) and call the host. And probes of its
 * tracepoints, by tracepoint_probe_register(), that do likewise.
 *
 * So where a probe can be, modules, what an instruction does that a breakpoint has taken the place
 * of, return addresses and what was missed are the kernel's business. Its functions sleep; a
 * kworker of the guest calls them: window/work.h.
 */
#ifndef HVTRACE_TRACER_DYNEVENT_KPROBE_GUEST_H
#define HVTRACE_TRACER_DYNEVENT_KPROBE_GUEST_H

#include "tracer/core/trace.h"
#include "tracer/payload/payload.h"

struct guest_probes;
struct window;

/* All but guest_probe_look() with the events' lock held, while the machine runs. */

struct guest_probes *guest_probes_new(struct trace *t); /* NULL: no memory */
void guest_probes_free(struct guest_probes *g);		/* NULL is allowed */

/* Why there can be none of a kind (PROBE_ROW_) in this guest; NULL: there can. */
const char *guest_probes_why_not(struct guest_probes *g, uint32_t kind);
/* Whether a return can be had that keeps arguments. */
bool guest_probes_keep_args(struct guest_probes *g);
/* Have the memory that they are in, and the way to the host: 0, or an error and one line in err. */
int guest_probes_open(struct guest_probes *g, char *err, size_t errlen);

struct guest_probe {
	unsigned int row; /* of WINDOW_PROBES */
	uint64_t ip;	  /* where the kernel has put it; not of a tracepoint's */
	uint64_t inode;	  /* of a uprobe: the struct of its file */
	unsigned int maxactive;
};

/*
 * Have the kernel register one that is off at a run-time address, of a tracepoint at that of its
 * struct (only when it is switched on); maxactive 0: as it likes; args: of a return, keep those
 * that the function is called with. They are open. 0, what the kernel says (-EINVAL, -EILSEQ…),
 * -ENOSPC, -ENODEV once the trace has ended, or an error of asking it: -ETIMEDOUT and others, with
 * one line noted.
 */
int guest_probe_register(struct guest_probes *g, uint32_t kind, uint64_t addr,
			 unsigned int maxactive, bool args, struct guest_probe *made);
/* Turn n of them (rows) on or off. 0 or the first error. */
int guest_probes_switch(struct guest_probes *g, const unsigned int *rows, size_t n, bool on);
/* 0, or an error of asking: then the row stays in use until guest_probes_close(). */
int guest_probe_unregister(struct guest_probes *g, unsigned int row);
/* Hits that have been told, and those that the kernel or we have missed. */
void guest_probe_count(struct guest_probes *g, unsigned int row, uint64_t *hits, uint64_t *missed);

/*
 * The trace ends, none will be registered any more; where the guest runs, those that there are go.
 * 0 or an error: some may still call the payload.
 */
int guest_probes_close(struct guest_probes *g, bool runs);

/* What a handler has called the host for. */
struct guest_probe_hit {
	unsigned int row;
	struct machine_regs regs;  /* rip as the kernel's own handlers have it */
	uint64_t ret_ip;	   /* of a return: where the function goes on */
	uint64_t args[PROBE_ARGS]; /* and what was kept of its call; else 0 */
	uint64_t func;		   /* of a uprobe: where it is, or the function that returns */
	struct guest_probe_user {  /* likewise: what else is on the kernel's stack */
		uint16_t cs, ss;
		uint64_t orig_ax;
	} user;
};

/* Words on the stack where the host is called, up to where the handler returns to: kprobe.S. */
#define GUEST_UPROBE_FRAME 3

/*
 * A call that has come from payload_text.kprobe_call, or a trap's hit at kprobe_trap. False: it is
 * none that there could be.
 */
bool guest_probe_look(struct guest_probes *g, const struct machine_hit *call,
		      struct guest_probe_hit *hit);

#endif
