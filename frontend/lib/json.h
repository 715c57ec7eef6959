/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - JSON (RFC 8259) as it is written: texts of anybody's as strings, and what of them is
 * UTF-8; objects and arrays with their commas.
 */
#ifndef HVTRACE_FRONTEND_LIB_JSON_H
#define HVTRACE_FRONTEND_LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tracer/tracer.h"

/* The length of the UTF-8 character there, of which left bytes are there; 0: it is none. */
size_t utf8_len(const uint8_t *at, size_t left);

/* In quotes. Bytes that are no text are characters of their number. */
void json_string(const char *text, size_t len, FILE *out);
void json_text(const char *text, FILE *out); /* the same up to its 0 */

/*
 * A document as it is written. Each value has a key in an object, NULL in an array and at the top.
 * What is in the outermost object or array begins lines, and what is in rows does.
 */
struct json {
	FILE *out;
	bool compact;	    /* no spaces, and lines are those of rows and the document alone */
	unsigned int depth; /* objects and arrays that are open */
	bool follows;	    /* something stands before, in the innermost of them */
	uint64_t rows;	    /* a bit for each depth, below 64, at which there are such */
};

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_begin_rows(struct json *j, const char *key); /* the same for many */
void json_end_array(struct json *j); /* behind what was the outermost one there is a line end */
void json_put_text(struct json *j, const char *key, const char *text); /* NULL: null */
void json_put_string(struct json *j, const char *key, const char *text, size_t len);
void json_put_number(struct json *j, const char *key, uint64_t n);
void json_put_signed(struct json *j, const char *key, int64_t n);
/* n / 10^digits: with so many digits behind its point, 0 < digits < 20. */
void json_put_fixed(struct json *j, const char *key, uint64_t n, unsigned int digits);
void json_put_real(struct json *j, const char *key, double n, int digits); /* behind its point */
void json_put_bool(struct json *j, const char *key, bool value);
void json_put_null(struct json *j, const char *key);
/* A string: many readers keep no more than 53 bits of a number. */
void json_put_address(struct json *j, const char *key, uint64_t address);

/* What put() writes, added to a text. */
void json_to_text(void (*put)(struct json *j, void *arg), void *arg, struct text *to);

#endif
