// SPDX-License-Identifier: GPL-2.0-or-later
/* perf-calls.c - see perf-local.h: what the function tracers say becomes stacks and times. */
#include "frontend/export/perf-local.h"

#include "frontend/decode/fields.h"

#include <stdlib.h>

/* Stacks are forgotten where a hostile trace has more of them than that. */
enum { TASKS = 1 << 14, DEPTH_MAX = 1024, FRAMES_MAX = 1 << 20, NR_FIELDS = 4 };

/* A call that is under way. */
struct frame {
	uint64_t func;
	uint64_t inner; /* nanoseconds in what it has called */
	int32_t depth;	/* more than that of the one around it */
};

struct stack {
	uint64_t key; /* of the task that has it; another one may take its place */
	struct frame *frame;
	uint32_t nr, room;
};

enum kind { KIND_NONE, KIND_FUNCTION, KIND_ENTRY, KIND_EXIT, KIND_STACK, NR_KINDS };

static const struct {
	const char *event, *field[NR_FIELDS];
} kinds[NR_KINDS] = {
	[KIND_FUNCTION] = {"function", {"ip", "parent_ip"}},
	[KIND_ENTRY] = {"funcgraph_entry", {"func", "depth"}},
	[KIND_EXIT] = {"funcgraph_exit", {"func", "depth", "calltime", "rettime"}},
	[KIND_STACK] = {"kernel_stack", {"caller"}},
};

struct perf_calls {
	struct export *x;
	uint8_t kind[PERF_IDS]; /* by id */
	const struct tep_format_field *field[NR_KINDS][NR_FIELDS];
	struct stack stack[TASKS];
	uint32_t frames; /* that there is memory for */
};

struct perf_calls *perf_calls_new(struct export *x)
{
	struct tep_handle *tep = formats_tep(x->in->formats);
	struct perf_calls *c = calloc(1, sizeof(*c));

	for (unsigned int k = 0; c && k < NR_KINDS; k++) {
		struct tep_event *event =
			kinds[k].event ? tep_find_event_by_name(tep, "ftrace", kinds[k].event)
				       : NULL;

		if (!event || event->id < 0 || event->id >= PERF_IDS)
			continue;
		c->kind[event->id] = (uint8_t)k;
		for (size_t i = 0; i < NR_FIELDS && kinds[k].field[i]; i++)
			c->field[k][i] = tep_find_field(event, kinds[k].field[i]);
	}
	if (c)
		c->x = x;
	return c;
}

static void forget_all(struct perf_calls *c)
{
	for (size_t i = 0; i < TASKS; i++) {
		free(c->stack[i].frame);
		c->stack[i] = (struct stack){0};
	}
	c->frames = 0;
}

void perf_calls_free(struct perf_calls *c)
{
	if (c)
		forget_all(c);
	free(c);
}

/* --- stacks of tasks ---------------------------------------------------------------------------
 */

/* Idle tasks have the same pid, one for each vCPU. */
static uint64_t key_of(const struct decode_event *ev)
{
	uint64_t low = ev->pid ? (uint64_t)(uint32_t)ev->pid << 1 : (uint64_t)ev->cpu << 1 | 1;

	return (uint64_t)ev->buffer << 33 | low;
}

static struct stack *stack_of(struct perf_calls *c, const struct decode_event *ev)
{
	uint64_t key = key_of(ev);
	struct stack *s = &c->stack[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 50];

	if (s->key != key)
		s->nr = 0;
	s->key = key;
	return s;
}

static void push(struct perf_calls *c, struct stack *s, const struct frame *frame)
{
	if (s->nr == s->room) {
		uint32_t room = s->room ? 2 * s->room : 16;
		struct frame *more;

		if (c->frames + room > FRAMES_MAX)
			forget_all(c);
		more = realloc(s->frame, room * sizeof(*more));
		if (!more) {
			c->x->failed = true;
			return;
		}
		c->frames += room - s->room;
		s->frame = more;
		s->room = room;
	}
	s->frame[s->nr++] = *frame;
}

