// SPDX-License-Identifier: GPL-2.0-or-later
/* kprintf.c - formats, numbers and strings as the kernel prints them; see kprintf.h. */
#include "tracer/lib/kprintf.h"

#include <ctype.h>
#include <stdlib.h>

enum { DIGITS_MAX = 24 };

static int limited(long value)
{
	return value > KPRINTF_WIDTH_MAX ? KPRINTF_WIDTH_MAX : (int)value;
}

void kprintf_set_width(struct kprintf_spec *spec, int width)
{
	if (width < 0)
		spec->flags |= KPRINTF_LEFT;
	spec->width = width < -KPRINTF_WIDTH_MAX ? KPRINTF_WIDTH_MAX : limited(labs((long)width));
}

void kprintf_set_precision(struct kprintf_spec *spec, int precision)
{
	spec->precision = precision < 0 ? 0 : limited(precision);
}

/* A number in the format, or '*' for one among the arguments. */
static const char *parse_number(const char *at, int *value, bool *arg)
{
	char *end;

	if (*at == '*') {
		*arg = true;
		return at + 1;
	}
	if (!isdigit((unsigned char)*at))
		return at;
	*value = limited(strtol(at, &end, 10));
	return end;
}

static const char *parse_length(const char *at, uint8_t *size)
{
	*size = 4;
	if (at[0] == 'h') {
		*size = at[1] == 'h' ? 1 : 2;
		return at + (at[1] == 'h' ? 2 : 1);
	}
	if (!*at || !strchr("lLzt", *at))
		return at;
	*size = 8;
	return at + (at[0] == 'l' && at[1] == 'l' ? 2 : 1);
}

const char *kprintf_parse(const char *at, struct kprintf_spec *spec)
{
	static const char flags[] = "-+ #0"; /* in the order of enum kprintf_flag */
	const char *flag;

	*spec = (struct kprintf_spec){.width = -1, .precision = -1};
	for (; *at && (flag = strchr(flags, *at)); at++)
		spec->flags |= (uint8_t)(1 << (flag - flags));
	at = parse_number(at, &spec->width, &spec->width_arg);
	if (*at == '.') {
		spec->precision = 0;
		at = parse_number(at + 1, &spec->precision, &spec->precision_arg);
	}
	at = parse_length(at, &spec->size);
	spec->conversion = *at;
	return *at ? at + 1 : at;
}

/* --- numbers ------------------------------------------------------------------------------ */

/* A number without its width: sign or 0x, zeros, digits. */
struct number {
	char prefix[2], digits[DIGITS_MAX];
	int nr_prefix, nr_digits, zeros;
};

static uint64_t extended(uint64_t value, unsigned int size, bool is_signed)
{
	unsigned int unused = 64 - size * 8;

	return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused)
			 : value << unused >> unused;
}

static int put_digits(char *at, uint64_t value, char conversion)
{
	char *end;

	if (conversion == 'o') {
		int nr = 0;

		for (uint64_t v = value; nr == 0 || v; v >>= 3)
			nr++;
		for (int i = nr; i > 0; value >>= 3)
			at[--i] = (char)('0' + (value & 7));
		return nr;
	}
	if (conversion != 'x' && conversion != 'X' && conversion != 'p')
		return (int)(text_put_dec(at, value, 0, ' ') - at);
	end = text_put_hex(at, value, 0);
	for (char *c = at; conversion == 'X' && c < end; c++)
		*c = (char)toupper((unsigned char)*c);
	return (int)(end - at);
}

