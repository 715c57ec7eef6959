// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - how much memory the host has left: of all, and of what this process may take. */
#include "tracer/lib/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LEN 512

/* The number behind a key at the start of a line. False: there is none ("max" is none either). */
static bool read_number(const char *dir, const char *name, const char *key, uint64_t *value)
{
	char path[PATH_LEN], line[256], *end;
	size_t len = strlen(key);
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, len) != 0)
			continue;
		*value = strtoull(line + len, &end, 10);
		found = end != line + len;
	}
	if (f)
		fclose(f);
	return found;
}

/* What one group leaves; what it holds of files that nobody has used lately can be had back. */
static uint64_t group_left(const char *dir)
{
	uint64_t max, now, files;

	if (!read_number(dir, "memory.max", "", &max) ||
	    !read_number(dir, "memory.current", "", &now))
		return UINT64_MAX;
	if (read_number(dir, "memory.stat", "inactive_file ", &files))
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
static uint64_t groups_left(const char *proc, const char *cgroups)
{
	char group[PATH_LEN], dir[2 * PATH_LEN], *end;
	uint64_t least = UINT64_MAX;

	if (!find_group(proc, group, sizeof(group)))
		return least;
	while ((end = strrchr(group, '/'))) {
		uint64_t left;

		snprintf(dir, sizeof(dir), "%s%s", cgroups, group);
		left = group_left(dir);
		least = left < least ? left : least;
		*end = '\0';
	}
	return least;
}

uint64_t memory_left(const char *proc, const char *cgroups)
{
	uint64_t kb, groups = groups_left(proc, cgroups);

	if (!read_number(proc, "meminfo", "MemAvailable:", &kb) || groups >> 10 <= kb)
		return groups;
	return kb << 10;
}

bool memory_holds(uint64_t bytes)
{
	return bytes <= memory_left("/proc", "/sys/fs/cgroup");
}
