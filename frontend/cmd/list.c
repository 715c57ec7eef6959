// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - `hvtrace list`: the guests that could be attached to, and those of hvtrace itself.
 */
#include "frontend/cmd/command.h"
#include "frontend/lib/json.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/lib/patience.h"
#include "frontend/remote/remote.h"
#include "frontend/session/registry.h"
#include "guestsym/guestsym.h"
#include "vmm/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_usage list_usage = {
	"hvtrace list [OPTION]...",
	"Lists the running domains of libvirt, which hvtrace attach can trace, and the guests that the\n"
	"user's own hvtrace is tracing: id, name, state, vCPUs, accelerator, and the release of\n"
	"the kernel, or the image that the configuration names (-: none; hvtrace attach then finds the\n"
	"kernel in memory).",
	"hvtrace list\n"
	"hvtrace list --connect qemu:///session\n"
	"hvtrace list --json | jq -r '.[].name'",
};

struct guests {
	struct machine_listing *domain;
	int domains; /* or what machine_list() gave */
	struct registry_guest *own;
	int owns; /* or what registry_list() gave */
	struct guestsym_parsers *parsers;
	char err[512];
};

static void print_guest(const char *id, const char *name, const char *state, unsigned int vcpus,
			const char *accel, const char *kernel)
{
	printf("%-5s %-24s %-10s %5u  %-5s %s\n", id, name, state, vcpus, accel,
	       *kernel ? kernel : "-");
}

/* NULL: it names none, or that cannot be read. */
static struct guestsym *open_image(const struct guests *g, const struct machine_listing *d)
{
	char ignored[256];

	return *d->kernel ? guestsym_open(g->parsers, d->kernel, 0, ignored, sizeof(ignored))
			  : NULL;
}

static void print_domain(const struct guests *g, const struct machine_listing *d)
{
	struct guestsym *gs = open_image(g, d);
	char id[16];

	snprintf(id, sizeof(id), "%u", d->id);
	print_guest(id, d->name, d->state, d->vcpus, d->accel,
		    gs && *guestsym_release(gs) ? guestsym_release(gs) : d->kernel);
	guestsym_close(gs);
}

/* Domains of several libvirts may have the same name. */
static bool is_same(const struct registry_guest *own, const struct machine_listing *d)
{
	return *d->uuid && !strcmp(own->uuid, d->uuid);
}

/* A guest of ours may be a domain: it is listed once. */
static bool is_own(const struct guests *g, const struct machine_listing *d)
{
	for (int i = 0; i < g->owns; i++)
		if (is_same(&g->own[i], d))
			return true;
	return false;
}

/* NULL: it is none. */
static const struct machine_listing *domain_of(const struct guests *g,
					       const struct registry_guest *own)
{
	for (int i = 0; i < g->domains; i++)
		if (is_same(own, &g->domain[i]))
			return &g->domain[i];
	return NULL;
}

static void print_own(const struct guests *g, const struct registry_guest *own)
{
	const struct machine_listing *d = domain_of(g, own);
	char id[16] = "-";

	if (d)
		snprintf(id, sizeof(id), "%u", d->id);
	print_guest(id, own->name, "traced", own->vcpus, own->accel, own->release);
}

static void print_guests(const struct guests *g)
{
	output_paint(PAINT_GUESTS);
	printf("%-5s %-24s %-10s %5s  %-5s %s\n", "ID", "NAME", "STATE", "VCPUS", "ACCEL",
	       "KERNEL");
	for (int i = 0; i < g->domains; i++)
		if (!is_own(g, &g->domain[i]))
			print_domain(g, &g->domain[i]);
	for (int i = 0; i < g->owns; i++)
		print_own(g, &g->own[i]);
}

/* --- for programs ------------------------------------------------------------------------- */

static void put_guest(struct json *j, const char *name, const char *uuid, const char *state,
		      unsigned int vcpus, const char *accel)
{
	json_put_text(j, "name", name);
	json_put_text(j, "uuid", *uuid ? uuid : NULL);
	json_put_text(j, "state", state);
	json_put_number(j, "vcpus", vcpus);
	json_put_text(j, "accelerator", accel);
}

