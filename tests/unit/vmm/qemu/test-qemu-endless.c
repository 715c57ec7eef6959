// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-endless.c - gdb stubs that never stop talking, or that take all the time they get for
 * each answer: an error that says what they did, after so many bytes, or so many questions by a
 * clock that is no real one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-stub.h"
#include "vmm/qemu/gdb/ask.h"

#define LONG_MS	  60000 /* who comes back for this has not noticed anything */
#define SAID_MAX  (4u << 20)
#define IN_FLIGHT (1u << 20) /* more than the buffers of a socket hold */

/* It says the same again and again, until nobody listens any more. */
struct parrot {
	const char *say;
	size_t step; /* bytes at once */
	int fd;
	size_t said;
	pthread_t thread;
};

static void *parrot_thread(void *arg)
{
	struct parrot *p = arg;
	size_t len = strlen(p->say), at = 0;
	char many[4096];

	if (p->step == 1)
		while (p->said < SAID_MAX &&
		       send(p->fd, p->say + p->said % len, 1, MSG_NOSIGNAL) == 1)
			p->said++;
	while (at + len <= sizeof(many)) {
		memcpy(many + at, p->say, len);
		at += len;
	}
	while (p->step != 1 && p->said < SAID_MAX) {
		ssize_t n = send(p->fd, many, at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		p->said += (size_t)n;
	}
	shutdown(p->fd, SHUT_WR);
	return NULL;
}

static struct gdb *parrot_begin(struct parrot *p)
{
	struct gdb *g = calloc(1, sizeof(*g));
	int fds[2];

	assert_non_null(g);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	p->fd = fds[0];
	assert_int_equal(packet_open(&g->conn, fds[1]), 0);
	assert_int_equal(pthread_create(&p->thread, NULL, parrot_thread, p), 0);
	return g;
}

/* What it was heard to do, after no more than so many bytes. */
static void parrot_end(struct parrot *p, struct gdb *g, int rc, const char *did, size_t max)
{
	const char *text = gdb_error_text(g, rc);

	if (!strstr(text, did))
		fail_msg("'%s' (%d) does not say '%s'", text, rc, did);
	assert_null(strchr(text, '\n'));
	gdb_close(g);
	pthread_join(p->thread, NULL);
	close(p->fd);
	assert_in_range(p->said, 1, max + IN_FLIGHT);
}

static void noise_has_an_end(void **state)
{
	static const char *const noise[] = {"+", "-", "junk#00"};

	(void)state;
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
		for (size_t step = 0; step < 2; step++) {
			struct parrot p = {.say = noise[i], .step = step};
			struct gdb *g = parrot_begin(&p);
			int rc = packet_recv(&g->conn, LONG_MS);

			assert_int_equal(rc, -EPROTO);
			parrot_end(&p, g, rc, "what is no packet", PACKET_NOISE_MAX);
		}
	}
}

static void a_packet_has_an_end(void **state)
{
	struct parrot p = {.say = "$aaaaaaa", .step = 1};
	struct gdb *g = parrot_begin(&p);
	int rc = packet_recv(&g->conn, LONG_MS);

	(void)state;
	assert_int_equal(rc, -EMSGSIZE);
	parrot_end(&p, g, rc, "too long", PACKET_MAX + 1);
}

static void stops_are_no_answers(void **state)
{
	struct parrot p = {.say = "$T05thread:p01.01;#06"};
	struct gdb *g = parrot_begin(&p);
	int rc;

	(void)state;
	g->conn.no_ack = true;
	rc = gdb_ask(g, "g");
	assert_int_equal(rc, -EPROTO);
	parrot_end(&p, g, rc, "stops without end", GDB_STOPS_MAX * 32);
}

static void a_monitor_has_an_end(void **state)
{
	struct parrot p = {.say = "$O20#b1"};
	struct gdb *g = parrot_begin(&p);
	char *text;
	int rc;

	(void)state;
	g->conn.no_ack = true;
	rc = gdb_monitor(g, "info version", &text);
	assert_int_equal(rc, -EPROTO);
	assert_null(text);
	parrot_end(&p, g, rc, "prints without end", (size_t)GDB_TALK_MAX * 8);
}

static void what_is_no_stop_has_an_end(void **state)
{
	struct parrot p = {.say = "$O20#b1"};
	struct gdb *g = parrot_begin(&p);
	struct gdb_stop stop;
	int rc;

	(void)state;
	g->conn.no_ack = true;
	rc = gdb_wait_stop(g, &stop, -1);
	assert_int_equal(rc, -EPROTO);
	parrot_end(&p, g, rc, "no stop", (size_t)GDB_TALK_MAX * 8);
}

/* --- by another clock --------------------------------------------------------------------------
 */

static _Atomic int64_t clock_ms, clock_step;

/* Each look at it takes its time. */
static int64_t slow_clock(void)
{
	return atomic_fetch_add(&clock_ms, clock_step) + clock_step;
}

/* Answers all that it is asked. */
static void *yes_thread(void *arg)
{
	struct stub *s = arg;

	while (stub_receive(s))
		stub_say(s, "OK");
	return NULL;
}

/* So many questions get an answer when each look at the clock takes so long. */
static unsigned int questions(int64_t step, unsigned int max, int *rc)
{
	struct gdb *g = calloc(1, sizeof(*g));
	struct stub s = {.no_ack = true};
	unsigned int n = 0;
	int fds[2];

	assert_non_null(g);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	s.fd = fds[0];
	assert_int_equal(pthread_create(&s.thread, NULL, yes_thread, &s), 0);
	assert_int_equal(packet_open(&g->conn, fds[1]), 0);
	clock_step = step;
	g->conn.now = slow_clock;
	g->conn.no_ack = true;
	do
		*rc = gdb_expect_ok(g, gdb_ask(g, "Hc1"));
	while (!*rc && ++n < max);
	if (*rc)
		assert_string_equal(gdb_error_text(g, *rc), "its answers do not come in time");
	gdb_close(g);
	pthread_join(s.thread, NULL);
	close(s.fd);
	return n;
}

/* None takes 20 s, and all together take no more than two such. */
static void answers_add_up(void **state)
{
	int rc;

	(void)state;
	assert_in_range(questions(1500, 1000, &rc), 2, 2 * GDB_LATE_MS / 1500);
	assert_int_equal(rc, -ETIMEDOUT);
	/* One that is as quick as can be has all the time in the world. */
	assert_int_equal(questions(5, 10000, &rc), 10000);
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_has_an_end),
		cmocka_unit_test(a_packet_has_an_end),
		cmocka_unit_test(stops_are_no_answers),
		cmocka_unit_test(a_monitor_has_an_end),
		cmocka_unit_test(what_is_no_stop_has_an_end),
		cmocka_unit_test(answers_add_up),
	};

	return cmocka_run_group_tests_name("gdb stubs without end", tests, NULL, NULL);
}
