// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-endless.c - a gdb stub that never ends: what it says first, and what it says again and again
 * behind that, are any bytes. Whatever it is asked comes to an end after so many bytes, by a clock
 * of its own that each look at moves on.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/held.h"
#include "vmm/qemu/gdb/ask.h"

#define MAX_SAID 1024
#define LOOK_MS	 20

/*
 * Of all questions together, by that clock; what is late may take GDB_LATE_MS and an answer
 * GDB_ANSWER_MS, which is 4000 looks. A peer that never pauses is cut off by what it has said long
 * before.
 */
static struct cost looks_at_clock = {"looks at the clock", 500, 0};
/* Some for each look, and what was still on its way. */
static struct cost heard = {"bytes heard", 2 << 20, 0};
static struct cost ask_ms = {"milliseconds of asking", 500, 0};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static _Atomic int64_t looks;

static int64_t look(void)
{
	return atomic_fetch_add(&looks, 1) * LOOK_MS;
}

struct speech {
	int fd;
	size_t first; /* bytes that come once */
	size_t said;
	const uint8_t *data;
	size_t size;
};

static bool say(struct speech *s, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(s->fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
		s->said += (size_t)n;
	}
	return true;
}

/* Until the other side is closed: the rest many times at once, so that it is never waited for. */
static void *speak(void *arg)
{
	static _Thread_local uint8_t many[16384];
	struct speech *s = arg;
	size_t len = s->size - s->first, n = 0;

	for (; n + len <= sizeof(many); n += len)
		memcpy(many + n, s->data + s->first, len);
	if (say(s, s->data, s->first))
		while (say(s, many, n))
			;
	return NULL;
}

static void ask(struct gdb *g)
{
	uint64_t regs[GDB_NR_REGS];
	uint32_t threads[3];
	struct gdb_stop stop;
	uint8_t bytes[100];
	char *text = NULL;

	gdb_threads(g, threads, 3);
	gdb_read_phys(g, 0, bytes, sizeof(bytes));
	if (!gdb_monitor(g, "anything", &text))
		free(text);
	gdb_read_regs(g, 1, regs);
	if (!gdb_continue(g, 1))
		gdb_wait_stop(g, &stop, GDB_ANSWER_MS);
	gdb_detach(g, true);
}

/* The first byte tells how many of the others come once. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct speech s = {.data = data + 1};
	struct gdb *g;
	pthread_t thread;
	int64_t ms;
	int fds[2];

	if (size < 2 || size > MAX_SAID || socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 0;
	s.size = size - 1;
	s.first = data[0] % s.size;
	s.fd = fds[0];
	g = calloc(1, sizeof(*g));
	if (!g || packet_open(&g->conn, fds[1]))
		abort();
	g->conn.now = look;
	g->conn.no_ack = data[0] & 1;
	atomic_store(&looks, 0);
	if (pthread_create(&thread, NULL, speak, &s))
		abort();
	ms = held_cpu_ms();
	ask(g);
	cost_is(&ask_ms, (uint64_t)(held_cpu_ms() - ms));
	gdb_close(g);
	pthread_join(thread, NULL);
	close(fds[0]);
	cost_is(&heard, s.said);
	cost_is(&looks_at_clock, (uint64_t)atomic_load(&looks));
	return 0;
}
