/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * returns.h - return sites: where functions end, for tracers that want to know when.
 *
 * Return addresses are never touched. A traced function's return sites become probes; so do those
 * of the functions that it ends by jumping to, for they return in its place. Which sites these are
 * is read from the text that the guest runs: it has five bytes for each return where the kernel was
 * built for return thunks (CONFIG_RETHUNK), and only sites that hold what such a kernel puts there
 * are used. In other kernels the returns are found by decoding (insns.h): most have no room for
 * a call, and are traps whatever the engine.
 */
#ifndef HVTRACE_TRACER_PROBE_RETURNS_RETURNS_H
#define HVTRACE_TRACER_PROBE_RETURNS_RETURNS_H

#include "tracer/core/trace.h"

struct returns;

/*
 * Learn how functions return in this guest, which has patched its returns (in
 * start_kernel()); the machine is paused. Until then no return site is used, nor when the guest's
 * memory makes no sense.
 * 0 or -ENOMEM.
 */
int returns_learn(struct trace *t);
/*
 * The same of a kernel that has not begun: its returns jump to one thunk then, until
 * alternative_instructions() makes of them what they stay. Kernels without thunks are not known
 * before that.
 */
int returns_learn_early(struct trace *t);
/* What is known will not be so any more; their probes have been removed. */
void returns_forget(struct trace *t);
/* It has been learnt. */
bool returns_known(const struct trace *t);
/* Run-time address of the thunk that functions jump to as their return; 0: they return plainly. */
uint64_t returns_thunk(const struct trace *t);
/* Make text that has been read at this run-time address what it is without the probes of returns.
 */
void returns_restore(const struct trace *t, uint64_t start, uint8_t *code, size_t len);

/* Of which functions (index of the probe at their entry) exits are wanted. */
struct returns_wish {
	bool (*takes)(const struct trace *t, uint32_t probe);
};

/*
 * What is recorded has changed: have probes for the return sites of those functions that somebody
 * wants exits of (wish; NULL: of none), and only for them. A probe that is in the guest and is not
 * as it should be gets PROBE_FL_CHANGE. The machine is paused, all writers are stopped. 0 or
 * -ENOMEM.
 */
int returns_update(struct trace *t, const struct returns_wish *wish);

/* Places of probes that have gone are forgotten, before these are used again. t->change is held. */
void returns_forget_gone(struct trace *t);

/*
 * The bytes that a return's probe (link address) takes, and how many; it is a return with what can
 * be had of the padding behind it. 0: there is no probe.
 */
uint8_t returns_form(const struct trace *t, uint64_t va, uint8_t bytes[SITE_SIZE]);
uint8_t returns_size(const struct trace *t, uint64_t va);

/*
 * Tell the user, once, when returns exit to the host because there is no room for anything else.
 * returns_update() does, too, when probes are in the guest.
 */
void returns_tell_cost(struct trace *t);

/* Of the kernel image's list of return sites: how many there are after boot, and how many of them
 * hold something else.
 */
void returns_count(struct trace *t, size_t *listed, size_t *unknown);

void returns_free(struct trace *t);

#endif
