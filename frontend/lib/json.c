// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - see json.h */
#include "frontend/lib/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LEN 24 /* 20 digits and a sign */

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

/* How much of it stands as it is. */
static size_t plain(const uint8_t *at, size_t len)
{
	size_t n = 0;

	while (n < len && at[n] >= ' ' && at[n] < 0x7f && at[n] != '"' && at[n] != '\\')
		n++;
	return n;
}

void json_string(const char *text, size_t len, FILE *out)
{
	const uint8_t *at = (const uint8_t *)text;

	putc('"', out);
	while (len) {
		size_t n = plain(at, len);

		if (!n)
			n = *at < 0x80 ? 0 : utf8_len(at, len);
		if (n)
			fwrite(at, 1, n, out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else
			fprintf(out, "\\u%04x", *at);
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

/* Of the depth that it is at. */
static uint64_t row_bit(const struct json *j)
{
	return j->depth < 64 ? UINT64_C(1) << j->depth : 0;
}

/* What is at this depth does. */
static bool begins_lines(const struct json *j)
{
	return (j->depth == 1 && !j->compact) || j->rows & row_bit(j);
}

static void begin_line(struct json *j)
{
	putc('\n', j->out);
	for (unsigned int i = 0; i < j->depth && !j->compact; i++)
		fputs("  ", j->out);
}

static void put_key(struct json *j, const char *key)
{
	if (j->follows)
		putc(',', j->out);
	if (begins_lines(j))
		begin_line(j);
	else if (j->follows && !j->compact)
		putc(' ', j->out);
	if (key) {
		json_text(key, j->out);
		fputs(j->compact ? ":" : ": ", j->out);
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
	bool lines = begins_lines(j) && (j->follows || j->compact);

	j->rows &= ~row_bit(j);
	j->depth--;
	if (lines)
		begin_line(j);
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

void json_begin_rows(struct json *j, const char *key)
{
	begin(j, key, '[');
	j->rows |= row_bit(j);
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
	json_put_string(j, key, text, strlen(text));
}

void json_put_string(struct json *j, const char *key, const char *text, size_t len)
{
	put_key(j, key);
	json_string(text, len, j->out);
}

/* The digits of n, at least so many, behind each other up to end; where they begin. */
static char *digits_of(uint64_t n, unsigned int least, char *end)
{
	char *at = end;

	for (unsigned int i = 0; n || i < least; i++, n /= 10)
		*--at = (char)('0' + n % 10);
	return at;
}

void json_put_number(struct json *j, const char *key, uint64_t n)
{
	char text[NUMBER_LEN], *end = text + sizeof(text), *at = digits_of(n, 1, end);

	put_key(j, key);
	fwrite(at, 1, (size_t)(end - at), j->out);
}

void json_put_signed(struct json *j, const char *key, int64_t n)
{
	char text[NUMBER_LEN], *end = text + sizeof(text);
	char *at = digits_of(n < 0 ? -(uint64_t)n : (uint64_t)n, 1, end);

	if (n < 0)
		*--at = '-';
	put_key(j, key);
	fwrite(at, 1, (size_t)(end - at), j->out);
}

void json_put_fixed(struct json *j, const char *key, uint64_t n, unsigned int digits)
{
	char text[NUMBER_LEN], *end = text + sizeof(text), *at = digits_of(n, digits + 1, end);

	put_key(j, key);
	fwrite(at, 1, (size_t)(end - at) - digits, j->out);
	putc('.', j->out);
	fwrite(end - digits, 1, digits, j->out);
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
