// SPDX-License-Identifier: GPL-2.0-or-later
/* suggest.c - see suggest.h */
#include "frontend/cmd/suggest.h"

#include <stdio.h>
#include <string.h>

#include "frontend/control/client.h"
#include "tracer/tracer.h"

/* --- files -------------------------------------------------------------------------------- */

/* Directories have a slash behind them. */
void suggest_file(struct control_client *c, const char *path, char *hint, size_t size)
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
	if (control_read_all(c, parent, &names)) {
		text_free(&names);
		return;
	}
	nearest_begin(&near, name);
	for (char *rest = names.buf, *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "/")] = '\0';
		nearest_try(&near, line);
	}
	nearest_hint(&near, before, hint, size);
	text_free(&names);
}

/* --- words -------------------------------------------------------------------------------- */

/* Which file lists what another one takes. */
struct vocabulary {
	const char *file, *list, *what;
	bool shown; /* the list is short */
	const char *prefix;
};

static const struct vocabulary vocabularies[] = {
	{"current_tracer", "available_tracers", "tracer", true, ""},
	{"trace_clock", "trace_clock", "clock", true, ""},
	{"trace_options", "trace_options", "option", false, "no"},
	{"set_event", "available_events", "event", false, ""},
	{"set_ftrace_filter", "available_filter_functions", "traceable function", false, ""},
	{"set_ftrace_notrace", "available_filter_functions", "traceable function", false, ""},
	{"set_graph_function", "available_filter_functions", "traceable function", false, ""},
	{"set_graph_notrace", "available_filter_functions", "traceable function", false, ""},
};

/* Files of instances are called as those of the top level. */
static const struct vocabulary *vocabulary_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;

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

static void tell(const struct vocabulary *v, const char *list, const char *name,
		 const struct nearest *near)
{
	char hint[NEAREST_LEN * 2];

	nearest_hint(near, "", hint, sizeof(hint));
	if (v->shown)
		fprintf(stderr, "hvtrace: there is no %s %s, but %.*s%s\n", v->what, name,
			(int)strcspn(list, "\n"), list, hint);
	else
		fprintf(stderr, "hvtrace: there is no %s %s%s (hvtrace get %s lists them)\n",
			v->what, name, hint, v->list);
}

bool suggest_words(struct control_client *c, const char *file, char *const *words, int nr)
{
	const struct vocabulary *v = vocabulary_of(file);
	struct text list = {0};
	bool told = false;

	if (v && !control_read_all(c, v->list, &list)) {
		for (int i = 0; i < nr && !told; i++) {
			struct nearest near;
			char name[256];

			take_name(v, words[i], name, sizeof(name));
			if (!*name || find(v, list.buf, name, &near))
				continue;
			tell(v, list.buf, name, &near);
			told = true;
		}
	}
	text_free(&list);
	return told;
}
