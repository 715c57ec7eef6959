// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls.c - the system calls that stay, in groups: what works on memory, threads, time and
 * descriptors that are open.
 *
 * No open, connect, exec, fork, ptrace, kill of others; no memory that can be run is made. What is
 * not listed gets EPERM and not a signal: a tracer that is killed for a call that a library makes
 * on some host would leave its guest to the keeper. Nothing is logged, as nobody shall be able to
 * fill the host's log through us.
 */
#include "frontend/sandbox/local.h"

#include <errno.h>
#include <linux/kvm.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define CALL(name) SCMP_SYS(name)

/* --- whatever their arguments are -------------------------------------------------------------
 */

static const int common[] = {
	/* descriptors */
	CALL(read),
	CALL(write),
	CALL(readv),
	CALL(writev),
	CALL(close),
	CALL(fstat),
	CALL(poll),
	CALL(ppoll),
	/* memory; mmap and mprotect are below */
	CALL(brk),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL(membarrier),
	/* threads and time */
	CALL(futex),
	CALL(set_robust_list),
	CALL(set_tid_address),
	CALL(rseq),
	CALL(sched_yield),
	CALL(sched_getaffinity),
	CALL(getcpu),
	CALL(exit),
	CALL(exit_group),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(clock_gettime),
	CALL(clock_getres),
	CALL(gettimeofday),
	CALL(time),
	CALL(restart_syscall),
	/* signals */
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(rt_sigpending),
	CALL(sigaltstack),
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

static const int memory[] = {
	CALL(pread64), CALL(pwrite64), CALL(preadv), CALL(pwritev), CALL(preadv2), CALL(pwritev2),
};

/*
 * Bytes, and to who is connected (sendto(2) is below). Nobody has recvmsg(2): with it the other end
 * could hand in a socket of its own, by which a thread that has been taken over talks to services
 * that listen to this user.
 */
static const int talk[] = {
	CALL(recvfrom), CALL(shutdown), CALL(getsockopt), CALL(getsockname), CALL(getpeername),
};

/* What parsers are given, by sendmsg(2), and give back: files without a name. */
static const int parse[] = {
	CALL(memfd_create),
	CALL(ftruncate),
	CALL(fallocate),
	CALL(sendmsg),
};

/* A guest's memory, and its doorbells, by sendmsg(2). Who has them is ended by
 * pidfd_send_signal(2), below. */
static const int share[] = {CALL(sendmsg)};

/* To who has asked: a head and what is behind it, at once. */
static const int answering[] = {CALL(sendmsg)};

static const int listening[] = {CALL(accept4)};

static const int pipes[] = {
	CALL(splice), CALL(tee), CALL(vmsplice), CALL(pipe), CALL(pipe2),
};

static const int output[] = {
	CALL(lseek), CALL(fsync), CALL(fdatasync), CALL(ftruncate), CALL(fallocate),
};

/* What libbabeltrace2 does to files that it makes. */
static const int folder[] = {CALL(openat), CALL(mkdir), CALL(access)};

/* Which libvirt's library and what it loads make. */
static const int library[] = {
	CALL(dup),
	CALL(dup2),
	CALL(dup3),
	CALL(close_range),
	CALL(eventfd2),
	CALL(signalfd4),
	CALL(timerfd_create),
	CALL(timerfd_settime),
	CALL(timerfd_gettime),
	CALL(select),
	CALL(pselect6),
	CALL(epoll_create1),
	CALL(epoll_ctl),
	CALL(epoll_wait),
	CALL(epoll_pwait),
	CALL(rt_sigtimedwait),
	CALL(rt_sigsuspend),
	CALL(mlock),
	CALL(munlock),
};

/* The end of the processes that we have started. */
static const int children[] = {CALL(wait4), CALL(waitid)};

#define GROUP(bit, calls)                                                                          \
	{                                                                                          \
		bit, calls, COUNT(calls)                                                           \
	}

static const struct group {
	unsigned int bit;
	const int *calls;
	size_t nr;
} groups[] = {
	GROUP(0, common),
	GROUP(CALLS_MEMORY, memory),
	GROUP(CALLS_TALK, talk),
	GROUP(CALLS_PARSE, parse),
	GROUP(CALLS_SHARE, share),
	GROUP(CALLS_ANSWER, answering),
	GROUP(CALLS_LISTEN, listening),
	GROUP(CALLS_PIPES, pipes),
	GROUP(CALLS_OUTPUT, output),
	GROUP(CALLS_LIBRARY, library),
	GROUP(CALLS_CHILDREN, children),
	GROUP(CALLS_FOLDER, folder),
};

/* --- with arguments as they are given here: mask 0 is the whole of one --------------------------
 */

#define IOCTL(bit, request)                                                                        \
	{                                                                                          \
		bit, CALL(ioctl), {{1, UINT32_MAX, request}}, 1                                    \
	}

/* Whoever owns a file, and gets signals for it, may be any process: none of F_SETOWN, F_SETSIG and
 * such. */
#define FCNTL(bits, command)                                                                       \
	{                                                                                          \
		bits, CALL(fcntl), {{1, 0, command}}, 1                                            \
	}

/* Who has descriptors made and changes them. */
#define DESCRIPTORS (CALLS_PARSE | CALLS_PIPES | CALLS_LIBRARY)

static const struct narrow {
	unsigned int bits; /* of any of these groups; 0: of all threads */
	int call;
	struct {
		unsigned int arg;
		uint64_t mask, value;
	} where[2];
	unsigned int nr; /* of the conditions, which all hold */
} narrow[] = {
	{0, CALL(mmap), {{2, PROT_EXEC, 0}}, 1},
	{0, CALL(mprotect), {{2, PROT_EXEC, 0}}, 1},
	{0, CALL(prctl), {{0, 0, PR_SET_NAME}}, 1},
	{0, CALL(prctl), {{0, 0, PR_GET_NAME}}, 1},
	{0, CALL(prctl), {{0, 0, PR_SET_VMA}}, 1},
	/* Of the caller, and read only. */
	{0, CALL(prlimit64), {{0, 0, 0}, {2, 0, 0}}, 2},
	/* Of the calling thread; PRIO_USER and 0 would be all processes of this user. */
	{0, CALL(getpriority), {{0, 0, PRIO_PROCESS}, {1, 0, 0}}, 2},
	{0, CALL(setpriority), {{0, 0, PRIO_PROCESS}, {1, 0, 0}}, 2},
	{CALLS_LIBRARY, CALL(sched_setaffinity), {{0, 0, 0}}, 1},
	/* No address. */
	{CALLS_TALK, CALL(sendto), {{4, 0, 0}}, 1},
	FCNTL(DESCRIPTORS, F_DUPFD),
	FCNTL(DESCRIPTORS, F_DUPFD_CLOEXEC),
	FCNTL(DESCRIPTORS, F_GETFD),
	FCNTL(DESCRIPTORS, F_SETFD),
	FCNTL(DESCRIPTORS, F_GETFL),
	/* A terminal that gets O_ASYNC has an owner by that: all who are in the foreground. */
	{DESCRIPTORS, CALL(fcntl), {{1, 0, F_SETFL}, {2, O_ASYNC, 0}}, 2},
	FCNTL(CALLS_PARSE, F_ADD_SEALS),
	FCNTL(CALLS_PARSE, F_GET_SEALS),
	FCNTL(CALLS_PIPES, F_SETPIPE_SZ),
	FCNTL(CALLS_PIPES, F_GETPIPE_SZ),
	/* By descriptor, and as libfuse looks whether /etc/mtab is a link. */
	{0, CALL(newfstatat), {{3, 0, AT_EMPTY_PATH}}, 1},
	{CALLS_OUTPUT, CALL(newfstatat), {{3, 0, AT_SYMLINK_NOFOLLOW}}, 1},
	{CALLS_FOLDER, CALL(newfstatat), {{3, 0, 0}}, 1},
	/* Who a descriptor stands for: none can be had for other processes than those that we have
	 * started. */
	{CALLS_SHARE, CALL(pidfd_send_signal), {{1, 0, SIGKILL}, {3, 0, 0}}, 2},
	/* Threads, not processes; clone3(2) hides that from filters. */
	{CALLS_THREADS, CALL(clone), {{0, CLONE_VM | CLONE_THREAD, CLONE_VM | CLONE_THREAD}}, 1},
	IOCTL(CALLS_VCPU, KVM_RUN),
	/* The guest sets its devices up: where their messages go, and their doorbells are. */
	IOCTL(CALLS_VCPU, KVM_SET_GSI_ROUTING),
	IOCTL(CALLS_VCPU | CALLS_REBOOT, KVM_IOEVENTFD),
	IOCTL(CALLS_INTERRUPT, KVM_IRQ_LINE),
	IOCTL(CALLS_MACHINE, KVM_GET_FPU),
	IOCTL(CALLS_MACHINE, KVM_SET_FPU),
	IOCTL(CALLS_MACHINE, KVM_GET_XCRS),
	IOCTL(CALLS_MACHINE, KVM_GET_SREGS),
	IOCTL(CALLS_MACHINE, KVM_SET_SREGS),
	IOCTL(CALLS_MACHINE, KVM_GET_MSRS),
	IOCTL(CALLS_MACHINE, KVM_SET_MSRS),
	IOCTL(CALLS_MACHINE, KVM_GET_VCPU_EVENTS),
	IOCTL(CALLS_MACHINE, KVM_SET_VCPU_EVENTS),
	IOCTL(CALLS_MACHINE, KVM_GET_MP_STATE),
	IOCTL(CALLS_MACHINE, KVM_SET_GUEST_DEBUG),
	IOCTL(CALLS_MACHINE, KVM_GET_DEVICE_ATTR),
	IOCTL(CALLS_MACHINE, KVM_SET_USER_MEMORY_REGION),
	IOCTL(CALLS_SAVE, KVM_GET_MSR_INDEX_LIST),
	IOCTL(CALLS_SAVE, KVM_GET_XSAVE),
	IOCTL(CALLS_SAVE, KVM_GET_DEBUGREGS),
	IOCTL(CALLS_SAVE, KVM_GET_LAPIC),
	IOCTL(CALLS_SAVE, KVM_GET_IRQCHIP),
	IOCTL(CALLS_SAVE, KVM_GET_PIT2),
	IOCTL(CALLS_REBOOT, KVM_SET_REGS),
	IOCTL(CALLS_REBOOT, KVM_SET_XSAVE),
	IOCTL(CALLS_REBOOT, KVM_SET_XCRS),
	IOCTL(CALLS_REBOOT, KVM_SET_DEBUGREGS),
	IOCTL(CALLS_REBOOT, KVM_SET_MP_STATE),
	IOCTL(CALLS_REBOOT, KVM_SET_LAPIC),
	IOCTL(CALLS_REBOOT, KVM_SET_IRQCHIP),
	IOCTL(CALLS_REBOOT, KVM_SET_PIT2),
	IOCTL(0, TCGETS), /* isatty(3) */
	IOCTL(CALLS_TERMINAL, TCSETS),
	IOCTL(CALLS_TERMINAL, TCSETSW),
	IOCTL(CALLS_TERMINAL, TCSETSF),
	IOCTL(CALLS_TERMINAL, TIOCGWINSZ),
	IOCTL(CALLS_TALK, FIONREAD),
	IOCTL(CALLS_TALK, FIONBIO),
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

/* --- a list of them ---------------------------------------------------------------------------
 */

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
	struct scmp_arg_cmp all[COUNT(n->where)];

	for (unsigned int i = 0; i < n->nr; i++)
		all[i] = (struct scmp_arg_cmp){
			.arg = n->where[i].arg,
			.op = n->where[i].mask ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ,
			.datum_a = n->where[i].mask ? n->where[i].mask : n->where[i].value,
			.datum_b = n->where[i].value,
		};
	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, n->call, n->nr, all);
}

