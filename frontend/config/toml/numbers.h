/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numbers.h - what numbers say that the grammar has found right. */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_NUMBERS_H
#define HVTRACE_FRONTEND_CONFIG_TOML_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: it does not fit. */
bool toml_integer_read(const char *text, size_t len, int64_t *to);
bool toml_float_read(const char *text, size_t len, double *to);

#endif
