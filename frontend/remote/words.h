/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words.h - the command that traces on the other host what is asked for here. */
#ifndef HVTRACE_FRONTEND_REMOTE_WORDS_H
#define HVTRACE_FRONTEND_REMOTE_WORDS_H

#include "frontend/remote/request.h"
#include "frontend/session/attach.h"

/*
 * Into a request that is all zero. connect: the URI of the libvirt there. Its trace goes to its
 * stdout, its summary, if there is one, to the first of the files.
 */
void remote_words(const struct session_options *opt, const struct attach_target *target,
		  const char *connect, struct request *r);

#endif
