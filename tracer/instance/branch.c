// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - see branch.h */
#include "tracer/instance/branch.h"
#include "tracer/instance/entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct branch_place {
	char func[BRANCH_FUNC_MAX], file[BRANCH_FILE_MAX];
	int32_t line;
};

bool branches_wanted(const struct trace *t)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_branches(i))
			return true;
	return false;
}

/* --- names ------------------------------------------------------------------------------------ */

static void put_name(char *to, size_t room, const char *name)
{
	size_t len = strnlen(name, room - 1);

	memcpy(to, name, len);
	memset(to + len, 0, room - len);
}

static void place_learn(struct guest_kernel *g, const struct likely *l, struct branch_place *to)
{
	char name[LIKELY_NAME_MAX];

	likely_func_name(g, l, name);
	put_name(to->func, sizeof(to->func), name);
	likely_file_name(g, l, name);
	put_name(to->file, sizeof(to->file), name);
	to->line = l->line;
}

int branches_learn(struct trace *t)
{
	struct guest_branches *b = t->branches;
	struct branch_place *places;
	struct likely *likely;
	int ret;

	if (b->v)
		return 0;
	if (!likely_layout_learn(t->gs, &b->at))
		return -EOPNOTSUPP;
	b->n = likely_table(&t->guest, t->gs, &b->at, &b->first);
	likely = calloc(b->n + 1, sizeof(*likely));
	places = calloc(b->n + 1, sizeof(*places));
	ret = likely && places ? likely_read(&t->guest, &b->at, b->first, likely, b->n) : -ENOMEM;
	for (size_t i = 0; !ret && i < b->n; i++)
		place_learn(&t->guest, &likely[i], &places[i]);
	free(likely);
	if (ret)
		free(places);
	else
		b->v = places;
	return ret;
}

void branches_free(struct guest_branches *b)
{
	if (b)
		free(b->v);
	free(b);
}

/* Of a module it is read each time: where it lies there may be another one tomorrow. */
static void place_find(struct trace *t, uint64_t va, struct branch_place *to)
{
	const struct guest_branches *b = t->branches;
	uint64_t nr = va >= b->first ? (va - b->first) / b->at.size : b->n;
	struct likely l;

	if (nr < b->n)
		*to = b->v[nr];
	else if (!likely_read(&t->guest, &b->at, va, &l, 1))
		place_learn(&t->guest, &l, to);
}

/* --- entries ---------------------------------------------------------------------------------- */

void branch_entry(struct trace *t, const struct payload_record *r, struct trace_branch_entry *e)
{
	struct branch_place place = {.line = 0};
	struct payload_record own = *r;

	if (own.state & PREEMPT_MASK) /* else the guest has made it up */
		own.state--;
	memset(e, 0, sizeof(*e));
	record_entry(&own, TRACE_BRANCH, &e->ent);
	place_find(t, KERNEL_HALF | (r->parent & ~(uint32_t)BRANCH_BITS), &place);
	memcpy(e->func, place.func, sizeof(e->func));
	memcpy(e->file, place.file, sizeof(e->file));
	e->line = (uint32_t)place.line;
	e->correct = !!(r->parent & BRANCH_RIGHT);
	e->constant = !!(r->parent & BRANCH_CONSTANT);
}

void instance_take_branch(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			  const struct trace_branch_entry *branch, uint64_t ts)
{
	const struct entry e = {
		.tsc = r->tsc,
		.ts = ts,
		.data = branch,
		.len = sizeof(*branch),
		.uses = ENTRY_COUNTED,
	};

	instance_take_entry(i, vcpu, &e);
}
