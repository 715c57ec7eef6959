// SPDX-License-Identifier: GPL-2.0-or-later
/* test-cancel.c - signals that ask to end, and output that nobody reads meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/output.h"

static _Atomic int64_t fake_ms;
static atomic_int clock_looks;
static int left_fd;
static atomic_int left_by;

static int64_t fake_clock(void)
{
	clock_looks++;
	return fake_ms;
}

static void on_leave(void *arg, int signo)
{
	assert_ptr_equal(arg, &left_by);
	left_by = signo;
	eventfd_write(left_fd, 1);
}

static void start(struct cancel *c)
{
	*c = (struct cancel){.leave = on_leave, .arg = &left_by, .now_ms = fake_clock};
	left_by = 0;
	left_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fake_ms = 1000;
	clock_looks = 0;
	assert_int_equal(cancel_start(c), 0);
}

static void stop(struct cancel *c)
{
	cancel_stop(c);
	close(left_fd);
}

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, -1), 1);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* The signal has been looked at, and what was made of it is about to be seen or not. */
static void send_signal(int signo, int looks)
{
	kill(getpid(), signo);
	while (clock_looks < looks)
		sched_yield();
}

static void the_first_asks(void **state)
{
	struct cancel c;

	(void)state;
	start(&c);
	assert_int_equal(cancel_asked(&c), 0);
	assert_false(is_readable(c.fd));
	send_signal(SIGTERM, 1);
	wait_readable(c.fd);
	assert_int_equal(cancel_asked(&c), SIGTERM);
	assert_int_equal(cancel_take(&c), SIGTERM);
	assert_int_equal(cancel_asked(&c), 0);
	assert_int_equal(cancel_take(&c), 0);
	assert_false(is_readable(c.fd));
	stop(&c);
	assert_int_equal(left_by, 0);
}

/* Whether the first has been taken or not; but not what timeout(1) sends a second time. */
static void the_second_leaves(void **state)
{
	(void)state;
	for (int taken = 0; taken < 2; taken++) {
		struct cancel c;

		start(&c);
		send_signal(SIGINT, 1);
		wait_readable(c.fd);
		if (taken)
			cancel_take(&c);
		fake_ms += CANCEL_ECHO_MS - 1;
		send_signal(SIGINT, 2);
		fake_ms++;
		send_signal(SIGTERM, 3);
		wait_readable(left_fd);
		assert_int_equal(left_by, SIGTERM);
		assert_int_equal(cancel_asked(&c), taken ? 0 : SIGINT);
		stop(&c);
	}
}

/* --- output ----------------------------------------------------------------------------------- */

struct writer {
	FILE *out;
	int error;
};

static void *write_much(void *arg)
{
	static const char part[10000];
	struct writer *w = arg;

	while (!w->error)
		if (fwrite(part, 1, sizeof(part), w->out) != sizeof(part))
			w->error = errno;
	return NULL;
}

static void a_full_pipe_is_given_up(void **state)
{
	char dir[] = "/tmp/hvc.XXXXXX", path[64];
	struct writer w = {0};
	struct cancel c;
	pthread_t thread;
	int reader, held = 0;

	(void)state;
	start(&c);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	w.out = output_open(path, &c);
	assert_non_null(w.out);
	assert_int_equal(pthread_create(&thread, NULL, write_much, &w), 0);
	while (held < fcntl(reader, F_GETPIPE_SZ))
		assert_int_equal(ioctl(reader, FIONREAD, &held), 0);
	send_signal(SIGINT, 1);
	pthread_join(thread, NULL);
	assert_int_equal(w.error, ECANCELED);
	fclose(w.out);
	close(reader);
	unlink(path);
	rmdir(dir);
	stop(&c);
}

struct opener {
	char dir[sizeof("/tmp/hvc.XXXXXX")], path[64];
	struct cancel c;
	FILE *out;
	int error;
	pthread_t thread;
};

static void *open_path(void *arg)
{
	struct opener *o = arg;

	o->out = output_open(o->path, &o->c);
	o->error = errno;
	return NULL;
}

static void opener_start(struct opener *o)
{
	*o = (struct opener){.dir = "/tmp/hvc.XXXXXX"};
	start(&o->c);
	assert_non_null(mkdtemp(o->dir));
	snprintf(o->path, sizeof(o->path), "%s/pipe", o->dir);
	assert_int_equal(mkfifo(o->path, 0600), 0);
	assert_int_equal(pthread_create(&o->thread, NULL, open_path, o), 0);
}

static void opener_stop(struct opener *o)
{
	unlink(o->path);
	rmdir(o->dir);
	stop(&o->c);
}

static void a_pipe_is_waited_for(void **state)
{
	struct opener o;
	char back[8] = "";
	int reader;

	(void)state;
	opener_start(&o);
	reader = open(o.path, O_RDONLY); /* until it is open for writing, too */
	pthread_join(o.thread, NULL);
	assert_non_null(o.out);
	assert_true(fputs("some", o.out) >= 0 && !fclose(o.out));
	assert_int_equal(read(reader, back, sizeof(back)), 4);
	close(reader);
	opener_stop(&o);
}

static void a_pipe_that_nobody_reads_is_given_up(void **state)
{
	struct opener o;

	(void)state;
	opener_start(&o);
	send_signal(SIGINT, 1);
	pthread_join(o.thread, NULL);
	assert_null(o.out);
	assert_int_equal(o.error, ECANCELED);
	opener_stop(&o);
}

static void a_file_gets_it_all(void **state)
{
	char path[] = "/tmp/hvc.XXXXXX", back[32] = "";
	int fd = mkstemp(path);
	struct cancel c;
	FILE *out;

	(void)state;
	start(&c);
	out = output_open(path, &c);
	assert_non_null(out);
	assert_true(fputs("some", out) >= 0 && !fflush(out) && fputs(" text", out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(read(fd, back, sizeof(back)), 9);
	assert_string_equal(back, "some text");
	assert_null(output_open("/nowhere/at/all", &c));
	assert_int_equal(errno, ENOENT);
	close(fd);
	unlink(path);
	stop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_asks),
		cmocka_unit_test(the_second_leaves),
		cmocka_unit_test(a_full_pipe_is_given_up),
		cmocka_unit_test(a_pipe_is_waited_for),
		cmocka_unit_test(a_pipe_that_nobody_reads_is_given_up),
		cmocka_unit_test(a_file_gets_it_all),
	};

	return cmocka_run_group_tests_name("cancel", tests, NULL, NULL);
}
