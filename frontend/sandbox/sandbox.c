// SPDX-License-Identifier: GPL-2.0-or-later
/* sandbox.c - gives up capabilities, files and system calls, in all threads. */
#include "frontend/sandbox/sandbox.h"
#include "frontend/sandbox/local.h"
#include "vmm/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors: clients of the control socket have one each, threads need some for a moment. */
#define FILES_MAX 1024

/* --- of each thread, in a signal handler -------------------------------------------------------
 */

static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

static const char *own_kind(void)
{
	return gettid() == getpid() ? "main" : thread_kind();
}

/*
 * Rules may be followed by who can get no privileges, or has some: so these go behind the first of
 * that. One that was started by a thread that is confined already has all of it from there.
 */
static int confine_thread(void *arg)
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

static int lower(int what, rlim_t to)
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

/* A core has the guest's secrets in it, and that of a program that ran as root is root's to look
 * at. */
static int lower_limits(void)
{
	int rc = lower(RLIMIT_CORE, 0);

	return rc ? rc : lower(RLIMIT_NOFILE, FILES_MAX);
}

/* What pthread_cancel(3) would open, when it is first called. */
static void load_unwinder(void)
{
	if (!dlopen("libgcc_s.so.1", RTLD_NOW))
		return; /* then nobody is cancelled */
}

static int confine_threads(void)
{
	int rules = SANDBOX_LOOSE ? -1 : landlock_nothing();
	int rc;

	thread_on_begin(kinds_begin);
	rc = threads_each(confine_thread, &rules);
	if (rules >= 0)
		close(rules);
	return rc;
}

int sandbox_enter(char *err, size_t errlen)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} steps[] = {
		{"limits cannot be lowered", lower_limits},
		{"system calls cannot be filtered", kinds_make},
		{"threads cannot be confined", confine_threads},
	};

	load_unwinder();
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int rc = steps[i].run();

		if (!rc)
			continue;
		snprintf(err, errlen, "no sandbox: %s: %s; --no-sandbox does without",
			 steps[i].name, strerror(-rc));
		return rc;
	}
	return 0;
}
