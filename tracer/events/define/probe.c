// SPDX-License-Identifier: GPL-2.0-or-later
/* probe.c - see probe.h */
#include "tracer/events/define/probe.h"
#include "tracer/events/define/args.h"
#include "tracer/lib/word.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAXACTIVE_MAX = 4096 };

#define GROUP "kprobes"

struct parser {
	struct probe_def *def;
	const struct probe_words *words;
	const struct probe_symbols *symbols;
	struct probe_error *err;
	unsigned int at; /* FETCH_AT_ */
};

static int fail(struct parser *p, unsigned int word, size_t offset, const char *what)
{
	return probe_error_set(p->err, -EINVAL, word, offset, what);
}

int probe_maxactive_parse(const char *text, unsigned int *maxactive, struct probe_error *err)
{
	size_t len = strcspn(text, ":");
	char number[PROBE_NAME_SIZE];
	const char *what = NULL;
	uint64_t value = 0;

	if (!isdigit((unsigned char)*text))
		return 0;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	if (len >= sizeof(number) || word_number(number, &value) || !value || value > UINT_MAX)
		what = "Invalid maxactive number";
	else if (value > MAXACTIVE_MAX)
		what = "Maxactive is too big";
	if (what)
		return probe_error_set(err, -EINVAL, 0, 1, what);
	*maxactive = (unsigned int)value;
	return 0;
}

/* r10:…: how many calls at a time the kernel is to keep in mind. */
static int parse_maxactive(struct parser *p, const char *text)
{
	if (isdigit((unsigned char)*text) && !p->def->is_return)
		return fail(p, 0, 1,
			    p->symbols->has_names ? "Maxactive is only for function exit"
						  : "Maxactive is not for kprobe");
	return probe_maxactive_parse(text, &p->def->maxactive, p->err);
}

/* --- where it is ----------------------------------------------------------------------------- */

static int check_symbol(struct parser *p, const char *symbol)
{
	bool invalid = p->symbols->names_are_validated;
	unsigned int count;

	if (strchr(symbol, ':'))
		return 0;
	count = p->symbols->count(p->symbols->arg, symbol);
	if (count > 1)
		return probe_error_set(p->err, invalid ? -EINVAL : -EADDRNOTAVAIL, 1, 0,
				       "The symbol is not unique");
	if (!count)
		return probe_error_set(p->err, invalid ? -EINVAL : -ENOENT, 1, 0,
				       "Invalid probed address or symbol");
	return 0;
}

static int parse_symbol(struct parser *p, const char *text)
{
	struct probe_def *def = p->def;
	int64_t offset;
	char *suffix;
	int ret;

	def->symbol = strdup(text);
	if (!def->symbol)
		return -ENOMEM;
	suffix = strchr(def->symbol, '%');
	if (suffix) {
		if (strcmp(suffix, "%return") != 0)
			return fail(p, 1, (size_t)(suffix - def->symbol),
				    "Invalid probed address suffix");
		*suffix = '\0';
		def->is_return = true;
	}
	ret = fetch_split_symbol(def->symbol, &offset);
	if (ret || offset < 0 || offset > UINT_MAX)
		return fail(p, 1, 0, "Invalid probed address or symbol");
	def->offset = (uint64_t)offset;
	if (def->is_return)
		p->at |= FETCH_AT_RETURN;
	ret = p->symbols->entry(p->symbols->arg, def->symbol, def->offset);
	if (!ret)
		p->at |= FETCH_AT_ENTRY;
	if (ret == -EINVAL && def->is_return)
		return fail(p, 1, 0, "Retprobe address must be an function entry");
	return check_symbol(p, def->symbol);
}

static int parse_place(struct parser *p, const char *text)
{
	if (!word_number(text, &p->def->offset))
		return 0;
	/* What a uprobe looks like. */
	if (strchr(text, '/') && strchr(text, ':'))
		return -ECANCELED;
	return parse_symbol(p, text);
}

