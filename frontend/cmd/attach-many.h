/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attach-many.h - several guests traced at once: a process for each, and one view of all. */
#ifndef HVTRACE_FRONTEND_CMD_ATTACH_MANY_H
#define HVTRACE_FRONTEND_CMD_ATTACH_MANY_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/cmd/guests.h"
#include "frontend/fleet/choose.h"

/* "DIR/", or a directory that is there: the recording of each guest goes there. */
bool attach_output_is_folder(const char *output);
/* Trace them as the options say, whose target.name is not looked at. The exit status. */
int attach_many(const struct attach_options *opt, const struct fleet_name *guests, size_t nr);
/* recover_guest() of each of them. The exit status. */
int recover_many(const struct attach_options *opt, const struct fleet_name *guests, size_t nr);

#endif
