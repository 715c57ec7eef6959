// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - the tables of options; see options.h. */
#include "tracer/output/options.h"

#include <string.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const struct output_option_row trace_rows[] = {
	{"print-parent", OUTPUT_PRINT_PARENT},
	{"sym-offset", OUTPUT_SYM_OFFSET},
	{"sym-addr", OUTPUT_SYM_ADDR},
	{"verbose", OUTPUT_VERBOSE},
	{"raw", OUTPUT_RAW},
	{"hex", OUTPUT_HEX},
	{"bin", OUTPUT_BIN},
	{"block", OUTPUT_BLOCK},
	{"trace_printk", OUTPUT_PRINTK},
	{"annotate", OUTPUT_ANNOTATE},
	{"userstacktrace", OUTPUT_USER_STACKTRACE},
	{"sym-userobj", OUTPUT_SYM_USEROBJ},
	{"printk-msg-only", OUTPUT_PRINTK_MSG_ONLY},
	{"context-info", OUTPUT_CONTEXT_INFO},
	{"latency-format", OUTPUT_LATENCY_FORMAT},
	{"record-cmd", OUTPUT_RECORD_CMD},
	{"record-tgid", OUTPUT_RECORD_TGID},
	{"overwrite", OUTPUT_OVERWRITE},
	{"disable_on_free", OUTPUT_DISABLE_ON_FREE},
	{"irq-info", OUTPUT_IRQ_INFO},
	{"markers", OUTPUT_MARKERS},
	{"event-fork", OUTPUT_EVENT_FORK},
	{"pause-on-trace", OUTPUT_PAUSE_ON_TRACE},
	{"hash-ptr", OUTPUT_HASH_PTR},
	{"function-trace", OUTPUT_FUNCTION_TRACE},
	{"function-fork", OUTPUT_FUNCTION_FORK},
	{"display-graph", OUTPUT_DISPLAY_GRAPH},
	{"stacktrace", OUTPUT_STACKTRACE},
};

static const struct output_option_row function_rows[] = {
	{"func_stack_trace", OUTPUT_FUNC_STACK_TRACE},
	{"func-no-repeats", OUTPUT_FUNC_NO_REPEATS},
};

static const struct output_option_row graph_rows[] = {
	{"funcgraph-overrun", OUTPUT_GRAPH_OVERRUN},   {"funcgraph-cpu", OUTPUT_GRAPH_CPU},
	{"funcgraph-overhead", OUTPUT_GRAPH_OVERHEAD}, {"funcgraph-proc", OUTPUT_GRAPH_PROC},
	{"funcgraph-duration", OUTPUT_GRAPH_DURATION}, {"funcgraph-abstime", OUTPUT_GRAPH_ABSTIME},
	{"funcgraph-irqs", OUTPUT_GRAPH_IRQS},	       {"funcgraph-tail", OUTPUT_GRAPH_TAIL},
	{"sleep-time", OUTPUT_GRAPH_SLEEP_TIME},       {"graph-time", OUTPUT_GRAPH_GRAPH_TIME},
};

static const struct output_option_row blk_rows[] = {
	{"blk_classic", OUTPUT_BLK_CLASSIC},
};

static const struct output_option_row nop_rows[] = {
	{"test_nop_accept", OUTPUT_NOP_ACCEPT},
	{"test_nop_refuse", OUTPUT_NOP_REFUSE},
};

const struct output_options output_trace_options = {
	.row = trace_rows,
	.nr = NR(trace_rows),
	.defaults = OUTPUT_DEFAULT,
};

static const struct output_option_row branch_rows[] = {
	{"branch", OUTPUT_BRANCH},
};

const struct output_options output_branch_options = {
	.row = branch_rows,
	.nr = NR(branch_rows),
};

/* A tracer with options adds its row; the last one is of all others. */
static const struct {
	const char *tracer;
	struct output_options options;
} tracer_options[] = {
	{"function", {function_rows, NR(function_rows), 0}},
	{"function_graph", {graph_rows, NR(graph_rows), OUTPUT_GRAPH_DEFAULT}},
	{"blk", {blk_rows, NR(blk_rows), 0}},
	{"nop", {nop_rows, NR(nop_rows), 0}},
	{NULL, {NULL, 0, 0}},
};

const struct output_options *output_tracer_options(const char *tracer)
{
	size_t i = 0;

	while (tracer_options[i].tracer && strcmp(tracer_options[i].tracer, tracer) != 0)
		i++;
	return &tracer_options[i].options;
}