/* --- what it is called ----------------------------------------------------------------------- */

static void make_name(struct probe_def *def)
{
	char kind = def->is_return ? 'r' : 'p';

	if (def->symbol)
		snprintf(def->event, sizeof(def->event), "%c_%s_%" PRIu64, kind, def->symbol,
			 def->offset);
	else
		snprintf(def->event, sizeof(def->event), "%c_0x%" PRIx64, kind, def->offset);
	for (char *at = def->event; *at; at++)
		if (*at == ':' || *at == '.')
			*at = '_';
}

int probe_name_parse(const char *text, unsigned int word, size_t offset,
		     char group[PROBE_NAME_SIZE], char event[PROBE_NAME_SIZE],
		     struct probe_error *err)
{
	const char *slash = strchr(text, '/'), *what = NULL;
	size_t len;

	if (!slash)
		slash = strchr(text, '.');
	if (slash) {
		len = (size_t)(slash - text);
		if (!len)
			what = "Group name is not specified";
		else if (len >= PROBE_NAME_SIZE)
			what = "Group name is too long";
		if (what)
			return probe_error_set(err, -EINVAL, word, offset, what);
		memcpy(group, text, len);
		group[len] = '\0';
		if (!probe_name_is_good(group, true))
			return probe_error_set(
				err, -EINVAL, word, offset,
				"Group name must follow the same rules as C identifiers");
		text += len + 1;
		offset += len + 1;
	}
	len = strlen(text);
	if (!len && !slash)
		what = "Event name is not specified";
	else if (len >= PROBE_NAME_SIZE)
		what = "Event name is too long";
	else if (len && !probe_name_is_good(text, false))
		what = "Event name must follow the same rules as C identifiers";
	if (what)
		return probe_error_set(err, -EINVAL, word, offset, what);
	memcpy(event, text, len + 1);
	return 0;
}

/* --- a line ---------------------------------------------------------------------------------- */

static int parse_each(struct probe_def *def, const struct probe_args *args, unsigned int at,
		      const struct fetch_function *function, struct probe_error *err)
{
	def->arg = calloc(args->n + 1, sizeof(*def->arg));
	if (!def->arg)
		return -ENOMEM;
	for (; def->nr_args < args->n; def->nr_args++) {
		int ret = fetch_arg_parse(def->arg, def->nr_args, args->v[def->nr_args], at,
					  function, &def->size, err);

		if (ret)
			return ret;
	}
	return 0;
}

/* The kernel calls this function where there is one of a tracepoint's probes (since 6.5). */
static bool find_function(const struct probe_def *def, const struct probe_symbols *symbols,
			  struct fetch_function *function)
{
	char stub[PROBE_STUB_SIZE];
	bool known;

	if (!def->symbol || !symbols->function || def->kind == PROBE_UPROBE)
		return false;
	if (def->kind != PROBE_TPROBE)
		return symbols->function(symbols->arg, def->symbol, function);
	known = probe_stub_name(def->symbol, stub) &&
		symbols->function(symbols->arg, stub, function);
	/* Its first argument is none of the tracepoint's. */
	if (known && function->nr) {
		function->nr--;
		memmove(function->param, function->param + 1,
			function->nr * sizeof(*function->param));
	}
	return known;
}

bool probe_stub_name(const char *tracepoint, char name[PROBE_STUB_SIZE])
{
	return snprintf(name, PROBE_STUB_SIZE, "__probestub_%s", tracepoint) < PROBE_STUB_SIZE;
}

