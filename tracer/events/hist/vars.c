// SPDX-License-Identifier: GPL-2.0-or-later
/* vars.c - the variables of histograms: which there are, who refers to them, their
 * values.
 */
#include "tracer/events/hist/internal.h"

#include <errno.h>

/* --- by name --------------------------------------------------------------------------------- */

const struct hist_field *hist_own_var(const struct hist_spec *spec, const char *name)
{
	for (unsigned int i = 0; i < spec->nr_vars; i++)
		if (!strcmp(spec->var[i]->var, name))
			return spec->var[i];
	return NULL;
}

/* Of all histograms of an event. */
static bool find_in(const struct event_triggers *t, const char *name, struct hist_found *found)
{
	for (struct event_trigger *i = t ? t->first : NULL; i; i = i->next) {
		if (i->command->kind != TRIGGER_HIST)
			continue;
		found->hist = i->hist;
		found->var = hist_own_var(i->hist->spec, name);
		if (found->var)
			return true;
	}
	return false;
}

bool hist_has_var(const struct hist_source *src, const struct hist_spec *spec, const char *name)
{
	struct hist_found found;

	return hist_own_var(spec, name) || find_in(src->at, name, &found);
}

static bool not_unique(const struct hist_source *src, const char *name)
{
	hist_error(src,
		   "Variable name not unique, need to use fully qualified name "
		   "(subsys.event.var) for variable",
		   name, 0);
	return false;
}

static struct event_triggers *triggers_of(const struct hist_source *src, const char *system,
					  const char *event)
{
	const struct event_trigger_owner *owner = src->at->owner;

	return owner->find(owner->arg, system, event);
}

/* Of the events that its actions are to match. *more: it is not to be looked for elsewhere. */
static bool find_matching(const struct hist_source *src, const struct hist_spec *spec,
			  const char *name, struct hist_found *found, bool *more)
{
	bool some = false;

	*more = true;
	for (unsigned int i = 0; i < spec->nr_actions; i++) {
		const struct hist_action *a = &spec->action[i];
		struct hist_found one;

		if (a->handler != HIST_ONMATCH ||
		    !find_in(triggers_of(src, a->system, a->event), name, &one))
			continue;
		if (some) {
			*more = false;
			return not_unique(src, name);
		}
		some = true;
		*found = one;
	}
	return some;
}

/* Of the only event that has it. */
static bool find_anywhere(const struct hist_source *src, const char *name, struct hist_found *found)
{
	struct event_triggers *at = NULL;

	for (const struct event_trigger *i = src->at->owner->vars->first; i;
	     i = i->next_with_vars) {
		if (i->at == at || !hist_own_var(i->hist->spec, name))
			continue;
		if (at)
			return not_unique(src, name);
		at = i->at;
	}
	return find_in(at, name, found);
}

bool hist_find_var(const struct hist_source *src, const struct hist_spec *spec,
		   const struct hist_var_name *name, struct hist_found *found)
{
	bool more;

	if (name->system)
		return find_in(triggers_of(src, name->system, name->event), name->name, found);
	if (find_matching(src, spec, name->name, found, &more))
		return true;
	return more && find_anywhere(src, name->name, found);
}

/* --- references ------------------------------------------------------------------------------ */

static char *full_name(const struct hist_var_name *name, const char *var)
{
	struct text out = {0};

	if (name->system)
		text_printf(&out, "%s.%s.", name->system, name->event);
	text_puts(&out, var);
	text_putc(&out, '\0');
	if (!out.failed)
		return out.buf;
	text_free(&out);
	return NULL;
}

int hist_refer(struct hist_spec *spec, const struct hist_found *found,
	       const struct hist_var_name *name, unsigned int *nr)
{
	struct hist_ref *ref = spec->ref;

	for (*nr = 0; *nr < spec->nr_refs; ++*nr, ref++)
		if (ref->var == found->var)
			return 0;
	if (spec->nr_refs == HIST_VARS_MAX)
		return -ENOMEM;
	*ref = (struct hist_ref){
		.hist = found->hist, .var = found->var, .name = full_name(name, found->var->var)};
	if (!ref->name)
		return -ENOMEM;
	if (ref->hist)
		event_hist_get(ref->hist);
	spec->nr_refs++;
	return 0;
}

int hist_var_place(struct hist_spec *spec, struct hist_field *var)
{
	if (spec->nr_slots == HIST_VARS_MAX)
		return -EINVAL;
	var->slot = spec->nr_slots++;
	if (var->flags & HIST_STRING)
		var->string = spec->nr_strings++;
	return 0;
}

static bool refers(const struct hist_spec *spec, const struct event_hist *hist)
{
	for (unsigned int i = 0; i < spec->nr_refs; i++)
		if (spec->ref[i].hist == hist)
			return true;
	return false;
}

bool hist_is_referred_to(const struct event_trigger *trigger)
{
	const struct event_trigger *i = trigger->at->owner->vars->first;

	for (; i; i = i->next_with_vars)
		if (i->hist != trigger->hist && refers(i->hist->spec, trigger->hist))
			return true;
	return false;
}

/* --- values ---------------------------------------------------------------------------------- */

static bool take(const struct hist_ref *ref, struct hist_vars *vars, struct hist_refs *refs,
		 size_t i, bool once)
{
	const struct hist_field *var = ref->var;
	uint64_t bit = UINT64_C(1) << var->slot;

	if (!(vars->set & bit))
		return false;
	refs->val[i] = vars->val[var->slot];
	if (var->string != HIST_NO_STRING)
		memcpy(refs->str[i], vars->str[var->string], EVENT_STRING_MAX);
	if (once)
		vars->set &= ~bit;
	return true;
}

static bool resolve_one(const struct hist_ref *ref, const void *key, struct hist_refs *refs,
			size_t i)
{
	struct hist_entry *entry = hist_map_find(ref->hist->map, key);
	bool found;

	if (!entry)
		return false;
	found = take(ref, hist_entry_vars(ref->hist->spec, entry), refs, i, ref->read_once);
	hist_map_end(ref->hist->map);
	return found;
}

bool hist_resolve(const struct hist_spec *spec, const void *key, struct hist_refs *refs)
{
	for (unsigned int i = 0; i < spec->nr_refs; i++)
		if (spec->ref[i].hist && !resolve_one(&spec->ref[i], key, refs, i))
			return false;
	return true;
}

bool hist_resolve_own(const struct hist_spec *spec, struct hist_vars *vars, struct hist_refs *refs)
{
	for (unsigned int i = 0; i < spec->nr_refs; i++)
		if (!spec->ref[i].hist && !take(&spec->ref[i], vars, refs, i, false))
			return false;
	return true;
}
