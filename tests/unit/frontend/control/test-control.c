// SPDX-License-Identifier: GPL-2.0-or-later
/* test-control.c - the files of a trace over its socket: what is read and written, and the errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/control-world.h"

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
		{"trace/", O_RDONLY, -ENOTDIR},
		{"per_cpu/cpu0/trace/", O_RDONLY, -ENOTDIR},
		{"trace/foo", O_RDONLY, -ENOTDIR},
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

/* Root may open all, and is told EINVAL when it reads or writes then, as on the mount. */
static void test_modes(void **state)
{
	struct control_world *w = *state;
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
	struct control_world *w = *state;
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

/* --- a snapshot --------------------------------------------------------------------------- */

#define SNAPSHOT_SIZE (1 << 20)

struct snapshot {
	unsigned char sent[SNAPSHOT_SIZE], got[SNAPSHOT_SIZE];
	size_t room; /* for so much of it */
	int end;     /* what sending it ended with */
	int rc;	     /* what it says then */
};

/* All of it but for a hole, the beginning last. */
static int send_some(void *arg, struct machine_save *save, char *err, size_t errlen)
{
	struct snapshot *s = arg;
	int rc = save->put(save->arg, s->sent + 4096, SNAPSHOT_SIZE / 2, 4096);

	assert_true(save->traced);
	if (!rc)
		rc = save->put(save->arg, s->sent + SNAPSHOT_SIZE - 3, 3, SNAPSHOT_SIZE - 3);
	if (!rc)
		rc = save->put(save->arg, s->sent, 100, 0);
	__atomic_store_n(&s->end, rc ? rc : 1, __ATOMIC_RELEASE);
	if (!s->rc)
		return rc;
	snprintf(err, errlen, "it is\twrong");
	return s->rc;
}

static int take_some(void *arg, const void *data, size_t len, uint64_t at)
{
	struct snapshot *s = arg;

	if (at > s->room || len > s->room - at)
		return -ENOSPC;
	memcpy(s->got + at, data, len);
	return 0;
}

static struct snapshot *snapshot_new(struct control_world *w)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	for (size_t i = 0; i < SNAPSHOT_SIZE; i++)
		s->sent[i] = (unsigned char)(i * 31 / 7 + i / 4096);
	s->room = SNAPSHOT_SIZE;
	w->saver = (struct control_saver){send_some, s};
	return s;
}

static void test_snapshot(void **state)
{
	struct snapshot *s = snapshot_new(*state);
	struct control_client *c = client();
	static const unsigned char zeros[SNAPSHOT_SIZE];
	char err[64];

	assert_int_equal(control_save(c, take_some, s, err, sizeof(err)), 0);
	assert_memory_equal(s->got, s->sent, 100);
	assert_memory_equal(s->got + 100, zeros, 4096 - 100);
	assert_memory_equal(s->got + 4096, s->sent + 4096, SNAPSHOT_SIZE / 2);
	assert_memory_equal(s->got + SNAPSHOT_SIZE - 3, s->sent + SNAPSHOT_SIZE - 3, 3);
	/* The connection is as good as before. */
	assert_int_equal(control_open(c, "current_tracer", O_RDONLY), 0);
	control_client_free(c);
	free(s);
}

static void test_snapshot_errors(void **state)
{
	struct control_world *w = *state;
	struct control_client *c = client();
	struct snapshot *s;
	char err[64];

	assert_int_equal(control_save(c, take_some, NULL, err, sizeof(err)), -EOPNOTSUPP);
	assert_string_equal(err, "there is no guest?");
	s = snapshot_new(w);
	s->rc = -EBUSY;
	assert_int_equal(control_save(c, take_some, s, err, sizeof(err)), -EBUSY);
	assert_string_equal(err, "it is?wrong");
	s->room = 200000;
	assert_int_equal(control_save(c, take_some, s, err, sizeof(err)), -ENOSPC);
	control_client_free(c);
	control_stop(w->server); /* nobody uses it any more */
	w->server = NULL;
	free(s);
}

/* Who asks and goes does not keep the guest. */
static void test_snapshot_of_one_gone(void **state)
{
	struct snapshot *s = snapshot_new(*state);
	const struct wire wire = {control_connect(), {-1, 0, 0}};
	static struct wire_message m;
	time_t end = time(NULL) + WAIT_SECONDS;

	m.head = (struct wire_head){0, WIRE_VERSION, WIRE_SAVE, 0};
	assert_int_equal(wire_send(&wire, &m), 0);
	assert_int_equal(wire_receive(&wire, &m, -1), 0);
	assert_int_equal(m.head.value, 1);
	close(wire.fd);
	while (!__atomic_load_n(&s->end, __ATOMIC_ACQUIRE) && time(NULL) < end)
		sched_yield();
	assert_true(s->end < 0);
	free(s);
}

/* --- main --------------------------------------------------------------------------------- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, control_set_up, control_tear_down)

/* Nobody answers at the other end. */
static void test_given_up(void **state)
{
	struct control_client *c;
	int fds[2], until = eventfd(1, EFD_CLOEXEC);
	char err[256];

	(void)state;
	assert_true(until >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	c = control_client_new(fds[0], -1);
	assert_non_null(c);
	control_client_until(c, until);
	assert_int_equal(control_open(c, "trace", O_RDONLY), -ECANCELED);
	assert_int_equal(control_save(c, NULL, NULL, err, sizeof(err)), -ECANCELED);
	control_client_free(c);
	close(fds[1]);
	close(until);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_files),
		TEST(test_offset),
		TEST(test_directories),
		TEST(test_large),
		TEST(test_open_errors),
		TEST(test_write_errors),
		TEST(test_bad_files),
		TEST(test_modes),
		TEST(test_changed_modes),
		TEST(test_instances),
		TEST(test_snapshot),
		TEST(test_snapshot_errors),
		TEST(test_snapshot_of_one_gone),
		TEST(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
