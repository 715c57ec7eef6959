// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - see json.h */
#include "frontend/lib/json.h"

#include <string.h>

/* RFC 3629 */
size_t utf8_len(const uint8_t *at, size_t left)
{
	size_t len = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

	if (*at < 0x80)
		return 1;
	if (*at < 0xc2 || *at > 0xf4 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
	    (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
		return 0;
	return len;
}

void json_string(const char *text, size_t len, FILE *out)
{
	const uint8_t *at = (const uint8_t *)text;

	putc('"', out);
	while (len) {
		size_t n = utf8_len(at, len);

		if (!n || *at < ' ' || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else
			fwrite(at, 1, n, out);
		at += n ? n : 1;
		len -= n ? n : 1;
	}
	putc('"', out);
}

void json_text(const char *text, FILE *out)
{
	json_string(text, strlen(text), out);
}
