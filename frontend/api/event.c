// SPDX-License-Identifier: GPL-2.0-or-later
/* event.c - an event, as hvtrace.h shows it: what is asked for is made of its record then. */
#include "frontend/api/local.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/decode/fields.h"
#include "frontend/decode/print.h"

struct api_lazy {
	struct api_field *fields;
	size_t nr, room;
	bool has_fields, has_text;
	struct trace_seq text;
};

int api_formats_load(struct formats *f, const struct dat_info *info, char *err, size_t errlen)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	pthread_mutex_lock(&lock);
	rc = formats_load(f, info, err, errlen);
	pthread_mutex_unlock(&lock);
	return rc;
}

int api_event_init(struct hvtrace_event *ev)
{
	*ev = (struct hvtrace_event){.lazy = calloc(1, sizeof(*ev->lazy))};
	if (!ev->lazy)
		return -ENOMEM;
	trace_seq_init(&ev->lazy->text);
	return 0;
}

static void forget(struct api_lazy *lazy)
{
	for (size_t i = 0; i < lazy->nr; i++)
		free(lazy->fields[i].string);
	lazy->nr = 0;
	lazy->has_fields = lazy->has_text = false;
}

void api_event_exit(struct hvtrace_event *ev)
{
	if (!ev->lazy)
		return;
	forget(ev->lazy);
	free(ev->lazy->fields);
	trace_seq_destroy(&ev->lazy->text);
	free(ev->lazy);
	ev->lazy = NULL;
}

void api_event_set(struct hvtrace_event *ev, struct formats *f, struct dat *d,
		   const struct decode_event *now)
{
	forget(ev->lazy);
	ev->formats = f;
	ev->dat = d;
	ev->now = *now;
	*ev->comm = '\0';
	snprintf(ev->number, sizeof(ev->number), "%d", now->id);
}

/* --- the whole of it ---------------------------------------------------------------------------
 */

static const struct tep_event *format_of(const struct hvtrace_event *ev)
{
	return formats_event(ev->formats, ev->now.id);
}

uint64_t hvtrace_event_time(const struct hvtrace_event *ev)
{
	return ev->now.time;
}

unsigned int hvtrace_event_vcpu(const struct hvtrace_event *ev)
{
	return ev->now.cpu;
}

int hvtrace_event_pid(const struct hvtrace_event *ev)
{
	return ev->now.pid;
}

const char *hvtrace_event_comm(const struct hvtrace_event *ev)
{
	return *ev->comm ? ev->comm : tep_data_comm_from_pid(formats_tep(ev->formats), ev->now.pid);
}

const char *hvtrace_event_system(const struct hvtrace_event *ev)
{
	const struct tep_event *format = format_of(ev);

	return format ? format->system : "";
}

const char *hvtrace_event_name(const struct hvtrace_event *ev)
{
	const struct tep_event *format = format_of(ev);

	return format ? format->name : ev->number;
}

const char *hvtrace_event_instance(const struct hvtrace_event *ev)
{
	return dat_buffer(ev->dat, ev->now.buffer)->name;
}

uint64_t hvtrace_event_lost(const struct hvtrace_event *ev)
{
	return ev->now.lost;
}

const void *hvtrace_event_raw(const struct hvtrace_event *ev, size_t *len)
{
	*len = ev->now.len;
	return ev->now.data;
}

const char *hvtrace_event_text(const struct hvtrace_event *ev)
{
	struct api_lazy *lazy = ev->lazy;

	if (!lazy->has_text) {
		print_info(ev->formats, &ev->now, &lazy->text);
		trace_seq_terminate(&lazy->text);
		lazy->has_text = true;
	}
	return lazy->text.state == TRACE_SEQ__GOOD ? lazy->text.buffer : "";
}

const char *hvtrace_event_symbol(const struct hvtrace_event *ev, uint64_t address)
{
	return tep_find_function(formats_tep(ev->formats), address);
}

/* --- its fields --------------------------------------------------------------------------------
 */

