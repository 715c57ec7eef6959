/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched-records.h - what records of sched_switch, sched_wakeup and sched_wakeup_new say, for
 * tracers that work on these events: who ran, and who is to run.
 */
#ifndef HVTRACE_TRACER_TRACERS_SCHED_RECORDS_H
#define HVTRACE_TRACER_TRACERS_SCHED_RECORDS_H

#include "tracer/events/filter/data.h"
#include "tracer/guest/comms.h"
#include "tracer/ring/entry.h"
#include "vmm/machine.h"

/* For tracer_ops.events. */
extern const char *const sched_record_events[];
/* The same, and when tasks are moved to other vCPUs. */
extern const char *const sched_record_migrate_events[];

enum {
	SCHED_RECORD_SWITCH,
	SCHED_RECORD_WAKEUP,
	SCHED_RECORD_WAKEUP_NEW,
	SCHED_RECORD_MIGRATE,
	NR_SCHED_RECORDS,
};

#define SCHED_STACK_MAX 40

enum sched_record_kind { SCHED_SWITCHED, SCHED_WOKEN, SCHED_MOVED };

/* Of a wakeup: prev is who wakes up next. Of a move: next is moved to next_cpu, no more is known.
 */
struct sched_record {
	uint64_t ts;
	unsigned int vcpu; /* where it happened */
	enum sched_record_kind kind;
	struct trace_entry ent;
	int32_t prev_pid, next_pid;
	int32_t prev_prio, next_prio; /* the kernel's: 120 for nice 0, 99 and less for real time */
	uint8_t prev_state;	      /* an index into "RSDTtXZPI" */
	uint32_t next_cpu;
	char next_comm[COMM_LEN];
	/* Low halves of the addresses on its stack, innermost first; of those that want it. */
	uint32_t stack[SCHED_STACK_MAX];
	uint32_t nr_stack;
};

struct sched_fields {
	struct event_field prev_pid, prev_prio, prev_state, pid, prio, comm, cpu;
};

/* What each vCPU runs: records of wakeups do not say how urgent the one is who wakes up. */
struct sched_records {
	struct sched_fields fields[NR_SCHED_RECORDS];
	struct {
		bool known;
		int32_t pid, prio;
	} running[MACHINE_MAX_VCPUS];
};

/* events: where the list has the first n of the events above. -EOPNOTSUPP: they lack a field. */
int sched_records_init(struct sched_records *s, const struct guestsym_event_list *list,
		       const uint32_t *events, unsigned int n);
/* Nothing is known of what the vCPUs run. */
void sched_records_forget(struct sched_records *s);
/*
 * What the record of events[which] says. False: it makes no sense, or is of a wakeup by a task of
 * which nothing is known. Those of one vCPU are given in their order.
 */
bool sched_records_read(struct sched_records *s, unsigned int which, const struct event_data *data,
			struct sched_record *to);
/* Have the name of the task that is to run printed, if none is known. */
void sched_record_note_comm(const struct sched_record *r, struct comms *comms);
/* As TRACE_CTX or TRACE_WAKE has it. */
void sched_record_entry(const struct sched_record *r, struct trace_switch_entry *e);

#endif
