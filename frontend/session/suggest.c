// SPDX-License-Identifier: GPL-2.0-or-later
/* suggest.c - see suggest.h */
#include "frontend/session/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tracer/tracer.h"

/* --- files -------------------------------------------------------------------------------- */

/* Directories have a slash behind them. Where the parent is not there either it is about that. */
void suggest_file(const struct trace_reader *r, const char *path, char *hint, size_t size)
{
	const char *name = strrchr(path, '/');
	size_t dir = name ? (size_t)(name - path) : 0;
	struct text names = {0};
	char parent[512], before[512];
	struct nearest near;

	*hint = '\0';
	name = name ? name + 1 : path;
	snprintf(parent, sizeof(parent), "%.*s", (int)dir, dir ? path : ".");
	snprintf(before, sizeof(before), "%.*s", dir ? (int)dir + 1 : 0, path);
	if (!dir)
		snprintf(parent, sizeof(parent), ".");
	if (r->read(r->arg, parent, &names)) {
		text_free(&names);
		if (dir)
			suggest_file(r, parent, hint, size);
		return;
	}
	nearest_begin(&near, name);
	for (char *rest = names.buf, *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "/")] = '\0';
		nearest_try(&near, line);
	}
	nearest_hint(&near, before, hint, size);
	if (!*hint && r->begun)
		snprintf(hint, size, " (hvtrace get %s lists what there is)", parent);
	text_free(&names);
}

/* --- words -------------------------------------------------------------------------------- */

/* Which file lists what another one takes, and which command where there is no trace yet. */
struct vocabulary {
	const char *file, *list, *what;
	bool shown; /* the list is short */
	const char *prefix, *command;
};

static const struct vocabulary vocabularies[] = {
	{"current_tracer", "available_tracers", "tracer", true, "", NULL},
	{"trace_clock", "trace_clock", "clock", true, "", NULL},
	{"trace_options", "trace_options", "option", false, "no", NULL},
	{"set_event", "available_events", "event", false, "", "hvtrace events"},
	{"set_ftrace_filter", "available_filter_functions", "traceable function", false, "",
	 "hvtrace symbols --functions"},
	{"set_ftrace_notrace", "available_filter_functions", "traceable function", false, "",
	 "hvtrace symbols --functions"},
	{"set_graph_function", "available_filter_functions", "traceable function", false, "",
	 "hvtrace symbols --functions"},
	{"set_graph_notrace", "available_filter_functions", "traceable function", false, "",
	 "hvtrace symbols --functions"},
};

