// SPDX-License-Identifier: GPL-2.0-or-later
/* command-lines.c - see command-lines.h */
#include "tracer/lib/command-lines.h"

#include <errno.h>
#include <string.h>

#define LINE_MAX 4096

ssize_t command_lines_run(const char *text, size_t len, int (*run)(void *arg, char *line),
			  void *arg)
{
	char line[LINE_MAX];

	for (size_t done = 0; done < len;) {
		const char *end = memchr(text + done, '\n', len - done);
		size_t n = end ? (size_t)(end - text) - done : len - done;
		int ret;

		if (n >= LINE_MAX - 1)
			return -EINVAL;
		memcpy(line, text + done, n);
		line[n] = '\0';
		line[strcspn(line, "#")] = '\0';
		ret = run(arg, line);
		if (ret)
			return ret;
		done += n + (end != NULL);
	}
	return (ssize_t)len;
}
