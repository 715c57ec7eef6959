/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetch-parse.h - what the files that parse a fetch argument share. */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_FETCH_PARSE_H
#define HVTRACE_TRACER_EVENTS_DEFINE_FETCH_PARSE_H

#include "tracer/events/define/fetch-arg.h"

/* One argument that is being parsed; `word` of the command is about it. */
struct fetch_parser {
	struct fetch_arg *a;
	unsigned int word, at;		       /* FETCH_AT_ENTRY, FETCH_AT_RETURN, FETCH_AT_EVENT */
	unsigned int flags;		       /* the others of FETCH_ */
	const struct fetch_function *function; /* NULL: nothing is known of it */
	/* What has been fetched so far, and which of its bits, where the kernel's types tell. */
	struct guestsym_value value;
	bool typed;
	unsigned int bits, first_bit;
	struct probe_error *err;
};

/* NOFENTRY_ARGS: kernel/trace/trace_probe.h, 6.12. */
#define FETCH_NO_ARGS "$arg* can be used only on function entry or exit"

int fetch_fail(struct fetch_parser *p, size_t offset, const char *what);
/* One step more of what is fetched. 0 or -EINVAL. */
int fetch_add_deref(struct fetch_parser *p, int64_t offset, bool user, size_t offs);
/* -ENOMEM or 0. */
int fetch_source_set(struct fetch_parser *p, enum fetch_source source, uint64_t number);

bool fetch_begins_name(const char *text);
/*
 * "NAME", "NAME->MEMBER.MEMBER…" of the function, or "$retval" and what it points to; text is
 * changed. 0 or -errno.
 */
int fetch_name_parse(struct fetch_parser *p, char *text, size_t offs);
/* What a value of which that much is known is shown as, "x64" where nothing else is. */
const char *fetch_type_of(const struct fetch_parser *p, char buf[8]);
/* A string type was given: what that makes of a value of a known type. 0 or -errno. */
int fetch_string_prepare(struct fetch_parser *p, const char *type, size_t offs);

#endif
