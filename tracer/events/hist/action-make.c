// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * action-make.c - what the actions of a histogram need: variables for the fields that
 * they name, histograms of other events that have such variables, events to write records of.
 */
#include "tracer/events/hist/internal.h"
#include "tracer/events/define/synth.h"

#include <errno.h>
#include <stdio.h>

struct maker {
	const struct hist_source *src;
	struct hist_spec *spec;
};

/* --- fields as variables ---------------------------------------------------------------------- */

static struct hist_field *var_new(const char *name, const struct hist_field *val)
{
	struct hist_field *var = calloc(1, sizeof(*var));

	if (!var)
		return NULL;
	var->flags = HIST_VAR | (val->flags & HIST_STRING);
	var->string = HIST_NO_STRING;
	var->in.kind = val->in.kind;
	var->var = strdup(name);
	/* The kernel does not say of these whether they are signed. */
	if (var->var && !hist_field_set(var, name, val->in.type, hist_field_type_size(val), false))
		return var;
	hist_field_free(var);
	return NULL;
}

static int place_var(struct maker *m, const char *name, const struct hist_field *val,
		     struct hist_field **var)
{
	int err;

	*var = NULL;
	if (!m->src->remove && hist_has_var(m->src, m->spec, name))
		return -EINVAL;
	*var = var_new(name, val);
	err = *var ? hist_var_place(m->spec, *var) : -ENOMEM;
	if (err)
		hist_field_free(*var);
	return err;
}

/* Of a field of the event itself. */
static int field_var_new(struct maker *m, const char *name, struct hist_field_var *fv)
{
	char *text;
	int err;

	if (m->spec->nr_field_vars == HIST_PARAMS_MAX)
		return hist_error(m->src, "Too many field variables defined", name, -EINVAL);
	text = strdup(name);
	if (!text)
		return -ENOMEM;
	err = hist_atom_parse(m->src, m->spec, text, HIST_VAR, NULL, &fv->val);
	free(text);
	if (err)
		return hist_error(m->src, "Couldn't parse field variable", name, err);
	err = place_var(m, name, fv->val, &fv->var);
	if (!err)
		return 0;
	hist_field_free(fv->val);
	return hist_error(m->src, "Couldn't create or find variable", name, err);
}

static bool is_own_event(const struct maker *m, const struct hist_var_name *name)
{
	const struct guestsym_event *event = m->src->at->format.event;

	return !name->system ||
	       (!strcmp(name->system, event->system) && !strcmp(name->event, event->name));
}

/* --- fields of another event -------------------------------------------------------------------
 */

static bool same_key(const struct hist_field *a, const struct hist_field *b)
{
	return !strcmp(a->in.type, b->in.type) && a->size == b->size &&
	       a->in.is_signed == b->in.is_signed;
}

static bool same_keys(const struct hist_spec *a, const struct hist_spec *b)
{
	unsigned int n = a->nr_fields - a->nr_vals;

	if (b->nr_fields - b->nr_vals != n)
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (!same_key(&a->fields[a->nr_vals + i], &b->fields[b->nr_vals + i]))
			return false;
	return true;
}

static const struct event_trigger *find_compatible(const struct maker *m,
						   const struct event_triggers *t)
{
	for (const struct event_trigger *i = t->first; i; i = i->next)
		if (i->command->kind == TRIGGER_HIST && same_keys(m->spec, i->hist->spec))
			return i;
	return NULL;
}

/* One with the same keys and filter, and the field as a variable. */
static char *helper_command(const struct event_trigger *like, const char *field)
{
	const struct hist_spec *spec = like->hist->spec;
	struct text out = {0};

	for (unsigned int i = spec->nr_vals; i < spec->nr_fields; i++)
		text_printf(&out, i == spec->nr_vals ? "keys=%s" : ",%s",
			    hist_field_name(&spec->fields[i]));
	text_printf(&out, ":synthetic_%s=%s", field, field);
	if (like->filter_text)
		text_printf(&out, " if %s", like->filter_text);
	text_putc(&out, '\0');
	if (!out.failed && out.len <= EVENT_STRING_MAX)
		return out.buf;
	text_free(&out);
	return NULL;
}

static int helper_write(const struct hist_source *src, const char *command)
{
	char *text = strdup(command);
	int err = text ? hist_write(src, text) : -ENOMEM;

	free(text);
	return err;
}

static void helper_exit(struct hist_helper *h)
{
	free(h->system);
	free(h->event);
	free(h->command);
}

/* The command becomes the helper's. */
static int helper_new(struct maker *m, const struct hist_var_name *name, struct event_triggers *t,
		      char *command)
{
	const struct hist_source src = {
		.at = t, .where = m->src->where, .command = m->src->command};
	struct hist_helper *h = &m->spec->helper[m->spec->nr_helpers];
	int err;

	*h = (struct hist_helper){strdup(name->system), strdup(name->event), command};
	err = h->system && h->event ? helper_write(&src, command) : -ENOMEM;
	if (err) {
		helper_exit(h);
		return hist_error(m->src, "Couldn't create histogram for field", name->name, err);
	}
	m->spec->nr_helpers++;
	return 0;
}

