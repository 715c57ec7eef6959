/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.h - where a round has its files: STATE/.rounds/GUEST.RULE.XXXXXX goes with it. */
#ifndef HVTRACE_FRONTEND_SERVE_FOLDER_H
#define HVTRACE_FRONTEND_SERVE_FOLDER_H

#include "frontend/serve/round.h"

/* Make it, and name what is in it, and where the recording goes. 0 or -errno. */
int folder_make(struct round *r, const char *state);
void folder_remove(const struct round *r);
/* What those of a daemon have left that was killed. */
void folder_sweep(const char *state);

#endif
