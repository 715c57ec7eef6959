// SPDX-License-Identifier: GPL-2.0-or-later
/* connect.c - which trace a command is for. */
#include "frontend/session/connect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/control/client.h"
#include "frontend/session/registry.h"

static bool is_named(const struct registry_guest *g, const char *name)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%ld", (long)g->pid);
	return !name || !strcmp(name, g->name) || !strcmp(name, pid);
}

/* Those that are meant come first then: how many they are. */
static int keep_named(struct registry_guest *guests, int nr, const char *name)
{
	int kept = 0;

	for (int i = 0; i < nr; i++)
		if (is_named(&guests[i], name))
			guests[kept++] = guests[i];
	return kept;
}

static void print_names(const struct registry_guest *guests, int nr)
{
	for (int i = 0; i < nr; i++)
		fprintf(stderr, "%s%s (%ld)", i ? ", " : "", guests[i].name, (long)guests[i].pid);
	fprintf(stderr, "\n");
}

/* The first of the guests is the one that is meant, or a line says what is in the way. */
static bool choose(struct registry_guest *guests, int nr, const char *name)
{
	int kept;

	if (nr < 0) {
		fprintf(stderr, "hvtrace: the traces that run cannot be listed: %s\n",
			strerror(-nr));
		return false;
	}
	if (!nr) {
		fprintf(stderr, "hvtrace: no trace of this user runs: hvtrace run and hvtrace "
				"attach start one\n");
		return false;
	}
	kept = keep_named(guests, nr, name);
	if (!kept) {
		fprintf(stderr, "hvtrace: no guest %s is traced; there are: ", name);
		print_names(guests, nr);
	} else if (kept > 1) {
		fprintf(stderr, "hvtrace: several traces run, choose one with --guest: ");
		print_names(guests, kept);
	}
	return kept == 1;
}

static struct control_client *connect_to(const struct registry_guest *g, int out)
{
	int fd = registry_connect(g->pid);
	struct control_client *c = fd < 0 ? NULL : control_client_new(fd, out);

	if (fd == -ECONNREFUSED || fd == -ENOENT)
		fprintf(stderr, "hvtrace: the trace of %s (%ld) is at its end\n", g->name,
			(long)g->pid);
	else if (!c)
		fprintf(stderr, "hvtrace: cannot connect to the trace of %s (%ld): %s\n", g->name,
			(long)g->pid, strerror(fd < 0 ? -fd : ENOMEM));
	return c;
}

struct control_client *connect_to_trace(const char *guest, int out)
{
	struct control_client *c = NULL;
	struct registry_guest *guests;
	int nr = registry_list(&guests);

	if (choose(guests, nr, guest))
		c = connect_to(&guests[0], out);
	free(guests);
	return c;
}

static int reader_read(void *arg, const char *path, struct text *to)
{
	return control_read_all(arg, path, to);
}

struct trace_reader connect_reader(struct control_client *c)
{
	return (struct trace_reader){reader_read, c, true};
}

bool connect_describe(const char *guest, struct registry_guest *g)
{
	struct registry_guest *guests = NULL;
	int nr = registry_list(&guests);
	bool known = nr > 0 && keep_named(guests, nr, guest) == 1;

	if (known)
		*g = guests[0];
	free(guests);
	return known;
}

const char *connect_option(const char *guest, char buf[CONNECT_OPTION_LEN])
{
	*buf = '\0';
	if (guest)
		snprintf(buf, CONNECT_OPTION_LEN, "-g %s ", guest);
	return buf;
}

static bool explain_name(const char *target, char *text, size_t size)
{
	const char *path = strncmp(target, "gdb:", 4) ? target : target + 4;

	if (!*target)
		snprintf(text, size, "hvtrace list shows those of libvirt");
	else if (*path == '/' || *path == '.')
		snprintf(text, size, "the socket of a gdb stub is named gdb:unix:%s", path);
	return *text;
}

bool connect_find(const char *target, struct registry_guest *g)
{
	struct registry_guest *guests = NULL;
	int nr = registry_list(&guests);
	bool found = false;
	char same[256];

	registry_target(target, same, sizeof(same));
	for (int i = 0; *target && i < nr && !found; i++) {
		found = !strcmp(guests[i].target, same) || !strcmp(guests[i].uuid, target) ||
			(*guests[i].uuid && !strcmp(guests[i].name, target));
		if (found)
			*g = guests[i];
	}
	free(guests);
	return found;
}

bool connect_waits(const char *target, char *text, size_t size)
{
	struct registry_guest g;

	if (!connect_find(target, &g))
		return false;
	snprintf(text, size,
		 "waiting for hvtrace %ld, which traces %s, to let it go: get, set, graph, top and "
		 "latency with -g %s reach its trace",
		 (long)g.pid, g.name, g.name);
	return true;
}

void connect_explain(const char *target, char *err, size_t size)
{
	size_t len = strlen(err);
	struct registry_guest g;
	char text[384] = "";

	if (!explain_name(target, text, sizeof(text)) && connect_find(target, &g))
		snprintf(
			text, sizeof(text),
			"hvtrace %ld traces %s already: get, set, graph, top and latency with -g %s "
			"reach that trace",
			(long)g.pid, g.name, g.name);
	/* It may be a question. */
	if (*text)
		snprintf(err + len, size - len, "%s %s", len && err[len - 1] == '?' ? "" : ";",
			 text);
}
