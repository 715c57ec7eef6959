/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quantity.h - sizes and times as a configuration has them: "20G", "1.5s". */
#ifndef HVTRACE_FRONTEND_CONFIG_QUANTITY_H
#define HVTRACE_FRONTEND_CONFIG_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#define QUANTITY_LEN 32

/* A number with K, M, G or T behind it, in bytes. False: it is none, or does not fit. */
bool size_parse(const char *text, uint64_t *bytes);
/* The same with ns, us, ms, s, m, h or d, in ns. */
bool time_parse(const char *text, uint64_t *ns);
/* As they are read again, in the largest unit that leaves a whole number. Returns buf. */
const char *size_text(uint64_t bytes, char buf[QUANTITY_LEN]);
const char *time_text(uint64_t ns, char buf[QUANTITY_LEN]);

#endif
