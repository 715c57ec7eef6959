// SPDX-License-Identifier: GPL-2.0-or-later
/* enable.c - enable_event, disable_event, enable_hist, disable_hist: SYSTEM:EVENT. */
#include <errno.h>

#include "tracer/events/trigger/command.h"

static struct event_trigger *find_same(struct event_triggers *t,
				       const struct event_command *command,
				       const struct event_triggers *target)
{
	for (struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->kind == command->kind && i->target == target)
			return i;
	return NULL;
}

static int soft_mode(const struct event_triggers *target, bool on)
{
	return target->owner->soft_mode(target->owner->arg, target->event, on);
}

static int add(struct event_trigger *trigger)
{
	int err = soft_mode(trigger->target, true);

	if (err)
		return err;
	if (find_same(trigger->at, trigger->command, trigger->target))
		err = -EEXIST;
	else
		err = trigger_add(trigger, false);
	if (err)
		soft_mode(trigger->target, false);
	return err;
}

static int create(struct event_triggers *t, const struct event_command *command,
		  struct event_triggers *target, char *count, char *filter)
{
	struct event_trigger *trigger = trigger_new(t, command);
	int err;

	if (!trigger)
		return -ENOMEM;
	trigger->target = target;
	err = trigger_set_count(trigger, count);
	if (!err)
		err = trigger_set_filter(trigger, filter);
	if (!err)
		err = add(trigger);
	if (err)
		trigger_free(trigger);
	return err;
}

/* SYSTEM:EVENT[:COUNT] [if FILTER] */
static int write_enable(struct event_triggers *t, struct trigger_line *line)
{
	char *filter = line->param, *param, *system, *name;
	struct event_triggers *target;
	struct event_trigger *trigger;

	if (!filter)
		return -EINVAL;
	param = trigger_word(&filter);
	if (filter)
		filter = trigger_trim(filter);
	if (filter && !*filter)
		filter = NULL;
	system = strsep(&param, ":");
	if (!param)
		return -EINVAL;
	name = strsep(&param, ":");
	target = t->owner->find(t->owner->arg, system, name);
	if (!target)
		return -EINVAL;
	if (!line->remove)
		return create(t, line->command, target, param, filter);
	trigger = find_same(t, line->command, target);
	if (trigger)
		trigger_remove(trigger);
	return 0;
}

static void print_enable(struct event_trigger *trigger, struct text *out)
{
	const struct guestsym_event *event = trigger->target->format.event;

	text_printf(out, "%s:%s:%s", trigger->command->name, event->system, event->name);
	trigger_print_count(trigger, out);
}

static void release_enable(struct event_trigger *trigger)
{
	soft_mode(trigger->target, false);
}

/* With a count only a change counts. */
static void hit_event(struct event_trigger *trigger, const struct event_data *data)
{
	const struct event_triggers *target = trigger->target;
	const struct event_trigger_owner *owner = target->owner;
	bool enable = trigger->command->enable;

	(void)data;
	if (trigger->counted && owner->soft_disabled(owner->arg, target->event) != enable)
		return;
	if (trigger_count(trigger))
		owner->soft_disable(owner->arg, target->event, !enable);
}

static void hit_hist(struct event_trigger *trigger, const struct event_data *data)
{
	(void)data;
	if (!trigger_count(trigger))
		return;
	for (struct event_trigger *i = trigger->target->first; i; i = i->next)
		if (i->command->kind == TRIGGER_HIST)
			i->paused = !trigger->command->enable;
}

#define ENABLE_COMMAND(NAME, KIND, ENABLE, HIT, DESC)                                              \
	const struct event_command event_command_##NAME = {                                        \
		.name = #NAME,                                                                     \
		.syntax = ":SYSTEM:EVENT[:COUNT] [if FILTER]",                                     \
		.desc = (DESC),                                                                    \
		.kind = (KIND),                                                                    \
		.enable = (ENABLE),                                                                \
		.orders = true,                                                                    \
		.write = write_enable,                                                             \
		.hit = (HIT),                                                                      \
		.print = print_enable,                                                             \
		.release = release_enable,                                                         \
	}

ENABLE_COMMAND(enable_event, TRIGGER_ENABLE_EVENT, true, hit_event,
	       "its records are kept from now on");
ENABLE_COMMAND(disable_event, TRIGGER_ENABLE_EVENT, false, hit_event, "they are not");
ENABLE_COMMAND(enable_hist, TRIGGER_ENABLE_HIST, true, hit_hist, "its histogram goes on");
ENABLE_COMMAND(disable_hist, TRIGGER_ENABLE_HIST, false, hit_hist, "it stops");
