/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-probes.h - a kernel that has what tests put probes on. */
#ifndef HVTRACE_TESTS_MADE_PROBES_H
#define HVTRACE_TESTS_MADE_PROBES_H

#include <errno.h>
#include <stdbool.h>
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

/* There is "/bin", which is a directory, what is in it, and what the guest is not asked for in
 * time. */
static int made_file(void *arg, const char *path, const char **why)
{
	(void)arg;
	if (!strcmp(path, "/secret"))
		return -ETIMEDOUT;
	if (!strcmp(path, "/nonexist")) {
		*why = "Failed to find the given file";
		return -ENOENT;
	}
	if (strcmp(path, "/bin") != 0)
		return 0;
	*why = "Not a regular file";
	return -EINVAL;
}

static const struct probe_symbols made_files __attribute__((unused)) = {.file = made_file};

/* --- and one that knows arguments by their names (6.12) --------------------------------------- */

enum { MADE_OTHER, MADE_STRUCT, MADE_POINTER };

/* Each type is one of these: what there is of it, and what is in it if it is a struct. */
#define MADE_NUMBER(bytes, kind_)                                                                  \
	{                                                                                          \
		.size = (bytes), .kind = (kind_), .type = MADE_OTHER                               \
	}

static const struct {
	const char *name;
	struct guestsym_member member;
} made_members[] = {
	{"pid", {.value = MADE_NUMBER(4, GUESTSYM_VALUE_SIGNED), .bit_off = 64}},
	{"next",
	 {.value = {.size = 8, .kind = GUESTSYM_VALUE_POINTER, .type = MADE_POINTER},
	  .bit_off = 128}},
	{"in",
	 {.value = {.size = 8, .kind = GUESTSYM_VALUE_OTHER, .type = MADE_STRUCT}, .bit_off = 800}},
	{"comm",
	 {.value = {.size = 16, .kind = GUESTSYM_VALUE_OTHER, .is_array = true, .of_chars = true},
	  .bit_off = 256}},
	{"name",
	 {.value = {.size = 8, .kind = GUESTSYM_VALUE_POINTER, .of_chars = true}, .bit_off = 192}},
	{"state",
	 {.value = {.size = 4, .kind = GUESTSYM_VALUE_UNSIGNED, .is_enum = true}, .bit_off = 32}},
	{"low", {.value = MADE_NUMBER(4, GUESTSYM_VALUE_UNSIGNED), .bit_off = 0, .bits = 3}},
	{"high", {.value = MADE_NUMBER(4, GUESTSYM_VALUE_UNSIGNED), .bit_off = 11, .bits = 5}},
	{"whole", {.value = MADE_NUMBER(4, GUESTSYM_VALUE_UNSIGNED), .bit_off = 16, .bits = 8}},
	{"odd", {.value = MADE_NUMBER(3, GUESTSYM_VALUE_UNSIGNED), .bit_off = 64}},
	{"none", {.value = MADE_NUMBER(0, GUESTSYM_VALUE_SIGNED), .bit_off = 64}},
	{"wide", {.value = MADE_NUMBER(16, GUESTSYM_VALUE_UNSIGNED), .bit_off = 64}},
};

static int made_pointee(void *arg, uint32_t type, uint32_t *pointee)
{
	(void)arg;
	*pointee = MADE_STRUCT;
	return type == MADE_POINTER ? 0 : -EINVAL;
}

static int made_member(void *arg, uint32_t type, const char *name, struct guestsym_member *member)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(made_members) / sizeof(made_members[0]); i++)
		if (type == MADE_STRUCT && !strcmp(name, made_members[i].name)) {
			*member = made_members[i].member;
			return 0;
		}
	return type == MADE_STRUCT ? -ENOENT : -EINVAL;
}

/* All of them, but for vfs_open, take these. "vfs_write" and stubs return nothing. */
static bool made_parameters(void *arg, const char *name, struct fetch_function *function)
{
	(void)arg;
	*function = (struct fetch_function){
		.nr = 4,
		.param = {{.name = "file",
			   .size = 8,
			   .kind = GUESTSYM_VALUE_POINTER,
			   .type = MADE_POINTER},
			  {.name = "fd", .size = 4, .kind = GUESTSYM_VALUE_SIGNED},
			  {.name = "mode", .size = 2, .kind = GUESTSYM_VALUE_UNSIGNED},
			  {.name = "by_value",
			   .size = 24,
			   .kind = GUESTSYM_VALUE_OTHER,
			   .type = MADE_STRUCT}},
		.result = {.size = 8, .kind = GUESTSYM_VALUE_POINTER, .type = MADE_POINTER},
		.pointee = made_pointee,
		.member = made_member,
	};
	if (!strcmp(name, "vfs_write") || *name == '_')
		function->result = (struct guestsym_value){.kind = GUESTSYM_VALUE_NONE};
	return strcmp(name, "vfs_open");
}

static bool made_tracepoint(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "sched_switch") || !strcmp(name, "9lives");
}

static const struct probe_dentries made_dentries = {.name = 0x28, .dentry = 0x98};
static const struct probe_symbols made_named __attribute__((unused)) = {
	.count = made_count,
	.entry = made_entry,
	.function = made_parameters,
	.tracepoint = made_tracepoint,
	.file = made_file,
	.dentries = &made_dentries,
	.has_char = true,
	.has_names = true,
	.names_are_validated = true,
	.keeps_args = true,
};

#endif
