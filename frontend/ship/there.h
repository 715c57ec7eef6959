/* SPDX-License-Identifier: GPL-2.0-or-later */
/* there.h - which batches of a file servers have already. */
#ifndef HVTRACE_FRONTEND_SHIP_THERE_H
#define HVTRACE_FRONTEND_SHIP_THERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; there_clear(). */
struct there {
	uint8_t *bits; /* a batch each */
	size_t bytes;
	uint32_t other_size; /* of batches that have another number of records; 0: there are none */
};

/*
 * Add what a server has answered: pairs of uint32_t, the size of a batch and its number, of which
 * those of this size are meant. False: no memory, or nothing of the kind.
 */
bool there_add(struct there *t, uint32_t size, const void *answer, size_t len);
bool there_has(const struct there *t, uint32_t number);
void there_clear(struct there *t);

#endif
