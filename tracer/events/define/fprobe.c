// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fprobe.c - lines that define probes at the entry and at the return of a function, and at a
 * tracepoint: __trace_fprobe_create() (kernel/trace/trace_fprobe.c, 6.12).
 */
#include "tracer/events/define/probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * f[:[GROUP/][EVENT]] SYMBOL [ARGS], f[MAXACTIVE][:[GROUP/][EVENT]] SYMBOL%return [ARGS],
 * t[:[GROUP/][EVENT]] TRACEPOINT [ARGS]
 */
struct parser {
	struct probe_def *def;
	const struct probe_words *words;
	const struct probe_symbols *symbols;
	struct probe_error *err;
};

static int fail(struct parser *p, unsigned int word, size_t offset, const char *what)
{
	return probe_error_set(p->err, -EINVAL, word, offset, what);
}

static bool is_at_tracepoint(const struct parser *p)
{
	return p->def->kind == PROBE_TPROBE;
}

/* A line that asks for what a function returns is of its return. */
static int look_for_retval(struct parser *p)
{
	const struct probe_words *w = p->words;

	for (unsigned int i = 2; i < w->n; i++) {
		const char *at = strstr(w->v[i], "$retval");

		if (!at || isalnum((unsigned char)at[7]) || at[7] == '_')
			continue;
		if (is_at_tracepoint(p))
			return fail(p, i, (size_t)(at - w->v[i]),
				    "$retval is not available on probe");
		p->def->is_return = true;
		break;
	}
	return 0;
}

static int parse_place(struct parser *p, const char *text)
{
	const char *suffix = strchr(text, '%'), *at;
	struct probe_def *def = p->def;

	if (suffix && (is_at_tracepoint(p) || strcmp(suffix, "%return") != 0))
		return fail(p, 1, (size_t)(suffix - text), "Invalid probed address suffix");
	def->symbol = suffix ? strndup(text, (size_t)(suffix - text)) : strdup(text);
	if (!def->symbol)
		return -ENOMEM;
	if (suffix) {
		def->is_return = true;
		return 0;
	}
	for (at = text; is_at_tracepoint(p) && (isalnum((unsigned char)*at) || *at == '_'); at++)
		;
	if (is_at_tracepoint(p) && *at)
		return fail(p, 1, (size_t)(at - text), "Invalid character in tracepoint name");
	return look_for_retval(p);
}

static void make_name(struct probe_def *def)
{
	bool digit = isdigit((unsigned char)*def->symbol);

	if (def->kind == PROBE_TPROBE)
		snprintf(def->event, sizeof(def->event), "%s%s", digit ? "_" : "", def->symbol);
	else
		snprintf(def->event, sizeof(def->event), "%s__%s", def->symbol,
			 def->is_return ? "exit" : "entry");
	for (char *at = def->event; *at; at++)
		if (*at == ':' || *at == '.')
			*at = '_';
}

static int parse_names(struct parser *p, const char *first)
{
	const char *name = strchr(first, ':');
	struct probe_def *def = p->def;
	int ret = 0;

	strcpy(def->group, is_at_tracepoint(p) ? "tracepoints" : "fprobes");
	if (name)
		ret = probe_name_parse(name + 1, 0, (size_t)(name + 1 - first), def->group,
				       def->event, p->err);
	if (!ret && !*def->event)
		make_name(def);
	return ret;
}

static unsigned int at_what(const struct probe_def *def)
{
	if (def->kind == PROBE_TPROBE)
		return FETCH_AT_ENTRY | FETCH_AT_TRACEPOINT | FETCH_NO_REGISTERS;
	return (def->is_return ? FETCH_AT_RETURN : FETCH_AT_ENTRY) | FETCH_NO_REGISTERS;
}

static int parse(struct parser *p)
{
	const char *first = p->words->v[0];
	struct probe_def *def = p->def;
	int ret = probe_maxactive_parse(first + 1, &def->maxactive, p->err);

	if (!ret)
		ret = parse_place(p, p->words->v[1]);
	if (!ret && def->maxactive && !def->is_return)
		ret = fail(p, 0, 1, "Maxactive is only for function exit");
	if (!ret)
		ret = parse_names(p, first);
	if (!ret && is_at_tracepoint(p) && !p->symbols->tracepoint(p->symbols->arg, def->symbol))
		ret = fail(p, 1, 0, "Tracepoint is not found");
	return ret ? ret : probe_args_parse(def, p->words, p->symbols, at_what(def), p->err);
}

int fprobe_def_parse(const struct probe_words *words, const struct probe_symbols *symbols,
		     struct probe_def **def, struct probe_error *err)
{
	struct parser p = {.words = words, .symbols = symbols, .err = err};
	int ret;

	*err = (struct probe_error){0};
	*def = NULL;
	if (words->n < 2 || (*words->v[0] != 'f' && (*words->v[0] != 't' || !symbols->tracepoint)))
		return -ECANCELED;
	p.def = calloc(1, sizeof(*p.def));
	if (!p.def)
		return -ENOMEM;
	p.def->kind = *words->v[0] == 't' ? PROBE_TPROBE : PROBE_FPROBE;
	ret = parse(&p);
	if (ret)
		probe_def_free(p.def);
	else
		*def = p.def;
	return ret;
}
