/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decode.h - for those in guestsym/ who look at instructions. */
#ifndef HVTRACE_GUESTSYM_DECODE_H
#define HVTRACE_GUESTSYM_DECODE_H

#include "guestsym/internal.h"

#include <capstone/capstone.h>

/* Go on behind the next instruction; false when there is none. Of some only size is known. */
bool decode_next(csh cs, const uint8_t **p, size_t *left, uint64_t *va, cs_insn *insn);

/*
 * Call fn with each function of the kernel's text (what lies between one symbol and the next),
 * until it gives an error, which is then given back. insn is there for fn to use.
 */
int decode_functions(const struct elf_image *e, const struct symbols *s,
		     int (*fn)(void *arg, csh cs, cs_insn *insn, uint64_t va, uint64_t len),
		     void *arg);

#endif
