// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - how much memory the host has left: of all, and of what this process may take. */
#include "tracer/lib/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_LEN   512
#define GROUPS_MAX 16	/* one in the other */
#define TEXT_MAX   8192 /* of memory.stat: some 2000 in 6.12 */

struct group_files {
	int max, now, stat;
};

struct memory_files {
	int meminfo;
	unsigned int nr;
	struct group_files group[GROUPS_MAX];
};

static int open_file(const char *dir, const char *name)
{
	char path[2 * PATH_LEN + 32];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* The number behind a key at the start of a line. False: there is none ("max" is none either). */
static bool read_number(int fd, const char *key, uint64_t *value)
{
	char text[TEXT_MAX], *end;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		line += strlen(key);
		*value = strtoull(line, &end, 10);
		return end != line;
	}
	return false;
}

/* What one group leaves; what it holds of files that nobody has used lately can be had back. */
static uint64_t group_left(const struct group_files *g)
{
	uint64_t max, now, files;

	if (!read_number(g->max, "", &max) || !read_number(g->now, "", &now))
		return UINT64_MAX;
	if (read_number(g->stat, "inactive_file ", &files))
		now -= files < now ? files : now;
	return now < max ? max - now : 0;
}

/* The path of this process' group: "/..." */
static bool find_group(const char *proc, char *group, size_t len)
{
	char path[PATH_LEN], line[PATH_LEN];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/cgroup", proc);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, "0::/", 4);
		line[strcspn(line, "\n")] = '\0';
		snprintf(group, len, "%s", line + 3);
	}
	if (f)
		fclose(f);
	return found;
}

/* Limits hold for all groups that are below. */
static void open_groups(struct memory_files *f, const char *proc, const char *cgroups)
{
	char group[PATH_LEN], dir[2 * PATH_LEN], *end;

	if (!find_group(proc, group, sizeof(group)))
		return;
	while (f->nr < GROUPS_MAX && (end = strrchr(group, '/'))) {
		snprintf(dir, sizeof(dir), "%s%s", cgroups, group);
		f->group[f->nr++] = (struct group_files){
			.max = open_file(dir, "memory.max"),
			.now = open_file(dir, "memory.current"),
			.stat = open_file(dir, "memory.stat"),
		};
		*end = '\0';
	}
}

struct memory_files *memory_open(const char *proc, const char *cgroups)
{
	struct memory_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->meminfo = open_file(proc, "meminfo");
	open_groups(f, proc, cgroups);
	return f;
}

void memory_close(struct memory_files *f)
{
	if (!f)
		return;
	close_file(f->meminfo);
	for (unsigned int i = 0; i < f->nr; i++) {
		close_file(f->group[i].max);
		close_file(f->group[i].now);
		close_file(f->group[i].stat);
	}
	free(f);
}

uint64_t memory_left(const struct memory_files *f)
{
	uint64_t kb, least = UINT64_MAX;

	for (unsigned int i = 0; i < f->nr; i++) {
		uint64_t left = group_left(&f->group[i]);

		least = left < least ? left : least;
	}
	if (!read_number(f->meminfo, "MemAvailable:", &kb) || least >> 10 <= kb)
		return least;
	return kb << 10;
}

bool memory_holds(const struct memory_files *f, uint64_t bytes)
{
	return !f || bytes <= memory_left(f);
}
