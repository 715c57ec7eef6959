/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - functions of a library that is loaded when it is first needed. */
#ifndef HVTRACE_VMM_CORE_LIBRARY_H
#define HVTRACE_VMM_CORE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Where it is, into *member, a pointer to such a function; false: the library has none of this
 * name. */
static inline bool library_resolve(void *library, const char *name, void *member)
{
	void *function = dlsym(library, name);

	/* A pointer to a function may not be cast from one to data (C11 6.3.2.3), but POSIX has it
	 * so. */
	memcpy(member, &function, sizeof(function));
	return function;
}

#endif
