/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.h - see settings.c */
#ifndef HVTRACE_FRONTEND_SESSION_SETTINGS_H
#define HVTRACE_FRONTEND_SESSION_SETTINGS_H

#include <stdbool.h>

struct session;
struct view;

/* "FILE=VALUE" or "FILE+=VALUE" */
bool setting_is_one(const char *text);
/* As `echo VALUE >FILE` does it, or >>. 0 or -errno, and what that means. */
int setting_write(struct view *v, const char *name, const char *value, bool append);
const char *setting_error(int rc);
/*
 * Write what --set names to the files of the trace, in that order; nobody else has them yet. The
 * first that cannot be ends it: -1, with s->err set.
 */
int session_write_settings(struct session *s);

#endif
