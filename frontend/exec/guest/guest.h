/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest.h - what the files of the program that runs a command in a guest share. */
#ifndef HVTRACE_FRONTEND_EXEC_GUEST_GUEST_H
#define HVTRACE_FRONTEND_EXEC_GUEST_GUEST_H

#include "frontend/exec/guest/sys.h"
#include "frontend/exec/guest/protocol.h"

/* What is opened while there is nothing but the archive, and kept. Close-on-exec, all of them. */
struct guest {
	int proc; /* the top of a procfs */
	int null;
	int port;
	char **env; /* for those that it starts */
	bool stays; /* its init will not go on to another root: the user has named it, or it was
		       found there */
};

/* --- port.c ---------------------------------------------------------------------------------- */

/* Make a terminal a stream of bytes, and say hello. */
void port_begin(int port);
#define PORT_DATA_MAX 4096
/* At most so many bytes. */
void port_send(int port, char what, const void *bytes, size_t len);
void port_fail(int port, const char *why, const char *what, long error);
/* The next frame, which has to be this: its length, or -1. There is nothing else to wait for. */
long port_receive(int port, char what, void *bytes, size_t size);

/* --- root.c ---------------------------------------------------------------------------------- */

/*
 * Where there is no init: mount what root= names, and make that the root of this process, as the
 * kernel does where it has no initrd. The init that is in it; NULL: there is none, port_fail() has
 * said why.
 */
const char *root_mount(const struct guest *g);

/* --- up.c ------------------------------------------------------------------------------------ */

/* Wait until the system has come up; this process has its root then. */
void up_wait(const struct guest *g);

/* --- run.c ----------------------------------------------------------------------------------- */

/* Run what the host asks for, and say what comes of it. */
void run_command(const struct guest *g);
/* In a process of its own: for what is not to be inherited by others, with these as 0, 1 and 2. */
void use_files(int in, int out, int err);

#endif
