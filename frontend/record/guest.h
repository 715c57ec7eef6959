/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest.h - a guest's trace as a source. */
#ifndef HVTRACE_FRONTEND_RECORD_GUEST_H
#define HVTRACE_FRONTEND_RECORD_GUEST_H

#include "frontend/record/record.h"
#include "frontend/record/source.h"

/* v: until it is let go; t: until it is freed. 0 or -ENOMEM. */
int guest_source(struct record_source *source, struct trace *t, struct view *v,
		 const struct record_guest *guest);

#endif
