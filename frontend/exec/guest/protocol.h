/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protocol.h - what hvtrace and the program that it has in a guest say to each other: two
 * streams of bytes that lose nothing once the guest has said hello. What comes before that is
 * noise.
 *
 * Behind it both ways go frames: a byte that says what it is, the length of what follows in two
 * bytes, low first, and that. The guest says what it waits for, then that it is up; the host says
 * what to run; the guest that there is a task for it; the host has it traced, and says go.
 */
#ifndef HVTRACE_FRONTEND_EXEC_GUEST_PROTOCOL_H
#define HVTRACE_FRONTEND_EXEC_GUEST_PROTOCOL_H

#define EXEC_HELLO "\nhvtrace-exec 1\n"

#define EXEC_HEAD     3
#define EXEC_DATA_MAX 65535

/* From the guest. */
#define EXEC_WAITS 'w' /* one byte: for what, below */
#define EXEC_UP	   'u' /* nothing */
#define EXEC_PID   'p' /* four bytes, low first: of the task, in the first pid namespace */
#define EXEC_OUT   'o' /* bytes that the command has written to its standard output, */
#define EXEC_ERR   'e' /* and to its standard error */
#define EXEC_END   'x' /* four bytes, low first: the status as wait(2) has it */
#define EXEC_FAIL  'f' /* text: why there is nothing more to expect */

/* What EXEC_WAITS has. */
#define EXEC_WAITS_ROOT	   'r' /* its init is to go on to another root */
#define EXEC_WAITS_SYSTEMD 's' /* systemd is to have started what it starts */
#define EXEC_WAITS_OPENRC  'o' /* the same of OpenRC */
#define EXEC_WAITS_INIT	   'i' /* its init is to wait for something itself */

/* From the host. */
#define EXEC_COMMAND 'c' /* a byte of flags, and the text for sh -c */
#define EXEC_GO	     'g' /* nothing */

#define EXEC_FLAG_SYNC 1 /* what was written is to be on the disks before EXEC_END */

/* Where the program and its files are: see overlay.c. */
#define EXEC_FOLDER  "/hvtrace"
#define EXEC_INIT    EXEC_FOLDER "/init" /* the program */
#define EXEC_NEXT    EXEC_FOLDER "/next" /* a link to the init that there is beside it */
#define EXEC_PROC    EXEC_FOLDER "/proc" /* for a procfs */
#define EXEC_NULL    EXEC_FOLDER "/null"
#define EXEC_PORT    EXEC_FOLDER "/port" /* the second serial port */
#define EXEC_DEVICES EXEC_FOLDER "/dev"	 /* without an initrd: for a devtmpfs, */
#define EXEC_ROOT    EXEC_FOLDER "/root" /* and for the root */

#endif
