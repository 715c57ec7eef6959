// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-metrics-serve.c - metrics by HTTP: what is answered to whom, and clients that want to hold
 * it. The clock goes as the tests say (tests/build.mk), so nobody waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "frontend/metrics/answer.h"
#include "frontend/metrics/metrics.h"

static atomic_llong later_ms; /* the clock is so much ahead */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = __real_clock_gettime(clock, t);

	t->tv_sec += later_ms / 1000;
	return rc;
}

struct world {
	struct metrics *metrics;
	struct metrics_server *server;
	char dir[32], path[64];
};

static void serve_at(struct world *w, const char *address)
{
	char err[300] = "";

	w->metrics = metrics_new();
	assert_non_null(w->metrics);
	if (metrics_serve(&w->server, w->metrics, address, err, sizeof(err)))
		fail_msg("%s", err);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->dir, "/tmp/test-metrics-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->path, sizeof(w->path), "%s/socket", w->dir);
	later_ms = 0;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	metrics_stop(w->server);
	metrics_free(w->metrics);
	unlink(w->path);
	assert_int_equal(rmdir(w->dir), 0);
	free(w);
	return 0;
}

/* --- a client ------------------------------------------------------------------------------- */

static int connect_path(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static int connect_port(int family, unsigned int port)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	v6.sin6_addr = in6addr_loopback;
	v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(family == AF_INET ? connect(fd, (struct sockaddr *)&v4, sizeof(v4))
					   : connect(fd, (struct sockaddr *)&v6, sizeof(v6)),
			 0);
	return fd;
}

static int connect_to(const struct metrics_server *s)
{
	const char *at = metrics_server_address(s);

	if (*at == '/')
		return connect_path(at);
	return connect_port(*at == '[' ? AF_INET6 : AF_INET,
			    (unsigned int)strtoul(strrchr(at, ':') + 1, NULL, 10));
}

static void put(int fd, const char *what)
{
	assert_int_equal(send(fd, what, strlen(what), MSG_NOSIGNAL), strlen(what));
}

/* All until the other end closes, with a '\0' behind it. */
static void get_all(int fd, struct text *t)
{
	char buf[4096];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		text_add(t, buf, (size_t)n);
	text_putc(t, '\0');
	close(fd);
}

/* To be freed. */
static char *get_rest(int fd)
{
	struct text t = {0};

	get_all(fd, &t);
	return t.buf;
}

static char *ask(const struct metrics_server *s, const char *request)
{
	int fd = connect_to(s);

	put(fd, request);
	return get_rest(fd);
}

static void expect_at(const struct metrics_server *s, const char *request, const char *status,
		      const char *has)
{
	char *got = ask(s, request), line[64];

	snprintf(line, sizeof(line), "HTTP/1.1 %s", status);
	if (strncmp(got, line, strlen(line)) != 0 || !strstr(got, has))
		fail_msg("%s: not %s, '%s':\n%s", request, status, has, got);
	free(got);
}

#define GET(path, headers) "GET " path " HTTP/1.1\r\nHost: x\r\n" headers "\r\n"

/* --- answers -------------------------------------------------------------------------------- */

