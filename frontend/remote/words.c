// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - see words.h */
#include "frontend/remote/words.h"

#include "frontend/remote/protocol.h"

static void add(void *arg, const char *word)
{
	request_add(arg, word);
}

void remote_words(const struct session_options *opt, const struct attach_target *target,
		  const char *connect, struct request *r)
{
	struct session_options session = *opt;
	struct attach_target there = *target;
	const struct option_row rows[] = {
		ATTACH_OPTION_ROWS(&there),
		OPT_TIME(0, "for", &session.limit_ms, "TIME", ""),
		OPT_FLAG(0, "recover", &there.recover, ""),
		SESSION_OPTION_ROWS(&session),
		OPT_END,
	};

	there.connect = connect;
	session.output = "-";
	session.summary = opt->summary ? REMOTE_FILE_PATH : NULL;
	r->files = opt->summary ? 1 : 0;
	request_add(r, session_options_record(opt) && !target->recover ? "record" : "attach");
	if (options_words(rows, add, r))
		r->words.failed = true;
	/* Whatever it is called. */
	request_add(r, "--");
	request_add(r, target->name);
}
