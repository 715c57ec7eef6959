/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what a format is: a row of export.c's table. */
#ifndef HVTRACE_FRONTEND_EXPORT_LOCAL_H
#define HVTRACE_FRONTEND_EXPORT_LOCAL_H

#include "frontend/export/export.h"

/* One export. */
struct export
{
	const struct export_input *in;
	FILE *out;
	struct export_result result;
	bool failed; /* there was no memory */
	int error;   /* -errno: it cannot be written, of what is not written to out */
};

struct export_format {
	const char *name;
	const char *about;
	bool binary;
	bool folder; /* it writes to in->folder, and not to out */
	/*
	 * Several guests have a place in it: all of what is below is called for each of them, in
	 * the order of times, with an export of its own.
	 */
	bool several;
	/* NULL, or what is missing to write it, once looked for; such a function is not needed. */
	const char *(*missing)(void);
	/* Writes what comes first. What it gives is handed to the others; NULL: no memory. */
	void *(*begin)(struct export *x);
	/* Times never go back, and are no more than INT64_MAX. */
	void (*event)(void *self, const struct decode_event *ev);
	/* The same of the host's; NULL: they are of no use for it. */
	void (*host_event)(void *self, const struct decode_event *ev);
	/* There is no event any more: write the rest. */
	void (*end)(void *self);
	void (*free)(void *self);
};

extern const struct export_format export_chrome;
extern const struct export_format export_csv;
extern const struct export_format export_ctf;
extern const struct export_format export_folded;
extern const struct export_format export_html;
extern const struct export_format export_json;
extern const struct export_format export_perf;
extern const struct export_format export_perfetto;
extern const struct export_format export_pprof;
extern const struct export_format export_speedscope;

#endif
