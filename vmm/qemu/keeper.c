// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * keeper.c - a small process that lets the guest run on when the tracer is killed.
 *
 * What follows fork() makes system calls only: other threads of the tracer may have held any lock.
 */
#include "vmm/qemu/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * How long the stub gets for an answer, for what it may say behind that, for all that a dead
 * tracer's guest needs, and for the last, ms.
 */
enum {
	STUB_MS = 2000,
	QUIET_MS = 200,
	TALK_MS = 2 * STUB_MS,
	RELEASE_MS = 2 * TALK_MS,
	GOODBYE_MS = 20000
};

/* What the tracer says in the end, or nothing; and before, with a descriptor. */
enum { MEMORY = 'm', GOODBYE = 'g', GOODBYE_DETACH = 'd', GOODBYE_LET_GO = 'l' };

struct keeper_shared {
	char first[KEEPER_FIRST_MAX];
	char detach[KEEPER_DETACH_MAX];
	struct keeper_word word;
	atomic_bool has_word;
	/* One list is gone by while the other one is written. */
	_Atomic uint32_t which;
	size_t n[2];
	struct keeper_byte byte[2][KEEPER_BYTES_MAX];
};

/* --- in the keeper ------------------------------------------------------------------------------
 */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* As much of it as the stub takes until `end`, and without waiting when that is over. */
static void stub_send(int sock, const char *bytes, int64_t end)
{
	const int64_t own_end = now_ms() + STUB_MS;
	size_t len = strlen(bytes);

	if (own_end < end)
		end = own_end;
	while (len) {
		struct pollfd fd = {.fd = sock, .events = POLLOUT};
		ssize_t n = send(sock, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		int64_t left = end - now_ms();

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			return;
		} else if (left <= 0 || poll(&fd, 1, (int)left) <= 0) {
			return;
		}
	}
}

/*
 * Read away what the stub says: until it has said something, and then is quiet. For one that never
 * is the guest does not wait.
 */
static void stub_hear(int sock, int64_t end)
{
	struct pollfd fd = {.fd = sock, .events = POLLIN};
	const int64_t own_end = now_ms() + TALK_MS;
	char buf[512];

	if (own_end < end)
		end = own_end;
	for (int ms = STUB_MS; now_ms() < end && poll(&fd, 1, ms) > 0; ms = QUIET_MS) {
		ssize_t n = read(sock, buf, sizeof(buf));

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
	}
}

/* The guest may wait for the tracer already. What lies there may be something else by now. */
static void word_write(const struct keeper_shared *share, int mem)
{
	const struct keeper_word *w = &share->word;
	ssize_t done;
	uint64_t now;

	if (mem < 0 || !atomic_load(&share->has_word))
		return;
	done = pread(mem, &now, sizeof(now), (off_t)w->hva);
	if (done == sizeof(now) && now == w->was)
		done = pwrite(mem, &w->is, sizeof(w->is), (off_t)w->hva);
	(void)done; /* QEMU may have gone as well */
}

/* The guest stands. A byte that is no int3 any more is the guest's own. */
static void bytes_write_back(const struct keeper_shared *share, int mem)
{
	uint32_t which = atomic_load(&share->which);
	uint8_t now;

	if (mem < 0)
		return;
	for (size_t i = 0; i < share->n[which]; i++) {
		const struct keeper_byte *b = &share->byte[which][i];

		if (pread(mem, &now, 1, (off_t)b->hva) == 1 && now == QEMU_INT3 &&
		    pwrite(mem, &b->byte, 1, (off_t)b->hva) != 1)
			break; /* QEMU is gone */
	}
}

/*
 * Stop the guest if it runs; end a packet that the tracer may have died in the middle of; let the
 * next client's addresses be virtual ones again; undo what is to be undone; have all breakpoints
 * removed ("?" does that in QEMU, handle_target_halt() of gdbstub.c), and detach. The guest has
 * stopped once the stub takes the byte behind the first, so what follows need not wait for an
 * answer that only a guest gives which was running. Bytes are written when the stub is quiet: a
 * breakpoint that the tracer has sent last would come behind them else.
 */
