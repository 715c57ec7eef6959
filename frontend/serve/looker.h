/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * looker.h - looks at the guests of a libvirt again and again, on a thread of its own: libvirt may
 * not answer for long, and the daemon goes on.
 */
#ifndef HVTRACE_FRONTEND_SERVE_LOOKER_H
#define HVTRACE_FRONTEND_SERVE_LOOKER_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm/machine.h"

struct looker;

/* What there was at one look. */
struct looker_sight {
	struct machine_listing *guest;
	int guests; /* -1: libvirt has not answered, as err says */
	struct machine_load *load;
	int loads;
	char err[512];
	int64_t at_ms; /* CLOCK_MONOTONIC */
};

/* interval_ms: it looks so often, and when it is asked to. NULL: no memory, or no thread. */
struct looker *looker_new(const char *connect, int64_t interval_ms);
/* Readable when there is something new to see. */
int looker_fd(const struct looker *l);
void looker_ask(struct looker *l);
/* False: nothing new. Else the sight is the caller's; looker_sight_free(). */
bool looker_take(struct looker *l, struct looker_sight *sight);
void looker_sight_free(struct looker_sight *sight);
/* Waits for what it is about, which it gives up. NULL is allowed. */
void looker_free(struct looker *l);

#endif
