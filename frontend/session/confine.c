// SPDX-License-Identifier: GPL-2.0-or-later
/* confine.c - gives up the rights that tracing does not need, but for what is to be done at the
 * end. */
#include "frontend/sandbox/broker.h"
#include "frontend/sandbox/sandbox.h"
#include "frontend/session/host-events.h"
#include "frontend/session/registry.h"
#include "frontend/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Lists of modules and tasks, names, what is said about them. */
#define READINGS_MAX (UINT64_C(256) << 20)

enum {
	DEED_UNMOUNT,
	DEED_UNREGISTER,
	DEED_PLACE,
	DEED_NAME_SPARE,
	DEED_HOST_REMOVE,
	DEED_HOST_PLACE,
	NR_DEEDS
};

struct registered {
	pid_t pid;
};

static int do_unmount(void *arg)
{
	const struct session *s = arg;

	return s->fs ? tracefs_leave(s->fs) : 0;
}

static int do_unregister(void *arg)
{
	const struct registered *r = arg;

	registry_remove(r->pid);
	return 0;
}

static int do_place(void *arg)
{
	const struct session *s = arg;

	return s->record ? record_place(s->opt->output) : 0;
}

static int do_host_remove(void *arg)
{
	const struct session *s = arg;

	return host_events_remove(s->host);
}

static int do_host_place(void *arg)
{
	const struct session *s = arg;

	return host_events_place(s->host);
}

int session_place_recording(struct session *s)
{
	return s->broker ? broker_ask(s->broker, DEED_PLACE) : do_place(s);
}

int session_remove_host(struct session *s)
{
	return s->broker ? broker_ask(s->broker, DEED_HOST_REMOVE) : do_host_remove(s);
}

int session_place_host(struct session *s)
{
	return s->broker ? broker_ask(s->broker, DEED_HOST_PLACE) : do_host_place(s);
}

static int do_name_spare(void *arg)
{
	const struct session *s = arg;

	return spare_name(&s->spare);
}

int session_name_spare(struct session *s)
{
	return s->broker ? broker_ask(s->broker, DEED_NAME_SPARE) : do_name_spare(s);
}

void session_unmount(void *arg)
{
	struct session *s = arg;
	int rc = s->broker ? broker_ask(s->broker, DEED_UNMOUNT) : 0;

	if (rc && rc != -EALREADY)
		fprintf(stderr,
			"hvtrace: warning: %s is still a mount, of no use any more, as it cannot be "
			"unmounted (%s): fusermount3 -u %s\n",
			tracefs_dir(s->fs), strerror(-rc), tracefs_dir(s->fs));
}

void session_unregister(struct session *s)
{
	if (s->broker)
		broker_ask(s->broker, DEED_UNREGISTER);
	else
		registry_remove(getpid());
}

/* They open what they read when they are first asked. */
static void open_delays(struct machine *m)
{
	struct machine_delay ignored;
	struct machine_info info;

	machine_get_info(m, &info);
	for (unsigned int i = 0; i < info.vcpus; i++)
		machine_get_delay(m, i, &ignored);
}

/* What the host has left for buffers, and a little for what is read of the guest when it has none.
 */
static uint64_t may_take(const struct session *s)
{
	uint64_t left = trace_memory_left(s->trace);

	return left > UINT64_MAX - READINGS_MAX ? UINT64_MAX : left + READINGS_MAX;
}

/*
 * The collector of a guest that boots is started later than this, and takes its time in a host that
 * is busy if it gets no more than others: then the guest waits for it. Who may not ask for that
 * does without.
 */
static void let_threads_hurry(void)
{
	const rlim_t want = 20 - TRACE_NICE; /* setrlimit(2): the highest is 40 */
	struct rlimit nice;

	if (getrlimit(RLIMIT_NICE, &nice) || nice.rlim_cur >= want)
		return;
	nice.rlim_cur = want;
	if (nice.rlim_max < want)
		nice.rlim_max = want;
	setrlimit(RLIMIT_NICE, &nice);
}

int session_confine(struct session *s)
{
	struct registered registered = {getpid()};
	const struct broker_deed deeds[NR_DEEDS] = {
		[DEED_UNMOUNT] = {do_unmount, s},
		[DEED_UNREGISTER] = {do_unregister, &registered},
		[DEED_PLACE] = {do_place, s},
		[DEED_NAME_SPARE] = {do_name_spare, s},
		[DEED_HOST_REMOVE] = {do_host_remove, s},
		[DEED_HOST_PLACE] = {do_host_place, s},
	};
	int rc;

	host_events_begin(s);
	if (s->opt->no_sandbox)
		return 0;
	open_delays(s->m);
	let_threads_hurry();
	rc = broker_start(&s->broker, deeds, NR_DEEDS);
	if (!rc)
		return sandbox_enter(may_take(s), s->err, sizeof(s->err)) ? -1 : 0;
	snprintf(s->err, sizeof(s->err),
		 "no sandbox: a process cannot be started: %s; --no-sandbox does without",
		 strerror(-rc));
	return -1;
}
