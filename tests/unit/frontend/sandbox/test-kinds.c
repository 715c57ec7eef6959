// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kinds.c - in the sandbox a thread can make the calls that its kind needs, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "frontend/sandbox/local.h"
#include "tests/unit/frontend/sandbox/child.h"
#include "vmm/thread.h"

#define CHAIN 20

/* One call of each group, which fails at once where it is allowed. */
static long try_group(unsigned int group)
{
	switch (group) {
	case CALLS_MEMORY:
		return pread(-1, NULL, 0, 0);
	case CALLS_TALK:
		return recv(-1, NULL, 0, 0);
	case CALLS_LISTEN:
		return accept4(-1, NULL, NULL, 0);
	case CALLS_PIPES:
		return tee(-1, -1, 1, 0);
	case CALLS_THREADS:
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	case CALLS_OUTPUT:
		return fsync(-1);
	case CALLS_LIBRARY:
		return epoll_ctl(-1, EPOLL_CTL_DEL, -1, NULL);
	case CALLS_CHILDREN:
		return waitpid(-1, NULL, WNOHANG);
	case CALLS_TERMINAL:
		return ioctl(-1, TCSETS, NULL);
	case CALLS_VCPU:
		return ioctl(-1, KVM_RUN, 0);
	case CALLS_INTERRUPT:
		return ioctl(-1, KVM_IRQ_LINE, NULL);
	case CALLS_PARSE:
		return syscall(SYS_memfd_create, NULL, 0);
	case CALLS_MACHINE:
		return ioctl(-1, KVM_SET_SREGS, NULL);
	case CALLS_SAVE:
		return ioctl(-1, KVM_GET_LAPIC, NULL);
	case CALLS_SHARE:
		return syscall(SYS_pidfd_send_signal, -1, SIGKILL, NULL, 0);
	case CALLS_REBOOT:
		return ioctl(-1, KVM_SET_REGS, NULL);
	case CALLS_ANSWER:
		return sendmsg(-1, NULL, 0);
	default:
		return 0;
	}
}

/* Of the calling thread: what it may do is what these groups have. */
static void expect_groups(const char *kind, unsigned int groups)
{
	for (unsigned int bit = 1; bit < CALLS_END; bit <<= 1) {
		/* Parsers and servers of queues are sent descriptors by the same call. */
		unsigned int with =
			bit == CALLS_ANSWER ? CALLS_ANSWER | CALLS_PARSE | CALLS_SHARE : bit;
		bool wanted = groups & with, allowed;

		if (bit == CALLS_FOLDER) /* which depends on what the process has */
			continue;
		errno = 0;
		demand(try_group(bit) == -1 && errno);
		allowed = errno != EPERM;
		if (allowed == wanted)
			continue;
		dprintf(STDERR_FILENO, "%s: calls of group %#x are %s\n", kind, bit,
			allowed ? "allowed" : "refused");
		_exit(1);
	}
}

struct one {
	const struct kind_row *row;
	int go[2];
};

static void *wait_and_try(void *arg)
{
	const struct one *o = arg;
	char byte;

	demand(read(o->go[0], &byte, 1) == 1);
	expect_groups(o->row->name, o->row->calls);
	/* Nor may it what no kind may. */
	demand(open("/etc/passwd", O_RDONLY) == -1 || SANDBOX_LOOSE);
	demand(ioctl(-1, KVM_CREATE_VCPU, 0) == -1 && errno == EPERM);
	return NULL;
}

static void threads_before(void *arg)
{
	struct one o = {.row = arg};
	pthread_t thread;

	demand(!pipe(o.go));
	demand(!thread_start(&thread, o.row->name, NULL, wait_and_try, &o));
	enter();
	demand(write(o.go[1], "g", 1) == 1 && !pthread_join(thread, NULL));
}

static bool is_main(const struct kind_row *row)
{
	return !strcmp(row->name, "main");
}

/* Those that are there when the sandbox is entered. */
static void test_before(void **state)
{
	(void)state;
	for (size_t i = 0; kinds_row(i); i++)
		if (!is_main(kinds_row(i)))
			in_child(threads_before, (void *)(uintptr_t)kinds_row(i));
}

static void main_thread(void *arg)
{
	(void)arg;
	enter();
	for (size_t i = 0; kinds_row(i); i++)
		if (is_main(kinds_row(i)))
			expect_groups("main", kinds_row(i)->calls);
}

static void test_main(void **state)
{
	(void)state;
	in_child(main_thread, NULL);
}

/* --- threads that are started later ------------------------------------------------------- */

static const struct kind_row *row_of(const char *kind)
{
	for (size_t i = 0; kinds_row(i); i++)
		if (!strcmp(kinds_row(i)->name, kind))
			return kinds_row(i);
	fail_msg("no kind %s", kind);
	return NULL;
}

