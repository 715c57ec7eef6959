/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.h - other programs of the host's, run to their end. A door, as thread.h is. */
#ifndef HVTRACE_VMM_PROGRAM_H
#define HVTRACE_VMM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#define PROGRAM_MAX_WORDS 64

struct program {
	/* argv[0] is looked for in PATH; NULL behind the last, of PROGRAM_MAX_WORDS at most */
	const char *const *argv;
	unsigned int ms; /* it is ended when it takes longer */
	/* Asked now and then: true ends it. NULL: never */
	bool (*cancelled)(void *arg);
	void *arg;
	/* What it prints on stdout, with an end behind it: what is more is thrown away. NULL: all
	 * of it is. */
	char *out;
	size_t room;
};

/*
 * Run it: with nothing to read, none of our descriptors but these, and signals as a shell would
 * give it. It ends, with what it has started and has not put into another process group, when
 * this is back, and itself when the calling thread ends, however that may be.
 *
 * 0: it has ended with status 0. -ENOENT: there is no such program; -ECANCELED, -ETIMEDOUT: it was
 * ended; -EIO: it has failed; or another -errno: it was not started. err says why in one line,
 * which for -EIO is what it has printed on stderr, the end of it if that is long.
 */
int program_run(const struct program *p, char *err, size_t errlen);

#endif