/* What is as deep as that, or deeper, is over, though no end of it was seen. */
static void drop(struct stack *s, int32_t depth)
{
	while (s->nr && s->frame[s->nr - 1].depth >= depth)
		s->nr--;
}

/* --- events ------------------------------------------------------------------------------------
 */

static void add_to_chain(struct perf_call *call, uint64_t ip)
{
	if (call->nr < PERF_CHAIN_MAX)
		call->chain[call->nr++] = ip;
}

static void add_stack(struct perf_call *call, const struct stack *s)
{
	for (uint32_t i = s->nr; i-- && call->nr < PERF_CHAIN_MAX;)
		add_to_chain(call, s->frame[i].func);
}

static bool read_frame(const struct tep_format_field *const *field, const struct decode_event *ev,
		       struct frame *f)
{
	uint64_t depth;

	if (!formats_number(field[0], ev, &f->func) || !formats_number(field[1], ev, &depth))
		return false;
	f->depth = (int32_t)depth;
	f->inner = 0;
	return f->depth >= 0 && f->depth < DEPTH_MAX;
}

/* Who it is called by is told where it returns, with the time. */
static void on_entry(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call)
{
	struct stack *s = stack_of(c, ev);
	struct frame f;

	if (!read_frame(c->field[KIND_ENTRY], ev, &f))
		return;
	drop(s, f.depth);
	push(c, s, &f);
	call->ip = f.func;
}

static uint64_t duration(const struct tep_format_field *const *field, const struct decode_event *ev)
{
	uint64_t from, until;

	if (!formats_number(field[2], ev, &from) || !formats_number(field[3], ev, &until))
		return 0;
	return until > from ? until - from : 0;
}

static void on_return(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call)
{
	const struct tep_format_field *const *field = c->field[KIND_EXIT];
	struct stack *s = stack_of(c, ev);
	const struct frame *top;
	struct frame f;
	uint64_t ns;

	if (!read_frame(field, ev, &f))
		return;
	drop(s, f.depth + 1);
	top = s->nr ? &s->frame[s->nr - 1] : NULL;
	if (top && top->depth == f.depth && top->func == f.func)
		f.inner = top->inner;
	else
		c->x->result.unbegun++;
	drop(s, f.depth);
	ns = duration(field, ev);
	call->period = ns > f.inner ? ns - f.inner : 0;
	if (s->nr)
		s->frame[s->nr - 1].inner += ns;
	call->ip = f.func;
	add_to_chain(call, f.func);
	add_stack(call, s);
}

static void on_function(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call)
{
	uint64_t parent;

	if (!formats_number(c->field[KIND_FUNCTION][0], ev, &call->ip))
		return;
	add_to_chain(call, call->ip);
	if (formats_number(c->field[KIND_FUNCTION][1], ev, &parent))
		add_to_chain(call, parent);
}

static void on_stack(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call)
{
	const struct tep_format_field *field = c->field[KIND_STACK][0];
	struct field_bytes bytes = {0};

	if (field)
		bytes = fields_range(ev, (uint64_t)field->offset, UINT64_MAX);
	for (size_t i = 0; i + 8 <= bytes.len; i += 8) {
		uint64_t ip;

		memcpy(&ip, bytes.at + i, sizeof(ip));
		/* What is at the end of some is no address. */
		if (!ip || ip >= (uint64_t)PERF_CONTEXT_MAX)
			break;
		add_to_chain(call, ip);
	}
	call->ip = call->nr ? call->chain[0] : 0;
}

/* Where its task is, as far as function_graph tells. */
static void on_other(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call)
{
	const struct stack *s = stack_of(c, ev);

	add_stack(call, s);
	call->ip = call->nr ? call->chain[0] : 0;
}

void perf_calls_event(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call)
{
	static void (*const on[NR_KINDS])(struct perf_calls *, const struct decode_event *,
					  struct perf_call *) = {
		[KIND_NONE] = on_other,	 [KIND_FUNCTION] = on_function, [KIND_ENTRY] = on_entry,
		[KIND_EXIT] = on_return, [KIND_STACK] = on_stack,
	};

	call->ip = 0;
	call->period = 1;
	call->nr = 0;
	on[c->kind[ev->id]](c, ev, call);
}
