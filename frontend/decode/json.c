// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - events as objects of JSON: each field of the record by its name. */
#include "frontend/decode/fields.h"
#include "frontend/decode/print.h"
#include "frontend/lib/json.h"

#include <inttypes.h>
#include <string.h>

static void put_key(const char *key, bool *first, FILE *out)
{
	if (!*first)
		putc(',', out);
	*first = false;
	json_text(key, out);
	putc(':', out);
}

/* --- fields ------------------------------------------------------------------------------------
 */

/* Addresses are strings, as they have more digits than many readers of JSON keep of a number. */
static void put_number(const struct tep_format_field *field, const uint8_t *at, size_t size,
		       FILE *out)
{
	int64_t n = fields_number(field, at, size);

	if (field->flags & TEP_FIELD_IS_POINTER)
		fprintf(out, "\"0x%" PRIx64 "\"", (uint64_t)n);
	else if (field->flags & TEP_FIELD_IS_SIGNED)
		fprintf(out, "%" PRId64, n);
	else
		fprintf(out, "%" PRIu64, (uint64_t)n);
}

static void put_array(const struct tep_format_field *field, struct field_bytes r, FILE *out)
{
	size_t size = fields_element(field);

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
	struct field_bytes r = fields_bytes(field, ev);

	if (field->flags & TEP_FIELD_IS_STRING)
		json_string((const char *)r.at, strnlen((const char *)r.at, r.len), out);
	else if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		put_array(field, r, out);
	else if (fields_is_number(r.len))
		put_number(field, r.at, r.len, out);
	else
		fputs("null", out);
}

void print_json_fields(const struct tep_event *event, const struct decode_event *ev, FILE *out)
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
	json_text(name, out);
}

/* From the innermost on. */
static void put_stack(const struct tep_event *event, const struct decode_event *ev, FILE *out)
{
	const struct tep_format_field *field =
		tep_find_field((struct tep_event *)(uintptr_t)event, "caller");
	bool first = false, first_frame = true;
	struct field_bytes r;

	if (!field)
		return;
	r = fields_range(ev, (uint64_t)field->offset, UINT64_MAX);
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
			json_text(name, out);
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

	trace_seq_init(&s);
	print_info(f, ev, &s);
	put_key("message", &first, out);
	json_string(s.buffer, s.len, out);
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
	json_text(event->name, out);
	put_key("system", &first, out);
	json_text(event->system, out);
}

static void put_lost(const struct decode_event *ev, FILE *out)
{
	if (ev->lost == DECODE_LOST_UNKNOWN)
		fputs(",\"lost\":true", out);
	else if (ev->lost)
		fprintf(out, ",\"lost\":%" PRIu64, ev->lost);
}

void print_json(struct dat *d, struct formats *f, const char *file, const struct decode_event *ev,
		FILE *out)
{
	const struct tep_event *event = formats_event(f, ev->id);
	const char *buffer = dat_buffer(d, ev->buffer)->name;
	bool first = false;

	fputs("{\"time\":", out);
	put_time(dat_info(d), ev->time, out);
	fprintf(out, ",\"cpu\":%u,\"pid\":%d,\"comm\":", ev->cpu, ev->pid);
	json_text(tep_data_comm_from_pid(formats_tep(f), ev->pid), out);
	put_name(event, ev, out);
	if (file) {
		put_key("file", &first, out);
		json_text(file, out);
	}
	if (*buffer) {
		put_key("buffer", &first, out);
		json_text(buffer, out);
	}
	put_lost(ev, out);
	if (event) {
		put_functions(event, ev, out);
		if (is_message(event))
			put_message(f, ev, out);
		put_key("fields", &first, out);
		print_json_fields(event, ev, out);
	}
	fputs("}\n", out);
}
