/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crash-line.h - a last line instead of a signal, where a library is handed what anybody wrote. */
#ifndef HVTRACE_FRONTEND_CMD_CRASH_LINE_H
#define HVTRACE_FRONTEND_CMD_CRASH_LINE_H

/*
 * From now on whatever the process would be killed for by its own doing (SIGSEGV and such) ends it
 * with EXIT_FAILED and this line on stderr, which is copied. For the calling thread also when its
 * stack is full. With a sanitizer, which has its own, it does nothing.
 */
void crash_line_set(const char *line);

#endif
