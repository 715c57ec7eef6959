/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - what the host's own kernel does meanwhile: its trace events on the threads that run
 * vCPUs, by its tracefs.
 *
 * They go to an instance of their own, with buffers of its own: nothing that others have set is
 * touched. Whoever is killed leaves the instance, recording but read by nobody; the next one takes
 * it away, as it knows by a lock that nobody has it any more.
 */
#ifndef HVTRACE_FRONTEND_HOST_HOST_H
#define HVTRACE_FRONTEND_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frontend/dat/dat.h"
#include "frontend/record/source.h"

struct host;

/* --- the folder ------------------------------------------------------------------------------- */

/*
 * The host's tracefs, where it is mounted, or else a mount of it that nobody else sees. Its
 * descriptor, or -errno and why says what is in the way, in a few words.
 */
int host_tracefs_open(char *why, size_t len);
/* Take away what hvtraces have left there that are gone. How many. */
unsigned int host_clean(int tracefs);
/* Whether each of these, "SYSTEM:EVENT", both of them globs, is an event of the host's: 0, or
 * -ENOENT with its number in *which. */
int host_events_exist(int tracefs, const char *const *events, size_t nr, size_t *which);

/* --- a trace ---------------------------------------------------------------------------------- */

struct host_vcpu {
	unsigned int vcpu;
	pid_t tid;
};

struct host_config {
	int tracefs; /* stays the caller's */
	const char *const *events;
	size_t nr_events; /* sched_switch comes with them where the host has it */
	const struct host_vcpu *vcpus;
	size_t nr_vcpus;
	uint64_t trace_id;
	const char *guest; /* the guest's name, and the id of its trace */
	uint64_t guest_id;
	struct dat_tsc2nsec ticks;
	char boot_id[DAT_BOOT_ID_LEN + 1];
};

/* It records from now on. NULL, with why in a few words. Behind it no files are opened any more. */
struct host *host_begin(const struct host_config *cfg, char *why, size_t len);
/* What it is called in instances/. */
const char *host_name(const struct host *h);
/* For record_start_source(); h must be there until record_close(). */
struct record_source host_source(struct host *h);
/* Events end; what is in the buffers can still be read. */
void host_stop(struct host *h);
/* Closes everything of it; the instance is still there. NULL is allowed. */
void host_free(struct host *h);
/* The instance goes, behind host_free(). In another process, too. 0 or -errno. */
int host_remove(int tracefs, const char *name);

/* How this host's kernel makes nanoseconds of its TSC. False: it does not tell. */
bool host_ticks(struct dat_tsc2nsec *ticks);
/* By what this host, since it was booted, is known from all others; empty: it is not. */
void host_boot_id(char id[DAT_BOOT_ID_LEN + 1]);

#endif
