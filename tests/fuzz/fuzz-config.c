// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-config.c - configurations of hvtrace serve, whatever is in them; what is taken is printed,
 * and read again. */
#include <stdlib.h>
#include <string.h>

#include "frontend/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *name(unsigned int i)
{
	static const char *const names[] = {"function", "nop", "mono"};

	return i < 3 ? names[i] : NULL;
}

static bool is_setting(const char *text)
{
	return strchr(text, '=');
}

/* Lines are lines, and what is in them is shown by a terminal. */
static void tell(void *arg, const char *line)
{
	++*(unsigned int *)arg;
	for (; *line; line++)
		if ((unsigned char)*line < ' ' && *line != '\t')
			abort();
}

static struct serve_config *read_text(const char *text, size_t len)
{
	const struct config_words words = {name, name, is_setting};
	unsigned int told = 0;
	const struct config_ear ear = {tell, &told};
	struct serve_config *c = config_read_text("f", text, len, &words, &ear);

	if (!c != (told > 0) || told > 21)
		abort();
	return c;
}

static void changed(void *arg, const struct config_change *c)
{
	(void)arg;
	(void)c;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Where it ends something is wrong with who reads on. */
	char *text = malloc(size ? size : 1);
	struct serve_config *c, *again;
	struct text printed = {0};

	if (!text)
		abort();
	memcpy(text, data, size);
	c = read_text(text, size);
	free(text);
	if (!c)
		return 0;
	config_print(c, true, &printed);
	again = read_text(printed.buf, printed.len);
	if (!again)
		abort();
	config_compare(c, again, changed, NULL);
	text_free(&printed);
	config_free(c);
	config_free(again);
	return 0;
}
