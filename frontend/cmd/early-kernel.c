// SPDX-License-Identifier: GPL-2.0-or-later
/* early-kernel.c - see early-kernel.h */
#include "frontend/cmd/early-kernel.h"
#include "guestsym/guestsym.h"
#include "vmm/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *open_it(void *arg)
{
	struct early_kernel *e = arg;

	e->gs = guestsym_open(e->parsers, e->path, GUESTSYM_FL_LATER, e->err, sizeof(e->err));
	return NULL;
}

void early_kernel_begin(struct early_kernel *e, struct guestsym_parsers *parsers, const char *path)
{
	e->begun = true;
	e->parsers = parsers;
	e->path = strdup(path);
	e->on_thread = e->path && !thread_start(&e->thread, "kernel", NULL, open_it, e);
}

struct guestsym *early_kernel_end(struct early_kernel *e)
{
	if (!e->begun)
		return NULL;
	e->begun = false;
	if (e->on_thread)
		pthread_join(e->thread, NULL);
	else if (e->path)
		open_it(e);
	else
		snprintf(e->err, sizeof(e->err), "no memory");
	free(e->path);
	return e->gs;
}
