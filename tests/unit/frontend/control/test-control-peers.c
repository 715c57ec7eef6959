// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-control-peers.c - who is connected to the socket of a trace: who waits, who goes in the
 * middle of it, many at once, and who says what no client of ours would say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include "frontend/tracefs/internal.h"
#include "tests/unit/control-world.h"

/* One answer with this error, and the end. */
static void expect_refusal(int fd, int rc)
{
	static struct wire_message m;
	struct wire wire = {fd, {-1, 0, 0}};

	assert_int_equal(wire_receive(&wire, &m, WAIT_SECONDS * 1000), 0);
	assert_int_equal(m.head.value, rc);
	assert_int_equal(m.head.len, 0);
	assert_int_equal(wire_receive(&wire, &m, WAIT_SECONDS * 1000), -ECONNRESET);
	close(fd);
}

/* --- who waits ---------------------------------------------------------------------------- */

struct pipe_reader {
	struct control_client *client;
	atomic_int lines; /* so far; -1: something else came */
	ssize_t end;
};

static void *read_pipe(void *arg)
{
	struct pipe_reader *r = arg;
	const char *data;
	ssize_t n;

	while ((n = control_read(r->client, &data)) > 0) {
		if (n > 6 && !memcmp(data + n - 6, "later\n", 6))
			atomic_fetch_add(&r->lines, 1);
		else
			atomic_store(&r->lines, -1);
	}
	r->end = n;
	return NULL;
}

/* It gets what comes, and the end when the trace ends. */
static void test_pipe(void **state)
{
	struct pipe_reader r = {.client = client()};
	time_t end = time(NULL) + WAIT_SECONDS;
	struct control_world *w = *state;
	pthread_t thread;

	assert_int_equal(control_open(r.client, "trace_pipe", O_RDONLY), CONTROL_STREAM);
	assert_int_equal(pthread_create(&thread, NULL, read_pipe, &r), 0);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(put("trace_marker", 0, "later\n"), 0);
		while (atomic_load(&r.lines) >= 0 && atomic_load(&r.lines) < i && time(NULL) < end)
			sched_yield();
		assert_int_equal(atomic_load(&r.lines), i);
	}
	control_stop(w->server);
	w->server = NULL;
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* It has asked for more by then, or has not. */
	assert_true(r.end == 0 || r.end == -ECONNRESET);
	control_client_free(r.client);
}

/* What was recorded before the end is read before it. */
static void test_pipe_end(void **state)
{
	struct control_world *w = *state;
	struct peer p = {.view = w->view, .is_over = at_once};

	assert_int_equal(ask(&p, WIRE_OPEN, O_RDONLY, "trace_pipe"), 1);
	assert_int_equal(put("trace_marker", 0, "later\n"), 0);
	assert_true(ask(&p, WIRE_READ, 1000, "") > 6);
	assert_int_equal(ask(&p, WIRE_READ, 1000, ""), 0);
	peer_exit(&p);
}

/* Whoever had it open has gone. */
static void expect_pipe_is_free(void)
{
	struct control_client *c = client();

	assert_int_equal(control_open(c, "trace_pipe", O_RDONLY), CONTROL_STREAM);
	control_client_free(c);
}

/* Who goes in the middle of a read that waits is not in the way of the next. */
static void test_reader_goes(void **state)
{
	static struct wire_message m;
	struct wire wire = {control_connect(), {-1, 0, 0}};

	(void)state;
	m.head = (struct wire_head){10, WIRE_VERSION, WIRE_OPEN, O_RDONLY};
	memcpy(m.data, "trace_pipe", 10);
	assert_int_equal(wire_send(&wire, &m), 0);
	assert_int_equal(wire_receive(&wire, &m, -1), 0);
	assert_int_equal(m.head.value, 1);
	m.head = (struct wire_head){0, WIRE_VERSION, WIRE_READ, 100};
	assert_int_equal(wire_send(&wire, &m), 0);
	close(wire.fd);
	expect_pipe_is_free();
}

