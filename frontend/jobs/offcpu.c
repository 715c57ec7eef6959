// SPDX-License-Identifier: GPL-2.0-or-later
/* offcpu.c - how long tasks were off the CPU, why, and where in the kernel they left it. */
#include "frontend/jobs/local.h"

#include <stdlib.h>
#include <string.h>

/* Why, by the bit of TASK_REPORT (include/linux/sched.h of the kernel) that the state has. */
static const struct {
	uint64_t bit;
	const char *reason; /* NULL: it is gone */
} states[] = {
	{0x0, "preempted"},   {0x1, "sleeping (S)"}, {0x2, "blocked (D)"},
	{0x4, "stopped (T)"}, {0x8, "traced (t)"},   {0x10, NULL},
	{0x20, NULL},	      {0x40, "parked (P)"},  {0x80, "idle (I)"},
};

enum { STATES = sizeof(states) / sizeof(*states) };

struct offcpu {
	struct calltree *tree;
	bool stacks;		       /* there is one in it */
	int32_t left[DAT_CPUS_MAX];    /* by who has left it with the event before; 0: nobody */
	const struct tep_event *stack; /* NULL: the file has none */
};

static uint32_t state_of(uint64_t bits)
{
	for (uint32_t i = 1; i < STATES; i++)
		if (bits & states[i].bit)
			return i;
	return 0;
}

static bool begin(struct work *w)
{
	struct offcpu *o = calloc(1, sizeof(*o));

	w->own = o;
	if (!o)
		return false;
	o->stack = tep_find_event_by_name(formats_tep(w->in->formats), "ftrace", "kernel_stack");
	o->tree = calltree_new();
	if (o->tree)
		o->tree->has_time = true;
	return o->tree;
}

/* --- stacks -------------------------------------------------------------------------------------
 */

/* A stack belongs to the event before it on its vCPU. */
static void before(struct work *w, const struct decode_event *ev)
{
	struct offcpu *o = w->own;

	if (!o->stack || ev->id != o->stack->id)
		o->left[ev->cpu] = 0;
}

static void on_stack(struct work *w, const struct tep_format_field *const *field,
		     const struct decode_event *ev)
{
	struct offcpu *o = w->own;
	int32_t pid = o->left[ev->cpu];
	struct job_task *t = pid ? job_task(w, pid, NULL, ev) : NULL;
	uint64_t func[JOB_STACK_MAX];
	size_t nr;

	o->left[ev->cpu] = 0;
	if (!t || !t->open)
		return;
	job_forget_stack(t); /* that of function_graph says less */
	nr = job_stack(field, ev, func);
	t->stack = malloc(sizeof(*t->stack) + nr * sizeof(*func));
	if (!t->stack)
		return;
	t->stack->nr = (uint32_t)nr;
	memcpy(t->stack->func, func, nr * sizeof(*func));
}

/* How deep calls are is told by the events themselves, which may miss some. */
static void on_entry(struct work *w, const struct tep_format_field *const *field,
		     const struct decode_event *ev)
{
	struct job_task *t = ev->pid > 0 ? job_task(w, ev->pid, NULL, ev) : NULL;
	uint64_t func, depth;

	if (!t || !formats_number(field[0], ev, &func) || !formats_number(field[1], ev, &depth) ||
	    depth >= JOB_STACK_MAX)
		return;
	if (!t->calls)
		t->calls = calloc(1, sizeof(*t->calls) + JOB_STACK_MAX * sizeof(func));
	if (!t->calls || depth > t->calls->nr)
		return;
	t->calls->func[depth] = func;
	t->calls->nr = (uint32_t)depth + 1;
}

static void on_return(struct work *w, const struct tep_format_field *const *field,
		      const struct decode_event *ev)
{
	struct job_task *t = ev->pid > 0 ? job_task(w, ev->pid, NULL, ev) : NULL;
	uint64_t depth;

	if (t && t->calls && formats_number(field[0], ev, &depth) && depth < t->calls->nr)
		t->calls->nr = (uint32_t)depth;
}

