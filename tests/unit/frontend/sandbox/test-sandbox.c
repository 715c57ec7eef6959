// SPDX-License-Identifier: GPL-2.0-or-later
/* test-sandbox.c - what a process cannot do any more once it is in the sandbox, and what it still
 * can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/sandbox/broker.h"
#include "frontend/sandbox/local.h"
#include "frontend/sandbox/sandbox.h"
#include "tests/unit/frontend/sandbox/child.h"

#define CROWD 3

/* What the call gives is EPERM. */
static void expect_eperm(long rc, const char *call, int line)
{
	if (rc == -1 && errno == EPERM)
		return;
	dprintf(STDERR_FILENO, "%s:%d: %s gives %ld: %s\n", __FILE__, line, call, rc,
		strerror(errno));
	_exit(1);
}

#define refused(call) expect_eperm((long)(call), #call, __LINE__)

/* --- what is refused ---------------------------------------------------------------------- */

static void try_programs(void)
{
	char name[] = "/bin/true", *argv[] = {name, NULL}, *envp[] = {NULL};

	refused(execve(name, argv, envp));
	refused(syscall(SYS_execveat, AT_FDCWD, name, argv, envp, 0));
	if (!SANDBOX_LOOSE)
		refused(fork());
	refused(syscall(SYS_unshare, CLONE_NEWUSER));
	refused(syscall(SYS_seccomp, 0, 0, NULL));
}

static void try_files(void)
{
	refused(syscall(SYS_creat, "/tmp/test-sandbox-creat", 0600));
	refused(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0));
	refused(syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0));
	refused(unlink("/tmp/test-sandbox-none"));
	refused(rename("/tmp/test-sandbox-none", "/tmp/test-sandbox-more"));
	refused(chmod("/tmp", 0777));
	refused(chown("/tmp", 0, 0));
	refused(symlink("/etc/passwd", "/tmp/test-sandbox-link"));
	refused(mount("none", "/tmp", "tmpfs", 0, NULL));
	refused(chroot("/tmp"));
	if (SANDBOX_LOOSE)
		return;
	refused(open("/etc/shadow", O_RDONLY));
	refused(open("/etc/passwd", O_RDONLY));
	refused(open("/proc/self/mem", O_RDWR));
	refused(open("/dev/kvm", O_RDWR));
	refused(mkdir("/tmp/test-sandbox-dir", 0700));
}

static void try_others(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "/run/nobody"};
	struct iovec mine = {&addr, 1};

	refused(socket(AF_UNIX, SOCK_STREAM, 0));
	refused(socket(AF_INET, SOCK_STREAM, 0));
	refused(socket(AF_NETLINK, SOCK_RAW, 0));
	refused(connect(STDIN_FILENO, (struct sockaddr *)&addr, sizeof(addr)));
	refused(bind(STDIN_FILENO, (struct sockaddr *)&addr, sizeof(addr)));
	refused(process_vm_writev(getppid(), &mine, 1, &mine, 1, 0));
	refused(syscall(SYS_tgkill, getppid(), getppid(), 0));
	refused(syscall(SYS_pidfd_open, getppid(), 0));
	refused(syscall(SYS_bpf, 0, NULL, 0));
	refused(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
	refused(syscall(SYS_userfaultfd, 0));
	refused(syscall(SYS_io_uring_setup, 1, NULL));
	refused(ioctl(STDIN_FILENO, TIOCSTI, "x"));
	refused(syscall(SYS_get_robust_list, getppid(), NULL, NULL));
	if (SANDBOX_LOOSE)
		return;
	refused(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	refused(kill(getppid(), 0));
}

/* A descriptor that somebody sends, and an address that is not connected to. */
static void try_strangers(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "/run/nobody"};
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec one = {&byte, 1};
	struct mmsghdr msg = {.msg_hdr = {.msg_iov = &one,
					  .msg_iovlen = 1,
					  .msg_control = room,
					  .msg_controllen = sizeof(room)}};

	refused(recvmsg(STDIN_FILENO, &msg.msg_hdr, MSG_DONTWAIT));
	refused(recvmmsg(STDIN_FILENO, &msg, 1, MSG_DONTWAIT, NULL));
	refused(sendmmsg(STDIN_FILENO, &msg, 1, MSG_DONTWAIT));
	refused(sendto(STDIN_FILENO, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)));
	refused(syscall(SYS_pidfd_getfd, -1, 0, 0));
}

