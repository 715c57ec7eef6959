/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moves.h - sites that have no room for a call, as those that have moved (move.h) into the window:
 * all that there are, and how they get there.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_MOVES_H
#define HVTRACE_TRACER_PROBE_CRITICAL_MOVES_H

#include "tracer/core/trace.h"
#include "tracer/payload/patch.h"
#include "tracer/probe/critical/move.h"
#include "tracer/window/window.h"

struct flag_moves;

struct flag_moves *flag_moves_new(void); /* NULL: no memory */
void flag_moves_free(struct flag_moves *fm);

/*
 * Plan these n instructions, once: m[i].va (run-time) and m[i].how are set, and `kind`s are those
 * of flag_kinds. What cannot move is left with m[i].size 0; the others are kept, by address, and m
 * and kind are in that order in the end. changes: as bounds_read() has it. The machine is paused.
 * 0, or an error of bounds_read().
 */
int flag_moves_plan(struct trace *t, struct flag_moves *fm, bool changes, struct move *m,
		    uint8_t *kind, size_t n);

/* Those that were planned, in their order. */
size_t flag_moves_all(const struct flag_moves *fm, const struct move **m);

/*
 * Their jumps are about to be written into the guest: put the code there that they lead to, and
 * have whoever is in the middle of one go on there. The machine is paused. 0, or an error of the
 * window or of quiesce_enter(): then no jump may be written.
 */
int flag_moves_enter(struct trace *t, struct flag_moves *fm, struct window *w,
		     const struct payload_text *text);
/* Behind that: run-time address of what a jump leads to. */
uint64_t flag_moves_code(const struct flag_moves *fm, uint16_t move);
/* flag_sites_home() */
uint64_t flag_moves_home(const struct flag_moves *fm, uint64_t ip);

#endif
