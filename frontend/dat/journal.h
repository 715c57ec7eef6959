/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - the form that a recording has while it is written: what comes is put behind what is
 * there.
 *
 * A trace.dat has all pages of a vCPU behind each other, which can only be written once it is known
 * how many there are. Until then they lie in the order in which they came, each batch behind a
 * record of its own that says whose it is; between them whatever else the file will say, of which
 * the latest holds. Whoever writes may be killed at any byte: what is whole before that is read,
 * and dat-write.h makes a trace.dat of it.
 */
#ifndef HVTRACE_FRONTEND_DAT_JOURNAL_H
#define HVTRACE_FRONTEND_DAT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* What the file begins with: whoever looks into it shall know what it is. */
#define JOURNAL_MAGIC "hvtrace recording, not finished: hvtrace repair makes a trace.dat of it\n"

enum journal_kind {
	/*
	 * a: enum dat_option_id; the section as trace.dat has it. b: which part of one that is
	 * longer than a record, behind all before it; 0 begins it anew.
	 */
	JOURNAL_SECTION = 1,
	JOURNAL_OPTION, /* a: enum dat_option_id, b: which of several; empty: none */
	JOURNAL_BUFFER, /* a: its number; its name and clock, both terminated */
	JOURNAL_PAGES,	/* a: of which buffer, b: of which vCPU; whole sub-buffer pages */
};

/* Limits, of what is written and so of what is believed. */
#define JOURNAL_DATA_MAX    (64u << 20) /* of one record, and of what it unpacks to */
#define JOURNAL_PARTS_MAX   4		/* of a section */
#define JOURNAL_BUFFERS_MAX 1024
#define JOURNAL_VCPUS_MAX   1024

/* How the trace.dat is to be made that it becomes. */
struct journal_shape {
	unsigned int version; /* 6 or 7 */
	bool zstd;	      /* only 7 can be */
	unsigned int vcpus;
};

struct journal_record {
	enum journal_kind kind;
	uint32_t a, b;
	uint64_t at;	       /* in the file: of the data */
	uint32_t stored, size; /* as it lies there, and unpacked; zstd where shape.zstd */
	uint32_t sum;	       /* of the data as it lies there */
};

/* --- writing ---------------------------------------------------------------------------------- */

struct journal;

/* fd: an empty file; it stays the caller's. NULL: no memory. */
struct journal *journal_new(int fd, const struct journal_shape *shape);
/*
 * The same for a pipe, or behind what a file has: of what could not be written a part may be there,
 * and nothing is to be put behind it.
 */
struct journal *journal_new_stream(int fd, const struct journal_shape *shape);
void journal_free(struct journal *j); /* NULL is allowed */
/*
 * Begin it. 0 or -errno; -ENOSPC and others: what does not fit is not there at all, so for
 * journal_put() too.
 */
int journal_begin(struct journal *j);
int journal_put(struct journal *j, enum journal_kind kind, uint32_t a, uint32_t b, const void *data,
		size_t len);
/* A section of any length, in as many parts as it takes; -E2BIG: they are too many. */
int journal_put_section(struct journal *j, uint32_t id, const void *data, size_t len);
/* Bytes of the file. */
uint64_t journal_size(const struct journal *j);

/* --- reading ---------------------------------------------------------------------------------- */

struct journal_walk {
	int fd;
	bool verify; /* the data of each record, too */
	uint64_t pos, end;
	uint64_t torn; /* bytes at the end that are no record: whoever wrote was killed there */
	struct journal_shape shape;
};

/* Whether the file begins as one. */
bool journal_is_one(const void *head, size_t len);
/* 0; -EINVAL: it is none, or none that this version of hvtrace can read; -errno. */
int journal_walk_begin(struct journal_walk *w, int fd, bool verify);
/* 1 with the next one in *r, 0 at the end, -errno: it cannot be read. */
int journal_walk_next(struct journal_walk *w, struct journal_record *r);
/* Its data as it was put, behind what is in *out. 0 or -errno; -EBADMSG: it makes no sense. */
int journal_read(const struct journal_walk *w, const struct journal_record *r, struct text *out);

/* A section as it is said last: to be zeroed, and given each of its records. */
struct journal_section {
	struct journal_record part[JOURNAL_PARTS_MAX];
	unsigned int nr;
	uint64_t size; /* of all; 0: there is none */
};

/* False: it makes no sense, as those before it are not there. */
bool journal_section_add(struct journal_section *s, const struct journal_record *r);
/* All of it, as journal_read(). */
int journal_section_read(const struct journal_walk *w, const struct journal_section *s,
			 struct text *out);

#endif
