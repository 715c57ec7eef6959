/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - a part of a command in a process of its own, as it gives up rights that are still
 * needed, or starts what a later fork() must not copy.
 */
#ifndef HVTRACE_FRONTEND_LIB_PROCESS_H
#define HVTRACE_FRONTEND_LIB_PROCESS_H

/*
 * Call run(arg) there, and wait for it. Ctrl-C and SIGTERM go to it; kill -9 of this process ends
 * it. There are no threads before. What run() gives, an exit status; CANCEL_STATUS() of what has
 * killed it; or EXIT_FAILED, and one line on stderr says that there is none.
 */
int process_run(int (*run)(void *arg), void *arg);

#endif
