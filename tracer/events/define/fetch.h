/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fetch.h - what fetch arguments give at a hit: kernel/trace/trace_probe_tmpl.h (6.1).
 *
 * Memory is the guest's: what cannot be read leaves zeros, or a string without even its end.
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_FETCH_H
#define HVTRACE_TRACER_EVENTS_DEFINE_FETCH_H

#include "tracer/events/define/fetch-arg.h"
#include "vmm/machine.h"

#define FETCH_ARG_REGS 6 /* di, si, dx, cx, r8, r9 */

/* What there is in user mode alone. */
struct fetch_user {
	uint16_t cs, ss;
	uint64_t orig_ax;
	uint64_t file; /* where offset 0 would be of the file that the probe is in */
};

/* A hit, and whose memory it is in. */
struct fetch_hit {
	const struct machine_regs *regs; /* as they are in the function, but for ip; or NULL */
	/* Of a return: the first arguments, FETCH_ARG_REGS of them, that the function was called
	 * with; NULL: it is an entry */
	const uint64_t *args;
	uint64_t ip;
	const struct fetch_user *user; /* NULL: it is in the kernel */
	const char *comm;	       /* of the task, terminated */
	/* Copy from memory of the kernel, or of the task's user mode: 0 or -EFAULT. */
	int (*read)(void *arg, bool user, uint64_t va, void *buf, size_t len);
	/* The symbol at addr as "name+0x1/0x2": how long that is. */
	size_t (*symbol)(void *arg, uint64_t addr, char *buf, size_t size);
	/* Of FETCH_FIELD: its value, or where its string is. */
	uint64_t (*field)(void *arg, uint64_t number);
	void *arg;
};

/*
 * Fill a record of at most `max` bytes, whose arguments begin at `head`; strings go behind them.
 * How long it is, 0 when it does not fit.
 */
size_t fetch_args(const struct fetch_arg *arg, unsigned int n, const struct fetch_hit *hit,
		  void *record, size_t head, size_t max);

/* Of the table of types, NULL past the last. */
const char *fetch_type_name(unsigned int i);

#endif
