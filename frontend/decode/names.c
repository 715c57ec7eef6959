// SPDX-License-Identifier: GPL-2.0-or-later
/* names.c - see names.h */
#include "frontend/decode/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LEN = 1024 }; /* of names, KSYM_NAME_LEN is 512 */

/*
 * Each line, terminated, to add(), which may change it. What has a 0 in it is not a text from there
 * on.
 */
static bool each_line(struct tep_handle *tep, const struct dat_text *text,
		      bool (*add)(struct tep_handle *tep, char *line))
{
	const char *at = text->text, *end = at ? at + strlen(at) : NULL;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((eol ? eol : end) - at);
		char line[LINE_LEN];

		if (len && len < sizeof(line)) {
			memcpy(line, at, len);
			line[len] = '\0';
			if (!add(tep, line))
				return false;
		}
		at += len + 1;
	}
	return true;
}

/* "ffffffff81000000 T _stext", "ffffffffc0000000 t init<tab>[module]" */
static bool add_function(struct tep_handle *tep, char *line)
{
	unsigned long long addr;
	char *at, *name, *module;
	char type;

	errno = 0;
	addr = strtoull(line, &at, 16);
	if (errno || !isxdigit((unsigned char)*line) || *at != ' ' || !at[1] || at[2] != ' ')
		return true;
	type = at[1];
	name = at + 3;
	at = name + strcspn(name, " \t");
	module = !strncmp(at, "\t[", 2) ? at + 2 : NULL;
	*at = '\0';
	if (module) {
		char *end = strchr(module, ']');

		if (end)
			*end = '\0';
		else
			module = NULL;
	}
	/* Offsets of per-CPU variables are no functions; '$' are marks of ARM's. */
	if (!*name || *name == '$' || type == 'a' || type == 'A')
		return true;
	return !tep_register_function(tep, name, addr, module);
}

bool names_functions(struct tep_handle *tep, const struct dat_text *kallsyms)
{
	return each_line(tep, kallsyms, add_function);
}

/* 0xffffffff82000000 : "text %d\n" */
static bool add_printk(struct tep_handle *tep, char *line)
{
	unsigned long long addr;
	char *at;

	errno = 0;
	addr = strtoull(line, &at, 16);
	if (errno || at == line)
		return true;
	at += strspn(at, " ");
	if (*at++ != ':')
		return true;
	at += *at == ' ';
	/* libtraceevent looks at the last three characters behind the first. */
	if (strlen(at) < 4)
		return true;
	return !tep_register_print_string(tep, at, addr);
}

bool names_printk(struct tep_handle *tep, const struct dat_text *formats)
{
	return each_line(tep, formats, add_printk);
}

/* "1 init" */
static bool add_task(struct tep_handle *tep, char *line)
{
	char *comm;
	long pid;

	errno = 0;
	pid = strtol(line, &comm, 10);
	if (errno || comm == line || pid < 0 || pid > INT32_MAX || *comm != ' ')
		return true;
	comm += strspn(comm, " ");
	return !*comm || !tep_register_comm(tep, comm, (int)pid);
}

bool names_tasks(struct tep_handle *tep, const struct dat_text *cmdlines)
{
	return each_line(tep, cmdlines, add_task);
}
