// SPDX-License-Identifier: GPL-2.0-or-later
/* glob.c - the globs of set_ftrace_filter: *, ?, [a-z], [!a-z] and \ (lib/glob.c, Linux 6.1). */
#include "tracer/internal.h"

#include <fnmatch.h>

bool glob_list_match(const char *const *globs, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!fnmatch(globs[i], name, 0))
			return true;
	return false;
}
