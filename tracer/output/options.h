/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the options of a trace: what trace_options and options/ hold.
 *
 * The flags are the kernel's own bits, in the order in which trace_options lists them
 * (enum trace_iterator_flags in kernel/trace/trace.h, 6.1). Some change how events are printed,
 * others what is recorded.
 */
#ifndef HVTRACE_TRACER_OUTPUT_OPTIONS_H
#define HVTRACE_TRACER_OUTPUT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum output_option {
	OUTPUT_PRINT_PARENT = 1 << 0,
	OUTPUT_SYM_OFFSET = 1 << 1,
	OUTPUT_SYM_ADDR = 1 << 2,
	OUTPUT_VERBOSE = 1 << 3,
	OUTPUT_RAW = 1 << 4,
	OUTPUT_HEX = 1 << 5,
	OUTPUT_BIN = 1 << 6,
	OUTPUT_BLOCK = 1 << 7,
	OUTPUT_PRINTK = 1 << 8,
	OUTPUT_ANNOTATE = 1 << 9,
	OUTPUT_USER_STACKTRACE = 1 << 10,
	OUTPUT_SYM_USEROBJ = 1 << 11,
	OUTPUT_PRINTK_MSG_ONLY = 1 << 12,
	OUTPUT_CONTEXT_INFO = 1 << 13,
	OUTPUT_LATENCY_FORMAT = 1 << 14,
	OUTPUT_RECORD_CMD = 1 << 15,
	OUTPUT_RECORD_TGID = 1 << 16,
	OUTPUT_OVERWRITE = 1 << 17,
	OUTPUT_DISABLE_ON_FREE = 1 << 18,
	OUTPUT_IRQ_INFO = 1 << 19,
	OUTPUT_MARKERS = 1 << 20,
	OUTPUT_EVENT_FORK = 1 << 21,
	OUTPUT_PAUSE_ON_TRACE = 1 << 22,
	OUTPUT_HASH_PTR = 1 << 23,
	OUTPUT_FUNCTION_TRACE = 1 << 24,
	OUTPUT_FUNCTION_FORK = 1 << 25,
	OUTPUT_DISPLAY_GRAPH = 1 << 26,
	OUTPUT_STACKTRACE = 1 << 27,
	OUTPUT_BRANCH = 1 << 28,
};

#define OUTPUT_DEFAULT                                                                             \
	(OUTPUT_PRINT_PARENT | OUTPUT_PRINTK | OUTPUT_ANNOTATE | OUTPUT_CONTEXT_INFO |             \
	 OUTPUT_RECORD_CMD | OUTPUT_OVERWRITE | OUTPUT_IRQ_INFO | OUTPUT_MARKERS |                 \
	 OUTPUT_HASH_PTR | OUTPUT_FUNCTION_TRACE)

/* Instances have no file in options/ for these. */
#define OUTPUT_TOP_LEVEL (OUTPUT_PRINTK | OUTPUT_PRINTK_MSG_ONLY | OUTPUT_RECORD_CMD)
/* A new instance starts with the options of the top level, but without these. */
#define OUTPUT_NOT_INHERITED (OUTPUT_EVENT_FORK | OUTPUT_FUNCTION_FORK | OUTPUT_BRANCH)

/* The function tracer's own. */
enum output_function_option {
	OUTPUT_FUNC_STACK_TRACE = 1 << 0,
	OUTPUT_FUNC_NO_REPEATS = 1 << 1,
};

/* The function_graph tracer's own (TRACE_GRAPH_* of kernel/trace/trace.h). */
enum output_graph_option {
	OUTPUT_GRAPH_OVERRUN = 1 << 0,
	OUTPUT_GRAPH_CPU = 1 << 1,
	OUTPUT_GRAPH_OVERHEAD = 1 << 2,
	OUTPUT_GRAPH_PROC = 1 << 3,
	OUTPUT_GRAPH_DURATION = 1 << 4,
	OUTPUT_GRAPH_ABSTIME = 1 << 5,
	OUTPUT_GRAPH_RELTIME = 1 << 6, /* no option: of the tracers of latencies */
	/* Off: functions that hard interrupts call are neither recorded nor printed. */
	OUTPUT_GRAPH_IRQS = 1 << 7,
	OUTPUT_GRAPH_TAIL = 1 << 8,
	/*
	 * Off: the time that a task is scheduled out does not count for what it is in. Whoever
	 * records a switch to a task adds the time since it was switched from to calltime of all
	 * its open calls.
	 */
	OUTPUT_GRAPH_SLEEP_TIME = 1 << 9,
	/*
	 * For the function profiler. Off: what a function calls does not count for it. Durations
	 * of the graph are the same.
	 */
	OUTPUT_GRAPH_GRAPH_TIME = 1 << 10,
};

#define OUTPUT_GRAPH_DEFAULT                                                                       \
	(OUTPUT_GRAPH_CPU | OUTPUT_GRAPH_OVERHEAD | OUTPUT_GRAPH_DURATION | OUTPUT_GRAPH_IRQS |    \
	 OUTPUT_GRAPH_SLEEP_TIME | OUTPUT_GRAPH_GRAPH_TIME)

/* The blk tracer's own. */
enum output_blk_option {
	OUTPUT_BLK_CLASSIC = 1 << 0, /* lines as blkparse has them */
};

/* The nop tracer's own: it takes one and refuses the other, for those who try out trace_options. */
enum output_nop_option {
	OUTPUT_NOP_ACCEPT = 1 << 0,
	OUTPUT_NOP_REFUSE = 1 << 1,
};

/* One flag; "noNAME" in trace_options when it is off. */
struct output_option_row {
	const char *name;
	uint32_t flag;
};

struct output_options {
	const struct output_option_row *row; /* in the order of trace_options */
	size_t nr;
	uint32_t defaults;
};

/* Those of every trace. */
extern const struct output_options output_trace_options;
/* Behind them those of a guest whose kernel tells how its likely() and unlikely() come out. */
extern const struct output_options output_branch_options;
/* Those that a tracer adds; of a tracer without any, none. */
const struct output_options *output_tracer_options(const char *tracer);

#endif
