/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - functions of a library that is loaded by what needs it, for tables of such. */
#ifndef HVTRACE_FRONTEND_LIB_LIBRARY_H
#define HVTRACE_FRONTEND_LIB_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/*
 * Where it is, into *member, a pointer to such a function; false: the library has none of this
 * name. A pointer to a function may not be cast from one to data (C11 6.3.2.3), but POSIX has it
 * so.
 */
static inline bool library_resolve(void *library, const char *name, void *member)
{
	void *function = dlsym(library, name);

	memcpy(member, &function, sizeof(function));
	return function;
}

#endif