int probe_args_parse(struct probe_def *def, const struct probe_words *words,
		     const struct probe_symbols *symbols, unsigned int at, struct probe_error *err)
{
	struct fetch_function function = {0};
	bool known = find_function(def, symbols, &function);
	struct probe_expansion how = {
		.function = known ? &function : NULL,
		.has_names = symbols->has_names,
		.has_args = at & FETCH_AT_RETURN ? symbols->keeps_args : at & FETCH_AT_ENTRY,
		.keeps_args = symbols->keeps_args,
		.dentries = symbols->dentries,
	};
	struct probe_args args = {0};
	int ret;

	if (at & FETCH_OF_USER)
		how = (struct probe_expansion){0}; /* all of this is of the kernel's functions */
	at |= (symbols->has_char ? FETCH_HAS_CHAR : 0) |
	      (symbols->has_names ? FETCH_HAS_NAMES : 0) |
	      (symbols->keeps_args ? FETCH_KEEPS_ARGS : 0);
	ret = probe_args_make(&args, words, &how, err);
	if (!ret)
		ret = parse_each(def, &args, at, known ? &function : NULL, err);
	probe_args_free(&args);
	return ret;
}

static int parse(struct parser *p)
{
	const char *first = p->words->v[0], *name = strchr(first, ':');
	int ret;

	p->def->is_return = *first == 'r';
	ret = parse_maxactive(p, first + 1);
	if (!ret)
		ret = parse_place(p, p->words->v[1]);
	if (!ret && name)
		ret = probe_name_parse(name + 1, 0, (size_t)(name + 1 - first), p->def->group,
				       p->def->event, p->err);
	if (!ret && !*p->def->event)
		make_name(p->def);
	return ret ? ret : probe_args_parse(p->def, p->words, p->symbols, p->at, p->err);
}

int probe_def_parse(const struct probe_words *words, const struct probe_symbols *symbols,
		    struct probe_def **def, struct probe_error *err)
{
	struct parser p = {.words = words, .symbols = symbols, .err = err};
	int ret;

	*err = (struct probe_error){0};
	*def = NULL;
	if (words->n < 2 || (*words->v[0] != 'p' && *words->v[0] != 'r'))
		return -EINVAL;
	p.def = calloc(1, sizeof(*p.def));
	if (!p.def)
		return -ENOMEM;
	strcpy(p.def->group, GROUP);
	ret = parse(&p);
	if (ret)
		probe_def_free(p.def);
	else
		*def = p.def;
	return ret;
}

bool probe_def_keeps_args(const struct probe_def *def)
{
	for (unsigned int i = 0; def->is_return && i < def->nr_args; i++)
		if (def->arg[i].source == FETCH_ARG)
			return true;
	return false;
}

void probe_def_free(struct probe_def *def)
{
	if (!def)
		return;
	for (unsigned int i = 0; i < def->nr_args; i++)
		fetch_arg_free(&def->arg[i]);
	free(def->arg);
	free(def->filter);
	free(def->symbol);
	free(def);
}

void probe_def_print_place(const struct probe_def *def, struct text *out)
{
	if (probe_def_is_at_event(def))
		text_printf(out, "%s.%s", def->at_system, def->at_event);
	else if (def->kind == PROBE_UPROBE)
		text_printf(out, "%s:0x%016" PRIx64, def->symbol, def->offset);
	else if (!def->symbol)
		text_printf(out, "0x%" PRIx64, def->offset);
	else if (def->offset)
		text_printf(out, "%s+%" PRIu64, def->symbol, def->offset);
	else
		text_puts(out, def->symbol);
	if (def->ref)
		text_printf(out, "(0x%" PRIx64 ")", def->ref);
}

void probe_def_print(const struct probe_def *def, unsigned int maxactive, struct text *out)
{
	static const char letters[] = {[PROBE_KPROBE] = 'p',
				       [PROBE_FPROBE] = 'f',
				       [PROBE_TPROBE] = 't',
				       [PROBE_EPROBE] = 'e',
				       [PROBE_UPROBE] = 'p'};
	bool at_kprobe = def->kind == PROBE_KPROBE, by_letter = letters[def->kind] == 'p';

	text_putc(out, by_letter && def->is_return ? 'r' : letters[def->kind]);
	if (def->is_return && (at_kprobe || def->maxactive))
		text_printf(out, "%u", def->maxactive ? def->maxactive : maxactive);
	text_printf(out, ":%s/%s ", def->group, def->event);
	probe_def_print_place(def, out);
	if (def->is_return && !by_letter)
		text_puts(out, "%return");
	for (unsigned int i = 0; i < def->nr_args; i++)
		text_printf(out, " %s=%s", def->arg[i].name, def->arg[i].body);
	text_putc(out, '\n');
}

