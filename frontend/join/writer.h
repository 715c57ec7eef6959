/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writer.h - records of one vCPU of one buffer, put into pages of a journal. */
#ifndef HVTRACE_FRONTEND_JOIN_WRITER_H
#define HVTRACE_FRONTEND_JOIN_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/format.h"
#include "frontend/dat/journal.h"

#define WRITER_PAGES 64 /* that are put at once */

struct writer {
	struct journal *to;
	uint32_t buffer, vcpu;
	unsigned int nr; /* of pages that are full */
	bool open;	 /* there is one behind them that is not */
	uint32_t len;	 /* of its data */
	uint64_t first, last, lost;
	uint64_t late; /* times that went back, which were put right */
	uint8_t page[WRITER_PAGES][DAT_PAGE_SIZE];
};

void writer_begin(struct writer *w, struct journal *to, uint32_t buffer, uint32_t vcpu);
/* So many are missing here; RING_LOST_UNKNOWN. */
void writer_lost(struct writer *w, uint64_t lost);
/* Whether a record has room in a page at all. */
bool writer_has_room(size_t len);
/* Where a record that has goes, len bytes; NULL with -errno in *rc. */
uint8_t *writer_put(struct writer *w, uint64_t time, size_t len, int *rc);
/* The rest of them. 0 or -errno. */
int writer_end(struct writer *w);

#endif
