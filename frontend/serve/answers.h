/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answers.h - what the daemon answers at its socket. */
#ifndef HVTRACE_FRONTEND_SERVE_ANSWERS_H
#define HVTRACE_FRONTEND_SERVE_ANSWERS_H

#include "frontend/serve/daemon.h"

/*
 * For requests_new(), with the daemon: "status", "trace GUEST RULE", "reload". The answer begins
 * with a line "ok", or is one that says what is wrong.
 */
void answers(void *arg, const char *line, struct text *to);

#endif
