/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracer.h - the door of tracer/: a trace of one guest kernel.
 *
 * A trace joins a machine and what is known about its kernel: it decides which sites become
 * probes, turns hits into records in per-vCPU ring buffers, and prints them as the kernel's own
 * tracefs would.
 */
#ifndef HVTRACE_TRACER_TRACER_H
#define HVTRACE_TRACER_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "guestsym/guestsym.h"
#include "tracer/control.h"
#include "tracer/lib/error-log.h"
#include "tracer/events/filter/format.h"
#include "tracer/events/select.h"
#include "tracer/filter/func-filter.h"
#include "tracer/lib/glob.h"
#include "tracer/output/options.h"
#include "tracer/filter/pid-filter.h"
#include "tracer/lib/text.h"
#include "vmm/machine.h"

struct trace;

/* How a probe gets its record to the host. */
enum trace_engine {
	TRACE_ENGINE_AUTO,	 /* trampolines if they can be had, else traps */
	TRACE_ENGINE_TRAP,	 /* each hit exits */
	TRACE_ENGINE_TRAMPOLINE, /* it calls code placed in the guest; no exit */
};

/* All that it points to outlives the trace. */
struct trace_config {
	const struct guestsym *gs;
	unsigned int vcpus;
	bool running;	    /* for trace_attach_running(): globs may name functions of modules */
	const char *tracer; /* name in the table of tracers: "nop", "function" */
	const char *clock;  /* name in the table of clocks; NULL: the default, "global" */
	/* Globs as in set_ftrace_filter and set_ftrace_notrace; no filter means all functions. */
	const char *const *filter;
	size_t nr_filter;
	const char *const *notrace;
	size_t nr_notrace;
	uint64_t buffer_bytes;	 /* page data per vCPU */
	const char *until;	 /* stop recording when this function is called; or NULL */
	uint64_t max_events;	 /* stop after so many; 0: no limit */
	const char *const *pids; /* of the tasks that are recorded; none means all */
	size_t nr_pids;
	enum trace_engine engine;
	uint64_t window_bytes; /* guest memory that trampolines may take; 0: the default */
	bool control;	       /* it may be told other things to trace while it is under way */
	bool lossless;	       /* trampolines: the guest waits instead of losing records */
	/* One line about how the trace is done (no line end); may be NULL. Any thread. */
	void (*message)(void *arg, const char *text);
	void *message_arg;
};

/* What trampolines take by default for so many vCPUs, bytes: at least. */
#define TRACE_WINDOW_DEFAULT(vcpus) ((UINT64_C(2) << 20) + (UINT64_C(4) << 20) * (vcpus))
/* The same of a guest with so much memory that it is no more than this part of it. */
#define TRACE_WINDOW_LARGE(vcpus) ((UINT64_C(2) << 20) + (UINT64_C(16) << 20) * (vcpus))
#define TRACE_WINDOW_SHARE	  16
/* For few functions. */
#define TRACE_WINDOW_FEW(vcpus) ((UINT64_C(2) << 20) * ((vcpus) + 1))
#define TRACE_WINDOW_MIN	(UINT64_C(2) << 20)
#define TRACE_WINDOW_MAX	(UINT64_C(128) << 20)

/*
 * Prepare a trace: find its sites, allocate its buffers. NULL on error, with one line in err that
 * names the thing (unknown tracer, glob that matches nothing, no memory) and the way out.
 */
struct trace *trace_new(const struct trace_config *cfg, char *err, size_t errlen);
void trace_free(struct trace *t); /* NULL is allowed; trace_detach() first */

/*
 * Put the probes into a machine whose kernel is loaded and has not run yet. On error nothing is
 * patched. The machine's trap handler must hand every hit to trace_trap().
 */
int trace_attach(struct trace *t, struct machine *m, char *err, size_t errlen);
/*
 * The same for a guest that has booted. An error also when another kernel runs in it than the one
 * that the trace was made for. What an hvtrace that was killed has left in it goes first; -ESTALE:
 * that was in the text of a kernel read from memory, which is to be read again, for another trace.
 */
