// SPDX-License-Identifier: GPL-2.0-or-later
/* hist.c - histograms as triggers: new ones, the same once more, names that are shared. */
#include "tracer/events/hist/internal.h"
#include "tracer/events/hist/commands.h"

#include <errno.h>

struct event_hist_names *event_hist_names_new(void)
{
	return calloc(1, sizeof(struct event_hist_names));
}

void event_hist_names_free(struct event_hist_names *names)
{
	free(names);
}

struct event_hist_vars *event_hist_vars_new(void)
{
	return calloc(1, sizeof(struct event_hist_vars));
}

void event_hist_vars_free(struct event_hist_vars *vars)
{
	free(vars);
}

bool event_hist_vars_any(const struct event_hist_vars *vars)
{
	return vars->first;
}

/* --- what is counted ------------------------------------------------------------------------- */

static struct event_hist *find_name(const struct event_hist_names *names, const char *name)
{
	struct event_hist *hist = name ? names->first : NULL;

	while (hist && strcmp(hist->spec->name, name) != 0)
		hist = hist->next;
	return hist;
}

/* Takes the spec when it succeeds. */
static struct event_hist *hist_new(struct event_hist_names *names, struct hist_spec *spec)
{
	struct event_hist *hist = calloc(1, sizeof(*hist));

	if (!hist)
		return NULL;
	hist->map = hist_map_new(spec);
	if (!hist->map) {
		free(hist);
		return NULL;
	}
	hist->users = hist->refs = 1;
	hist->spec = spec;
	hist->number = ++names->nr;
	if (spec->name) {
		hist->next = names->first;
		names->first = hist;
	}
	return hist;
}

/* A trigger of it has gone. Who refers to its variables may stay, and finds no more in them. */
static void hist_leave(struct event_hist_names *names, struct event_hist *hist)
{
	if (!--hist->users && hist->spec->name) {
		struct event_hist **place = &names->first;

		while (*place != hist)
			place = &(*place)->next;
		*place = hist->next;
	}
	event_hist_put(hist);
}

/* --- the same or another? --------------------------------------------------------------------- */

static bool same_field(const struct hist_field *a, const struct hist_field *b)
{
	if (a->flags != b->flags || a->offset != b->offset || a->size != b->size)
		return false;
	if (!a->in.name || !b->in.name) /* the first value */
		return a->in.name == b->in.name;
	return !strcmp(a->in.name, b->in.name) && !strcmp(a->in.type, b->in.type) &&
	       a->in.size == b->in.size && a->in.is_signed == b->in.is_signed;
}

/* The kernel does not look into expressions. */
static bool same_var(const struct hist_field *a, const struct hist_field *b)
{
	if (strcmp(a->var, b->var) != 0)
		return false;
	return a->flags & HIST_EXPR ? a->flags == b->flags : same_field(a, b);
}

