/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traceable.h - names of all that can be traced of a kernel besides its events. */
#ifndef HVTRACE_FRONTEND_CMD_TRACEABLE_H
#define HVTRACE_FRONTEND_CMD_TRACEABLE_H

#include <stddef.h>

#include "guestsym/guestsym.h"

struct traceable {
	char *text; /* the names of functions, each with a '\0' behind it */
	size_t len, nr;
};

/* The functions that stay after boot, in the order of their addresses. 0 or -ENOMEM. */
int traceable_read(struct traceable *to, const struct guestsym *gs);
void traceable_free(struct traceable *t);

#endif
