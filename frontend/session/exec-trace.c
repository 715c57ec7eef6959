// SPDX-License-Identifier: GPL-2.0-or-later
/* exec-trace.c - a trace that has recorded nothing yet begins with one task and its children. */
#include "frontend/session/exec.h"
#include "frontend/session/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int set(struct session *s, const char *file, const char *value)
{
	int rc = setting_write(s->view, file, value, false);

	if (!rc || rc == -ENOENT) /* a kernel without trace events has not all of them */
		return 0;
	snprintf(s->err, sizeof(s->err), "%s of %s: %s", value, file, setting_error(rc));
	return -1;
}

/* Before anything is recorded. */
static int take_task(struct session *s, uint32_t pid)
{
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, pid);
	return set(s, "options/function-fork", "1") || set(s, "options/event-fork", "1") ||
			       set(s, "set_ftrace_pid", number) || set(s, "set_event_pid", number)
		       ? -1
		       : 0;
}

static int take_functions(struct session *s)
{
	const struct trace_config which = {
		.filter = s->opt->filter.values,
		.nr_filter = s->opt->filter.nr,
		.notrace = s->opt->notrace.values,
		.nr_notrace = s->opt->notrace.nr,
	};

	return trace_select(s->trace, &which, s->err, sizeof(s->err)) ? -1 : 0;
}

int exec_trace(struct session *s, uint32_t pid)
{
	if (take_task(s, pid) || take_functions(s) ||
	    set(s, "current_tracer", session_options_tracer(s->opt)))
		return -1;
	return session_enable_events(s) || session_write_settings(s) ? -1 : 0;
}
