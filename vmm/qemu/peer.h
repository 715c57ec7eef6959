/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.h - the process behind a gdb stub, whose memory is the guest's: named once, and held. */
#ifndef HVTRACE_VMM_QEMU_PEER_H
#define HVTRACE_VMM_QEMU_PEER_H

#include <sys/socket.h>

/*
 * The memory of the process that serves (as the kernel told with what it sent), for reading and
 * writing: a descriptor, or -errno. -EACCES or -EPERM: no permission, -ESRCH: it has gone, -EXDEV:
 * it is another program's by now than that of the user who serves. listener: who called listen(2).
 *
 * The descriptor stands for the address space: a program that the process becomes later has another
 * one, and when nobody has this one any more reads and writes give 0 bytes. To be sure that it is
 * the server's, have it say something more, and look whether it is the same that says it.
 */
int qemu_peer_memory(const struct ucred *server, const struct ucred *listener);

#endif
