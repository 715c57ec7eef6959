/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-stub.h - a gdb stub that keeps to a script, in a thread of its own at the other end of a
 * socket pair. Included by one test program.
 */
#ifndef HVTRACE_TESTS_FAKE_STUB_H
#define HVTRACE_TESTS_FAKE_STUB_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * One step: wait for a packet with this text (NULL: for none; "\3": for an interrupt), then send
 * `say` as a packet or `raw` as it stands; both may be NULL. The script ends with END_OF_SCRIPT,
 * and then the stub hangs up.
 */
struct stub_step {
	const char *want;
	const char *say;
	const char *raw;
};

#define END_OF_SCRIPT                                                                              \
	{                                                                                          \
		NULL, NULL, NULL                                                                   \
	}

struct stub {
	int fd;	       /* the stub's end */
	int client;    /* the end to test with */
	bool no_ack;   /* neither sends nor awaits + */
	bool split;    /* sends byte by byte */
	bool in_order; /* every packet was the one that the script had */
	const struct stub_step *script;
	char got[65536]; /* the packet received last */
	pthread_t thread;
};

/* --- what a gdb stub says about x86-64 vCPUs ----------------------------------------------------
 */

/* In QEMU's order and sizes, as far as hvtrace looks at them. */
/* clang-format off */
#define R64(n) "<reg name=\"" n "\" bitsize=\"64\"/>"
#define R32(n) "<reg name='" n "' bitsize='32' type=\"int32\"/>"
#define CORE                                                                                       \
	"<feature><!-- <reg name=\"no\"/> --><reg name=\"rax\" bitsize=\"64\" regnum=\"0\"/>"      \
	R64("rbx") R64("rcx") R64("rdx") R64("rsi") R64("rdi") R64("rbp") R64("rsp") R64("r8")     \
	R64("r9") R64("r10") R64("r11") R64("r12") R64("r13") R64("r14") R64("r15") R64("rip")     \
	R32("eflags") R32("cs") R32("ss")
#define REST                                                                                       \
	R64("fs_base") R64("gs_base") R64("k_gs_base") R64("cr0") R64("cr2") R64("cr3")            \
	R64("cr4") "<reg name=\"st0\" bitsize=\"80\"/>" R64("efer") "</feature>"
/* clang-format on */
#define XML    CORE REST
#define TARGET "<target><xi:include href=\"64.xml\"/></target>"
#define BYTES  (17 * 8 + 3 * 4 + 8 * 8 + 10)

#define SUPPORTED "qSupported:multiprocess+;swbreak+;vContSupported+"
#define READ	  "qXfer:features:read:"

/* How every script begins: what gdb_open() asks. */
#define HELLO                                                                                      \
	{.want = SUPPORTED, .say = "PacketSize=1000;qXfer:features:read+;multiprocess+"},          \
		{.want = "?", .say = "T05thread:p01.01;"},                                         \
		{.want = READ "target.xml:0,800", .say = "l" TARGET},                              \
	{                                                                                          \
		.want = READ "64.xml:0,800", .say = "l" XML                                        \
	}

/* --- the stub -----------------------------------------------------------------------------------
 */

static void stub_send(struct stub *s, const char *bytes, size_t len)
{
	size_t step = s->split ? 1 : len;

	for (size_t at = 0; at < len; at += step) {
		if (send(s->fd, bytes + at, step, MSG_NOSIGNAL) < 0)
			return;
	}
}

static void stub_say(struct stub *s, const char *text)
{
	size_t room = strlen(text) + 8;
	char *packet = malloc(room);
	unsigned char sum = 0;

	for (const char *c = text; *c; c++)
		sum = (unsigned char)(sum + (unsigned char)*c);
	snprintf(packet, room, "$%s#%02x", text, sum);
	stub_send(s, packet, strlen(packet));
	free(packet);
}

/* The next packet or interrupt byte into s->got: false when the client has hung up. */
static bool stub_receive(struct stub *s)
{
	char checksum[2];
	size_t len = 0;
	char c = 0;

	do {
		if (recv(s->fd, &c, 1, 0) != 1)
			return false;
	} while (c != '$' && c != 3);
	while (c != 3 && len < sizeof(s->got) - 1) {
		if (recv(s->fd, &c, 1, 0) != 1)
			return false;
		if (c == '#')
			break;
		s->got[len++] = c;
	}
	if (c == 3)
		s->got[len++] = 3;
	s->got[len] = '\0';
	if (c == 3)
		return true;
	return recv(s->fd, checksum, sizeof(checksum), MSG_WAITALL) == sizeof(checksum);
}

static inline void *stub_thread(void *arg)
{
	struct stub *s = arg;
	const struct stub_step *step = s->script;

	s->in_order = true;
	for (; step->want || step->say || step->raw; step++) {
		if (step->want) {
			if (!stub_receive(s) || strcmp(step->want, s->got)) {
				s->in_order = false;
				fprintf(stderr, "stub: got '%s', not '%s'\n", s->got, step->want);
				break;
			}
			if (!s->no_ack && s->got[0] != 3)
				stub_send(s, "+", 1);
		}
		if (step->say)
			stub_say(s, step->say);
		if (step->raw)
			stub_send(s, step->raw, strlen(step->raw));
	}
	shutdown(s->fd, SHUT_WR);
	return NULL;
}

static inline void stub_start(struct stub *s, const struct stub_step *script)
{
	int fds[2];

	s->script = script;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		abort();
	s->fd = fds[0];
	s->client = fds[1];
	if (pthread_create(&s->thread, NULL, stub_thread, s))
		abort();
}

/* When the client is done: was all as the script had it? */
static inline bool stub_end(struct stub *s)
{
	pthread_join(s->thread, NULL);
	close(s->fd);
	return s->in_order;
}

#endif
