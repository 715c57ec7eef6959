// SPDX-License-Identifier: GPL-2.0-or-later
/* sched-records.c - see sched-records.h */
#include "tracer/tracers/sched-records.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

const char *const sched_record_events[] = {
	[SCHED_RECORD_SWITCH] = "sched:sched_switch",
	[SCHED_RECORD_WAKEUP] = "sched:sched_wakeup",
	[SCHED_RECORD_WAKEUP_NEW] = "sched:sched_wakeup_new",
	NULL,
};

const char *const sched_record_migrate_events[] = {
	[SCHED_RECORD_SWITCH] = "sched:sched_switch",
	[SCHED_RECORD_WAKEUP] = "sched:sched_wakeup",
	[SCHED_RECORD_WAKEUP_NEW] = "sched:sched_wakeup_new",
	[SCHED_RECORD_MIGRATE] = "sched:sched_migrate_task",
	NULL,
};

#define IDLE_PRIO 120 /* of swapper */

/* TASK_REPORT (include/linux/sched.h) and TASK_REPORT_IDLE; what is above says: preempted. */
#define STATE_MASK 0xff

static bool find(const struct event_format *format, const char *name, struct event_field *to)
{
	*to = event_field_find(format, name, strlen(name));
	return to->source != EVENT_FIELD_NONE;
}

static bool find_switch(const struct event_format *format, struct sched_fields *f)
{
	return find(format, "prev_pid", &f->prev_pid) && find(format, "prev_prio", &f->prev_prio) &&
	       find(format, "prev_state", &f->prev_state) && find(format, "next_pid", &f->pid) &&
	       find(format, "next_prio", &f->prio) && find(format, "next_comm", &f->comm);
}

static bool find_wakeup(const struct event_format *format, struct sched_fields *f)
{
	return find(format, "pid", &f->pid) && find(format, "prio", &f->prio) &&
	       find(format, "comm", &f->comm) && find(format, "target_cpu", &f->cpu);
}

static bool find_migrate(const struct event_format *format, struct sched_fields *f)
{
	return find(format, "pid", &f->pid) && find(format, "prio", &f->prio) &&
	       find(format, "comm", &f->comm) && find(format, "dest_cpu", &f->cpu);
}

static bool (*const finders[])(const struct event_format *, struct sched_fields *) = {
	[SCHED_RECORD_SWITCH] = find_switch,
	[SCHED_RECORD_WAKEUP] = find_wakeup,
	[SCHED_RECORD_WAKEUP_NEW] = find_wakeup,
	[SCHED_RECORD_MIGRATE] = find_migrate,
};

int sched_records_init(struct sched_records *s, const struct guestsym_event_list *list,
		       const uint32_t *events, unsigned int n)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int k = 0; k < n; k++) {
		const struct event_format format = {&list->v[events[k]], list->common,
						    list->nr_common};

		if (!finders[k](&format, &s->fields[k]))
			return -EOPNOTSUPP;
	}
	return 0;
}

void sched_records_forget(struct sched_records *s)
{
	memset(s->running, 0, sizeof(s->running));
}

static bool read_int(const struct event_field *f, const struct event_data *data, int32_t *to)
{
	uint64_t value;

	if (!event_field_number(f, data, &value))
		return false;
	*to = (int32_t)value;
	return true;
}

static bool read_switch(struct sched_records *s, const struct sched_fields *f,
			const struct event_data *data, struct sched_record *to)
{
	uint64_t state;

	if (!read_int(&f->prev_pid, data, &to->prev_pid) ||
	    !read_int(&f->prev_prio, data, &to->prev_prio) ||
	    !event_field_number(&f->prev_state, data, &state))
		return false;
	to->prev_state = (uint8_t)ffs((int)(state & STATE_MASK));
	to->next_cpu = data->cpu;
	s->running[data->cpu].known = true;
	s->running[data->cpu].pid = to->next_pid;
	s->running[data->cpu].prio = to->next_prio;
	return true;
}

/* Records of switches may have been lost: then another task is there than was switched to. */
static bool read_wakeup(const struct sched_records *s, const struct sched_fields *f,
			const struct event_data *data, struct sched_record *to)
{
	uint64_t cpu;

	if (!event_field_number(&f->cpu, data, &cpu))
		return false;
	to->next_cpu = (uint32_t)cpu;
	to->prev_pid = to->ent.pid;
	to->prev_prio = IDLE_PRIO;
	if (!to->prev_pid)
		return true;
	to->prev_prio = s->running[data->cpu].prio;
	return s->running[data->cpu].known && s->running[data->cpu].pid == to->prev_pid;
}

static bool read_migrate(const struct sched_fields *f, const struct event_data *data,
			 struct sched_record *to)
{
	uint64_t cpu;

	if (!event_field_number(&f->cpu, data, &cpu))
		return false;
	to->next_cpu = (uint32_t)cpu;
	return true;
}

static enum sched_record_kind kind_of(unsigned int which)
{
	if (which == SCHED_RECORD_SWITCH)
		return SCHED_SWITCHED;
	return which == SCHED_RECORD_MIGRATE ? SCHED_MOVED : SCHED_WOKEN;
}

bool sched_records_read(struct sched_records *s, unsigned int which, const struct event_data *data,
			struct sched_record *to)
{
	const struct sched_fields *f = &s->fields[which];

	memset(to, 0, sizeof(*to));
	if (data->cpu >= MACHINE_MAX_VCPUS || data->len < sizeof(to->ent))
		return false;
	to->ts = data->time;
	to->vcpu = data->cpu;
	to->kind = kind_of(which);
	memcpy(&to->ent, data->record, sizeof(to->ent));
	if (!read_int(&f->pid, data, &to->next_pid) || !read_int(&f->prio, data, &to->next_prio) ||
	    !event_field_string(&f->comm, data, false, to->next_comm, sizeof(to->next_comm)))
		return false;
	switch (to->kind) {
	case SCHED_SWITCHED:
		return read_switch(s, f, data, to);
	case SCHED_MOVED:
		return read_migrate(f, data, to);
	default:
		return read_wakeup(s, f, data, to);
	}
}

void sched_record_note_comm(const struct sched_record *r, struct comms *comms)
{
	char comm[COMM_LEN];

	comms_find(comms, r->next_pid, comm);
	if (!strcmp(comm, "<...>"))
		comms_note(comms, r->next_pid, 0, r->next_comm);
}

void sched_record_entry(const struct sched_record *r, struct trace_switch_entry *e)
{
	*e = (struct trace_switch_entry){
		.ent = r->ent,
		.prev_pid = (uint32_t)r->prev_pid,
		.next_pid = (uint32_t)r->next_pid,
		.next_cpu = r->next_cpu,
		.prev_prio = (uint8_t)r->prev_prio,
		.prev_state = r->prev_state,
		.next_prio = (uint8_t)r->next_prio,
	};
	e->ent.type = r->kind == SCHED_WOKEN ? TRACE_WAKE : TRACE_CTX;
}
