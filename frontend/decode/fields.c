// SPDX-License-Identifier: GPL-2.0-or-later
/* fields.c - see fields.h */
#include "frontend/decode/fields.h"

#include <string.h>

struct field_bytes fields_range(const struct decode_event *ev, uint64_t offset, uint64_t len)
{
	if (offset > ev->len)
		offset = ev->len;
	if (len > ev->len - offset)
		len = ev->len - offset;
	return (struct field_bytes){(const uint8_t *)ev->data + offset, (size_t)len};
}

struct field_bytes fields_bytes(const struct tep_format_field *field, const struct decode_event *ev)
{
	uint64_t offset = (uint64_t)field->offset, size = (uint64_t)field->size, where;

	if (field->flags & TEP_FIELD_IS_DYNAMIC && formats_number(field, ev, &where)) {
		uint64_t to = where & 0xffff, len = where >> 16 & 0xffff;

		if (field->flags & TEP_FIELD_IS_RELATIVE)
			to += offset + size;
		return fields_range(ev, to, len);
	}
	return fields_range(ev, offset, size ? size : UINT64_MAX);
}

struct field_bytes fields_text(const struct tep_format_field *field, const struct decode_event *ev)
{
	struct field_bytes b = fields_bytes(field, ev);

	b.len = strnlen((const char *)b.at, b.len);
	return b;
}

int64_t fields_number(const struct tep_format_field *field, const uint8_t *at, size_t size)
{
	unsigned int unused = 64 - 8 * (unsigned int)size;
	uint64_t n = 0;

	memcpy(&n, at, size);
	return field->flags & TEP_FIELD_IS_SIGNED ? (int64_t)(n << unused) >> unused : (int64_t)n;
}

size_t fields_element(const struct tep_format_field *field)
{
	return fields_is_number(field->elementsize) ? field->elementsize : 1;
}

bool fields_is_number(size_t len)
{
	return len == 1 || len == 2 || len == 4 || len == 8;
}
