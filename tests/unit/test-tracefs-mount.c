// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs-mount.c - a trace as a mounted file system, with open, read and write: the files,
 * the texts and the errors that a real kernel gave (tests/data/tracefs-6.1), who waits, who is in
 * the way, and many at once. Skipped where nothing can be mounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontend/tracefs/tracefs.h"
#include "frontend/tracefs/view.h"
#include "tests/unit/tracefs-golden.h"
#include "tests/unit/tracefs-trace.h"

struct world {
	char dir[64];
	struct trace *trace;
	struct view *view;
	struct tracefs *fs;
	int at; /* the directory */
};

static struct tracefs *mount_at(struct world *w, const char *dir)
{
	const struct tracefs_config cfg = {.dir = dir, .guest = "test"};
	char err[512] = "";
	struct tracefs *fs = tracefs_mount(w->view, &cfg, err, sizeof(err));

	if (!fs)
		fail_msg("%s", err);
	return fs;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char err[512] = "";

	assert_non_null(w);
	tracefs_guest_new();
	w->trace = tracefs_trace_new(err, sizeof(err));
	if (!w->trace)
		fail_msg("%s", err);
	w->view = view_new(w->trace, NULL);
	assert_non_null(w->view);
	snprintf(w->dir, sizeof(w->dir), "/tmp/test-tracefs-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(w->dir));
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->at >= 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	close(w->at);
	tracefs_unmount(w->fs);
	assert_int_equal(rmdir(w->dir), 0);
	view_free(w->view);
	trace_free(w->trace);
	tracefs_guest_free();
	free(w);
	return 0;
}

/* --- a file at a time --------------------------------------------------------------------- */

static int open_file(struct world *w, const char *path, int flags)
{
	int fd = openat(w->at, path, flags | O_CLOEXEC);

	if (fd < 0)
		fail_msg("open %s: %s", path, strerror(errno));
	return fd;
}

/* What is written, as a shell's echo does it: the bytes taken, or -errno. */
static ssize_t put_bytes(struct world *w, const char *path, int flags, const char *text, size_t len)
{
	int fd = open_file(w, path, O_WRONLY | flags);
	ssize_t n = write(fd, text, len);

	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

static ssize_t put(struct world *w, const char *path, const char *text)
{
	return put_bytes(w, path, O_TRUNC, text, strlen(text));
}

/* A whole file; free() it. */
static char *slurp(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		fail_msg("open %s: %s", path, strerror(errno));
	do {
		text = realloc(text, len + 65536 + 1);
		assert_non_null(text);
		n = read(fd, text + len, 65536);
		if (n < 0)
			fail_msg("read %s: %s", path, strerror(errno));
		len += (size_t)n;
	} while (n);
	close(fd);
	text[len] = '\0';
	return text;
}

static void expect(struct world *w, const char *path, const char *want)
{
	char *text = slurp(w->at, path);

	if (strcmp(text, want))
		fail_msg("%s reads\n%s\nnot\n%s", path, text, want);
	free(text);
}

/* --- what the kernel's has and says ------------------------------------------------------- */

struct listing {
	struct world *w;
	const char *prefix;
};

static void check_listed(void *arg, const char *path, mode_t mode)
{
	const struct listing *l = arg;
	char whole[512];
	struct stat st;
	int rc;

	snprintf(whole, sizeof(whole), "%s%s", l->prefix, path);
	rc = fstatat(l->w->at, *whole ? whole : ".", &st, 0);
	if (!mode) {
		if (!rc)
			fail_msg("%s is offered now: take it off the list of what is not", path);
		return;
	}
	if (rc)
		fail_msg("%s: %s", path, strerror(errno));
	if (st.st_mode != mode)
		fail_msg("%s has mode %o, not %o", path, st.st_mode, mode);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void test_listing(void **state)
{
	struct listing l = {*state, ""};

	golden_each_listed("tree.txt", check_listed, &l);
}

static void test_instance_listing(void **state)
{
	struct listing l = {*state, "instances/foo/"};

	assert_int_equal(mkdirat(l.w->at, "instances/foo", 0755), 0);
	golden_each_listed("tree-instance.txt", check_listed, &l);
	assert_int_equal(unlinkat(l.w->at, "instances/foo", AT_REMOVEDIR), 0);
}

static void check_text(void *arg, const char *path, const char *text)
{
	expect(arg, path, text);
}

static void test_defaults(void **state)
{
	assert_true(golden_each_text("", check_text, *state) > 60);
}

/* An empty write does not get past the kernel's FUSE. */
static void check_write(void *arg, const struct golden_write *w)
{
	if (w->len)
		golden_check_write(w, put_bytes(arg, w->path, golden_flags(w), w->text, w->len));
}

static void test_writes(void **state)
{
	assert_true(golden_each_write(check_write, *state) > 120);
}

/* An empty buffer is not readable for poll(2), whatever the kernel says of one with two pages. */
static bool is_few_pages(const char *path)
{
	return !strncmp(path, "per_cpu/cpu0/trace_pipe", 23);
}

static void check_read(void *arg, const struct golden_read *r)
{
	struct pollfd p = {open_file(arg, r->path, O_RDONLY | O_NONBLOCK), POLLIN, 0};
	char buf[4096];
	ssize_t n = read(p.fd, buf, r->len);

	n = n < 0 ? -errno : n;
	if (!golden_same(r->result, n))
		fail_msg("%s read(%zu) gives %zd, not %s", r->path, r->len, n, r->result);
	n = lseek(p.fd, 0, SEEK_SET);
	if (r->seeks ? n != 0 : n != -1 || errno != ESPIPE)
		fail_msg("%s: lseek gives %zd", r->path, n);
	if (poll(&p, 1, 0) != (r->ready && !is_few_pages(r->path)))
		fail_msg("%s: poll says %x", r->path, p.revents);
	close(p.fd);
}

/* As the kernel was then: off, with a snapshot that holds nothing. */
static void test_reads(void **state)
{
	assert_int_equal(put(*state, "tracing_on", "0"), 1);
	assert_int_equal(put(*state, "snapshot", "1"), 1);
	assert_true(golden_each_read(check_read, *state) > 12);
}

static void test_long_writes(void **state)
{
	static const struct {
		const char *path;
		size_t len;
		ssize_t result;
	} cases[] = {
		{"current_tracer", 200, -EINVAL},   {"tracing_on", 100, -EINVAL},
		{"set_ftrace_filter", 300, 300},    {"trace_options", 80, -EINVAL},
		{"buffer_size_kb", 70, -EINVAL},    {"trace_clock", 80, -EINVAL},
		{"tracing_cpumask", 3000, -EINVAL}, {"trace_marker", 3000, 1024},
		{"trace_marker_raw", 3000, 1024},   {"trace_marker_raw", 4000, -EINVAL},
	};
	char text[4000];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ssize_t n = put_bytes(*state, cases[i].path, O_TRUNC, text, cases[i].len);

		if (n != cases[i].result)
			fail_msg("%s, %zu bytes: %zd", cases[i].path, cases[i].len, n);
	}
}

/* --- names that cannot be ----------------------------------------------------------------- */

static void test_names(void **state)
{
	struct world *w = *state;

	assert_int_equal(openat(w->at, "nosuch", O_WRONLY | O_CREAT, 0644), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(openat(w->at, "nosuch", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(unlinkat(w->at, "README", 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(mkdirat(w->at, "foo", 0755), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(unlinkat(w->at, "instances", AT_REMOVEDIR), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(mkdirat(w->at, "instances/foo/bar", 0755), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(unlinkat(w->at, "instances/foo/per_cpu", AT_REMOVEDIR), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);
	assert_int_equal(faccessat(w->at, "instances/foo", F_OK, 0), -1);
}

/* What was seen of the kernel's: 666 and 1:1, with nothing but that changed, and kept. */
static void test_chmod(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(fchmodat(w->at, "tracing_on", 0666, 0), 0);
	assert_int_equal(fchmodat(w->at, "options", 0700, 0), 0);
	if (!geteuid())
		assert_int_equal(fchownat(w->at, "tracing_on", 1, 1, 0), 0);
	assert_int_equal(put(w, "tracing_on", "1"), 1);
	assert_int_equal(fstatat(w->at, "tracing_on", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0666);
	assert_int_equal(st.st_uid, geteuid() ? geteuid() : 1);
	assert_int_equal(st.st_gid, geteuid() ? getegid() : 1);
	assert_int_equal(fstatat(w->at, "options", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
}

/* close(2) does what it does before anything that is asked for later. */
static void test_close(void **state)
{
	struct world *w = *state;

	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	for (int i = 0; i < 200; i++) {
		int fd = open_file(w, "set_ftrace_filter", O_WRONLY | O_TRUNC), copy = dup(fd);

		/* As a shell does it: the descriptor that was opened is closed before the write. */
		close(fd);
		expect(w, "set_ftrace_filter",
		       i ? "vfs_read\n" : "#### all functions enabled ####\n");
		assert_int_equal(write(copy, "vfs_read\n", 9), 9);
		close(copy);
		expect(w, "set_ftrace_filter", "vfs_read\n");

		close(open_file(w, "trace_pipe", O_RDONLY));
		close(open_file(w, "instances/foo/trace", O_RDONLY));
		assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);
		assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	}
	close(open_file(w, "set_ftrace_filter", O_WRONLY | O_TRUNC));
	expect(w, "set_ftrace_filter", "#### all functions enabled ####\n");
}

static void test_busy(void **state)
{
	struct world *w = *state;
	int fd;

	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	fd = open_file(w, "instances/foo/tracing_on", O_RDONLY);
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), -1);
	assert_int_equal(errno, EBUSY);
	close(fd);
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);

	fd = open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK);
	assert_int_equal(openat(w->at, "trace_pipe", O_RDWR | O_TRUNC), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(put(w, "current_tracer", "function"), -EBUSY);
	assert_int_equal(lseek(fd, 0, SEEK_SET), -1);
	assert_int_equal(errno, ESPIPE);
	close(fd);
	assert_int_equal(put(w, "current_tracer", "function"), 8);
}

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

static void reader_start(struct reader *r, struct world *w, const char *path)
{
	*r = (struct reader){.fd = open_file(w, path, O_RDONLY)};
	assert_int_equal(pthread_create(&r->thread, NULL, read_once, r), 0);
}

static void test_pipe_waits(void **state)
{
	struct world *w = *state;
	struct reader text, raw;

	reader_start(&text, w, "per_cpu/cpu1/trace_pipe");
	reader_start(&raw, w, "per_cpu/cpu0/trace_pipe_raw");
	assert_int_equal(put(w, "trace_marker", "for the page"), 12);
	pthread_join(raw.thread, NULL);
	assert_int_equal(raw.n, 4095);
	assert_non_null(memmem(raw.text, 4095, "for the page", 12));
	/* Nothing ever comes on vCPU 1: it waits until the mount goes. */
	tracefs_unmount(w->fs);
	pthread_join(text.thread, NULL);
	assert_true(text.n <= 0);
	close(w->at);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void test_nonblock(void **state)
{
	struct world *w = *state;
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
	struct world *w = *state;
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
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(read(p.fd, page, sizeof(page)), 4096);
	/* Less than that is read too, but nobody is woken for it. */
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(read(p.fd, page, sizeof(page)), 4096);
	close(p.fd);
}

static void *mark_later(void *arg)
{
	const struct timespec later = {.tv_nsec = 50000000};

	nanosleep(&later,
		  NULL); /* so that poll(2) has probably begun to wait; not for the result */
	put(arg, "trace_marker", "polled");
	return NULL;
}

static void test_poll(void **state)
{
	struct world *w = *state;
	struct pollfd p = {open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK), POLLIN, 0};
	pthread_t thread;
	char buf[4096];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(poll(&p, 1, 0), 0);
		assert_int_equal(pthread_create(&thread, NULL, mark_later, w), 0);
		assert_int_equal(poll(&p, 1, 10000), 1);
		assert_true(p.revents & POLLIN);
		assert_true(read(p.fd, buf, sizeof(buf)) > 0);
		pthread_join(thread, NULL);
	}
	close(p.fd);
}

/* A reader that is killed while it waits is gone, and so is what it had open. */
static void test_killed(void **state)
{
	struct world *w = *state;
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

/* --- mounting ----------------------------------------------------------------------------- */

static void test_open_at_the_end(void **state)
{
	struct world *w = *state;
	int trace = open_file(w, "trace", O_RDONLY), dir = open_file(w, ".", O_RDONLY);
	char c;

	close(w->at);
	tracefs_unmount(w->fs);
	assert_int_equal(read(trace, &c, 1), -1);
	close(trace);
	close(dir);
	assert_int_equal(access(w->dir, F_OK), 0);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	expect(w, "tracing_on", "1\n");
}

static void test_unmounted_by_others(void **state)
{
	struct world *w = *state;

	close(w->at);
	assert_int_equal(umount2(w->dir, MNT_DETACH), 0);
	tracefs_unmount(w->fs);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What a killed process leaves: "Transport endpoint is not connected". */
static void test_stale(void **state)
{
	struct world *w = *state;
	char dir[96], options[96];
	struct tracefs *fs;
	struct stat st;
	int fd;

	if (geteuid())
		skip();
	snprintf(dir, sizeof(dir), "%s.stale", w->dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	assert_int_equal(mount("stale", dir, "fuse", 0, options), 0);
	close(fd);
	assert_int_equal(stat(dir, &st), -1);
	assert_int_equal(errno, ENOTCONN);
	fs = mount_at(w, dir);
	assert_int_equal(stat(dir, &st), 0);
	tracefs_unmount(fs);
	assert_int_equal(rmdir(dir), 0); /* it was there before: it stays */
}

static void test_mounted_already(void **state)
{
	struct world *w = *state;
	const struct tracefs_config cfg = {.dir = w->dir, .guest = "test"};
	char err[512] = "";

	assert_null(tracefs_mount(w->view, &cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "already"));
}

static void test_default_place(void **state)
{
	struct world *w = *state;
	const struct tracefs_config cfg = {.guest = ".a/b"};
	char runtime[] = "/tmp/test-tracefs-run-XXXXXX", want[128], err[512] = "";
	struct tracefs *fs, *other;
	struct stat st;

	assert_non_null(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	fs = tracefs_mount(w->view, &cfg, err, sizeof(err));
	other = tracefs_mount(w->view, &cfg, err, sizeof(err));
	unsetenv("XDG_RUNTIME_DIR");
	if (!fs || !other)
		fail_msg("%s", err);
	snprintf(want, sizeof(want), "%s/hvtrace/_a_b-%ld", runtime, (long)getpid());
	assert_string_equal(tracefs_dir(other), want);
	tracefs_unmount(other);
	assert_int_equal(stat(want, &st), -1);
	snprintf(want, sizeof(want), "%s/hvtrace/_a_b", runtime);
	assert_string_equal(tracefs_dir(fs), want);
	assert_int_equal(stat(want, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	tracefs_unmount(fs);
	assert_int_equal(stat(want, &st), -1);
	snprintf(want, sizeof(want), "%s/hvtrace", runtime);
	assert_int_equal(rmdir(want), 0);
	assert_int_equal(rmdir(runtime), 0);
}

/* --- many at once ------------------------------------------------------------------------- */

enum { THREADS = 32, SECONDS = 3 };

struct crowd {
	struct world *w;
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

static void read_a_file(struct world *w, const char *path)
{
	char buf[65536];
	int fd = openat(w->at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}

static void write_a_file(struct world *w, const char *path, const char *text)
{
	int fd = openat(w->at, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		assert_true(errno != ENOTCONN && errno != EIO);
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
	assert_true(c.operations > THREADS);
	assert_int_equal(put(c.w, "tracing_on", "1"), 1);
	expect(c.w, "tracing_on", "1\n");
}

/* --- main --------------------------------------------------------------------------------- */

/*
 * Who serves a mount and waits for it too cannot die: the requests under way would have to be
 * answered first. Should this program crash, another one gives them up.
 */
static void start_undertaker(void)
{
	char prefix[64], dir[256], line[512];
	sigset_t set;
	FILE *f;
	int sig;

	snprintf(prefix, sizeof(prefix), "/tmp/test-tracefs-%d-", getpid());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (fork())
		return;
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	freopen("/dev/null", "w", stdout);
	freopen("/dev/null", "w", stderr);
	sigwait(&set, &sig);
	f = fopen("/proc/self/mounts", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s", dir) == 1 && !strncmp(dir, prefix, strlen(prefix)))
			umount2(dir, MNT_FORCE);
	_exit(0);
}

/* As root without the right to mount, or without the device, there is nothing to test. */
static bool can_mount(void)
{
	char dir[] = "/tmp/test-tracefs-XXXXXX";
	bool can;

	if (access("/dev/fuse", R_OK | W_OK) || !mkdtemp(dir))
		return false;
	if (geteuid()) {
		rmdir(dir);
		return !access("/usr/bin/fusermount3", X_OK);
	}
	can = !mount("none", dir, "tmpfs", 0, NULL);
	if (can)
		umount2(dir, MNT_DETACH);
	rmdir(dir);
	return can;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_listing),
		TEST(test_instance_listing),
		TEST(test_defaults),
		TEST(test_writes),
		TEST(test_reads),
		TEST(test_long_writes),
		TEST(test_names),
		TEST(test_chmod),
		TEST(test_close),
		TEST(test_busy),
		TEST(test_pipe_waits),
		TEST(test_nonblock),
		TEST(test_poll),
		TEST(test_poll_percent),
		TEST(test_killed),
		TEST(test_open_at_the_end),
		TEST(test_unmounted_by_others),
		TEST(test_stale),
		TEST(test_mounted_already),
		TEST(test_default_place),
		TEST(test_many),
	};

	if (!can_mount()) {
		puts("1..0 # SKIP nothing can be mounted here (/dev/fuse)");
		return 0;
	}
	start_undertaker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
