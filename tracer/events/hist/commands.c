// SPDX-License-Identifier: GPL-2.0-or-later
/* commands.c - see commands.h */
#include "tracer/events/hist/commands.h"
#include "tracer/events/hist/internal.h"

const struct event_command *const event_commands[] = {
	&event_command_traceon,	     &event_command_traceoff,
	&event_command_snapshot,     &event_command_stacktrace,
	&event_command_enable_event, &event_command_disable_event,
	&event_command_enable_hist,  &event_command_disable_hist,
	&event_command_hist,	     NULL,
};
