// SPDX-License-Identifier: GPL-2.0-or-later
/* func-event.c - FUNCTIONS:enable_event:SYSTEM:EVENT[:COUNT], and disable_event. */
#include <errno.h>
#include <string.h>

#include "tracer/filter/func-commands.h"

static int event_parse(const struct func_owner *o, char **param, void **target)
{
	const char *system = strsep(param, ":"), *name;

	if (!*param || !o->events)
		return -EINVAL;
	name = strsep(param, ":");
	*target = o->events->find(o->arg, system, name);
	return *target ? 0 : -EINVAL;
}

static int event_begin(const struct func_owner *o, void *target)
{
	return o->events->soft_mode(o->arg, target, true);
}

static void event_end(const struct func_owner *o, void *target)
{
	o->events->soft_mode(o->arg, target, false);
}

static void event_print(const struct func_owner *o, void *target, struct text *out)
{
	text_putc(out, ':');
	o->events->print(o->arg, target, out);
}

/* What it is already does not count. */
static void event_switch(const struct func_command_hit *h, bool disable)
{
	const struct func_owner *o = h->owner;

	if (o->events->soft_disabled(o->arg, h->target) == disable)
		return;
	pthread_mutex_lock(h->lock);
	if (o->events->soft_disabled(o->arg, h->target) != disable &&
	    (!h->left || func_count_take(h->left)))
		o->events->soft_disable(o->arg, h->target, disable);
	pthread_mutex_unlock(h->lock);
}

static void enable_hit(const struct func_command_hit *h)
{
	event_switch(h, false);
}

static void disable_hit(const struct func_command_hit *h)
{
	event_switch(h, true);
}

const struct func_command func_command_enable_event = {
	.name = "enable_event",
	.desc = "keep an event's records: enable_event:SYSTEM:EVENT[:COUNT]",
	.counts = FUNC_COUNT_SHARED,
	.orders = true,
	.parse = event_parse,
	.begin = event_begin,
	.end = event_end,
	.print = event_print,
	.hit = enable_hit,
};

const struct func_command func_command_disable_event = {
	.name = "disable_event",
	.desc = "drop them: disable_event:SYSTEM:EVENT[:COUNT]",
	.counts = FUNC_COUNT_SHARED,
	.orders = true,
	.parse = event_parse,
	.begin = event_begin,
	.end = event_end,
	.print = event_print,
	.hit = disable_hit,
};
