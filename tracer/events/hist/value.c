// SPDX-License-Identifier: GPL-2.0-or-later
/* value.c - what a record and variables have for a field of a histogram. */
#include "tracer/events/hist/internal.h"

/* The power of two that is not below value. */
static uint64_t order_of(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

static uint64_t plain_value(const struct hist_field *field, const struct event_data *data,
			    bool usecs)
{
	struct event_field event_field = {field->source, &field->in};
	uint64_t value;

	if (field->flags & HIST_TIMESTAMP)
		return usecs && data->time_is_ns ? (data->time + 500) / 1000 : data->time;
	if (event_field_is_string(&event_field) && field->in.kind != GUESTSYM_EVENT_PTR_STRING)
		return 0; /* the kernel has the address of the string in its buffer */
	return event_field_number(&event_field, data, &value) ? value : 0;
}

/*
 * The kernel divides by a constant that is small with a multiplication, and rounds up what comes
 * out of that: div_by_mult_and_shift() (kernel/trace/trace_events_hist.c, 6.1).
 */
#define DIV_SHIFT 20

static uint64_t divide_by_constant(uint64_t value, uint64_t divisor)
{
	const uint64_t one = 1 << DIV_SHIFT;

	if (!(divisor & (divisor - 1)) || divisor > one || value >= one)
		return value / divisor;
	return (value * (one / divisor) + one - 1) >> DIV_SHIFT;
}

static uint64_t compute(const struct hist_field *field, uint64_t a, uint64_t b)
{
	const struct hist_field *divisor = field->operand[1];

	switch (field->op) {
	case HIST_PLUS:
		return a + b;
	case HIST_MINUS:
		return a - b;
	case HIST_MULT:
		return a * b;
	case HIST_DIV:
		if (divisor && divisor->constant)
			return divide_by_constant(a, divisor->constant);
		return b ? a / b : UINT64_MAX;
	default:
		return -a;
	}
}

static uint64_t expr_value(const struct hist_field *field, const struct event_data *data,
			   bool usecs, const struct hist_refs *refs)
{
	uint64_t a = hist_field_value(field->operand[0], data, usecs, refs), b = 0;

	if (field->operand[1])
		b = hist_field_value(field->operand[1], data, usecs, refs);
	return compute(field, a, b);
}

uint64_t hist_field_value(const struct hist_field *field, const struct event_data *data, bool usecs,
			  const struct hist_refs *refs)
{
	uint64_t value;

	if (field->flags & HIST_HITCOUNT)
		return 1;
	if (field->flags & HIST_CONST)
		return field->constant;
	if (field->flags & (HIST_VAR_REF | HIST_ALIAS))
		return refs ? refs->val[field->ref] : 0;
	if (field->flags & HIST_EXPR)
		return expr_value(field, data, usecs, refs);
	value = plain_value(field, data, usecs);
	if (field->flags & HIST_LOG2)
		return order_of(value);
	if (field->flags & HIST_BUCKETS)
		return value / field->buckets * field->buckets;
	return value;
}

void hist_field_text(const struct hist_field *field, const struct event_data *data,
		     char to[EVENT_STRING_MAX])
{
	struct event_field event_field = {field->source, &field->in};
	uint32_t size = hist_field_type_size(field);

	if (size > EVENT_STRING_MAX)
		size = EVENT_STRING_MAX;
	if (!size || !event_field_string(&event_field, data, false, to, size))
		*to = '\0';
}

static void key_stack(const struct event_data *data, uint8_t *key)
{
	uint64_t ips[HIST_STACK_DEPTH] = {0};

	if (data->stack)
		data->stack(data->arg, ips, HIST_STACK_DEPTH);
	memcpy(key, ips, sizeof(ips));
}

void hist_key(const struct hist_spec *spec, const struct event_data *data, void *key)
{
	memset(key, 0, spec->key_size);
	for (unsigned int i = spec->nr_vals; i < spec->nr_fields; i++) {
		const struct hist_field *field = &spec->fields[i];
		struct event_field event_field = {field->source, &field->in};
		uint8_t *at = (uint8_t *)key + field->offset;

		if (field->flags & HIST_STACKTRACE) {
			key_stack(data, at);
		} else if (field->flags & HIST_STRING) {
			event_field_string(&event_field, data, false, (char *)at, field->size);
		} else {
			uint64_t value = hist_field_value(field, data, spec->usecs, NULL);

			memcpy(at, &value, sizeof(value));
		}
	}
}
