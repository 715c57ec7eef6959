/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - the records of a trace.dat file in the formats that other programs read.
 *
 * What is in a file is anybody's. Whatever it says, what is written is well formed, slices are
 * balanced, and time does not go back. Memory does not grow with the length of the trace, but for
 * the formats that say so (folded, pprof: with the different stacks; speedscope: up to a limit).
 */
#ifndef HVTRACE_FRONTEND_EXPORT_EXPORT_H
#define HVTRACE_FRONTEND_EXPORT_EXPORT_H

#include <stdio.h>

#include "frontend/decode/formats.h"

struct export_format;

/* All open, and nothing read of the records yet. */
struct export_file {
	struct dat *dat;
	struct formats *formats; /* loaded; without plugins */
	struct records *records;
};

struct export_input {
	struct dat *dat;
	struct formats *formats;
	struct records *records;
	const char *folder; /* that is made for what formats that have one write */
	struct export_file
		host;	      /* of the same time, by the host's times; dat NULL: there is none */
	unsigned int machine; /* of several guests, from 1 on; 0: it is the only one */
	const char *title;    /* of several, what it is called */
};

/* Whether a file is that of another one's host. */
bool export_is_host(const struct dat *host, const struct dat *guest);

/* What there is to say once all is written. */
struct export_result {
	uint64_t events;   /* that were read */
	uint64_t unbegun;  /* ends of slices whose begin is not in the trace: left out */
	uint64_t unended;  /* slices whose end is not: they end with what is around them */
	uint64_t late;	   /* events whose times went back, which were put right */
	uint64_t left_out; /* that there was no room for */
};

/* NULL: there is no such format. */
const struct export_format *export_find(const char *name);
/* Their names, from 0 on; NULL behind the last one. */
const char *export_name(unsigned int i);
/* What a format is, in a few words: "for ui.perfetto.dev". */
const char *export_about(unsigned int i);
/* NULL, or why it cannot be written here. It loads what is needed, so before a sandbox. */
const char *export_missing(const struct export_format *format);
/* Not for a terminal. */
bool export_is_binary(const struct export_format *format);

/* Whether it has a place for a host's events; else they are not read. */
bool export_takes_host(const struct export_format *format);

/* Whether it has a place for several guests. */
bool export_takes_several(const struct export_format *format);

/* It has many files, in a folder. */
bool export_is_folder(const struct export_format *format);
/*
 * Read all records, and write them to out, NULL for a folder. 0, -ENOMEM, or another negative errno
 * of a folder; errors of out are for ferror().
 */
int export_write(const struct export_format *format, const struct export_input *in, FILE *out,
		 struct export_result *result);
/* The same of several guests, nr of them, in one; all times are of one axis, and all hosts the
 * same.
 */
int export_write_several(const struct export_format *format, const struct export_input *in,
			 size_t nr, FILE *out, struct export_result *result);

#endif
