/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * detour.h - functions of the guest's that have no fentry site, and begin with a jump into the
 * payload instead. What the jump takes the place of is copied there: payload/event.S.
 */
#ifndef HVTRACE_TRACER_WINDOW_DETOUR_H
#define HVTRACE_TRACER_WINDOW_DETOUR_H

#include "tracer/guest/guest.h"
#include "tracer/window/window.h"

/*
 * Learn what the function at va (run-time) begins with. d->entry and d->rest are the caller's.
 * -EOPNOTSUPP: with instructions that cannot be executed elsewhere; or an error of reading.
 */
int detour_learn(struct guest_kernel *g, uint64_t va, struct payload_detour *d);
/* Where in the header those of events are, those of prints, of switches, and the one of branches.
 */
enum {
	DETOUR_EVENTS = 0,
	DETOUR_PRINTS = 2,
	DETOUR_SWITCHES = 4,
	DETOURS_EACH = 2,
	DETOUR_BRANCH = 6,
};

/*
 * Have n functions begin with their jumps, once nobody is in the middle of what they begin with;
 * the header in the guest tells of them first, from entry `first` on. The machine runs. -ETIMEDOUT
 * and others: none has, but for those that could not be taken out again either.
 */
int detours_insert(struct guest_kernel *g, const struct guestsym *gs, struct window *w,
		   unsigned int first, const struct payload_detour *d, size_t n);
/*
 * Where the instruction has been that lies at this offset of the payload's code, in the window at
 * this address: 0 if it is none of those. By what the guest's memory says. Any thread.
 */
uint64_t detours_home(struct guest_kernel *g, uint64_t window, uint32_t off);
/* The payload's text is to be written anew: add what detours have put into it. */
void detours_keep(const struct window *w, uint8_t text[WINDOW_TEXT_SIZE]);
/*
 * Take out those that the window's header tells of and that are there; the machine is paused. The
 * copies may be executed for a while yet: quiesce.h.
 */
int detours_remove(struct guest_kernel *g, const struct window *w);
/* The same of n from entry `first` on; they may be inserted again. */
int detours_take_out(struct guest_kernel *g, const struct window *w, unsigned int first, size_t n);

#endif
