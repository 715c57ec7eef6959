/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - what files of tracefs do here: an instance, its buffers, and reading them. Part of
 * tracer.h.
 */
#ifndef HVTRACE_TRACER_INSTANCE_FILES_H
#define HVTRACE_TRACER_INSTANCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct guestsym_event_list;
struct instance;
struct text;
struct trace;

/* The top level. It needs no instance_put(). */
struct instance *trace_top(struct trace *t);
/* Hold the one of this name until instance_put(). NULL: there is none. */
struct instance *instance_get(struct trace *t, const char *name);
void instance_put(struct instance *i);
/* The name of instance n, from 0 on and without the top level, into name. False: no more. */
bool instance_name(struct trace *t, unsigned int n, char *name, size_t len);

/*
 * Those of the guest's kernel, read at the first call; the list stays as it is. -ENODATA: the
 * kernel does not tell, -ENODEV: there is no guest yet, or no more.
 */
int trace_events(struct trace *t, const struct guestsym_event_list **list);
/* How often the list has changed: read before the list by who keeps things by it. */
uint64_t trace_events_changes(struct trace *t);
/* Its file `enable`; by the index in the list. */
bool instance_event_is_on(struct instance *i, uint32_t event);
/* Triggers or commands may turn it on and off: the `*` behind that. */
bool instance_event_is_soft(struct instance *i, uint32_t event);

#define ALL_VCPUS (-1)

/* KB of one vCPU's buffer, as the kernel shows it. */
uint64_t instance_buffer_kb(struct instance *i, unsigned int vcpu);
/* All or none. -ENOMEM at once for what the host does not have. */
int instance_resize(struct instance *i, int vcpu, uint64_t kb);
/* buffer_percent: 0 to 100, else -EINVAL. */
unsigned int instance_buffer_percent(struct instance *i);
int instance_set_buffer_percent(struct instance *i, uint64_t percent);
/* The text of per_cpu/cpuN/stats. */
void instance_print_stats(struct instance *i, unsigned int vcpu, struct text *out);

/* An open trace or trace_pipe; trace: see output/reader.h. */
struct instance_reader;

struct instance_reader *instance_read_open(struct instance *i, int vcpu, bool pipe);
/* As ftrace_dump() has it: in the format of latencies. */
struct instance_reader *instance_dump_open(struct instance *i, int vcpu);
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
/* The same of a page that is not written to any more; -EAGAIN as well where there is but one that
 * is. */
int instance_read_full(struct instance *i, unsigned int vcpu, void *page, size_t len);

/*
 * The records themselves, consumed in the order of their times, as a trace_pipe of all vCPUs
 * consumes them. NULL: no memory.
 */
struct instance_taker;
struct ring_event;

struct instance_taker *instance_take_open(struct instance *i);
void instance_take_close(struct instance_taker *r); /* NULL is allowed */
/* 1 with the next one, whose data stays until the next call; 0: none now; -ENOMEM. */
int instance_take(struct instance_taker *r, struct ring_event *ev, unsigned int *vcpu);

/* Whether memory for a snapshot is allocated. */
bool instance_has_snapshot(struct instance *i);
/* It is the tracer's own, which keeps the trace of a latency there: there is none to be taken. */
bool instance_lends_snapshot(const struct instance *i);
int instance_snapshot_reserve(struct instance *i); /* allocate it if need be */
/* And swap it with the buffers, or one vCPU's with its buffer. -EBUSY: it is the tracer's. */
int instance_snapshot(struct instance *i, int vcpu);
void instance_snapshot_clear(struct instance *i, int vcpu);
int instance_snapshot_free(struct instance *i);
struct instance_reader *instance_snapshot_open(struct instance *i, int vcpu);
int instance_snapshot_read_raw(struct instance *i, unsigned int vcpu, void *page, size_t len);

#endif
