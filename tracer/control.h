/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - a trace under way, as the files of tracefs show and change it. Part of the door:
 * tracer.h includes it.
 *
 * A trace has instances: the top level, which is always there, and those made later. Each has its
 * own ring buffers, tracer, filters and options. Any thread may call; what changes probes pauses
 * the guest for it. Functions that return int give 0 or the negative errno that the kernel's file
 * would give.
 */
#ifndef HVTRACE_TRACER_CONTROL_H
#define HVTRACE_TRACER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace;
struct instance;
struct func_file;
struct func_filter;
struct output_options;
struct text;

/* --- instances ------------------------------------------------------------------------------- */

/* The top level. It needs no instance_put(). */
struct instance *trace_top(struct trace *t);
/* -EEXIST, -EINVAL (name), -ENOMEM. */
int instance_new(struct trace *t, const char *name);
/* -ENOENT; -EBUSY while someone holds it. */
int instance_remove(struct trace *t, const char *name);
/* Hold the one of this name until instance_put(). NULL: there is none. */
struct instance *instance_get(struct trace *t, const char *name);
void instance_put(struct instance *i);
/* The name of instance n, from 0 on and without the top level, into name. False: no more. */
bool instance_name(struct trace *t, unsigned int n, char *name, size_t len);

unsigned int trace_vcpus(const struct trace *t);

/* Hold the guest, and keep others from changing what is patched. */
void trace_change_begin(struct trace *t);
void trace_change_end(struct trace *t);

/* --- recording ------------------------------------------------------------------------------- */

const char *instance_tracer(struct instance *i);
int instance_set_tracer(struct instance *i, const char *name);
const char *instance_clock(struct instance *i);
int instance_set_clock(struct instance *i, const char *name); /* empties the buffers */
bool instance_is_on(struct instance *i);
void instance_set_on(struct instance *i, bool on);
/*
 * Whoever reads a file expects what the guest has done before: all of it is in the ring buffers,
 * and has set off what it was to set off. The caller holds no lock.
 */
void trace_catch_up(struct trace *t);
/* tracing_thresh, and tracing_max_latency: ns. */
uint64_t trace_thresh(struct trace *t);
void trace_set_thresh(struct trace *t, uint64_t ns);
/*
 * function_profile_enabled. -EBUSY while function_graph is the tracer, -EOPNOTSUPP as for that. On:
 * counting starts anew.
 */
bool trace_profiles(struct trace *t);
int trace_set_profile(struct trace *t, bool on);
/* trace_stat/functionN */
void trace_print_profile(struct trace *t, unsigned int vcpu, struct text *out);
/*
 * hvtrace/latency_enabled, and hvtrace/latency: all windows that the tracer of latencies finds are
 * counted, by where they began and ended. On: counting starts anew, as with another such tracer.
 */
bool trace_keeps_latencies(struct trace *t);
int trace_keep_latencies(struct trace *t, bool on);
void trace_print_latencies(struct trace *t, struct text *out);
/*
 * The stack tracer: stack_tracer_enabled (as it was written; -EOPNOTSUPP: the kernel does not tell
 * where its stacks are), stack_max_size, stack_trace, and stack_trace_filter, whose FUNC_FILTER it
 * is.
 */
int trace_stack_tracer(struct trace *t);
int trace_set_stack_tracer(struct trace *t, int value);
uint64_t trace_stack_max_size(struct trace *t);
void trace_set_stack_max_size(struct trace *t, uint64_t size);
void trace_print_stack(struct trace *t, struct text *out);
struct func_filter *trace_stack_functions(struct trace *t);
/* max_graph_depth; 0: no limit. */
unsigned int trace_graph_depth(struct trace *t);
void trace_set_graph_depth(struct trace *t, unsigned int depth);
/* hwlat_detector/: width and window, -EINVAL when a width would be more than its window; mode. */
enum hwlat_time { HWLAT_WIDTH, HWLAT_WINDOW };
enum hwlat_mode { HWLAT_NONE, HWLAT_ROUND_ROBIN, HWLAT_PER_CPU, NR_HWLAT_MODES };

uint64_t trace_hwlat_us(struct trace *t, enum hwlat_time which);
int trace_set_hwlat_us(struct trace *t, enum hwlat_time which, uint64_t us);
enum hwlat_mode trace_hwlat_mode(struct trace *t);
void trace_set_hwlat_mode(struct trace *t, enum hwlat_mode mode);
uint64_t instance_max_latency(struct instance *i);
void instance_set_max_latency(struct instance *i, uint64_t ns);
/* Bit n: vCPU n is recorded. */
uint64_t instance_cpumask(struct instance *i);
int instance_set_cpumask(struct instance *i, uint64_t mask);

/* Flags of output/options.h: those of every trace, and those of the present tracer. */
const struct output_options *trace_option_rows(void);
const struct output_options *tracer_option_rows(const char *tracer);
uint32_t instance_options(struct instance *i);
int instance_set_option(struct instance *i, uint32_t flag, bool on);
uint32_t instance_tracer_options(struct instance *i, const char *tracer);
int instance_set_tracer_option(struct instance *i, const char *tracer, uint32_t flag, bool on);

/* --- trace events ---------------------------------------------------------------------------- */

struct guestsym_event_list;

