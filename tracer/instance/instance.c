// SPDX-License-Identifier: GPL-2.0-or-later
/* instance.c - the instances of a trace: found and held. */
#include "tracer/instance/instance.h"
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"

#include <stdio.h>
#include <string.h>

struct instance *trace_top(struct trace *t)
{
	return t->instances;
}

struct instance **instance_place(struct trace *t, const char *name)
{
	struct instance **at = &t->instances->next;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

struct instance *instance_get(struct trace *t, const char *name)
{
	struct instance *i;

	instances_lock(t);
	i = *name ? *instance_place(t, name) : t->instances;
	if (i)
		i->holders++;
	instances_unlock(t);
	return i;
}

void instance_put(struct instance *i)
{
	instances_lock(i->t);
	i->holders--;
	instances_unlock(i->t);
}

bool instance_name(struct trace *t, unsigned int n, char *name, size_t len)
{
	const struct instance *i;

	instances_lock(t);
	i = t->instances->next;
	while (i && n--)
		i = i->next;
	if (i)
		snprintf(name, len, "%s", i->name);
	instances_unlock(t);
	return i;
}
