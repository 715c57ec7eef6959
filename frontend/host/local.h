/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the files of frontend/host share. */
#ifndef HVTRACE_FRONTEND_HOST_LOCAL_H
#define HVTRACE_FRONTEND_HOST_LOCAL_H

#include <limits.h>

#include "frontend/dat/format.h"
#include "frontend/host/host.h"
#include "tracer/tracer.h"

#define LOCAL_PREFIX   "hvtrace-" /* of the names of our instances */
#define LOCAL_PATH_MAX (NAME_MAX + 64)
#define LOCAL_CLOCK    "x86-tsc"
#define LOCAL_BATCH    64   /* pages */
#define LOCAL_CPUS_MAX 1024 /* as many as a journal can have */

struct host {
	const struct host_config *cfg; /* until it is described */
	char name[64];
	int folder; /* of the instance, locked */
	int tracing_on;
	int tasks; /* saved_cmdlines; -1: cannot be had */
	bool stopped;
	bool named; /* the buffer, in the recording */
	unsigned int cpus;
	int raw[LOCAL_CPUS_MAX]; /* trace_pipe_raw; -1: there is no such CPU */
	struct text vcpus;	 /* names of their threads, as saved_cmdlines has them */
	struct text said;	 /* names of tasks as they were said last */
	uint8_t batch[LOCAL_BATCH][DAT_PAGE_SIZE];
};

/* events.c: switch these on, in the instance. 0 or -errno. */
int events_enable(int instance, const char *const *events, size_t nr);
/* Whether one of these names events of a system. */
bool events_name_system(const char *const *events, size_t nr, const char *system);

/* about.c: what a trace.dat says of the host besides its records, while files can be opened. */
int about_describe(struct host *h, const struct record_to *to);
/* Names of tasks, if there are others than before. */
int about_tasks(struct host *h, const struct record_to *to);

#endif
