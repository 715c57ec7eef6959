// SPDX-License-Identifier: GPL-2.0-or-later
/* actions.c - traceon, traceoff, snapshot and stacktrace. */
#include <errno.h>

#include "tracer/events/trigger/command.h"

static struct event_trigger *find_kind(struct event_triggers *t, enum event_trigger_kind kind)
{
	for (struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->kind == kind)
			return i;
	return NULL;
}

/* [COUNT] [if FILTER]: what does not begin with a digit is no count. */
static int parse(struct event_trigger *trigger, char *text)
{
	char *count = NULL;
	int err;

	if (text && *text >= '0' && *text <= '9') {
		count = trigger_word(&text);
		if (text)
			text = trigger_trim(text);
		if (text && !*text)
			text = NULL;
	}
	err = trigger_set_count(trigger, count);
	return err ? err : trigger_set_filter(trigger, text);
}

static int add(struct event_trigger *trigger, bool ready_snapshot)
{
	const struct event_trigger_owner *owner = trigger->at->owner;
	int err = ready_snapshot ? owner->snapshot_ready(owner->arg) : 0;

	if (err)
		return err;
	if (find_kind(trigger->at, trigger->command->kind))
		return -EEXIST;
	return trigger_add(trigger, false);
}

/* Which of a pair, and with what count or filter, does not matter when it is removed. */
static int write_action(struct event_triggers *t, struct trigger_line *line)
{
	struct event_trigger *trigger;
	int err;

	if (line->remove) {
		trigger = find_kind(t, line->command->kind);
		if (trigger)
			trigger_remove(trigger);
		return 0;
	}
	trigger = trigger_new(t, line->command);
	if (!trigger)
		return -ENOMEM;
	err = parse(trigger, line->param);
	if (!err)
		err = add(trigger, line->command->kind == TRIGGER_SNAPSHOT);
	if (err)
		trigger_free(trigger);
	return err;
}

static void print_action(struct event_trigger *trigger, struct text *out)
{
	text_puts(out, trigger->command->name);
	trigger_print_count(trigger, out);
}

/* When there is nothing to do the count stays what it is. */
static void hit_onoff(struct event_trigger *trigger, const struct event_data *data)
{
	const struct event_trigger_owner *owner = trigger->at->owner;
	bool on = trigger->command->enable;

	(void)data;
	if (owner->tracing_is_on(owner->arg) != on && trigger_count(trigger))
		owner->tracing_set(owner->arg, on);
}

static void hit_snapshot(struct event_trigger *trigger, const struct event_data *data)
{
	if (trigger_count(trigger))
		trigger->at->owner->snapshot(trigger->at->owner->arg, data);
}

static void hit_stacktrace(struct event_trigger *trigger, const struct event_data *data)
{
	if (trigger_count(trigger))
		trigger->at->owner->stacktrace(trigger->at->owner->arg, data);
}

const struct event_command event_command_traceon = {
	.name = "traceon",
	.syntax = "[:COUNT] [if FILTER]",
	.desc = "turn tracing on",
	.orders = true,
	.kind = TRIGGER_ONOFF,
	.enable = true,
	.write = write_action,
	.hit = hit_onoff,
	.print = print_action,
};

const struct event_command event_command_traceoff = {
	.name = "traceoff",
	.syntax = "[:COUNT] [if FILTER]",
	.desc = "turn tracing off",
	.orders = true,
	.kind = TRIGGER_ONOFF,
	.post = true, /* so that the record is still kept */
	.write = write_action,
	.hit = hit_onoff,
	.print = print_action,
};

const struct event_command event_command_snapshot = {
	.name = "snapshot",
	.syntax = "[:COUNT] [if FILTER]",
	.desc = "take a snapshot",
	.orders = true,
	.kind = TRIGGER_SNAPSHOT,
	.write = write_action,
	.hit = hit_snapshot,
	.print = print_action,
};

static bool stacks_always(const struct event_trigger *trigger)
{
	(void)trigger;
	return true;
}

const struct event_command event_command_stacktrace = {
	.name = "stacktrace",
	.syntax = "[:COUNT] [if FILTER]",
	.desc = "record the stack behind the event",
	.stacks = stacks_always,
	.kind = TRIGGER_STACKTRACE,
	.post = true,
	.write = write_action,
	.hit = hit_stacktrace,
	.print = print_action,
};
