// SPDX-License-Identifier: GPL-2.0-or-later
/* instance.c - the instances of a trace: found and held. */
#include "tracer/instance/instance.h"
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

	pthread_mutex_lock(&t->instances_lock);
	i = *name ? *instance_place(t, name) : t->instances;
	if (i)
		i->holders++;
	pthread_mutex_unlock(&t->instances_lock);
	return i;
}

void instance_put(struct instance *i)
{
	pthread_mutex_lock(&i->t->instances_lock);
	i->holders--;
	pthread_mutex_unlock(&i->t->instances_lock);
}

bool instance_name(struct trace *t, unsigned int n, char *name, size_t len)
{
	const struct instance *i;

	pthread_mutex_lock(&t->instances_lock);
	i = t->instances->next;
	while (i && n--)
		i = i->next;
	if (i)
		snprintf(name, len, "%s", i->name);
	pthread_mutex_unlock(&t->instances_lock);
	return i;
}
