/* SPDX-License-Identifier: GPL-2.0-or-later */
/* candidates.h - what a user may be about to type, as far as hvtrace can tell. */
#ifndef HVTRACE_FRONTEND_CMD_CANDIDATES_H
#define HVTRACE_FRONTEND_CMD_CANDIDATES_H

#include "tracer/tracer.h"

struct candidates {
	const char *begun; /* what is typed of it */
	char **words;	   /* the other words of the command line, the command first */
	int nr_words;
	struct text found; /* one a line; text_free() */
};

/* Finds those of a kind, which begin as it is begun. Says what is wrong on stderr. */
typedef void candidates_find(struct candidates *c);
/* NULL: no such kind. */
candidates_find *candidates_of(const char *kind);

/* --- for those who look ---------------------------------------------------------------------- */

/* One more, unless it does not begin so, or has control characters: names may be anybody's. */
void candidates_offer(struct candidates *c, const char *name);
/* The same of "SYSTEM:EVENT". */
void candidates_offer_event(struct candidates *c, const char *system, const char *event);
/* What the other words give for an option, such as "-k", NULL: none, and "--kernel"; or NULL. */
const char *candidates_value(const struct candidates *c, const char *letter, const char *name);

candidates_find candidates_guests, candidates_domains, candidates_uris;
/*
 * The image that the configuration of a domain among the words names, as far as what libvirt notes
 * can be read, which mostly takes root; to be freed by free(), or NULL.
 */
char *candidates_domain_kernel(const struct candidates *c);

candidates_find candidates_functions, candidates_events;

candidates_find candidates_buffers, candidates_instances, candidates_recorded_events,
	candidates_recorded_functions, candidates_trace_files, candidates_trace_settings,
	candidates_traced_functions;

#endif
