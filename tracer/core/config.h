/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.h - what is traced, and how, as a trace is asked for it. */
#ifndef HVTRACE_TRACER_CORE_CONFIG_H
#define HVTRACE_TRACER_CORE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guestsym;
struct trace_past;

/* How a probe gets its record to the host. */
enum trace_engine {
	TRACE_ENGINE_AUTO,	 /* trampolines if they can be had, else traps */
	TRACE_ENGINE_TRAP,	 /* each hit exits */
	TRACE_ENGINE_TRAMPOLINE, /* it calls code placed in the guest; no exit */
};

/* What is done when the guest's kernel panics. */
enum trace_on_panic {
	TRACE_ON_PANIC_IGNORE,	 /* recording goes on */
	TRACE_ON_PANIC_STOP,	 /* it stops; of an attached guest the trace ends */
	TRACE_ON_PANIC_DUMP,	 /* the same, and the buffers are printed at once */
	TRACE_ON_PANIC_SNAPSHOT, /* a snapshot is taken, and recording goes on */
};

/* All that it points to outlives the trace. */
struct trace_config {
	const struct guestsym *gs;
	unsigned int vcpus;
	bool running; /* for trace_attach_running(): globs may name functions of modules */
	/* For trace_attach(): of the boot before, or NULL. It is trace_new()'s, on error, too. */
	struct trace_past *past;
	/* For trace_attach(): machine_info's; of a kernel that runs they are found out. */
	uint64_t kernel_slide, kernel_moved;
	const char *tracer; /* name in the table of tracers: "nop", "function" */
	const char *clock;  /* name in the table of clocks; NULL: the default, "global" */
	/* Globs as in set_ftrace_filter and set_ftrace_notrace; no filter means all functions. */
	const char *const *filter;
	size_t nr_filter;
	const char *const *notrace;
	size_t nr_notrace;
	uint64_t buffer_bytes; /* page data per vCPU */
	bool hurry;	       /* memory for them is had while they are filled, not before */
	const char *from;      /* do not record before this function is called; or NULL */
	const char *until;     /* stop recording when this function is called; or NULL */
	/*
	 * Where it has come to `until` by a trap, the guest stands there, by a pause that the owner
	 * ends, or the machine's end does.
	 */
	bool stand_at_until;
	/* function_graph: calls that take so long at least, and at most, ns; 0: any. */
	uint64_t min_ns, max_ns;
	uint64_t max_events;	 /* stop after so many; 0: no limit */
	const char *const *pids; /* of the tasks that are recorded; none means all */
	size_t nr_pids;
	enum trace_engine engine;
	enum trace_on_panic on_panic;
	bool ignore_switches;  /* the guest's own tracing_off() and tracing_on() change nothing */
	uint64_t window_bytes; /* guest memory that trampolines may take; 0: the default */
	bool control;	       /* it may be told other things to trace while it is under way */
	bool lossless;	       /* trampolines: the guest waits instead of losing records */
	/* One line about how the trace is done (no line end); may be NULL. Any thread. */
	void (*message)(void *arg, const char *text);
	void *message_arg;
	/* Whether attaching to a guest that runs is to be given up; asked now and then. May be NULL
	 */
	bool (*cancelled)(void *arg);
	void *cancelled_arg;
};

/* No guest is asked to lend more than what is for so many vCPUs: those of more get less each. */
#define TRACE_WINDOW_VCPUS	   8
#define TRACE_WINDOW_COUNTS(vcpus) ((vcpus) < TRACE_WINDOW_VCPUS ? (vcpus) : TRACE_WINDOW_VCPUS)
/* What trampolines take by default for so many vCPUs, bytes: at least. */
#define TRACE_WINDOW_DEFAULT(vcpus)                                                                \
	((UINT64_C(2) << 20) + (UINT64_C(4) << 20) * TRACE_WINDOW_COUNTS(vcpus))
/* The same of a guest with so much memory that it is no more than this part of it. */
#define TRACE_WINDOW_LARGE(vcpus) ((UINT64_C(2) << 20) + (UINT64_C(16) << 20) * (vcpus))
#define TRACE_WINDOW_SHARE	  16
/* For few functions. */
#define TRACE_WINDOW_FEW(vcpus) ((UINT64_C(2) << 20) * (TRACE_WINDOW_COUNTS(vcpus) + 1))
#define TRACE_WINDOW_MIN	(UINT64_C(2) << 20)
#define TRACE_WINDOW_MAX	(UINT64_C(128) << 20)

/* What the thread that collects asks for, setpriority(2): it has little to do, but in time. */
#define TRACE_NICE (-15)

/* Row i of the table of clocks, NULL past the last. */
const char *trace_clock_name(unsigned int i, const char **desc);

#endif
