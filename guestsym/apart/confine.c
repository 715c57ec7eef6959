// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * confine.c - what the server and its jobs keep of their rights.
 *
 * Calls that are not listed fail with EPERM: a C library that makes one on some host goes on, and
 * nobody can fill the host's log with them.
 */
#include "guestsym/apart/local.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define CALL(name) SCMP_SYS(name)

/* Memory, and descriptors that are there. mmap and mprotect are below. */
static const int of_jobs[] = {
	CALL(read),	      CALL(pread64),	  CALL(write),
	CALL(pwrite64),	      CALL(lseek),	  CALL(fstat),
	CALL(ftruncate),      CALL(close),	  CALL(brk),
	CALL(munmap),	      CALL(mremap),	  CALL(madvise),
	CALL(futex),	      CALL(getrandom),	  CALL(clock_gettime),
	CALL(sysinfo),	      CALL(getpid),	  CALL(gettid),
	CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(restart_syscall),
	CALL(exit),	      CALL(exit_group),
};

/* Processes and what they say; and how a job is confined further. */
static const int of_server[] = {
	CALL(recvmsg),	 CALL(recvfrom),	CALL(sendto),  CALL(poll),	 CALL(pipe2),
	CALL(fork),	 CALL(clone),		CALL(wait4),   CALL(pidfd_open), CALL(kill),
	CALL(getppid),	 CALL(set_robust_list), CALL(rseq),    CALL(prctl),	 CALL(prlimit64),
	CALL(setrlimit), CALL(getrlimit),	CALL(seccomp),
};

static int allow_without(scmp_filter_ctx f, int call, unsigned int arg, uint64_t bits)
{
	const struct scmp_arg_cmp cmp = {
		.arg = arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = 0};

	return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, call, 1, &cmp);
}

static int allow(scmp_filter_ctx f, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

static int add_rules(scmp_filter_ctx f, bool server)
{
	const struct scmp_arg_cmp by_fd = {.arg = 3, .op = SCMP_CMP_EQ, .datum_a = AT_EMPTY_PATH};
	int rc = allow(f, of_jobs, COUNT(of_jobs));

	if (!rc)
		rc = allow_without(f, CALL(mmap), 2, PROT_EXEC);
	if (!rc)
		rc = allow_without(f, CALL(mprotect), 2, PROT_EXEC);
	/* fstat(3) of newer C libraries */
	if (!rc)
		rc = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, CALL(newfstatat), 1, &by_fd);
	if (!rc && server)
		rc = allow(f, of_server, COUNT(of_server));
	/* The C library takes clone(2) then. */
	if (!rc && server)
		rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0);
	return rc;
}

static int filter_calls(bool server)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc;

	if (!f)
		return -ENOMEM;
	rc = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
	if (!rc)
		rc = add_rules(f, server);
	if (!rc)
		rc = seccomp_load(f);
	seccomp_release(f);
	return rc;
}

static int limit(int what, uint64_t soft, uint64_t hard)
{
	struct rlimit l;

	if (getrlimit(what, &l))
		return -errno;
	if (l.rlim_max > hard)
		l.rlim_max = hard;
	if (l.rlim_cur > soft)
		l.rlim_cur = soft;
	return setrlimit(what, &l) ? -errno : 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

int confine_server(void)
{
	int rc = limit(RLIMIT_CORE, 0, 0);

	if (!rc && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = -errno;
	if (!rc)
		rc = drop_capabilities();
	return rc || APART_LOOSE ? rc : filter_calls(true);
}

int confine_job(const int fds[APART_FDS], const struct apart_limits *limits, uint64_t mapped)
{
	uint64_t memory = mapped + limits->memory;
	int rc;

	for (size_t i = 0; i < APART_FDS; i++) {
		struct stat st;

		if (fds[i] >= 0 && !fstat(fds[i], &st) && st.st_size > 0)
			memory += 2 * (uint64_t)st.st_size;
	}
	rc = limit(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + 1);
	if (!rc)
		rc = limit(RLIMIT_FSIZE, limits->file, limits->file);
	if (!rc && !APART_LOOSE)
		rc = limit(RLIMIT_AS, memory, memory);
	return rc || APART_LOOSE ? rc : filter_calls(false);
}
