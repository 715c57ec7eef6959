/* SPDX-License-Identifier: GPL-2.0-or-later */
/* missing.h - why a function that a report is to be about is not in the trace. */
#ifndef HVTRACE_FRONTEND_CMD_MISSING_H
#define HVTRACE_FRONTEND_CMD_MISSING_H

#include "frontend/cmd/source.h"

/* One line on stderr. t: the calls that it is not among. */
void missing_say(const struct report_options *opt, const struct calltree *t, const char *function);

#endif
