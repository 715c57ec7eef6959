/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.h - other programs of the host's, run to their end. A door, as thread.h is. */
#ifndef HVTRACE_VMM_PROGRAM_H
#define HVTRACE_VMM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

/*
 * A program that goes on beside us, as a server does for those who connect to `listener`: a socket
 * that listens, which it gets as systemd would give it (sd_listen_fds(3)); of the rest that it gets
 * program_run() says. When the thread that has started it ends, however that may be, it gets
 * SIGTERM.
 */
struct program_server {
	pid_t pid;
	int pidfd; /* readable once it has ended; -1: there is none */
	int says;  /* a file with what it prints on stderr, as far as there is room */
};

/* argv as of struct program. 0 or -errno, where it was not started. */
int program_serve(struct program_server *s, const char *const *argv, int listener);
/*
 * The same, of a server of n connections, which are there before it has begun: fds are their ends
 * for the caller to close. Nobody else can connect. Where it was not started there are none.
 */
int program_serve_connected(struct program_server *s, const char *const *argv, int *fds,
			    unsigned int n);
/* What a server that fails has said, in one line. Waits for its end, for two seconds at most. */
void program_words(struct program_server *s, const char *name, char *err, size_t errlen);
/* Whether it ends by itself within that time. True, too, if there is none. */
bool program_ends(const struct program_server *s, unsigned int ms);
/* Have it end at once, whatever it is about. Whether it has ended program_ends() says. */
void program_kill(const struct program_server *s);
/*
 * It is to end by itself, as nobody is connected any more, and is waited for, so long at most;
 * then it is ended, as far as this process has the right to.
 */
void program_leave(struct program_server *s, unsigned int ms);

#endif