/*
 * Those of the guest's kernel, read at the first call; the list stays as it is. -ENODATA: the
 * kernel does not tell, -ENODEV: there is no guest yet, or no more.
 */
int trace_events(struct trace *t, const struct guestsym_event_list **list);
/* Its file `enable`; by the index in the list. */
bool instance_event_is_on(struct instance *i, uint32_t event);
/* Triggers or commands may turn it on and off: the `*` behind that. */
bool instance_event_is_soft(struct instance *i, uint32_t event);
/* trigger and hist: one write, or -errno; an opening with O_TRUNC; what they read. */
ssize_t instance_write_event_trigger(struct instance *i, uint32_t event, const char *text,
				     size_t len);
void instance_truncate_event_triggers(struct instance *i, uint32_t event);
void instance_print_event_triggers(struct instance *i, uint32_t event, struct text *out);
void instance_print_event_hist(struct instance *i, uint32_t event, struct text *out);
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

/*
 * kprobe_events: what is written may be several lines, of which those before one that is wrong are
 * done. And kprobe_profile. -EBUSY: an event is on.
 */
ssize_t trace_write_kprobe_events(struct trace *t, const char *text, size_t len);
int trace_clear_kprobe_events(struct trace *t);
void trace_print_kprobe_events(struct trace *t, struct text *out);
void trace_print_kprobe_profile(struct trace *t, struct text *out);
/* synthetic_events, likewise. -EBUSY: an event is on, or actions write records of it. */
ssize_t trace_write_synthetic_events(struct trace *t, const char *text, size_t len);
int trace_clear_synthetic_events(struct trace *t);
void trace_print_synthetic_events(struct trace *t, struct text *out);
/* dynamic_events: both of these, in the order in which they were defined. */
ssize_t trace_write_dynamic_events(struct trace *t, const char *text, size_t len);
int trace_clear_dynamic_events(struct trace *t);
void trace_print_dynamic_events(struct trace *t, struct text *out);

/* --- buffers --------------------------------------------------------------------------------- */

#define ALL_VCPUS (-1)

/* KB of one vCPU's buffer, as the kernel shows it. */
uint64_t instance_buffer_kb(struct instance *i, unsigned int vcpu);
/* All or none. -ENOMEM at once for what the host does not have. */
int instance_resize(struct instance *i, int vcpu, uint64_t kb);
/* buffer_percent: 0 to 100, else -EINVAL. */
unsigned int instance_buffer_percent(struct instance *i);
int instance_set_buffer_percent(struct instance *i, uint64_t percent);
/* Empty the buffers. */
void instance_clear(struct instance *i, int vcpu);
/* The text of per_cpu/cpuN/stats. */
void instance_print_stats(struct instance *i, unsigned int vcpu, struct text *out);

/* An open trace or trace_pipe; trace: see output/reader.h. */
struct instance_reader;

struct instance_reader *instance_read_open(struct instance *i, int vcpu, bool pipe);
void instance_read_close(struct instance_reader *r);
/*
 * trace: up to len bytes at file offset off. Readers mostly go forward; going back reads anew.
 * pipe: off does not matter; 0: nothing now.
 */
ssize_t instance_read(struct instance_reader *r, void *buf, size_t len, off_t off);
/* There is something for a pipe to read. */
bool instance_has_events(struct instance *i, int vcpu);
/* Wait for it, at most timeout_ms. The same as above, afterwards. */
bool instance_wait(struct instance *i, int vcpu, int timeout_ms);
/*
 * As poll(2) waits: one vCPU's buffer is to be filled to buffer_percent, for all vCPUs any event
 * will do.
 */
bool instance_wait_full(struct instance *i, int vcpu, int timeout_ms);
/* One page as per_cpu/cpuN/trace_pipe_raw gives it: bytes, -EAGAIN, -EINVAL (len). */
int instance_read_raw(struct instance *i, unsigned int vcpu, void *page, size_t len);

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

/* Whether memory for a snapshot is allocated. */
bool instance_has_snapshot(struct instance *i);
int instance_snapshot_reserve(struct instance *i);   /* allocate it if need be */
int instance_snapshot(struct instance *i, int vcpu); /* and swap it with the buffers */
void instance_snapshot_clear(struct instance *i, int vcpu);
int instance_snapshot_free(struct instance *i);
struct instance_reader *instance_snapshot_open(struct instance *i, int vcpu);
int instance_snapshot_read_raw(struct instance *i, unsigned int vcpu, void *page, size_t len);

/* What is written to trace_marker, and to trace_marker_raw (id first). */
int instance_mark(struct instance *i, const char *text, size_t len);
int instance_mark_raw(struct instance *i, const void *data, size_t len);

/* --- functions ------------------------------------------------------------------------------- */

struct pid_filter;
struct error_log;

/* For filter/func-filter.h, filter/pid-filter.h, lib/error-log.h. They live as long as the instance. */
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
void trace_print_tgids(struct trace *t, struct text *out);
/* What only we have: the guest and its kernel; what tracing it costs. */
void trace_print_guest(struct trace *t, struct text *out);
void trace_print_overhead(struct trace *t, struct text *out);
unsigned int trace_cmdlines_size(struct trace *t);
int trace_set_cmdlines_size(struct trace *t, unsigned int n);

#endif