static void put_domain(struct json *j, const struct guests *g, const struct machine_listing *d)
{
	struct guestsym *gs = open_image(g, d);

	json_begin_object(j, NULL);
	json_put_number(j, "id", d->id);
	put_guest(j, d->name, d->uuid, d->state, d->vcpus, d->accel);
	json_put_text(j, "release", gs && *guestsym_release(gs) ? guestsym_release(gs) : NULL);
	json_put_text(j, "kernel", *d->kernel ? d->kernel : NULL);
	json_put_null(j, "tracer_pid");
	json_end_object(j);
	guestsym_close(gs);
}

static void put_own(struct json *j, const struct guests *g, const struct registry_guest *own)
{
	const struct machine_listing *d = domain_of(g, own);

	json_begin_object(j, NULL);
	if (d)
		json_put_number(j, "id", d->id);
	else
		json_put_null(j, "id");
	put_guest(j, own->name, own->uuid, "traced", own->vcpus, own->accel);
	json_put_text(j, "release", *own->release ? own->release : NULL);
	json_put_text(j, "kernel", d && *d->kernel ? d->kernel : NULL);
	json_put_number(j, "tracer_pid", (uint64_t)own->pid);
	json_end_object(j);
}

static void put_guests(const struct guests *g)
{
	struct json j = {.out = stdout};

	json_begin_array(&j, NULL);
	for (int i = 0; i < g->domains; i++)
		if (!is_own(g, &g->domain[i]))
			put_domain(&j, g, &g->domain[i]);
	for (int i = 0; i < g->owns; i++)
		put_own(&j, g, &g->own[i]);
	json_end_array(&j);
}

/* --- the command -------------------------------------------------------------------------- */

/* p: for libvirt, which may not answer. */
static int list_all(const char *uri, bool json, struct patience *p)
{
	const struct machine_patience patience = {patience_is_over, p};
	struct guests g = {.domain = NULL};
	bool failed;

	if (guestsym_parsers_start(&g.parsers, p->cancel.fd, g.err, sizeof(g.err))) {
		fprintf(stderr, "hvtrace: %s\n", g.err);
		return EXIT_FAILED;
	}
	g.owns = registry_list(&g.own);
	patience_for(p, "waiting for libvirt");
	g.domains = machine_list(uri, &patience, &g.domain, g.err, sizeof(g.err));
	patience_for(p, NULL);
	/* Nothing is known when libvirt does not answer, unless a guest is traced. */
	if (g.domains >= 0 || g.owns > 0)
		(json ? put_guests : print_guests)(&g);
	failed = g.owns < 0 || g.domains < 0;
	guestsym_parsers_stop(g.parsers);
	if (g.owns < 0)
		fprintf(stderr, "hvtrace: the guests that are traced cannot be listed: %s\n",
			strerror(-g.owns));
	if (g.domains < 0)
		fprintf(stderr, "hvtrace: %s\n", g.err);
	free(g.own);
	machine_list_free(g.domain, g.domains);
	return failed ? EXIT_FAILED : EXIT_OK;
}

static int list(const char *uri, bool json)
{
	struct patience patience;

	if (patience_begin(&patience))
		return EXIT_FAILED;
	return patience_end(&patience, list_all(uri, json, &patience));
}

int cmd_list(int argc, char **argv)
{
	const char *uri = NULL;
	bool json = false;
	const struct option_row rows[] = {
		OPT_STRING(0, "connect", &uri, "URI", "libvirt (default: qemu:///system)"),
		OPT_FLAG(0, "json", &json, "an array of JSON, an object for each guest"),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &list_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (first < argc) {
		fprintf(stderr, "hvtrace: list takes no operand: %s (hvtrace list --help)\n",
			argv[first]);
		return EXIT_USAGE;
	}
	if (remote_is(uri))
		return remote_print(&(struct remote_print){
			.command = "list",
			.rows = rows,
			.connect = &uri,
			.paint = json ? PAINT_NOTHING : PAINT_GUESTS,
		});
	return list(uri, json);
}
