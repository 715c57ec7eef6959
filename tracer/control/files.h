/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - what files of tracefs do here: instances, tracers, options, filters, triggers, and
 * texts. Part of tracer.h.
 */
#ifndef HVTRACE_TRACER_CONTROL_FILES_H
#define HVTRACE_TRACER_CONTROL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error_log;
struct func_file;
struct func_filter;
struct instance;
struct output_options;
struct pid_filter;
struct text;
struct trace;

/* -EEXIST, -EINVAL (name), -ENOMEM. */
int instance_new(struct trace *t, const char *name);
/* -ENOENT; -EBUSY while someone holds it. */
int instance_remove(struct trace *t, const char *name);

unsigned int trace_vcpus(const struct trace *t);

const char *instance_tracer(struct instance *i);
int instance_set_tracer(struct instance *i, const char *name);
const char *instance_clock(struct instance *i);
int instance_set_clock(struct instance *i, const char *name); /* empties the buffers */
/* Empty the buffer of one vCPU or ALL_VCPUS, of what the guest has done by now as well. */
void instance_clear(struct instance *i, int vcpu);
/*
 * Whoever reads a file expects what the guest has done before: all of it is in the ring buffers,
 * and has set off what it was to set off. The caller holds no lock.
 */
void trace_catch_up(struct trace *t);

/* max_graph_depth; 0: no limit. */
unsigned int trace_graph_depth(struct trace *t);
void trace_set_graph_depth(struct trace *t, unsigned int depth);

uint64_t instance_max_latency(struct instance *i);
void instance_set_max_latency(struct instance *i, uint64_t ns);
/* Bit n: vCPU n is recorded. */
uint64_t instance_cpumask(struct instance *i);
int instance_set_cpumask(struct instance *i, uint64_t mask);

/* Flags of output/options.h: those of every trace, and those of the present tracer. */
const struct output_options *trace_option_rows(void);
/* Behind them those that only guests of some kernels have; of others none. */
const struct output_options *trace_branch_option_rows(const struct trace *t);
const struct output_options *tracer_option_rows(const char *tracer);
uint32_t instance_options(struct instance *i);
int instance_set_option(struct instance *i, uint32_t flag, bool on);
uint32_t instance_tracer_options(struct instance *i, const char *tracer);
int instance_set_tracer_option(struct instance *i, const char *tracer, uint32_t flag, bool on);

/* trigger, hist and hist_debug: one write, or -errno; an opening with O_TRUNC; what they read. */
ssize_t instance_write_event_trigger(struct instance *i, uint32_t event, const char *text,
				     size_t len);
void instance_truncate_event_triggers(struct instance *i, uint32_t event);
void instance_print_event_triggers(struct instance *i, uint32_t event, struct text *out);
void instance_print_event_hist(struct instance *i, uint32_t event, struct text *out);
void instance_print_event_hist_debug(struct instance *i, uint32_t event, struct text *out);
/* The same of ftrace:print, which instance_mark() makes. */
ssize_t instance_write_mark_trigger(struct instance *i, const char *text, size_t len);
void instance_truncate_mark_triggers(struct instance *i);
void instance_print_mark_triggers(struct instance *i, struct text *out);
void instance_print_mark_hist(struct instance *i, struct text *out);
void instance_print_mark_hist_debug(struct instance *i, struct text *out);

/* All or none; asks the guest, which may take a while. -EOPNOTSUPP: not in this guest. */
int instance_set_events(struct instance *i, const uint32_t *which, size_t n, bool on);
/*
 * The same as the files `enable` do it, of those that can be recorded at all: `which` has only
 * these afterwards. -EOPNOTSUPP also when there are none, with one line noted.
 */
int instance_turn_events(struct instance *i, uint32_t *which, size_t n, bool on);
/* What `enable` of an event reads, and of several: '0', '1', 'X' (some), '?' (there are none). */
void instance_print_event_enable(struct instance *i, uint32_t event, struct text *out);
char instance_events_enabled(struct instance *i, const uint32_t *which, size_t n);
/* One write(2) to set_event takes one word: bytes taken or -errno. */
ssize_t instance_write_set_event(struct instance *i, const char *text, size_t len);
/* It was opened for writing with O_TRUNC. */
int instance_clear_events(struct instance *i);
void instance_print_set_event(struct instance *i, struct text *out);
void trace_print_events(struct trace *t, struct text *out); /* available_events */
void trace_print_event_format(struct trace *t, uint32_t event, struct text *out);

/*
 * What was written (terminated) to `filter` of an event, or of a subsystem with these events; it
 * goes to error_log when it is wrong.
 */
int instance_set_event_filter(struct instance *i, uint32_t event, const char *text);
int instance_set_system_filter(struct instance *i, const uint32_t *which, size_t n,
			       const char *text);
