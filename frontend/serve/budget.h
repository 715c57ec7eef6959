/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget.h - what tracing has cost a guest, and how long it is left alone for that. */
#ifndef HVTRACE_FRONTEND_SERVE_BUDGET_H
#define HVTRACE_FRONTEND_SERVE_BUDGET_H

#include <stdint.h>

/*
 * A record that is made without an exit, in ns of its vCPU: more than tests/bench finds on
 * processors of the last ten years (docs/fleet.md).
 */
#define BUDGET_RECORD_NS 250

/* A guest that is left alone for longer has been forgotten. */
#define BUDGET_PAUSE_MAX_MS INT64_C(3600000)

struct budget_cost {
	int64_t traced_ms;
	uint64_t stood_ns; /* all its vCPUs */
	uint64_t records;
	unsigned int vcpus;
};

/* The part of the guest's time that it has taken, 0 to 1 and more. */
double budget_ratio(const struct budget_cost *c);
/*
 * So long nothing is traced, for what it has taken to be `percent` of all that time, on an average.
 * 0: it was not more.
 */
int64_t budget_pause_ms(const struct budget_cost *c, double percent);

#endif
