/* SPDX-License-Identifier: GPL-2.0-or-later */
/* power-off.h - a guest that has a system in it is asked to end, by its power button. */
#ifndef HVTRACE_FRONTEND_SESSION_POWER_OFF_H
#define HVTRACE_FRONTEND_SESSION_POWER_OFF_H

#include <stdbool.h>

struct session;

/*
 * The guest runs, and has no probes any more: press its button. One line on stderr says that it
 * shuts down, or why it does not. Whether it is to be waited for.
 */
bool power_off_ask(struct session *s);
/*
 * Until it has, for a minute and a half at most, which a line says. A second Ctrl-C ends the
 * process; false: the first one has come meanwhile.
 */
bool power_off_wait(struct session *s);

#endif