void instance_print_event_filter(struct instance *i, uint32_t event, struct text *out);
void instance_print_system_filter(struct text *out);
/* set_event_pid, set_event_notrace_pid */
struct pid_filter *instance_event_pids(struct instance *i);

/* An entry into a function or a return from it, as function_graph records them. */
struct instance_call {
	uint64_t func;
	uint64_t ts; /* 0: its clock does not count nanoseconds */
	uint64_t ns; /* of a return: how long the call took */
	unsigned int cpu;
	int32_t pid;
	int depth;
	bool returns;
};

/*
 * Hand over what is in the buffers now, by time; it stays there, and the guest may be running.
 * -ENOMEM.
 */
int instance_each_call(struct instance *i, void (*fn)(void *arg, const struct instance_call *call),
		       void *arg);
/* Events that were overwritten before they were read, or found no room. */
uint64_t instance_lost(struct instance *i);
/* The time by its clock from which on none has been, of any vCPU. */
uint64_t instance_complete_since(struct instance *i);
/* The name of the function, or its address in hexadecimal: how long it is, cut to what fits. */
size_t trace_function_name(struct trace *t, uint64_t func, char *name, size_t len);
/* What the task is called: 16 bytes, terminated if there is room. */
void trace_task_name(struct trace *t, int32_t pid, char comm[16]);

/* What is written to trace_marker, and to trace_marker_raw (id first). */
int instance_mark(struct instance *i, const char *text, size_t len);
int instance_mark_raw(struct instance *i, const void *data, size_t len);
/*
 * What is written (terminated) to `inject` of an event: a record of it, as if vCPU 0 had made it,
 * whether or not it is on. 0 (also while nothing is recorded), or what is wrong:
 * events/filter/inject.h; -ENODEV: it is no more.
 */
int instance_inject(struct instance *i, uint32_t event, const char *text);

/* For filter/func-filter.h, filter/pid-filter.h, lib/error-log.h. They live as long as the
 * instance. */
struct func_filter *instance_functions(struct instance *i);
/*
 * func_file_write(), and func_file_close() of a file that was opened for writing, with the guest
 * held meanwhile; afterwards it is told of the events that commands are about.
 */
ssize_t instance_write_functions(struct instance *i, struct func_file *file, const char *text,
				 size_t len);
void instance_close_functions(struct instance *i, struct func_file *file);
struct pid_filter *instance_pids(struct instance *i);
struct error_log *instance_errors(struct instance *i);

/* The texts of files that only the top level has. */
void trace_print_functions(struct trace *t, bool addresses, struct text *out);
void trace_print_enabled(struct trace *t, struct text *out);
/* Functions that have or had a probe. The guest's kernel may be too old to have such a file. */
bool trace_has_touched(const struct trace *t);
void trace_print_touched(struct trace *t, struct text *out);
void trace_print_formats(struct trace *t, struct text *out);
void trace_print_total_info(struct trace *t, struct text *out);
void trace_print_cmdlines(struct trace *t, struct text *out);
/* The name of a task as those have it, "<...>" where they have none, for as much as there is. */
void trace_find_comm(struct trace *t, int32_t pid, char *comm, size_t size);
/* The guest's symbols as its /proc/kallsyms has them, modules' behind the kernel's. */
void trace_print_kallsyms(struct trace *t, struct text *out);
/* Another number than before: they may be others. */
uint64_t trace_kallsyms_changes(struct trace *t);
/* Command i of set_ftrace_filter, of triggers (what stands behind its name); NULL past the last. */
const char *trace_function_command(unsigned int i, const char **desc);
const char *trace_event_command(unsigned int i, const char **syntax, const char **desc);
void trace_print_tgids(struct trace *t, struct text *out);
/* What only we have: the guest and its kernel; what tracing it costs. */
void trace_print_guest(struct trace *t, struct text *out);
void trace_print_standstill(struct trace *t, struct text *out);
/* What trace_config.from waits for has come. */
bool trace_has_begun(const struct trace *t);
/* Whether recording has begun, and what it begins and ends with. */
void trace_print_status(struct trace *t, struct text *out);
void trace_print_overhead(struct trace *t, struct text *out);
unsigned int trace_cmdlines_size(struct trace *t);
int trace_set_cmdlines_size(struct trace *t, unsigned int n);

/* ftrace_dump_on_oops (/proc/sys/kernel has it in a guest): as long as 6.12 takes it. */
#define DUMP_ON_OOPS_MAX 100
void trace_dump_on_oops(struct trace *t, char value[DUMP_ON_OOPS_MAX]);
/* 0, or -EINVAL: it is empty, or too long. */
int trace_set_dump_on_oops(struct trace *t, const char *value);

#endif
