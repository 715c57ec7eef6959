// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - `hvtrace list`: the guests that could be attached to, and those of hvtrace itself.
 */
#include "frontend/cmd/command.h"
#include "frontend/lib/options.h"
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
	"hvtrace list --connect qemu:///session",
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

/* What the image says, if it can be read. */
static void print_domain(const struct guests *g, const struct machine_listing *d)
{
	struct guestsym *gs = NULL;
	char id[16], ignored[256];

	if (*d->kernel)
		gs = guestsym_open(g->parsers, d->kernel, 0, ignored, sizeof(ignored));
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

static void print_own(const struct guests *g, const struct registry_guest *own)
{
	char id[16] = "-";

	for (int i = 0; i < g->domains; i++)
		if (is_same(own, &g->domain[i]))
			snprintf(id, sizeof(id), "%u", g->domain[i].id);
	print_guest(id, own->name, "traced", own->vcpus, own->accel, own->release);
}

static void print_guests(const struct guests *g)
{
	printf("%-5s %-24s %-10s %5s  %-5s %s\n", "ID", "NAME", "STATE", "VCPUS", "ACCEL",
	       "KERNEL");
	for (int i = 0; i < g->domains; i++)
		if (!is_own(g, &g->domain[i]))
			print_domain(g, &g->domain[i]);
	for (int i = 0; i < g->owns; i++)
		print_own(g, &g->own[i]);
}

static int list(const char *uri)
{
	struct guests g = {.domain = NULL};
	bool failed;

	if (guestsym_parsers_start(&g.parsers, -1, g.err, sizeof(g.err))) {
		fprintf(stderr, "hvtrace: %s\n", g.err);
		return EXIT_FAILED;
	}
	g.owns = registry_list(&g.own);
	g.domains = machine_list(uri, &g.domain, g.err, sizeof(g.err));
	/* Nothing is known when libvirt does not answer, unless a guest is traced. */
	if (g.domains >= 0 || g.owns > 0)
		print_guests(&g);
	failed = g.owns < 0 || g.domains < 0;
	guestsym_parsers_stop(g.parsers);
	if (g.owns < 0)
		fprintf(stderr, "hvtrace: the guests that are traced cannot be listed: %s\n",
			strerror(-g.owns));
	if (g.domains < 0)
		fprintf(stderr, "hvtrace: %s\n", g.err);
	free(g.own);
	free(g.domain);
	return failed ? EXIT_FAILED : EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
	const char *uri = NULL;
	const struct option_row rows[] = {
		OPT_STRING(0, "connect", &uri, "URI", "libvirt (default: qemu:///system)"),
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
	return list(uri);
}