static bool find_helped(const struct maker *m, const struct hist_var_name *name,
			struct hist_found *found)
{
	char var[EVENT_STRING_MAX];
	const struct hist_var_name helped = {name->system, name->event, var};

	return snprintf(var, sizeof(var), "synthetic_%s", name->name) < (int)sizeof(var) &&
	       hist_find_var(m->src, m->spec, &helped, found);
}

static int field_of_other(struct maker *m, const struct hist_var_name *name,
			  struct hist_found *found)
{
	const struct event_trigger_owner *owner = m->src->at->owner;
	struct event_triggers *t = owner->find(owner->arg, name->system, name->event);
	const struct event_trigger *like;
	char *command;
	int err;

	if (m->spec->nr_helpers == HIST_PARAMS_MAX)
		return hist_error(m->src, "Too many field variables defined", name->name, -EINVAL);
	if (!t)
		return hist_error(m->src, "Event file not found", name->name, -EINVAL);
	like = find_compatible(m, t);
	if (!like)
		return hist_error(m->src, "Matching event histogram not found", name->name,
				  -EINVAL);
	if (find_helped(m, name, found))
		return 0;
	command = helper_command(like, name->name);
	err = command ? helper_new(m, name, t, command) : -E2BIG;
	if (err)
		return err;
	if (find_helped(m, name, found))
		return 0;
	return hist_error(m->src, "Couldn't find synthetic variable", name->name, -EINVAL);
}

void hist_actions_unmake(struct event_triggers *at, struct hist_spec *spec)
{
	const struct event_trigger_owner *owner = at->owner;

	for (unsigned int i = 0; i < spec->nr_actions; i++) {
		struct hist_action *a = &spec->action[i];

		if (a->synth)
			a->synth->refs--;
		a->synth = NULL;
		if (owner->vars->snapshot && owner->vars->snapshot->action == a) {
			free(owner->vars->snapshot);
			owner->vars->snapshot = NULL;
		}
	}
	for (unsigned int i = 0; i < spec->nr_helpers; i++) {
		struct hist_helper *h = &spec->helper[i];
		struct event_triggers *t = owner->find(owner->arg, h->system, h->event);
		const struct hist_source src = {
			.at = t, .where = t, .command = h->command, .remove = true};

		if (t)
			helper_write(&src, h->command);
		helper_exit(h);
	}
	spec->nr_helpers = 0;
}

/* --- records of synthetic events ---------------------------------------------------------------
 */

/* $VAR */
static int find_param_var(struct maker *m, const struct hist_action *a, struct hist_var_name *name,
			  struct hist_found *found)
{
	struct hist_var_name where = *name;

	name->name++; /* the dollar */
	where.name++;
	found->hist = NULL;
	found->var = is_own_event(m, name) ? hist_own_var(m->spec, name->name) : NULL;
	if (found->var)
		return 0;
	if (!where.system && a->handler == HIST_ONMATCH) {
		where.system = a->system;
		where.event = a->event;
	}
	if (hist_find_var(m->src, m->spec, &where, found))
		return 0;
	return hist_error(m->src, "Couldn't find param", name->name, -EINVAL);
}

/* A field: of the event itself, or of the one that is matched. */
static int make_param_var(struct maker *m, const struct hist_action *a,
			  const struct hist_var_name *name, struct hist_found *found)
{
	struct hist_field_var *fv = &m->spec->field_var[m->spec->nr_field_vars];
	struct hist_var_name where = *name;

	if (is_own_event(m, name) && !field_var_new(m, name->name, fv)) {
		m->spec->nr_field_vars++;
		*found = (struct hist_found){NULL, fv->var};
		return 0;
	}
	if (!where.system && a->handler == HIST_ONMATCH) {
		where.system = a->system;
		where.event = a->event;
	}
	return where.system ? field_of_other(m, &where, found) : -EINVAL;
}

static bool fits(const struct synth_event *se, unsigned int i, const struct hist_field *var)
{
	const struct synth_field *f = &se->field[i];

	if (i >= se->nr_fields)
		return false;
	if (strstr(var->in.type, "char[") && f->is_string && f->is_dynamic)
		return true;
	if (f->is_stack)
		return false;
	return !strcmp(f->type, var->in.type) ||
	       (f->size == hist_field_type_size(var) &&
		(f->is_string || f->is_signed == var->in.is_signed));
}

