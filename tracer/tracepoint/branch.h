/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch.h - the function that the kernel tells of each of its likely() and unlikely() begins with
 * a jump into the payload (payload/branch.S), as long as some instance wants them: it is called a
 * million times a second, and has no fentry site (kernel/trace/trace_branch.c, 6.1 and 6.12).
 */
#ifndef HVTRACE_TRACER_TRACEPOINT_BRANCH_H
#define HVTRACE_TRACER_TRACEPOINT_BRANCH_H

#include <stdbool.h>

struct trace;

/* The guest's kernel is built to tell them; one line about one that is not. */
#define GUEST_BRANCHES_UNKNOWN                                                                     \
	"branch: the guest's kernel does not tell how its likely() and unlikely() come out "       \
	"(CONFIG_PROFILE_ANNOTATED_BRANCHES)"
/* And where probes are traps. */
#define GUEST_BRANCHES_NO_TRAPS                                                                    \
	"branch: likely() and unlikely() come out too often for an exit to the host each: they "   \
	"are recorded by trampolines only"
bool guest_branches_known(const struct trace *t);
/*
 * Somebody is about to want them. 0, or one line is noted: -EOPNOTSUPP, this guest does not tell
 * them, or not to us; -EAGAIN, not yet; others. The lock of events is held, the machine runs.
 */
int guest_branches_place(struct trace *t);
/* Nobody may want them any more: then the function is the guest's own again. Likewise. */
void guest_branches_settle(struct trace *t);

#endif
