/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote.h - a guest that runs on another host, which ssh leads to: what traces it is an hvtrace
 * there, and what comes of it is here.
 */
#ifndef HVTRACE_FRONTEND_REMOTE_REMOTE_H
#define HVTRACE_FRONTEND_REMOTE_REMOTE_H

#include <stdbool.h>

#include "frontend/lib/options.h"
#include "frontend/lib/paint.h"
#include "frontend/session/attach.h"

/* Such a guest is meant: a URI of libvirt, as --connect has it, or NULL. */
bool remote_is(const char *connect);

/*
 * Trace a guest of which remote_is(), or clean up behind another hvtrace, as hvtrace attach and
 * record do: with all there is to say about it on stderr. The exit status.
 */
int remote_attach(const struct session_options *opt, const struct attach_target *target);

/* A command that prints what it has of such a guest. */
struct remote_print {
	const char *command;
	const struct option_row *rows; /* its options, with what they have been told by now */
	/*
	 * Variables of theirs: the URI, where the text goes, a file that it writes as well, and the
	 * summary of a trace; NULL: it has no such option. What is not named here goes there as it
	 * is: so is every option that names a file to be written, which would be one of that host.
	 */
	const char **connect, **output, **file, **summary;
	char *const *operands;
	int nr_operands;
	enum paint paint; /* of the text, for people */
};

/* Have it done where the guest is, and its text and its files come here. The exit status. */
int remote_print(const struct remote_print *print);

/* hvtrace remote: the other end of that, between stdin and stdout. The exit status. */
int remote_serve(int argc);

#endif