static bool same_spec(const struct hist_spec *a, const struct hist_spec *b)
{
	if (a->nr_vals != b->nr_vals || a->nr_fields != b->nr_fields || a->nr_sort != b->nr_sort)
		return false;
	for (unsigned int i = 0; i < a->nr_fields; i++)
		if (!same_field(&a->fields[i], &b->fields[i]))
			return false;
	if (a->nr_vars != b->nr_vars)
		return false;
	for (unsigned int i = 0; i < a->nr_vars; i++)
		if (!same_var(a->var[i], b->var[i]))
			return false;
	for (unsigned int i = 0; i < a->nr_sort; i++)
		if (a->sort[i].field != b->sort[i].field ||
		    a->sort[i].descending != b->sort[i].descending)
			return false;
	return hist_actions_same(a, b);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The trigger of this event that is the same as one which is not on the list yet. */
static struct event_trigger *find_same(const struct event_trigger *trigger,
				       const struct event_hist *named)
{
	for (struct event_trigger *i = trigger->at->first; i; i = i->next) {
		if (i->command->kind != TRIGGER_HIST)
			continue;
		if (named ? i->hist != named : i->hist->spec->name != NULL)
			continue;
		if (same_text(i->filter_text, trigger->filter_text) &&
		    same_spec(i->hist->spec, trigger->spec))
			return i;
	}
	return NULL;
}

/* --- what is written ---------------------------------------------------------------------------
 */

/* pause, cont and clear of one that is there. */
static bool update(struct event_trigger *trigger, const struct event_hist *named)
{
	const struct hist_spec *spec = trigger->spec;
	struct event_trigger *same;

	if (!spec->pause && !spec->cont && !spec->clear)
		return false;
	if (spec->name && (!named || !same_spec(spec, named->spec)))
		return false;
	same = find_same(trigger, named);
	if (!same)
		return false;
	if (spec->pause)
		same->paused = true;
	else if (spec->cont)
		same->paused = false;
	else
		hist_map_clear(same->hist->map);
	return true;
}

static int check_new(const struct hist_source *src, const struct event_trigger *trigger,
		     const struct event_hist *named)
{
	const struct hist_spec *spec = trigger->spec;

	if (named && !same_spec(spec, named->spec))
		return hist_error(src,
				  "Named hist trigger doesn't match existing named trigger "
				  "(includes variables)",
				  spec->name, -EINVAL);
	if ((!spec->name || named) && find_same(trigger, named))
		return hist_error(src, "Hist trigger already exists", NULL, -EEXIST);
	if (spec->cont || spec->clear)
		return hist_error(src, "Can't clear or continue a nonexistent hist trigger", NULL,
				  -ENOENT);
	return 0;
}

static int use_clock(const struct hist_source *src, const struct hist_spec *spec)
{
	const struct event_trigger_owner *owner = src->at->owner;
	int err;

	if (!spec->timestamps)
		return 0;
	err = owner->set_clock(owner->arg, spec->clock);
	if (err)
		return hist_error(src, "Couldn't set trace_clock", spec->clock, err);
	return 0;
}

/* Those that have variables, or refer to some, of any event of the instance. */
static void vars_link(struct event_trigger *trigger)
{
	struct event_hist_vars *vars = trigger->at->owner->vars;

	trigger->next_with_vars = vars->first;
	trigger->has_vars = true;
	vars->first = trigger;
}

static void vars_unlink(struct event_trigger *trigger)
{
	struct event_trigger **place = &trigger->at->owner->vars->first;

	if (!trigger->has_vars)
		return;
	while (*place != trigger)
		place = &(*place)->next_with_vars;
	*place = trigger->next_with_vars;
	trigger->has_vars = false;
}

static int attach(const struct hist_source *src, struct event_trigger *trigger,
		  struct event_hist *named)
{
	struct event_triggers *t = trigger->at;
	const struct event_trigger_owner *owner = t->owner;
	int err = use_clock(src, trigger->spec);

	if (err)
		return err;
	if (named) {
		named->users++;
		event_hist_get(named);
		trigger->hist = named;
	} else {
		trigger->hist = hist_new(t->names, trigger->spec);
	}
	if (!trigger->hist)
		return -ENOMEM;
	trigger->paused = trigger->spec->pause;
	err = trigger_add(trigger, true);
	if (err)
		return err;
	if (trigger->spec->timestamps)
		owner->timestamps(owner->arg, true);
	if (hist_is_ordered(trigger->hist->spec))
		vars_link(trigger);
	return 0;
}

/* The trigger's own, but for what is shared with others. */
static void let_go(struct event_trigger *trigger)
{
	bool own = !trigger->hist || trigger->spec != trigger->hist->spec;
	struct hist_spec *spec = trigger->spec;

	vars_unlink(trigger);
	if (trigger->hist && trigger->hist->users == 1)
		hist_actions_unmake(trigger->at, trigger->hist->spec);
	if (own && spec) {
		hist_actions_unmake(trigger->at, spec);
		hist_spec_free(spec);
	}
	if (trigger->hist)
		hist_leave(trigger->at->names, trigger->hist);
	trigger->spec = NULL;
	trigger->hist = NULL;
}

static int remove_same(struct event_trigger *trigger, const struct event_hist *named)
{
	struct event_trigger *same = find_same(trigger, named);

	if (same && hist_is_referred_to(same))
		return -EBUSY;
	if (same)
		trigger_remove(same);
	return 1;
}

/* 0: the trigger is in use now; 1: it was only about another. */
static int apply(const struct hist_source *src, struct event_trigger *trigger)
{
	struct event_hist *named = find_name(trigger->at->names, trigger->spec->name);
	int err;

	if (src->remove)
		return remove_same(trigger, named);
	if (update(trigger, named))
		return 1;
	err = hist_actions_make(src, trigger->spec);
	if (!err)
		err = check_new(src, trigger, named);
	return err ? err : attach(src, trigger, named);
}

/* Cut " if FILTER" off the attributes. */
static int split_filter(char *attributes, char **filter)
{
	const char *end = attributes + strlen(attributes);
	char *at = attributes;

	*filter = NULL;
	while ((at = strstr(at, "if"))) {
		if (at == attributes)
			return -EINVAL;
		if (at[-1] == ' ' || at[-1] == '\t') {
			if (end - at <= 3)
				return -EINVAL;
			if (at[2] == ' ' || at[2] == '\t')
				break;
		}
		at++;
	}
	if (at) {
		at[-1] = '\0';
		*filter = trigger_trim(at);
	}
	return 0;
}

/* An operator is looked for in what is parsed. */
static void hide_sym_offset(char *attributes)
{
	const size_t sign = strlen(".sym");

	while ((attributes = strstr(attributes, ".sym-offset")))
		attributes[sign] = HIST_SYM_OFFSET_PARSED[sign - 1];
}

int hist_write(const struct hist_source *src, char *text)
{
	struct event_trigger *trigger;
	char *filter;
	int err;

	err = split_filter(text, &filter);
	if (err)
		return err;
	trigger = trigger_new(src->at, &event_command_hist);
	if (!trigger)
		return -ENOMEM;
	text = trigger_trim(text);
	hide_sym_offset(text);
	err = hist_spec_parse(src, text, &trigger->spec);
	if (!err)
		err = trigger_set_filter(trigger, filter);
	if (!err)
		err = apply(src, trigger);
	if (!err)
		return 0;
	let_go(trigger);
	trigger_free(trigger);
	return err < 0 ? err : 0;
}

static int write_hist(struct event_triggers *t, struct trigger_line *line)
{
	struct text command = {0};
	int err;

	if (!line->param)
		return -EINVAL;
	text_printf(&command, "hist:%s", line->param);
	text_putc(&command, '\0');
	if (command.failed)
		err = -ENOMEM;
	else
		err = hist_write(&(struct hist_source){t, t, command.buf, line->remove},
				 line->param);
	text_free(&command);
	return err;
}

static void release_hist(struct event_trigger *trigger)
{
	const struct event_trigger_owner *owner = trigger->at->owner;

	if (trigger->spec->timestamps)
		owner->timestamps(owner->arg, false);
	let_go(trigger);
}

/* --- what it reads ---------------------------------------------------------------------------- */

static void print_all(struct event_triggers *t, struct text *out,
		      void (*print)(struct event_trigger *trigger, struct text *out))
{
	bool first = true;

	for (struct event_trigger *i = t->first; i; i = i->next) {
		if (i->command->kind != TRIGGER_HIST)
			continue;
		if (!first)
			text_puts(out, "\n\n");
		first = false;
		print(i, out);
	}
}

void event_triggers_print_hist(struct event_triggers *t, struct text *out)
{
	print_all(t, out, hist_print);
}

void event_triggers_print_hist_debug(struct event_triggers *t, struct text *out)
{
	print_all(t, out, hist_debug_print);
}

static bool hist_stacks(const struct event_trigger *trigger)
{
	for (unsigned int i = 0; i < trigger->spec->nr_fields; i++)
		if (trigger->spec->fields[i].flags & HIST_STACKTRACE)
			return true;
	return false;
}

const struct event_command event_command_hist = {
	.name = "hist",
	.syntax = ":keys=FIELD[.MODIFIER][,...]",
	.desc = "count records by these fields (MODIFIER: hex sym sym-offset syscall execname\n"
		"log2 buckets=SIZE usecs percent graph), then, as wanted,\n"
		":values=FIELD[,...] :sort=FIELD[.descending][,...] :size=ENTRIES :name=NAME\n"
		":NAME=EXPRESSION (a variable, $NAME) :clear :pause :continue\n"
		":onmatch(SYSTEM.EVENT).trace(SYNTHETIC_EVENT,$NAME,...)\n"
		":onmax($NAME).save(FIELD,...)  :onchange($NAME).snapshot()\n"
		"and [if FILTER]; stacktrace and common_timestamp are fields, too",
	.stacks = hist_stacks,
	.kind = TRIGGER_HIST,
	.write = write_hist,
	.hit = hist_hit,
	.print = hist_trigger_print,
	.release = release_hist,
	.stays = hist_is_referred_to,
};