/* To threads of this process only. */
static int allow_signals(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp ours = {
		.arg = 0, .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)getpid()};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, CALL(tgkill), 1, &ours);
}

/* Another list on top, which takes away more: what a thread that is started does first. */
static int allow_lists(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp plain[] = {
		{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = SECCOMP_SET_MODE_FILTER},
		{.arg = 1, .op = SCMP_CMP_EQ, .datum_a = 0},
	};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, CALL(seccomp), COUNT(plain), plain);
}

static bool is_in(unsigned int of, unsigned int bits)
{
	return !of || of & bits;
}

static int add_groups(scmp_filter_ctx f, unsigned int bits)
{
	int rc = 0;

	for (size_t i = 0; i < COUNT(groups) && !rc; i++)
		if (is_in(groups[i].bit, bits))
			rc = allow_plain(f, groups[i].calls, groups[i].nr);
	for (size_t i = 0; i < COUNT(narrow) && !rc; i++)
		if (is_in(narrow[i].bits, bits))
			rc = allow_narrow(f, &narrow[i]);
	return rc;
}

static int add_rules(scmp_filter_ctx f, unsigned int bits)
{
	int rc = add_groups(f, bits);

	if (!rc)
		rc = allow_signals(f);
	if (!rc && bits & CALLS_THREADS)
		rc = allow_lists(f);
	/* The C library takes clone(2) then. */
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0);
	/* See sandbox_enter(), and calls_in_force(). */
	if (!rc)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(0), CALL(umount2), 0);
	if (!rc && SANDBOX_LOOSE)
		rc = allow_plain(f, loose, COUNT(loose));
	return rc;
}