static void guest_release(int sock, bool run_on, const struct keeper_shared *share, int mem)
{
	const int64_t end = now_ms() + RELEASE_MS;

	word_write(share, mem);
	stub_send(sock, "\x03#00$Qqemu.PhyMemMode:0#76", end);
	stub_send(sock, share->first, end);
	if (share->n[atomic_load(&share->which)]) {
		stub_hear(sock, end);
		bytes_write_back(share, mem);
	}
	stub_send(sock, "$?#3f", end);
	stub_hear(sock, end);
	if (!run_on)
		return;
	/* Nothing behind it: the first byte that a stub gets while the guest runs stops the guest.
	 */
	stub_send(sock, "$D;1#b0", end);
	stub_hear(sock, end);
}

/* 0: the stub has said OK to the last thing that it will hear, whatever it says before that. */
static int stub_detach(int sock, const char *packet)
{
	static const char ok[] = "$OK#9a";
	int64_t end = now_ms() + GOODBYE_MS, left;
	struct pollfd fd = {.fd = sock, .events = POLLIN};
	size_t same = 0;
	char c;

	stub_send(sock, packet, end);
	while ((left = end - now_ms()) > 0) {
		int ready = poll(&fd, 1, (int)left);
		ssize_t n = ready > 0 ? read(sock, &c, 1) : -1;

		if (ready == 0)
			break;
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		if (n == 1)
			same = c == ok[same] ? same + 1 : c == ok[0];
		if (same == sizeof(ok) - 1)
			return 0;
	}
	return 1;
}

static void keeper_close_others(int sock, int alive)
{
	int low = sock < alive ? sock : alive, high = sock < alive ? alive : sock;

	/* 0 to 2 too: whoever reads the tracer's output waits for its end. */
	if (low)
		close_range(0, (unsigned int)low - 1, 0);
	if (high > low + 1)
		close_range((unsigned int)low + 1, (unsigned int)high - 1, 0);
	close_range((unsigned int)high + 1, ~0U, 0);
}

/* What the tracer says next: a character, 0: it is gone, and a descriptor that comes with it. */
static char tracer_hear(int alive, int *mem)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char c = 0;
	struct iovec to = {.iov_base = &c, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &to,
			     .msg_iovlen = 1,
			     .msg_control = control.space,
			     .msg_controllen = sizeof(control.space)};
	struct cmsghdr *part;
	ssize_t n;

	do
		n = recvmsg(alive, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	part = n == 1 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
		memcpy(mem, CMSG_DATA(part), sizeof(*mem));
	return n == 1 ? c : 0;
}

_Noreturn static void keeper_main(int sock, int alive, bool run_on,
				  const struct keeper_shared *share)
{
	char goodbye;
	int mem = -1;
	sigset_t all;

	/* What ends the tracer's process group must not end this one. */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	keeper_close_others(sock, alive);
	do
		goodbye = tracer_hear(alive, &mem);
	while (goodbye == MEMORY);
	if (!goodbye || goodbye == GOODBYE_LET_GO)
		guest_release(sock, run_on, share, mem);
	_exit(goodbye == GOODBYE_DETACH ? stub_detach(sock, share->detach) : 0);
}

/* --- in the tracer ------------------------------------------------------------------------------
 */

static int keeper_fork(struct keeper *k, int sock, bool run_on)
{
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	k->pid = fork();
	error = errno;
	if (k->pid == 0) {
		close(ends[1]);
		keeper_main(sock, ends[0], run_on, k->share);
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
int keeper_first(const struct keeper *k, const char *packets)
{
	size_t len = packets ? strlen(packets) : 0;

	if (!k->pid)
		return 0;
	if (len >= KEEPER_FIRST_MAX)
		return -EMSGSIZE;
	k->share->first[0] = '\0';
	atomic_signal_fence(memory_order_seq_cst);
	if (!len)
		return 0;
	memcpy(k->share->first + 1, packets + 1, len);
	atomic_signal_fence(memory_order_seq_cst);
	k->share->first[0] = packets[0];
	return 0;
}

int keeper_memory(struct keeper *k, int mem)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.space = {0}};
	char c = MEMORY;
	struct iovec from = {.iov_base = &c, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &from,
			     .msg_iovlen = 1,
			     .msg_control = control.space,
			     .msg_controllen = sizeof(control.space)};
	struct cmsghdr *part = CMSG_FIRSTHDR(&msg);

	if (!k->pid)
		return 0;
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(mem));
	memcpy(CMSG_DATA(part), &mem, sizeof(mem));
	return sendmsg(k->alive, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
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
