/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmio-pipe.h - a pipe into which a QEMU on this host writes its log, and what that log was before.
 *
 * QEMU opens it by a name, which it has for as long as that takes. Its end is made non-blocking,
 * from outside: a guest never waits for who reads, be that one slow, stopped or dead. All this
 * takes the right to trace the process (ptrace(2)), as reaching its memory does.
 */
#ifndef HVTRACE_VMM_QEMU_MMIO_PIPE_H
#define HVTRACE_VMM_QEMU_MMIO_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define MMIO_PIPE_PATH 256

struct mmio_pipe {
	int fd;			   /* to be read, without waiting; -1: there is none */
	int qemu_fd;		   /* QEMU's end, or -1 */
	char path[MMIO_PIPE_PATH]; /* "": it has no name (any more) */
};

/*
 * Make one in this folder that the QEMU may open, for mmio_pipe_close(). 0 or -errno:
 * -ENAMETOOLONG, -EEXIST: something else has the name.
 */
int mmio_pipe_make(struct mmio_pipe *p, const char *folder, const struct ucred *qemu);
/* QEMU has opened it: it loses its name, and QEMU's end does not block any more. 0, -ENOENT: it has
 * not, or -errno. */
int mmio_pipe_take(struct mmio_pipe *p, pid_t qemu);
/* What QEMU writes may be lost now, as there is no room. */
bool mmio_pipe_is_full(const struct mmio_pipe *p);
void mmio_pipe_close(struct mmio_pipe *p);

/* The log is such a pipe that nobody reads any more: its tracer was killed, and what it began to
 * undo that as well. */
bool mmio_pipe_is_left(pid_t qemu);

/*
 * By which file name QEMU's log goes back to where it goes if nothing else is said, its stderr: a
 * file would be emptied by that, so it is /dev/null for those that are one. "": not known.
 */
void mmio_log_place(pid_t qemu, char *name, size_t size);
/* The option of QEMU's command line by which it has a log of its own: "-D", "-d" or "-trace"; NULL:
 * none, or not known. */
const char *mmio_log_is_used(pid_t qemu);

#endif
