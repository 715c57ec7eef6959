// SPDX-License-Identifier: GPL-2.0-or-later
/* ours.c - what there is at an address in the window: guest_is_ours(). */
#include "tracer/payload/frame.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/trampoline/internal.h"
#include "tracer/window/detour.h"

/* An offset in the payload's code. */
static void look_at_payload(struct trace *t, uint64_t window, uint32_t off, struct guest_ours *o)
{
	struct payload_frame f;

	o->returns = payload_frame_at(off, &f);
	if (o->returns) {
		o->words = f.words;
		o->bare = f.bare;
	} else {
		o->home = detours_home(&t->guest, window, off);
	}
}

/* What lies in front of the rings: they are not executed. */
static bool ours(void *arg, uint64_t ip, struct guest_ours *o)
{
	struct trace *t = arg;
	uint64_t window = atomic_load(&t->window), off = ip - window;

	if (!window || off >= WINDOW_RINGS)
		return false;
	*o = (struct guest_ours){.home = 0};
	if (off - WINDOW_TEXT < WINDOW_TEXT_SIZE)
		look_at_payload(t, window, (uint32_t)(off - WINDOW_TEXT), o);
	else
		o->home = flag_sites_home(t, ip);
	return true;
}

void trampoline_init(struct trace *t)
{
	t->guest.ours = ours;
	t->guest.ours_arg = t;
}
