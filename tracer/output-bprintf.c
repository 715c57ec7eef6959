// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-bprintf.c - printf() of arguments that the kernel has packed for later: vbin_printf() and
 * bstr_printf() of lib/vsprintf.c, 6.1.
 *
 * Numbers of 8 bytes stand on 4-byte boundaries, others on their own; strings, and pointers whose
 * target had to be looked at then, as terminated text. Format and arguments are a guest's: what
 * makes no sense prints something or nothing, but reads only what is there.
 */
#include "tracer/output-internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH_MAX = 1024, FLAGS_MAX = 5 };

struct args {
	const uint8_t *data;
	size_t pos, len;
};

/* One conversion: %[flags][width][.precision][length]conversion */
struct spec {
	char flags[FLAGS_MAX + 1];
	int width, precision; /* precision -1: none */
	unsigned int size;    /* of an integer, bytes */
	char conversion;
};

static uint64_t take_number(struct args *a, unsigned int size)
{
	unsigned int align = size == 8 ? 4 : size;
	uint64_t value = 0;

	a->pos = (a->pos + align - 1) & ~(size_t)(align - 1);
	if (a->pos > a->len || a->len - a->pos < size) {
		a->pos = a->len;
		return 0;
	}
	memcpy(&value, a->data + a->pos, size);
	a->pos += size;
	return value;
}

static const char *take_string(struct args *a, int *len)
{
	const char *s = (const char *)a->data + a->pos;
	size_t room = a->len - a->pos, used = strnlen(s, room);

	a->pos += used < room ? used + 1 : used;
	*len = (int)used;
	return s;
}

static int limited(long value)
{
	return value > WIDTH_MAX ? WIDTH_MAX : (int)value;
}

/* A number in the format, or '*' for one among the arguments. */
static const char *parse_number(const char *at, struct args *a, int *value)
{
	char *end;

	if (*at == '*') {
		*value = limited((int32_t)take_number(a, sizeof(int32_t)));
		return at + 1;
	}
	if (!isdigit((unsigned char)*at)) {
		*value = 0;
		return at;
	}
	*value = limited(strtol(at, &end, 10));
	return end;
}

static const char *parse_length(const char *at, unsigned int *size)
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

static const char *parse_spec(const char *at, struct args *a, struct spec *spec)
{
	size_t flags = 0;

	*spec = (struct spec){.precision = -1};
	for (; *at && strchr("-+ #0", *at); at++)
		if (flags < FLAGS_MAX)
			spec->flags[flags++] = *at;
	at = parse_number(at, a, &spec->width);
	if (spec->width < -WIDTH_MAX)
		spec->width = -WIDTH_MAX; /* '-' and the width, as in C */
	if (*at == '.')
		at = parse_number(at + 1, a, &spec->precision);
	at = parse_length(at, &spec->size);
	spec->conversion = *at;
	return *at ? at + 1 : at;
}

static void print_padded(struct output *o, const struct spec *spec, const char *s, int len)
{
	bool left = strchr(spec->flags, '-') || spec->width < 0;
	int width = abs(spec->width), pad;

	if (spec->precision >= 0 && spec->precision < len)
		len = spec->precision;
	pad = width > len ? width - len : 0;
	if (!left)
		text_printf(o->text, "%*s", pad, "");
	text_add(o->text, s, (size_t)len);
	if (left)
		text_printf(o->text, "%*s", pad, "");
}

/* The C library's conversion of a 64-bit integer, with the flags of the kernel's. */
static void print_integer(struct output *o, const struct spec *spec, uint64_t value)
{
	bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
	unsigned int unused = 64 - spec->size * 8;
	char format[FLAGS_MAX + 16], number[2 * WIDTH_MAX + 32];
	int len;

	if (is_signed)
		value = (uint64_t)((int64_t)(value << unused) >> unused);
	snprintf(format, sizeof(format), "%%%s*.*" PRId64, spec->flags);
	format[strlen(format) - 1] = spec->conversion;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	len = snprintf(number, sizeof(number), format, spec->width, spec->precision, value);
#pragma GCC diagnostic pop
	text_add(o->text, number, (size_t)len);
}

static void print_place(struct output *o, const struct spec *spec, uint64_t addr, bool offset)
{
	struct output_symbol sym = {0};
	char buf[512];
	int len;

	if (!o->cfg.symbol(o->cfg.arg, addr, &sym))
		len = snprintf(buf, sizeof(buf), "0x%" PRIx64, addr);
	else if (offset)
		len = snprintf(buf, sizeof(buf), "%s+0x%" PRIx64 "/0x%" PRIx64 "%s%s%s", sym.name,
			       sym.off, sym.size, sym.module ? " [" : "",
			       sym.module ? sym.module : "", sym.module ? "]" : "");
	else
		len = snprintf(buf, sizeof(buf), "%s%s%s%s", sym.name, sym.module ? " [" : "",
			       sym.module ? sym.module : "", sym.module ? "]" : "");
	print_padded(o, spec, buf, len < (int)sizeof(buf) ? len : (int)sizeof(buf) - 1);
}

/* What stands behind %p says what it is. The guest's hash of pointers is not known: none is hashed.
 */
static const char *print_pointer(struct output *o, const struct spec *spec, const char *at,
				 struct args *a)
{
	char kind = *at, buf[17];
	int len;

	if (isalnum((unsigned char)kind) && !strchr("SsxKe", kind)) {
		const char *s = take_string(a, &len);

		print_padded(o, spec, s, len);
	} else {
		uint64_t value = take_number(a, sizeof(value));

		if (kind == 'S' || kind == 's') {
			print_place(o, spec, value, kind == 'S');
		} else {
			text_put_hex(buf, value, 16);
			print_padded(o, spec, buf, 16);
		}
	}
	while (isalnum((unsigned char)*at))
		at++;
	return at;
}

static const char *print_spec(struct output *o, const struct spec *spec, const char *at,
			      struct args *a)
{
	const char *s;
	char c;
	int len;

	switch (spec->conversion) {
	case '%':
		text_putc(o->text, '%');
		break;
	case 'c':
		c = (char)take_number(a, 1);
		print_padded(o, spec, &c, 1);
		break;
	case 's':
		s = take_string(a, &len);
		print_padded(o, spec, s, len);
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		print_integer(o, spec, take_number(a, spec->size));
		break;
	case 'p':
		return print_pointer(o, spec, at, a);
	default:
		break;
	}
	return at;
}

void output_bprintf(struct output *o, const char *format, const void *args, size_t len)
{
	struct args a = {.data = args, .len = len};
	struct spec spec;

	while (*format) {
		size_t plain = strcspn(format, "%");

		text_add(o->text, format, plain);
		format += plain;
		if (!*format)
			break;
		format = parse_spec(format + 1, &a, &spec);
		format = print_spec(o, &spec, format, &a);
	}
}