static void make_number(struct number *n, const struct kprintf_spec *spec, uint64_t value)
{
	char c = spec->conversion;
	bool is_signed = c == 'd' || c == 'i', special = spec->flags & KPRINTF_SPECIAL;

	*n = (struct number){0};
	value = extended(value, spec->size, is_signed);
	if (is_signed && (int64_t)value < 0) {
		n->prefix[n->nr_prefix++] = '-';
		value = -value;
	} else if (is_signed && spec->flags & (KPRINTF_PLUS | KPRINTF_SPACE)) {
		n->prefix[n->nr_prefix++] = spec->flags & KPRINTF_PLUS ? '+' : ' ';
	} else if (special && (c == 'x' || c == 'X')) { /* unlike C, of 0 as well */
		n->prefix[n->nr_prefix++] = '0';
		n->prefix[n->nr_prefix++] = c;
	} else if (special && c == 'o' && value) {
		n->prefix[n->nr_prefix++] = '0';
	}
	n->nr_digits = put_digits(n->digits, value, c);
	if (spec->precision > n->nr_digits)
		n->zeros = spec->precision - n->nr_digits;
}

static char *put_fill(char *at, char c, int nr)
{
	return nr > 0 ? (char *)memset(at, c, (size_t)nr) + nr : at;
}

static char *put_bytes(char *at, const char *bytes, int nr)
{
	return (char *)memcpy(at, bytes, (size_t)nr) + nr;
}

static void put_number(struct text *t, const struct kprintf_spec *spec, struct number *n)
{
	int pad = spec->width - n->nr_prefix - n->zeros - n->nr_digits;
	bool left = spec->flags & KPRINTF_LEFT;
	char *at = text_begin(t, 2 * KPRINTF_WIDTH_MAX + sizeof(*n));

	if (!at)
		return;
	if (!left && spec->flags & KPRINTF_ZERO && pad > 0) {
		n->zeros += pad;
		pad = 0;
	}
	if (!left)
		at = put_fill(at, ' ', pad);
	at = put_bytes(at, n->prefix, n->nr_prefix);
	at = put_fill(at, '0', n->zeros);
	at = put_bytes(at, n->digits, n->nr_digits);
	if (left)
		at = put_fill(at, ' ', pad);
	text_end(t, at);
}

/* Most numbers are plain. */
static bool put_plain(struct text *t, const struct kprintf_spec *spec, uint64_t value)
{
	bool is_signed = spec->conversion == 'd';
	char *at;

	if (spec->flags || spec->width >= 0 || spec->precision >= 0 || spec->size < 4 ||
	    (!is_signed && spec->conversion != 'u'))
		return false;
	at = text_begin(t, DIGITS_MAX);
	if (!at)
		return true;
	value = extended(value, spec->size, is_signed);
	if (is_signed && (int64_t)value < 0) {
		*at++ = '-';
		value = -value;
	}
	text_end(t, text_put_dec(at, value, 0, ' '));
	return true;
}

void kprintf_number(struct text *t, const struct kprintf_spec *spec, uint64_t value)
{
	struct number n;

	if (put_plain(t, spec, value))
		return;
	make_number(&n, spec, value);
	put_number(t, spec, &n);
}

/* --- strings ------------------------------------------------------------------------------ */

void kprintf_end_string(struct text *t, const struct kprintf_spec *spec, size_t start)
{
	size_t len = t->len - start, pad;
	char *at;

	if (spec->precision >= 0 && (size_t)spec->precision < len) {
		len = (size_t)spec->precision;
		t->len = start + len;
	}
	if (spec->width < 0 || (size_t)spec->width <= len)
		return;
	pad = (size_t)spec->width - len;
	at = text_begin(t, pad);
	if (!at)
		return;
	if (spec->flags & KPRINTF_LEFT) {
		memset(at, ' ', pad);
	} else {
		memmove(at - len + pad, at - len, len);
		memset(at - len, ' ', pad);
	}
	text_end(t, at + pad);
}

void kprintf_string(struct text *t, const struct kprintf_spec *spec, const char *s, size_t len)
{
	size_t start = t->len;

	text_add(t, s, len);
	kprintf_end_string(t, spec, start);
}

void kprintf_char(struct text *t, const struct kprintf_spec *spec, char c)
{
	struct kprintf_spec padding = *spec;

	padding.precision = -1;
	kprintf_string(t, &padding, &c, 1);
}
