/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel-find.h - which kernel to boot when the user names none. */
#ifndef HVTRACE_FRONTEND_SESSION_KERNEL_FIND_H
#define HVTRACE_FRONTEND_SESSION_KERNEL_FIND_H

/*
 * The newest readable /boot/vmlinuz-*, else the kernel that scripts/get-guest has fetched
 * (series 6.1 before 6.12). Path to be freed by the caller; NULL when there is none.
 */
char *kernel_find(void);

/* The same where the folder boot takes the place of /boot. */
char *kernel_find_in(const char *boot);

#endif
