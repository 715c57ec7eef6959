// SPDX-License-Identifier: GPL-2.0-or-later
/* notify.c - see notify.h */
#include "frontend/serve/notify.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#define LIBRARY "libsystemd.so.0"

static __typeof__(&sd_notify) send_text;

int64_t notify_begin(void)
{
	__typeof__(&sd_watchdog_enabled) watchdog_enabled;
	uint64_t usec = 0;
	void *library;

	if (!getenv("NOTIFY_SOCKET"))
		return 0;
	library = dlopen(LIBRARY, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "hvtrace: systemd is told nothing: " LIBRARY
				" is not there (package libsystemd0)\n");
		return 0;
	}
	*(void **)&send_text = dlsym(library, "sd_notify");
	*(void **)&watchdog_enabled = dlsym(library, "sd_watchdog_enabled");
	if (watchdog_enabled && watchdog_enabled(0, &usec) > 0)
		return (int64_t)(usec / 2000);
	return 0;
}

static void tell(const char *text)
{
	if (send_text)
		send_text(0, text);
}

void notify_ready(void)
{
	tell("READY=1");
}

/* Type=notify-reload wants to know when that began (systemd 253). */
void notify_reloading(void)
{
	struct timespec ts;
	char text[80];

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
	tell(text);
}

void notify_stopping(void)
{
	tell("STOPPING=1");
}

void notify_alive(void)
{
	tell("WATCHDOG=1");
}

void notify_status(const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "STATUS=%s", text);
	tell(line);
}
