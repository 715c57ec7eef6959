/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sites.h - the places in the guest's kernel where a window begins or ends that is measured
 * (payload/critical.h): where interrupts are switched off or on, or the preempt count is changed.
 *
 * They are probes (PROBE_FL_FLAG) in the guest as long as some tracer works on such windows, and
 * come and go like all others. Traps are only those where interrupts change: traps.h. A table
 * has a row for each kind of site: how sites are found, what they hold, what they call instead.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_SITES_H
#define HVTRACE_TRACER_PROBE_CRITICAL_SITES_H

#include "tracer/core/trace.h"
#include "tracer/payload/critical.h"

#include <stdio.h>

struct flag_sites;
struct payload_text;
struct window;

/* What stands for a site's instruction when it is a trap: traps.h. */
enum flag_insn {
	FLAG_INSN_OTHER,   /* nothing can: there are only calls of the payload */
	FLAG_INSN_CLI,	   /* and a NOP */
	FLAG_INSN_STI,	   /* likewise */
	FLAG_INSN_ENTER,   /* call, with a struct pt_regs of an interrupt or exception in %rdi */
	FLAG_INSN_SYSCALL, /* call, from user mode */
	FLAG_INSN_LEAVE,   /* testb $3, CS(%rsp), of struct pt_regs */
	FLAG_INSN_RETURN,
	FLAG_INSN_IDLE, /* call */
};

int flag_sites_init(struct trace *t); /* 0 or -ENOMEM */
void flag_sites_free(struct trace *t);

/* Of a flag site's probe (link address), its size and where it leads. */
enum flag_insn flag_sites_insn(const struct trace *t, uint64_t va, uint8_t *size, uint64_t *target);

/* Whether this kernel knows such windows (CRITICAL_). */
bool flag_sites_known(const struct trace *t, uint32_t critical);
/*
 * Whether windows of these kinds (CRITICAL_) can be measured. -EOPNOTSUPP: this kernel has no sites
 * of some kind that is needed, or there are no trampolines; -EAGAIN: the kernel has not booted yet;
 * the user has been told. The machine is paused.
 */
int flag_sites_check(struct trace *t, uint32_t critical);
/* Why traps cannot measure these windows in this machine, in one line; NULL: they can. */
const char *flag_sites_no_traps(const struct trace *t, uint32_t critical);
/*
 * Windows of other kinds (CRITICAL_) are wanted: returns_update() of these sites. 0 or -ENOMEM.
 */
int flag_sites_update(struct trace *t, uint32_t critical);
/* Sites whose probes have gone are forgotten, before these are used again. t->change is held. */
void flag_sites_forget_gone(struct trace *t);

#define FLAG_SITE_MAX 16 /* bytes */

/* The bytes that a flag site's probe (link address) takes, and how many; 0: it is none. */
uint8_t flag_sites_form(const struct trace *t, uint64_t va, uint8_t bytes[FLAG_SITE_MAX]);

/*
 * Whether instructions of a flag site's probe move into the window, to which a jump leads then. All
 * such jumps come after flag_sites_enter(): moves.h. The machine is paused.
 */
bool flag_sites_moves(const struct trace *t, uint64_t va);
int flag_sites_enter(struct trace *t, struct window *w, const struct payload_text *text);
/* Behind that: the run-time address that the jump leads to. */
uint64_t flag_sites_code(const struct trace *t, uint64_t va);
/* The entry of the payload that it calls. */
uint32_t flag_sites_entry(const struct trace *t, uint64_t va, const struct payload_text *text);
/* The place in the kernel's text that ip, in what has moved, stands for; 0: none. Any thread. */
uint64_t flag_sites_home(const struct trace *t, uint64_t ip);
/* For whoever takes the probes of a tracer away that is no more: the window's header. */
void flag_sites_describe(const struct trace *t, const struct payload_text *text,
			 struct payload_form form[PAYLOAD_FORMS]);

/* Where the kernel's own tracers of latencies say that this record was made. */
uint64_t flag_sites_shown(const struct trace *t, const struct payload_record *r);
/* And by whom that was called, as far as they tell; 0: they do not. */
uint64_t flag_sites_parent(const struct trace *t, const struct payload_record *r);

/* Which there are, and which have been left out. */
void flag_sites_explain(const struct trace *t, FILE *out);

#endif
