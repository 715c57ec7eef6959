/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify.h - what systemd is told of the daemon (sd_notify(3)), where it was started by that:
 * through libsystemd, which is loaded then. One in a process, as there is one socket for it.
 */
#ifndef HVTRACE_FRONTEND_SERVE_NOTIFY_H
#define HVTRACE_FRONTEND_SERVE_NOTIFY_H

#include <stdint.h>

/* To be asked first; how often notify_alive() is to be called, in ms; 0: not at all. */
int64_t notify_begin(void);
void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
void notify_alive(void);
/* What systemctl status shows: one line. */
void notify_status(const char *text);

#endif
