// SPDX-License-Identifier: GPL-2.0-or-later
/* keeper.c - the tracer's side of the keeper. Its own: keeper-process.c. */
#include "vmm/qemu/keeper-local.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int keeper_fork(struct keeper *k, int sock, bool run_on)
{
	pid_t tracer = getpid();
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	k->pid = fork();
	error = errno;
	if (k->pid == 0) {
		close(ends[1]);
		keeper_main(sock, ends[0], run_on, tracer, k->share);
	}
	close(ends[0]);
	if (k->pid < 0) {
		k->pid = 0;
		close(ends[1]);
		return -error;
	}
	k->alive = ends[1];
	return 0;
}

int keeper_start(struct keeper *k, int sock, bool run_on)
{
	int rc;

	atomic_store(&k->let_go, false);
	/* Takes no more memory than is used of it. */
	k->share = mmap(NULL, sizeof(*k->share), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k->share == MAP_FAILED)
		return -errno;
	rc = keeper_fork(k, sock, run_on);
	if (rc)
		munmap(k->share, sizeof(*k->share));
	return rc;
}

/* The first character comes last and goes first: so there is all of a text, or none. */
static int share_text(char *to, size_t size, const char *packets)
{
	size_t len = packets ? strlen(packets) : 0;

	if (len >= size)
		return -EMSGSIZE;
	to[0] = '\0';
	atomic_signal_fence(memory_order_seq_cst);
	if (!len)
		return 0;
	memcpy(to + 1, packets + 1, len);
	atomic_signal_fence(memory_order_seq_cst);
	to[0] = packets[0];
	return 0;
}

int keeper_first(const struct keeper *k, const char *packets)
{
	return k->pid ? share_text(k->share->first, KEEPER_FIRST_MAX, packets) : 0;
}

int keeper_pinned(const struct keeper *k, const char *packet)
{
	return k->pid ? share_text(k->share->pin, KEEPER_PIN_MAX, packet) : 0;
}

static int keeper_give(struct keeper *k, char what, int fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.space = {0}};
	struct iovec from = {.iov_base = &what, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &from,
			     .msg_iovlen = 1,
			     .msg_control = control.space,
			     .msg_controllen = sizeof(control.space)};
	struct cmsghdr *part = CMSG_FIRSTHDR(&msg);

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	return sendmsg(k->alive, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int keeper_memory(struct keeper *k, int mem)
{
	return k->pid ? keeper_give(k, MEMORY, mem) : 0;
}

int keeper_also(struct keeper *k, const char *packets, int hold)
{
	int rc = k->pid && hold >= 0 ? keeper_give(k, HOLD, hold) : 0;

	return k->pid && !rc ? share_text(k->share->also, KEEPER_ALSO_MAX, packets) : rc;
}

struct keeper_byte *keeper_bytes_begin(struct keeper *k, size_t n)
{
	return k->pid && n <= KEEPER_BYTES_MAX ? k->share->byte[!atomic_load(&k->share->which)]
					       : NULL;
}

void keeper_bytes_end(struct keeper *k, size_t n)
{
	uint32_t which = !atomic_load(&k->share->which);

	k->share->n[which] = n;
	atomic_store(&k->share->which, which);
}

void keeper_word(struct keeper *k, const struct keeper_word *word)
{
	if (!k->pid)
		return;
	atomic_store(&k->share->has_word, false);
	if (!word)
		return;
	k->share->word = *word;
	atomic_store(&k->share->has_word, true);
}

void keeper_stands(const struct keeper *k, bool stands)
{
	if (k->pid)
		atomic_store(&k->share->stands, stands);
}

/* It ends; its status as of waitpid(). */
static int keeper_end(struct keeper *k)
{
	int status = 0;

	close(k->alive);
	while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
		;
	munmap(k->share, sizeof(*k->share));
	k->pid = 0;
	return status;
}

void keeper_release(struct keeper *k)
{
	if (k->pid)
		keeper_end(k);
}

static bool keeper_say(const struct keeper *k, char goodbye)
{
	return send(k->alive, &goodbye, 1, MSG_NOSIGNAL) == 1;
}

void keeper_let_go(struct keeper *k)
{
	if (!k->pid)
		return;
	atomic_store(&k->let_go, true);
	keeper_say(k, GOODBYE_LET_GO);
}

void keeper_stop(struct keeper *k)
{
	if (!k->pid)
		return;
	/* Fails only when the keeper is gone already. */
	if (!atomic_load(&k->let_go) && !keeper_say(k, GOODBYE))
		kill(k->pid, SIGKILL);
	keeper_end(k);
}

int keeper_detach(struct keeper *k, const char *packet)
{
	int status;

	if (!k->pid)
		return -ESRCH;
	snprintf(k->share->detach, sizeof(k->share->detach), "%s", packet);
	if (atomic_load(&k->let_go) || !keeper_say(k, GOODBYE_DETACH)) {
		keeper_end(k);
		return -ESRCH;
	}
	status = keeper_end(k);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ETIMEDOUT;
}
