// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - `hvtrace events`: the trace events of a kernel image, or of a running guest. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/traceable.h"
#include "frontend/lib/json.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/session/connect.h"
#include "frontend/session/event-category.h"
#include "frontend/session/kernel-find.h"
#include "guestsym/guestsym.h"
#include "tracer/tracer.h"
#include "vmm/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_usage events_usage = {
	"hvtrace events [OPTION]... [GLOB]...",
	"Lists the trace events of a kernel image or of a running guest, whose modules' events are\n"
	"among them, as available_events does: SYSTEM:EVENT, one a line. A GLOB selects those that it\n"
	"matches as a whole, or without a colon in it those whose system or name it matches, @NAME\n"
	"those of a category. With --all functions are listed, too, and of each what it is.",
	"hvtrace events -k vmlinuz 'sched:*'\n"
	"hvtrace events -d mydomain -v sched_switch\n"
	"hvtrace events --json -v sched_switch | jq '.[].fields'",
};

struct events_options {
	const char *kernel, *domain, *connect;
	bool verbose, categories, all, json;
	char **globs;
	int nr_globs;
	struct guestsym_parsers *parsers;
};

/* What there is. */
struct kernel_lists {
	struct guestsym_event_list events;
	struct traceable functions; /* with --all */
};

/* --- where they are from ----------------------------------------------------------------- */

static int read_functions(const struct events_options *o, const struct guestsym *gs,
			  struct kernel_lists *lists, char *err, size_t errlen)
{
	int ret = o->all ? traceable_read(&lists->functions, gs) : 0;

	if (ret) {
		guestsym_events_free(&lists->events);
		snprintf(err, errlen, "no memory for the list of functions");
	}
	return ret;
}

static void explain(const struct events_options *o, char *err, size_t errlen)
{
	size_t len = strlen(err);
	char text[256];

	connect_explain(o->domain, text, sizeof(text));
	if (*text)
		snprintf(err + len, errlen - len, "; %s (hvtrace get available_events)", text);
}

static int read_guest(const struct events_options *o, struct kernel_lists *lists, char *err,
		      size_t errlen)
{
	const struct machine_attach_config cfg = {.target = o->domain, .connect = o->connect};
	struct machine *m = machine_attach(&cfg, err, errlen);
	const struct machine_patience always = {NULL, NULL};
	struct guestsym *gs = m ? trace_read_kernel(m, o->parsers, &always, err, errlen) : NULL;
	int ret;

	if (!m)
		explain(o, err, errlen);
	ret = gs ? trace_read_events(m, gs, &lists->events, err, errlen) : -EIO;

	if (!ret)
		ret = read_functions(o, gs, lists, err, errlen);
	guestsym_close(gs);
	machine_free(m);
	return ret;
}

static int read_image(const struct events_options *o, const char *path, struct kernel_lists *lists,
		      char *err, size_t errlen)
{
	struct guestsym *gs = guestsym_open(o->parsers, path, 0, err, errlen);
	int ret;

	if (!gs)
		return -EIO;
	ret = guestsym_events_image(gs, &lists->events);
	if (ret == -ENODATA)
		snprintf(err, errlen,
			 "%s: says nothing about its events (no BTF); give a kernel built with "
			 "CONFIG_DEBUG_INFO_BTF=y",
			 path);
	else if (ret == -ENOENT)
		snprintf(err, errlen,
			 "%s: has no trace events; give a kernel built with CONFIG_EVENT_TRACING=y",
			 path);
	else if (ret)
		snprintf(err, errlen, "%s: its trace events make no sense (%s)", path,
			 strerror(-ret));
	else
		ret = read_functions(o, gs, lists, err, errlen);
	guestsym_close(gs);
	return ret;
}

static int read_kernel(const struct events_options *o, struct kernel_lists *lists, char *err,
		       size_t errlen)
{
	char *found = o->kernel ? NULL : kernel_find();
	const char *path = o->kernel ? o->kernel : found;
	int ret = path ? read_image(o, path, lists, err, errlen) : -ENOENT;

	if (!path)
		snprintf(err, errlen, "there is no kernel in /boot; name one with --kernel FILE");
	free(found);
	return ret;
}

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
static bool is_selected(const struct events_options *o, const struct guestsym_event *ev)
{
	bool selected = !o->nr_globs;

	for (int i = 0; i < o->nr_globs && !selected; i++)
		selected = glob_selects(o->globs[i], ev);
	return selected && ev->source != GUESTSYM_EVENT_FTRACE;
}

