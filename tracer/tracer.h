/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracer.h - the door of tracer/: a trace of one guest kernel.
 *
 * A trace joins a machine and what is known about its kernel: it decides which sites become
 * probes, turns hits into records in per-vCPU ring buffers, and prints them as the kernel's own
 * tracefs would.
 *
 * Under way, files of tracefs show and change it: the files.h of each room, which are included
 * here. A trace has instances: the top level, which is always there, and those made later. Each has
 * its own ring buffers, tracer, filters and options. Any thread may call; what changes probes
 * pauses the guest for it. Functions that return int give 0 or the negative errno that the kernel's
 * file would give.
 */
#ifndef HVTRACE_TRACER_TRACER_H
#define HVTRACE_TRACER_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "guestsym/guestsym.h"
#include "tracer/control/files.h"
#include "tracer/control/print.h"
#include "tracer/core/config.h"
#include "tracer/dynevent/files.h"
#include "tracer/events/filter/format.h"
#include "tracer/events/select.h"
#include "tracer/filter/func-filter.h"
#include "tracer/filter/pid-filter.h"
#include "tracer/guest/locate.h"
#include "tracer/instance/files.h"
#include "tracer/lib/error-log.h"
#include "tracer/lib/glob.h"
#include "tracer/lib/nearest.h"
#include "tracer/lib/text.h"
#include "tracer/output/options.h"
#include "tracer/record/files.h"
#include "tracer/ring/page.h"
#include "tracer/stat/files.h"
#include "tracer/tracers/files.h"
#include "tracer/tracers/names.h"
#include "vmm/machine.h"

struct trace;

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
void trace_trap(struct trace *t, const struct machine_hit *hit);
/* The same of accesses to devices: machine_config.mmio */
void trace_mmio(struct trace *t, const struct machine_mmio *access);
/* The same of branches: machine_config.branch */
bool trace_branch(struct trace *t, const struct machine_branch *b);
/*
 * trace_detach() is about to come, once whoever asks for changes has been waited for: what is
 * setting many probes for one gives up with -ECANCELED. Any thread.
 */
void trace_leave(struct trace *t);
/*
 * Stop recording and write every site back as it was; nothing when that was done already. 0, or the
 * first error of the machine's: the remaining sites were tried all the same.
 */
int trace_detach(struct trace *t);

/*
 * machine_save() of the guest between two changes of what the trace has in it, with `traced`. Any
 * thread, while it is attached.
 */
int trace_save(struct trace *t, const struct machine_save *save, char *err, size_t errlen);

/*
 * Whether an attached guest has been reset without the machine's telling: to be asked several times
 * a second, by the thread that will detach. Then there is nothing left to restore.
 */
bool trace_guest_is_gone(struct trace *t);

/*
 * Whether nothing is waited for any more in a guest that boots: what is asked for is done at once,
 * by trampolines where they can be used. Not before its kernel has begun to set itself up.
 */
bool trace_is_ready(struct trace *t);

/*
 * What the trace of the guest's next boot goes on from, by trace_config.past: times of clocks that
 * begin with a boot follow those of this one. t is detached, and is only to be freed then. NULL: no
 * memory.
 */
struct trace_past *trace_past(struct trace *t);
void trace_past_free(struct trace_past *p); /* that is nobody's; NULL is allowed */

struct trace_status {
	uint64_t sites;	  /* functions that the filter selected */
	uint64_t traced;  /* of these, with a probe in the guest since probes were placed last */
	uint64_t skipped; /* of these, left out: the site held unknown bytes */
	uint64_t hits;	  /* records written so far */
	uint64_t lost;	  /* dropped, in the guest or here, but for: */
	uint64_t overwritten; /* by newer ones, as the buffers are full */
	/*
	 * Of trampolines: records (task names too) that the guest says it has made, those of them
	 * that were collected, lost, and senseless. After trace_detach() made is staged +
	 * staging_lost, unless the guest has scribbled over its count.
	 */
	uint64_t made, staged, staging_lost, corrupt;
	const char *engine; /* "trap", "trampoline" */
	bool away;	    /* all sites are the guest's for now, since it patches its own text */
	bool panicked;	    /* the guest's kernel has called panic(), which has ended the trace */
	bool done;	    /* --until was reached, max_events are recorded, or: */
	int error;	    /* what has ended it, a negative errno; 0: nothing */
	uint64_t boot_ns;   /* where the clock, if it begins with a boot, has begun with this one */
	const char *at;	    /* function recorded last on vCPU 0, or NULL */
};

/* May be called while the guest runs. */
void trace_get_status(struct trace *t, struct trace_status *st);

/* Of one vCPU, at the top level: records that have come into its buffer, and those lost before. */
struct trace_vcpu_status {
	uint64_t events;
	uint64_t staging_lost, dropped; /* in the guest; as the buffer was full */
	uint64_t overwritten;		/* of the events: by newer ones, as the buffer was full */
};

void trace_get_vcpu_status(struct trace *t, unsigned int vcpu, struct trace_vcpu_status *st);
/*
 * Say what a crash of the guest (panic, oops, sysrq-z) has asked to be told, its trace among it: to
 * be called when machine_wait() has returned. The guest goes on meanwhile.
 */
void trace_tell_crash(struct trace *t);
/* What the host and this process' control groups leave for buffers, in bytes; beyond it larger ones
 * are refused. */
uint64_t trace_memory_left(const struct trace *t);

/* Which functions are not traced, and why: one line each. 0 or -errno of the stream. */
int trace_explain(struct trace *t, FILE *out);

#endif
