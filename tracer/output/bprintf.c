// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bprintf.c - printf() of arguments that the kernel has packed for later: vbin_printf() and
 * bstr_printf() of lib/vsprintf.c, 6.1.
 *
 * Numbers of 8 bytes stand on 4-byte boundaries, others on their own; strings, and pointers whose
 * target had to be looked at then, as terminated text. Format and arguments are a guest's: what
 * makes no sense prints something or nothing, but reads only what is there.
 */
#include "tracer/output/internal.h"

#include <ctype.h>

struct args {
	const uint8_t *data;
	size_t pos, len;
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

/* What stands behind %p says what it is. */
static const char *print_pointer(struct output *o, const struct kprintf_spec *spec, const char *at,
				 struct args *a)
{
	char kind = *at;

	if (isalnum((unsigned char)kind) && !strchr("SsxKe", kind)) {
		int len;
		const char *s = take_string(a, &len);

		kprintf_string(o->text, spec, s, (size_t)len);
	} else {
		const struct output_pointer p = {.addr = take_number(a, sizeof(p.addr))};

		output_pointer(o, spec, at, &p);
	}
	while (isalnum((unsigned char)*at))
		at++;
	return at;
}

static const char *print_spec(struct output *o, const struct kprintf_spec *spec, const char *at,
			      struct args *a)
{
	const char *s;
	int len;

	switch (spec->conversion) {
	case '%':
		text_putc(o->text, '%');
		break;
	case 'c':
		kprintf_char(o->text, spec, (char)take_number(a, 1));
		break;
	case 's':
		s = take_string(a, &len);
		kprintf_string(o->text, spec, s, (size_t)len);
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		kprintf_number(o->text, spec, take_number(a, spec->size));
		break;
	case 'p':
		return print_pointer(o, spec, at, a);
	default:
		break;
	}
	return at;
}

static void take_sizes(struct kprintf_spec *spec, struct args *a)
{
	if (spec->width_arg)
		kprintf_set_width(spec, (int)take_number(a, sizeof(int)));
	if (spec->precision_arg)
		kprintf_set_precision(spec, (int)take_number(a, sizeof(int)));
}

void output_bprintf(struct output *o, const char *format, const void *args, size_t len)
{
	struct args a = {.data = args, .len = len};
	struct kprintf_spec spec;

	while (*format) {
		size_t plain = strcspn(format, "%");

		text_add(o->text, format, plain);
		format += plain;
		if (!*format)
			break;
		format = kprintf_parse(format + 1, &spec);
		take_sizes(&spec, &a);
		format = print_spec(o, &spec, format, &a);
	}
}
