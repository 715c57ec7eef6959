// SPDX-License-Identifier: GPL-2.0-or-later
/* data.c - see data.h */
#include "tracer/events/filter/data.h"

#include <string.h>

#include "tracer/guest/comms.h"

static const struct guestsym_event_field *field_in(const struct guestsym_event_field *fields,
						   size_t nr, const char *name, size_t len)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(fields[i].name, name, len) && !fields[i].name[len])
			return &fields[i];
	return NULL;
}

static enum event_field_source generic_source(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum event_field_source source;
	} generic[] = {
		{"CPU", EVENT_FIELD_CPU},	 {"cpu", EVENT_FIELD_CPU},
		{"common_cpu", EVENT_FIELD_CPU}, {"COMM", EVENT_FIELD_COMM},
		{"comm", EVENT_FIELD_COMM},
	};

	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++)
		if (strlen(generic[i].name) == len && !memcmp(generic[i].name, name, len))
			return generic[i].source;
	return EVENT_FIELD_NONE;
}

struct event_field event_field_find(const struct event_format *format, const char *name, size_t len)
{
	const struct guestsym_event *event = format->event;
	struct event_field field = {.source = EVENT_FIELD_RECORD};

	field.in = field_in(event->fields, event->nr_fields, name, len);
	if (field.in)
		return field;
	field.source = generic_source(name, len);
	if (field.source != EVENT_FIELD_NONE)
		return field;
	field.in = field_in(format->common, format->nr_common, name, len);
	if (field.in)
		field.source = EVENT_FIELD_RECORD;
	return field;
}

bool event_field_is_string(const struct event_field *field)
{
	if (field->source != EVENT_FIELD_RECORD)
		return field->source == EVENT_FIELD_COMM;
	switch (field->in->kind) {
	case GUESTSYM_EVENT_STRING:
	case GUESTSYM_EVENT_DYN_STRING:
	case GUESTSYM_EVENT_RDYN_STRING:
	case GUESTSYM_EVENT_PTR_STRING:
		return true;
	}
	return false;
}

/* The field's own bytes. NULL: the record ends before them. */
static const uint8_t *own_bytes(const struct guestsym_event_field *in,
				const struct event_data *data)
{
	if (in->offset > data->len || in->size > data->len - in->offset)
		return NULL;
	return (const uint8_t *)data->record + in->offset;
}

/* One load each, rather than a call for any size. */
static uint64_t load(const uint8_t *at, uint32_t size)
{
	uint16_t half;
	uint32_t word;
	uint64_t value;

	switch (size) {
	case 1:
		return *at;
	case 2:
		memcpy(&half, at, sizeof(half));
		return half;
	case 4:
		memcpy(&word, at, sizeof(word));
		return word;
	default:
		memcpy(&value, at, sizeof(value));
		return value;
	}
}

bool event_field_number(const struct event_field *field, const struct event_data *data,
			uint64_t *value)
{
	const uint8_t *at;
	uint32_t size;

	*value = data->cpu;
	if (field->source != EVENT_FIELD_RECORD)
		return field->source == EVENT_FIELD_CPU;
	size = field->in->size;
	at = own_bytes(field->in, data);
	if (!at || !event_number_size(size))
		return false;
	*value = event_number_cut(load(at, size), size, field->in->is_signed);
	return true;
}

const void *event_field_bytes(const struct guestsym_event_field *in, const struct event_data *data,
			      size_t *len)
{
	const uint8_t *at = own_bytes(in, data);
	size_t offset;
	uint32_t loc;

	*len = in->size;
	if (!at)
		return NULL;
	if (in->kind == GUESTSYM_EVENT_STRING) {
		if (!in->size) /* up to the end of the record: that of ftrace:print */
			*len = data->len - in->offset;
		return at;
	}
	if (in->size < sizeof(loc))
		return NULL;
	memcpy(&loc, at, sizeof(loc));
	offset = loc & 0xffff;
	*len = loc >> 16;
	if (in->kind == GUESTSYM_EVENT_RDYN_STRING)
		offset += in->offset + sizeof(loc);
	if (offset > data->len || *len > data->len - offset)
		return NULL;
	return (const uint8_t *)data->record + offset;
}

static bool copy_string(const char *from, size_t len, char *buf, size_t size)
{
	if (!from)
		return false;
	if (len > size - 1)
		len = size - 1;
	len = strnlen(from, len);
	memcpy(buf, from, len);
	buf[len] = '\0';
	return true;
}

bool event_field_string(const struct event_field *field, const struct event_data *data, bool user,
			char *buf, size_t size)
{
	const char *bytes;
	uint64_t addr;
	size_t len;

	if (field->source == EVENT_FIELD_COMM)
		return copy_string(data->comm, COMM_LEN, buf, size);
	if (!event_field_is_string(field))
		return false;
	if (field->in->kind == GUESTSYM_EVENT_PTR_STRING)
		return event_field_number(field, data, &addr) && data->string &&
		       !data->string(data->arg, addr, user, buf, size);
	bytes = event_field_bytes(field->in, data, &len);
	return copy_string(bytes, len, buf, size);
}
