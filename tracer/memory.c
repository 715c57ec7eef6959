// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - how much memory the host has left: of all, and of what this process may take. */
#include "tracer/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUPS "/sys/fs/cgroup"

/* The number behind a key at the start of a line. False: there is none ("max" is none either). */
static bool read_number(const char *path, const char *key, uint64_t *value)
{
	FILE *f = fopen(path, "re");
	size_t len = strlen(key);
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, key, len) && sscanf(line + len, "%" SCNu64, value) == 1;
	if (f)
		fclose(f);
	return found;
}

/* What a control group (version 2) leaves; what it holds of files can be had back. */
static uint64_t group_left(const char *group)
{
	uint64_t max, now, files;
	char path[512];

	snprintf(path, sizeof(path), CGROUPS "%s/memory.max", group);
	if (!read_number(path, "", &max))
		return UINT64_MAX;
	snprintf(path, sizeof(path), CGROUPS "%s/memory.current", group);
	if (!read_number(path, "", &now))
		return UINT64_MAX;
	snprintf(path, sizeof(path), CGROUPS "%s/memory.stat", group);
	if (read_number(path, "inactive_file ", &files))
		now -= files < now ? files : now;
	return now < max ? max - now : 0;
}

/* The path of this process' group, "" for the root. */
static void find_group(char *group, size_t len)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[384];

	*group = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::/", 4))
			snprintf(group, len, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	if (f)
		fclose(f);
}

/* Limits hold for all that is below. */
static uint64_t groups_left(void)
{
	uint64_t least = UINT64_MAX;
	char group[384], *end;

	find_group(group, sizeof(group));
	for (;;) {
		uint64_t left = group_left(group);

		least = left < least ? left : least;
		end = strrchr(group, '/');
		if (!end)
			return least;
		*end = '\0';
	}
}

bool memory_holds(uint64_t bytes)
{
	uint64_t kb;

	if (read_number("/proc/meminfo", "MemAvailable:", &kb) && bytes >> 10 > kb)
		return false;
	return bytes <= groups_left();
}
