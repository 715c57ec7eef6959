// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - events as objects of JSON: each field of the record by its name. */
#include "frontend/decode/print.h"

#include <inttypes.h>
#include <string.h>

/* The length of the UTF-8 character there, 0: it is none. RFC 3629 */
static size_t utf8_len(const uint8_t *at, size_t left)
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

/* Bytes that are no text are characters of their number. */
static void put_string(const char *text, size_t len, FILE *out)
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

static void put_text(const char *text, FILE *out)
{
	put_string(text, strlen(text), out);
}

static void put_key(const char *key, bool *first, FILE *out)
{
	if (!*first)
		putc(',', out);
	*first = false;
	put_text(key, out);
	putc(':', out);
}

/* --- fields ------------------------------------------------------------------------------------
 */

struct range {
	const uint8_t *at;
	size_t len;
};

static struct range range_of(const struct decode_event *ev, uint64_t offset, uint64_t len)
{
	if (offset > ev->len)
		offset = ev->len;
	if (len > ev->len - offset)
		len = ev->len - offset;
	return (struct range){(const uint8_t *)ev->data + offset, (size_t)len};
}

/* Where its bytes are, as far as the record has them. */
static struct range field_range(const struct tep_format_field *field, const struct decode_event *ev)
{
	uint64_t offset = (uint64_t)field->offset, size = (uint64_t)field->size, where;

	if (field->flags & TEP_FIELD_IS_DYNAMIC && formats_number(field, ev, &where)) {
		uint64_t to = where & 0xffff, len = where >> 16 & 0xffff;

		if (field->flags & TEP_FIELD_IS_RELATIVE)
			to += offset + size;
		return range_of(ev, to, len);
	}
	/* An array that has no size goes on to the record's end. */
	return range_of(ev, offset, size ? size : UINT64_MAX);
}

/* Addresses are strings, as they have more digits than many readers of JSON keep of a number. */
static void put_number(const struct tep_format_field *field, const uint8_t *at, size_t size,
		       FILE *out)
{
	uint64_t n = 0;

	memcpy(&n, at, size);
	if (field->flags & TEP_FIELD_IS_POINTER) {
		fprintf(out, "\"0x%" PRIx64 "\"", n);
		return;
	}
	if (field->flags & TEP_FIELD_IS_SIGNED) {
		unsigned int unused = 64 - 8 * (unsigned int)size;

		fprintf(out, "%" PRId64, (int64_t)(n << unused) >> unused);
		return;
	}
	fprintf(out, "%" PRIu64, n);
}

static size_t element_size(const struct tep_format_field *field)
{
	size_t size = field->elementsize;

	return size == 1 || size == 2 || size == 4 || size == 8 ? size : 1;
}

static void put_array(const struct tep_format_field *field, struct range r, FILE *out)
{
	size_t size = element_size(field);

	putc('[', out);
	for (size_t at = 0; at + size <= r.len; at += size) {
		if (at)
			putc(',', out);
		put_number(field, r.at + at, size, out);
	}
	putc(']', out);
}

static void put_value(const struct tep_format_field *field, const struct decode_event *ev,
		      FILE *out)
{
	struct range r = field_range(field, ev);

	if (field->flags & TEP_FIELD_IS_STRING)
		put_string((const char *)r.at, strnlen((const char *)r.at, r.len), out);
	else if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		put_array(field, r, out);
	else if (r.len == 1 || r.len == 2 || r.len == 4 || r.len == 8)
		put_number(field, r.at, r.len, out);
	else
		fputs("null", out);
}

static void put_fields(const struct tep_event *event, const struct decode_event *ev, FILE *out)
{
	bool first = true;

	putc('{', out);
	for (const struct tep_format_field *f = event->format.fields; f; f = f->next) {
		put_key(f->name, &first, out);
		put_value(f, ev, out);
	}
	putc('}', out);
}

/* --- names of functions ------------------------------------------------------------------------
 */

static void put_function(const struct tep_event *event, const struct decode_event *ev,
			 const char *field_name, const char *key, FILE *out)
{
	bool first = false;
	const char *name;
	uint64_t addr;

	if (!formats_number(tep_find_field((struct tep_event *)(uintptr_t)event, field_name), ev,
			    &addr))
		return;
	name = tep_find_function(event->tep, addr);
	if (!name)
		return;
	put_key(key, &first, out);
	put_text(name, out);
}

