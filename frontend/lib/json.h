/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.h - texts of anybody's as strings of JSON, and what of them is UTF-8. */
#ifndef HVTRACE_FRONTEND_LIB_JSON_H
#define HVTRACE_FRONTEND_LIB_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the UTF-8 character there, of which left bytes are there; 0: it is none. */
size_t utf8_len(const uint8_t *at, size_t left);

/* In quotes. Bytes that are no text are characters of their number. */
void json_string(const char *text, size_t len, FILE *out);
void json_text(const char *text, FILE *out); /* the same up to its 0 */

#endif
