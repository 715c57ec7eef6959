// SPDX-License-Identifier: GPL-2.0-or-later
/* snapshot.c - see snapshot.h */
#include "frontend/export/snapshot.h"

/* A window has no more; what is longer is not read twice. */
enum { SIZE_MAX_OF_ONE = 8 << 20 };

/* common_flags and common_preempt_count: include/linux/trace_events.h of the kernel */
enum { FLAGS_AT = 2, COUNT_AT = 3, FLAG_IRQS_OFF = 1, COUNT_MASK = 15 };

/* The only vCPU that has records. NULL: there is none, or too much of it. */
static const struct dat_vcpu *only_vcpu(const struct dat *d)
{
	const struct dat_vcpu *only = NULL;

	for (size_t i = 0; i < dat_nr_buffers(d); i++) {
		const struct dat_buffer *b = dat_buffer(d, i);

		for (unsigned int v = 0; v < b->nr_vcpus; v++) {
			if (!b->vcpus[v].size)
				continue;
			if (only || i)
				return NULL;
			only = &b->vcpus[v];
		}
	}
	return only && only->size <= SIZE_MAX_OF_ONE ? only : NULL;
}

/* One record that is not of it, and it is none. */
static bool add_record(struct snapshot *s, const struct decode_event *ev, int function)
{
	const uint8_t *data = ev->data;

	if (ev->len <= COUNT_AT)
		return false;
	s->irqs &= data[FLAGS_AT] & FLAG_IRQS_OFF;
	s->preempt &= (data[COUNT_AT] & COUNT_MASK) != 0;
	return ev->id == function && (s->irqs || s->preempt);
}

/* Functions, and then one stack. */
static bool is_snapshot(struct records *r, struct snapshot *s, int function, int stack)
{
	const struct decode_event *ev;
	size_t nr = 0;

	for (; (ev = records_next(r)) && ev->id != stack; nr++)
		if (!add_record(s, ev, function))
			return false;
	return nr && ev && !records_next(r);
}

struct snapshot snapshot_find(const struct export_input *in)
{
	struct tep_handle *tep = formats_tep(in->formats);
	const struct tep_event *function = tep_find_event_by_name(tep, "ftrace", "function");
	const struct tep_event *stack = tep_find_event_by_name(tep, "ftrace", "kernel_stack");
	const struct dat_vcpu *v = function && stack ? only_vcpu(in->dat) : NULL;
	struct snapshot s = {.irqs = true, .preempt = true};
	struct records *r = v ? records_open(in->dat, 0) : NULL;
	bool is = r && is_snapshot(r, &s, function->id, stack->id);

	records_close(r);
	s.cpu = v ? v->cpu : 0;
	return is ? s : (struct snapshot){0};
}
