// SPDX-License-Identifier: GPL-2.0-or-later
/* again.c - see again.h */
#include "frontend/session/again.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/output.h"

bool again_is_wanted(FILE *out, const char *name, int error, const struct cancel *cancel)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = cancel->fd, .events = POLLIN}};
	char line[256];

	if (error == -EPIPE || cancel_asked(cancel) || !isatty(STDIN_FILENO) ||
	    !isatty(STDERR_FILENO) || output_again(out))
		return false;
	fprintf(stderr,
		"hvtrace: cannot write %s: %s: the trace is kept: make room and press Enter to "
		"write it again, or Ctrl-C to give it up\n",
		name, strerror(-error));
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !cancel_asked(cancel) && read(STDIN_FILENO, line, sizeof(line)) > 0;
}
