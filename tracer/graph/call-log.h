/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call-log.h - the latest calls and returns of each vCPU, as they were recorded. Which of them are
 * within the window of a latency is known only when that is over.
 */
#ifndef HVTRACE_TRACER_GRAPH_CALL_LOG_H
#define HVTRACE_TRACER_GRAPH_CALL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/payload/payload.h"

struct call_log;

struct logged_call {
	uint64_t ts; /* by the clock of whoever logs */
	struct payload_record r;
};

/* Of each vCPU the latest nr are kept. NULL: no memory. */
struct call_log *call_log_new(unsigned int vcpus, size_t nr);
void call_log_free(struct call_log *log); /* NULL is allowed */

/* A vCPU's next one. One thread at a time works on a vCPU's, here and below. */
void call_log_add(struct call_log *log, unsigned int vcpu, const struct payload_record *r,
		  uint64_t ts);
/* What there is of a vCPU does not go together with what is to come. */
void call_log_clear(struct call_log *log, unsigned int vcpu);

/* Where a vCPU's calls since `from` begin. */
struct call_log_place {
	unsigned int vcpu;
	uint64_t next;
};

struct call_log_place call_log_since(const struct call_log *log, unsigned int vcpu, uint64_t from);
/* The next one in their order, until one is added; NULL: that was the last. */
const struct logged_call *call_log_next(const struct call_log *log, struct call_log_place *at);

#endif
