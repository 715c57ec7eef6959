// SPDX-License-Identifier: GPL-2.0-or-later
/* args.c - see args.h */
#include "tracer/events/define/args.h"
#include "tracer/lib/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
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

static int add_all(struct probe_args *args, const struct probe_expansion *how)
{
	int ret = 0;

	for (unsigned int i = 0; i < how->function->nr && !ret; i++)
		ret = add_word(args, how->function->param[i].name, "", NULL);
	return ret;
}

/* $arg* and, without a name of its own, $argN stand for names; traceprobe_expand_meta_args(). */
static int expand(struct probe_args *args, const char *text, unsigned int word,
		  const struct probe_expansion *how, struct probe_error *err)
{
	const struct fetch_function *function = how->function;
	char *end;
	unsigned long n;

	if (!function || !function->nr || strncmp(text, "$arg", 4) != 0)
		return add_word(args, text, "", how->dentries);
	if (!strcmp(text, "$arg*"))
		return add_all(args, how);
	n = isdigit((unsigned char)text[4]) ? strtoul(text + 4, &end, 10) : 0;
	if (!n || (*end && *end != ':'))
		return add_word(args, text, "", how->dentries);
	if (n > function->nr)
		return probe_error_set(err, -ENOENT, word, 0,
				       "This variable is not found at this probe point");
	return add_word(args, function->param[n - 1].name, end, how->dentries);
}

int probe_args_make(struct probe_args *args, const struct probe_words *words,
		    const struct probe_expansion *how, struct probe_error *err)
{
	int ret = 0;

	for (unsigned int i = 2; i < words->n && !ret; i++)
		ret = expand(args, words->v[i], i, how, err);
	return ret;
}

void probe_args_free(struct probe_args *args)
{
	while (args->n)
		free(args->v[--args->n]);
}
