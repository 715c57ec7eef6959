/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insns.h - finds the returns of a function by decoding it, for kernels that keep no room for
 * them.
 *
 * A return has a byte or two, which do for a trap. The last one of a function often has padding
 * behind it, up to where the next function is aligned: as nobody runs that, it is part of the site.
 */
#ifndef HVTRACE_TRACER_PROBE_RETURNS_INSNS_H
#define HVTRACE_TRACER_PROBE_RETURNS_INSNS_H

#include "guestsym/guestsym.h"

struct ret_insns;

struct ret_insn {
	uint64_t va;
	uint8_t size; /* up to SITE_SIZE: bytes that are its own */
};

/* is_text: is there text of functions at va? NULL: no memory. */
struct ret_insns *ret_insns_new(bool (*is_text)(void *arg, uint64_t va), void *arg);
void ret_insns_free(struct ret_insns *f); /* NULL is allowed */

/*
 * Of the function whose len bytes at va are all that lies before the next one; with `padded` a
 * compiler has made it. What cannot be decoded, or looks as if somebody is patching it, ends the
 * search. Their number; *found is valid until the next call. -ENOMEM.
 */
int ret_insns_find(struct ret_insns *f, const uint8_t *code, size_t len, uint64_t va, bool padded,
		   const struct ret_insn **found);

#endif
