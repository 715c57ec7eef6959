// SPDX-License-Identifier: GPL-2.0-or-later
/* test-requests.c - who asks the daemon something: slowly, too much, all at once, or in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "frontend/serve/requests.h"
#include "tests/unit/remove-tree.h"

#define LINE_MAX_LEN 1023 /* with its end */
#define LARGE	     (4 << 20)

static char dir[64], path[96];
static struct requests *requests;
static unsigned int asked;
static bool large;

static void answer(void *arg, const char *line, struct text *to)
{
	assert_ptr_equal(arg, &asked);
	asked++;
	text_printf(to, "ok\n%s\n", line);
	for (size_t i = 0; large && i < LARGE; i += 16)
		text_printf(to, "0123456789abcde\n");
}

static int set_up(void **state)
{
	char err[256] = "";

	(void)state;
	asked = 0;
	large = false;
	strcpy(dir, "/tmp/hvask.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", dir);
	requests = requests_new(path, answer, &asked, err, sizeof(err));
	if (!requests)
		print_error("%s\n", err);
	return requests ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	requests_free(requests);
	return remove_tree(dir);
}

static int peer(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Its answer is over: that, of len bytes at least. */
static void hears(int fd, const char *text)
{
	char buf[256] = "";
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

	assert_int_equal(n, strlen(text));
	assert_string_equal(buf, text);
	assert_int_equal(recv(fd, buf, 1, 0), 0);
	close(fd);
}

static void hears_nothing_yet(int fd)
{
	char c;

	assert_int_equal(recv(fd, &c, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void is_dropped(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, 0);

	assert_true(!n || (n < 0 && errno == ECONNRESET));
	close(fd);
}

static void test_line(void **state)
{
	struct stat st;
	int fd = peer();

	(void)state;
	say(fd, "status\n");
	requests_tick(requests, 0);
	hears(fd, "ok\nstatus\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* In pieces, with silence between them; what comes behind the line is not looked at. */
static void test_pieces(void **state)
{
	int fd = peer();

	(void)state;
	for (const char *c = "status"; *c; c++) {
		say(fd, (const char[]){*c, '\0'});
		requests_tick(requests, 0);
		hears_nothing_yet(fd);
	}
	assert_int_equal(asked, 0);
	say(fd, "\n");
	requests_tick(requests, 0);
	hears(fd, "ok\nstatus\n");
	assert_int_equal(asked, 1);
}

static void test_silent(void **state)
{
	int fd = peer(), half = peer();

	(void)state;
	say(half, "stat");
	requests_tick(requests, 1000);
	requests_tick(requests, 1000);
	requests_tick(requests, 1000 + REQUESTS_MS - 1);
	hears_nothing_yet(fd);
	hears_nothing_yet(half);
	requests_tick(requests, 1000 + REQUESTS_MS);
	is_dropped(fd);
	is_dropped(half);
	assert_int_equal(asked, 0);
}

/* A line has an end, and no more than there is room for; one that goes without it asks nothing. */
static void test_long_line(void **state)
{
	char line[LINE_MAX_LEN + 2];
	int fd = peer(), gone = peer();

	(void)state;
	memset(line, 'x', sizeof(line));
	line[LINE_MAX_LEN] = '\0';
	say(fd, line);
	say(gone, "status");
	shutdown(gone, SHUT_WR);
	for (unsigned int i = 0; i < 4; i++)
		requests_tick(requests, 0);
	is_dropped(fd);
	is_dropped(gone);
	assert_int_equal(asked, 0);
	line[LINE_MAX_LEN - 1] = '\n';
	fd = peer();
	say(fd, line);
	requests_tick(requests, 0);
	assert_int_equal(asked, 1);
	close(fd);
}

static void test_zeroes(void **state)
{
	int fd = peer();

	(void)state;
	assert_int_equal(send(fd, "status\0\n", 8, 0), 8);
	requests_tick(requests, 0);
	requests_tick(requests, REQUESTS_MS);
	is_dropped(fd);
	assert_int_equal(asked, 0);
}

/* Those for whom there is no room are let go, and the others answered. */
static void test_crowd(void **state)
{
	int fd[REQUESTS_PEERS + 1];
	struct pollfd fds[REQUESTS_PEERS + 1];

	(void)state;
	for (size_t i = 0; i < REQUESTS_PEERS; i++) {
		fd[i] = peer();
		requests_tick(requests, 0);
	}
	fd[REQUESTS_PEERS] = peer();
	requests_tick(requests, 0);
	is_dropped(fd[REQUESTS_PEERS]);
	assert_int_equal(requests_poll(requests, fds), REQUESTS_PEERS + 1);
	for (size_t i = 0; i < REQUESTS_PEERS; i++)
		say(fd[i], "x\n");
	requests_tick(requests, 0);
	for (size_t i = 0; i < REQUESTS_PEERS; i++)
		hears(fd[i], "ok\nx\n");
	assert_int_equal(requests_poll(requests, fds), 1);
}

/* One that does not take its answer is waited for no longer than others, and holds nobody. */
static void test_does_not_take(void **state)
{
	int fd = peer(), other;

	(void)state;
	large = true;
	say(fd, "status\n");
	requests_tick(requests, 0);
	large = false;
	other = peer();
	say(other, "x\n");
	requests_tick(requests, 1);
	hears(other, "ok\nx\n");
	requests_tick(requests, REQUESTS_MS);
	assert_int_equal(requests_poll(requests, (struct pollfd[REQUESTS_PEERS + 1]){{0}}), 1);
	close(fd);
}

/* One that takes it as it comes has all. */
static void test_large(void **state)
{
	static char buf[65536];
	size_t got = 0;
	ssize_t n = 1;
	int fd = peer();

	(void)state;
	large = true;
	say(fd, "status\n");
	while (n) {
		requests_tick(requests, 0);
		while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
			got += (size_t)n;
	}
	assert_int_equal(got, LARGE + strlen("ok\nstatus\n"));
	close(fd);
}

/* --- its place ---------------------------------------------------------------------------------
 */

static void test_in_use(void **state)
{
	char err[256];

	(void)state;
	assert_null(requests_new(path, answer, &asked, err, sizeof(err)));
	assert_non_null(strstr(err, "another hvtrace serve runs here"));
}

static void test_left_behind(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct requests *other;
	char err[256];

	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/other", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	other = requests_new(at.sun_path, answer, &asked, err, sizeof(err));
	assert_non_null(other);
	requests_free(other);
	assert_int_equal(access(at.sun_path, F_OK), -1);
}

static void test_no_socket(void **state)
{
	char file[96], err[256];
	FILE *f;

	(void)state;
	snprintf(file, sizeof(file), "%s/precious", dir);
	f = fopen(file, "w");
	assert_non_null(f);
	fclose(f);
	assert_null(requests_new(file, answer, &asked, err, sizeof(err)));
	assert_int_equal(access(file, F_OK), 0);
	snprintf(file, sizeof(file), "%s/none/socket", dir);
	assert_null(requests_new(file, answer, &asked, err, sizeof(err)));
	assert_non_null(strstr(err, file));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_line),	TEST(test_pieces),	  TEST(test_silent),
		TEST(test_crowd),	TEST(test_does_not_take), TEST(test_long_line),
		TEST(test_large),	TEST(test_zeroes),	  TEST(test_in_use),
		TEST(test_left_behind), TEST(test_no_socket),
	};

	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
