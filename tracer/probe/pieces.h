/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pieces.h - sets and clears the traps of a guest that is attached to a few at a time, between
 * which it runs.
 *
 * Each costs the guest's QEMU a list to be walked and a word with every vCPU, and a kernel has more
 * than a hundred thousand places: all at once they would have the guest stand for longer than it is
 * ever to (machine_limits.stand_ms). A piece takes a small share of that limit, and the guest runs
 * for as long as it has stood before the next. Meanwhile some are traced, and others not yet.
 *
 * Where sites are written by ourselves (calls, a guest of our own) there is one piece.
 */
#ifndef HVTRACE_TRACER_PROBE_PIECES_H
#define HVTRACE_TRACER_PROBE_PIECES_H

#include "tracer/core/trace.h"

#define PIECES_START 64	  /* traps in the first piece, when their price is not known */
#define PIECES_MAX   1024 /* and never more than that */
#define PIECES_SHARE 10	  /* of the limit: this part of it for each piece */

/*
 * Begin to remove the probes that have PROBE_FL_CHANGE, and then to insert those that are due: the
 * first piece is done when this is back, and whatever was to be done before goes on behind it. 0 or
 * -errno of that piece. t->change is held and the machine paused, as for the next two.
 */
int pieces_patch(struct trace *t);
/* Likewise to remove all: but for those that have one of `without`, where there is one piece. */
int pieces_remove_all(struct trace *t, uint16_t without);
/* Others are due by now (not to be removed): have them inserted with those that are under way. */
int pieces_insert(struct trace *t);
/* There is something left of a change. */
static inline bool pieces_are_left(const struct trace *t)
{
	return t->pieces.phase != PIECES_NONE;
}
/*
 * The end of what has begun a change, once its trace_change_end() is behind it: do what is left.
 * `ret`, or the error of that, when what was set is out again; -ECANCELED: nobody wants it any
 * more. Within another change of the same thread nothing is done: that one's end is to do it.
 */
int pieces_finish(struct trace *t, int ret);
/*
 * The same within a change, for a vCPU that waits at a trap: all at once. Not for pieces that were
 * left when the change began: whoever has begun those is on the way to their end, and the guest is
 * not to stand for them. 0 or -errno.
 */
int pieces_finish_here(struct trace *t);
void pieces_free(struct trace *t);

#endif
