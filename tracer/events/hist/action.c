// SPDX-License-Identifier: GPL-2.0-or-later
/* action.c - HANDLER(...).ACTION(...) of a histogram: parsed, compared, printed. */
#include "tracer/events/hist/internal.h"

#include <errno.h>

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static int keep(char **place, const char *text)
{
	free(*place);
	*place = strdup(text);
	return *place ? 0 : -ENOMEM;
}

static int parse_params(const struct hist_source *src, struct hist_action *a, char *params,
			bool name_first)
{
	int err = 0;

	while (params && !err) {
		char *param;

		if (a->nr_params == HIST_PARAMS_MAX)
			return hist_error(src, "Too many action params", NULL, -EINVAL);
		param = trigger_trim(strsep(&params, ","));
		if (strlen(param) < 2)
			return hist_error(src, "Invalid action param", param, -EINVAL);
		if (name_first && !a->synth_name)
			err = keep(&a->synth_name, param);
		else
			err = keep(&a->param[a->nr_params++], param);
	}
	return err;
}

static int needs_track(const struct hist_source *src, const struct hist_action *a, const char *name)
{
	if (a->handler != HIST_ONMATCH)
		return 0;
	return hist_error(src, "Handler doesn't support action", name, -EINVAL);
}

/* save(FIELD,...), snapshot(), trace(EVENT,PARAM,...), EVENT(PARAM,...) */
static int parse_act(const struct hist_source *src, struct hist_action *a, char *text)
{
	char *name, *params;
	int err;

	strsep(&text, ".");
	name = text ? strsep(&text, "(") : NULL;
	if (!text)
		return hist_error(src, "No action found", NULL, -EINVAL);
	params = strsep(&text, ")");
	if (has_prefix(name, "save")) {
		a->act = HIST_SAVE;
		err = parse_params(src, a, params, false);
		if (!err)
			err = needs_track(src, a, name);
	} else if (has_prefix(name, "snapshot")) {
		a->act = HIST_SNAPSHOT;
		err = text ? needs_track(src, a, name)
			   : hist_error(src, "No closing paren found", params, -EINVAL);
	} else {
		a->act = HIST_TRACE;
		err = parse_params(src, a, params, has_prefix(name, "trace"));
	}
	return err ? err : keep(&a->name, name);
}

/* SYSTEM.EVENT).ACTION */
static int parse_match(const struct hist_source *src, struct hist_action *a, char *text)
{
	const struct event_trigger_owner *owner = src->at->owner;
	char *event = strsep(&text, ")"), *system;
	int err;

	if (!text)
		return hist_error(src, "No closing paren found", event, -EINVAL);
	system = strsep(&event, ".");
	if (!event)
		return hist_error(src, "Missing subsystem", system, -EINVAL);
	if (!owner->find(owner->arg, system, event))
		return hist_error(src, "Invalid subsystem or event name", event, -EINVAL);
	err = keep(&a->event, event);
	if (!err)
		err = keep(&a->system, system);
	return err ? err : parse_act(src, a, text);
}

/* $VAR).ACTION */
static int parse_track(const struct hist_source *src, struct hist_action *a, char *text)
{
	char *var = strsep(&text, ")");
	int err;

	if (!text)
		return -EINVAL;
	err = keep(&a->var, var);
	return err ? err : parse_act(src, a, text);
}

static const struct {
	const char *prefix;
	enum hist_handler handler;
	int (*parse)(const struct hist_source *src, struct hist_action *a, char *text);
} handlers[] = {
	{"onmatch", HIST_ONMATCH, parse_match},
	{"onmax", HIST_ONMAX, parse_track},
	{"onchange", HIST_ONCHANGE, parse_track},
};

int hist_action_parse(const struct hist_source *src, struct hist_spec *spec, char *text)
{
	struct hist_action *a = &spec->action[spec->nr_actions++];

	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (has_prefix(text, handlers[i].prefix)) {
			a->handler = handlers[i].handler;
			return handlers[i].parse(src, a, strchr(text, '(') + 1);
		}
	return -EINVAL;
}

void hist_action_exit(struct hist_action *a)
{
	for (unsigned int i = 0; i < a->nr_params; i++)
		free(a->param[i]);
	free(a->system);
	free(a->event);
	free(a->var);
	free(a->name);
	free(a->synth_name);
}

/* --- the same or another? --------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static const char *done_by(const struct hist_action *a)
{
	return a->synth_name ? a->synth_name : a->name;
}

static bool same_action(const struct hist_action *a, const struct hist_action *b)
{
	if (a->handler != b->handler || a->act != b->act || a->nr_params != b->nr_params)
		return false;
	for (unsigned int i = 0; i < a->nr_params; i++)
		if (strcmp(a->param[i], b->param[i]) != 0)
			return false;
	return same_text(done_by(a), done_by(b)) && same_text(a->system, b->system) &&
	       same_text(a->event, b->event) && same_text(a->var, b->var);
}

bool hist_actions_same(const struct hist_spec *a, const struct hist_spec *b)
{
	if (a->nr_actions != b->nr_actions)
		return false;
	for (unsigned int i = 0; i < a->nr_actions; i++)
		if (!same_action(&a->action[i], &b->action[i]))
			return false;
	return true;
}

/* --- printed ---------------------------------------------------------------------------------- */

static void print_params(const struct hist_spec *spec, const struct hist_action *a,
			 struct text *out)
{
	if (a->act == HIST_SAVE)
		for (unsigned int i = 0; i < spec->nr_save_vars; i++)
			text_printf(out, i ? ",%s" : "%s", spec->save_var[i].var->var);
	if (a->act != HIST_TRACE)
		return;
	if (a->synth_name)
		text_puts(out, a->synth_name);
	for (unsigned int i = 0; i < a->nr_params; i++)
		text_printf(out, i || a->synth_name ? ",%s" : "%s", a->param[i]);
}

void hist_actions_print(const struct hist_spec *spec, struct text *out)
{
	for (unsigned int i = 0; i < spec->nr_actions; i++) {
		const struct hist_action *a = &spec->action[i];

		if (a->handler == HIST_ONMATCH)
			text_printf(out, ":onmatch(%s.%s).%s(", a->system, a->event, a->name);
		else
			text_printf(out, ":%s(%s).%s(", handlers[a->handler].prefix, a->var,
				    a->name);
		print_params(spec, a, out);
		text_putc(out, ')');
	}
}
