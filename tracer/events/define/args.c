// SPDX-License-Identifier: GPL-2.0-or-later
/* args.c - see args.h */
#include "tracer/events/define/args.h"
#include "tracer/events/define/fetch-parse.h"
#include "tracer/lib/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Ends the text, which becomes a word. Those that are too many are ignored, as by the kernel. */
static int add(struct probe_args *args, struct text *text)
{
	text_putc(text, '\0');
	if (text->failed) {
		text_free(text);
		return -ENOMEM;
	}
	if (args->n < PROBE_ARGS_MAX)
		args->v[args->n++] = text->buf;
	else
		text_free(text);
	return 0;
}

/* --- the name of a file ----------------------------------------------------------------------- */

/* Whether text ends with it, and where that begins. */
static bool has_suffix(const char *text, const char *suffix, size_t *at)
{
	size_t len = strlen(text), n = strlen(suffix);

	*at = len - n;
	return len >= n && !strcmp(text + len - n, suffix);
}

/*
 * NAME=ARG:%pd is the name of a dentry, %pD of a file's: what is read then, and what the definition
 * reads as. traceprobe_expand_dentry_args() (kernel/trace/trace_probe.c, 6.12).
 */
static int add_word(struct probe_args *args, const char *word, const char *suffix,
		    const struct probe_dentries *at)
{
	const char *equals, *arg;
	struct text text = {0};
	bool of_file = false;
	size_t len = 0;

	text_puts(&text, word);
	text_puts(&text, suffix);
	text_putc(&text, '\0');
	if (!at || text.failed ||
	    (!has_suffix(text.buf, ":%pd", &len) &&
	     !(of_file = has_suffix(text.buf, ":%pD", &len)))) {
		text.len -= text.len != 0;
		return add(args, &text);
	}
	word = text.buf;
	equals = strchr(word, '=');
	arg = equals ? equals + 1 : word;
	text = (struct text){0};
	text_add(&text, word, (size_t)(arg - word));
	text_printf(&text, "+0x0(+0x%" PRIx32 "(", at->name);
	if (of_file)
		text_printf(&text, "+0x%" PRIx32 "(", at->dentry);
	text_add(&text, arg, len - (size_t)(arg - word));
	text_puts(&text, of_file ? "))):string" : ")):string");
	free((void *)(uintptr_t)word);
	return add(args, &text);
}

/* --- arguments of the function -----------------------------------------------------------------
 */

enum { NAMES_MAX = 128 }; /* what the kernel has room for: of all names, with their ends */

/* Those of a line while it is read. */
struct expansion {
	const struct probe_expansion *how;
	struct probe_args *args;
	struct probe_error *err;
	unsigned int word;
	size_t len; /* of the names */
};

static int refuse(struct expansion *x, int error, const char *what)
{
	return probe_error_set(x->err, error, x->word, 0, what);
}

static int add_param(struct expansion *x, unsigned int n, const char *suffix)
{
	const struct fetch_function *function = x->how->function;
	const char *name;

	if (n >= function->nr)
		return refuse(x, -ENOENT, "This variable is not found at this probe point");
	name = function->param[n].name;
	x->len += strlen(name) + strlen(suffix) + 1;
	if (x->len > NAMES_MAX)
		return refuse(x, -E2BIG, "$arg* failed because the argument list is too long");
	return add_word(x->args, name, suffix, x->how->dentries);
}

static int add_all(struct expansion *x)
{
	int ret = 0;

	for (unsigned int i = 0; i < x->how->function->nr && !ret; i++)
		ret = add_param(x, i, "");
	return ret;
}

static bool is_variable(const char *word)
{
	return !strncmp(word, "$arg", 4);
}

/* $arg* and, without a name of its own, $argN stand for names; traceprobe_expand_meta_args(). */
static int expand(struct expansion *x, const char *text)
{
	char *end;
	unsigned long n;

	if (!is_variable(text))
		return add_word(x->args, text, "", x->how->dentries);
	if (text[4] == '*')
		return add_all(x);
	n = strtoul(text + 4, &end, 10);
	if (*end && *end != ':')
		return refuse(x, -ENOENT, "Invalid $-variable specified");
	if (!n)
		return refuse(x, -EINVAL, "Invalid argument number");
	return add_param(x, n > UINT_MAX ? UINT_MAX : (unsigned int)n - 1, end);
}

/* argv_has_var_arg() (kernel/trace/trace_probe.c, 6.12). */
static int check_variable(struct expansion *x, const char *text, bool *all)
{
	if (!x->how->has_args)
		return refuse(x, -EINVAL,
			      x->how->keeps_args ? FETCH_NO_ARGS
						 : "$arg* can be used only on function entry");
	if (isdigit((unsigned char)text[4]))
		return 0;
	if (text[4] != '*')
		return refuse(x, -EINVAL, "Invalid $-variable specified");
	if (*all)
		return refuse(x, -EINVAL, "$arg* can be used only once in the parameters");
	*all = true;
	return 0;
}

/* *some: there are such that stand for names, which are known. */
static int check_variables(struct expansion *x, const struct probe_words *words, bool *some)
{
	const struct fetch_function *function = x->how->function;
	bool all = false;
	int ret = 0;

	*some = false;
	for (unsigned int i = 2; i < words->n && x->how->has_names && !ret; i++) {
		if (!is_variable(words->v[i]))
			continue;
		x->word = i;
		*some = true;
		ret = check_variable(x, words->v[i], &all);
	}
	if (ret || (function && function->nr))
		return ret;
	*some = false;
	return all ? refuse(x, -EOPNOTSUPP, "BTF is not available or not supported") : 0;
}

int probe_args_make(struct probe_args *args, const struct probe_words *words,
		    const struct probe_expansion *how, struct probe_error *err)
{
	struct expansion x = {.how = how, .args = args, .err = err};
	bool some;
	int ret = check_variables(&x, words, &some);

	for (unsigned int i = 2; i < words->n && !ret; i++) {
		x.word = i;
		ret = some ? expand(&x, words->v[i])
			   : add_word(args, words->v[i], "", how->dentries);
	}
	return ret;
}

void probe_args_free(struct probe_args *args)
{
	while (args->n)
		free(args->v[--args->n]);
}
