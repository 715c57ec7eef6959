/* SPDX-License-Identifier: GPL-2.0-or-later */
/* on-terminal.h - what a program says to a terminal, or to a pipe. Behind cmocka.h. */
#ifndef HVTRACE_TESTS_UNIT_ON_TERMINAL_H
#define HVTRACE_TESTS_UNIT_ON_TERMINAL_H

#include <errno.h>
#include <pty.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* In a child, where it gives 0, fd is one of the two; its other end is *end. */
static pid_t on_terminal_fork(bool terminal, int fd, int *end)
{
	struct termios raw = {0};
	int ends[2];
	pid_t pid;

	cfmakeraw(&raw);
	assert_return_code(terminal ? openpty(&ends[0], &ends[1], NULL, &raw, NULL) : pipe(ends),
			   errno);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		dup2(ends[1], fd);
	close(ends[1]);
	*end = ends[0];
	return pid;
}

/* All that the child says until it ends, which it does well. */
static void on_terminal_read(pid_t pid, int end, char *said, size_t size)
{
	size_t len = 0;
	int status;
	ssize_t n;

	while (len < size - 1 && (n = read(end, said + len, size - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(end);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#endif
