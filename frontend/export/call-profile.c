// SPDX-License-Identifier: GPL-2.0-or-later
/* call-profile.c - see call-profile.h */
#include "frontend/export/call-profile.h"

#include "frontend/export/names.h"
#include "frontend/report/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fields of an event, or none if the file has no such event. */
struct event_fields {
	int id; /* -1: none */
	const struct tep_format_field *field[4];
};

struct call_profile {
	struct export *x;
	struct calltree *tree;
	struct names *names;
	struct calls *calls;
	struct event_fields entry, exit, function;
};

static struct event_fields find_fields(struct tep_handle *tep, const char *event,
				       const char *const *names)
{
	struct tep_event *e = tep_find_event_by_name(tep, "ftrace", event);
	struct event_fields f = {.id = e ? e->id : -1};

	for (size_t i = 0; e && names[i]; i++)
		f.field[i] = tep_find_field(e, names[i]);
	return f;
}

struct call_profile *call_profile_new(struct export *x)
{
	static const char *const entry[] = {"func", "depth", NULL};
	static const char *const exit[] = {"func", "depth", "calltime", "rettime", NULL};
	static const char *const function[] = {"ip", "parent_ip", NULL};
	struct tep_handle *tep = formats_tep(x->in->formats);
	struct call_profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->x = x;
	p->tree = calltree_new();
	if (p->tree) {
		p->calls = calls_new(p->tree, 0);
		p->names = names_new(x->in->formats, p->tree);
	}
	if (!p->calls || !p->names) {
		call_profile_free(p);
		return NULL;
	}
	p->entry = find_fields(tep, "funcgraph_entry", entry);
	p->exit = find_fields(tep, "funcgraph_exit", exit);
	p->function = find_fields(tep, "function", function);
	return p;
}

void call_profile_free(void *profile)
{
	struct call_profile *p = profile;

	if (!p)
		return;
	calls_end(p->calls);
	names_free(p->names);
	calltree_free(p->tree);
	free(p);
}

struct export *call_profile_export(const struct call_profile *p)
{
	return p->x;
}

static const char *comm_of(const struct call_profile *p, const struct decode_event *ev)
{
	return tep_data_comm_from_pid(formats_tep(p->x->in->formats), ev->pid);
}

static bool read_call(struct call_profile *p, const struct event_fields *f,
		      const struct decode_event *ev, struct call_event *call)
{
	uint64_t func, depth, from = 0, until = 0;

	if (!formats_number(f->field[0], ev, &func) || !formats_number(f->field[1], ev, &depth))
		return false;
	if (call->returns && formats_number(f->field[2], ev, &from) &&
	    formats_number(f->field[3], ev, &until))
		call->ns = until > from ? until - from : 0;
	call->depth = (int)(int32_t)depth;
	call->name = names_function(p->names, func);
	return true;
}

static void on_call(struct call_profile *p, const struct event_fields *f,
		    const struct decode_event *ev)
{
	struct call_event call = {
		.returns = f == &p->exit,
		.cpu = ev->cpu,
		.pid = ev->pid,
		.ts = ev->time,
		.comm = comm_of(p, ev),
	};

	if (read_call(p, f, ev, &call))
		calls_event(p->calls, &call);
	else
		p->x->result.left_out++;
}

/* Below its task whoever called it, as far as the record tells. */
static void on_function(struct call_profile *p, const struct decode_event *ev)
{
	struct calltree *t = p->tree;
	uint64_t ip, parent;
	uint32_t node;
	char task[64];

	if (!formats_number(p->function.field[0], ev, &ip)) {
		p->x->result.left_out++;
		return;
	}
	snprintf(task, sizeof(task), "%.32s-%" PRId32, comm_of(p, ev), (int32_t)ev->pid);
	node = calltree_child(t, CALLTREE_ROOT, names_text(p->names, task, strlen(task)));
	if (formats_number(p->function.field[1], ev, &parent))
		node = calltree_child(t, node, names_function(p->names, parent));
	node = calltree_child(t, node, names_function(p->names, ip));
	if (node == CALLTREE_NONE)
		p->x->result.left_out++;
	else
		t->node[node].st.calls++;
}

void call_profile_event(void *profile, const struct decode_event *ev)
{
	struct call_profile *p = profile;

	if (ev->id == p->entry.id)
		on_call(p, &p->entry, ev);
	else if (ev->id == p->exit.id)
		on_call(p, &p->exit, ev);
	else if (ev->id == p->function.id)
		on_function(p, ev);
}

const struct calltree *call_profile_tree(struct call_profile *p)
{
	calls_end(p->calls);
	p->calls = NULL;
	return p->tree;
}
