// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - events as objects of JSON: each field of the record by its name. */
#include "frontend/decode/fields.h"
#include "frontend/decode/print.h"
#include "frontend/lib/json.h"

#include <string.h>

/* --- fields ------------------------------------------------------------------------------------
 */

/* Addresses are strings, as they have more digits than many readers of JSON keep of a number. */
static void put_number(const char *key, const struct tep_format_field *field, const uint8_t *at,
		       size_t size, struct json *j)
{
	int64_t n = fields_number(field, at, size);

	if (field->flags & TEP_FIELD_IS_POINTER)
		json_put_address(j, key, (uint64_t)n);
	else if (field->flags & TEP_FIELD_IS_SIGNED)
		json_put_signed(j, key, n);
	else
		json_put_number(j, key, (uint64_t)n);
}

static void put_array(const struct tep_format_field *field, struct field_bytes r, struct json *j)
{
	size_t size = fields_element(field);

	json_begin_array(j, field->name);
	for (size_t at = 0; at + size <= r.len; at += size)
		put_number(NULL, field, r.at + at, size, j);
	json_end_array(j);
}

static void put_field(const struct tep_format_field *field, const struct decode_event *ev,
		      struct json *j)
{
	struct field_bytes r = fields_bytes(field, ev);
	const char *text = (const char *)r.at;

	if (field->flags & TEP_FIELD_IS_STRING)
		json_put_string(j, field->name, text, strnlen(text, r.len));
	else if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		put_array(field, r, j);
	else if (fields_is_number(r.len))
		put_number(field->name, field, r.at, r.len, j);
	else
		json_put_null(j, field->name);
}

void print_json_fields(const struct tep_event *event, const struct decode_event *ev,
		       const char *key, struct json *j)
{
	json_begin_object(j, key);
	for (const struct tep_format_field *f = event->format.fields; f; f = f->next)
		put_field(f, ev, j);
	json_end_object(j);
}

/* --- names of functions ------------------------------------------------------------------------
 */

static void put_function(const struct tep_event *event, const struct decode_event *ev,
			 const char *field_name, const char *key, struct json *j)
{
	const char *name;
	uint64_t addr;

	if (!formats_number(tep_find_field((struct tep_event *)(uintptr_t)event, field_name), ev,
			    &addr))
		return;
	name = tep_find_function(event->tep, addr);
	if (name)
		json_put_text(j, key, name);
}

/* From the innermost on. */
static void put_stack(const struct tep_event *event, const struct decode_event *ev, struct json *j)
{
	const struct tep_format_field *field =
		tep_find_field((struct tep_event *)(uintptr_t)event, "caller");
	struct field_bytes r;

	if (!field)
		return;
	r = fields_range(ev, (uint64_t)field->offset, UINT64_MAX);
	json_begin_array(j, "stack");
	for (; r.len >= sizeof(uint64_t); r.at += sizeof(uint64_t), r.len -= sizeof(uint64_t)) {
		const char *name;
		uint64_t addr;

		memcpy(&addr, r.at, sizeof(addr));
		if (addr == UINT64_MAX)
			break;
		name = tep_find_function(event->tep, addr);
		if (name)
			json_put_text(j, NULL, name);
		else
			json_put_address(j, NULL, addr);
	}
	json_end_array(j);
}

static void put_functions(const struct tep_event *event, const struct decode_event *ev,
			  struct json *j)
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
			put_function(event, ev, rows[i].field, rows[i].key, j);
	if (!strcmp(event->name, "kernel_stack"))
		put_stack(event, ev, j);
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

static void put_message(struct formats *f, const struct decode_event *ev, struct json *j)
{
	struct trace_seq s;

	trace_seq_init(&s);
	print_info(f, ev, &s);
	json_put_string(j, "message", s.buffer, s.len);
	trace_seq_destroy(&s);
}

/* --- an event ----------------------------------------------------------------------------------
 */

static void put_time(const struct dat_info *info, uint64_t time, struct json *j)
{
	if (dat_counts_ns(info))
		json_put_fixed(j, "time", time, 9);
	else
		json_put_number(j, "time", time);
}

static void put_name(const struct tep_event *event, const struct decode_event *ev, struct json *j)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", ev->id);
	json_put_text(j, "event", event ? event->name : number);
	if (event)
		json_put_text(j, "system", event->system);
}

static void put_lost(const struct decode_event *ev, struct json *j)
{
	if (ev->lost == DECODE_LOST_UNKNOWN)
		json_put_bool(j, "lost", true);
	else if (ev->lost)
		json_put_number(j, "lost", ev->lost);
}

void print_json(struct dat *d, struct formats *f, const char *file, const struct decode_event *ev,
		FILE *out)
{
	const struct tep_event *event = formats_event(f, ev->id);
	const char *buffer = dat_buffer(d, ev->buffer)->name;
	struct json j = {.out = out, .compact = true};

	json_begin_object(&j, NULL);
	put_time(dat_info(d), ev->time, &j);
	json_put_number(&j, "cpu", ev->cpu);
	json_put_signed(&j, "pid", ev->pid);
	json_put_text(&j, "comm", tep_data_comm_from_pid(formats_tep(f), ev->pid));
	put_name(event, ev, &j);
	if (file)
		json_put_text(&j, "file", file);
	if (*buffer)
		json_put_text(&j, "buffer", buffer);
	put_lost(ev, &j);
	if (event) {
		put_functions(event, ev, &j);
		if (is_message(event))
			put_message(f, ev, &j);
		print_json_fields(event, ev, "fields", &j);
	}
	json_end_object(&j);
}
