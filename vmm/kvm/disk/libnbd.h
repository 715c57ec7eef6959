/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libnbd.h - the functions of libnbd, which is loaded when the first disk needs it. */
#ifndef HVTRACE_VMM_KVM_DISK_LIBNBD_H
#define HVTRACE_VMM_KVM_DISK_LIBNBD_H

#include <libnbd.h>

#define LIBNBD_FUNCTIONS(X)                                                                        \
	X(nbd_create)                                                                              \
	X(nbd_close)                                                                               \
	X(nbd_get_error)                                                                           \
	X(nbd_set_pread_initialize)                                                                \
	X(nbd_connect_socket)                                                                      \
	X(nbd_get_size)                                                                            \
	X(nbd_pread)                                                                               \
	X(nbd_pwrite)                                                                              \
	X(nbd_flush)                                                                               \
	X(nbd_trim)                                                                                \
	X(nbd_zero)

struct libnbd {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define LIBNBD_MEMBER(name) __typeof__(name) *name;
	LIBNBD_FUNCTIONS(LIBNBD_MEMBER)
#undef LIBNBD_MEMBER
};

/* NULL: it is not installed. */
const struct libnbd *libnbd(void);

#endif
