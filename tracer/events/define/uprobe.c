// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uprobe.c - lines that define probes at an instruction of a file, and at a function's return:
 * __trace_uprobe_create() (kernel/trace/trace_uprobe.c, 6.1 and 6.12).
 */
#include "tracer/events/define/probe.h"
#include "tracer/lib/word.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "uprobes"

/* p|r[:[GROUP/][EVENT]] PATH:OFFSET[%return][(REF)] [ARGS] */
struct parser {
	struct probe_def *def;
	const struct probe_words *words;
	const struct probe_symbols *symbols;
	struct probe_error *err;
	char *place;  /* the second word, which is taken apart */
	char *offset; /* what is behind its last colon */
};

static int fail(struct parser *p, int error, const char *at, const char *what)
{
	return probe_error_set(p->err, error, 1, (size_t)(at - p->place), what);
}

/* A path may have colons, too. -ECANCELED: it is none. */
static int split_place(struct parser *p, const char *text)
{
	const char *colon = strrchr(text, ':');

	if (!strchr(text, '/') || !colon || !isdigit((unsigned char)colon[1]))
		return -ECANCELED;
	p->place = strdup(text);
	if (!p->place)
		return -ENOMEM;
	p->offset = p->place + (colon - text);
	*p->offset++ = '\0';
	p->def->symbol = strdup(p->place);
	return p->def->symbol ? 0 : -ENOMEM;
}

static int find_file(struct parser *p)
{
	const char *why = NULL;
	int ret = p->symbols->file(p->symbols->arg, p->def->symbol, &why);

	return ret && why ? fail(p, ret, p->place, why) : ret;
}

static int parse_ref(struct parser *p)
{
	char *open = strchr(p->offset, '('), *close = open ? strchr(open, ')') : NULL;
	int ret;

	if (!open)
		return 0;
	if (!close)
		return fail(p, -EINVAL, open + strlen(open),
			    "Reference counter brace is not closed");
	if (close[1])
		return fail(p, -EINVAL, close + 1, "Reference counter has wrong suffix");
	*open++ = '\0';
	*close = '\0';
	ret = word_number(open, &p->def->ref);
	return ret ? fail(p, ret, open, "Invalid reference counter offset") : 0;
}

static int parse_offset(struct parser *p)
{
	char *suffix = strchr(p->offset, '%');
	int ret;

	if (suffix && strcmp(suffix, "%return") != 0)
		return fail(p, -EINVAL, suffix, "Invalid probed address suffix");
	if (suffix) {
		*suffix = '\0';
		p->def->is_return = true;
	}
	ret = word_number(p->offset, &p->def->offset);
	return ret ? fail(p, ret, p->offset, "Invalid uprobe offset") : 0;
}

/* With a "p" whatever it is. */
static void make_name(struct probe_def *def)
{
	const char *slash = strrchr(def->symbol, '/'), *name = slash ? slash + 1 : def->symbol;

	snprintf(def->event, sizeof(def->event), "p_%.*s_0x%" PRIx64, (int)strcspn(name, ".-_"),
		 name, def->offset);
}

static int parse_name(struct parser *p, const char *first)
{
	struct probe_def *def = p->def;
	int ret = 0;

	strcpy(def->group, GROUP);
	if (first[1] == ':')
		ret = probe_name_parse(first + 2, 0, 2, def->group, def->event, p->err);
	if (!ret && !*def->event)
		make_name(def);
	return ret;
}

static int parse(struct parser *p)
{
	const char *first = p->words->v[0];
	struct probe_def *def = p->def;
	int ret = split_place(p, p->words->v[1]);

	if (!ret)
		ret = find_file(p);
	if (!ret)
		ret = parse_ref(p);
	if (!ret)
		ret = parse_offset(p);
	if (!ret)
		ret = parse_name(p, first);
	return ret ? ret
		   : probe_args_parse(def, p->words, p->symbols,
				      FETCH_OF_USER | (def->is_return ? FETCH_AT_RETURN : 0),
				      p->err);
}

int uprobe_def_parse(const struct probe_words *words, const struct probe_symbols *symbols,
		     struct probe_def **def, struct probe_error *err)
{
	struct parser p = {.words = words, .symbols = symbols, .err = err};
	int ret;

	*err = (struct probe_error){0};
	*def = NULL;
	if (words->n < 2 || !symbols->file || (*words->v[0] != 'p' && *words->v[0] != 'r'))
		return -ECANCELED;
	p.def = calloc(1, sizeof(*p.def));
	if (!p.def)
		return -ENOMEM;
	p.def->kind = PROBE_UPROBE;
	p.def->is_return = *words->v[0] == 'r';
	ret = parse(&p);
	free(p.place);
	if (ret)
		probe_def_free(p.def);
	else
		*def = p.def;
	return ret;
}
