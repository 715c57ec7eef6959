// SPDX-License-Identifier: GPL-2.0-or-later
/* trigger.c - see trigger.h: the triggers of an event, and what they all have. */
#include <errno.h>
#include <inttypes.h>

#include "tracer/events/trigger/trigger.h"
#include "tracer/events/trigger/command.h"
#include "tracer/lib/word.h"

#define WRITE_MAX 4096 /* the kernel's page */

struct event_triggers *event_triggers_new(const struct event_trigger_owner *owner,
					  struct event_hist_names *names,
					  const struct event_format *format, void *event)
{
	struct event_triggers *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct event_triggers){
			.owner = owner, .names = names, .format = *format, .event = event};
	return t;
}

void event_triggers_clear(struct event_triggers *t)
{
	while (t->first)
		trigger_remove(t->first);
}

void event_triggers_free(struct event_triggers *t)
{
	if (!t)
		return;
	event_triggers_clear(t);
	free(t);
}

/* --- one of them ---------------------------------------------------------------------------- */

struct event_trigger *trigger_new(struct event_triggers *t, const struct event_command *command)
{
	struct event_trigger *trigger = calloc(1, sizeof(*trigger));

	if (!trigger)
		return NULL;
	trigger->command = command;
	trigger->at = t;
	trigger->left = TRIGGER_UNLIMITED;
	return trigger;
}

void trigger_free(struct event_trigger *trigger)
{
	if (!trigger)
		return;
	event_filter_free(trigger->filter);
	free(trigger->filter_text);
	free(trigger);
}

int trigger_add(struct event_trigger *trigger, bool last)
{
	struct event_triggers *t = trigger->at;
	struct event_trigger **place = &t->first;
	int err = t->owner->soft_mode(t->owner->arg, t->event, true);

	if (err)
		return err;
	while (last && *place)
		place = &(*place)->next;
	trigger->next = *place;
	*place = trigger;
	return 0;
}

void trigger_remove(struct event_trigger *trigger)
{
	struct event_triggers *t = trigger->at;
	struct event_trigger **place = &t->first;

	while (*place != trigger)
		place = &(*place)->next;
	*place = trigger->next;
	t->owner->soft_mode(t->owner->arg, t->event, false);
	if (trigger->command->release)
		trigger->command->release(trigger);
	trigger_free(trigger);
}

/* --- what is written ------------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

char *trigger_trim(char *text)
{
	size_t len = strlen(text);

	while (len && is_space(text[len - 1]))
		text[--len] = '\0';
	while (is_space(*text))
		text++;
	return text;
}

char *trigger_word(char **rest)
{
	return strsep(rest, " \t");
}

int trigger_set_count(struct event_trigger *trigger, char *param)
{
	uint64_t count;
	int err;

	if (!param)
		return 0;
	err = word_number(strsep(&param, ":"), &count);
	if (err)
		return err;
	trigger->counted = true;
	trigger->left = (int64_t)count;
	return 0;
}

/* Before 6.3 nothing was said of it. */
static int filter_error(const struct event_triggers *t, const char *text,
			const struct event_filter_error *err, int ret)
{
	const struct event_trigger_owner *owner = t->owner;

	if (owner->kernel.version >= EVENT_KERNEL(6, 3))
		owner->error(owner->arg, EVENT_FILTER_WHERE, err->what ? err->what : "Error", text,
			     err->pos);
	return ret;
}

int trigger_set_filter(struct event_trigger *trigger, char *text)
{
	const struct event_triggers *t = trigger->at;
	struct event_filter_error err;
	int ret;

	if (!text)
		return 0;
	if (strcmp(trigger_word(&text), "if") != 0 || !text)
		return -EINVAL;
	ret = event_filter_compile(&t->format, &t->owner->kernel, text, &trigger->filter, &err);
	if (ret)
		return filter_error(t, text, &err, ret);
	trigger->filter_text = strdup(text);
	return trigger->filter_text ? 0 : -ENOMEM;
}

