/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.h - the form of a digest: a header, then parts that are arrays, in the order of enum
 * digest_part, each from a multiple of 8 on. Numbers are the host's; a digest stays on it.
 */
#ifndef HVTRACE_GUESTSYM_DIGEST_H
#define HVTRACE_GUESTSYM_DIGEST_H

#include "guestsym/internal.h"

#define DIGEST_SOURCES_LEN 16

enum digest_part {
	DIGEST_SEGMENTS,
	DIGEST_SYMBOLS,
	DIGEST_SITES,
	DIGEST_RETURNS,	    /* uint64_t */
	DIGEST_TRACEPOINTS, /* struct digest_tracepoint */
	DIGEST_TYPES,	    /* bytes, of types_flatten() */
	DIGEST_NAMES,	    /* bytes: strings that have an end */
	NR_DIGEST_PARTS,
};

enum {
	DIGEST_FL_UNPACKED = 1 << 0,
	DIGEST_FL_BOOTED = 1 << 1,
	DIGEST_FL_NAMES_INVALID = 1 << 2,
	DIGEST_FL_ALL = (1 << 3) - 1,
};

struct digest_header {
	char sources[DIGEST_SOURCES_LEN];
	uint64_t hash; /* of all that follows it */
	uint64_t size; /* of the digest */
	uint32_t flags, event_probes;
	uint64_t start, end; /* of kernel text and data */
	struct guestsym_range orc_ip, orc_unwind, orc_header;
	uint64_t count[NR_DIGEST_PARTS];
	struct identity identity;
	struct variables variables;
};

/*
 * A hash of the sources of guestsym/, from the build: a digest is what the parsers of another
 * hvtrace made of an image, however little they differ, and then these make it anew.
 */
extern const char digest_sources[DIGEST_SOURCES_LEN + 1];

#define DIGEST_HASHED_FROM offsetof(struct digest_header, size)

struct digest_segment {
	uint64_t va, pa, off, filesz, memsz;
	uint64_t exec; /* 0 or 1 */
};

/* Names are positions in that part. */
struct digest_symbol {
	uint64_t addr;
	uint32_t name, type;
};

struct digest_site {
	uint64_t addr, func;
	uint32_t name, flags;
};

struct digest_tracepoint {
	uint64_t addr, name;
};

/* More than any image's, and no sum of them overflows. */
#define DIGEST_COUNT_MAX (UINT64_C(1) << 32)

static inline size_t digest_entry_size(enum digest_part part)
{
	static const size_t sizes[NR_DIGEST_PARTS] = {
		[DIGEST_SEGMENTS] = sizeof(struct digest_segment),
		[DIGEST_SYMBOLS] = sizeof(struct digest_symbol),
		[DIGEST_SITES] = sizeof(struct digest_site),
		[DIGEST_RETURNS] = sizeof(uint64_t),
		[DIGEST_TRACEPOINTS] = sizeof(struct digest_tracepoint),
		[DIGEST_TYPES] = 1,
		[DIGEST_NAMES] = 1,
	};

	return sizes[part];
}

/* Where each part begins; the result is where the last ends. 0: there are too many of something. */
static inline uint64_t digest_layout(const struct digest_header *h, uint64_t at[NR_DIGEST_PARTS])
{
	uint64_t pos = (sizeof(*h) + 7) & ~UINT64_C(7);

	for (int i = 0; i < NR_DIGEST_PARTS; i++) {
		at[i] = pos;
		if (h->count[i] > DIGEST_COUNT_MAX)
			return 0;
		pos += (h->count[i] * digest_entry_size(i) + 7) & ~UINT64_C(7);
	}
	return pos;
}

#endif
