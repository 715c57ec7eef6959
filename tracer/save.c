// SPDX-License-Identifier: GPL-2.0-or-later
/* save.c - a guest is saved while it is traced. */
#include "tracer/core/lock.h"
#include "tracer/internal.h"
#include "tracer/tracer.h"

/* What is in the guest is all there, or not at all: nobody is patching it. */
int trace_save(struct trace *t, const struct machine_save *save, char *err, size_t errlen)
{
	int ret;

	machine_pause_for(t->m, "saving it");
	change_lock(t);
	ret = machine_save(t->m, save, err, errlen);
	change_unlock(t);
	machine_resume(t->m);
	return ret;
}