static void *try_own(void *arg)
{
	expect_groups(thread_kind(), *(unsigned int *)arg);
	return NULL;
}

struct start {
	const char *kind;
	unsigned int calls;
	int go[2];
};

static void *start_and_join(void *arg)
{
	struct start *s = arg;
	pthread_t thread;
	char byte;

	demand(read(s->go[0], &byte, 1) == 1);
	demand(!thread_start(&thread, s->kind, NULL, try_own, &s->calls));
	demand(!pthread_join(thread, NULL));
	return NULL;
}

struct pair {
	const struct kind_row *starter, *started;
};

static void threads_later(void *arg)
{
	const struct pair *p = arg;
	struct start s = {p->started->name, p->started->calls, {-1, -1}};
	pthread_t thread;

	demand(!pipe(s.go) && write(s.go[1], "g", 1) == 1);
	if (is_main(p->starter)) {
		enter();
		start_and_join(&s);
		return;
	}
	/* It starts another one when it is in the sandbox. */
	demand(read(s.go[0], &(char){0}, 1) == 1);
	demand(!thread_start(&thread, p->starter->name, NULL, start_and_join, &s));
	enter();
	demand(write(s.go[1], "g", 1) == 1 && !pthread_join(thread, NULL));
}

/* They have all that they need, and no more, whoever starts them. */
static void test_later(void **state)
{
	(void)state;
	for (size_t i = 0; kinds_row(i); i++)
		for (size_t j = 0; kinds_row(i)->starts[j]; j++) {
			struct pair p = {kinds_row(i), row_of(kinds_row(i)->starts[j])};

			assert_true(p.starter->calls & CALLS_THREADS);
			assert_int_equal(p.started->calls & ~p.starter->calls, 0);
			in_child(threads_later, &p);
		}
}

/* --- threads that start others like themselves --------------------------------------------- */

struct chain {
	unsigned int left;
	int up, down;
};

static void *start_next(void *arg)
{
	struct chain *c = arg;
	pthread_t thread;
	char byte;

	if (c->left--) {
		demand(!thread_start(&thread, "files", NULL, start_next, c));
		demand(!pthread_join(thread, NULL));
		return NULL;
	}
	demand(write(c->up, "u", 1) == 1 && read(c->down, &byte, 1) == 1);
	return NULL;
}

/* As /proc/PID/task/TID/status says; 0 where the kernel does not. */
static unsigned int nr_lists(int tasks, const char *tid)
{
	static const char key[] = "\nSeccomp_filters:";
	char path[64], status[4096], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/status", tid);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	assert_true(n > 0);
	status[n] = '\0';
	at = strstr(status, key);
	return at ? (unsigned int)strtoul(at + strlen(key), NULL, 10) : 0;
}

/* Of the thread that has the most. */
static unsigned int most_lists(pid_t pid)
{
	unsigned int most = 0, nr;
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		nr = *e->d_name == '.' ? 0 : nr_lists(dirfd(dir), e->d_name);
		most = nr > most ? nr : most;
	}
	closedir(dir);
	return most;
}

/* Each list costs the calls of all that follow it: theirs do not add up. */
static void test_chain(void **state)
{
	int up[2], down[2], status;
	unsigned int before = most_lists(getpid());
	struct chain c;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	pid = fork();
	if (!pid) {
		c = (struct chain){CHAIN, up[1], down[0]};
		enter();
		start_next(&c);
		_exit(0);
	}
	close(up[1]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	/* That of all, that of main, that of files. */
	assert_in_range(most_lists(pid), 0, before + 3);
	assert_int_equal(write(down[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(up[0]);
	close(down[0]);
	close(down[1]);
}

/* --- the table ------------------------------------------------------------------------------ */

static void test_table(void **state)
{
	static const struct {
		const char *kind;
		unsigned int never;
	} wanted[] = {
		{"main", CALLS_VCPU | CALLS_LISTEN},
		{"files", CALLS_VCPU | CALLS_INTERRUPT | CALLS_LISTEN},
		{"control", CALLS_VCPU | CALLS_INTERRUPT},
		{"collector", CALLS_VCPU | CALLS_INTERRUPT | CALLS_THREADS},
		{"vcpu", CALLS_LISTEN | CALLS_CHILDREN},
		{"pit", CALLS_MEMORY | CALLS_TALK | CALLS_MACHINE | CALLS_VCPU},
		{"signals", CALLS_MEMORY | CALLS_TALK | CALLS_MACHINE | CALLS_VCPU},
		{"console", CALLS_MEMORY | CALLS_MACHINE},
		{"libvirt", CALLS_MEMORY | CALLS_MACHINE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(row_of(wanted[i].kind)->calls & wanted[i].never, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before), cmocka_unit_test(test_main),
		cmocka_unit_test(test_later),  cmocka_unit_test(test_chain),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