static void test_paths(void **state)
{
	struct world *w = *state;

	serve_at(w, "127.0.0.1:0");
	assert_int_equal(strncmp(metrics_server_address(w->server), "127.0.0.1:", 10), 0);
	assert_string_not_equal(metrics_server_address(w->server), "127.0.0.1:0");
	expect_at(w->server, GET("/metrics", ""), "200", "\nhvtrace_build_info{version=");
	expect_at(w->server, GET("/metrics?x=1", ""), "200", "\nhvtrace_build_info{version=");
	expect_at(w->server, GET("/-/healthy", ""), "200", "hvtrace is healthy\n");
	expect_at(w->server, GET("/", ""), "200", "<a href=\"/metrics\">");
	expect_at(w->server, GET("/none", ""), "404", "there are /metrics");
	expect_at(w->server, GET("/metrics/", ""), "404", "there are /metrics");
	expect_at(w->server, GET("/../metrics", ""), "404", "there are /metrics");
	expect_at(w->server, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
		  "405", "\r\nAllow: GET, HEAD\r\n");
	expect_at(w->server, "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "405", "only GET and HEAD\n");
	expect_at(w->server, GET("/metrics", ""), "200", "\r\nConnection: close\r\n");
}

static void test_head(void **state)
{
	struct world *w = *state;
	char *got;

	serve_at(w, "127.0.0.1:0");
	got = ask(w->server, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(strncmp(got, "HTTP/1.1 200", 12), 0);
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n");
	free(got);
}

static void test_formats(void **state)
{
	struct world *w = *state;

	serve_at(w, "127.0.0.1:0");
	expect_at(w->server, GET("/metrics", ""), "200",
		  "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	expect_at(w->server,
		  GET("/metrics", "Accept: application/openmetrics-text;version=1.0.0,"
				  "application/openmetrics-text;version=0.0.1;q=0.75,"
				  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n"),
		  "200",
		  "\r\nContent-Type: application/openmetrics-text; version=1.0.0; "
		  "charset=utf-8\r\n");
	expect_at(w->server, GET("/metrics", "Accept: application/openmetrics-text\r\n"), "200",
		  "\n# EOF\n");
}

static void test_accept(void **state)
{
	static const struct {
		const char *accept;
		enum metrics_format format;
	} cases[] = {
		{NULL, METRICS_TEXT},
		{"", METRICS_TEXT},
		{"*/*", METRICS_TEXT},
		{"application/json", METRICS_TEXT},
		{"application/openmetrics-text", METRICS_OPENMETRICS},
		{"APPLICATION/OpenMetrics-Text ; Version=1.0.0 ; Q=1.0", METRICS_OPENMETRICS},
		{"application/openmetrics-text;version=0.0.1", METRICS_TEXT},
		{"application/openmetrics-text;version=2.0.0,text/plain;q=0.1", METRICS_TEXT},
		{"application/openmetrics-text;q=0", METRICS_TEXT},
		{"application/openmetrics-text;q=0.4,text/plain;q=0.5", METRICS_TEXT},
		{"application/openmetrics-text;q=0.500,text/plain;q=.5", METRICS_OPENMETRICS},
		{"text/plain;q=0.5,application/openmetrics-text;q=0.75", METRICS_OPENMETRICS},
		{"application/openmetrics-text;q=9", METRICS_TEXT},
		{"application/openmetrics-text;q=0.99999999999999999999", METRICS_TEXT},
		{"application/openmetrics-text;q=", METRICS_TEXT},
		{";,;;=,=;q,application/openmetrics-text", METRICS_OPENMETRICS},
		{"application/openmetrics-textual", METRICS_TEXT},
		{"application/openmetrics-text;;;", METRICS_OPENMETRICS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (answer_format(cases[i].accept) != cases[i].format)
			fail_msg("%s", cases[i].accept);
}

static void test_accept_encoding(void **state)
{
	static const struct {
		const char *accept;
		bool may;
	} cases[] = {
		{NULL, false},	     {"", false},
		{"gzip", true},	     {"deflate, GZIP ; q=0.1", true},
		{"gzip;q=0", false}, {"gzip;q=0.000, br", false},
		{"gzipped", false},  {"identity", false},
		{"*", false},	     {"gzip;level=9", true},
		{"gzip;q=x", false}, {",,;gzip,", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (answer_may_pack(cases[i].accept) != cases[i].may)
			fail_msg("%s", cases[i].accept);
}

/* The same text, packed for those who ask for that, and for nobody else. */
static void test_packed(void **state)
{
	struct world *w = *state;
	char body[65536], *at;
	struct text got = {0}, plain = {0};
	z_stream z = {.next_out = (Bytef *)body, .avail_out = sizeof(body)};
	int fd;

	serve_at(w, "127.0.0.1:0");
	fd = connect_to(w->server);
	put(fd, GET("/metrics", "Accept-Encoding: gzip\r\n"));
	get_all(fd, &got);
	at = strstr(got.buf, "\r\n\r\n");
	if (!at || !strstr(got.buf, "\r\nContent-Encoding: gzip\r\n"))
		fail_msg("%s", got.buf);
	z.next_in = (Bytef *)at + 4;
	z.avail_in = (uInt)(got.buf + got.len - at - 4);
	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	metrics_print(w->metrics, METRICS_TEXT, &plain);
	assert_int_equal(z.total_out, plain.len);
	assert_memory_equal(body, plain.buf, plain.len);
	text_free(&got);
	text_free(&plain);
	expect_at(w->server, GET("/metrics", "Accept-Encoding: gzip;q=0\r\n"), "200",
		  "\nhvtrace_build_info");
}

/* A text is given again for a while, however often it is asked for; then there is a new one. */
static void test_fresh(void **state)
{
	struct world *w = *state;

	serve_at(w, "127.0.0.1:0");
	metrics_set(w->metrics, METRICS_RULES, NULL, 1);
	expect_at(w->server, GET("/metrics", ""), "200", "\nhvtrace_rules 1\n");
	metrics_set(w->metrics, METRICS_RULES, NULL, 2);
	later_ms += 3600000;
	expect_at(w->server, GET("/metrics", ""), "200", "\nhvtrace_rules 2\n");
}

/* --- where it listens ----------------------------------------------------------------------- */

static void test_path(void **state)
{
	struct world *w = *state;
	struct stat st;

	serve_at(w, w->path);
	assert_string_equal(metrics_server_address(w->server), w->path);
	assert_int_equal(stat(w->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	expect_at(w->server, GET("/metrics", ""), "200", "\nhvtrace_build_info");
	metrics_stop(w->server);
	w->server = NULL;
	assert_int_equal(access(w->path, F_OK), -1);
}

/* What a server that was killed has left is in nobody's way. */
static void test_left_path(void **state)
{
	struct world *w = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	serve_at(w, w->path);
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
}

/* It is another one's by now: it stays. */
static void test_taken_path(void **state)
{
	struct world *w = *state;
	int fd;

	serve_at(w, w->path);
	assert_int_equal(unlink(w->path), 0);
	fd = open(w->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	metrics_stop(w->server);
	w->server = NULL;
	assert_int_equal(access(w->path, F_OK), 0);
}

static void test_ipv6(void **state)
{
	struct world *w = *state;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool there = fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a));

	if (fd >= 0)
		close(fd);
	if (!there)
		skip();
	serve_at(w, "[::1]:0");
	assert_int_equal(strncmp(metrics_server_address(w->server), "[::1]:", 6), 0);
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
}

static void test_all_addresses(void **state)
{
	struct world *w = *state;

	serve_at(w, ":0");
	assert_int_equal(metrics_server_address(w->server)[0], ':');
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
}

static void refuses(const struct world *w, const char *address, int rc, const char *why)
{
	struct metrics_server *s;
	char err[300] = "";

	assert_int_equal(metrics_serve(&s, w->metrics, address, err, sizeof(err)), rc);
	if (!strstr(err, why) || strchr(err, '\n'))
		fail_msg("%s: %s", address, err);
}

static void test_errors(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"localhost:80",
		"127.0.0.1",
		"127.0.0.1:",
		"::1:80",
		"[::1]",
		"[]:80",
		"[::1:80",
		"127.0.0.1:65536",
		"1:2:3",
		"1.2.3.4.5:80",
		"127.0.0.1:+80",
		"127.0.0.1:8 0",
		"%n%n:80",
	};
	struct world *w = *state;
	char path[200];

	serve_at(w, "127.0.0.1:0");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(w, bad[i], -EINVAL, "give ADDRESS:PORT");
	refuses(w, metrics_server_address(w->server), -EADDRINUSE, "another program listens there");
	refuses(w, "192.0.2.1:0", -EADDRNOTAVAIL, "this host has no such address");
	refuses(w, "/none/socket", -ENOENT, "/none/socket: No such file or directory");
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	refuses(w, path, -EINVAL, "at most 107 bytes");
}

/* Neither a file nor who listens is put out of the way. */
static void test_path_in_use(void **state)
{
	struct world *w = *state;
	int fd;

	serve_at(w, w->path);
	refuses(w, w->path, -EADDRINUSE, "another program listens there");
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
	metrics_stop(w->server);
	w->server = NULL;
	fd = open(w->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	refuses(w, w->path, -EADDRINUSE, w->path);
	assert_int_equal(access(w->path, F_OK), 0);
}

/* --- clients that mean no good --------------------------------------------------------------- */

/* The end of the connection, whatever was said before it. */
static void expect_end(int fd)
{
	free(get_rest(fd));
}

/* A request that never ends, a byte now and then. */
static void test_slow(void **state)
{
	struct world *w = *state;
	int fd, other;

	serve_at(w, "127.0.0.1:0");
	fd = connect_to(w->server);
	put(fd, "GET /metrics HT");
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
	later_ms += METRICS_PEER_MS;
	/* Which makes it look at the clock. */
	other = connect_to(w->server);
	expect_end(fd);
	close(other);
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
}

/* One that takes nothing of a long answer. */
static void test_takes_nothing(void **state)
{
	struct world *w = *state;
	int fd, other;
	char name[64], *got;

	serve_at(w, w->path);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "a guest whose name is long, of which there are %d",
			 i);
		metrics_set(w->metrics, METRICS_GUEST_UP, &(struct metrics_labels){.guest = name},
			    1);
		metrics_set(w->metrics, METRICS_GUEST_ATTACHED,
			    &(struct metrics_labels){.guest = name}, 1);
	}
	fd = connect_to(w->server);
	put(fd, GET("/metrics", ""));
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
	later_ms += METRICS_PEER_MS;
	other = connect_to(w->server);
	/* It is answered while that one is waited for no more. */
	put(other, GET("/-/healthy", ""));
	free(get_rest(other));
	got = get_rest(fd);
	assert_null(strstr(got, "hvtrace_left_out_samples_total 0"));
	free(got);
	expect_at(w->server, GET("/metrics", ""), "200", "there are 1999");
}

/* All places are taken: the next one waits, and gets its answer when one is free. */
static void test_crowd(void **state)
{
	struct world *w = *state;
	int fd[METRICS_PEERS_MAX], late;
	char *got;

	serve_at(w, w->path);
	for (int i = 0; i < METRICS_PEERS_MAX; i++) {
		fd[i] = connect_to(w->server);
		put(fd[i], "GET / HTTP/1.1\r\n");
	}
	late = connect_to(w->server);
	put(late, GET("/-/healthy", ""));
	/* Those that are in are served. */
	put(fd[3], "Host: x\r\n\r\n");
	free(get_rest(fd[3]));
	got = get_rest(late);
	assert_non_null(strstr(got, "healthy"));
	free(got);
	for (int i = 0; i < METRICS_PEERS_MAX; i++)
		if (i != 3)
			close(fd[i]);
}

/* From one address there are not so many that nobody else gets in. */
static void test_crowd_of_one(void **state)
{
	struct world *w = *state;
	int fd[METRICS_PEERS_MAX];
	unsigned int ended = 0;

	serve_at(w, "127.0.0.1:0");
	for (int i = 0; i < METRICS_PEERS_MAX; i++)
		fd[i] = connect_to(w->server);
	for (int i = METRICS_PEERS_MAX / 2; i < METRICS_PEERS_MAX; i++, ended++)
		expect_end(fd[i]);
	assert_int_equal(ended, METRICS_PEERS_MAX / 2);
	for (int i = 0; i < METRICS_PEERS_MAX / 2; i++) {
		char *got;

		put(fd[i], GET("/-/healthy", ""));
		got = get_rest(fd[i]);
		assert_non_null(strstr(got, "healthy"));
		free(got);
	}
}

/* Lines and headers that are too long, and what is no HTTP at all. */
static void test_nonsense(void **state)
{
	struct world *w = *state;
	static char longest[1 << 20];
	static const char *const begin[] = {
		"GET /", "GET / HTTP/1.1\r\nHost: x\r\nX: ", "GET / HTTP/1.1\r\nX", "\r\n\r\n\r\n",
		"\x16\x03\x01\x02"};

	serve_at(w, "127.0.0.1:0");
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
		int fd = connect_to(w->server);

		memset(longest, 'a', sizeof(longest));
		memcpy(longest, begin[i], strlen(begin[i]));
		/* It is refused before all of it is there. */
		send(fd, longest, sizeof(longest), MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		expect_end(fd);
	}
	for (unsigned int seed = 0; seed < 200; seed++) {
		int fd = connect_to(w->server);
		unsigned int x = seed;

		for (size_t i = 0; i < 300; i++) {
			x = x * 1664525 + 1013904223;
			longest[i] = "GET /HTP1.\r\n: \x00\xff"[(x >> 24) % 17];
		}
		send(fd, longest, 300, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		expect_end(fd);
	}
	expect_at(w->server, GET("/metrics", ""), "200", "\nhvtrace_build_info");
}

/* Many requests at once in one connection are one. */
static void test_pipeline(void **state)
{
	struct world *w = *state;
	char *got;

	serve_at(w, "127.0.0.1:0");
	got = ask(w->server, GET("/-/healthy", "") GET("/-/healthy", "") GET("/metrics", ""));
	assert_null(strstr(strstr(got, "healthy") + 1, "healthy"));
	free(got);
}

static void test_stop(void **state)
{
	struct world *w = *state;
	int fd;

	serve_at(w, "127.0.0.1:0");
	fd = connect_to(w->server);
	put(fd, "GET / HTTP/1.1\r\n");
	expect_at(w->server, GET("/-/healthy", ""), "200", "healthy");
	metrics_stop(w->server);
	w->server = NULL;
	expect_end(fd);
	metrics_stop(NULL);
}

/* --- threads -------------------------------------------------------------------------------- */

static void *count_on(void *arg)
{
	for (int i = 0; i < 2000; i++)
		metrics_add(arg, METRICS_RECORDS, &(struct metrics_labels){.guest = "g"}, 1);
	return NULL;
}

static void test_counts_on(void **state)
{
	struct world *w = *state;
	pthread_t thread;

	serve_at(w, "127.0.0.1:0");
	assert_int_equal(pthread_create(&thread, NULL, count_on, w->metrics), 0);
	for (int i = 0; i < 20; i++)
		expect_at(w->server, GET("/metrics", ""), "200", "\nhvtrace_build_info");
	pthread_join(thread, NULL);
	later_ms += 3600000;
	expect_at(w->server, GET("/metrics", ""), "200",
		  "\nhvtrace_records_total{guest=\"g\"} 2000\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_paths),
		TEST(test_head),
		TEST(test_formats),
		TEST(test_accept),
		TEST(test_accept_encoding),
		TEST(test_packed),
		TEST(test_fresh),
		TEST(test_path),
		TEST(test_left_path),
		TEST(test_taken_path),
		TEST(test_ipv6),
		TEST(test_all_addresses),
		TEST(test_errors),
		TEST(test_path_in_use),
		TEST(test_slow),
		TEST(test_takes_nothing),
		TEST(test_crowd),
		TEST(test_crowd_of_one),
		TEST(test_nonsense),
		TEST(test_pipeline),
		TEST(test_stop),
		TEST(test_counts_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
