/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * final.h - a trace.dat that is being made: what a first look through the journal has found, and
 * where its parts go. For the files dat-*.c that write.
 */
#ifndef HVTRACE_FRONTEND_DAT_FINAL_H
#define HVTRACE_FRONTEND_DAT_FINAL_H

#include <stdint.h>

#include "frontend/dat/dat.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal.h"
#include "tracer/tracer.h"

#define FINAL_OPTION_MAX  (1u << 20)
#define FINAL_OPTIONS_MAX 16384
#define FINAL_NAMES_MAX	  1024
#define FINAL_PART	  (1u << 20) /* that is copied at a time */

/* One vCPU's pages in one buffer. */
struct final_cpu {
	uint32_t chunks;
	uint64_t stored, bytes; /* as they lie in the journal, and unpacked */
	uint64_t start, at;	/* in the trace.dat: where they begin, and where the next go */
};

struct final_buffer {
	struct text names;     /* its name and its clock, both terminated */
	struct final_cpu *cpu; /* as many as there are vCPUs */
};

struct final {
	struct journal_walk in;
	int out;
	uint64_t at; /* where what comes next goes */
	uint64_t torn;
	uint8_t *part; /* FINAL_PART bytes */
	struct journal_section section[DAT_OPTION_CMDLINES + 1];
	struct journal_record *option;
	size_t nr_options;
	struct final_buffer *buffer;
	size_t nr_buffers;
};

/* Everything but the pages, for which room is left. 0 or -errno. */
int final_write_v6(struct final *f);
int final_write_v7(struct final *f);

int final_put(struct final *f, const void *data, size_t len);
/* Behind what is in text; nothing if there is none. */
int final_read_section(struct final *f, enum dat_option_id id, struct text *text);
void final_put_option(struct text *text, unsigned int id, const void *data, size_t len);
/* All that the journal has; one without bytes is taken back. */
int final_put_options(struct final *f, struct text *text);
/* The place for a vCPU's pages, at the next page of the file. */
void final_place(struct final *f, struct final_cpu *c);
uint64_t final_cpu_size(const struct final *f, const struct final_cpu *c);

#endif
