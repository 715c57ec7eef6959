// SPDX-License-Identifier: GPL-2.0-or-later
/* eprobe.c - lines that define event probes: __trace_eprobe_create() of 6.1. */
#include "tracer/events/define/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "eprobes"

/* e[:[GROUP/][EVENT]] SYSTEM.EVENT [ARGS] [if FILTER] */
struct parser {
	struct probe_def *def;
	const struct probe_words *words;
	const struct probe_attach *attach;
	const struct guestsym_event *event; /* that it is at */
	unsigned int end;		    /* behind the last argument */
	struct probe_error *err;
};

static int parse_names(struct parser *p)
{
	const char *first = p->words->v[0], *name = strchr(first, ':');
	struct probe_def *def = p->def;
	int ret = 0;

	if (name)
		ret = probe_name_parse(name + 1, 0, (size_t)(name + 1 - first), def->group,
				       def->event, p->err);
	if (ret)
		return ret;
	ret = probe_name_parse(p->words->v[1], 1, 0, def->at_system, def->at_event, p->err);
	if (ret || !*def->at_system || !*def->at_event)
		return probe_error_set(p->err, -EINVAL, 1, 0,
				       "This requires both group and event name to attach");
	if (!*def->event)
		memcpy(def->event, def->at_event, sizeof(def->event));
	p->event = p->attach->find(p->attach->arg, def->at_system, def->at_event);
	if (!p->event)
		return probe_error_set(p->err, -ENODEV, 1, 0, "Attached event does not exist");
	return 0;
}

static int parse_filter(struct parser *p)
{
	const struct probe_words *w = p->words;
	struct text text = {0};

	while (p->end < w->n && strcmp(w->v[p->end], "if") != 0)
		p->end++;
	if (p->end == w->n)
		return 0;
	if (p->end + 1 == w->n)
		return probe_error_set(p->err, -EINVAL, w->n, 0, "No filter rule after 'if'");
	for (unsigned int i = p->end + 1; i < w->n; i++)
		text_printf(&text, "%s%s", i > p->end + 1 ? " " : "", w->v[i]);
	text_putc(&text, '\0');
	if (text.failed) {
		text_free(&text);
		return -ENOMEM;
	}
	p->def->filter = text.buf;
	return p->attach->check_filter(p->attach->arg, p->event, text.buf) ? -EINVAL : 0;
}

/*
 * The kernel looks for fields when it has read all arguments; since 6.5 while it reads one, in
 * parse_probe_vars() (kernel/trace/trace_probe.c).
 */
static int no_field(struct parser *p, unsigned int word)
{
	const char *text = p->words->v[word];

	if (!p->attach->fields_are_variables)
		return probe_error_set(p->err, -ENOENT, word, 0,
				       "Attached event does not have this field");
	return probe_error_set(p->err, -EINVAL, word, strcspn(text, "$"),
			       "Invalid $-variable specified");
}

/* The task's name is meant where there is no such field. */
static int find_field(struct parser *p, struct fetch_arg *a, unsigned int word)
{
	if (a->source != FETCH_FIELD)
		return 0;
	for (size_t i = 0; i < p->event->nr_fields; i++)
		if (!strcmp(p->event->fields[i].name, a->text)) {
			a->number = i;
			return 0;
		}
	if (strcmp(a->text, "comm") != 0 && strcmp(a->text, "COMM") != 0)
		return no_field(p, word);
	a->source = FETCH_COMM;
	return 0;
}

static int parse_args(struct parser *p)
{
	unsigned int at = FETCH_AT_EVENT | (p->attach->has_char ? FETCH_HAS_CHAR : 0) |
			  (p->attach->fields_are_variables ? FETCH_HAS_NAMES : 0),
		     n = p->end - 2;
	struct probe_def *def = p->def;
	int ret = 0;

	if (n > PROBE_ARGS_MAX)
		n = PROBE_ARGS_MAX;
	def->arg = calloc(n + 1, sizeof(*def->arg));
	if (!def->arg)
		return -ENOMEM;
	while (def->nr_args < n && !ret) {
		unsigned int i = def->nr_args;

		ret = fetch_arg_parse(def->arg, i, p->words->v[i + 2], at, NULL, &def->size,
				      p->err);
		if (ret)
			break;
		def->nr_args++;
		ret = find_field(p, &def->arg[i], i + 2);
	}
	return ret;
}

int event_probe_def_parse(const struct probe_words *words, const struct probe_attach *attach,
			  struct probe_def **def, struct probe_error *err)
{
	struct parser p = {.words = words, .attach = attach, .end = 2, .err = err};
	int ret;

	*err = (struct probe_error){0};
	*def = NULL;
	if (words->n < 2 || *words->v[0] != 'e')
		return -ECANCELED;
	p.def = calloc(1, sizeof(*p.def));
	if (!p.def)
		return -ENOMEM;
	p.def->kind = PROBE_EPROBE;
	strcpy(p.def->group, GROUP);
	ret = parse_names(&p);
	if (!ret)
		ret = parse_filter(&p);
	if (!ret)
		ret = parse_args(&p);
	if (ret)
		probe_def_free(p.def);
	else
		*def = p.def;
	return ret;
}
