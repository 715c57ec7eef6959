// SPDX-License-Identifier: GPL-2.0-or-later
/* attach.c - the commands that trace, on another host. */
#include <stdio.h>

#include "frontend/lib/exit.h"
#include "frontend/remote/near.h"
#include "frontend/remote/remote.h"
#include "frontend/remote/request.h"

struct asking {
	const struct session_options *opt;
	const struct attach_target *target;
};

/* Its trace goes to its stdout, and what else it writes to a file that comes here. */
static void ask(void *arg, const char *far, struct request *r)
{
	const struct asking *a = arg;
	struct session_options session = *a->opt;
	struct attach_target there = *a->target;
	const struct option_row rows[] = {
		ATTACH_OPTION_ROWS(&there),
		OPT_TIME(0, "for", &session.limit_ms, "TIME", ""),
		OPT_FLAG(0, "recover", &there.recover, ""),
		SESSION_OPTION_ROWS(&session),
		OPT_END,
	};

	there.connect = far;
	session.output = "-";
	session.summary = a->opt->summary ? request_file(r) : NULL;
	request_add(r, session_options_record(a->opt) && !there.recover ? "record" : "attach");
	request_add_options(r, rows);
	/* Whatever it is called. */
	request_add(r, "--");
	request_add(r, there.name);
}

/* What the host's own kernel does is recorded there, to a file beside that of the guest. */
static bool fits(const struct session_options *opt)
{
	if (!opt->host_events.nr || !session_options_record(opt))
		return true;
	fprintf(stderr,
		"hvtrace: --host-events: they are recorded to a file of their own, which does not come "
		"from another host: trace without -o FILE.dat, or there\n");
	return false;
}

int remote_attach(const struct session_options *opt, const struct attach_target *target)
{
	struct asking a = {opt, target};
	const struct near_work work = {
		.connect = target->connect,
		.out = {.output = target->recover ? "-" : opt->output,
			.record = session_options_record(opt) && !target->recover,
			.unheard = opt->unheard,
			.no_sandbox = opt->no_sandbox,
			.paint = PAINT_TRACE,
			.summary = opt->summary},
		.ask = ask,
		.arg = &a,
	};

	return fits(opt) ? near_do(&work) : EXIT_USAGE;
}
