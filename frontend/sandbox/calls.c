// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls.c - the system calls that stay: what works on memory, threads, time and descriptors that
 * are open.
 *
 * No open, connect, exec, fork, ptrace, kill of others; no memory that can be run is made. What is
 * not listed gets EPERM and not a signal: a tracer that is killed for a call that a library makes
 * on some host would leave its guest to the keeper. Nothing is logged, as nobody shall be able to
 * fill the host's log through us.
 */
#include "frontend/sandbox/local.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define CALL(name) SCMP_SYS(name)

/* Whatever their arguments are. */
static const int plain[] = {
	/* descriptors */
	CALL(read),
	CALL(write),
	CALL(readv),
	CALL(writev),
	CALL(pread64),
	CALL(pwrite64),
	CALL(preadv),
	CALL(pwritev),
	CALL(preadv2),
	CALL(pwritev2),
	CALL(lseek),
	CALL(close),
	CALL(close_range),
	CALL(dup),
	CALL(dup2),
	CALL(dup3),
	CALL(fstat),
	CALL(fsync),
	CALL(fdatasync),
	CALL(ftruncate),
	CALL(fallocate),
	CALL(fcntl),
	CALL(splice),
	CALL(tee),
	CALL(vmsplice),
	CALL(pipe),
	CALL(pipe2),
	CALL(eventfd2),
	CALL(memfd_create),
	CALL(signalfd4),
	CALL(timerfd_create),
	CALL(timerfd_settime),
	CALL(timerfd_gettime),
	CALL(poll),
	CALL(ppoll),
	CALL(select),
	CALL(pselect6),
	CALL(epoll_create1),
	CALL(epoll_ctl),
	CALL(epoll_wait),
	CALL(epoll_pwait),
	/* sockets that are connected, and who connects to those that listen */
	CALL(accept4),
	CALL(recvfrom),
	CALL(recvmsg),
	CALL(sendto),
	CALL(sendmsg),
	CALL(shutdown),
	CALL(getsockopt),
	CALL(getsockname),
	CALL(getpeername),
	/* memory; mmap and mprotect are below */
	CALL(brk),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL(mlock),
	CALL(munlock),
	CALL(membarrier),
	/* threads and time */
	CALL(futex),
	CALL(set_robust_list),
	CALL(get_robust_list),
	CALL(set_tid_address),
	CALL(rseq),
	CALL(sched_yield),
	CALL(sched_getaffinity),
	CALL(sched_setaffinity),
	CALL(getcpu),
	CALL(getpriority),
	CALL(setpriority),
	CALL(exit),
	CALL(exit_group),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(clock_gettime),
	CALL(clock_getres),
	CALL(gettimeofday),
	CALL(time),
	CALL(restart_syscall),
	/* signals, and the end of the processes that we have started */
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(rt_sigpending),
	CALL(rt_sigtimedwait),
	CALL(rt_sigsuspend),
	CALL(sigaltstack),
	CALL(wait4),
	CALL(waitid),
	/* what anybody may know of himself */
	CALL(getpid),
	CALL(getppid),
	CALL(gettid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(getrandom),
	CALL(getrusage),
	CALL(times),
	CALL(uname),
	CALL(sysinfo),
};

/* With one argument as it is given here: mask 0 is the whole of it. */
static const struct narrow {
	int call;
	unsigned int arg;
	uint64_t mask, value;
} narrow[] = {
	{CALL(mmap), 2, PROT_EXEC, 0},
	{CALL(mprotect), 2, PROT_EXEC, 0},
	/* Threads, not processes; clone3(2) hides that from filters. */
	{CALL(clone), 0, CLONE_VM | CLONE_THREAD, CLONE_VM | CLONE_THREAD},
	/* By descriptor, and as libfuse looks whether /etc/mtab is a link. */
	{CALL(newfstatat), 3, 0, AT_EMPTY_PATH},
	{CALL(newfstatat), 3, 0, AT_SYMLINK_NOFOLLOW},
	{CALL(ioctl), 1, 0xff00, KVMIO << 8},
	{CALL(ioctl), 1, UINT32_MAX, TCGETS},
	{CALL(ioctl), 1, UINT32_MAX, TCSETS},
	{CALL(ioctl), 1, UINT32_MAX, TCSETSW},
	{CALL(ioctl), 1, UINT32_MAX, TCSETSF},
	{CALL(ioctl), 1, UINT32_MAX, TIOCGWINSZ},
	{CALL(ioctl), 1, UINT32_MAX, FIONREAD},
	{CALL(ioctl), 1, UINT32_MAX, FIONBIO},
	{CALL(prctl), 0, 0, PR_SET_NAME},
	{CALL(prctl), 0, 0, PR_GET_NAME},
	{CALL(prctl), 0, 0, PR_SET_VMA},
	{CALL(prlimit64), 2, 0, 0},
};

/* What sanitizers and gcov do at the end, and when they have something to say. */
static const int loose[] = {
	CALL(openat),
	CALL(open),
	CALL(readlink),
	CALL(readlinkat),
	CALL(stat),
	CALL(lstat),
	CALL(newfstatat),
	CALL(access),
	CALL(mkdir),
	CALL(getcwd),
	CALL(getdents),
	CALL(getdents64),
	CALL(prctl),
	CALL(ptrace),
	CALL(clone),
	CALL(kill),
	CALL(tkill),
	CALL(arch_prctl),
	CALL(mmap),
	CALL(mprotect),
	CALL(mincore),
	CALL(setrlimit),
	CALL(prlimit64),
	CALL(umask),
	CALL(process_vm_readv),
	CALL(personality),
};

/* EEXIST, EINVAL: this architecture, or a narrower rule before it, has it so. */
static int allow_plain(scmp_filter_ctx f, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

static int allow_narrow(scmp_filter_ctx f, const struct narrow *n)
{
	const struct scmp_arg_cmp cmp = {
		.arg = n->arg,
		.op = n->mask ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ,
		.datum_a = n->mask ? n->mask : n->value,
		.datum_b = n->value,
	};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, n->call, 1, &cmp);
}

/* To threads of this process only. */
static int allow_signals(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp ours = {
		.arg = 0, .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)getpid()};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, CALL(tgkill), 1, &ours);
}

static int add_rules(scmp_filter_ctx f)
{
	int rc = allow_plain(f, plain, COUNT(plain));

	for (size_t i = 0; i < COUNT(narrow) && !rc; i++)
		rc = allow_narrow(f, &narrow[i]);
	if (!rc)
		rc = allow_signals(f);
	/* The C library takes clone(2) then. */
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0);
	/* See sandbox_enter(). */
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(0), CALL(umount2), 0);
	if (!rc && SANDBOX_LOOSE)
		rc = allow_plain(f, loose, COUNT(loose));
	return rc;
}

int calls_confine(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc;

	if (!f)
		return -ENOMEM;
	/* A call in the way of another architecture is none of ours. */
	rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
	if (!rc)
		rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	/* By a tree: a filter of a list costs each call of a vCPU hundreds of steps. */
	if (!rc)
		rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!rc)
		rc = add_rules(f);
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	return rc;
}
