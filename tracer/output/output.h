/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - events as text, byte for byte as the kernel's trace and trace_pipe files (6.1).
 *
 * Nothing here knows a machine: names come from struct output_config. Unlike the kernel's, a line
 * may be longer than a page: there is no "[LINE TOO BIG]".
 */
#ifndef HVTRACE_TRACER_OUTPUT_OUTPUT_H
#define HVTRACE_TRACER_OUTPUT_OUTPUT_H

#include "tracer/guest/comms.h"
#include "tracer/guest/modules.h"
#include "tracer/lib/text.h"
#include "tracer/output/fmt/print.h"
#include "tracer/output/options.h"
#include "tracer/ring/ring.h"

#define OUTPUT_FILE_MAX 4096 /* of a path, and its end */

/* The symbol that an address is in. */
struct output_symbol {
	const char *name;
	const char *module; /* NULL: the kernel itself */
	uint64_t off, size; /* distance from its start; its size */
	/* A module may go at any time: the names of those and of their symbols point in here. */
	struct module_symbol copy;
};

/* The longest latency of a tracer that looks for it, for the header of latency-format. */
struct output_latency {
	uint64_t ns;
	unsigned int cpu;
	char comm[COMM_LEN];
	int32_t pid, nice;
	uint32_t uid, policy, rt_priority;
	uint64_t started, ended; /* addresses; 0: it has no such places */
};

/* What the guest makes of pointers that it prints as %p. */
enum output_hash {
	OUTPUT_HASH_NONE,  /* it prints them as they are, or its key is not known */
	OUTPUT_HASH_EARLY, /* nothing: it has no key yet */
	OUTPUT_HASH_KEY,
};

/* All that it points to outlives the output. */
struct output_config {
	uint32_t options;	/* enum output_option */
	uint32_t graph_options; /* enum output_graph_option, for entries of graphs of calls */
	uint32_t blk_options;	/* enum output_blk_option, while the tracer is blk */
	const char *tracer;	/* "function" */
	bool graph; /* entries are printed as a graph of calls; of function_graph they always are */
	const char *release; /* of the kernel */
	/* As latency-format names it: "server", "desktop", "preempt", "preempt_rt"; NULL when it is
	 * not known. */
	const char *preempt_model;
	/* What stands below the tracer's name when there is nothing to print (the snapshot file's
	 * help). NULL: the same as otherwise. */
	const char *help;
	/* "PCIDEV ...\n" lines that a trace_pipe of mmiotrace begins with, which need not outlive
	 * its opening; NULL: none */
	const char *pci_devices;
	unsigned int cpus;
	bool ns;	     /* times are nanoseconds; otherwise bare counts */
	uint64_t time_start; /* latency-format: times are printed since this one */
	struct output_latency latency;
	/* Where the functions are that interrupts enter; both 0: not known. */
	uint64_t irqentry_start, irqentry_end;
	uint64_t kretprobe; /* address that kretprobes make functions return to; 0: there is none */
	struct comms *comms;
	/* The trace events that are known. NULL: none. */
	struct event_printer *events;

	/* Whoever prints calls these, with arg. */
	void *arg;
	/* As the kernel's kallsyms_lookup(); false when addr is in no symbol. */
	bool (*symbol)(void *arg, uint64_t addr, struct output_symbol *sym);
	/*
	 * A number that changes when symbols do (modules that come and go). NULL: they never do.
	 */
	uint64_t (*symbols_version)(void *arg);
	/*
	 * A string of the kernel's: trace_puts(), trace_printk() and events record its address. It
	 * lasts until the next call; NULL when it cannot be read. May be NULL: none can.
	 */
	const char *(*string)(void *arg, uint64_t addr);
	/* May be NULL: OUTPUT_HASH_NONE. The key is that of the guest's lib/vsprintf.c. */
	enum output_hash (*pointer_key)(void *arg, uint64_t key[2]);
	/*
	 * The file that process tgid has mapped where ip is, and where that mapping starts. False:
	 * nothing is mapped there, or it is not a file, or the process has gone. May be NULL.
	 */
	bool (*user_object)(void *arg, uint32_t tgid, uint64_t ip, char file[OUTPUT_FILE_MAX],
			    uint64_t *start);
};

struct symbol_cache;
struct output_graph;

/* One reading of a trace from its beginning. */
struct output {
	struct output_config cfg;
	struct text *text;	      /* where everything goes */
	uint64_t index;		      /* events printed */
	uint64_t started;	      /* CPUs (below 64) of which an event was printed */
	bool overrun;		      /* events were lost before the beginning */
	struct symbol_cache *symbols; /* NULL: there was no memory for it */
	uint64_t symbols_version;
	enum output_hash hash; /* with a key: what pointer_key() said */
	uint64_t hash_key[2];
	uint32_t options;	    /* cfg.options, with latency-format as it is now */
	bool is_graph;		    /* a graph of calls */
	bool is_blk;		    /* the tracer is blk */
	bool is_mmio;		    /* it is mmiotrace */
	bool is_hw_branch;	    /* it is hw-branch-tracer */
	bool is_branch;		    /* it is branch */
	struct output_graph *graph; /* of that; NULL: there was no memory for it */
	/* Of the event that is being printed. */
	unsigned int cpu;
	const struct ring_event *ret; /* the return of a leaf */
};

/* To be ended by output_exit(). */
void output_init(struct output *o, const struct output_config *cfg, struct text *text);
void output_exit(struct output *o);
/*
 * Other options from now on. As in the kernel, latency-format stays what it was at the beginning,
 * but for graphs.
 */
void output_set_options(struct output *o, uint32_t options, uint32_t graph_options,
			uint32_t blk_options);
/* Look whether symbols have changed; to be called now and then. */
void output_check_symbols(struct output *o);

/*
 * What a trace file begins with: entries are in the buffers, written is these and the overrun ones;
 * nothing of them will be printed when it is empty. trace_pipe has no header, and no "buffer
 * started" lines.
 */
void output_header(struct output *o, uint64_t entries, uint64_t written, bool empty);

/* What a trace_pipe of the tracer mmiotrace begins with; devices: output_config.pci_devices. */
void output_mmio_begin(struct output *o, const char *devices);
/* That it has lost so many events, somewhere before what is printed next. */
void output_mmio_lost(struct output *o, uint64_t lost);

/*
 * One event, after a line about lost ones. next_ts is the time of the event that will follow, the
 * event's own when there is none; only latency-format prints it.
 */
void output_event(struct output *o, unsigned int cpu, const struct ring_event *ev,
		  uint64_t next_ts);

/*
 * Whether ev is an entry into a function that calls none: then ret, the event behind it in the
 * same ring, is its return, and both are printed as one, by output_leaf(). Unlike the kernel's, a
 * leaf has lost nothing in between.
 */
bool output_is_leaf(const struct output *o, const struct ring_event *ev,
		    const struct ring_event *ret);
void output_leaf(struct output *o, unsigned int cpu, const struct ring_event *ev,
		 const struct ring_event *ret, uint64_t next_ts);
/* Whether output_is_leaf() may say so of ev, whatever is behind it. */
bool output_may_be_leaf(const struct output *o, const struct ring_event *ev);

/*
 * "7.326 us    ", "28002.27 us ": seven digits, of which at most three are nanoseconds, or as many
 * as there are microseconds (trace_print_graph_duration). 24 characters at most.
 */
char *output_put_usecs(char *at, uint64_t ns);

#endif
