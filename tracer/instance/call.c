// SPDX-License-Identifier: GPL-2.0-or-later
/* call.c - see call.h */
#include "tracer/instance/call.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/order.h"

/* With func-no-repeats: true when that is all there is to say of this call. */
static bool collect_repeat(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			   uint64_t ts)
{
	uint64_t ip = KERNEL_HALF | r->ip, parent_ip = KERNEL_HALF | r->parent;
	struct trace_entry ent;

	if (repeats_count(&i->repeats[vcpu], ip, parent_ip, ts))
		return true;
	record_entry(r, TRACE_FN, &ent);
	repeats_end(&i->repeats[vcpu], i->ring[vcpu], &ent, ip, parent_ip, ts);
	return false;
}

void instance_take_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			uint64_t ts)
{
	if (!instance_order_call(i, vcpu, r, ts))
		instance_admit_call(i, vcpu, r, ts);
}

void instance_admit_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			 uint64_t ts)
{
	i->repeats[vcpu].told = false;
	if (instance_is_on_at(i, r->tsc) && instance_admits(i))
		instance_put_call(i, vcpu, r, ts);
}

void instance_put_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
		       uint64_t ts)
{
	struct record_memo none = {0};
	bool *told = &i->repeats[vcpu].told;

	ts = instance_stamp(i, ts);
	*told = !instance_function_option(i, OUTPUT_FUNC_NO_REPEATS) ||
		!collect_repeat(i, vcpu, r, ts);
	if (*told)
		instance_put_function(i->ring[vcpu], r, ts, &none);
}
