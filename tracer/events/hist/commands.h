/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.h - the table of what a trigger can be, histograms among them. */
#ifndef HVTRACE_TRACER_EVENTS_HIST_COMMANDS_H
#define HVTRACE_TRACER_EVENTS_HIST_COMMANDS_H

#include "tracer/events/trigger/trigger.h"

/* For event_trigger_owner.commands. */
extern const struct event_command *const event_commands[];

/* The variables of an instance's histograms. NULL: no memory. */
struct event_hist_vars *event_hist_vars_new(void);
void event_hist_vars_free(
	struct event_hist_vars *vars); /* with no triggers left; NULL is allowed */
/* There are some: then the records of all vCPUs have to be shown in the order of their time. */
bool event_hist_vars_any(const struct event_hist_vars *vars);

/* The names of histograms, which all instances share. */
struct event_hist_names *event_hist_names_new(void);	    /* NULL: no memory */
void event_hist_names_free(struct event_hist_names *names); /* with no triggers left */

#endif
