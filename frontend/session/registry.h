/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registry.h - the guests that the hvtrace processes of this user trace: for each of them an entry
 * and a socket in $XDG_RUNTIME_DIR/hvtrace, as root without that variable in /run/hvtrace.
 */
#ifndef HVTRACE_FRONTEND_SESSION_REGISTRY_H
#define HVTRACE_FRONTEND_SESSION_REGISTRY_H

#include <stddef.h>
#include <sys/types.h>

#include "vmm/machine.h"

struct registry_guest {
	pid_t pid; /* of its hvtrace */
	char name[128];
	char uuid[MACHINE_UUID_SIZE]; /* of a domain of libvirt, else "" */
	char accel[8];
	char release[128]; /* of its kernel */
	char target[256];  /* where it is attached to, as registry_target() has it; "": nowhere */
	unsigned int vcpus;
};

/* A guest as hvtrace attach takes it, in a form that is the same however it was called. */
void registry_target(const char *target, char *to, size_t size);
/* Enter the guest of this process; pid is filled in. 0 or -errno: it is not listed then. */
int registry_add(const struct registry_guest *g);
/*
 * The socket of this process, listening, for this user only. A descriptor, or -errno: -ENOENT where
 * there is no directory for it, since XDG_RUNTIME_DIR is not set.
 */
int registry_listen(void);
/* Take out what that process has put in. Makes system calls only. */
void registry_remove(pid_t pid);

/* Connect to the socket of another one. A descriptor, or -errno. */
int registry_connect(pid_t pid);

/*
 * All entries whose process is there, by pid: their number, *guests to be freed by free(). Others
 * are removed. -errno when the directory cannot be read; 0 without one.
 */
int registry_list(struct registry_guest **guests);

#endif
