// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - see output.h */
#include "frontend/lib/output.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "frontend/lib/exit.h"

/* 0 or -errno. */
static int write_file(const struct text *text, const char *path)
{
	FILE *f = path ? fopen(path, "we") : stdout;
	int rc = 0;

	if (!f)
		return -errno;
	errno = 0;
	if (fwrite(text->buf, 1, text->len, f) != text->len || fflush(f))
		rc = errno ? -errno : -EIO;
	if (path && fclose(f) && !rc)
		rc = -errno;
	return rc;
}

int output_write(struct text *text, const char *path)
{
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = text->failed ? -ENOMEM : write_file(text, path);
	text_free(text);
	if (!rc || rc == -EPIPE)
		return EXIT_OK;
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", path ? path : "to standard output",
		strerror(-rc));
	return EXIT_FAILED;
}
