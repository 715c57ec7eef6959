// SPDX-License-Identifier: GPL-2.0-or-later
/* request.c - see request.h */
#include "frontend/remote/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dat/bytes.h"
#include "frontend/lib/options.h"
#include "frontend/remote/protocol.h"

#define NUMBERS 12 /* in front of the words */

void request_add(struct request *r, const char *word)
{
	text_add(&r->words, word, strlen(word) + 1);
	r->nr++;
}

const char *request_file(struct request *r)
{
	static const char *const names[REMOTE_FILES_MAX] = {"/dev/fd/3", "/dev/fd/4", "/dev/fd/5",
							    "/dev/fd/6"};

	return names[r->files++];
}

int request_put(const struct request *r, struct text *to)
{
	if (r->words.failed)
		return -ENOMEM;
	if (r->nr > REMOTE_WORDS_MAX || r->words.len > REMOTE_REQUEST_MAX - NUMBERS)
		return -E2BIG;
	bytes_add32(to, (uint32_t)r->words.len + NUMBERS);
	bytes_add32(to, r->flags);
	bytes_add32(to, r->files);
	bytes_add32(to, r->nr);
	text_add(to, r->words.buf, r->words.len);
	return to->failed ? -ENOMEM : 0;
}

int64_t request_length(const uint8_t head[REQUEST_HEAD])
{
	uint32_t len = bytes_get32(head);

	return len >= NUMBERS && len <= REMOTE_REQUEST_MAX ? (int64_t)len : -EBADMSG;
}

static void add_option(void *arg, const char *word)
{
	request_add(arg, word);
}

void request_add_options(struct request *r, const struct option_row *rows)
{
	if (options_words(rows, add_option, r))
		r->words.failed = true;
}

/* As many as are said to be there, each with its zero. */
static bool has_words(const uint8_t *at, size_t len, uint32_t nr)
{
	uint32_t found = 0;

	for (size_t i = 0; i < len; i++)
		found += !at[i];
	return len && !at[len - 1] && found == nr;
}

int request_parse(const uint8_t *rest, size_t len, struct request *r, char ***argv)
{
	const uint8_t *at = rest + NUMBERS;

	if (len < NUMBERS)
		return -EBADMSG;
	*r = (struct request){.flags = bytes_get32(rest),
			      .files = bytes_get32(rest + 4),
			      .nr = bytes_get32(rest + 8)};
	if (r->files > REMOTE_FILES_MAX || !r->nr || r->nr > REMOTE_WORDS_MAX ||
	    !has_words(at, len - NUMBERS, r->nr))
		return -EBADMSG;
	*argv = calloc((size_t)r->nr + 2, sizeof(**argv));
	if (!*argv)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr; i++, at += strlen((const char *)at) + 1)
		(*argv)[i + 1] = (char *)(uintptr_t)at;
	return 0;
}