/* Who goes in the middle of what takes long, and cannot be stopped, holds nobody. */
static void test_goes_in_slow_command(void **state)
{
	static const struct wire_head too_long = {UINT32_MAX, WIRE_VERSION, WIRE_OPEN, 0};
	struct control_world *w = *state;
	static struct wire_message m;

	view_lock(w->view); /* nothing in it is opened before that is over */
	m.head = (struct wire_head){5, WIRE_VERSION, WIRE_OPEN, O_RDONLY};
	memcpy(m.data, "trace", 5);
	for (int i = 0; i < CONTROL_PEERS_MAX - 1; i++) {
		struct wire wire = {control_connect(), {-1, 0, 0}};

		assert_int_equal(wire_send(&wire, &m), 0);
		close(wire.fd);
	}
	for (int i = 0; i < 2; i++) {
		int fd = control_connect();

		assert_int_equal(send(fd, &too_long, sizeof(too_long), MSG_NOSIGNAL),
				 sizeof(too_long));
		expect_refusal(fd, -EPROTO);
	}
	view_unlock(w->view);
	expect("current_tracer", "nop\n");
}

/* Nobody reads any more what a client prints: it does not wait for more to print. */
static void test_output_goes(void **state)
{
	struct control_client *c;
	const char *data;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	c = control_client_new(control_connect(), ends[1]);
	assert_non_null(c);
	assert_int_equal(control_open(c, "trace_pipe", O_RDONLY), CONTROL_STREAM);
	close(ends[0]);
	assert_int_equal(control_read(c, &data), -ECANCELED);
	control_client_free(c);
	close(ends[1]);
	expect_pipe_is_free();
}

/* --- what no client of ours says ---------------------------------------------------------- */

