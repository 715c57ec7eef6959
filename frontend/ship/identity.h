/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identity.h - what tells the records of a file from those of others, the same whenever it is
 * shipped. */
#ifndef HVTRACE_FRONTEND_SHIP_IDENTITY_H
#define HVTRACE_FRONTEND_SHIP_IDENTITY_H

#include "frontend/dat/dat.h"

/*
 * Of the host and the guest that they count as, the file's TRACEID if it has one, how much each
 * vCPU's data are, and what the first page of each says: parts of one recording may have its id.
 */
uint64_t identity_of(struct dat *d, const char *host, const char *guest);

#endif
