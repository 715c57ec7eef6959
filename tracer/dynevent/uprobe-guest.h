/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uprobe-guest.h - uprobes that the guest's own kernel makes for us, in all processes that map the
 * file: uprobe_register() of a struct uprobe_consumer that lies in the window, whose handlers are a
 * piece of the payload (payload/kprobe.S). Part of kprobe-guest.h.
 *
 * The file is looked up by one of the guest's kworkers, so from where its init has its root, and
 * held from then on.
 */
#ifndef HVTRACE_TRACER_DYNEVENT_UPROBE_GUEST_H
#define HVTRACE_TRACER_DYNEVENT_UPROBE_GUEST_H

#include "tracer/dynevent/kprobe-guest.h"
#include "tracer/dynevent/probe-rows.h"

/* Why there can be none in this guest; NULL: there can, if its kworkers can be asked. */
const char *guest_uprobes_why_not(const struct trace *t);

/*
 * Have the guest's kernel look up a file, and hold it, for a uprobe that is off; made->inode says
 * which it is. They are open (guest_probes_open()). 0, or -errno: *why says what is logged, or is
 * NULL.
 */
int guest_uprobe_find(struct guest_probes *g, const char *path, struct guest_probe *made,
		      const char **why);

struct guest_uprobe_place {
	bool is_return;
	uint64_t offset, ref; /* in the file; ref: of a counter of who waits for hits, 0: none */
};

/* Where in its file it is to be. It is off. 0 or an error. */
int guest_uprobe_place(struct guest_probes *g, const struct guest_probe *made,
		       const struct guest_uprobe_place *place);

static inline bool probe_row_is_uprobe(uint32_t kind)
{
	return kind == PROBE_ROW_UPROBE || kind == PROBE_ROW_URETPROBE;
}

/* Turn n of them on, all or none, or off. 0 or the first error. */
int guest_uprobes_switch(struct guest_probes *g, const unsigned int *rows, size_t n, bool on);

/*
 * What the kernel is asked for to let go of one whose row at `va` was read, in this order: it is
 * unregistered; nobody is in its handlers any more (once, for any number of them); the file is let
 * go, and the row is free. How many calls: GUEST_UPROBE_CALLS at most for one, and one to wait.
 */
#define GUEST_UPROBE_CALLS 3
size_t guest_uprobe_end(const struct trace *t, const struct probe_row *r, uint64_t va,
			struct borrow_call *calls);
size_t guest_uprobes_wait(const struct trace *t, struct borrow_call *calls);
size_t guest_uprobe_drop(const struct trace *t, const struct probe_row *r, uint64_t va,
			 struct borrow_call *calls);

#endif