static void send_bytes(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

static void test_bad_heads(void **state)
{
	static const struct {
		struct wire_head head;
		int rc;
	} cases[] = {
		{{WIRE_DATA_MAX + 1, WIRE_VERSION, WIRE_WRITE, 0}, -EPROTO},
		{{UINT32_MAX, WIRE_VERSION, WIRE_OPEN, 0}, -EPROTO},
		{{4, WIRE_VERSION + 1, WIRE_OPEN, 0}, -EPROTONOSUPPORT},
		{{UINT32_MAX, 0, 0, 0}, -EPROTONOSUPPORT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = control_connect();

		send_bytes(fd, &cases[i].head, sizeof(cases[i].head));
		expect_refusal(fd, cases[i].rc);
	}
}

static void test_bad_requests(void **state)
{
	static const struct {
		struct wire_head head;
		const char *data;
		int rc;
	} cases[] = {
		{{0, WIRE_VERSION, 0, 0}, "", -EOPNOTSUPP},
		{{0, WIRE_VERSION, WIRE_RMDIR + 1, 0}, "", -EOPNOTSUPP},
		{{6, WIRE_VERSION, WIRE_OPEN, O_RDONLY}, "trace\0", -EINVAL},
		{{7, WIRE_VERSION, WIRE_OPEN, O_RDONLY}, "options", 0},
		{{0, WIRE_VERSION, WIRE_READ, -1}, "", -EINVAL},
		{{0, WIRE_VERSION, WIRE_READ, 0}, "", 0},
		{{0, WIRE_VERSION, WIRE_READ, INT32_MAX}, "", 400},
	};
	static struct wire_message m;
	struct wire wire = {control_connect(), {-1, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m.head = cases[i].head;
		memcpy(m.data, cases[i].data, m.head.len);
		assert_int_equal(wire_send(&wire, &m), 0);
		assert_int_equal(wire_receive(&wire, &m, WAIT_SECONDS * 1000), 0);
		assert_int_equal(m.head.op, cases[i].head.op);
		if (cases[i].rc == 400) /* or thereabouts */
			assert_true(m.head.value > 200 && m.head.len == (uint32_t)m.head.value);
		else
			assert_int_equal(m.head.value, cases[i].rc);
	}
	close(wire.fd);
}

/* In the middle of a message, of a head, before it: others are served, and the end does not wait.
 */
static void test_silent(void **state)
{
	const struct wire_head head = {100, WIRE_VERSION, WIRE_OPEN, 0};
	int fds[] = {control_connect(), control_connect(), control_connect()};
	struct control_world *w = *state;

	send_bytes(fds[0], &head, sizeof(head));
	send_bytes(fds[1], &head, 5);
	expect("current_tracer", "nop\n");
	control_stop(w->server);
	w->server = NULL;
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/* Requests without end, whose answers nobody takes. */
static void be_deaf(struct control_world *w, bool half_closed)
{
	static const char open_readme[] = "README";
	const struct wire_head open = {6, WIRE_VERSION, WIRE_OPEN, O_RDONLY};
	const struct wire_head read = {0, WIRE_VERSION, WIRE_READ, 1};
	int fd = control_connect();

	send_bytes(fd, &open, sizeof(open));
	send_bytes(fd, open_readme, 6);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (send(fd, &read, sizeof(read), MSG_NOSIGNAL) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	expect("current_tracer", "nop\n");
	/* It says that it has no more to ask: it has gone, whether it takes the answers or not. */
	if (half_closed) {
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		expect("current_tracer", "nop\n");
	}
	control_stop(w->server);
	w->server = NULL;
	close(fd);
}

static void test_deaf(void **state)
{
	be_deaf(*state, false);
}

static void test_half_closed(void **state)
{
	be_deaf(*state, true);
}

static unsigned int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_too_many(void **state)
{
	struct control_client *c[CONTROL_PEERS_MAX];
	unsigned int before = open_descriptors();
	time_t end = time(NULL) + WAIT_SECONDS;
	int rc;

	(void)state;
	for (int i = 0; i < CONTROL_PEERS_MAX; i++) {
		c[i] = client();
		assert_int_equal(control_open(c[i], "trace", O_RDONLY), 0);
	}
	expect_refusal(control_connect(), -EUSERS);
	for (int i = 0; i < CONTROL_PEERS_MAX; i++)
		control_client_free(c[i]);
	do {
		struct control_client *one = client();

		rc = control_open(one, "trace", O_RDONLY);
		control_client_free(one);
	} while (rc == -EUSERS && time(NULL) < end);
	assert_int_equal(rc, 0);
	while (open_descriptors() > before && time(NULL) < end)
		sched_yield();
	assert_int_equal(open_descriptors(), before);
}

/* --- many at once ------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 60 };

struct one {
	struct control_client *client;
	pthread_t thread;
	unsigned int number;
	int failed; /* what should not have */
};

static int read_some(struct control_client *c, const char *path)
{
	int rc = control_open(c, path, O_RDONLY), closed;
	const char *data;
	ssize_t n;

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc; /* instances come and go */
	n = control_read(c, &data);
	closed = control_close(c);
	return n < 0 ? (int)n : closed;
}

static int write_some(struct control_client *c, const char *path, const char *text)
{
	int rc = control_open(c, path, O_WRONLY | O_TRUNC), closed;
	ssize_t n;

	if (rc)
		return rc;
	n = control_write(c, text, strlen(text));
	closed = control_close(c);
	return n < 0 ? (int)n : closed;
}

static void *one_of_many(void *arg)
{
	static const char *const files[] = {
		"trace", ".", "trace_options", "snapshot", "instances/many/trace", "nosuch",
	};
	struct one *one = arg;
	struct control_client *c = one->client;

	for (unsigned int i = one->number; i < one->number + ROUNDS && !one->failed; i++) {
		one->failed = read_some(c, files[i % (sizeof(files) / sizeof(files[0]))]);
		if (!one->failed)
			one->failed = write_some(c, "trace_marker", "one of many\n");
		if (!one->failed)
			one->failed = write_some(c, "current_tracer", i % 2 ? "function" : "nop");
		if (control_mkdir(c, "instances/many"))
			control_rmdir(c, "instances/many");
	}
	return NULL;
}

static void test_many(void **state)
{
	struct one ones[THREADS];

	(void)state;
	for (unsigned int i = 0; i < THREADS; i++) {
		ones[i] = (struct one){.client = client(), .number = i};
		assert_int_equal(pthread_create(&ones[i].thread, NULL, one_of_many, &ones[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(ones[i].thread, NULL), 0);
		control_client_free(ones[i].client);
		if (ones[i].failed)
			fail_msg("number %u: %s", i, strerror(-ones[i].failed));
	}
	expect("tracing_on", "1\n");
}

/* --- main --------------------------------------------------------------------------------- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, control_set_up, control_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pipe),	TEST(test_pipe_end),  TEST(test_reader_goes),
		TEST(test_output_goes), TEST(test_bad_heads), TEST(test_bad_requests),
		TEST(test_silent),	TEST(test_deaf),      TEST(test_half_closed),
		TEST(test_too_many),	TEST(test_many),      TEST(test_goes_in_slow_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
