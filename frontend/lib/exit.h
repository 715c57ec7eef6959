/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exit.h - the exit status of a command. */
#ifndef HVTRACE_FRONTEND_LIB_EXIT_H
#define HVTRACE_FRONTEND_LIB_EXIT_H

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#endif
