/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe.h - patches the sites of probes, in batches, by one of two engines. */
#ifndef HVTRACE_TRACER_PROBE_PROBE_H
#define HVTRACE_TRACER_PROBE_PROBE_H

#include "tracer/core/trace.h"

extern const struct probe_ops trap_probe_ops, trampoline_probe_ops;

/* A guest of QEMU stands for each hit of a trap: it gets more of them only when asked for. */
#define QEMU_TRAPS_MAX 100

/*
 * Insert those probes that have all bits of `with` and none of `without` and are not in the guest;
 * sites that hold neither a NOP nor call __fentry__ are left out and counted. The machine is
 * paused. 0 or -errno, then nothing was changed; calls that could not be undone count as inserted.
 */
int probes_insert(struct trace *t, uint16_t with, uint16_t without);
/*
 * The same for these n, in this order; those that are not to be set (any more), or are not set, are
 * left alone.
 */
int probes_insert_some(struct trace *t, const uint32_t *which, size_t n);
int probes_remove_some(struct trace *t, const uint32_t *which, size_t n);
/* It is wanted, and not in the guest though it may be. */
bool probe_is_due(const struct trace *t, const struct probe *p);
/*
 * While trampolines are waited for (t->waits): whether functions wait for them, too, as there are
 * more than QEMU bears traps for. t->change is held.
 */
void probes_hold(struct trace *t);
/* For who asks how many there are, and which there ever were: how it is now. */
void probes_count(struct trace *t);
/*
 * Have n sites (run-time addresses) free of probes, which are not inserted meanwhile; or, with
 * none, as they were. 0 or -errno: then they are as they were. For borrow_lender().
 */
int probes_lend(void *arg, const uint64_t *vas, size_t n);
/* The probe of a site (run-time address) that is lent, whose calls it gets still; UINT32_MAX: none.
 */
uint32_t probes_lent_at(const struct trace *t, uint64_t va);
/* Remove those that are in the guest. */
int probes_remove(struct trace *t, uint16_t with, uint16_t without);

#endif
