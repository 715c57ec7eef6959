/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-probes.h - a kernel that has what tests put probes on. */
#ifndef HVTRACE_TESTS_MADE_PROBES_H
#define HVTRACE_TESTS_MADE_PROBES_H

#include <errno.h>
#include <string.h>

#include "tracer/events/define/probe.h"

static const char *const made_functions[] = {"do_sys_openat2", "vfs_read", "vfs_write", "vfs_open"};

static bool made_has(const char *name)
{
	for (size_t i = 0; i < sizeof(made_functions) / sizeof(made_functions[0]); i++)
		if (!strcmp(name, made_functions[i]))
			return true;
	return false;
}

/* There are two of "twice". */
static unsigned int made_count(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "twice") ? made_has(name) : 2;
}

static int made_entry(void *arg, const char *name, uint64_t offset)
{
	if (!made_count(arg, name))
		return -ENOENT;
	return offset ? -EINVAL : 0;
}

static const struct probe_symbols made_symbols
	__attribute__((unused)) = {.count = made_count, .entry = made_entry};

#endif
