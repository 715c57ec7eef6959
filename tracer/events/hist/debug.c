// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debug.c - what the hist_debug file reads: how histograms are made up of fields and variables, in
 * the terms of kernel/trace/trace_events_hist.c (6.1, 6.12), whose fields are values, then
 * variables, then keys.
 */
#include <inttypes.h>

#include "tracer/events/hist/internal.h"

struct debug {
	const struct event_hist *hist;
	bool since_6_3;
	struct text *out;
};

/* The kernel has an address here, which it does not show as it is either (%p). */
static void print_hist(const struct debug *d, const char *name, const struct event_hist *hist)
{
	text_printf(d->out, "%s: %016" PRIx64 "\n", name, hist->number);
}

/* --- fields ---------------------------------------------------------------------------------- */

static void print_flags(const struct debug *d, unsigned int flags)
{
	text_puts(d->out, "      flags:\n");
	if (flags & HIST_KEY)
		text_puts(d->out, "        HIST_FIELD_FL_KEY\n");
	else if (flags & HIST_HITCOUNT)
		text_puts(d->out, "        VAL: HIST_FIELD_FL_HITCOUNT\n");
	else if (flags & HIST_VAR)
		text_puts(d->out, "        HIST_FIELD_FL_VAR\n");
	else if (flags & HIST_VAR_REF)
		text_puts(d->out, "        HIST_FIELD_FL_VAR_REF\n");
	else
		text_puts(d->out, "        VAL: normal u64 value\n");
	if (flags & HIST_ALIAS)
		text_puts(d->out, "        HIST_FIELD_FL_ALIAS\n");
	else if (flags & HIST_CONST)
		text_puts(d->out, "        HIST_FIELD_FL_CONST\n");
}

/* The kernel knows "common_cpu" without looking for a field. False: it is made of none. */
static bool print_source(const struct debug *d, const struct hist_field *f)
{
	bool other = f->flags & HIST_CPU && strcmp(f->in.name, "common_cpu") != 0;

	if (f->source != EVENT_FIELD_RECORD && !other)
		return false;
	text_printf(d->out, "      ftrace_event_field name: %s\n", f->in.name);
	return true;
}

static void print_slot(const struct debug *d, unsigned int slot)
{
	text_printf(d->out, "      var.idx (into tracing_map_elt.vars[]): %u\n", slot);
}

static void print_var(const struct debug *d, const char *name, unsigned int slot)
{
	text_printf(d->out, "      var.name: %s\n", name);
	print_slot(d, slot);
}

static void print_ref_index(const struct debug *d, unsigned int ref)
{
	text_printf(d->out, "      var_ref_idx (into hist_data->var_refs[]): %u\n", ref);
}

/* "SYSTEM.EVENT." as it was written in front of the variable. */
static void print_ref_event(const struct debug *d, const char *name)
{
	const char *event = strchr(name, '.'), *end = event ? strchr(event + 1, '.') : NULL;

	if (!end)
		return;
	text_printf(d->out, "      system: %.*s\n", (int)(event - name), name);
	text_printf(d->out, "      event_name: %.*s\n", (int)(end - event - 1), event + 1);
}

static void print_ref(const struct debug *d, unsigned int nr)
{
	const struct hist_ref *ref = &d->hist->spec->ref[nr];

	text_printf(d->out, "      name: %s\n", ref->var->var);
	print_slot(d, ref->var->slot);
	print_hist(d, "      var.hist_data", ref->hist ? ref->hist : d->hist);
	print_ref_index(d, nr);
	print_ref_event(d, ref->name);
}

/*
 * The variable or operand that the kernel has copied it from: up to three operators, and as many
 * variables as there are histograms, which are made one after the other.
 */
static const struct hist_field *made_of(const struct hist_spec *spec, const struct hist_field *f)
{
	if (f->flags & HIST_EXPR)
		return f->operand[0];
	return f->flags & (HIST_VAR_REF | HIST_ALIAS) ? spec->ref[f->ref].var : NULL;
}

static bool is_signed(const struct hist_spec *spec, const struct hist_field *f)
{
	for (const struct hist_field *of; (of = made_of(spec, f)); f = of)
		if (!(f->flags & HIST_EXPR) && spec->ref[f->ref].hist)
			spec = spec->ref[f->ref].hist->spec;
	return f->in.is_signed && !(f->flags & (HIST_STRING | HIST_LOG2 | HIST_BUCKETS));
}

static void print_type(const struct debug *d, const char *type, uint32_t size, bool is_signed)
{
	text_printf(d->out, "      type: %s\n      size: %u\n      is_signed: %u\n", type, size,
		    is_signed);
}

static void print_type_of(const struct debug *d, const struct hist_field *f)
{
	uint32_t size = f->flags & HIST_KEY ? f->size : hist_field_type_size(f);

	if (f->flags & HIST_STACKTRACE && d->since_6_3)
		print_type(d, "unsigned long[]", f->size, false);
	else if (f->flags & HIST_STACKTRACE)
		print_type(d, "(null)", f->size, false);
	else if (f->flags & HIST_HITCOUNT)
		print_type(d, "u64", sizeof(uint64_t), false);
	else
		print_type(d, f->in.type, size, is_signed(d->hist->spec, f));
}