/* SYSTEM.EVENT.NAME or NAME; text is changed. */
static int split_param(char *text, struct hist_var_name *name)
{
	*name = (struct hist_var_name){.system = strsep(&text, ".")};
	if (!text) {
		name->name = name->system;
		name->system = NULL;
		return 0;
	}
	name->event = strsep(&text, ".");
	name->name = text;
	return text ? 0 : -EINVAL;
}

static int make_param(struct maker *m, struct hist_action *a, unsigned int i, char *text)
{
	struct hist_var_name name;
	struct hist_found found;
	const char *written;
	int err = split_param(text, &name);

	if (err)
		return err;
	written = name.name;
	err = *name.name == '$' ? find_param_var(m, a, &name, &found)
				: make_param_var(m, a, &name, &found);
	if (err)
		return -EINVAL;
	if (!fits(a->synth, i, found.var))
		return hist_error(m->src, "Param type doesn't match synthetic event field type",
				  written, -EINVAL);
	return hist_refer(m->spec, &found, &name, &a->param_ref[i]);
}

static int make_trace(struct maker *m, struct hist_action *a)
{
	const struct event_trigger_owner *owner = m->src->at->owner;
	const char *name = a->synth_name ? a->synth_name : a->name;
	struct synth_event *se = owner->synth_find(owner->arg, name);
	int err = 0;

	if (!se)
		return hist_error(m->src, "Couldn't find synthetic event", name, -EINVAL);
	a->synth = se;
	se->refs++;
	for (unsigned int i = 0; i < a->nr_params && !err; i++) {
		char *text = strdup(a->param[i]);

		err = text ? make_param(m, a, i, text) : -ENOMEM;
		free(text);
	}
	if (!err && a->nr_params != se->nr_fields)
		err = hist_error(m->src, "Param count doesn't match synthetic event field count",
				 se->name, -EINVAL);
	return err;
}

/* --- the others --------------------------------------------------------------------------------
 */

static int make_snapshot(struct maker *m, struct hist_action *a)
{
	const struct event_trigger_owner *owner = m->src->at->owner;
	struct event_hist_vars *vars = owner->vars;
	int err = owner->snapshot_ready(owner->arg);

	if (err)
		return err;
	/* One that has a name may be another instance's as well, which has a snapshot of its own.
	 */
	if (vars->snapshot || m->spec->name)
		return -EBUSY;
	vars->snapshot = calloc(1, sizeof(*vars->snapshot));
	if (!vars->snapshot)
		return -ENOMEM;
	vars->snapshot->spec = m->spec;
	vars->snapshot->action = a;
	return 0;
}

static int make_save(struct maker *m, const struct hist_action *a)
{
	struct hist_spec *spec = m->spec;
	int err;

	if (spec->nr_save_vars)
		return hist_error(m->src, "Can't have more than one save() action per hist", NULL,
				  -EEXIST);
	for (unsigned int i = 0; i < a->nr_params; i++) {
		err = field_var_new(m, a->param[i], &spec->save_var[i]);
		if (err)
			return hist_error(m->src, "Couldn't create field variable", a->param[i],
					  err);
		spec->nr_save_vars++;
	}
	return 0;
}

static int make_act(struct maker *m, struct hist_action *a)
{
	switch (a->act) {
	case HIST_TRACE:
		return make_trace(m, a);
	case HIST_SNAPSHOT:
		return make_snapshot(m, a);
	default:
		return make_save(m, a);
	}
}

/* What is looked at, and what it was at its most or at last. */
static int make_track(struct maker *m, struct hist_action *a)
{
	const char *track = a->handler == HIST_ONMAX ? HIST_TRACK_MAX : HIST_TRACK_CHANGE;
	struct hist_found found = {0};
	struct hist_var_name name;
	int err;

	if (*a->var != '$')
		return hist_error(m->src, "For onmax(x) or onchange(x), x must be a variable",
				  a->var, -EINVAL);
	name = (struct hist_var_name){.name = a->var + 1};
	found.var = hist_own_var(m->spec, name.name);
	if (!found.var)
		return hist_error(m->src, "Couldn't find onmax or onchange variable", name.name,
				  -EINVAL);
	err = hist_refer(m->spec, &found, &name, &a->var_ref);
	if (err)
		return err;
	if (m->spec->nr_slots == HIST_VARS_MAX || hist_has_var(m->src, m->spec, track))
		return hist_error(m->src, "Couldn't create onmax or onchange variable", NULL,
				  -EINVAL);
	a->track_slot = m->spec->nr_slots++;
	return make_act(m, a);
}

int hist_actions_make(const struct hist_source *src, struct hist_spec *spec)
{
	struct maker m = {src, spec};
	int err = 0;

	for (unsigned int i = 0; i < spec->nr_actions && !err; i++) {
		struct hist_action *a = &spec->action[i];

		err = a->handler == HIST_ONMATCH ? make_act(&m, a) : make_track(&m, a);
	}
	return err;
}
