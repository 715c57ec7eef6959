/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols-print.h - what `hvtrace symbols` prints about a kernel image. */
#ifndef HVTRACE_FRONTEND_CMD_SYMBOLS_PRINT_H
#define HVTRACE_FRONTEND_CMD_SYMBOLS_PRINT_H

#include <stdio.h>

struct guestsym;
struct json;

/*
 * Each returns 0, or a negative errno when the output could not be written; its end may still be in
 * the stream, which is for the caller to flush.
 */

/* "key: value" lines. */
int symbols_print_summary(const struct guestsym *gs, FILE *out);
/* What available_filter_functions of the booted kernel says, modules aside. */
int symbols_print_functions(const struct guestsym *gs, FILE *out);
/* What /proc/kallsyms of the booted kernel says (without KASLR, as root), modules aside. */
int symbols_print_symbols(const struct guestsym *gs, FILE *out);

/* The same as JSON: an object, an array of names, an array of objects. Always 0. */
int symbols_put_summary(const struct guestsym *gs, struct json *j);
int symbols_put_functions(const struct guestsym *gs, struct json *j);
int symbols_put_symbols(const struct guestsym *gs, struct json *j);

#endif
