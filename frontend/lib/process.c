// SPDX-License-Identifier: GPL-2.0-or-later
/* process.c - see process.h */
#include "frontend/lib/process.h"

#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is asked of this process is for that one. */
static int wait_for(pid_t child, const sigset_t *signals)
{
	int status, signo;

	while (!waitpid(child, &status, WNOHANG)) {
		signo = sigwaitinfo(signals, NULL);
		if (signo == SIGINT || signo == SIGTERM)
			kill(child, signo);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CANCEL_STATUS(WTERMSIG(status));
}

int process_run(int (*run)(void *arg), void *arg)
{
	sigset_t signals, before;
	pid_t child;
	int status = EXIT_FAILED;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(NULL);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, &before, NULL);
		status = run(arg);
		fflush(NULL);
		_exit(status);
	}
	if (child > 0)
		status = wait_for(child, &signals);
	else
		fprintf(stderr, "hvtrace: cannot start a process: %s\n", strerror(errno));
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}