static bool add_field(struct api_lazy *lazy, const struct tep_format_field *field)
{
	if (lazy->nr == lazy->room) {
		size_t room = lazy->room ? 2 * lazy->room : 16;
		struct api_field *more = realloc(lazy->fields, room * sizeof(*more));

		if (!more)
			return false;
		lazy->fields = more;
		lazy->room = room;
	}
	lazy->fields[lazy->nr++] = (struct api_field){.field = field};
	return true;
}

/* NULL: there is none of this number. */
static struct api_field *field_of(const struct hvtrace_event *ev, size_t number)
{
	const struct tep_event *format = format_of(ev);
	struct api_lazy *lazy = ev->lazy;

	if (!lazy->has_fields && format)
		for (const struct tep_format_field *f = format->format.fields;
		     f && add_field(lazy, f); f = f->next)
			;
	lazy->has_fields = true;
	return number < lazy->nr ? &lazy->fields[number] : NULL;
}

/* A stack goes on to the end of its record, whatever size the format gives it. */
static bool is_stack(const struct hvtrace_event *ev, const struct tep_format_field *field)
{
	return !strcmp(hvtrace_event_system(ev), "ftrace") && !strcmp(field->name, "caller") &&
	       !strcmp(hvtrace_event_name(ev), "kernel_stack");
}

static struct field_bytes bytes_of(const struct hvtrace_event *ev,
				   const struct tep_format_field *field)
{
	if (is_stack(ev, field))
		return fields_range(&ev->now, (uint64_t)field->offset, UINT64_MAX);
	return fields_bytes(field, &ev->now);
}

size_t hvtrace_event_fields(const struct hvtrace_event *ev)
{
	field_of(ev, 0);
	return ev->lazy->nr;
}

int hvtrace_event_find(const struct hvtrace_event *ev, const char *name)
{
	size_t nr = hvtrace_event_fields(ev);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(ev->lazy->fields[i].field->name, name))
			return (int)i;
	return -1;
}

const char *hvtrace_field_name(const struct hvtrace_event *ev, size_t field)
{
	const struct api_field *f = field_of(ev, field);

	return f ? f->field->name : "";
}

enum hvtrace_type hvtrace_field_type(const struct hvtrace_event *ev, size_t field)
{
	const struct api_field *f = field_of(ev, field);
	unsigned long flags = f ? f->field->flags : 0;

	if (!f)
		return HVTRACE_NONE;
	if (flags & TEP_FIELD_IS_STRING)
		return HVTRACE_STRING;
	if (flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC) ||
	    !fields_is_number(bytes_of(ev, f->field).len))
		return HVTRACE_BYTES;
	if (flags & TEP_FIELD_IS_POINTER)
		return HVTRACE_ADDRESS;
	return flags & TEP_FIELD_IS_SIGNED ? HVTRACE_SIGNED : HVTRACE_UNSIGNED;
}

uint64_t hvtrace_field_number(const struct hvtrace_event *ev, size_t field)
{
	const struct api_field *f = field_of(ev, field);
	struct field_bytes b;

	if (!f)
		return 0;
	b = bytes_of(ev, f->field);
	return fields_is_number(b.len) ? (uint64_t)fields_number(f->field, b.at, b.len) : 0;
}

const char *hvtrace_field_string(const struct hvtrace_event *ev, size_t field)
{
	struct api_field *f = field_of(ev, field);
	struct field_bytes b;

	if (!f)
		return "";
	if (!f->string) {
		b = fields_text(f->field, &ev->now);
		f->string = strndup((const char *)b.at, b.len);
	}
	return f->string ? f->string : "";
}

const void *hvtrace_field_bytes(const struct hvtrace_event *ev, size_t field, size_t *len)
{
	const struct api_field *f = field_of(ev, field);
	struct field_bytes b = {0};

	if (f)
		b = bytes_of(ev, f->field);
	*len = b.len;
	return b.at;
}

size_t hvtrace_field_element(const struct hvtrace_event *ev, size_t field)
{
	const struct api_field *f = field_of(ev, field);

	return f ? fields_element(f->field) : 0;
}
