/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html-stream.h - bytes in a page: one raw deflate stream, base64, cut into script elements of a
 * type that no browser runs. Those of several streams may stand between each other.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_HTML_STREAM_H
#define HVTRACE_FRONTEND_EXPORT_HTML_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct html_stream;

/* name: the elements' class, which is not escaped. NULL: no memory. */
struct html_stream *html_stream_new(const char *name, FILE *out);
void html_stream_free(struct html_stream *s); /* NULL is allowed */

void html_stream_put(struct html_stream *s, const void *data, size_t len);
/* Seven bits a byte, the lowest first; the eighth is set in all but the last. */
void html_stream_number(struct html_stream *s, uint64_t n);
/* The length as such a number, then the bytes. */
void html_stream_text(struct html_stream *s, const char *text, size_t len);
/* Nothing comes behind this. */
void html_stream_end(struct html_stream *s);

#endif
