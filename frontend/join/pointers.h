/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pointers.h - which bytes of records are addresses that have names: what formats print by %ps and
 * the like, or as a string that lies elsewhere, and what readers know by its name.
 */
#ifndef HVTRACE_FRONTEND_JOIN_POINTERS_H
#define HVTRACE_FRONTEND_JOIN_POINTERS_H

#include "frontend/decode/formats.h"

struct pointers;

/* f has the formats of the file, and stays. NULL: no memory. */
struct pointers *pointers_new(struct formats *f);
void pointers_free(struct pointers *p); /* NULL is allowed */
/* Each of them in a record of that number: an address of 8 bytes, anywhere in the len bytes. */
void pointers_each(struct pointers *p, int id, uint8_t *data, size_t len,
		   uint64_t (*move)(const void *arg, uint64_t addr), const void *arg);

#endif
