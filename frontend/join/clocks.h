/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clocks.h - whether the times of several files are of one axis. */
#ifndef HVTRACE_FRONTEND_JOIN_CLOCKS_H
#define HVTRACE_FRONTEND_JOIN_CLOCKS_H

#include "frontend/dat/dat.h"

struct join_clock {
	char name[32];
	bool counts_ns;
	bool is_hosts; /* what dat_time() gives is the host's time */
	struct dat_tsc2nsec ticks;
	int64_t offset;
	char host_boot[DAT_BOOT_ID_LEN + 1]; /* empty: not told */
};

struct join_clock join_clock_of(const struct dat *d);

enum join_axis {
	JOIN_AXIS_ONE,	  /* they are */
	JOIN_AXIS_OWN,	  /* some are of a guest's own clock, or of another host's */
	JOIN_AXIS_UNLIKE, /* they do not even count the same */
};

/* Of both together; the second one is to blame. */
enum join_axis join_clocks_agree(const struct join_clock *a, const struct join_clock *b);

#endif
