// SPDX-License-Identifier: GPL-2.0-or-later
/* events-list.c - see events-list.h */
#include "frontend/cmd/events-list.h"

#include <stdio.h>
#include <string.h>

#include "frontend/cmd/events-live.h"
#include "frontend/cmd/events-near.h"
#include "frontend/control/client.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/json.h"
#include "frontend/session/connect.h"
#include "frontend/session/event-category.h"
#include "frontend/session/registry.h"
#include "tracer/tracer.h"

/* --- which of them ----------------------------------------------------------------------- */

static bool glob_selects(const char *glob, const struct guestsym_event *ev)
{
	const struct event_category *category = event_category_find(glob);
	char both[512];

	if (category)
		return event_category_has(category, ev);
	if (!strchr(glob, ':'))
		return glob_pattern_match(glob, ev->system) || glob_pattern_match(glob, ev->name);
	snprintf(both, sizeof(both), "%s:%s", ev->system, ev->name);
	return glob_pattern_match(glob, both);
}

/* Those of the tracers cannot be enabled: available_events does not have them either. */
static bool is_selected(const struct events_choice *o, const struct guestsym_event *ev)
{
	bool selected = !o->nr_globs;

	for (int i = 0; i < o->nr_globs && !selected; i++)
		selected = glob_selects(o->globs[i], ev);
	return selected && ev->source != GUESTSYM_EVENT_FTRACE;
}

/* What it is, for people and for programs. */
struct kind {
	const char *text, *word;
};

static const struct kind function_kind = {"Function", "function"};

static struct kind event_kind(const struct guestsym_event *ev)
{
	switch (ev->source) {
	case GUESTSYM_EVENT_SYSCALL:
		return (struct kind){"System call event", "syscall"};
	case GUESTSYM_EVENT_OTHER:
		return (struct kind){"Event defined in the guest", "dynamic"};
	default:
		return (struct kind){"Tracepoint event", "tracepoint"};
	}
}

static void print_name(struct text *t, const struct events_choice *o, const char *name,
		       const char *kind)
{
	if (o->all)
		text_printf(t, "%-50s [%s]\n", name, kind);
	else
		text_printf(t, "%s\n", name);
}

static void print_event_name(struct text *t, const struct events_choice *o,
			     const struct guestsym_event *ev)
{
	char name[512];

	snprintf(name, sizeof(name), "%s:%s", ev->system, ev->name);
	print_name(t, o, name, event_kind(ev).text);
}

static bool function_is_selected(const struct events_choice *o, const char *name)
{
	for (int i = 0; i < o->nr_globs; i++)
		if (!event_category_find(o->globs[i]) && glob_pattern_match(o->globs[i], name))
			return true;
	return !o->nr_globs;
}

static size_t print_functions(struct text *t, const struct events_choice *o,
			      const struct traceable *functions)
{
	const char *name = functions->text;
	size_t n = 0;

	for (size_t i = 0; i < functions->nr; i++, name += strlen(name) + 1) {
		if (!function_is_selected(o, name))
			continue;
		print_name(t, o, name, function_kind.text);
		n++;
	}
	return n;
}

static size_t print_events(struct text *t, const struct events_choice *o,
			   const struct guestsym_event_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct guestsym_event *ev = &list->v[i];

		if (!is_selected(o, ev))
			continue;
		if (n++ && o->verbose)
			text_putc(t, '\n');
		print_event_name(t, o, ev);
		if (o->verbose)
			event_format_print(
				t, &(struct event_format){ev, list->common, list->nr_common});
	}
	return n;
}

/* --- for programs ------------------------------------------------------------------------ */

