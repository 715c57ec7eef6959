// SPDX-License-Identifier: GPL-2.0-or-later
/* tells.c - whether a kernel tells enough of itself to be traced. */
#include "tracer/guest/guest.h"

#include <errno.h>
#include <stdio.h>

/* Where the task of a CPU is found, and in it who it is. */
static bool has_types(const struct guestsym *gs)
{
	struct guestsym_field pid;

	return !guestsym_field(gs, "task_struct.pid", &pid);
}

static bool names_data(const struct guestsym *gs)
{
	return guestsym_lookup(gs, "current_task") || guestsym_lookup(gs, "pcpu_hot");
}

static int refuse(const struct guestsym *gs, const char *lacks, const char *use, char *err,
		  size_t errlen)
{
	const char *release = guestsym_release(gs);

	snprintf(err, errlen, "%s%s %s, so tasks and times would be wrong; %s",
		 *release ? "Linux " : "this kernel", release, lacks, use);
	return -EOPNOTSUPP;
}

int guest_tells(const struct guestsym *gs, char *err, size_t errlen)
{
	bool types = has_types(gs), data = names_data(gs);

	if (types && data)
		return 0;
	if (types)
		return refuse(gs, "names its functions only",
			      "give its vmlinux, or use one built with CONFIG_KALLSYMS_ALL=y", err,
			      errlen);
	if (data)
		return refuse(gs, "has no types (BTF)",
			      "use a kernel built with CONFIG_DEBUG_INFO_BTF=y", err, errlen);
	return refuse(gs, "has no types (BTF) and names its functions only",
		      "use a kernel built with CONFIG_DEBUG_INFO_BTF=y and CONFIG_KALLSYMS_ALL=y",
		      err, errlen);
}