/* A file that is ready for something has the kernel send a signal to who owns it. */
static void try_owners(void)
{
	struct f_owner_ex owner = {F_OWNER_PID, getppid()};
	int on = 1, pid = getppid();

	refused(fcntl(STDIN_FILENO, F_SETOWN, pid));
	refused(fcntl(STDIN_FILENO, F_SETOWN_EX, &owner));
	refused(fcntl(STDIN_FILENO, F_SETSIG, SIGKILL));
	refused(fcntl(STDIN_FILENO, F_SETFL, O_ASYNC));
	refused(fcntl(STDIN_FILENO, F_SETLEASE, F_RDLCK));
	refused(fcntl(STDIN_FILENO, F_NOTIFY, DN_ACCESS));
	refused(ioctl(STDIN_FILENO, FIOASYNC, &on));
	refused(ioctl(STDIN_FILENO, FIOSETOWN, &pid));
	refused(ioctl(STDIN_FILENO, SIOCSPGRP, &pid));
}

/* Their priority, processors and limits. */
static void try_shares(void)
{
	cpu_set_t cpus;
	struct rlimit l;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	refused(setpriority(PRIO_PROCESS, (id_t)getppid(), 0));
	refused(setpriority(PRIO_PGRP, 0, 0));
	refused(setpriority(PRIO_USER, 0, 0));
	refused(getpriority(PRIO_USER, 0));
	refused(sched_setaffinity(getppid(), sizeof(cpus), &cpus));
	refused(sched_setscheduler(getppid(), SCHED_OTHER, &(struct sched_param){0}));
	if (!SANDBOX_LOOSE)
		refused(prlimit(getppid(), RLIMIT_CORE, NULL, &l));
}

/* Memory that was written cannot be run. */
static void try_code(void)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS;
	void *page;

	if (SANDBOX_LOOSE)
		return;
	errno = 0;
	demand(mmap(NULL, 4096, PROT_READ | PROT_EXEC, how, -1, 0) == MAP_FAILED && errno == EPERM);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	demand(page != MAP_FAILED);
	refused(mprotect(page, 4096, PROT_READ | PROT_EXEC));
	munmap(page, 4096);
}

static void try_all(void)
{
	try_programs();
	try_files();
	try_others();
	try_strangers();
	try_owners();
	try_shares();
	try_code();
}

static void *try_in_thread(void *arg)
{
	try_all();
	return arg;
}

static void forbidden(void *arg)
{
	pthread_t thread;

	/* A process group in which it might change something. */
	demand(setsid() != -1);
	enter();
	try_all();
	/* Nor can one that is started later. */
	demand(!pthread_create(&thread, NULL, try_in_thread, arg));
	demand(!pthread_join(thread, NULL));
}

static void test_forbidden(void **state)
{
	(void)state;
	in_child(forbidden, NULL);
}

static void send_descriptor(int to, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} with = {.align = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	char byte = 'd';
	struct iovec one = {&byte, 1};
	struct msghdr msg = {.msg_iov = &one,
			     .msg_iovlen = 1,
			     .msg_control = with.bytes,
			     .msg_controllen = sizeof(with.bytes)};

	memcpy(CMSG_DATA(&with.align), &fd, sizeof(fd));
	demand(sendmsg(to, &msg, 0) == 1);
}

