/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-find.h - one member of a JSON object, as another program has written it. */
#ifndef HVTRACE_FRONTEND_IMAGE_JSON_FIND_H
#define HVTRACE_FRONTEND_IMAGE_JSON_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value within a document, as it is written there. */
struct json_value {
	const char *text;
	size_t len;
};

/*
 * The value of that member of the object that the value is; its name has nothing that is escaped.
 * False: there is none, or the object is none.
 */
bool json_find(struct json_value object, const char *name, struct json_value *value);
/* A string without anything escaped that fits; a number; whether it is true. False: it is not. */
bool json_get_string(struct json_value value, char *to, size_t size);
bool json_get_number(struct json_value value, uint64_t *to);
bool json_is_true(struct json_value value);

#endif