static void print_field(const struct debug *d, const struct hist_field *f)
{
	print_flags(d, f->flags);
	print_source(d, f);
	if (f->flags & HIST_VAR)
		print_var(d, f->var, f->slot);
	if (f->flags & HIST_CONST)
		text_printf(d->out, "      constant: %" PRIu64 "\n", f->constant);
	if (f->flags & HIST_ALIAS)
		print_ref_index(d, f->ref);
	if (f->flags & HIST_VAR_REF)
		print_ref(d, f->ref);
	print_type_of(d, f);
}

static void print_ref_field(const struct debug *d, unsigned int nr)
{
	const struct hist_field *var = d->hist->spec->ref[nr].var;
	const struct hist_field ref = {
		.flags = HIST_VAR_REF, .ref = nr, .in = var->in, .size = var->size};

	print_flags(d, HIST_VAR_REF);
	print_ref(d, nr);
	print_type(d, var->in.type, hist_field_type_size(var), is_signed(d->hist->spec, &ref));
}

static void print_fields(const struct debug *d)
{
	const struct hist_spec *spec = d->hist->spec;
	unsigned int n = 0;

	text_puts(d->out, "\n  val fields:\n");
	for (unsigned int i = 0; i < spec->nr_vals; i++) {
		text_printf(d->out, "\n    hist_data->fields[%u]:\n", n++);
		print_field(d, &spec->fields[i]);
	}
	for (unsigned int i = 0; i < spec->nr_vars; i++) {
		text_printf(d->out, "\n    hist_data->fields[%u]:\n", n++);
		print_field(d, spec->var[i]);
	}
	text_puts(d->out, "\n  key fields:\n");
	for (unsigned int i = spec->nr_vals; i < spec->nr_fields; i++) {
		text_printf(d->out, "\n    hist_data->fields[%u]:\n", n++);
		print_field(d, &spec->fields[i]);
	}
}

static void print_refs(const struct debug *d)
{
	const struct hist_spec *spec = d->hist->spec;

	if (spec->nr_refs)
		text_puts(d->out, "\n  variable reference fields:\n");
	for (unsigned int i = 0; i < spec->nr_refs; i++) {
		text_printf(d->out, "\n    hist_data->var_refs[%u]:\n", i);
		print_ref_field(d, i);
	}
}

/* False: the kernel stops where such a variable is made of no field. */
static bool print_field_vars(const struct debug *d, const char *what, const char *name,
			     const struct hist_field_var *fv, unsigned int n)
{
	if (n)
		text_puts(d->out, what);
	for (unsigned int i = 0; i < n; i++) {
		text_printf(d->out, "\n    hist_data->%s[%u]:\n\n      %s[%u].var:\n", name, i,
			    name, i);
		print_flags(d, HIST_VAR);
		print_var(d, fv[i].var->var, fv[i].var->slot);
		text_printf(d->out, "\n      %s[%u].val:\n", name, i);
		if (!print_source(d, fv[i].val))
			return false;
		print_type_of(d, fv[i].val);
	}
	return true;
}

/* --- actions --------------------------------------------------------------------------------- */

static void print_track(const struct debug *d, unsigned int nr)
{
	const struct hist_action *a = &d->hist->spec->action[nr];

	text_printf(d->out, "\n    hist_data->actions[%u].track_data.var_ref:\n", nr);
	print_ref_field(d, a->var_ref);
	text_printf(d->out, "\n    hist_data->actions[%u].track_data.track_var:\n", nr);
	print_flags(d, HIST_VAR);
	print_var(d, a->handler == HIST_ONMAX ? HIST_TRACK_MAX : HIST_TRACK_CHANGE, a->track_slot);
	print_type(d, "u64", sizeof(uint64_t), false);
}

static void print_actions(const struct debug *d)
{
	const struct hist_spec *spec = d->hist->spec;

	if (spec->nr_actions)
		text_puts(d->out, "\n  action tracking variables (for "
				  "onmax()/onchange()/onmatch()):\n");
	for (unsigned int i = 0; i < spec->nr_actions; i++) {
		const struct hist_action *a = &spec->action[i];

		if (a->handler == HIST_ONMATCH)
			text_printf(d->out,
				    "\n    hist_data->actions[%u].match_data.event_system: %s\n"
				    "    hist_data->actions[%u].match_data.event: %s\n",
				    i, a->system, i, a->event);
		else
			print_track(d, i);
	}
	print_field_vars(d, "\n  save action variables (save() params):\n", "save_vars",
			 spec->save_var, spec->nr_save_vars);
}

void hist_debug_print(struct event_trigger *trigger, struct text *out)
{
	const struct debug d = {
		.hist = trigger->hist,
		.since_6_3 = trigger->at->owner->kernel.version >= EVENT_KERNEL(6, 3),
		.out = out,
	};
	const struct hist_spec *spec = d.hist->spec;
	unsigned int vals = spec->nr_vals + spec->nr_vars, keys = spec->nr_fields - spec->nr_vals;

	text_puts(out, "# event histogram\n#\n# trigger info: ");
	hist_trigger_print(trigger, out);
	text_puts(out, "#\n\n");
	print_hist(&d, "hist_data", d.hist);
	text_printf(out, "\n  n_vals: %u\n  n_keys: %u\n  n_fields: %u\n", vals, keys, vals + keys);
	print_fields(&d);
	print_refs(&d);
	if (print_field_vars(&d, "\n  field variables:\n", "field_vars", spec->field_var,
			     spec->nr_field_vars))
		print_actions(&d);
}
