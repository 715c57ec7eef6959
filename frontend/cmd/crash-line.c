// SPDX-License-Identifier: GPL-2.0-or-later
/* crash-line.c - see crash-line.h */
#include "frontend/cmd/crash-line.h"

#include "frontend/lib/exit.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN 1
#else
#define HAS_OWN 0
#endif

/* Of the process, as signals are. */
static char last_line[512];

static void say(int signo)
{
	(void)signo;
	if (write(STDERR_FILENO, last_line, strlen(last_line)) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

void crash_line_set(const char *line)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	static char stack[64 << 10];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = say, .sa_flags = SA_ONSTACK};

	snprintf(last_line, sizeof(last_line), "%s", line);
	if (HAS_OWN || sigaltstack(&other, NULL))
		return;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}