/* Files of instances are called as those of the top level. */
static const char *name_of(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static const struct vocabulary *vocabulary_of(const char *file)
{
	const char *name = name_of(file);

	for (size_t i = 0; i < sizeof(vocabularies) / sizeof(vocabularies[0]); i++)
		if (!strcmp(vocabularies[i].file, name))
			return &vocabularies[i];
	return NULL;
}

const char *suggest_list(const char *file)
{
	const struct vocabulary *v = vocabulary_of(file);

	return v ? v->list : NULL;
}

/* Without what commands and filters put around it: "!", "no", ":traceon", ":prev_pid == 1". */
static void take_name(const struct vocabulary *v, const char *word, char *name, size_t size)
{
	size_t prefix = strlen(v->prefix), len;

	word += *word == '!';
	if (prefix && !strncmp(word, v->prefix, prefix))
		word += prefix;
	len = strcspn(word, ":");
	if (!strcmp(v->what, "event") && word[len])
		len += 1 + strcspn(word + len + 1, ":");
	snprintf(name, size, "%.*s", (int)len, word);
}

/* An event may be named without its system, or by that alone. */
static bool is_it(const char *known, const char *name)
{
	const char *colon = strchr(known, ':');
	char system[64];

	if (glob_pattern_match(name, known))
		return true;
	if (!colon || strchr(name, ':'))
		return false;
	snprintf(system, sizeof(system), "%.*s", (int)(colon - known), known);
	return glob_pattern_match(name, colon + 1) || glob_pattern_match(name, system);
}

/* The words of a list: without the brackets around the one that is chosen, or a module's. */
static bool find(const struct vocabulary *v, const char *list, const char *name,
		 struct nearest *near)
{
	size_t prefix = strlen(v->prefix);

	nearest_begin(near, name);
	for (const char *at = list + strspn(list, " \n"); *at; at += strspn(at, " \n")) {
		size_t len = strcspn(at, " \n");
		char known[256];
		const char *colon;

		snprintf(known, sizeof(known), "%.*s", (int)(len - (*at == '[')),
			 at + (*at == '['));
		known[strcspn(known, "]")] = '\0';
		at += len;
		if (prefix && !strncmp(known, v->prefix, prefix))
			memmove(known, known + prefix, strlen(known + prefix) + 1);
		if (is_it(known, name))
			return true;
		colon = strchr(known, ':');
		nearest_try(near, colon && !strchr(name, ':') ? colon + 1 : known);
	}
	return false;
}

static void tell(const struct trace_reader *r, const struct vocabulary *v, const char *list,
		 const char *name, const struct nearest *near, struct text *why)
{
	char hint[NEAREST_LEN * 2];

	nearest_hint(near, "", hint, sizeof(hint));
	text_printf(why, "there is no %s %s", v->what, name);
	if (v->shown)
		text_printf(why, ", but %.*s%s", (int)strcspn(list, "\n"), list, hint);
	else if (r->begun)
		text_printf(why, "%s (hvtrace get %s lists them)", hint, v->list);
	else if (v->command)
		text_printf(why, "%s (%s lists them)", hint, v->command);
	else
		text_puts(why, hint);
}

/* The first name in a word, which may have several, that is not in the list. */
static bool tell_first(const struct trace_reader *r, const struct vocabulary *v, const char *list,
		       const char *word, struct text *why)
{
	struct nearest near;
	char part[256], name[256];

	for (word += strspn(word, " \n"); *word; word += strspn(word, " \n")) {
		size_t len = strcspn(word, " \n");

		snprintf(part, sizeof(part), "%.*s", (int)len, word);
		word += len;
		take_name(v, part, name, sizeof(name));
		if (!*name || find(v, list, name, &near))
			continue;
		tell(r, v, list, name, &near, why);
		return true;
	}
	return false;
}

/* False: each of them names something. */
static bool name_nothing(const struct trace_reader *r, const char *file, const char *const *words,
			 int nr, struct text *why)
{
	const struct vocabulary *v = vocabulary_of(file);
	struct text list = {0};
	bool told = false;

	if (v && !r->read(r->arg, v->list, &list))
		for (int i = 0; i < nr && !told; i++)
			told = tell_first(r, v, list.buf, words[i], why);
	text_free(&list);
	return told;
}

/* --- the error_log ------------------------------------------------------------------------ */

/* That of the instance that a file is of. */
static void log_path(const char *file, char *path, size_t size)
{
	size_t top = strspn(file, "./"), len = 0;

	if (!strncmp(file + top, "instances/", 10))
		len = top + 10 + strcspn(file + top + 10, "/");
	snprintf(path, size, "%.*s%serror_log", (int)len, file, len ? "/" : "");
}

/* "[    1.234567] WHERE: error: WHAT", then "  Command: COMMAND": the last one, without its time.
 */
static const char *last_error(const char *log, char *command, size_t size)
{
	const char *last = NULL, *at;

	for (const char *line = log; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line == '[')
			last = line;
	}
	last = last ? strstr(last, "] ") : NULL;
	at = last ? strstr(last, "\n  Command: ") : NULL;
	if (!at)
		return NULL;
	at += strlen("\n  Command: ");
	snprintf(command, size, "%.*s", (int)strcspn(at, "\n"), at);
	return last + 2;
}

/* False: it has noted nothing, or not of these words. */
static bool is_noted(const struct trace_reader *r, const char *file, const char *const *words,
		     int nr, struct text *why)
{
	char path[512], command[256] = "";
	const char *error = NULL;
	struct text log = {0};
	bool noted = false;

	log_path(file, path, sizeof(path));
	if (!r->read(r->arg, path, &log))
		error = last_error(log.buf, command, sizeof(command));
	for (int i = 0; error && *command && i < nr && !noted; i++)
		noted = *words[i] && (strstr(words[i], command) || strstr(command, words[i]));
	if (noted)
		text_puts(why, error);
	text_free(&log);
	return noted;
}

/* --- files that take no names ------------------------------------------------------------- */

static const struct {
	const char *dir, *file, *takes; /* dir: what it is in, NULL: anything; file NULL: any */
} values[] = {
	{NULL, "buffer_size_kb", "a number of KB"},
	{NULL, "enable", "0 or 1"},
	{NULL, "max_graph_depth", "a number of levels"},
	{NULL, "set_event_notrace_pid", "numbers of tasks"},
	{NULL, "set_event_pid", "numbers of tasks"},
	{NULL, "set_ftrace_notrace_pid", "numbers of tasks"},
	{NULL, "set_ftrace_pid", "numbers of tasks"},
	{NULL, "tracing_cpumask", "a mask of vCPUs in hexadecimal, such as 3 for the first two"},
	{NULL, "tracing_max_latency", "a number of microseconds"},
	{NULL, "tracing_on", "0 or 1"},
	{NULL, "tracing_thresh", "a number of microseconds"},
	{"options/", NULL, "0 or 1"},
};

static void tell_value(const char *file, struct text *why)
{
	const char *name = name_of(file);

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		size_t len = values[i].dir ? strlen(values[i].dir) : 0;

		if (values[i].file && strcmp(values[i].file, name) != 0)
			continue;
		if (len > (size_t)(name - file) ||
		    (len && strncmp(name - len, values[i].dir, len) != 0))
			continue;
		text_printf(why, "it takes %s", values[i].takes);
		return;
	}
}

void suggest_words(const struct trace_reader *r, int rc, const char *file, const char *const *words,
		   int nr, struct text *why)
{
	if (!name_nothing(r, file, words, nr, why) && !is_noted(r, file, words, nr, why) &&
	    rc == -EINVAL)
		tell_value(file, why);
}
