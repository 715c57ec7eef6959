// SPDX-License-Identifier: GPL-2.0-or-later
/* test-reload.c - another configuration: where metrics are served then, and what is told of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frontend/serve/daemon.h"
#include "tests/unit/frontend/config/config-read.h"
#include "tests/unit/remove-tree.h"

static char dir[64], file[96];
static struct daemon d;

static struct conf *conf_of(const char *text)
{
	struct serve_config *c = right_config(text);
	struct conf *conf = conf_new(c);

	assert_non_null(conf);
	return conf;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hvreload.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/serve.toml", dir);
	d = (struct daemon){.config = file, .words = &some_words, .metrics = metrics_new()};
	d.conf = conf_of("[metrics]\nlisten = \"\"\n");
	return d.metrics ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	metrics_stop(d.server);
	guests_free(&d.guests);
	metrics_free(d.metrics);
	conf_put(d.conf);
	return remove_tree(dir);
}

/* --- what there is then -------------------------------------------------------------------------
 */

static void write_config(const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static bool has_sample(const char *line)
{
	struct text out = {0};
	bool has;

	metrics_print(d.metrics, METRICS_TEXT, &out);
	text_putc(&out, '\0');
	assert_false(out.failed);
	has = strstr(out.buf, line);
	text_free(&out);
	return has;
}

static void reload_is(int rc)
{
	assert_int_equal(reload(&d), rc);
	assert_true(has_sample(rc ? "\nhvtrace_config_reload_success 0\n"
				  : "\nhvtrace_config_reload_success 1\n"));
}

/* rc: what comes of it. */
static void listen_at(const char *where, int rc)
{
	char text[256];

	snprintf(text, sizeof(text), "[metrics]\nlisten = \"%s\"\n", where);
	write_config(text);
	reload_is(rc);
}

static bool path_answers(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	rc = connect(fd, (struct sockaddr *)&a, sizeof(a));
	close(fd);
	return !rc;
}

/* Of one that listens there; *port is which. */
static int listen_somewhere(unsigned int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* --- metrics ------------------------------------------------------------------------------------
 */

static void test_mistake(void **state)
{
	(void)state;
	write_config("[metrics]\nlistn = 1\n");
	reload_is(-1);
	listen_at("", 0);
	assert_null(d.server);
}

/* Where they cannot be served they stay where they were, until they can. */
static void test_listen(void **state)
{
	char one[96], two[96], nowhere[96];

	(void)state;
	snprintf(one, sizeof(one), "%s/one", dir);
	snprintf(two, sizeof(two), "%s/two", dir);
	snprintf(nowhere, sizeof(nowhere), "%s/no/where", dir);
	listen_at(nowhere, 1);
	assert_null(d.server);
	listen_at(nowhere, 1);
	listen_at(one, 0);
	assert_true(path_answers(one));
	listen_at(nowhere, 1);
	assert_true(path_answers(one));
	listen_at(nowhere, 1);
	assert_true(path_answers(one));
	listen_at(one, 0);
	assert_true(path_answers(one));
	listen_at(two, 0);
	assert_true(path_answers(two));
	assert_false(path_answers(one));
	listen_at("", 0);
	assert_false(path_answers(two));
	assert_null(d.server);
}

/* What is in its way is there no more at the next reload, by the same file. */
static void test_again(void **state)
{
	unsigned int port;
	int fd = listen_somewhere(&port);
	char at[32];

	(void)state;
	snprintf(at, sizeof(at), "127.0.0.1:%u", port);
	listen_at(at, 1);
	assert_null(d.server);
	close(fd);
	listen_at(at, 0);
	assert_string_equal(metrics_server_address(d.server), at);
}

/* An address that is part of the other: it is the old server that has it. And where it is not that
 * one it comes back. */
static void test_overlap(void **state)
{
	char before[32], all[32], taken[32];
	unsigned int port, other;
	int fd = listen_somewhere(&port), taker = listen_somewhere(&other);

	(void)state;
	close(fd);
	snprintf(before, sizeof(before), "127.0.0.1:%u", port);
	snprintf(all, sizeof(all), ":%u", port);
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", other);
	listen_at(before, 0);
	listen_at(all, 0);
	assert_string_equal(metrics_server_address(d.server), all);
	listen_at(before, 0);
	assert_string_equal(metrics_server_address(d.server), before);
	listen_at(taken, 1);
	assert_string_equal(metrics_server_address(d.server), before);
	close(taker);
	listen_at(taken, 0);
	assert_string_equal(metrics_server_address(d.server), taken);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_mistake),
		TEST(test_listen),
		TEST(test_again),
		TEST(test_overlap),
	};

	return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
