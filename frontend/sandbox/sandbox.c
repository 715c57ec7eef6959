// SPDX-License-Identifier: GPL-2.0-or-later
/* sandbox.c - gives up capabilities, files and system calls, in all threads. */
#include "frontend/sandbox/sandbox.h"
#include "frontend/sandbox/local.h"
#include "vmm/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors: clients of the control socket have one each, threads need some for a moment. */
#define FILES_MAX 1024

/* That may be started: for files, for clients, for what is traced. */
#define THREADS_MORE   128
#define ARENAS_PER_CPU 8
#define HEAP_MAX_SIZE  (UINT64_C(64) << 20)

/* --- of each thread, in a signal handler -------------------------------------------------------
 */

ON_ANY_THREAD static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

ON_ANY_THREAD static const char *own_kind(void)
{
	return gettid() == getpid() ? "main" : thread_kind();
}

/*
 * Rules may be followed by who can get no privileges, or has some: so these go behind the first of
 * that. One that was started by a thread that is confined already has all of it from there.
 */
ON_ANY_THREAD static int confine_thread(void *arg)
{
	const int *rules = arg;
	int rc;

	if (calls_in_force())
		return 0;
	rc = syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	if (!rc && *rules >= 0)
		rc = landlock_follow(*rules);
	if (!rc)
		rc = drop_capabilities();
	return rc ? rc : kinds_follow_all(own_kind());
}

/* --- of the process ----------------------------------------------------------------------------
 */

static int lower(__rlimit_resource_t what, rlim_t to)
{
	struct rlimit now;

	if (getrlimit(what, &now))
		return -errno;
	if (now.rlim_cur > to)
		now.rlim_cur = to;
	if (now.rlim_max > to)
		now.rlim_max = to;
	return setrlimit(what, &now) ? -errno : 0;
}

/* In bytes, as of proc(5); 0: it cannot be read. */
static uint64_t mapped_now(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	char line[128] = "";

	if (f && !fgets(line, sizeof(line), f))
		*line = '\0';
	if (f)
		fclose(f);
	return strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Addresses that are set aside, and are no memory before somebody writes there: stacks, and what
 * malloc(3) has for threads that want some at once: HEAP_MAX_SIZE for each, of which glibc makes
 * ARENAS_PER_CPU for each CPU at most (malloc/arena.c).
 */
static uint64_t set_aside(void)
{
	pthread_attr_t attr;
	size_t stack = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!pthread_getattr_default_np(&attr)) {
		pthread_attr_getstacksize(&attr, &stack);
		pthread_attr_destroy(&attr);
	}
	return THREADS_MORE * (uint64_t)stack +
	       (uint64_t)(cpus > 0 ? cpus : 1) * ARENAS_PER_CPU * HEAP_MAX_SIZE;
}

/* What the process keeps. */
struct wish {
	uint64_t more; /* memory */
	int folder;    /* -1: none */
};

/* What is mapped already stays, as does what others have lowered before. */
static int limit_memory(uint64_t more)
{
	uint64_t now = mapped_now(), aside = set_aside();

	if (SANDBOX_LOOSE || !now || more > UINT64_MAX / 2)
		return 0;
	return lower(RLIMIT_AS, now + aside + more);
}

/* A core has the guest's secrets in it, and that of a program that ran as root is root's to look
 * at. */
static int lower_limits(const struct wish *wish)
{
	int rc = lower(RLIMIT_CORE, 0);

	if (!rc)
		rc = lower(RLIMIT_NOFILE, FILES_MAX);
	return rc ? rc : limit_memory(wish->more);
}

/* What pthread_cancel(3) would open, when it is first called. */
static void load_unwinder(void)
{
	if (!dlopen("libgcc_s.so.1", RTLD_NOW))
		return; /* then nobody is cancelled */
}

static int confine_threads(const struct wish *wish)
{
	int rules = SANDBOX_LOOSE ? -EOPNOTSUPP : landlock_only(wish->folder);
	int rc;

	/*
	 * Only a kernel without them is a reason to do so, too, and not where files may be opened:
	 * system calls do not tell which.
	 */
	if (rules < 0 && (rules != -EOPNOTSUPP || (wish->folder >= 0 && !SANDBOX_LOOSE)))
		return rules;
	thread_on_begin(kinds_begin);
	rc = threads_each(confine_thread, &rules);
	if (rules >= 0)
		close(rules);
	return rc;
}

static int make_lists(const struct wish *wish)
{
	return kinds_make(wish->folder >= 0);
}

int sandbox_enter(uint64_t more, char *err, size_t errlen)
{
	return sandbox_enter_folder(more, -1, err, errlen);
}

int sandbox_enter_folder(uint64_t more, int folder, char *err, size_t errlen)
{
	const struct wish wish = {more, folder};
	static const struct {
		const char *name;
		int (*run)(const struct wish *wish);
	} steps[] = {
		{"system calls cannot be filtered", make_lists},
		{"limits cannot be lowered", lower_limits},
		{"threads cannot be confined", confine_threads},
	};

	load_unwinder();
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int rc = steps[i].run(&wish);

		if (!rc)
			continue;
		snprintf(err, errlen, "no sandbox: %s: %s; --no-sandbox does without",
			 steps[i].name, strerror(-rc));
		return rc;
	}
	return 0;
}