static int make(scmp_filter_ctx f, unsigned int bits)
{
	/* A call in the way of another architecture is none of ours. */
	int rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));

	/* By a tree: a filter of a list costs each call of a vCPU hundreds of steps. */
	if (!rc)
		rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return rc ? rc : add_rules(f, bits);
}

/* The library gives it to a descriptor only. */
static int take_program(scmp_filter_ctx f, struct sock_fprog *program)
{
	int fd = memfd_create("calls", MFD_CLOEXEC), rc = fd < 0 ? -errno : 0;
	off_t len = 0;

	if (!rc)
		rc = seccomp_export_bpf(f, fd);
	if (!rc)
		len = lseek(fd, 0, SEEK_END);
	program->len = (unsigned short)((size_t)len / sizeof(*program->filter));
	program->filter = rc ? NULL : malloc((size_t)len);
	if (!rc && !program->filter)
		rc = -ENOMEM;
	if (!rc && pread(fd, program->filter, (size_t)len, 0) != len)
		rc = -EIO;
	if (fd >= 0)
		close(fd);
	return rc;
}

int calls_make(struct sock_fprog *program, unsigned int bits)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = f ? make(f, bits) : -ENOMEM;

	if (!rc)
		rc = take_program(f, program);
	if (f)
		seccomp_release(f);
	return rc;
}

ON_ANY_THREAD int calls_follow(const struct sock_fprog *program)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) ? -errno : 0;
}

/* No kernel says so of its own. */
ON_ANY_THREAD bool calls_in_force(void)
{
	int error = errno;
	bool in_force = !syscall(SYS_umount2, NULL, 0);

	errno = error;
	return in_force;
}