static void put_fields(struct json *j, const char *key, const struct guestsym_event_field *fields,
		       size_t nr)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < nr; i++) {
		json_begin_object(j, NULL);
		json_put_text(j, "name", fields[i].name);
		json_put_text(j, "type", fields[i].type);
		json_put_number(j, "offset", fields[i].offset);
		json_put_number(j, "size", fields[i].size);
		json_put_bool(j, "signed", fields[i].is_signed);
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_names(struct json *j, const struct guestsym_event *ev)
{
	json_put_text(j, "system", ev->system);
	json_put_text(j, "name", ev->name);
	json_put_text(j, "kind", event_kind(ev).word);
}

static void put_event(struct json *j, const struct events_choice *o,
		      const struct guestsym_event *ev)
{
	json_begin_object(j, NULL);
	put_names(j, ev);
	json_put_number(j, "id", ev->id);
	if (o->verbose) {
		put_fields(j, "fields", ev->fields, ev->nr_fields);
		json_put_text(j, "print_fmt", ev->print_fmt);
	}
	json_end_object(j);
}

static size_t put_functions(struct json *j, const struct events_choice *o,
			    const struct traceable *functions)
{
	const char *name = functions->text;
	size_t n = 0;

	for (size_t i = 0; i < functions->nr; i++, name += strlen(name) + 1) {
		if (!function_is_selected(o, name))
			continue;
		json_begin_object(j, NULL);
		json_put_text(j, "name", name);
		json_put_text(j, "kind", function_kind.word);
		json_end_object(j);
		n++;
	}
	return n;
}

struct listing {
	const struct events_choice *o;
	const struct events_lists *lists;
	size_t nr; /* of events and functions that were put */
};

static void put_list(struct json *j, void *arg)
{
	struct listing *l = arg;
	const struct guestsym_event_list *list = &l->lists->events;

	json_begin_array(j, NULL);
	for (size_t i = 0; i < list->n; i++) {
		if (!is_selected(l->o, &list->v[i]))
			continue;
		put_event(j, l->o, &list->v[i]);
		l->nr++;
	}
	l->nr += put_functions(j, l->o, &l->lists->functions);
	json_end_array(j);
}

/* --- both -------------------------------------------------------------------------------- */

static size_t add_json(struct text *t, const struct events_choice *o,
		       const struct events_lists *lists)
{
	struct listing l = {o, lists, 0};

	json_to_text(put_list, &l, t);
	return l.nr;
}

static size_t add_text(struct text *t, const struct events_choice *o,
		       const struct events_lists *lists)
{
	size_t n = print_events(t, o, &lists->events);

	return n + print_functions(t, o, &lists->functions);
}

/* nr: how many are in the text. near: what the first GLOB may have meant, where that is none. */
static int write_list(const struct events_choice *o, const struct text *t, size_t nr,
		      const struct events_near *near)
{
	char hint[512];
	int status = EXIT_FAILED;

	if (t->failed)
		fprintf(stderr, "hvtrace: no memory for the list\n");
	else if (!nr)
		fprintf(stderr, "hvtrace: no event%s matches '%s'%s (hvtrace events%s lists all)\n",
			o->all ? " or function" : "", o->nr_globs ? o->globs[0] : "*",
			events_near_hint(near, hint, sizeof(hint)), o->all ? " --all" : "");
	else if (fwrite(t->buf, 1, t->len, stdout) == t->len)
		status = EXIT_OK;
	return status;
}

static const char *first_glob(const struct events_choice *o)
{
	return o->nr_globs ? o->globs[0] : NULL;
}

static void try_all(struct events_near *near, const struct events_lists *lists)
{
	const char *name = lists->functions.text;

	for (size_t i = 0; i < lists->events.n; i++)
		events_near_try(near, &lists->events.v[i]);
	for (size_t i = 0; i < lists->functions.nr; i++, name += strlen(name) + 1)
		events_near_try_function(near, name);
}

int events_list_print(const struct events_choice *o, const struct events_lists *lists)
{
	struct text t = {0};
	size_t n = o->json ? add_json(&t, o, lists) : add_text(&t, o, lists);
	struct events_near near;
	int status;

	events_near_begin(&near, first_glob(o));
	if (!n)
		try_all(&near, lists);
	status = write_list(o, &t, n, &near);

	if (lists->events.left_out)
		fprintf(stderr, "hvtrace: %zu more events of modules are left out\n",
			lists->events.left_out);
	text_free(&t);
	return status;
}

/* --- a guest that is traced already ------------------------------------------------------ */

struct live {
	const struct events_choice *o;
	struct text text;
	struct json *json; /* NULL: it is text */
	size_t nr;
	struct events_near near;
};

static bool live_wants(void *arg, const struct guestsym_event *ev)
{
	struct live *l = arg;

	events_near_try(&l->near, ev);
	return is_selected(l->o, ev);
}

static void live_see(void *arg, const struct guestsym_event *ev, const char *format)
{
	struct live *l = arg;

	l->nr++;
	if (l->json) {
		json_begin_object(l->json, NULL);
		put_names(l->json, ev);
		events_live_put_format(l->json, format, l->o->verbose);
		json_end_object(l->json);
		return;
	}
	if (l->nr > 1 && format)
		text_putc(&l->text, '\n');
	print_event_name(&l->text, l->o, ev);
	text_puts(&l->text, format ? format : "");
}

static int live_functions(struct live *l, struct control_client *c)
{
	struct traceable functions = {0};
	int rc = l->o->all ? events_live_functions(c, &functions) : 0;

	if (!rc)
		l->nr += l->json ? put_functions(l->json, l->o, &functions)
				 : print_functions(&l->text, l->o, &functions);
	traceable_free(&functions);
	return rc;
}

static int live_all(struct live *l, struct control_client *c)
{
	const struct events_live how = {live_wants, live_see, l, l->json || l->o->verbose};
	int rc = events_live_each(c, &how);

	return rc ? rc : live_functions(l, c);
}

struct live_listing {
	struct live *l;
	struct control_client *c;
	int rc;
};

static void put_live(struct json *j, void *arg)
{
	struct live_listing *listing = arg;

	listing->l->json = j;
	json_begin_array(j, NULL);
	listing->rc = live_all(listing->l, listing->c);
	json_end_array(j);
}

int events_list_live(const struct events_choice *o, const struct registry_guest *g)
{
	struct live l = {.o = o};
	struct live_listing listing = {&l, NULL, 0};
	char pid[16];
	int status = EXIT_FAILED;

	snprintf(pid, sizeof(pid), "%ld", (long)g->pid);
	events_near_begin(&l.near, first_glob(o));
	listing.c = connect_to_trace(pid, -1);
	if (!listing.c)
		return status;
	if (o->json)
		json_to_text(put_live, &listing, &l.text);
	else
		listing.rc = live_all(&l, listing.c);
	control_client_free(listing.c);
	if (listing.rc)
		fprintf(stderr, "hvtrace: cannot read the events of the trace: %s\n",
			control_strerror(listing.rc));
	else
		status = write_list(o, &l.text, l.nr, &l.near);
	text_free(&l.text);
	return status;
}
