// SPDX-License-Identifier: GPL-2.0-or-later
/* test-notify.c - what systemd is told, at a socket of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frontend/serve/notify.h"

static int fd;

static void says(const char *expected)
{
	char text[512] = "";

	assert_true(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
}

static void says_nothing(void)
{
	char text[16];

	assert_int_equal(recv(fd, text, sizeof(text), MSG_DONTWAIT), -1);
}

/* Without the socket it was not systemd that has started it. */
static void test_alone(void **state)
{
	(void)state;
	assert_int_equal(notify_begin(), 0);
	notify_ready();
	notify_alive();
	says_nothing();
}

static void test_all(void **state)
{
	char longer[1000], pid[16];

	(void)state;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	setenv("WATCHDOG_USEC", "60000000", 1);
	assert_int_equal(notify_begin(), 30000);
	notify_ready();
	says("READY=1");
	notify_reloading();
	says("RELOADING=1\nMONOTONIC_USEC=");
	notify_stopping();
	says("STOPPING=1");
	notify_alive();
	says("WATCHDOG=1");
	notify_status("3 guests");
	says("STATUS=3 guests");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	notify_status(longer);
	says("STATUS=xxx");
}

/* One that has no watchdog, or has it for another process. */
static void test_no_watchdog(void **state)
{
	(void)state;
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_begin(), 0);
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(notify_begin(), 0);
}

static void listen_here(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "hvtrace-notify-%d", (int)getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					  strlen(at.sun_path + 1))),
			 0);
	at.sun_path[0] = '@';
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
}

static int begin_listening(void **state)
{
	(void)state;
	listen_here();
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	return fd < 0 ? -1 : 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test_setup(test_all, begin_listening),
		cmocka_unit_test(test_no_watchdog),
	};

	return cmocka_run_group_tests_name("notify", tests, set_up, NULL);
}
