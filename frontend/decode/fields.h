/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields.h - the fields of a record, as far as it has them. */
#ifndef HVTRACE_FRONTEND_DECODE_FIELDS_H
#define HVTRACE_FRONTEND_DECODE_FIELDS_H

#include "frontend/decode/formats.h"

/* Bytes within a record, valid as long as its data are. */
struct field_bytes {
	const uint8_t *at;
	size_t len;
};

/* So many bytes from there on, or fewer: no more than the record has. */
struct field_bytes fields_range(const struct decode_event *ev, uint64_t offset, uint64_t len);
/* Where a field is, or what it refers to. An array that has no size goes on to the record's end. */
struct field_bytes fields_bytes(const struct tep_format_field *field,
				const struct decode_event *ev);
/* The bytes of a text, up to its 0. */
struct field_bytes fields_text(const struct tep_format_field *field, const struct decode_event *ev);
/* A number of size bytes, 1 to 8, extended as the field has a sign or none. */
int64_t fields_number(const struct tep_format_field *field, const uint8_t *at, size_t size);
/* How long an element of an array is: 1, 2, 4 or 8. */
size_t fields_element(const struct tep_format_field *field);
/* Whether something of so many bytes is a number. */
bool fields_is_number(size_t len);

#endif
