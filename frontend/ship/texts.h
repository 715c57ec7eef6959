/* SPDX-License-Identifier: GPL-2.0-or-later */
/* texts.h - names of functions and the like by their numbers, found once and kept as far as there
 * is room. */
#ifndef HVTRACE_FRONTEND_SHIP_TEXTS_H
#define HVTRACE_FRONTEND_SHIP_TEXTS_H

#include "frontend/ship/block.h"

struct texts;

/* name() makes the text of a number that is not there. NULL: no memory. */
struct texts *texts_new(void (*name)(void *arg, uint64_t number, struct block_text *t), void *arg);
void texts_free(struct texts *t); /* NULL is allowed */
/* Valid until the next call. */
const struct block_text *texts_get(struct texts *t, uint64_t number);

#endif
