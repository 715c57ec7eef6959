/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobe-traps.h - probes that the guest's own kernel makes for us (kprobe-guest.h), with an engine
 * whose probes are traps: their handlers exit to the host at one place of the payload, and a site
 * that the kernel patches for one of them has no trap of ours meanwhile.
 */
#ifndef HVTRACE_TRACER_DYNEVENT_KPROBE_TRAPS_H
#define HVTRACE_TRACER_DYNEVENT_KPROBE_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine_hit;
struct trace;

/* The trap is in the window from now on; the machine runs. 0 or the machine's error. */
int kprobe_traps_insert(struct trace *t);
/* No handler needs it any more. 0 or the machine's error. */
int kprobe_traps_remove(struct trace *t);
/* A trap was hit, on the vCPU's thread. False: it is not this one. */
bool kprobe_traps_hit(struct trace *t, const struct machine_hit *hit);

/*
 * The kernel has probes at these n run-time addresses, and no others: what it may patch for them is
 * its own, all else is traced as it should be. The machine runs. 0 or -errno.
 */
int kprobe_traps_leave(struct trace *t, const uint64_t *addr, size_t n);

#endif
