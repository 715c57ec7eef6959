/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.h - the process gives up what it does not need any more, for good.
 *
 * Before it everything is open: /dev/kvm, the memory of QEMU, sockets, the mount, the output.
 * Behind it no thread has a capability or can get one, no file is opened, no program started,
 * nobody connected to and no other process looked at; see docs/security.md.
 */
#ifndef HVTRACE_FRONTEND_SANDBOX_SANDBOX_H
#define HVTRACE_FRONTEND_SANDBOX_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

/*
 * For all threads, and those that they start. more: how much memory the process may still take,
 * beside what libraries set aside and do not use, in bytes; UINT64_MAX: no limit. -errno, with one
 * line in err, when some of it cannot be had: then part of it may be in effect. Calls that are
 * refused fail with EPERM; nobody is killed for them, as who traces is to give the guest back.
 * unmount(2) is a call that does nothing and succeeds: libfuse makes it for a mount that is gone
 * already.
 */
int sandbox_enter(uint64_t more, char *err, size_t errlen);
/*
 * The same, but that files may still be made, written and removed in one folder and what is below
 * it, of which folder is a descriptor; -1: none. It needs a kernel with Landlock.
 */
int sandbox_enter_folder(uint64_t more, int folder, char *err, size_t errlen);

#endif