static const char *event_kind(const struct guestsym_event *ev)
{
	switch (ev->source) {
	case GUESTSYM_EVENT_SYSCALL:
		return "System call event";
	case GUESTSYM_EVENT_OTHER:
		return "Event defined in the guest";
	default:
		return "Tracepoint event";
	}
}

static void print_name(struct text *t, const struct events_options *o, const char *name,
		       const char *kind)
{
	if (o->all)
		text_printf(t, "%-50s [%s]\n", name, kind);
	else
		text_printf(t, "%s\n", name);
}

static bool function_is_selected(const struct events_options *o, const char *name)
{
	for (int i = 0; i < o->nr_globs; i++)
		if (!event_category_find(o->globs[i]) && glob_pattern_match(o->globs[i], name))
			return true;
	return !o->nr_globs;
}

static size_t print_functions(struct text *t, const struct events_options *o,
			      const struct traceable *functions)
{
	const char *name = functions->text;
	size_t n = 0;

	for (size_t i = 0; i < functions->nr; i++, name += strlen(name) + 1) {
		if (!function_is_selected(o, name))
			continue;
		print_name(t, o, name, "Function");
		n++;
	}
	return n;
}

static size_t print_events(struct text *t, const struct events_options *o,
			   const struct guestsym_event_list *list)
{
	char name[512];
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct guestsym_event *ev = &list->v[i];

		if (!is_selected(o, ev))
			continue;
		snprintf(name, sizeof(name), "%s:%s", ev->system, ev->name);
		if (n++ && o->verbose)
			text_putc(t, '\n');
		print_name(t, o, name, event_kind(ev));
		if (o->verbose)
			event_format_print(
				t, &(struct event_format){ev, list->common, list->nr_common});
	}
	return n;
}

/* --- for programs ------------------------------------------------------------------------ */

static const char *kind_word(const struct guestsym_event *ev)
{
	switch (ev->source) {
	case GUESTSYM_EVENT_SYSCALL:
		return "syscall";
	case GUESTSYM_EVENT_OTHER:
		return "dynamic";
	default:
		return "tracepoint";
	}
}

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

static void put_event(struct json *j, const struct events_options *o,
		      const struct guestsym_event *ev)
{
	json_begin_object(j, NULL);
	json_put_text(j, "system", ev->system);
	json_put_text(j, "name", ev->name);
	json_put_text(j, "kind", kind_word(ev));
	json_put_text(j, "module", ev->module);
	json_put_number(j, "id", ev->id);
	if (o->verbose) {
		put_fields(j, "fields", ev->fields, ev->nr_fields);
		json_put_text(j, "print_fmt", ev->print_fmt);
	}
	json_end_object(j);
}

static size_t put_functions(struct json *j, const struct events_options *o,
			    const struct traceable *functions)
{
	const char *name = functions->text;
	size_t n = 0;

	for (size_t i = 0; i < functions->nr; i++, name += strlen(name) + 1) {
		if (!function_is_selected(o, name))
			continue;
		json_begin_object(j, NULL);
		json_put_text(j, "name", name);
		json_put_text(j, "kind", "function");
		json_end_object(j);
		n++;
	}
	return n;
}

