// SPDX-License-Identifier: GPL-2.0-or-later
/* clocks.c - see clocks.h */
#include "frontend/join/clocks.h"

#include "frontend/join/join.h"

#include <stdio.h>
#include <string.h>

/*
 * A guest's says how its TSC becomes the host's, and a host's which guests it has. The clock host
 * is the host's CLOCK_MONOTONIC by itself.
 */
static bool is_hosts(const struct dat *d)
{
	const struct dat_info *info = dat_info(d);
	struct dat_guest ignored;

	if (info->clock && !strcmp(info->clock, "host"))
		return info->tsc2nsec.mult;
	return info->tsc2nsec.mult && info->clock && !strcmp(info->clock, "x86-tsc") &&
	       (info->shift || dat_guest(d, 0, &ignored));
}

struct join_clock join_clock_of(const struct dat *d)
{
	const struct dat_info *info = dat_info(d);
	struct join_clock c = {
		.counts_ns = dat_counts_ns(info),
		.is_hosts = is_hosts(d),
		.ticks = info->tsc2nsec,
		.offset = info->ts_offset,
	};

	snprintf(c.name, sizeof(c.name), "%s", info->clock ? info->clock : "local");
	if (info->host_boot)
		snprintf(c.host_boot, sizeof(c.host_boot), "%s", info->host_boot);
	return c;
}

static bool ticks_are_same(const struct dat_tsc2nsec *a, const struct dat_tsc2nsec *b)
{
	return a->mult == b->mult && a->shift == b->shift && a->offset == b->offset;
}

/*
 * trace-cmd's files do not say whose they are: there the same way of making nanoseconds has to do,
 * which every file by the clock host has.
 */
static bool hosts_are_same(const struct join_clock *a, const struct join_clock *b)
{
	if (strcmp(a->name, "host") != 0 && (!*a->host_boot || !*b->host_boot))
		return true;
	return !strcmp(a->host_boot, b->host_boot);
}

enum join_axis join_clocks_agree(const struct join_clock *a, const struct join_clock *b)
{
	if (a->counts_ns != b->counts_ns || (!a->counts_ns && strcmp(a->name, b->name) != 0))
		return JOIN_AXIS_UNLIKE;
	if (a->is_hosts && b->is_hosts && !strcmp(a->name, b->name) &&
	    ticks_are_same(&a->ticks, &b->ticks) && a->offset == b->offset && hosts_are_same(a, b))
		return JOIN_AXIS_ONE;
	return JOIN_AXIS_OWN;
}

bool join_is_one_axis(const struct dat *a, const struct dat *b)
{
	const struct join_clock x = join_clock_of(a), y = join_clock_of(b);

	return join_clocks_agree(&x, &y) == JOIN_AXIS_ONE;
}
