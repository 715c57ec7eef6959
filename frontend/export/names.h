/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - names of functions, tasks and slices as numbers, which writers tell once. There are no
 * more of them than a call tree has room for.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_NAMES_H
#define HVTRACE_FRONTEND_EXPORT_NAMES_H

#include "frontend/decode/formats.h"
#include "frontend/report/calltree.h"

struct names;

/* Of the file's functions, the numbers being those of the tree, which is the caller's. */
struct names *names_new(struct formats *f, struct calltree *tree);
void names_free(struct names *n); /* NULL is allowed */

/* Of the function that has this address. 0: there are too many. */
uint32_t names_function(struct names *n, uint64_t addr);
/* Of a text, which is made UTF-8 if it is none, and cut if it is long. */
uint32_t names_text(struct names *n, const char *text, size_t len);

/* The same for a text alone: len bytes of text into buf, terminated. */
#define NAMES_LEN 256
const char *names_clean(char buf[NAMES_LEN], const char *text, size_t len);

#endif
