/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comms.h - which task name and thread group a pid had, as far as it was noted.
 *
 * The kernel's saved_cmdlines (struct saved_cmdlines_buffer in kernel/trace/trace.c, 6.1): a fixed
 * number of places; a new pid takes the one filled longest ago.
 */
#ifndef HVTRACE_TRACER_GUEST_COMMS_H
#define HVTRACE_TRACER_GUEST_COMMS_H

#include <stddef.h>
#include <stdint.h>

#define COMM_LEN	 16   /* TASK_COMM_LEN */
#define COMMS_DEFAULT_NR 6552 /* what saved_cmdlines_size of a stock kernel reads */

struct comms;

/* A table with nr places. NULL when there is no memory, or nr is 0. */
struct comms *comms_new(size_t nr);
void comms_free(struct comms *c); /* NULL is allowed */
/*
 * Another table with nr places and what c has noted, while nobody notes anything; c stays as it is,
 * for those who look into it, as long as the new one. NULL as above.
 */
struct comms *comms_resize(struct comms *c, size_t nr);

/*
 * The task pid is called comm (need not be terminated; NULL: that is not to be noted) and belongs
 * to tgid (0: likewise). Any thread, at the same time as others; takes no lock when that is known
 * already. Pid 0 is the idle task and is never noted.
 */
void comms_note(struct comms *c, int32_t pid, int32_t tgid, const char comm[COMM_LEN]);

/* The name to print for pid: "<idle>" for 0, "<...>" when it is not known. Any thread. */
void comms_find(struct comms *c, int32_t pid, char comm[COMM_LEN]);
/* Its thread group, 0 when that is not known. Any thread. */
int32_t comms_tgid(struct comms *c, int32_t pid);

/*
 * What is noted, in the order of the places: comm is empty, or tgid 0, where that is not. fn must
 * not come back here. Any thread.
 */
void comms_each(struct comms *c,
		void (*fn)(void *arg, int32_t pid, int32_t tgid, const char comm[COMM_LEN]),
		void *arg);
size_t comms_size(const struct comms *c); /* places */

#endif
