// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-time.c - what the time stamps of a file mean. */
#include "frontend/dat/dat.h"

#include <string.h>

/* Of 128 bits in between. */
static uint64_t multiply_and_shift(uint64_t n, uint32_t mult, uint32_t shift)
{
	return (uint64_t)(((unsigned __int128)n * mult) >> shift);
}

uint64_t dat_time(const struct dat_info *info, unsigned int vcpu, uint64_t ts)
{
	const struct dat_tsc2nsec *t = &info->tsc2nsec;

	if (info->shift)
		ts = dat_shift(info->shift, vcpu, ts);
	if (t->mult)
		ts = multiply_and_shift(ts, t->mult, t->shift);
	return ts + (uint64_t)info->ts_offset;
}

/* boot does, too, but libtracecmd 3.1 does not know: then its times are printed as they are. */
bool dat_counts_ns(const struct dat_info *info)
{
	static const char *const clocks[] = {
		"local", "global", "uptime", "perf", "mono", "mono_raw", "tai", "tsc2nsec",
	};

	if (info->tsc2nsec.mult || !info->clock)
		return true;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (!strcmp(info->clock, clocks[i]))
			return true;
	return false;
}