/* From the innermost on. */
static void put_stack(const struct tep_event *event, const struct decode_event *ev, FILE *out)
{
	const struct tep_format_field *field =
		tep_find_field((struct tep_event *)(uintptr_t)event, "caller");
	bool first = false, first_frame = true;
	struct range r;

	if (!field)
		return;
	r = range_of(ev, (uint64_t)field->offset, UINT64_MAX);
	put_key("stack", &first, out);
	putc('[', out);
	for (; r.len >= sizeof(uint64_t); r.at += sizeof(uint64_t), r.len -= sizeof(uint64_t)) {
		const char *name;
		uint64_t addr;

		memcpy(&addr, r.at, sizeof(addr));
		if (addr == UINT64_MAX)
			break;
		if (!first_frame)
			putc(',', out);
		first_frame = false;
		name = tep_find_function(event->tep, addr);
		if (name)
			put_text(name, out);
		else
			fprintf(out, "\"0x%" PRIx64 "\"", addr);
	}
	putc(']', out);
}

static void put_functions(const struct tep_event *event, const struct decode_event *ev, FILE *out)
{
	static const struct {
		const char *event, *field, *key;
	} rows[] = {
		{"function", "ip", "function"},
		{"function", "parent_ip", "parent"},
		{"funcgraph_entry", "func", "function"},
		{"funcgraph_exit", "func", "function"},
	};

	if (strcmp(event->system, "ftrace") != 0)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(event->name, rows[i].event))
			put_function(event, ev, rows[i].field, rows[i].key, out);
	if (!strcmp(event->name, "kernel_stack"))
		put_stack(event, ev, out);
}

/* --- messages ----------------------------------------------------------------------------------
 */

/* What trace_printk() and trace_marker say is in a format that is somewhere else, or in the text.
 */
static bool is_message(const struct tep_event *event)
{
	return !strcmp(event->system, "ftrace") &&
	       (!strcmp(event->name, "bprint") || !strcmp(event->name, "bputs") ||
		!strcmp(event->name, "print"));
}

static void put_message(struct formats *f, const struct decode_event *ev, FILE *out)
{
	bool first = false;
	struct trace_seq s;
	size_t len;

	trace_seq_init(&s);
	tep_print_event(formats_tep(f), &s, formats_record(f, FORMATS_ONE, ev), "%s",
			TEP_PRINT_INFO);
	len = s.len;
	if (len && s.buffer[len - 1] == '\n')
		len--;
	put_key("message", &first, out);
	put_string(s.buffer, len, out);
	trace_seq_destroy(&s);
}

/* --- an event ----------------------------------------------------------------------------------
 */

static void put_time(const struct dat_info *info, uint64_t time, FILE *out)
{
	if (dat_counts_ns(info))
		fprintf(out, "%" PRIu64 ".%09" PRIu64, time / 1000000000, time % 1000000000);
	else
		fprintf(out, "%" PRIu64, time);
}

static void put_name(const struct tep_event *event, const struct decode_event *ev, FILE *out)
{
	bool first = false;

	put_key("event", &first, out);
	if (!event) {
		fprintf(out, "\"%d\"", ev->id);
		return;
	}
	put_text(event->name, out);
	put_key("system", &first, out);
	put_text(event->system, out);
}

static void put_lost(const struct decode_event *ev, FILE *out)
{
	if (ev->lost == DECODE_LOST_UNKNOWN)
		fputs(",\"lost\":true", out);
	else if (ev->lost)
		fprintf(out, ",\"lost\":%" PRIu64, ev->lost);
}

void print_json(struct dat *d, struct formats *f, const struct decode_event *ev, FILE *out)
{
	const struct tep_event *event = formats_event(f, ev->id);
	const char *buffer = dat_buffer(d, ev->buffer)->name;
	bool first = false;

	fputs("{\"time\":", out);
	put_time(dat_info(d), ev->time, out);
	fprintf(out, ",\"cpu\":%u,\"pid\":%d,\"comm\":", ev->cpu, ev->pid);
	put_text(tep_data_comm_from_pid(formats_tep(f), ev->pid), out);
	put_name(event, ev, out);
	if (*buffer) {
		put_key("buffer", &first, out);
		put_text(buffer, out);
	}
	put_lost(ev, out);
	if (event) {
		put_functions(event, ev, out);
		if (is_message(event))
			put_message(f, ev, out);
		put_key("fields", &first, out);
		put_fields(event, ev, out);
	}
	fputs("}\n", out);
}
