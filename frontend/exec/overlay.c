// SPDX-License-Identifier: GPL-2.0-or-later
/* overlay.c - see overlay.h */
#include "frontend/exec/overlay.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/exec/guest/protocol.h"
#include "frontend/lib/cpio.h"

extern const uint8_t exec_image[], exec_image_end[]; /* image.S */

#define RDINIT "rdinit="
#define BLANKS " \t\n"

/* Names in an archive have no / in front. */
#define IN_ARCHIVE(path) ((path) + 1)

/*
 * The next word from *at on, as the kernel has it: a blank within quotes belongs to it. NULL: there
 * is no more, or it is the "--" behind which init's own come.
 */
static const char *next_word(const char **at, size_t *len)
{
	const char *word = *at + strspn(*at, BLANKS), *end = word;
	bool quoted = false;

	for (; *end && (quoted || !strchr(BLANKS, *end)); end++)
		quoted ^= *end == '"';
	*at = word;
	*len = (size_t)(end - word);
	if (!*len || (*len == 2 && !memcmp(word, "--", 2)))
		return NULL;
	*at = end;
	return word;
}

/* The last that is named counts, as for the kernel. */
static const char *named_init(const char *words, size_t *len)
{
	const char *init = "/init", *word;
	size_t n;

	*len = strlen(init);
	while ((word = next_word(&words, &n))) {
		if (n <= strlen(RDINIT) || strncmp(word, RDINIT, strlen(RDINIT)) != 0)
			continue;
		init = word + strlen(RDINIT);
		*len = n - strlen(RDINIT);
	}
	return init;
}

void *overlay_make(const char *words, size_t *len)
{
	size_t next_len;
	const char *next = named_init(words, &next_len);
	const struct cpio_entry entries[] = {
		{.name = IN_ARCHIVE(EXEC_FOLDER), .mode = S_IFDIR | 0700},
		{.name = IN_ARCHIVE(EXEC_INIT),
		 .mode = S_IFREG | 0700,
		 .data = exec_image,
		 .size = (size_t)(exec_image_end - exec_image)},
		{.name = IN_ARCHIVE(EXEC_NEXT),
		 .mode = S_IFLNK | 0777,
		 .data = next,
		 .size = next_len},
		{.name = IN_ARCHIVE(EXEC_NULL), .mode = S_IFCHR | 0600, .major = 1, .minor = 3},
		{.name = IN_ARCHIVE(EXEC_PORT), .mode = S_IFCHR | 0600, .major = 4, .minor = 65},
		{.name = IN_ARCHIVE(EXEC_PROC), .mode = S_IFDIR | 0700},
		{.name = IN_ARCHIVE(EXEC_DEVICES), .mode = S_IFDIR | 0700},
		{.name = IN_ARCHIVE(EXEC_ROOT), .mode = S_IFDIR | 0700},
	};

	return cpio_make(entries, sizeof(entries) / sizeof(entries[0]), len);
}

char *overlay_words(const char *words)
{
	const char *at = words;
	char *all = NULL;
	size_t n;

	while (next_word(&at, &n))
		;
	if (asprintf(&all, "%.*s " RDINIT EXEC_INIT "%s%s", (int)(at - words), words,
		     *at ? " " : "", at) < 0)
		return NULL;
	return all;
}
