/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-tsc.h - for session.c: how the guest's TSC follows the host's. */
#ifndef HVTRACE_FRONTEND_SESSION_HOST_TSC_H
#define HVTRACE_FRONTEND_SESSION_HOST_TSC_H

#include "frontend/record/record.h"
#include "frontend/session/session.h"

/*
 * Of all vCPUs that the trace has room for. False: it is not known, which was said in one line; how
 * the host's ticks become nanoseconds is there all the same.
 */
bool host_tsc_find(const struct session *s, struct record_shift *shift);

#endif
