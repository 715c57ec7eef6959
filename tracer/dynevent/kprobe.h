/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobe.h - probe events of the host's own: kprobe_events, uprobe_events and their profiles, and
 * the fprobes of dynamic_events.
 *
 * The guest's kernel makes the probe (kprobe-guest.h), the host reads what the definition asks for
 * and writes the record itself, into the ring of each instance that has the event on. It is the
 * kernel's own because its ftrace and a trap of ours would not get on with each other at one site.
 * Where the kernel cannot be asked, a probe at a function's entry is a trap at its fentry site.
 */
#ifndef HVTRACE_TRACER_DYNEVENT_KPROBE_H
#define HVTRACE_TRACER_DYNEVENT_KPROBE_H

#include "tracer/core/trace.h"
#include "tracer/dynevent/kprobe-guest.h"
#include "tracer/events/define/dyn-event.h"
#include "tracer/events/define/probe.h"

struct probe_events;

struct probe_events *probe_events_new(struct trace *t); /* NULL: no memory */
void probe_events_free(struct probe_events *p);		/* NULL is allowed */

/*
 * What instances want has changed: have a trap where an event is that one of them has on, and none
 * elsewhere. The events' lock is held, the machine runs.
 */
int probe_events_apply(struct probe_events *p);
/* The guest is there; on the vCPU's thread. */
void probe_events_hit(struct probe_events *p, uint32_t probe, const struct machine_hit *hit);
/*
 * A vCPU waits for us in the handler of a probe of its kernel's (payload_text.kprobe_call).
 * t->change is held; what triggers ask for is left for record_do_deferred().
 */
void probe_events_call(struct probe_events *p, const struct machine_hit *call);
/* The same where it has exited to the host there; on the vCPU's thread, no lock is held. */
void probe_events_stop(struct probe_events *p, const struct machine_hit *hit);
/* As events_close(), which calls it. */
int probe_events_close(struct probe_events *p, bool runs);
/* Of a tracer that was killed: unregister what the window tells of. As events_recover(). */
int guest_probes_recover(struct trace *t, struct window *w, char *err, size_t errlen);

/* --- for other kinds of probes, too ------------------------------------------------------------
 */

/* What is wrong with a command, unless that is not logged. */
void probe_error_log(struct trace *t, const char *where, const struct probe_words *words,
		     const struct probe_error *err);
/* "symbol+offset" of an argument becomes its address. 0, -ENOENT, -ENOMEM. */
int probe_arg_resolve(struct trace *t, struct fetch_arg *a);

/* --- for the files of it alone ---------------------------------------------------------------- */

/* A line that defines a probe. Several may be of one event. */
struct probe_event {
	struct probe_event *next;
	struct dyn_event dyn;
	struct probe_def *def;
	uint32_t event; /* in the list of events */
	bool in_guest;	/* the guest's kernel has it, as `guest` says */
	struct guest_probe guest;
	bool on;	       /* and it is enabled there */
	uint32_t probe;	       /* else where its trap is: index into t->probes */
	uint64_t ip;	       /* run-time address */
	bool wanted;	       /* some instance has the event on */
	_Atomic uint64_t hits; /* of the trap */
};

struct probe_events {
	struct trace *t;
	/* In their order; changed with the events' lock held and all writers stopped. */
	struct probe_event *first;
	struct guest_probes *guest;
};

/* A line of one of the kinds of probes: what its words define. */
typedef int probe_define_fn(struct probe_events *p, const struct probe_words *words,
			    struct probe_error *err);
/* Define what a line says, and log what is wrong with it. As dyn_event_ops.define(). */
int probe_line_define(struct trace *t, const char *line, probe_define_fn *define,
		      const char *where);
/* It joins the others, and its event the list, unless that is there. 0 or -errno. */
int probe_event_add(struct probe_events *p, struct probe_event *pe, struct probe_error *err);
/* It is in no list: it is let go, and freed. 0, or an error of asking the guest. */
int probe_event_discard(struct probe_events *p, struct probe_event *pe);
/* As in struct dyn_event_ops. */
void probe_event_print(const struct dyn_event *ev, struct text *out);
bool probe_event_is_busy(struct trace *t, const struct dyn_event *ev);
bool probe_event_matches(const struct dyn_event *ev, const struct probe_removal *removal);
int probe_event_remove(struct trace *t, struct dyn_event *ev);

/* Both are at the same instruction, whatever their files are called. */
bool uprobe_same_place(const struct probe_event *a, const struct probe_event *b);

/* The run-time address of a symbol ("name", "module:name"), 0: there is none. */
uint64_t probe_symbol_address(struct trace *t, const char *name);
unsigned int probe_symbol_count(void *arg, const char *name);
int probe_symbol_entry(void *arg, const char *name, uint64_t offset);
bool probe_symbol_function(void *arg, const char *name, struct fetch_function *function);
bool probe_symbol_tracepoint(void *arg, const char *name);
/* Whether a struct of a tracepoint of the kernel image is there. */
bool probe_is_tracepoint(struct trace *t, uint64_t addr);
/* What %pd and %pD read, false: the kernel does not know them. */
bool probe_symbol_dentries(struct trace *t, struct probe_dentries *dentries);
/*
 * Whether it knows "char", and $arg* (kernel/trace/trace_probe.c, since 6.5); and lines of fprobes
 * (trace_fprobe.c, likewise).
 */
bool probe_kernel_has_char(const struct trace *t);
bool probe_kernel_has_meta_args(const struct trace *t);
/* Whether it looks symbols up while it parses (validate_probe_symbol() of trace_kprobe.c, 6.12). */
bool probe_kernel_validates_names(const struct trace *t);
/* Whether it keeps arguments for a return (likewise, since 6.9), and so can we. */
bool probe_kernel_keeps_args(const struct trace *t);
bool probe_kernel_has_fprobes(const struct trace *t);
/*
 * Where a definition's probe is to be, and the addresses of its symbols. -ENOENT, -EILSEQ (in the
 * midst of an instruction), -EINVAL as the kernel; -EOPNOTSUPP and a note: not with us.
 */
int probe_event_place(struct trace *t, struct probe_event *pe);

#endif
