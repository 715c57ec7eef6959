/* SPDX-License-Identifier: GPL-2.0-or-later */
/* found.h - what has come of a step of a round, for metrics, and for what is done next. */
#ifndef HVTRACE_FRONTEND_SERVE_FOUND_H
#define HVTRACE_FRONTEND_SERVE_FOUND_H

#include "frontend/serve/round.h"

/* The step has ended. */
void found(struct round *r, enum plan_kind kind);

#endif