static const struct event_command *find_command(const struct event_triggers *t, const char *name)
{
	for (const struct event_command *const *c = t->owner->commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int write_line(struct event_triggers *t, char *text)
{
	struct trigger_line line = {0};
	char *name, *rest;

	rest = trigger_trim(text);
	name = strsep(&rest, ": \t");
	line.remove = *name == '!';
	line.command = find_command(t, name + line.remove);
	if (!line.command)
		return -EINVAL;
	if (rest) {
		rest = trigger_trim(rest);
		line.param = *rest ? rest : NULL;
	}
	return line.command->write(t, &line);
}

ssize_t event_triggers_write(struct event_triggers *t, const char *text, size_t len)
{
	char *copy;
	int err;

	if (!len)
		return 0;
	if (len >= WRITE_MAX)
		return -EINVAL;
	copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	err = write_line(t, copy);
	free(copy);
	return err ? err : (ssize_t)len;
}

void event_triggers_truncate(struct event_triggers *t)
{
	unsigned int kinds = TRIGGER_HIST | TRIGGER_ENABLE_HIST;

	for (const struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->stays && i->command->stays(i))
			kinds &= ~(unsigned int)i->command->kind;
	for (struct event_trigger *i = t->first, *next; i; i = next) {
		next = i->next;
		if (i->command->kind & kinds)
			trigger_remove(i);
	}
}

/* --- what is read ---------------------------------------------------------------------------- */

void trigger_print_count(struct event_trigger *trigger, struct text *out)
{
	int64_t left = trigger->left;

	if (left == TRIGGER_UNLIMITED)
		text_puts(out, ":unlimited");
	else
		text_printf(out, ":count=%" PRId64, left);
	if (trigger->filter_text)
		text_printf(out, " if %s", trigger->filter_text);
	text_putc(out, '\n');
}

static void print_available(const struct event_triggers *t, struct text *out)
{
	text_puts(out, "# Available triggers:\n#");
	for (const struct event_command *const *c = t->owner->commands; *c; c++)
		text_printf(out, " %s", (*c)->name);
	text_putc(out, '\n');
}

void event_triggers_print(struct event_triggers *t, struct text *out)
{
	if (!t->first)
		print_available(t, out);
	for (struct event_trigger *i = t->first; i; i = i->next)
		i->command->print(i, out);
}

/* --- records --------------------------------------------------------------------------------- */

bool trigger_count(struct event_trigger *trigger)
{
	int64_t left = trigger->left;

	while (left > 0)
		if (atomic_compare_exchange_weak(&trigger->left, &left, left - 1))
			return true;
	return left == TRIGGER_UNLIMITED;
}

bool event_triggers_want_stacks(const struct event_triggers *t)
{
	for (const struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->stacks && i->command->stacks(i))
			return true;
	return false;
}

bool event_triggers_order(const struct event_triggers *t)
{
	for (const struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->orders)
			return true;
	return false;
}

bool event_triggers_turn_on(const struct event_triggers *t)
{
	for (const struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->kind == TRIGGER_ONOFF && i->command->enable)
			return true;
	return false;
}

bool event_triggers_look(const struct event_triggers *t)
{
	for (const struct event_trigger *i = t->first; i; i = i->next)
		if (i->filter || i->command->post || i->command->kind == TRIGGER_HIST)
			return true;
	return false;
}

unsigned int event_triggers_hit(struct event_triggers *t, const struct event_data *data)
{
	unsigned int pending = 0;

	for (struct event_trigger *i = t->first; i; i = i->next) {
		if (i->paused || !event_filter_match(i->filter, data))
			continue;
		if (i->command->post)
			pending |= i->command->kind;
		else
			i->command->hit(i, data);
	}
	return pending;
}

void event_triggers_post(struct event_triggers *t, unsigned int pending,
			 const struct event_data *data)
{
	for (struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->kind & pending && !i->paused)
			i->command->hit(i, data);
}
