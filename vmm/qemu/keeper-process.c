// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * keeper-process.c - a small process that lets the guest run on when the tracer is killed.
 *
 * What follows fork() makes system calls only: other threads of the tracer may have held any lock.
 * And it believes nothing: the tracer may have been taken over.
 */
#include "vmm/qemu/keeper-local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
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

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* As much of it as the stub takes until `end`, and without waiting when that is over. */
static void stub_send_some(int sock, const char *bytes, size_t len, int64_t end)
{
	const int64_t own_end = now_ms() + STUB_MS;

	if (own_end < end)
		end = own_end;
	while (len) {
		struct pollfd fd = {.fd = sock, .events = POLLOUT};
		ssize_t n = send(sock, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		int64_t left = end - now_ms();

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if ((errno != EINTR && errno != EAGAIN) || left <= 0 ||
			   poll(&fd, 1, (int)left) <= 0) {
			return;
		}
	}
}

static void stub_send(int sock, const char *text, int64_t end)
{
	stub_send_some(sock, text, strlen(text), end);
}

/* A text of the tracer's, which may lack its end. */
static void stub_send_shared(int sock, const char *text, size_t size, int64_t end)
{
	stub_send_some(sock, text, strnlen(text, size), end);
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

/* The list that holds, and how long it is: no more than there is room for. */
static size_t bytes_now(const struct keeper_shared *share, const struct keeper_byte **list)
{
	uint32_t which = atomic_load(&share->which) & 1;
	size_t n = *(const volatile size_t *)&share->n[which];

	*list = share->byte[which];
	return n < KEEPER_BYTES_MAX ? n : KEEPER_BYTES_MAX;
}

/* The guest stands. A byte that is no int3 any more is the guest's own. */
static void bytes_write_back(const struct keeper_shared *share, int mem)
{
	const struct keeper_byte *list;
	size_t n = bytes_now(share, &list);
	uint8_t now;

	if (mem < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct keeper_byte *b = &list[i];

		if (pread(mem, &now, 1, (off_t)b->hva) == 1 && now == QEMU_INT3 &&
		    pwrite(mem, &b->byte, 1, (off_t)b->hva) != 1)
			break; /* QEMU is gone */
	}
}

/*
 * Stop the guest if it runs; end a packet that the tracer may have died in the middle of; let the
 * next client's addresses be virtual ones again; undo what is to be undone; have all breakpoints
 * removed ("?" does that in QEMU, handle_target_halt() of gdbstub.c), have it free to go elsewhere,
 * and detach. The guest has stopped once the stub takes the byte behind the first, so what follows
 * need not wait for an answer that only a guest gives which was running. Bytes are written when the
 * stub is quiet: a breakpoint that the tracer has sent last would come behind them else.
 */
static void guest_release(int sock, bool run_on, const struct keeper_shared *share, int mem)
{
	const int64_t end = now_ms() + RELEASE_MS;
	const struct keeper_byte *list;

	word_write(share, mem);
	stub_send(sock, "\x03#00$Qqemu.PhyMemMode:0#76", end);
	stub_send_shared(sock, share->first, sizeof(share->first), end);
	stub_send_shared(sock, share->also, sizeof(share->also), end);
	if (bytes_now(share, &list)) {
		stub_hear(sock, end);
		bytes_write_back(share, mem);
	}
	stub_send(sock, "$?#3f", end);
	stub_send_shared(sock, share->pin, sizeof(share->pin), end);
	stub_hear(sock, end);
	if (!run_on)
		return;
	/* Nothing behind it: the first byte that a stub gets while the guest runs stops the guest.
	 */
	stub_send(sock, "$D;1#b0", end);
	stub_hear(sock, end);
}

/* 0: the stub has said OK to the last thing that it will hear, whatever it says before that. */
static int stub_detach(int sock, const struct keeper_shared *share)
{
	static const char ok[] = "$OK#9a";
	int64_t end = now_ms() + GOODBYE_MS, left;
	struct pollfd fd = {.fd = sock, .events = POLLIN};
	size_t same = 0;
	char c;

	stub_send_shared(sock, share->detach, sizeof(share->detach), end);
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

/* Descriptors that come from the tracer, or -1. */
struct given {
	int mem, held;
};

/* It takes the place of the one before. */
static void take_descriptor(const struct cmsghdr *part, int *fd)
{
	if (*fd >= 0)
		close(*fd);
	memcpy(fd, CMSG_DATA(part), sizeof(*fd));
}

/* What the tracer says next: a character, 0: it is gone, and a descriptor that comes with it. */
static char tracer_hear(int alive, struct given *given)
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
		take_descriptor(part, c == HOLD ? &given->held : &given->mem);
	return n == 1 ? c : 0;
}

/* --- a tracer that is stopped -------------------------------------------------------------------
 */

#define STAT_MAX 512

/* Two looks at it: what proc(5) has of it, its processor time too. */
struct looks {
	int tracer; /* a pidfd, or -1: nobody is looked at */
	int stat;
	char last[STAT_MAX];
	bool stopped; /* at the last one */
};

/* At the beginning, where the parent is the tracer or is dead. */
static void looks_begin(struct looks *l, pid_t tracer)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tracer);
	l->stat = open(path, O_RDONLY | O_CLOEXEC);
	l->tracer = l->stat < 0 ? -1 : pidfd_open(tracer, 0);
	l->stopped = false;
	if (getppid() != tracer)
		l->tracer = -1;
}

/* Since the last look it has been stopped (by job control, not by a debugger), and done nothing. */
static bool was_stopped(struct looks *l)
{
	char now[STAT_MAX] = "";
	ssize_t n = pread(l->stat, now, sizeof(now) - 1, 0);
	const char *state = n > 0 ? strrchr(now, ')') : NULL;
	bool before = l->stopped;

	l->stopped = state && !strncmp(state, ") T ", 4);
	before = before && l->stopped && !strcmp(now, l->last);
	memcpy(l->last, now, sizeof(now));
	return before;
}

/* The guest waits for it: in the middle of what it does, or at a trap that it has not heard of. */
static bool guest_waits(int sock, const struct keeper_shared *share)
{
	struct pollfd said = {.fd = sock, .events = POLLIN};

	return atomic_load(&share->stands) || poll(&said, 1, 0) > 0;
}

/* tracer_hear(), and meanwhile see to it that a stopped one does not hold the guest. */
static char tracer_await(struct looks *l, int alive, int sock, const struct keeper_shared *share,
			 struct given *given)
{
	struct pollfd fd = {.fd = alive, .events = POLLIN};

	while (l->tracer >= 0 && poll(&fd, 1, KEEPER_LOOK_MS) <= 0) {
		if (was_stopped(l) && guest_waits(sock, share) &&
		    pidfd_send_signal(l->tracer, SIGKILL, NULL, 0))
			break;
	}
	return tracer_hear(alive, given);
}

_Noreturn void keeper_main(int sock, int alive, bool run_on, pid_t tracer,
			   const struct keeper_shared *share)
{
	struct looks looks = {.tracer = -1};
	struct given given = {-1, -1};
	char goodbye;
	sigset_t all;

	/* What ends the tracer's process group must not end this one. */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	keeper_close_others(sock, alive);
	if (run_on)
		looks_begin(&looks, tracer);
	do
		goodbye = tracer_await(&looks, alive, sock, share, &given);
	while (goodbye == MEMORY || goodbye == HOLD);
	if (!goodbye || goodbye == GOODBYE_LET_GO)
		guest_release(sock, run_on, share, given.mem);
	_exit(goodbye == GOODBYE_DETACH ? stub_detach(sock, share) : 0);
}
