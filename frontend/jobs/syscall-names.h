/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syscall-names.h - names of system calls. */
#ifndef HVTRACE_FRONTEND_JOBS_SYSCALL_NAMES_H
#define HVTRACE_FRONTEND_JOBS_SYSCALL_NAMES_H

#include <stdint.h>

/*
 * Of x86-64, as the headers of the kernel have it (asm/unistd_64.h) that this was built with. NULL:
 * not known.
 */
const char *syscall_name(uint32_t nr);

#endif
