// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - see words.h */
#include "tracer/events/define/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_spaces(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *word_end(const char *at)
{
	while (*at && !isspace((unsigned char)*at))
		at++;
	return at;
}

static unsigned int count_words(const char *line)
{
	unsigned int n = 0;

	for (const char *at = skip_spaces(line); *at; at = skip_spaces(word_end(at)))
		n++;
	return n;
}

int probe_words_split(struct probe_words *w, const char *line)
{
	char *to;

	*w = (struct probe_words){
		.text = malloc(strlen(line) + 1),
		.v = calloc(count_words(line) + 1, sizeof(*w->v)),
	};
	if (!w->text || !w->v) {
		probe_words_free(w);
		return -ENOMEM;
	}
	to = w->text;
	for (const char *at = skip_spaces(line), *end; *at; at = skip_spaces(end)) {
		end = word_end(at);
		w->v[w->n++] = to;
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
		*to++ = '\0';
	}
	return 0;
}

void probe_words_free(struct probe_words *w)
{
	free(w->text);
	free(w->v);
	*w = (struct probe_words){0};
}

char *probe_error_command(const struct probe_words *w, const struct probe_error *err, uint16_t *pos)
{
	size_t len = 0, at = 0;
	char *command;

	for (unsigned int i = 0; i < w->n; i++)
		len += strlen(w->v[i]) + 1;
	command = calloc(1, len + 1);
	if (!command)
		return NULL;
	*pos = (uint16_t)len; /* behind the last word, when it is about one that is missing */
	for (unsigned int i = 0; i < w->n; i++) {
		size_t n = strlen(w->v[i]);

		if (i == err->word)
			*pos = (uint16_t)(at + err->offset);
		memcpy(command + at, w->v[i], n);
		at += n;
		command[at++] = ' ';
	}
	/* What a word stands for (args.h) may be longer than the word. */
	if (*pos > len)
		*pos = (uint16_t)len;
	if (at)
		command[at - 1] = '\0';
	return command;
}