struct listing {
	const struct events_options *o;
	const struct kernel_lists *lists;
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

static size_t add_json(struct text *t, const struct events_options *o,
		       const struct kernel_lists *lists)
{
	struct listing l = {o, lists, 0};

	json_to_text(put_list, &l, t);
	return l.nr;
}

static size_t add_text(struct text *t, const struct events_options *o,
		       const struct kernel_lists *lists)
{
	size_t n = print_events(t, o, &lists->events);

	output_paint(PAINT_EVENTS);
	return n + print_functions(t, o, &lists->functions);
}

static int print_list(const struct events_options *o, const struct kernel_lists *lists)
{
	const struct guestsym_event_list *list = &lists->events;
	struct text t = {0};
	int status = EXIT_FAILED;
	size_t n = o->json ? add_json(&t, o, lists) : add_text(&t, o, lists);

	if (!n && !t.failed)
		fprintf(stderr, "hvtrace: no event%s matches %s (hvtrace events%s lists all)\n",
			o->all ? " or function" : "", o->nr_globs ? o->globs[0] : "",
			o->all ? " --all" : "");
	else if (t.failed)
		fprintf(stderr, "hvtrace: no memory for the list\n");
	else if (fwrite(t.buf, 1, t.len, stdout) == t.len)
		status = EXIT_OK;
	if (list->left_out)
		fprintf(stderr, "hvtrace: %zu more events of modules are left out\n",
			list->left_out);
	text_free(&t);
	return status;
}

/* Of each its name and what it is about. */
static int print_categories(bool json)
{
	const struct event_category *c;
	struct json j = {.out = stdout};

	if (!json) {
		for (unsigned int i = 0; (c = event_category(i)); i++)
			printf("@%-16s%s\n", c->name, c->what);
		return EXIT_OK;
	}
	json_begin_array(&j, NULL);
	for (unsigned int i = 0; (c = event_category(i)); i++) {
		json_begin_object(&j, NULL);
		json_put_text(&j, "name", c->name);
		json_put_text(&j, "what", c->what);
		json_end_object(&j);
	}
	json_end_array(&j);
	return EXIT_OK;
}

/* Else one line on stderr says what is wrong. */
static bool options_make_sense(const struct events_options *o)
{
	if (o->kernel && o->domain) {
		fprintf(stderr, "hvtrace: --kernel and --domain do not go together\n");
		return false;
	}
	if (o->categories && (o->kernel || o->domain || o->nr_globs)) {
		fprintf(stderr, "hvtrace: --categories are those of all kernels: it goes with no "
				"kernel and no GLOB\n");
		return false;
	}
	for (int i = 0; i < o->nr_globs; i++) {
		if (!event_category_is_named(o->globs[i]) || event_category_find(o->globs[i]))
			continue;
		event_category_complain("", o->globs[i]);
		return false;
	}
	return true;
}

/* --- the command ------------------------------------------------------------------------- */

static int events(struct events_options *o)
{
	struct kernel_lists lists = {.functions = {0}};
	char err[512];
	int status = EXIT_FAILED;

	if (guestsym_parsers_start(&o->parsers, -1, err, sizeof(err)) ||
	    (o->domain ? read_guest(o, &lists, err, sizeof(err))
		       : read_kernel(o, &lists, err, sizeof(err)))) {
		fprintf(stderr, "hvtrace: %s\n", err);
	} else {
		status = print_list(o, &lists);
		guestsym_events_free(&lists.events);
		traceable_free(&lists.functions);
	}
	guestsym_parsers_stop(o->parsers);
	return status;
}

int cmd_events(int argc, char **argv)
{
	struct events_options opt = {.kernel = NULL};
	const struct option_row rows[] = {
		OPT_STRING('k', "kernel", &opt.kernel, "FILE",
			   "an image (default: the newest in /boot)"),
		OPT_STRING('d', "domain", &opt.domain, "DOMAIN",
			   "a running guest, as hvtrace attach takes it"),
		OPT_STRING(0, "connect", &opt.connect, "URI", "libvirt (default: qemu:///system)"),
		OPT_FLAG('v', "verbose", &opt.verbose,
			 "with fields and print fmt, as the format files have them"),
		OPT_FLAG('a', "all", &opt.all,
			 "functions as well: all that can be traced, and of each what it is"),
		OPT_FLAG('c', "categories", &opt.categories, "list what categories there are"),
		OPT_FLAG(0, "json", &opt.json, "an array of JSON, an object for each of them"),
		OPT_COLOR,
		OPT_OPERANDS("event"),
	};
	int first = options_parse(argc, argv, rows, &events_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	opt.globs = argv + first;
	opt.nr_globs = argc - first;
	if (!options_make_sense(&opt))
		return EXIT_USAGE;
	return opt.categories ? print_categories(opt.json) : events(&opt);
}
