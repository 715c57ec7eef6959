/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exits.h - what a host's events say of the threads that run vCPUs: which exits there were and what
 * they cost, and for how long the vCPU had no CPU of the host's.
 */
#ifndef HVTRACE_FRONTEND_REPORT_EXITS_H
#define HVTRACE_FRONTEND_REPORT_EXITS_H

#include <stdint.h>
#include <stdio.h>

#include "frontend/decode/formats.h"

struct exits;

/* Of times that are over: how many, in all, and the longest; nanoseconds. */
struct exits_sum {
	uint64_t nr, ns, longest;
};

/*
 * Told while events are seen: a slice of a vCPU's begins, or the last one that began ends. An exit,
 * by its reason, and within it, or beside any, a time without a CPU: "taken by TASK", where it
 * wanted to run, or "waits".
 */
struct exits_ops {
	void (*begin)(void *arg, unsigned int vcpu, uint64_t time, const char *name);
	void (*end)(void *arg, unsigned int vcpu, uint64_t time);
};

/* ops may be NULL. NULL: no memory. Without the events in the formats there is nothing to count. */
struct exits *exits_new(struct formats *f, const struct exits_ops *ops, void *arg);
void exits_free(struct exits *e); /* NULL is allowed */
/* A thread runs that vCPU. Of EXITS_VCPUS the first ones. */
#define EXITS_VCPUS 1024
void exits_vcpu(struct exits *e, unsigned int vcpu, int32_t tid);
/* In the order of their times. */
void exits_event(struct exits *e, const struct decode_event *ev);

/*
 * From kvm_exit to kvm_entry, without the time in which the thread had no CPU. False: there are no
 * more.
 */
bool exits_reason(const struct exits *e, size_t i, const char **reason, struct exits_sum *sum);
/* A thread that wanted to run, and others did. False: there is no such vCPU. */
bool exits_taken(const struct exits *e, size_t i, unsigned int *vcpu, struct exits_sum *sum);
/* Lines for the user, the dearest reasons first; nothing where nothing was counted. No event
 * may come behind it; the reasons are in that order from then on.
 */
void exits_print(struct exits *e, FILE *out);

#endif
