// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-console.c - the console of a guest of QEMU's, which may have no end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "vmm/qemu/start.h"

#define MB (1 << 20)

/* QEMU's end. */
static struct {
	int fd;
	pthread_t drains;     /* the thread that does */
	atomic_size_t most;   /* until it has passed so much on, there is more for each piece */
	atomic_size_t passed; /* by that thread */
} peer;

static void say_more(void *arg, const char *text, size_t len)
{
	static const char more[4096] = "more";

	(void)arg, (void)text;
	if (pthread_equal(pthread_self(), peer.drains))
		peer.passed += len;
	if (peer.passed >= peer.most)
		peer.most = 0;
	if (peer.most)
		send(peer.fd, more, sizeof(more), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static struct qemu_console *connect_console(char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct qemu_console *c;
	char err[256] = "";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_non_null(mkdtemp(path));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/console", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	c = qemu_console_open(addr.sun_path, say_more, NULL, err, sizeof(err));
	if (!c)
		fail_msg("%s", err);
	peer.fd = accept(fd, NULL, NULL);
	assert_true(peer.fd >= 0);
	close(fd);
	assert_int_equal(unlink(addr.sun_path), 0);
	assert_int_equal(rmdir(path), 0);
	return c;
}

/* It goes on writing behind the stop that it tells of: who waits for it to end would do so for
 * ever.
 */
static void test_flood(void **state)
{
	char path[] = "/tmp/hvtrace-console-XXXXXX";
	struct qemu_console *c;

	(void)state;
	peer.drains = pthread_self();
	peer.most = 16 * MB;
	c = connect_console(path);
	for (unsigned int i = 0; i < 16; i++)
		say_more(NULL, NULL, 0);
	qemu_console_drain(c);
	peer.most = 0;
	assert_in_range(peer.passed, 0, MB + 4096);
	qemu_console_drain(c); /* comes to an end again */
	qemu_console_drain(NULL);
	qemu_console_close(c);
	close(peer.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests_name("QEMU's console", tests, NULL, NULL);
}
