// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * printk-formats.c - printk_formats: the strings that records of the guest name by their address.
 *
 * They are pointers in two sections of the kernel, and in a list for those of modules
 * (kernel/trace/trace_printk.c, 6.1). All is read from the guest as it is now.
 */
#include "tracer/control/files.h"
#include "tracer/core/trace.h"
#include "tracer/lib/text.h"

#define FORMATS_MAX    16384 /* of a section, and of the list */
#define FORMAT_LEN_MAX 1024

/* As t_show() writes them: a backslash is not doubled. */
static void print_char(char c, struct text *out)
{
	switch (c) {
	case '\n':
		text_puts(out, "\\n");
		break;
	case '\t':
		text_puts(out, "\\t");
		break;
	case '"':
		text_puts(out, "\\\"");
		break;
	default:
		text_putc(out, c);
	}
}

/* Up to its end, or to where it cannot be read. */
static void print_string(struct trace *t, uint64_t at, struct text *out)
{
	for (uint64_t end = at + FORMAT_LEN_MAX; at < end;) {
		char part[64]; /* ends where a page does, too */
		size_t len = sizeof(part) - at % sizeof(part);

		if (guest_read(&t->guest, at, part, len))
			return;
		for (size_t i = 0; i < len; i++) {
			if (!part[i])
				return;
			print_char(part[i], out);
		}
		at += len;
	}
}

static void print_format(struct trace *t, uint64_t string, struct text *out)
{
	if (!string)
		return;
	text_printf(out, "0x%llx : \"", (unsigned long long)string);
	print_string(t, string, out);
	text_puts(out, "\"\n");
}

static uint64_t read_pointer(struct trace *t, uint64_t va)
{
	uint64_t pointer;

	return guest_read(&t->guest, va, &pointer, sizeof(pointer)) ? 0 : pointer;
}

static void print_section(struct trace *t, const char *start, const char *stop, struct text *out)
{
	uint64_t at = guestsym_addr(t->gs, start), end = guestsym_addr(t->gs, stop);

	for (unsigned int n = 0; at && at < end && n < FORMATS_MAX; n++, at += 8)
		print_format(t, read_pointer(t, at + t->guest.slide), out);
}

/* A struct trace_bprintk_fmt begins with its place in the list. */
static void print_modules(struct trace *t, struct text *out)
{
	uint64_t head = guestsym_addr(t->gs, "trace_bprintk_fmt_list");
	struct guestsym_field fmt;
	uint64_t at;

	if (!head || guestsym_field(t->gs, "trace_bprintk_fmt.fmt", &fmt))
		return;
	head += t->guest.slide;
	at = read_pointer(t, head);
	for (unsigned int n = 0; at && at != head && n < FORMATS_MAX; n++) {
		print_format(t, read_pointer(t, at + fmt.offset), out);
		at = read_pointer(t, at);
	}
}

void trace_print_formats(struct trace *t, struct text *out)
{
	if (!t->m)
		return;
	print_section(t, "__start___trace_bprintk_fmt", "__stop___trace_bprintk_fmt", out);
	print_section(t, "__start___tracepoint_str", "__stop___tracepoint_str", out);
	print_modules(t, out);
}
