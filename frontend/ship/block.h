/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block.h - rows of the table `records` as columns, and these as one block of ClickHouse's format
 * Native, in the frames that a server takes with decompress=1: that and Native are the same for
 * servers from 18.16 to those of today, and zstd in such frames has been there as long, which
 * Content-Encoding: zstd has not.
 *
 * The number of a delivery, the column `sent`, is not known before one: it is the last column, and
 * block_sent() makes it.
 */
#ifndef HVTRACE_FRONTEND_SHIP_BLOCK_H
#define HVTRACE_FRONTEND_SHIP_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/ship/pack.h"

struct block;

/* A text as a column has it: its length, 7 bits in a byte, and its bytes. */
#define BLOCK_TEXT_MAX 1024
struct block_text {
	uint16_t len; /* of all of it */
	uint8_t bytes[2 + BLOCK_TEXT_MAX];
};

/* What is longer is cut. */
void block_text(struct block_text *t, const char *text, size_t len);

struct block_row {
	uint64_t nr; /* of the record in its file */
	uint64_t time;
	uint32_t at; /* seconds since 1970 */
	uint16_t cpu;
	uint16_t depth;
	int32_t pid;
	int32_t call_nr;  /* -1: none */
	int64_t duration; /* ns; -1: none */
	int64_t ret;
	const struct block_text *comm, *event, *function, *call;
	uint32_t raw;	  /* bytes of it in its file */
	const char *info; /* of any length, 64 KiB of it at most */
	size_t info_len;
};

/* Of rows rows at most, 1 to PACK_ROWS_MAX. NULL: no memory. */
struct block *block_new(uint32_t rows);
void block_free(struct block *b); /* NULL is allowed */
/*
 * False: there is no memory. Whoever adds one sees to it that there is room: block_full() is true
 * where there are all rows, or so many bytes that it is enough.
 */
bool block_add(struct block *b, const struct block_row *row);
uint32_t block_rows(const struct block *b);
bool block_full(const struct block *b);
/*
 * All rows into p->bytes, with its names; rows, raw and packed of its head are filled in. The block
 * is empty then. False: there is no memory.
 */
bool block_pack(struct block *b, struct pack *p);

/*
 * The frames of the column `sent` that end the block of so many rows. NULL: no memory; free(3) it.
 */
uint8_t *block_sent(uint64_t sent, uint32_t rows, size_t *len);

#endif
