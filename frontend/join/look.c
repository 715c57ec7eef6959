// SPDX-License-Identifier: GPL-2.0-or-later
/* look.c - what is known of each file before any is joined: names, vCPUs, clocks. */
#include "frontend/join/local.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

/* Instances are behind a colon, of what has a slash readers show the end, and a name is one word.
 */
static void clean(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == DAT_PART_COLON || *name == '/' ||
		    *name == 0x7f)
			*name = '_';
}

static void name_by_path(struct join_source *s)
{
	const char *slash = strrchr(s->path, '/'), *base = slash ? slash + 1 : s->path;
	size_t len = strlen(base);

	if (len > 4 && !strcmp(base + len - 4, ".dat"))
		len -= 4;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)len, base);
	clean(s->name);
}

static void name_by_file(struct join_source *s, const struct dat_info *info)
{
	size_t len;
	const char *node = dat_uname(info, DAT_UNAME_NODE, &len);

	if (node && len)
		snprintf(s->name, sizeof(s->name), "%.*s", (int)len, node);
	else
		name_by_path(s);
	clean(s->name);
}

static bool is_taken(const struct join *j, const char *name, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(j->source[i].name, name))
			return true;
	return false;
}

/* Of those that say the same of themselves the files' names, and if these are the same, too, with
 * a number. */
static void make_unique(struct join *j)
{
	bool again[JOIN_FILES_MAX] = {false};

	for (size_t i = 0; i < j->opt->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(j->source[i].name, j->source[k].name))
				again[i] = again[k] = true;
	for (size_t i = 0; i < j->opt->nr; i++)
		if (again[i] && !(j->opt->names && j->opt->names[i]))
			name_by_path(&j->source[i]);
	for (size_t i = 1; i < j->opt->nr; i++) {
		char name[JOIN_NAME_MAX];

		snprintf(name, sizeof(name), "%s", j->source[i].name);
		for (unsigned int n = 2; is_taken(j, j->source[i].name, i); n++)
			snprintf(j->source[i].name, JOIN_NAME_MAX, "%.*s#%u", JOIN_NAME_MAX - 8,
				 name, n);
	}
}

/* --- one file --------------------------------------------------------------------------------- */

static unsigned int vcpus_of(const struct dat *d)
{
	unsigned int vcpus = dat_info(d)->cpus;

	for (size_t i = 0; i < dat_nr_buffers(d); i++)
		if (dat_buffer(d, i)->cpus > vcpus)
			vcpus = dat_buffer(d, i)->cpus;
	return vcpus ? vcpus : 1;
}

static uint64_t bytes_of(const struct dat *d)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < dat_nr_buffers(d); i++)
		for (unsigned int v = 0; v < dat_buffer(d, i)->nr_vcpus; v++)
			bytes += dat_buffer(d, i)->vcpus[v].size;
	return bytes;
}

static int look_at(struct join *j, struct join_source *s, const struct dat *d, const char *name)
{
	if (dat_nr_parts(d))
		return join_fail(
			j, s->path,
			"it has several guests already: give the files that it was made of");
	if (!dat_nr_buffers(d))
		return join_fail(j, s->path, "it has no records");
	if (name)
		snprintf(s->name, sizeof(s->name), "%s", name);
	else
		name_by_file(s, dat_info(d));
	clean(s->name);
	s->vcpus = vcpus_of(d);
	s->bytes = bytes_of(d);
	s->clock = join_clock_of(d);
	if (s->vcpus > JOURNAL_VCPUS_MAX)
		return join_fail(j, s->path, "it is of %u CPUs; %d are joined at most", s->vcpus,
				 JOURNAL_VCPUS_MAX);
	return 0;
}

static int look_into(struct join *j, size_t i, int fd)
{
	struct join_source *s = &j->source[i];
	const char *name = j->opt->names ? j->opt->names[i] : NULL;
	struct dat *d;
	int rc;

	s->fd = fd;
	s->path = j->opt->paths[i];
	d = join_open(j, s);
	if (!d)
		return -EINVAL;
	rc = look_at(j, s, d, name);
	dat_close(d);
	return rc;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int check_clock(struct join *j, const struct join_source *s)
{
	const struct join_source *first = j->source;

	switch (join_clocks_agree(&first->clock, &s->clock)) {
	case JOIN_AXIS_ONE:
		return 0;
	case JOIN_AXIS_OWN:
		if (j->opt->own_times) {
			j->clock = strcmp(first->clock.name, s->clock.name) ? "local" : j->clock;
			return 0;
		}
		if (!first->clock.is_hosts)
			s = first;
		return join_fail(
			j, s->path,
			"its times are not of the same clock as the others': record with -C "
			"x86-tsc on one host, or join them as they are with --own-times");
	case JOIN_AXIS_UNLIKE:
		break;
	}
	return join_fail(j, s->path, "its clock %s does not count as %s of %s does", s->clock.name,
			 first->clock.name, first->path);
}

/* Ticks of a TSC have become nanoseconds. */
static const char *clock_of(const struct join_clock *c)
{
	return c->ticks.mult ? "tsc2nsec" : c->name;
}

int join_look(struct join *j, const int *fds)
{
	int rc = 0;

	for (size_t i = 0; i < j->opt->nr && !rc; i++)
		rc = look_into(j, i, fds[i]);
	if (rc)
		return rc;
	j->clock = clock_of(&j->source->clock);
	for (size_t i = 1; i < j->opt->nr && !rc; i++)
		rc = check_clock(j, &j->source[i]);
	for (size_t i = 0; i < j->opt->nr; i++) {
		j->bytes += j->source[i].bytes;
		if (j->source[i].vcpus > j->vcpus)
			j->vcpus = j->source[i].vcpus;
	}
	make_unique(j);
	return rc;
}
