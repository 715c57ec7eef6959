// SPDX-License-Identifier: GPL-2.0-or-later
/* test-registry.c - where a trace under way is found: by whom, and what is left of one that died.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "frontend/session/connect.h"
#include "tests/unit/control-world.h"

/* --- who may connect ---------------------------------------------------------------------- */

static void test_private(void **state)
{
	struct control_world *w = *state;
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
	struct control_world *w = *state;
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
	struct control_world *w = *state;

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
	registry_remove(getpid());
	assert_false(is_there(w->dir, mine));
}

/* Whatever way its stub is called; not another one of that name. */
static void test_target(void **state)
{
	struct registry_guest own = {.name = "gdb", .vcpus = 2}, found;
	struct control_world *w = *state;
	char stub[128], link[128], other[160];

	make_file(w->dir, "gdb", "");
	snprintf(stub, sizeof(stub), "gdb:unix:%s/hvtrace/gdb", w->dir);
	snprintf(link, sizeof(link), "%s/hvtrace/link", w->dir);
	assert_int_equal(symlink("gdb", link), 0);
	snprintf(link, sizeof(link), "gdb:unix:%s/hvtrace/../hvtrace/link", w->dir);
	snprintf(other, sizeof(other), "gdb:unix:%s/gdb", w->dir);
	registry_target(stub, own.target, sizeof(own.target));
	assert_int_equal(registry_add(&own), 0);
	assert_true(connect_find(stub, &found) && found.pid == getpid());
	assert_true(connect_find(link, &found));
	assert_false(connect_find(other, &found));
	assert_false(connect_find("gdb", &found));
	assert_false(connect_find("", &found));
	snprintf(own.uuid, sizeof(own.uuid), "42");
	snprintf(own.target, sizeof(own.target), "mydomain");
	snprintf(own.name, sizeof(own.name), "mydomain");
	assert_int_equal(registry_add(&own), 0);
	assert_true(connect_find("mydomain", &found) && connect_find("42", &found));
	registry_remove(getpid());
	snprintf(link, sizeof(link), "%s/hvtrace/link", w->dir);
	assert_int_equal(unlink(link) | unlink(stub + strlen("gdb:unix:")), 0);
}

/* --- main --------------------------------------------------------------------------------- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, control_set_up, control_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_private),
		TEST(test_other_user),
		TEST(test_stale),
		TEST(test_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
