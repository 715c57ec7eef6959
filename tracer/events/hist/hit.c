// SPDX-License-Identifier: GPL-2.0-or-later
/* hit.c - what a histogram makes of a record. */
#include "tracer/events/hist/internal.h"
#include "tracer/events/define/synth.h"

struct hit {
	struct event_trigger *trigger;
	const struct hist_spec *spec;
	const struct event_data *data;
	/* Other histograms may have longer keys; what this one has not is zero. */
	uint8_t key[HIST_KEY_SIZE_MAX];
	struct hist_refs refs;
	char comm[COMM_LEN];
};

/* --- the entry -------------------------------------------------------------------------------- */

/* What execname, which is only one of common_pid, shows: the task's name when it was first met. */
static void task_name(struct hit *h)
{
	const struct event_data *data = h->data;
	int32_t pid = 0;

	if (data->len >= 8)
		memcpy(&pid, (const uint8_t *)data->record + 4, sizeof(pid));
	if (!pid)
		strncpy(h->comm, "<idle>", COMM_LEN);
	else
		strncpy(h->comm, data->comm ? data->comm : "<...>", COMM_LEN);
}

static uint64_t value_of(const struct hit *h, const struct hist_field *field)
{
	return hist_field_value(field, h->data, h->spec->usecs, &h->refs);
}

static void set_var(const struct hit *h, const struct hist_entry *entry, struct hist_vars *vars,
		    const struct hist_field *var, const struct hist_field *val)
{
	if (var->string != HIST_NO_STRING && val->flags & HIST_EXECNAME) {
		memset(vars->str[var->string], 0, EVENT_STRING_MAX);
		memcpy(vars->str[var->string], entry->comm, COMM_LEN);
	} else if (var->string != HIST_NO_STRING) {
		hist_field_text(val, h->data, vars->str[var->string]);
	} else {
		vars->val[var->slot] = value_of(h, val);
	}
	vars->set |= UINT64_C(1) << var->slot;
}

static void set_field_vars(const struct hit *h, const struct hist_entry *entry,
			   struct hist_vars *vars, const struct hist_field_var *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		set_var(h, entry, vars, v[i].var, v[i].val);
}

static void update(const struct hit *h, struct hist_entry *entry, struct hist_vars *vars)
{
	const struct hist_spec *spec = h->spec;

	for (unsigned int i = 0; i < spec->nr_vals; i++)
		entry->sum[i] += value_of(h, &spec->fields[i]);
	for (unsigned int i = 0; i < spec->nr_vars; i++)
		set_var(h, entry, vars, spec->var[i], spec->var[i]);
	set_field_vars(h, entry, vars, spec->field_var, spec->nr_field_vars);
}

/* --- actions ---------------------------------------------------------------------------------- */

static bool is_beyond(const struct hist_action *a, uint64_t so_far, uint64_t val)
{
	return a->handler == HIST_ONMAX ? val > so_far : val != so_far;
}

/* The one that the instance has is of the most that any entry has had. */
static bool snapshot_due(const struct hit *h, const struct hist_action *a)
{
	struct hist_snapshot *s = h->trigger->at->owner->vars->snapshot;
	uint64_t val = h->refs.val[a->var_ref];

	if (!s || s->action != a || !is_beyond(a, s->val, val))
		return false;
	s->taken = true;
	s->val = val;
	memcpy(s->key, h->key, sizeof(s->key));
	memcpy(s->comm, h->comm, sizeof(s->comm));
	return true;
}

/* With the entry held: is it to be done? What changes the entry is done at once. */
static bool action_due(const struct hit *h, const struct hist_action *a,
		       const struct hist_entry *entry, struct hist_vars *vars)
{
	uint64_t val;

	if (a->handler == HIST_ONMATCH)
		return true;
	val = h->refs.val[a->var_ref];
	if (!is_beyond(a, vars->val[a->track_slot], val))
		return false;
	vars->val[a->track_slot] = val;
	vars->set |= UINT64_C(1) << a->track_slot;
	if (a->act == HIST_SAVE)
		set_field_vars(h, entry, vars, h->spec->save_var, h->spec->nr_save_vars);
	return a->act == HIST_SNAPSHOT ? snapshot_due(h, a) : true;
}

static void write_synthetic(const struct hit *h, const struct hist_action *a)
{
	const struct event_trigger_owner *owner = h->trigger->at->owner;
	struct synth_value value[SYNTH_FIELDS_MAX];
	uint8_t record[SYNTH_RECORD_MAX];
	size_t len;

	for (unsigned int i = 0; i < a->nr_params; i++) {
		unsigned int ref = a->param_ref[i];
		bool text = h->spec->ref[ref].var->string != HIST_NO_STRING;

		value[i] = (struct synth_value){
			.number = text ? 0 : h->refs.val[ref],
			.text = text ? h->refs.str[ref] : NULL,
		};
	}
	len = synth_record_make(a->synth, value, record);
	owner->synth(owner->arg, a->synth, record, len, h->data);
}

static void act(const struct hit *h, const struct hist_action *a)
{
	const struct event_trigger_owner *owner = h->trigger->at->owner;

	if (a->act == HIST_TRACE)
		write_synthetic(h, a);
	else if (a->act == HIST_SNAPSHOT)
		owner->snapshot(owner->arg, h->data);
}

static unsigned int actions_due(struct hit *h, const struct hist_entry *entry,
				struct hist_vars *vars)
{
	unsigned int due = 0;

	if (!hist_resolve_own(h->spec, vars, &h->refs))
		return 0;
	for (unsigned int i = 0; i < h->spec->nr_actions; i++)
		if (action_due(h, &h->spec->action[i], entry, vars))
			due |= 1u << i;
	return due;
}

static void take_ordered(struct hit *h)
{
	struct hist_map *map = h->trigger->hist->map;
	struct hist_entry *entry;
	unsigned int due;

	if (!hist_resolve(h->spec, h->key, &h->refs))
		return;
	entry = hist_map_begin(map, h->key, h->comm);
	if (!entry)
		return;
	update(h, entry, hist_entry_vars(h->spec, entry));
	due = actions_due(h, entry, hist_entry_vars(h->spec, entry));
	hist_map_end(map);
	/* What is written may be counted by other histograms. */
	for (unsigned int i = 0; i < h->spec->nr_actions; i++)
		if (due >> i & 1)
			act(h, &h->spec->action[i]);
}

static void take_plain(struct hit *h)
{
	struct hist_map *map = h->trigger->hist->map;
	uint64_t val[HIST_VALS_MAX];
	struct hist_entry *entry;

	for (unsigned int i = 0; i < h->spec->nr_vals; i++)
		val[i] = hist_field_value(&h->spec->fields[i], h->data, h->spec->usecs, NULL);
	entry = hist_map_begin(map, h->key, h->comm);
	if (!entry)
		return;
	for (unsigned int i = 0; i < h->spec->nr_vals; i++)
		entry->sum[i] += val[i];
	hist_map_end(map);
}

void hist_hit(struct event_trigger *trigger, const struct event_data *data)
{
	struct hit h;

	h.trigger = trigger;
	h.spec = hist_running_spec(trigger);
	h.data = data;
	memset(h.comm, 0, sizeof(h.comm));
	if (h.spec->named_tasks)
		task_name(&h);
	hist_key(h.spec, data, h.key);
	if (!hist_is_ordered(h.spec)) {
		take_plain(&h);
		return;
	}
	memset(h.key + h.spec->key_size, 0, sizeof(h.key) - h.spec->key_size);
	take_ordered(&h);
}
