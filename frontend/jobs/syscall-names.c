// SPDX-License-Identifier: GPL-2.0-or-later
/* syscall-names.c - see syscall-names.h. The rows are made of the header when hvtrace is built. */
#include "frontend/jobs/syscall-names.h"

#include <stddef.h>

static const char *const names[] = {
#include "frontend/jobs/syscall-names.inc"
};

const char *syscall_name(uint32_t nr)
{
	return nr < sizeof(names) / sizeof(*names) ? names[nr] : NULL;
}
