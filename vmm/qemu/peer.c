// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peer.c - the process behind a gdb stub, whose memory is the guest's: named once, and held.
 *
 * A process id is a name that others can have later, and a process may become another program, one
 * with more rights than its user has. So /proc/PID is opened once, which from then on means that
 * process and no other, and in it its address space, which no exec changes (proc_mem_open() in
 * fs/proc/base.c of Linux 6.1). Who owns that file is whose the program is: root's if it has rights
 * that its user has not (task_dump_owner()).
 */
#include "vmm/qemu/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A QEMU that root started may have given its rights away since; then it is root's all the same. */
static bool owner_is_right(const struct stat *st, const struct ucred *server,
			   const struct ucred *listener)
{
	if (st->st_uid == server->uid && st->st_gid == server->gid)
		return true;
	return listener->pid == server->pid && listener->uid == 0 && st->st_uid == 0;
}

int qemu_peer_memory(const struct ucred *server, const struct ucred *listener)
{
	char path[32];
	struct stat st;
	int process, mem, rc;

	if (server->pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", (int)server->pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	mem = openat(process, "mem", O_RDWR | O_CLOEXEC);
	rc = mem < 0 ? -errno : 0;
	close(process);
	if (!rc && fstat(mem, &st))
		rc = -errno;
	if (!rc && !owner_is_right(&st, server, listener))
		rc = -EXDEV;
	if (rc && mem >= 0)
		close(mem);
	return rc ? rc : mem;
}
