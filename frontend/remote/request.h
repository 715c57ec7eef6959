/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request.h - the words of a command, on their way to the other host. */
#ifndef HVTRACE_FRONTEND_REMOTE_REQUEST_H
#define HVTRACE_FRONTEND_REMOTE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/tracer.h"

struct option_row;

/* Zero-initialise; text_free(&words) ends it. */
struct request {
	uint32_t flags, files, nr;
	struct text words;
};

void request_add(struct request *r, const char *word);
/* What these have been told. */
void request_add_options(struct request *r, const struct option_row *rows);
/* One file more that the command writes: what it is told for the name of that. */
const char *request_file(struct request *r);
/* As protocol.h has it, behind what is in `to`. 0, -ENOMEM, or -E2BIG: too much for one. */
int request_put(const struct request *r, struct text *to);

/* What is in front of the rest: how long that is, or -EBADMSG. */
#define REQUEST_HEAD 4
int64_t request_length(const uint8_t head[REQUEST_HEAD]);
/*
 * That rest, of which the words stay part: argv, to be freed, has room for one word more in front
 * and ends with NULL. Of r all but the words is set. 0, -ENOMEM or -EBADMSG.
 */
int request_parse(const uint8_t *rest, size_t len, struct request *r, char ***argv);

#endif
