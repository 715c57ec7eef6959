// SPDX-License-Identifier: GPL-2.0-or-later
/* view.c - see view.h */
#include "tracer/instance/view.h"
#include "tracer/events/events.h"
#include "tracer/events/strings.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/files.h"
#include "tracer/output/output.h"
#include "tracer/unwind/unwind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST_PAGE 4096

/* --- what only the guest can tell ------------------------------------------------------------ */

static bool find_function(void *arg, const char *name, struct guestsym_range *range)
{
	const struct trace *t = arg;
	struct output_symbol sym = {0};
	uint64_t addr = range->start;

	if (name) {
		addr = guestsym_addr(t->gs, name);
		if (!addr)
			return false;
		addr += t->guest.slide;
	}
	if (!trace_find_symbol(arg, addr, &sym))
		return false;
	range->start = addr - sym.off;
	range->end = range->start + sym.size;
	return true;
}

void instance_event_kernel(struct instance *i, struct event_kernel *kernel)
{
	char *dot;
	unsigned int major = (unsigned int)strtoul(guestsym_release(i->t->gs), &dot, 10),
		     minor = *dot == '.' ? (unsigned int)strtoul(dot + 1, NULL, 10) : 0;

	*kernel = (struct event_kernel){
		.function = find_function,
		.nr_cpus = i->t->vcpus,
		.version = EVENT_KERNEL(major, minor),
		.arg = i->t,
	};
}

/* Strings of tasks are not looked for: which one's memory it is would have to be found out. */
static int read_string(void *arg, uint64_t addr, bool user, char *buf, size_t size)
{
	struct trace *t = ((struct event_view *)arg)->i->t;
	const char *own = event_string_own(addr);
	size_t len = 0;

	if (user)
		return -EFAULT;
	if (own) {
		snprintf(buf, size, "%s", own);
		return 0;
	}
	while (len < size - 1) {
		size_t piece = GUEST_PAGE - (addr + len) % GUEST_PAGE;

		if (piece > size - 1 - len)
			piece = size - 1 - len;
		if (guest_read(&t->guest, addr + len, buf + len, piece))
			return -EFAULT;
		if (memchr(buf + len, '\0', piece))
			return 0;
		len += piece;
	}
	buf[len] = '\0';
	return 0;
}

static size_t read_stack(void *arg, uint64_t *ips, size_t max)
{
	const struct event_stack *s = ((struct event_view *)arg)->stack;
	size_t n = s && s->n < max ? s->n : max;

	if (!s)
		return 0;
	memcpy(ips, s->ip, n * sizeof(*ips));
	return n;
}

void event_view_init(struct event_view *v, struct instance *i, unsigned int cpu, const void *record,
		     size_t len, uint64_t ts, const struct event_stack *stack)
{
	v->i = i;
	v->stack = stack;
	v->er = NULL;
	v->r = NULL;
	v->tsc = 0;
	v->uses = EVENT_USE_KEEP;
	v->numbered = false;
	v->depth = 0;
	v->data = (struct event_data){
		.record = record,
		.len = len,
		.cpu = cpu,
		.comm = v->comm,
		.time = ts,
		.time_is_ns = i->clock->ns,
		.string = read_string,
		.stack = read_stack,
		.arg = v,
	};
	v->comm[0] = '\0';
}

void event_view_name(struct event_view *v)
{
	const struct trace_entry *e = v->data.record;

	memset(v->comm, 0, sizeof(v->comm));
	if (e->pid)
		comms_find(v->i->t->comms, e->pid, v->comm);
	else
		snprintf(v->comm, sizeof(v->comm), "swapper/%u", v->data.cpu);
}

void event_view_entry(const struct event_view *v, uint32_t event, unsigned int preempt_count,
		      struct trace_entry *e)
{
	const struct events *events = v->i->t->trace_events;

	memcpy(e, v->data.record, sizeof(*e));
	e->type = events_list(events)->v[event].id;
	if (events_dec_preempt(events) && (e->preempt_count & 0xf) + preempt_count <= 0xf)
		e->preempt_count = (uint8_t)(e->preempt_count + preempt_count);
}

/* --- its stack ------------------------------------------------------------------------------- */

void event_view_record_stack(const struct event_view *v)
{
	const struct event_stack *s = v->stack;
	struct trace_stack_entry *e;

	if (!s || !v->i->on)
		return;
	e = instance_room(v->i, v->data.cpu, v->data.time, sizeof(*e) + s->n * sizeof(s->ip[0]));
	if (!e)
		return;
	memcpy(&e->ent, v->data.record, sizeof(e->ent));
	e->ent.type = TRACE_STACK;
	e->size = (int32_t)s->n;
	e->pad = 0;
	memcpy(e->caller, s->ip, s->n * sizeof(s->ip[0]));
	ring_commit(v->i->ring[v->data.cpu]);
}

/* ftrace_trace_userstack() (kernel/trace/trace.c, 6.1): an entry also of what has no user mode. */
void event_view_record_user_stack(const struct event_view *v)
{
	const struct event_stack *s = v->stack;
	struct trace_user_stack_entry *e;
	struct trace_entry ent;

	memcpy(&ent, v->data.record, sizeof(ent));
	if (!s || !s->has_user || ent.flags & TRACE_FLAG_NMI || !v->i->on)
		return;
	e = instance_room(v->i, v->data.cpu, v->data.time, sizeof(*e));
	if (!e)
		return;
	e->ent = ent;
	e->ent.type = TRACE_USER_STACK;
	e->tgid = s->tgid;
	memcpy(e->caller, s->user_ip, sizeof(e->caller));
	ring_commit(v->i->ring[v->data.cpu]);
}

/* What was looked at while the vCPU stood: without the probe, which is the innermost frame. */
static unsigned int stack_seen(const struct event_view *v, uint64_t *ips, unsigned int max)
{
	const struct event_stack *s = v->stack;
	unsigned int n = s && s->n > 1 ? s->n - 1 : 0;

	if (n > max)
		n = max;
	if (n)
		memcpy(ips, s->ip + 1, n * sizeof(*ips));
	return n;
}

unsigned int stack_copy_unwind(struct trace *t, uint64_t ip, const struct payload_stack *copy,
			       uint64_t *ips, unsigned int max)
{
	const struct unwind_words at[] = {
		{copy->sp, copy->word, copy->n},
		{copy->task_sp, copy->word + copy->n, copy->task_n},
	};

	return unwind_copies(trace_unwind(t), &t->guest, ip, copy->sp + sizeof(copy->word[0]),
			     copy->bp, at, 2, ips, max);
}

unsigned int event_view_unwind(const struct event_view *v, uint64_t *ips, unsigned int max)
{
	struct trace *t = v->i->t;
	uint64_t found[EVENT_STACK_DEPTH];
	struct payload_stack copy;
	unsigned int n;

	if (!v->er || !event_ring_copy(v->er, v->r, &copy) || !copy.n)
		return stack_seen(v, ips, max);
	/* The first word is where the guest's function returns to that reserves room for it. */
	n = stack_copy_unwind(t, copy.word[0], &copy, found, EVENT_STACK_DEPTH);
	if (n < 2)
		return 0;
	n = n - 1 < max ? n - 1 : max;
	memcpy(ips, found + 1, n * sizeof(*ips));
	return n;
}
