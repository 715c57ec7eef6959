// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs-wait.c - who waits for files of a mounted trace, who is in the way, and many at
 * once. Skipped where nothing can be mounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/tracefs-mounted.h"
#include "tests/elsewhere.h"

/* --- waiting ------------------------------------------------------------------------------ */

struct reader {
	int fd;
	char text[4096];
	ssize_t n;
	pthread_t thread;
};

static void *read_once(void *arg)
{
	struct reader *r = arg;

	r->n = read(r->fd, r->text, sizeof(r->text) - 1);
	close(r->fd);
	return NULL;
}

static void reader_start(struct reader *r, struct mounted *w, const char *path)
{
	*r = (struct reader){.fd = open_file(w, path, O_RDONLY)};
	assert_int_equal(pthread_create(&r->thread, NULL, read_once, r), 0);
}

static void test_pipe_waits(void **state)
{
	struct mounted *w = *state;
	struct reader text, raw;

	reader_start(&text, w, "per_cpu/cpu1/trace_pipe");
	reader_start(&raw, w, "per_cpu/cpu0/trace_pipe_raw");
	assert_int_equal(put(w, "trace_marker", "for the page"), 12);
	pthread_join(raw.thread, NULL);
	assert_int_equal(raw.n, 4095);
	assert_non_null(memmem(raw.text, 4095, "for the page", 12));
	/* Nothing ever comes on vCPU 1: it waits until the mount goes, and that is the end. */
	tracefs_unmount(w->fs);
	pthread_join(text.thread, NULL);
	assert_int_equal(text.n, 0);
	close(w->at);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* As programs read that wait for several files: they are told, and find the end. */
static void *read_polled(void *arg)
{
	struct reader *r = arg;
	struct pollfd p = {r->fd, POLLIN, 0};

	while ((r->n = poll(&p, 1, 120000)) == 1 && (r->n = read(r->fd, r->text, 8)) > 0)
		r->text[8] = '\0';
	close(r->fd);
	return NULL;
}

static void test_polled_to_the_end(void **state)
{
	struct mounted *w = *state;
	struct reader r = {.fd = open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK)};
	struct reader idle = {.fd = open_file(w, "per_cpu/cpu1/trace_pipe_raw", O_RDONLY)};

	assert_int_equal(put(w, "trace_marker", "the last"), 8);
	assert_int_equal(pthread_create(&r.thread, NULL, read_polled, &r), 0);
	tracefs_unmount(w->fs); /* who keeps a file open does not keep it */
	pthread_join(r.thread, NULL);
	assert_int_equal(r.n, 0);
	assert_int_equal(read(idle.fd, idle.text, 1), -1);
	close(idle.fd);
	close(w->at);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void test_nonblock(void **state)
{
	struct mounted *w = *state;
	int fd = open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK);
	char buf[4096];

	assert_int_equal(read(fd, buf, sizeof(buf)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(put(w, "trace_marker", "now"), 3);
	assert_true(read(fd, buf, sizeof(buf)) > 3);
	assert_int_equal(read(fd, buf, sizeof(buf)), -1);
	assert_int_equal(errno, EAGAIN);
	/* The end, when recording is off, is for those who would wait. */
	assert_int_equal(put(w, "tracing_on", "0"), 1);
	assert_int_equal(read(fd, buf, sizeof(buf)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(read(fd, buf, sizeof(buf)), 0);
	assert_int_equal(put(w, "tracing_on", "1"), 1);
	close(fd);
}

static void test_poll_percent(void **state)
{
	struct mounted *w = *state;
	struct pollfd p = {.events = POLLIN};
	char page[4096];

	assert_int_equal(put(w, "buffer_size_kb", "8"), 1); /* three pages */
	assert_int_equal(put(w, "buffer_percent", "60"), 2);
	p.fd = open_file(w, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
	assert_int_equal(put(w, "trace_marker", "one"), 3);
	assert_int_equal(poll(&p, 1, 0), 0);
	memset(page, 'x', sizeof(page));
	for (int i = 0; i < 4; i++)
		assert_int_equal(put_bytes(w, "trace_marker", 0, page, 1000), 1000);
	assert_int_equal(poll(&p, 1, 120000), 1);
	assert_int_equal(read(p.fd, page, sizeof(page)), 4096);
	/* Less than that is read too, but nobody is woken for it. */
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(read(p.fd, page, sizeof(page)), 4096);
	close(p.fd);
}

static void *mark_later(void *arg)
{
	const struct timespec later = {.tv_nsec = 50000000};

	/* So that poll(2) has probably begun to wait; the result is the same if it has not. */
	nanosleep(&later, NULL);
	put(arg, "trace_marker", "polled");
	return NULL;
}

static void test_poll(void **state)
{
	struct mounted *w = *state;
	struct pollfd p = {open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK), POLLIN, 0};
	pthread_t thread;
	char buf[4096];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(poll(&p, 1, 0), 0);
		assert_int_equal(pthread_create(&thread, NULL, mark_later, w), 0);
		assert_int_equal(poll(&p, 1, 120000), 1);
		assert_true(p.revents & POLLIN);
		assert_true(read(p.fd, buf, sizeof(buf)) > 0);
		pthread_join(thread, NULL);
	}
	close(p.fd);
}

/* A reader that is killed while it waits is gone, and so is what it had open. */
static void test_killed(void **state)
{
	struct mounted *w = *state;
	int ready[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = openat(w->at, "trace_pipe", O_RDONLY);

		if (write(ready[1], "", 1) == 1)
			_exit(read(fd, &c, 1) == 1 ? 0 : 1);
		_exit(2);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(ready[0]);
	close(ready[1]);
	close(open_file(w, "trace_pipe", O_RDONLY));
}

/* --- many who wait ------------------------------------------------------------------------ */

enum { BLOCKED = 200, THREADS_OF_MOUNT = 64 };

struct blocked {
	int fd;
	pthread_t thread;
	atomic_int tid;
	atomic_int *done;
	ssize_t n;
	int err;
};

static void *read_a_page(void *arg)
{
	struct blocked *b = arg;
	char page[4096];

	atomic_store(&b->tid, (int)syscall(SYS_gettid));
	b->n = read(b->fd, page, sizeof(page));
	b->err = errno;
	atomic_fetch_add(b->done, 1);
	return NULL;
}

/* The number behind some words of a file of /proc; -1: they are not there. */
static long read_proc_number(const char *path, const char *before)
{
	char text[4096] = "";
	const char *at;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	at = n > 0 ? strstr(text, before) : NULL;
	return at ? strtol(at + strlen(before), NULL, 0) : -1;
}

/* Its read(2) has begun, and is with the kernel. */
static void wait_until_it_reads(struct blocked *b)
{
	char path[64], call[16];
	int tid;

	while (!(tid = atomic_load(&b->tid)))
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	snprintf(call, sizeof(call), "%d ", SYS_read);
	while (read_proc_number(path, call) != b->fd)
		sched_yield();
}

static void start_blocked(struct mounted *w, struct blocked *b, atomic_int *done)
{
	for (int i = 0; i < BLOCKED; i++) {
		b[i] = (struct blocked){.done = done};
		b[i].fd = open_file(w, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY);
		assert_int_equal(pthread_create(&b[i].thread, NULL, read_a_page, &b[i]), 0);
	}
	for (int i = 0; i < BLOCKED; i++)
		wait_until_it_reads(&b[i]);
	/* Requests are taken in order: when this one is answered all of them have been taken. */
	assert_int_equal(faccessat(w->at, "no such file", F_OK, 0), -1);
}

/* For the signal that interrupts a read. */
static void do_nothing(int sig)
{
	(void)sig;
}

/* The only one that is looked at is closed while there is nothing to read, again and again. */
static void test_poll_and_close(void **state)
{
	struct mounted *w = *state;

	for (int i = 0; i < 20; i++) {
		struct pollfd p = {open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK), POLLIN, 0};

		assert_int_equal(poll(&p, 1, 1), 0);
		close(p.fd);
	}
}

/* They do not cost a thread each; all get what comes, and can be interrupted. */
static void test_many_wait(void **state)
{
	static struct blocked b[BLOCKED];
	const struct sigaction action = {.sa_handler = do_nothing};
	long before = read_proc_number("/proc/self/status", "Threads:");
	struct mounted *w = *state;
	atomic_int done = 0;

	start_blocked(w, b, &done);
	assert_int_equal(atomic_load(&done), 0);
	assert_in_range(read_proc_number("/proc/self/status", "Threads:"), before + BLOCKED,
			before + BLOCKED + THREADS_OF_MOUNT);
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	assert_int_equal(pthread_kill(b[BLOCKED - 1].thread, SIGUSR2), 0);
	pthread_join(b[BLOCKED - 1].thread, NULL);
	assert_int_equal(b[BLOCKED - 1].n, -1);
	assert_int_equal(b[BLOCKED - 1].err, EINTR);
	while (atomic_load(&done) < BLOCKED) {
		int until = atomic_load(&done);

		assert_int_equal(put(w, "trace_marker", "for one of them"), 15);
		while (atomic_load(&done) == until)
			sched_yield();
	}
	for (int i = 0; i < BLOCKED - 1; i++) {
		pthread_join(b[i].thread, NULL);
		assert_int_equal(b[i].n, 4096);
	}
	for (int i = 0; i < BLOCKED; i++)
		close(b[i].fd);
}

/* Nor do files that are polled; who polls one of many is woken. */
static void test_many_poll(void **state)
{
	long before = read_proc_number("/proc/self/status", "Threads:");
	struct mounted *w = *state;
	struct pollfd p[BLOCKED];

	for (int i = 0; i < BLOCKED; i++) {
		p[i] = (struct pollfd){.events = POLLIN};
		p[i].fd = open_file(w, "per_cpu/cpu1/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
	}
	assert_int_equal(poll(p, BLOCKED, 1), 0); /* with 0 nobody would be told later */
	assert_in_range(read_proc_number("/proc/self/status", "Threads:"), before,
			before + THREADS_OF_MOUNT);
	close(p[BLOCKED / 2].fd);
	p[BLOCKED / 2].fd = open_file(w, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
	assert_int_equal(put(w, "buffer_percent", "0"), 1);
	assert_int_equal(poll(p, BLOCKED, 0), 0);
	assert_int_equal(put(w, "trace_marker", "for one of them"), 15);
	assert_int_equal(poll(p, BLOCKED, 120000), 1);
	assert_int_equal(p[BLOCKED / 2].revents & POLLIN, POLLIN);
	for (int i = 0; i < BLOCKED; i++)
		close(p[i].fd);
}

/* --- many at once ------------------------------------------------------------------------- */

enum { THREADS = 32, SECONDS = 3 };

struct crowd {
	struct mounted *w;
	atomic_bool end;
	atomic_uint number, operations;
};

static const char *const read_by_many[] = {
	"trace",
	"per_cpu/cpu0/trace",
	"snapshot",
	"set_ftrace_filter",
	"available_filter_functions",
	"README",
	"options/overwrite",
	"per_cpu/cpu0/stats",
	"trace_options",
	"saved_cmdlines",
	"instances/foo/trace",
	"hvtrace/guest",
	"hvtrace/losses",
	"hvtrace/overhead",
	"hvtrace/standstill",
	"hvtrace/graph",
	"enabled_functions",
	"error_log",
	"trace_pipe",
	"per_cpu/cpu0/trace_pipe_raw",
	"per_cpu/cpu1/snapshot_raw",
};

static const struct {
	const char *path, *text;
} written_by_many[] = {
	{"trace_marker", "many"},
	{"trace_marker", "more of them\n"},
	{"tracing_on", "1"},
	{"options/sym-addr", "1"},
	{"options/sym-addr", "0"},
	{"snapshot", "1"},
	{"saved_cmdlines_size", "1000"},
	{"snapshot", "2"},
	{"snapshot", "0"},
	{"set_ftrace_filter", "vfs_*\n"},
	{"set_ftrace_pid", "1 2\n"},
	{"buffer_size_kb", "100"},
	{"per_cpu/cpu1/buffer_size_kb", "50"},
	{"trace", ""},
	{"current_tracer", "function"},
	{"current_tracer", "nop"},
	{"trace_clock", "local"},
	{"instances/foo/trace_marker", "here"},
	{"trace_marker_raw", "rawdata"},
	{"tracing_cpumask", "3"},
};

static void read_a_file(struct mounted *w, const char *path)
{
	char buf[65536];
	int fd = openat(w->at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}

static void write_a_file(struct mounted *w, const char *path, const char *text)
{
	int fd = openat(w->at, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		holds(errno != ENOTCONN && errno != EIO);
	close(fd);
}

static void *one_of_many(void *arg)
{
	struct crowd *c = arg;
	unsigned int i = atomic_fetch_add(&c->number, 1) * 7;

	for (; !atomic_load(&c->end); i++) {
		size_t readers = sizeof(read_by_many) / sizeof(read_by_many[0]);
		size_t writers = sizeof(written_by_many) / sizeof(written_by_many[0]);

		if (i % 2)
			read_a_file(c->w, read_by_many[i / 2 % readers]);
		else
			write_a_file(c->w, written_by_many[i / 2 % writers].path,
				     written_by_many[i / 2 % writers].text);
		if (i % 101 == 0 && mkdirat(c->w->at, "instances/foo", 0755))
			unlinkat(c->w->at, "instances/foo", AT_REMOVEDIR);
		atomic_fetch_add(&c->operations, 1);
	}
	return NULL;
}

static void test_many(void **state)
{
	const struct timespec span = {.tv_sec = SECONDS};
	struct crowd c = {.w = *state};
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, one_of_many, &c), 0);
	nanosleep(&span, NULL);
	atomic_store(&c.end, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	elsewhere_check();
	assert_true(c.operations > THREADS);
	assert_int_equal(put(c.w, "tracing_on", "1"), 1);
	expect(c.w, "tracing_on", "1\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_pipe_waits), TEST(test_polled_to_the_end), TEST(test_nonblock),
		TEST(test_poll),       TEST(test_poll_percent),	     TEST(test_killed),
		TEST(test_many),       TEST(test_poll_and_close),    TEST(test_many_wait),
		TEST(test_many_poll),
	};

	return mounted_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
