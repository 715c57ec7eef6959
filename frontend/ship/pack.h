/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack.h - a batch of records as it goes from who reads a file to who delivers it, and as it lies
 * in the spool: a head, and behind it columns in ClickHouse's format Native, compressed.
 *
 * The reader may have been taken over by its file, and what is in the spool may be anybody's, so a
 * head is looked at before anything in it is used. What the columns are is the server's to check.
 */
#ifndef HVTRACE_FRONTEND_SHIP_PACK_H
#define HVTRACE_FRONTEND_SHIP_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_ROWS_MAX  (UINT32_C(4) << 20)
#define PACK_BYTES_MAX (UINT64_C(256) << 20)
#define PACK_NAME_LEN  128

enum pack_kind {
	PACK_SOURCE = 1, /* a file begins: who it is, and no columns */
	PACK_BATCH = 2,
};

/* As it is written: little endian, without gaps. */
struct pack_head {
	char magic[8];
	uint32_t kind;
	uint32_t sum;	 /* crc32 of all of the head, with 0 here, and of the columns */
	uint64_t source; /* whose records they are: of host, guest and what the file has */
	uint32_t size;	 /* records of a batch, of this source */
	uint32_t number; /* of the batch, from 0 on */
	uint32_t rows;	 /* in it */
	uint32_t unused;
	uint64_t first, last; /* times of records */
	uint64_t lost;	      /* that are known to be lost among them */
	uint64_t raw, packed; /* bytes of the columns, and compressed */
	uint64_t trace_id;    /* of the file; 0: none */
	/* Texts with an end. */
	char host[PACK_NAME_LEN], guest[PACK_NAME_LEN], kernel[PACK_NAME_LEN], file[PACK_NAME_LEN];
};

struct pack {
	struct pack_head head;
	uint8_t *bytes; /* head.packed of them; free(3) */
};

/* Fill in what says that it is one: last, when all else is there. */
void pack_seal(struct pack *p);
/*
 * NULL, or what is wrong with a head, or with a whole one. A head is good enough to make room for
 * what it promises; what follows is only known by the whole.
 */
const char *pack_head_wrong(const struct pack_head *head);
const char *pack_wrong(const struct pack *p);

#endif