/* The other end hands a socket in, which may send to any name: only the byte comes. */
static void given(void *arg)
{
	int ends[2], other = socket(AF_UNIX, SOCK_DGRAM, 0), next;
	char byte;

	(void)arg;
	demand(other >= 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	send_descriptor(ends[1], other);
	demand(!close(other));
	enter();
	next = dup(STDIN_FILENO);
	demand(next >= 0 && !close(next));
	try_strangers();
	demand(recv(ends[0], &byte, 1, 0) == 1 && byte == 'd');
	demand(dup(STDIN_FILENO) == next);
	demand(send(ends[0], &byte, 1, 0) == 1);
}

static void test_given(void **state)
{
	(void)state;
	in_child(given, NULL);
}

/* --- a kernel that has no Landlock, and one that has no room --------------------------------- */

/* From here on the call for a set of rules fails so. */
static void refuse_rules(int error)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

	demand(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	demand(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static void without_landlock(void *arg)
{
	refuse_rules(*(const int *)arg);
	enter();
	try_all();
}

static void without_room(void *arg)
{
	int error = *(const int *)arg;
	char err[256] = "";

	refuse_rules(error);
	demand(sandbox_enter(UINT64_MAX, err, sizeof(err)) == -error);
	demand(strstr(err, strerror(error)));
}

static void test_landlock(void **state)
{
	static int none[] = {ENOSYS, EOPNOTSUPP}, room[] = {EMFILE, ENOMEM};

	(void)state;
	for (int i = 0; i < 2; i++)
		in_child(without_landlock, &none[i]);
	for (int i = 0; i < 2 && !SANDBOX_LOOSE; i++)
		in_child(without_room, &room[i]);
}

/* --- threads that were there before ------------------------------------------------------- */

struct crowd {
	pthread_t thread[CROWD];
	int go[2], ready[2];
};

/* Signals are blocked, as in those that serve files; it waits in the kernel. */
static void *wait_and_try(void *arg)
{
	const struct crowd *c = arg;
	sigset_t all;
	char byte;
	ssize_t n;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	demand(write(c->ready[1], "r", 1) == 1);
	do
		n = read(c->go[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	demand(n == 1);
	try_all();
	return NULL;
}

static void crowd_start(struct crowd *c)
{
	char byte;

	demand(!pipe(c->go) && !pipe(c->ready));
	for (int i = 0; i < CROWD; i++) {
		demand(!pthread_create(&c->thread[i], NULL, wait_and_try, c));
		demand(read(c->ready[0], &byte, 1) == 1);
	}
}

static void crowd_end(struct crowd *c)
{
	for (int i = 0; i < CROWD; i++)
		demand(write(c->go[1], "g", 1) == 1);
	for (int i = 0; i < CROWD; i++)
		demand(!pthread_join(c->thread[i], NULL));
}

static void threads_before(void *arg)
{
	struct crowd c;

	(void)arg;
	crowd_start(&c);
	enter();
	crowd_end(&c);
}

static void test_threads_before(void **state)
{
	(void)state;
	in_child(threads_before, NULL);
}

/* --- one that has just begun -------------------------------------------------------------- */

#define THREADS_SIGNAL 33 /* by which it is told: SIGSETXID of glibc */

struct beginner {
	pthread_t thread;
	atomic_bool begun, over;
};

static _Thread_local volatile bool acted;

ON_ANY_THREAD static int act(void *arg)
{
	(void)arg;
	acted = true;
	return 0;
}

static void mask_signal(int how)
{
	uint64_t mask = UINT64_C(1) << (THREADS_SIGNAL - 1);

	demand(!syscall(SYS_rt_sigprocmask, how, &mask, NULL, sizeof(mask)));
}

static bool signal_waits(void)
{
	uint64_t mask = 0;

	demand(!syscall(SYS_rt_sigpending, &mask, sizeof(mask)));
	return mask >> (THREADS_SIGNAL - 1) & 1;
}

/* As the C library has it: no signal comes before it is ready, not even that one. */
static void *begin_slowly(void *arg)
{
	struct beginner *b = arg;

	mask_signal(SIG_BLOCK);
	b->begun = true;
	while (!b->over && !signal_waits())
		sched_yield();
	mask_signal(SIG_UNBLOCK);
	demand(acted);
	return NULL;
}

static void beginner_before(void *arg)
{
	struct beginner b = {0};

	(void)arg;
	demand(!pthread_create(&b.thread, NULL, begin_slowly, &b));
	while (!b.begun)
		sched_yield();
	demand(!threads_each(act, NULL));
	b.over = true;
	demand(!pthread_join(b.thread, NULL));
	demand(acted);
}

static void test_beginner_before(void **state)
{
	(void)state;
	in_child(beginner_before, NULL);
}

/* The line of a status file (proc(5)) says so. */
static void expect_line(const char *status, const char *line)
{
	if (!strstr(status, line))
		fail_msg("no \"%s\" in:\n%s", line, status);
}

static void expect_confined(pid_t pid, const char *tid)
{
	char path[64], status[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	assert_true(n > 0);
	status[n] = '\0';
	expect_line(status, "\nNoNewPrivs:\t1\n");
	expect_line(status, "\nSeccomp:\t2\n");
	expect_line(status, "\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
			    "CapEff:\t0000000000000000\n");
}

/* How many threads it has. */
static unsigned int expect_all_confined(pid_t pid)
{
	struct dirent *e;
	unsigned int n = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (*e->d_name != '.') {
			expect_confined(pid, e->d_name);
			n++;
		}
	closedir(dir);
	return n;
}

/* Of all threads, as others see it. */
static void test_status(void **state)
{
	int up[2], down[2], status;
	struct crowd c;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	pid = fork();
	if (!pid) {
		crowd_start(&c);
		enter();
		demand(write(up[1], "u", 1) == 1 && read(down[0], &byte, 1) == 1);
		crowd_end(&c);
		_exit(0);
	}
	close(up[1]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	/* A sanitizer may have some of its own. */
	assert_true(expect_all_confined(pid) >= 1 + CROWD);
	assert_int_equal(write(down[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(up[0]);
	close(down[0]);
	close(down[1]);
}

/* --- what it still can -------------------------------------------------------------------- */

static void *nothing(void *arg)
{
	return arg;
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	return arg;
}

static void change_descriptors(void)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING), copy, ends[2];

	demand(fd >= 0 && !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	demand(fcntl(fd, F_GET_SEALS) == F_SEAL_GROW);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	demand(copy >= 0 && fcntl(copy, F_GETFD) == FD_CLOEXEC && !fcntl(copy, F_SETFD, 0));
	demand(!close(copy) && !close(fd));
	demand(!pipe(ends) && !fcntl(ends[0], F_SETFL, O_NONBLOCK));
	demand(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	demand(fcntl(ends[0], F_SETPIPE_SZ, 8192) == fcntl(ends[0], F_GETPIPE_SZ));
	demand(!close(ends[0]) && !close(ends[1]));
}

static void try_allowed(void *arg)
{
	struct rlimit core;
	pthread_t thread;
	char byte = 'b';
	int ends[2];
	void *end;

	(void)arg;
	enter();
	demand(!pipe2(ends, O_CLOEXEC));
	demand(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1);
	demand(!pthread_create(&thread, NULL, nothing, &byte));
	demand(!pthread_join(thread, &end) && end == &byte);
	/* Which would load a library. */
	demand(!pthread_create(&thread, NULL, wait_for_ever, NULL));
	demand(!pthread_cancel(thread) && !pthread_join(thread, &end) && end == PTHREAD_CANCELED);
	end = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	demand(end != MAP_FAILED && !munmap(end, 4096));
	demand(!umount2("/nowhere", MNT_DETACH)); /* nothing happens */
	demand(!setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)));
	change_descriptors();
	demand(!getrlimit(RLIMIT_CORE, &core) && !core.rlim_max);
}

static void test_allowed(void **state)
{
	(void)state;
	in_child(try_allowed, NULL);
}

#define MORE (UINT64_C(64) << 20)

static bool can_map(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	demand(p != MAP_FAILED || errno == ENOMEM);
	if (p != MAP_FAILED)
		munmap(p, bytes);
	return p != MAP_FAILED;
}

/* What may be had is had, and an end comes; more than the limit is for stacks and such. */
static void take_memory(void *arg)
{
	struct rlimit space;
	rlim_t before;
	void *much;

	(void)arg;
	demand(can_map(UINT64_C(1) << 42));
	demand(!getrlimit(RLIMIT_AS, &space));
	before = space.rlim_cur;
	enter_with(MORE);
	demand(can_map(MORE));
	demand(!getrlimit(RLIMIT_AS, &space) && space.rlim_cur == space.rlim_max);
	demand(space.rlim_cur < before);
	demand(!can_map(space.rlim_cur) && !can_map(UINT64_C(1) << 42));
	errno = 0;
	much = calloc(1, space.rlim_cur);
	demand(!much && errno == ENOMEM);
	space.rlim_cur = space.rlim_max = RLIM_INFINITY;
	refused(setrlimit(RLIMIT_AS, &space));
}

static void test_memory(void **state)
{
	(void)state;
	if (SANDBOX_LOOSE)
		skip();
	in_child(take_memory, NULL);
}

/* --- the broker --------------------------------------------------------------------------- */

struct place {
	char dir[64], file[96];
};

static void place_init(struct place *p)
{
	int fd;

	strcpy(p->dir, "/tmp/test-sandbox-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/file", p->dir);
	fd = open(p->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static int remove_file(void *arg)
{
	const struct place *p = arg;

	return unlink(p->file) ? -errno : 0;
}

static int remove_dir(void *arg)
{
	const struct place *p = arg;

	return rmdir(p->dir) ? -errno : 0;
}

/* It does what it was told before, and only that. */
static void ask(void *arg)
{
	struct place *p = arg;
	const struct broker_deed deeds[] = {
		{remove_file, p, false}, {remove_dir, p, false}, {remove_dir, p, false}};
	struct broker *b;

	demand(!broker_start(&b, deeds, 3));
	enter();
	strcpy(p->file, "/another");
	strcpy(p->dir, "/another");
	demand(broker_ask(b, 3) == -EINVAL);
	demand(!broker_ask(b, 0) && !broker_ask(b, 1));
	demand(broker_ask(b, 1) == -EALREADY);
	demand(broker_ask(b, 2) == -ENOENT);
	broker_stop(b);
}

static void test_broker(void **state)
{
	struct place p;

	(void)state;
	place_init(&p);
	in_child(ask, &p);
	assert_int_equal(access(p.dir, F_OK), -1);
}

/* Who does not ask gets nothing done, however he ends. */
static void do_not_ask(void *arg)
{
	const struct broker_deed deed = {remove_file, arg, false};
	struct broker *b;

	demand(!broker_start(&b, &deed, 1));
	enter();
	_exit(0);
}

static void test_broker_unasked(void **state)
{
	struct place p;

	(void)state;
	place_init(&p);
	in_child(do_not_ask, &p);
	assert_int_equal(unlink(p.file), 0);
	assert_int_equal(rmdir(p.dir), 0);
}

_Noreturn static int die(void *arg)
{
	(void)arg;
	_exit(1);
}

static void test_broker_gone(void **state)
{
	const struct broker_deed deeds[] = {{die, NULL, false}, {die, NULL, false}};
	struct broker *b;

	(void)state;
	assert_int_equal(broker_start(&b, deeds, 2), 0);
	assert_int_equal(broker_ask(b, 0), -EPIPE);
	assert_int_equal(broker_ask(b, 1), -EPIPE);
	broker_stop(b);
	broker_stop(NULL);
}

/* The process that was started last. */
static pid_t last_child(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	int pid = 0, next;

	demand(f);
	while (fscanf(f, "%d", &next) == 1)
		pid = next;
	fclose(f);
	return pid;
}

static volatile pid_t stopped;

/* So that a failure has an end, too. */
static void on_alarm(int signo)
{
	(void)signo;
	kill(stopped, SIGKILL);
}

/* Somebody has stopped it, or its deed has no end: nobody waits for that. */
static void stop_stopped(void *arg)
{
	const struct broker_deed deed = {die, arg, false};
	struct broker *b;
	int status;

	demand(!broker_start(&b, &deed, 1));
	stopped = last_child();
	demand(!kill(stopped, SIGSTOP) && waitpid(stopped, &status, WUNTRACED) == stopped);
	demand(WIFSTOPPED(status));
	signal(SIGALRM, on_alarm);
	alarm(60);
	broker_stop(b);
	demand(!kill(stopped, SIGKILL) && waitpid(stopped, &status, 0) == stopped);
}

static void test_broker_stopped(void **state)
{
	(void)state;
	in_child(stop_stopped, NULL);
}

/* What is for the end is done however he ends, but not twice. */
static void end_with_it(void *arg)
{
	const struct broker_deed deeds[] = {{remove_file, arg, true}, {remove_dir, arg, true}};
	struct broker *b;

	demand(!broker_start(&b, deeds, 2));
	enter();
	demand(!broker_ask(b, 0));
	_exit(0);
}

/* The broker is nobody's child by then. */
static bool is_gone(const char *dir)
{
	const struct timespec tick = {0, 1000000};

	for (int i = 0; i < 20000 && !access(dir, F_OK); i++)
		nanosleep(&tick, NULL);
	return access(dir, F_OK) != 0;
}

static void test_broker_at_end(void **state)
{
	struct place p;

	(void)state;
	place_init(&p);
	in_child(end_with_it, &p);
	assert_true(is_gone(p.dir));
}

/* --- one folder ---------------------------------------------------------------------------- */

static int enter_folder(const struct place *p)
{
	int folder = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char err[256] = "";

	demand(folder >= 0);
	return sandbox_enter_folder(UINT64_MAX, folder, err, sizeof(err));
}

static void write_in_folder(void *arg)
{
	const struct place *p = arg;
	char path[128];
	int fd;

	demand(!enter_folder(p));
	snprintf(path, sizeof(path), "%s/made", p->dir);
	demand(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/made/file", p->dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	demand(fd >= 0 && write(fd, "x", 1) == 1);
	if (SANDBOX_LOOSE)
		return;
	demand(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
	demand(open("/tmp/test-sandbox-other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
	demand(mkdir("/tmp/test-sandbox-other", 0700) && errno == EACCES);
	demand(unlink(p->file) && errno == EPERM);
	demand(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM);
}

static void test_folder(void **state)
{
	struct place p;
	char path[128];

	(void)state;
	place_init(&p);
	in_child(write_in_folder, &p);
	snprintf(path, sizeof(path), "%s/made/file", p.dir);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/made", p.dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(unlink(p.file), 0);
	assert_int_equal(rmdir(p.dir), 0);
}

/* System calls do not tell which: where Landlock does not, either, nothing is opened. */
static void folder_without_landlock(void *arg)
{
	refuse_rules(EOPNOTSUPP);
	demand(enter_folder(arg) == (SANDBOX_LOOSE ? 0 : -EOPNOTSUPP));
}

static void test_folder_landlock(void **state)
{
	struct place p;

	(void)state;
	place_init(&p);
	in_child(folder_without_landlock, &p);
	assert_int_equal(unlink(p.file), 0);
	assert_int_equal(rmdir(p.dir), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forbidden),      cmocka_unit_test(test_threads_before),
		cmocka_unit_test(test_status),	       cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_memory),	       cmocka_unit_test(test_broker),
		cmocka_unit_test(test_broker_unasked), cmocka_unit_test(test_broker_at_end),
		cmocka_unit_test(test_folder),	       cmocka_unit_test(test_folder_landlock),
		cmocka_unit_test(test_broker_gone),    cmocka_unit_test(test_beginner_before),
		cmocka_unit_test(test_given),	       cmocka_unit_test(test_landlock),
		cmocka_unit_test(test_broker_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
