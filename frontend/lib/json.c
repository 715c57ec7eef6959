// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - see json.h */
#include "frontend/lib/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
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

/* --- a document ------------------------------------------------------------------------------- */

static void put_key(struct json *j, const char *key)
{
	if (j->follows)
		putc(',', j->out);
	if (j->depth == 1)
		fputs("\n  ", j->out);
	else if (j->follows)
		putc(' ', j->out);
	if (key) {
		json_text(key, j->out);
		fputs(": ", j->out);
	}
	j->follows = true;
}

static void begin(struct json *j, const char *key, char bracket)
{
	put_key(j, key);
	putc(bracket, j->out);
	j->depth++;
	j->follows = false;
}

static void end(struct json *j, char bracket)
{
	j->depth--;
	if (!j->depth && j->follows)
		putc('\n', j->out);
	putc(bracket, j->out);
	if (!j->depth)
		putc('\n', j->out);
	j->follows = j->depth;
}

void json_begin_object(struct json *j, const char *key)
{
	begin(j, key, '{');
}

void json_end_object(struct json *j)
{
	end(j, '}');
}

void json_begin_array(struct json *j, const char *key)
{
	begin(j, key, '[');
}

void json_end_array(struct json *j)
{
	end(j, ']');
}

void json_put_text(struct json *j, const char *key, const char *text)
{
	if (!text) {
		json_put_null(j, key);
		return;
	}
	put_key(j, key);
	json_text(text, j->out);
}

void json_put_number(struct json *j, const char *key, uint64_t n)
{
	put_key(j, key);
	fprintf(j->out, "%" PRIu64, n);
}

void json_put_real(struct json *j, const char *key, double n, int digits)
{
	put_key(j, key);
	fprintf(j->out, "%.*f", digits, isfinite(n) ? n : 0);
}

void json_put_bool(struct json *j, const char *key, bool value)
{
	put_key(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_put_null(struct json *j, const char *key)
{
	put_key(j, key);
	fputs("null", j->out);
}

void json_put_address(struct json *j, const char *key, uint64_t address)
{
	put_key(j, key);
	fprintf(j->out, "\"0x%" PRIx64 "\"", address);
}

void json_to_text(void (*put)(struct json *j, void *arg), void *arg, struct text *to)
{
	char *buf = NULL;
	size_t len = 0;
	struct json j = {.out = open_memstream(&buf, &len)};

	if (j.out)
		put(&j, arg);
	if (!j.out || fclose(j.out))
		to->failed = true;
	else
		text_add(to, buf, len);
	free(buf);
}
