// SPDX-License-Identifier: GPL-2.0-or-later
/* run.c - runs one command, passes on what it writes, and says how it ended. */
#include "frontend/exec/guest/guest.h"

#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <asm/signal.h>
#include <linux/wait.h>

#define SIGSET_LEN 8
#define EAGAIN	   11

static const char *const command_env[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root",
	"USER=root",
	"LOGNAME=root",
	"SHELL=/bin/sh",
	"TERM=dumb",
	NULL,
};

struct job {
	long pid;
	int go;	      /* a pipe that it waits at */
	int out, err; /* what it writes; -1: it has closed that */
	int ended;    /* a signalfd(2): it may have ended */
};

void use_files(int in, int out, int err)
{
	sys(__NR_dup2, in, 0);
	sys(__NR_dup2, out, 1);
	sys(__NR_dup2, err, 2);
}

static uint64_t sigchld(void)
{
	return (uint64_t)1 << (SIGCHLD - 1);
}

/* --- the task -------------------------------------------------------------------------------- */

/* It is traced from when it is told to go on. */
__attribute__((noreturn)) static void job_child(const struct guest *g, const char *command, int go,
						int out, int err)
{
	static const char none[] = "hvtrace-exec: the guest has no /bin/sh\n";
	const char *const argv[] = {"sh", "-c", command, NULL};
	uint64_t blocked = sigchld();
	char byte;

	use_files(g->null, out, err);
	sys(__NR_setsid);
	sys(__NR_rt_sigprocmask, SIG_UNBLOCK, &blocked, 0, SIGSET_LEN);
	/* Its first records, of before the exec, are of what the user has asked for. */
	sys(__NR_prctl, PR_SET_NAME, argv[0]);
	if (read_all(go, &byte, 1)) {
		sys(__NR_execve, "/bin/sh", argv, command_env);
		write_all(2, none, sizeof(none) - 1);
	}
	sys(__NR_exit_group, 127);
	__builtin_unreachable();
}

static bool job_start(struct job *j, const struct guest *g, const char *command)
{
	uint64_t wanted = sigchld();
	int go[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};

	sys(__NR_rt_sigprocmask, SIG_BLOCK, &wanted, 0, SIGSET_LEN);
	j->ended = (int)sys(__NR_signalfd4, -1, &wanted, SIGSET_LEN, O_CLOEXEC);
	if (j->ended < 0 || sys(__NR_pipe2, go, O_CLOEXEC) || sys(__NR_pipe2, out, O_CLOEXEC) ||
	    sys(__NR_pipe2, err, O_CLOEXEC))
		return false;
	j->pid = sys(__NR_fork);
	if (!j->pid)
		job_child(g, command, go[0], out[1], err[1]);
	sys(__NR_close, go[0]);
	sys(__NR_close, out[1]);
	sys(__NR_close, err[1]);
	j->go = go[1];
	j->out = out[0];
	j->err = err[0];
	return j->pid > 0;
}

/* --- what it writes -------------------------------------------------------------------------- */

/* How many bytes. */
static long pass_on(const struct guest *g, int *fd, char what)
{
	char text[PORT_DATA_MAX];
	long n = sys(__NR_read, *fd, text, sizeof(text));

	if (n > 0) {
		port_send(g->port, what, text, (size_t)n);
	} else if (n != -EAGAIN) {
		sys(__NR_close, *fd);
		*fd = -1;
	}
	return n > 0 ? n : 0;
}

/* What it has in it by now: others may have it open still, and have more to say for ever. */
static void pass_on_rest(const struct guest *g, int *fd, char what)
{
	int rest = 0;
	long n = *fd >= 0 && !sys(__NR_ioctl, *fd, FIONREAD, &rest);

	while (n && rest > 0) {
		n = pass_on(g, fd, what);
		rest -= (int)n;
	}
}

/* Any child's end wakes it: those that nobody waits for any more are PID 1's. */
static bool has_ended(struct job *j, uint32_t *status)
{
	char info[128]; /* struct signalfd_siginfo */

	sys(__NR_read, j->ended, info, sizeof(info));
	return sys(__NR_wait4, j->pid, status, WNOHANG, 0) == j->pid;
}

static uint32_t job_watch(struct job *j, const struct guest *g)
{
	uint32_t status = 0;

	for (;;) {
		struct pollfd p[] = {
			{j->ended, POLLIN, 0}, {j->out, POLLIN, 0}, {j->err, POLLIN, 0}};

		if (sys(__NR_poll, p, 3, -1) <= 0)
			continue;
		if (p[1].revents)
			pass_on(g, &j->out, EXEC_OUT);
		if (p[2].revents)
			pass_on(g, &j->err, EXEC_ERR);
		if (p[0].revents && has_ended(j, &status))
			break;
	}
	pass_on_rest(g, &j->out, EXEC_OUT);
	pass_on_rest(g, &j->err, EXEC_ERR);
	return status;
}

static void send_number(const struct guest *g, char what, uint32_t number)
{
	const char bytes[] = {(char)number, (char)(number >> 8), (char)(number >> 16),
			      (char)(number >> 24)};

	port_send(g->port, what, bytes, sizeof(bytes));
}

void run_command(const struct guest *g)
{
	static char command[EXEC_DATA_MAX + 1]; /* a byte of flags before it */
	struct job j = {.out = -1, .err = -1};
	long len = port_receive(g->port, EXEC_COMMAND, command, EXEC_DATA_MAX);
	uint32_t status;
	char none;

	if (len < 1)
		return;
	command[len] = '\0';
	if (!job_start(&j, g, command + 1)) {
		port_fail(g->port, "it cannot start a process", "", j.pid);
		return;
	}
	send_number(g, EXEC_PID, (uint32_t)j.pid);
	if (port_receive(g->port, EXEC_GO, &none, 0) < 0)
		return;
	write_all(j.go, "", 1);
	status = job_watch(&j, g);
	if (command[0] & EXEC_FLAG_SYNC)
		sys(__NR_sync);
	send_number(g, EXEC_END, status);
}
