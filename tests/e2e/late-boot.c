// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * late-boot.c - loaded before hvtrace: its thread that follows a boot begins late, as one of a host
 * that has much else to do. By then a guest whom nobody keeps from it has ended.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define LATE_S 8

int pthread_setname_np(pthread_t thread, const char *name)
{
	int (*next)(pthread_t, const char *) =
		(int (*)(pthread_t, const char *))dlsym(RTLD_NEXT, "pthread_setname_np");

	if (!strcmp(name, "boot"))
		nanosleep(&(struct timespec){.tv_sec = LATE_S}, NULL);
	return next(thread, name);
}
