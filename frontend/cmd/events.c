// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - `hvtrace events`: the trace events of a kernel image, or of a running guest. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/events-list.h"
#include "frontend/lib/json.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/lib/patience.h"
#include "frontend/remote/remote.h"
#include "frontend/session/connect.h"
#include "frontend/session/event-category.h"
#include "frontend/session/kernel-find.h"
#include "frontend/session/registry.h"
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
	bool categories;
	struct events_choice choice;
	struct guestsym_parsers *parsers;
	struct patience patience; /* with a guest that is not traced yet */
};

/* --- where they are from ----------------------------------------------------------------- */

static int read_functions(const struct events_options *o, const struct guestsym *gs,
			  struct events_lists *lists, char *err, size_t errlen)
{
	int ret = o->choice.all ? traceable_read(&lists->functions, gs) : 0;

	if (ret) {
		guestsym_events_free(&lists->events);
		snprintf(err, errlen, "no memory for the list of functions");
	}
	return ret;
}

static int read_guest(struct events_options *o, struct events_lists *lists, char *err,
		      size_t errlen)
{
	const struct machine_attach_config cfg = {
		.target = o->domain,
		.connect = o->connect,
		.cancelled = patience_is_over,
		.arg = &o->patience,
	};
	const struct machine_patience patience = {patience_is_over, &o->patience};
	struct guestsym *gs = NULL;
	struct machine *m;
	int ret;

	patience_for(&o->patience, "attaching to the guest");
	m = machine_attach(&cfg, err, errlen);
	if (!m)
		connect_explain(o->domain, err, errlen);
	patience_for(&o->patience, "reading the guest's kernel");
	if (m)
		gs = trace_read_kernel(m, o->parsers, &patience, err, errlen);
	patience_for(&o->patience, NULL);
	ret = gs ? trace_read_events(m, gs, &lists->events, err, errlen) : -EIO;

	if (!ret)
		ret = read_functions(o, gs, lists, err, errlen);
	guestsym_close(gs);
	machine_free(m);
	return ret;
}

static int read_image(const struct events_options *o, const char *path, struct events_lists *lists,
		      char *err, size_t errlen)
{
	struct guestsym *gs = guestsym_open(o->parsers, path, 0, err, errlen);
	int ret;

	if (!gs)
		return -EIO;
	ret = guestsym_events_image(gs, 0, &lists->events);
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

static int read_kernel(const struct events_options *o, struct events_lists *lists, char *err,
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

/* --- categories -------------------------------------------------------------------------- */

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
	if (o->categories && (o->kernel || o->domain || o->choice.nr_globs)) {
		fprintf(stderr, "hvtrace: --categories are those of all kernels: it goes with no "
				"kernel and no GLOB\n");
		return false;
	}
	for (int i = 0; i < o->choice.nr_globs; i++) {
		if (!event_category_is_named(o->choice.globs[i]) ||
		    event_category_find(o->choice.globs[i]))
			continue;
		event_category_complain("", o->choice.globs[i]);
		return false;
	}
	return true;
}

/* --- the command ------------------------------------------------------------------------- */

static int events(struct events_options *o)
{
	struct events_lists lists = {.functions = {0}};
	struct registry_guest g;
	char err[512];
	int status = EXIT_FAILED;

	if (!o->choice.json)
		output_paint(PAINT_EVENTS);
	/* It lets nobody else in. */
	if (o->domain && connect_find(o->domain, &g))
		return events_list_live(&o->choice, &g);
	if (o->domain && patience_begin(&o->patience))
		return status;
	if (guestsym_parsers_start(&o->parsers, o->domain ? o->patience.cancel.fd : -1, err,
				   sizeof(err)) ||
	    (o->domain ? read_guest(o, &lists, err, sizeof(err))
		       : read_kernel(o, &lists, err, sizeof(err)))) {
		fprintf(stderr, "hvtrace: %s\n", err);
	} else {
		status = events_list_print(&o->choice, &lists);
		guestsym_events_free(&lists.events);
		traceable_free(&lists.functions);
	}
	guestsym_parsers_stop(o->parsers);
	return o->domain ? patience_end(&o->patience, status) : status;
}

int cmd_events(int argc, char **argv)
{
	struct events_options opt = {.kernel = NULL};
	const struct option_row rows[] = {
		OPT_STRING('k', "kernel", &opt.kernel, "FILE",
			   "an image (default: as hvtrace run)"),
		OPT_STRING('d', "domain", &opt.domain, "DOMAIN",
			   "a running guest, as hvtrace attach takes it"),
		OPT_STRING(0, "connect", &opt.connect, "URI", "libvirt (default: qemu:///system)"),
		OPT_FLAG('v', "verbose", &opt.choice.verbose,
			 "with fields and print fmt, as the format files have them"),
		OPT_FLAG('a', "all", &opt.choice.all,
			 "functions as well: all that can be traced, and of each what it is"),
		OPT_FLAG('c', "categories", &opt.categories, "list what categories there are"),
		OPT_FLAG(0, "json", &opt.choice.json,
			 "an array of JSON, an object for each of them"),
		OPT_COLOR,
		OPT_OPERANDS("event"),
	};
	int first = options_parse(argc, argv, rows, &events_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	opt.choice.globs = argv + first;
	opt.choice.nr_globs = argc - first;
	if (!options_make_sense(&opt))
		return EXIT_USAGE;
	if (opt.domain && remote_is(opt.connect))
		return remote_print(&(struct remote_print){
			.command = "events",
			.rows = rows,
			.connect = &opt.connect,
			.operands = argv + first,
			.nr_operands = argc - first,
			.paint = opt.choice.json ? PAINT_NOTHING : PAINT_EVENTS,
		});
	return opt.categories ? print_categories(opt.choice.json) : events(&opt);
}
