// SPDX-License-Identifier: GPL-2.0-or-later
/* call-log.c - see call-log.h */
#include "tracer/graph/call-log.h"

#include <stdlib.h>

struct call_log {
	size_t room; /* of each vCPU */
	unsigned int vcpus;
	struct logged_call *v;
	/* Of each: the number of the oldest one that counts, and of the one to come. */
	struct {
		uint64_t first, next;
	} at[];
};

struct call_log *call_log_new(unsigned int vcpus, size_t nr)
{
	struct call_log *log = calloc(1, sizeof(*log) + vcpus * sizeof(log->at[0]));

	if (!log)
		return NULL;
	log->room = nr;
	log->vcpus = vcpus;
	log->v = calloc(vcpus * nr, sizeof(*log->v));
	if (log->v)
		return log;
	free(log);
	return NULL;
}

void call_log_free(struct call_log *log)
{
	if (log)
		free(log->v);
	free(log);
}

static struct logged_call *slot(const struct call_log *log, unsigned int vcpu, uint64_t number)
{
	return &log->v[vcpu * log->room + number % log->room];
}

void call_log_add(struct call_log *log, unsigned int vcpu, const struct payload_record *r,
		  uint64_t ts)
{
	*slot(log, vcpu, log->at[vcpu].next++) = (struct logged_call){.ts = ts, .r = *r};
	if (log->at[vcpu].next - log->at[vcpu].first > log->room)
		log->at[vcpu].first++;
}

void call_log_clear(struct call_log *log, unsigned int vcpu)
{
	log->at[vcpu].first = log->at[vcpu].next;
}

/* From the end, since windows are looked at soon after they were. */
struct call_log_place call_log_since(const struct call_log *log, unsigned int vcpu, uint64_t from)
{
	uint64_t n = log->at[vcpu].next;

	while (n != log->at[vcpu].first && slot(log, vcpu, n - 1)->ts >= from)
		n--;
	return (struct call_log_place){.vcpu = vcpu, .next = n};
}

const struct logged_call *call_log_next(const struct call_log *log, struct call_log_place *at)
{
	return at->next == log->at[at->vcpu].next ? NULL : slot(log, at->vcpu, at->next++);
}