static void copy_calls(struct job_task *t)
{
	uint32_t nr = t->calls ? t->calls->nr : 0;

	t->stack = nr ? malloc(sizeof(*t->stack) + nr * sizeof(*t->stack->func)) : NULL;
	if (!t->stack)
		return;
	t->stack->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		t->stack->func[i] = t->calls->func[nr - 1 - i];
}

/* What tells the event is none of the task's. */
static bool is_tracing(const char *function)
{
	return !strncmp(function, "trace_event_raw_event_", 22) ||
	       !strncmp(function, "__traceiter_", 12);
}

static uint32_t add_node(struct calltree *tree, uint32_t parent, const char *name, uint64_t ns)
{
	uint32_t node = calltree_child(tree, parent, calltree_name(tree, name, strlen(name)));

	if (node != CALLTREE_NONE)
		calltree_add(&tree->node[node].st, &(struct call_stats){.total = ns, .max = ns});
	return node;
}

static void add_stack(const struct work *w, const struct job_task *t, uint64_t ns)
{
	struct offcpu *o = w->own;
	uint32_t node = add_node(o->tree, CALLTREE_ROOT, t->comm, ns);
	const char *name;
	char buf[24];

	for (uint32_t i = t->stack ? t->stack->nr : 0; i; i--) {
		name = job_function(w, t->stack->func[i - 1], buf);
		if (!is_tracing(name))
			node = add_node(o->tree, node, name, ns);
		o->stacks = true;
	}
	node = add_node(o->tree, node, states[t->what].reason, ns);
	if (node == CALLTREE_NONE)
		return;
	o->tree->node[node].st.self += ns;
	o->tree->node[node].st.calls++;
}

/* --- switches -----------------------------------------------------------------------------------
 */

static void leaves(struct work *w, struct job_task *t, uint64_t bits, const struct decode_event *ev)
{
	struct offcpu *o = w->own;
	uint32_t state = state_of(bits);

	job_forget_stack(t);
	t->open = false;
	if (!states[state].reason)
		return;
	job_open(t, ev->time, state);
	copy_calls(t);
	o->left[ev->cpu] = t->pid;
}

static void comes(struct work *w, struct job_task *t, const struct decode_event *ev)
{
	uint64_t ns = ev->time - t->from;
	struct latency_row *row;

	if (!t->open) {
		w->result->unbegun++;
		return;
	}
	t->open = false;
	if (!job_wants(w, t->pid))
		return;
	row = job_row(w, t, ev->cpu, t->what, states[t->what].reason);
	if (row)
		latency_add(row, ns);
	add_stack(w, t, ns);
	job_forget_stack(t);
}

static void on_switch(struct work *w, const struct tep_format_field *const *field,
		      const struct decode_event *ev)
{
	int32_t prev = job_pid(field[0], ev), next = job_pid(field[3], ev);
	uint64_t bits;

	if (next > 0)
		comes(w, job_task(w, next, field[4], ev), ev);
	if (prev > 0 && prev != next && formats_number(field[2], ev, &bits))
		leaves(w, job_task(w, prev, field[1], ev), bits, ev);
}

static void end(struct work *w)
{
	struct offcpu *o = w->own;

	if (!o->stacks)
		return;
	w->result->stacks = o->tree;
	o->tree = NULL;
}

static void free_own(struct work *w)
{
	struct offcpu *o = w->own;

	if (o)
		calltree_free(o->tree);
	free(o);
}

static const struct job_event events[] = {
	{"sched",
	 "sched_switch",
	 {"prev_pid", "prev_comm", "prev_state", "next_pid", "next_comm"},
	 on_switch,
	 false},
	{"ftrace", "kernel_stack", {"size", "caller"}, on_stack, true},
	{"ftrace", "funcgraph_entry", {"func", "depth"}, on_entry, true},
	{"ftrace", "funcgraph_exit", {"depth"}, on_return, true},
	{NULL, NULL, {NULL}, NULL, false},
};

const struct job job_offcpu = {
	.name = "offcpu",
	.words = {"times off the CPU", "rows", "WHO -> WHY", false},
	.by = {"task", "name", "cpu", "reason"},
	.needs = "sched:sched_switch",
	.events = events,
	.begin = begin,
	.before = before,
	.end = end,
	.free = free_own,
};
