/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.h - what enters the sandbox in a process of its own. Included behind cmocka.h. */
#ifndef HVTRACE_TESTS_SANDBOX_CHILD_H
#define HVTRACE_TESTS_SANDBOX_CHILD_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/sandbox/sandbox.h"

/* In a child nobody hears an assertion. */
#define demand(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			dprintf(STDERR_FILENO, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what,       \
				strerror(errno));                                                  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static inline void enter_with(uint64_t more)
{
	char err[256] = "";

	if (sandbox_enter(more, err, sizeof(err)))
		dprintf(STDERR_FILENO, "%s\n", err);
	demand(!*err);
}

static inline void enter(void)
{
	enter_with(UINT64_MAX);
}

/* Run it in a child, which ends well. */
static inline void in_child(void (*run)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		run(arg);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#endif
