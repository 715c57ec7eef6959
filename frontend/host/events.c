// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - "SYSTEM:EVENT" with globs, and the folders events/SYSTEM/EVENT. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/host/files.h"
#include "frontend/host/local.h"

/* One row of what is wanted, and what is done with each event that it names. */
struct match {
	int folder;
	char system[NAME_MAX + 1];
	const char *event; /* a glob */
	const char *in;	   /* the system that is looked through */
	bool enable;
	unsigned int nr;
	int rc; /* the first error */
};

static int see_event(void *arg, const char *name)
{
	struct match *m = arg;
	char path[2 * LOCAL_PATH_MAX];
	int rc = 0;

	snprintf(path, sizeof(path), "events/%.255s/%.255s/enable", m->in, name);
	if (fnmatch(m->event, name, 0) || faccessat(m->folder, path, F_OK, 0))
		return 0;
	m->nr++;
	if (m->enable)
		rc = files_write(m->folder, path, "1");
	if (!m->rc)
		m->rc = rc;
	return 0;
}

static int see_system(void *arg, const char *name)
{
	struct match *m = arg;
	char path[LOCAL_PATH_MAX];

	if (fnmatch(m->system, name, 0) || !strcmp(name, "ftrace"))
		return 0;
	m->in = name;
	snprintf(path, sizeof(path), "events/%.255s", name);
	files_each(m->folder, path, see_event, m); /* ENOTDIR: it is a file */
	return 0;
}

/* The glob of systems; what is behind it is that of events. A system alone means all of its. */
static const char *split(const char *text, char *system, size_t size)
{
	size_t len = strcspn(text, ":");

	snprintf(system, size, "%.*s", (int)len, text);
	return text[len] ? text + len + 1 : "*";
}

/* How many events there are of it. */
static unsigned int match(int folder, const char *text, bool enable, int *rc)
{
	struct match m = {.folder = folder, .enable = enable};

	m.event = split(text, m.system, sizeof(m.system));
	files_each(folder, "events", see_system, &m);
	*rc = m.rc;
	return m.nr;
}

int host_events_exist(int tracefs, const char *const *events, size_t nr, size_t *which)
{
	int ignored;

	for (*which = 0; *which < nr; (*which)++)
		if (!match(tracefs, events[*which], false, &ignored))
			return -ENOENT;
	return 0;
}

int events_enable(int instance, const char *const *events, size_t nr)
{
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++)
		match(instance, events[i], true, &rc);
	return rc;
}

bool events_name_system(const char *const *events, size_t nr, const char *system)
{
	char wanted[NAME_MAX + 1];

	for (size_t i = 0; i < nr; i++) {
		split(events[i], wanted, sizeof(wanted));
		if (!fnmatch(wanted, system, 0))
			return true;
	}
	return false;
}