/* --- removal --------------------------------------------------------------------------------- */

int probe_removal_parse(const struct probe_words *words, struct probe_removal *removal)
{
	const char *first = words->v[0], *name = strchr(first, ':'), *slash;

	if (!name || (*first == '-' && name != first + 1))
		return -EINVAL;
	name++;
	slash = strchr(name, '/');
	*removal = (struct probe_removal){.words = words, .event = slash ? slash + 1 : name};
	if (slash) {
		removal->group = name;
		removal->group_len = (size_t)(slash - name);
	}
	return slash || *name ? 0 : -EINVAL;
}

bool probe_removal_names_group(const struct probe_removal *removal, const char *group)
{
	return !removal->group || (strlen(group) == removal->group_len &&
				   !memcmp(group, removal->group, removal->group_len));
}

static bool place_is(const struct probe_def *def, const char *word)
{
	struct text place = {0};
	bool is;

	probe_def_print_place(def, &place);
	text_putc(&place, '\0');
	is = !place.failed && !strcmp(place.buf, word);
	/* "SYSTEM/EVENT" is as good. */
	if (!is && !place.failed && probe_def_is_at_event(def)) {
		place.buf[strlen(def->at_system)] = '/';
		is = !strcmp(place.buf, word);
	}
	text_free(&place);
	return is;
}

static bool arg_is(const struct fetch_arg *a, const char *word)
{
	size_t len = strlen(a->name);

	return !strncmp(word, a->name, len) && word[len] == '=' && !strcmp(word + len + 1, a->body);
}

bool probe_removal_takes(const struct probe_removal *removal, const struct probe_def *def)
{
	const struct probe_words *w = removal->words;

	if (*removal->event && strcmp(removal->event, def->event) != 0)
		return false;
	if (!probe_removal_names_group(removal, def->group))
		return false;
	if (w->n > 1 && !place_is(def, w->v[1]))
		return false;
	if (w->n > 2 && w->n - 2 > def->nr_args)
		return false;
	for (unsigned int i = 2; i < w->n; i++)
		if (!arg_is(&def->arg[i - 2], w->v[i]))
			return false;
	return true;
}

/* --- several probes of an event -------------------------------------------------------------- */

unsigned int probe_def_differs(const struct probe_def *a, const struct probe_def *b)
{
	unsigned int fewer = a->nr_args < b->nr_args ? a->nr_args : b->nr_args;

	if (a->nr_args != b->nr_args)
		return fewer + 1;
	for (unsigned int i = 0; i < a->nr_args; i++)
		if (a->arg[i].type != b->arg[i].type || a->arg[i].count != b->arg[i].count ||
		    strcmp(a->arg[i].name, b->arg[i].name) != 0)
			return i + 1;
	return 0;
}

bool probe_def_same_args(const struct probe_def *a, const struct probe_def *b)
{
	if (a->nr_args != b->nr_args)
		return false;
	for (unsigned int i = 0; i < a->nr_args; i++)
		if (strcmp(a->arg[i].body, b->arg[i].body) != 0)
			return false;
	return true;
}

bool probe_def_same(const struct probe_def *a, const struct probe_def *b)
{
	const char *at_a = a->symbol ? a->symbol : "", *at_b = b->symbol ? b->symbol : "";

	return !strcmp(at_a, at_b) && a->offset == b->offset && probe_def_same_args(a, b);
}
