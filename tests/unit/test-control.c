// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-control.c - the files of a trace over its socket: what is read and written, the errors, who
 * waits, who goes in the middle of it, and what no client of ours would say.
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
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontend/control/client.h"
#include "frontend/control/peer.h"
#include "frontend/control/server.h"
#include "frontend/control/wire.h"
#include "frontend/registry.h"
#include "frontend/tracefs/view.h"
#include "tests/unit/tracefs-trace.h"

#define WAIT_SECONDS 20

struct world {
	char dir[64];
	struct trace *trace;
	struct view *view;
	struct control_server *server;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char err[256] = "";
	int listener;

	assert_non_null(w);
	tracefs_guest_new();
	w->trace = tracefs_trace_new(err, sizeof(err));
	if (!w->trace)
		fail_msg("%s", err);
	w->view = view_new(w->trace, "a made-up one");
	assert_non_null(w->view);
	snprintf(w->dir, sizeof(w->dir), "/tmp/test-control-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(w->dir));
	setenv("XDG_RUNTIME_DIR", w->dir, 1);
	listener = registry_listen();
	assert_true(listener >= 0);
	assert_int_equal(control_start(&w->server, w->view, listener), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char own[80];

	control_stop(w->server);
	registry_remove();
	snprintf(own, sizeof(own), "%s/hvtrace", w->dir);
	assert_int_equal(rmdir(own), 0);
	assert_int_equal(rmdir(w->dir), 0);
	view_free(w->view);
	trace_free(w->trace);
	tracefs_guest_free();
	free(w);
	return 0;
}

/* --- a file at a time --------------------------------------------------------------------- */

static int connect_plain(void)
{
	int fd = registry_connect(getpid());

	assert_true(fd >= 0);
	return fd;
}

static struct control_client *client(void)
{
	struct control_client *c = control_client_new(connect_plain(), -1);

	assert_non_null(c);
	return c;
}

/* What is written, and with which errno that ends. */
static int put(const char *path, int flags, const char *text)
{
	struct control_client *c = client();
	ssize_t n = control_open(c, path, O_WRONLY | flags);

	if (n >= 0)
		n = control_write(c, text, strlen(text));
	if (n == (ssize_t)strlen(text))
		n = control_close(c);
	control_client_free(c);
	return (int)n;
}

/* A whole file; free() it. */
static char *slurp(const char *path)
{
	struct control_client *c = client();
	struct text text = {0};
	const char *data;
	ssize_t n = control_open(c, path, O_RDONLY);

	if (n < 0)
		fail_msg("open %s: %s", path, strerror((int)-n));
	while ((n = control_read(c, &data)) > 0)
		text_add(&text, data, (size_t)n);
	if (n < 0)
		fail_msg("read %s: %s", path, strerror((int)-n));
	text_putc(&text, '\0');
	assert_int_equal(control_close(c), 0);
	control_client_free(c);
	return text.buf;
}

static void expect(const char *path, const char *want)
{
	char *text = slurp(path);

	assert_string_equal(text, want);
	free(text);
}

static void test_files(void **state)
{
	(void)state;
	expect("current_tracer", "nop\n");
	assert_int_equal(put("current_tracer", O_TRUNC, "function\n"), 0);
	expect("./current_tracer", "function\n");
	expect("/hvtrace//machine", "machine: a made-up one\nvcpus: 2\n");
	assert_int_equal(put("set_ftrace_filter", O_TRUNC, "vfs_read\n"), 0);
	assert_int_equal(put("set_ftrace_filter", O_APPEND, "vfs_write\n"), 0);
	expect("set_ftrace_filter", "vfs_read\nvfs_write\n");
	assert_int_equal(put("set_ftrace_filter", O_TRUNC, "schedule\n"), 0);
	expect("set_ftrace_filter", "schedule\n");
	assert_int_equal(put("per_cpu/cpu1/buffer_size_kb", O_TRUNC, "100"), 0);
	expect("per_cpu/cpu1/buffer_size_kb", "103\n");
}

/* Each word of a filter is a write of its own, whatever else it came with. */
static void test_offset(void **state)
{
	struct control_client *c = client();
	const char *data;

	(void)state;
	assert_int_equal(control_open(c, "set_ftrace_filter", O_WRONLY | O_TRUNC), 0);
	assert_int_equal(control_write(c, "vfs_r", 5), 5);
	assert_int_equal(control_write(c, "ead\n", 4), 4);
	assert_int_equal(control_close(c), 0);
	expect("set_ftrace_filter", "vfs_read\n");
	assert_int_equal(control_open(c, "set_ftrace_filter", O_RDONLY), 0);
	assert_int_equal(control_read(c, &data), 9);
	assert_int_equal(control_read(c, &data), 0);
	control_client_free(c);
}

static void test_directories(void **state)
{
	char *root = slurp("."), *at = root;

	(void)state;
	assert_non_null(strstr(root, "\ncurrent_tracer\n"));
	assert_non_null(strstr(root, "\nper_cpu/\n"));
	while (strchr(at, '\n') && strchr(at, '\n')[1]) {
		char *next = strchr(at, '\n') + 1;

		assert_true(strcmp(at, next) < 0);
		at = next;
	}
	free(root);
	expect("per_cpu", "cpu0/\ncpu1/\n");
	expect("instances/", "");
}

static void test_large(void **state)
{
	char *all;
	size_t len;

	(void)state;
	for (int i = 0; i < 8000; i++)
		assert_int_equal(put("trace_marker", 0, "one of many lines of text\n"), 0);
	all = slurp("trace");
	len = strlen(all);
	assert_true(len > WIRE_DATA_MAX * 4);
	assert_memory_equal(all, "# tracer: nop\n", 14);
	assert_string_equal(all + len - 26, "one of many lines of text\n");
	free(all);
}

/* --- errors ------------------------------------------------------------------------------- */

static void test_open_errors(void **state)
{
	static const struct {
		const char *path;
		int flags, rc;
	} cases[] = {
		{"nosuch", O_RDONLY, -ENOENT},
		{"", O_RDONLY, -ENOENT},
		{"../trace", O_RDONLY, -ENOENT},
		{"trace/x", O_RDONLY, -ENOTDIR},
		{"per_cpu/cpu2/trace", O_RDONLY, -ENOENT},
		{"instances", O_WRONLY | O_TRUNC, -EISDIR},
		{".", O_RDONLY | O_TRUNC, -EISDIR},
		{"trace", O_RDONLY | O_CREAT, -EINVAL},
		{"trace", O_ACCMODE, -EINVAL},
		{"trace", -1, -EINVAL},
	};
	struct control_client *c = client();
	char path[WIRE_DATA_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(control_open(c, cases[i].path, cases[i].flags), cases[i].rc);
	memset(path, '/', sizeof(path));
	path[WIRE_DATA_MAX + 1] = '\0';
	assert_int_equal(control_open(c, path, O_RDONLY), -ENAMETOOLONG);
	path[WIRE_PATH_MAX] = '\0';
	assert_int_equal(control_open(c, path, O_RDONLY), -ENAMETOOLONG);
	path[WIRE_PATH_MAX - 1] = '\0';
	assert_int_equal(control_open(c, path, O_RDONLY), 0); /* the root */
	assert_int_equal(control_open(c, "trace", O_RDONLY), -EMFILE);
	control_client_free(c);
}

static void test_write_errors(void **state)
{
	(void)state;
	assert_int_equal(put("current_tracer", O_TRUNC, "nosuch\n"), -EINVAL);
	assert_int_equal(put("buffer_size_kb", O_TRUNC, "99999999999999999999999\n"), -ERANGE);
	assert_int_equal(put("set_ftrace_filter", O_TRUNC, "nosuch\n"), -EINVAL);
	expect("current_tracer", "nop\n");
}

/* What was not opened for it, or at all. */
static void test_bad_files(void **state)
{
	struct control_client *c = client();
	const char *data;

	(void)state;
	assert_int_equal(control_read(c, &data), -EBADF);
	assert_int_equal(control_write(c, "x", 1), -EBADF);
	assert_int_equal(control_close(c), -EBADF);
	assert_int_equal(control_open(c, "trace", O_WRONLY), 0);
	assert_int_equal(control_read(c, &data), -EBADF);
	assert_int_equal(control_write(c, "", 0), 0);
	assert_int_equal(control_close(c), 0);
	assert_int_equal(control_open(c, "trace", O_RDONLY), 0);
	assert_int_equal(control_write(c, "x", 1), -EBADF);
	assert_int_equal(control_close(c), 0);
	assert_int_equal(control_open(c, "options", O_RDONLY), 0);
	assert_int_equal(control_write(c, "x", 1), -EBADF);
	control_client_free(c);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

/* An answer's value. */
static int ask(struct peer *p, enum wire_op op, int value, const char *path)
{
	static struct wire_message m, answer;

	m.head = (struct wire_head){(uint32_t)strlen(path), WIRE_VERSION, (uint16_t)op, value};
	memcpy(m.data, path, m.head.len);
	peer_answer(p, &m, &answer);
	return answer.head.value;
}

/* Root may open all, and is told EINVAL when it reads or writes then, as on the mount. */
static void test_modes(void **state)
{
	struct world *w = *state;
	static const struct {
		const char *path;
		int flags;
		enum wire_op then;
	} cases[] = {
		{"available_tracers", O_WRONLY, WIRE_WRITE},
		{"trace_marker", O_RDONLY, WIRE_READ},
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct peer p = {.view = w->view, .may_all = i % 2, .is_over = at_once};

		assert_int_equal(ask(&p, WIRE_OPEN, cases[i / 2].flags, cases[i / 2].path),
				 p.may_all ? 0 : -EACCES);
		assert_int_equal(ask(&p, cases[i / 2].then, 1, "1"), p.may_all ? -EINVAL : -EBADF);
		peer_exit(&p);
	}
}

/* Modes that were changed hold, also those of directories on the way and above. */
static void test_changed_modes(void **state)
{
	struct world *w = *state;
	struct peer p = {.view = w->view, .is_over = at_once};
	struct view_attr attr = {.mode = 0};
	view_id trace, cpus, instances;

	assert_int_equal(view_find(w->view, "trace", &trace), 0);
	assert_int_equal(view_find(w->view, "per_cpu", &cpus), 0);
	assert_int_equal(view_find(w->view, "instances", &instances), 0);
	assert_int_equal(ask(&p, WIRE_OPEN, O_RDONLY | O_TRUNC, "trace"), 0);
	assert_int_equal(ask(&p, WIRE_CLOSE, 0, ""), 0);
	attr.mode = 0440;
	assert_int_equal(view_set_attr(w->view, trace, &attr, VIEW_ATTR_MODE), 0);
	assert_int_equal(ask(&p, WIRE_OPEN, O_RDONLY | O_TRUNC, "trace"), -EACCES);
	attr.mode = 0640;
	assert_int_equal(view_set_attr(w->view, cpus, &attr, VIEW_ATTR_MODE), 0);
	assert_int_equal(ask(&p, WIRE_OPEN, O_RDONLY, "per_cpu/cpu0/trace"), -EACCES);
	assert_int_equal(ask(&p, WIRE_OPEN, O_RDONLY, "per_cpu"), 0);
	assert_int_equal(ask(&p, WIRE_MKDIR, 0, "instances/foo"), 0);
	attr.mode = 0550;
	assert_int_equal(view_set_attr(w->view, instances, &attr, VIEW_ATTR_MODE), 0);
	assert_int_equal(ask(&p, WIRE_MKDIR, 0, "instances/bar"), -EACCES);
	assert_int_equal(ask(&p, WIRE_RMDIR, 0, "instances/foo"), -EACCES);
	peer_exit(&p);
}

static void test_instances(void **state)
{
	struct control_client *c = client(), *other = client();
	char name[300];

	(void)state;
	assert_int_equal(control_mkdir(c, "instances/foo"), 0);
	assert_int_equal(control_mkdir(c, "instances/foo/"), -EEXIST);
	assert_int_equal(control_mkdir(c, "foo"), -EPERM);
	assert_int_equal(control_mkdir(c, "options"), -EEXIST);
	assert_int_equal(control_mkdir(c, "nosuch/foo"), -ENOENT);
	assert_int_equal(control_mkdir(c, "trace/foo"), -ENOTDIR);
	assert_int_equal(control_mkdir(c, "/"), -EINVAL);
	assert_int_equal(control_mkdir(c, "instances/.."), -EINVAL);
	snprintf(name, sizeof(name), "instances/%0256d", 0);
	assert_int_equal(control_mkdir(c, name), -ENAMETOOLONG);
	expect("instances", "foo/\n");
	expect("instances/foo/current_tracer", "nop\n");
	assert_int_equal(control_open(other, "instances/foo/trace", O_RDONLY), 0);
	assert_int_equal(control_rmdir(c, "instances/foo"), -EBUSY);
	assert_int_equal(control_close(other), 0);
	assert_int_equal(control_rmdir(c, "instances/foo"), 0);
	assert_int_equal(control_rmdir(c, "instances/foo"), -ENOENT);
	assert_int_equal(control_rmdir(c, "options"), -EPERM);
	assert_int_equal(control_rmdir(c, "trace"), -ENOTDIR);
	control_client_free(other);
	control_client_free(c);
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
	struct world *w = *state;
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
	struct world *w = *state;
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
	struct wire wire = {connect_plain(), {-1, 0, 0}};

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

/* Nobody reads any more what a client prints: it does not wait for more to print. */
static void test_output_goes(void **state)
{
	struct control_client *c;
	const char *data;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	c = control_client_new(connect_plain(), ends[1]);
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
		int fd = connect_plain();

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
	struct wire wire = {connect_plain(), {-1, 0, 0}};

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

/* In the middle of a message, of a head, before it: others are served, and the end comes at once.
 */
static void test_silent(void **state)
{
	const struct wire_head head = {100, WIRE_VERSION, WIRE_OPEN, 0};
	int fds[] = {connect_plain(), connect_plain(), connect_plain()};
	struct world *w = *state;
	time_t start = time(NULL);

	send_bytes(fds[0], &head, sizeof(head));
	send_bytes(fds[1], &head, 5);
	expect("current_tracer", "nop\n");
	control_stop(w->server);
	w->server = NULL;
	assert_true(time(NULL) - start < 4);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/* Requests without end, whose answers nobody takes. */
static void be_deaf(struct world *w, bool half_closed)
{
	static const char open_readme[] = "README";
	const struct wire_head open = {6, WIRE_VERSION, WIRE_OPEN, O_RDONLY};
	const struct wire_head read = {0, WIRE_VERSION, WIRE_READ, 1};
	int fd = connect_plain();

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
	expect_refusal(connect_plain(), -EUSERS);
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

/* --- who may connect ---------------------------------------------------------------------- */

static void test_private(void **state)
{
	struct world *w = *state;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s/hvtrace", w->dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	snprintf(path, sizeof(path), "%s/hvtrace/%d.sock", w->dir, getpid());
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
}

/* As a user who the modes of the socket would let in: whether it ends without a word. */
static bool is_turned_away(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	return fd >= 0 && !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534) &&
	       !connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) &&
	       recv(fd, &byte, 1, 0) == 0;
}

static void test_other_user(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct world *w = *state;
	char own[80];
	int status;
	pid_t pid;

	if (geteuid())
		skip(); /* who could be somebody else? */
	snprintf(own, sizeof(own), "%s/hvtrace", w->dir);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%.80s/%d.sock", own, getpid());
	assert_int_equal(chmod(w->dir, 0755) || chmod(own, 0755) || chmod(addr.sun_path, 0666), 0);
	pid = fork();
	if (!pid)
		_exit(is_turned_away(&addr) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* --- the registry ------------------------------------------------------------------------- */

static void make_file(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/hvtrace/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static bool is_there(const char *dir, const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/hvtrace/%s", dir, name);
	return !lstat(path, &st);
}

/* A number that is no process's. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void test_stale(void **state)
{
	const struct registry_guest own = {.name = "guest", .vcpus = 2};
	pid_t first = dead_pid(), second = dead_pid();
	char entry[16], socket[32], lone[32], mine[32];
	struct registry_guest *guests;
	struct world *w = *state;

	snprintf(entry, sizeof(entry), "%d", first);
	snprintf(socket, sizeof(socket), "%d.sock", first);
	snprintf(lone, sizeof(lone), "%d.sock", second);
	snprintf(mine, sizeof(mine), "%d.sock", getpid());
	make_file(w->dir, entry, "1\n1\nstale\nkvm\n6.1\n");
	make_file(w->dir, socket, "");
	make_file(w->dir, lone, "");
	assert_int_equal(registry_add(&own), 0);
	assert_int_equal(registry_list(&guests), 1);
	assert_int_equal(guests[0].pid, getpid());
	assert_string_equal(guests[0].name, "guest");
	free(guests);
	assert_false(is_there(w->dir, entry) || is_there(w->dir, socket) || is_there(w->dir, lone));
	assert_true(is_there(w->dir, mine));
	assert_int_equal(registry_connect(first), -ENOENT);
	registry_remove();
	assert_false(is_there(w->dir, mine));
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_files),	 TEST(test_offset),	 TEST(test_directories),
		TEST(test_large),	 TEST(test_open_errors), TEST(test_write_errors),
		TEST(test_bad_files),	 TEST(test_modes),	 TEST(test_changed_modes),
		TEST(test_instances),	 TEST(test_pipe),	 TEST(test_pipe_end),
		TEST(test_reader_goes),	 TEST(test_output_goes), TEST(test_bad_heads),
		TEST(test_bad_requests), TEST(test_silent),	 TEST(test_deaf),
		TEST(test_half_closed),	 TEST(test_too_many),	 TEST(test_private),
		TEST(test_other_user),	 TEST(test_stale),	 TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