int trace_attach_running(struct trace *t, struct machine *m, char *err, size_t errlen);
/*
 * What the kernel of a running guest says about itself in the guest's memory, for guests whose
 * image is not at hand. NULL on error, with one line in err. To be closed by the caller.
 */
struct guestsym *trace_read_kernel(struct machine *m, char *err, size_t errlen);
/*
 * The trace events that this kernel has now; gs is what trace_read_kernel() gave. 0 or a negative
 * errno, with one line in err. To be freed with guestsym_events_free().
 */
int trace_read_events(struct machine *m, const struct guestsym *gs,
		      struct guestsym_event_list *list, char *err, size_t errlen);

/* What a running kernel's memory tells of it. */
struct trace_look {
	bool pti;	      /* page table isolation is on */
	unsigned int levels;  /* of its page tables */
	char clocksource[16]; /* that it keeps time with, "" when that cannot be told */
};

/*
 * gs is what trace_read_kernel() gave (slide 0), or from an image: slide is the kernel's run-time
 * address minus its link address. The guest stands while its registers are read; nothing of it is
 * changed. 0, or a negative errno when the kernel does not tell whether pti is on.
 */
int trace_look(struct machine *m, const struct guestsym *gs, uint64_t slide,
	       struct trace_look *look);
void trace_trap(struct trace *t, const struct machine_hit *hit);
/*
 * Stop recording and write every site back as it was; nothing when that was done already. 0, or the
 * first error of the machine's: the remaining sites were tried all the same.
 */
int trace_detach(struct trace *t);

/*
 * Whether an attached guest has been reset without the machine's telling: to be asked several times
 * a second, by the thread that will detach. Then there is nothing left to restore.
 */
bool trace_guest_is_gone(struct trace *t);

struct trace_status {
	uint64_t sites;	  /* functions that the filter selected */
	uint64_t traced;  /* of these, with a probe in the guest since probes were placed last */
	uint64_t skipped; /* of these, left out: the site held unknown bytes */
	uint64_t hits;	  /* records written so far */
	uint64_t lost;	  /* overwritten or dropped, in the guest or here */
	/*
	 * Of trampolines: records (task names too) that the guest says it has made, those of them
	 * that were collected, lost, and senseless. After trace_detach() made is staged +
	 * staging_lost, unless the guest has scribbled over its count.
	 */
	uint64_t made, staged, staging_lost, corrupt;
	const char *engine; /* "trap", "trampoline" */
	bool away;	    /* all sites are the guest's for now, since it patches its own text */
	bool done;	    /* --until was reached, max_events are recorded, or: */
	int error;	    /* what has ended it, a negative errno; 0: nothing */
	const char *at;	    /* function recorded last on vCPU 0, or NULL */
};

/* May be called while the guest runs. */
void trace_get_status(struct trace *t, struct trace_status *st);

/* Which functions are not traced, and why: one line each. 0 or -errno of the stream. */
int trace_explain(struct trace *t, FILE *out);

/*
 * Print the buffers as the kernel's `trace` file reads. The guest may be running. 0 or -errno of
 * the stream.
 */
int trace_print(struct trace *t, FILE *out);
/* The same in another form, by its name; -EINVAL: there is none of that name. */
int trace_print_as(struct trace *t, const char *form, FILE *out);

/* Row i of the tables of tracers and of clocks, NULL past the last. */
const char *trace_tracer_name(unsigned int i, const char **desc);
/* Only the top level can have it, no instance made later. */
bool trace_tracer_is_top(const char *name);
/* The kernel of this guest has what it works on; one that has not cannot be chosen. */
bool trace_has_tracer(struct trace *t, const char *name);
/* It looks for the longest latency, and all that it finds can be counted. */
bool trace_tracer_is_latency(const char *name);
const char *trace_clock_name(unsigned int i, const char **desc);
/* The same of forms; tracer: the only one whose records it can print, or NULL. */
const char *trace_form_name(unsigned int i, const char **desc, const char **tracer);

#endif
