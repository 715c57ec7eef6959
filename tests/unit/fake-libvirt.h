/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-libvirt.h - a libvirt of our own with one domain, that fails, refuses, answers nonsense, or
 * does not answer. Included by one test program, in which it takes the place of the real one.
 */
#ifndef HVTRACE_TESTS_FAKE_LIBVIRT_H
#define HVTRACE_TESTS_FAKE_LIBVIRT_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "vmm/qemu/libvirt/libvirt.h"

#define UUID "c7a5fdbd-edaf-9455-926a-d65c16db1809"
#define XML                                                                                        \
	"<domain type='kvm' id='7'><name>it</name><os><type arch='x86_64'>hvm</type>"              \
	"<kernel>/boot/vmlinuz</kernel></os></domain>"
#define CHARDEVS                                                                                   \
	"charserial0: filename=pty:/dev/pts/3\r\n"                                                 \
	"charmonitor: filename=unix:/run/domain-7/monitor.sock,server=on\r\n"

/* What it says; NULL, and -1, where it fails. */
static struct {
	const char *uri;
	const char *name;
	const char *xml;
	const char *chardevs;
	const char *status; /* the monitor's "info status" */
	const char *answer; /* and of its other commands */
	int state, listed;
	bool has_uuid, has_info, has_domain;
	unsigned int lost; /* so many QEMUs end before it connects to their monitors */
	/* What it was told. */
	char command[600];
	unsigned int resumed, removed, started, destroyed;
	bool stub;			  /* it has been started */
	atomic_uint connections, domains; /* that were handed out */
	atomic_uint closed;		  /* connections, ever */
} lv;

/*
 * It does not answer this call (0: it answers all) until it is told to: calls are counted from the
 * beginning of each test.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int call, calls;
	bool stuck, answers;
} silence = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false, false};

static int domain; /* the only one there is */

static int libvirt_set_up(void **state)
{
	(void)state;
	memset(&lv, 0, sizeof(lv));
	lv.uri = "qemu:///system";
	lv.name = "it";
	lv.xml = XML;
	lv.chardevs = CHARDEVS;
	lv.status = "VM status: running\r\n";
	lv.answer = "";
	lv.state = VIR_DOMAIN_RUNNING;
	lv.listed = 1;
	lv.has_uuid = lv.has_info = lv.has_domain = true;
	pthread_mutex_lock(&silence.lock);
	silence.call = silence.calls = 0;
	silence.stuck = silence.answers = false;
	pthread_mutex_unlock(&silence.lock);
	return 0;
}

/* At the beginning of each call that a daemon has to answer. */
static void answer(void)
{
	pthread_mutex_lock(&silence.lock);
	if (++silence.calls == silence.call) {
		silence.stuck = true;
		while (!silence.answers)
			pthread_cond_wait(&silence.changed, &silence.lock);
		silence.stuck = false;
	}
	pthread_mutex_unlock(&silence.lock);
}

static __attribute__((unused)) bool it_is_stuck(void)
{
	bool stuck;

	pthread_mutex_lock(&silence.lock);
	stuck = silence.stuck;
	pthread_mutex_unlock(&silence.lock);
	return stuck;
}

static __attribute__((unused)) void it_answers_at_last(void)
{
	pthread_mutex_lock(&silence.lock);
	silence.answers = true;
	pthread_cond_broadcast(&silence.changed);
	pthread_mutex_unlock(&silence.lock);
}

/* All that was handed out has been given back. */
static int libvirt_tear_down(void **state)
{
	(void)state;
	return lv.connections || lv.domains;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static virConnectPtr connect_to(const char *uri)
{
	answer();
	(void)uri;
	if (!lv.uri)
		return NULL;
	lv.connections++;
	return (virConnectPtr)&lv;
}

static int disconnect(virConnectPtr conn)
{
	assert_ptr_equal(conn, &lv);
	lv.connections--;
	lv.closed++;
	return 0;
}

static char *uri_of(virConnectPtr conn)
{
	(void)conn;
	return copy(lv.uri);
}

static virDomainPtr hand_out(void)
{
	if (!lv.has_domain)
		return NULL;
	lv.domains++;
	return (virDomainPtr)&domain;
}

static virDomainPtr by_id(virConnectPtr conn, int id)
{
	answer();
	(void)conn;
	return id == 7 ? hand_out() : NULL;
}

static virDomainPtr by_uuid(virConnectPtr conn, const char *uuid)
{
	answer();
	(void)conn;
	return strcmp(uuid, UUID) ? NULL : hand_out();
}

static virDomainPtr by_name(virConnectPtr conn, const char *name)
{
	answer();
	(void)conn;
	return strcmp(name, "it") ? NULL : hand_out();
}

static virDomainPtr create(virConnectPtr conn, const char *xml, unsigned int flags)
{
	answer();
	(void)conn;
	(void)xml;
	assert_int_equal(flags, VIR_DOMAIN_START_PAUSED | VIR_DOMAIN_START_AUTODESTROY);
	lv.started++;
	return lv.lost < lv.started ? hand_out() : NULL;
}

static int destroy(virDomainPtr dom)
{
	answer();
	(void)dom;
	lv.destroyed++;
	return 0;
}

static int let_go(virDomainPtr dom)
{
	assert_ptr_equal(dom, &domain);
	lv.domains--;
	return 0;
}

static int get_state(virDomainPtr dom, int *state, int *why, unsigned int flags)
{
	answer();
	(void)dom;
	(void)flags;
	*state = lv.state;
	*why = VIR_DOMAIN_PAUSED_UNKNOWN;
	return lv.state < 0 ? -1 : 0;
}

static int get_uuid(virDomainPtr dom, char *uuid)
{
	(void)dom;
	if (!lv.has_uuid)
		return -1;
	strcpy(uuid, UUID);
	return 0;
}

static int get_info(virDomainPtr dom, virDomainInfoPtr info)
{
	answer();
	(void)dom;
	info->state = (unsigned char)lv.state;
	info->nrVirtCpu = 4;
	return lv.has_info ? 0 : -1;
}

static unsigned int get_id(virDomainPtr dom)
{
	(void)dom;
	return 7;
}

static const char *get_name(virDomainPtr dom)
{
	(void)dom;
	return lv.name;
}

static char *get_xml(virDomainPtr dom, unsigned int flags)
{
	answer();
	(void)dom;
	(void)flags;
	return copy(lv.xml);
}

static int resume(virDomainPtr dom)
{
	answer();
	(void)dom;
	lv.resumed++;
	return 0;
}

static int list_all(virConnectPtr conn, virDomainPtr **doms, unsigned int flags)
{
	answer();
	(void)conn;
	(void)flags;
	if (lv.listed < 0)
		return -1;
	*doms = calloc((size_t)lv.listed + 1, sizeof(**doms));
	for (int i = 0; i < lv.listed; i++)
		(*doms)[i] = hand_out();
	return lv.listed;
}

static int monitor_command(virDomainPtr dom, const char *command, char **said, unsigned int flags)
{
	const char *text;

	answer();
	text = lv.answer;
	(void)dom;
	assert_int_equal(flags, VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP);
	if (!strcmp(command, "info chardev"))
		text = lv.chardevs;
	else if (!strcmp(command, "info status"))
		text = lv.status;
	else if (!strcmp(command, "gdbserver none"))
		lv.removed++;
	else
		snprintf(lv.command, sizeof(lv.command), "%s", command);
	lv.stub = !strncmp(command, "gdbserver ", 10) ? strcmp(command, "gdbserver none") : lv.stub;
	*said = copy(text);
	return text ? 0 : -1;
}

/* --- events -------------------------------------------------------------------------------------
 */

enum { EVENTS_MAX = 512, EVENT_IDS = VIR_DOMAIN_EVENT_ID_REBOOT + 1 };

/* What is to be told of the domain, and who wants to hear it. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool gone; /* the daemon */
	struct {
		int id, event, detail; /* VIR_DOMAIN_EVENT_ID_... */
	} queue[EVENTS_MAX];
	unsigned int first, nr;
	virConnectDomainEventGenericCallback heard[EVENT_IDS];
	void *arg[EVENT_IDS];
} events = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __attribute__((unused)) void happens(int id, int event, int detail)
{
	pthread_mutex_lock(&events.lock);
	assert_true(events.first + events.nr < EVENTS_MAX);
	events.queue[events.first + events.nr].id = id;
	events.queue[events.first + events.nr].event = event;
	events.queue[events.first + events.nr++].detail = detail;
	pthread_cond_broadcast(&events.changed);
	pthread_mutex_unlock(&events.lock);
}

static __attribute__((unused)) void daemon_goes(bool gone)
{
	pthread_mutex_lock(&events.lock);
	events.gone = gone;
	pthread_cond_broadcast(&events.changed);
	pthread_mutex_unlock(&events.lock);
}

static int listen_to(virConnectPtr conn, virDomainPtr dom, int id,
		     virConnectDomainEventGenericCallback heard, void *arg, virFreeCallback release)
{
	answer();
	(void)conn;
	(void)dom;
	(void)release;
	pthread_mutex_lock(&events.lock);
	events.heard[id] = heard;
	events.arg[id] = arg;
	pthread_mutex_unlock(&events.lock);
	return id;
}

static int listen_no_more(virConnectPtr conn, int id)
{
	(void)conn;
	pthread_mutex_lock(&events.lock);
	events.heard[id] = NULL;
	pthread_mutex_unlock(&events.lock);
	return 0;
}

static int is_alive(virConnectPtr conn)
{
	bool gone;

	(void)conn;
	pthread_mutex_lock(&events.lock);
	gone = events.gone;
	pthread_mutex_unlock(&events.lock);
	return !gone;
}

static int keep_alive(virConnectPtr conn, int interval, unsigned int count)
{
	(void)conn;
	(void)interval;
	(void)count;
	return 0;
}

static void tell_event(int id, int event, int detail)
{
	if (!events.heard[id])
		return;
	if (id == VIR_DOMAIN_EVENT_ID_LIFECYCLE)
		((virConnectDomainEventCallback)(void (*)(void))events.heard[id])(
			(virConnectPtr)&lv, (virDomainPtr)&domain, event, detail, events.arg[id]);
	else
		events.heard[id]((virConnectPtr)&lv, (virDomainPtr)&domain, events.arg[id]);
}

/* One of them, or as long as a timer takes. */
static int run_events(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&events.lock);
	if (!events.nr && !events.gone)
		pthread_cond_timedwait(&events.changed, &events.lock, &until);
	if (events.nr) {
		tell_event(events.queue[events.first].id, events.queue[events.first].event,
			   events.queue[events.first].detail);
		events.first++;
		events.nr--;
	}
	pthread_mutex_unlock(&events.lock);
	return 0;
}

static int add_timer(int ms, virEventTimeoutCallback fires, void *arg, virFreeCallback release)
{
	(void)ms;
	(void)fires;
	(void)arg;
	(void)release;
	return 1;
}

static int remove_timer(int timer)
{
	return timer == 1 ? 0 : -1;
}

/* --- loads --------------------------------------------------------------------------------------
 */

/* What it tells of the domain: params NULL: it fails. */
static struct {
	virTypedParameter *params;
	int nr;
	unsigned int handed_out;
} loads;

static int stats_of_all(virConnectPtr conn, unsigned int what, virDomainStatsRecordPtr **records,
			unsigned int flags)
{
	virDomainStatsRecordPtr *list;

	answer();
	(void)conn;
	(void)flags;
	assert_int_equal(what, VIR_DOMAIN_STATS_VCPU);
	if (!loads.params)
		return -1;
	list = calloc(2, sizeof(virDomainStatsRecordPtr));
	assert_non_null(list);
	list[0] = calloc(1, sizeof(*list[0]));
	assert_non_null(list[0]);
	list[0]->dom = (virDomainPtr)&domain;
	list[0]->params = loads.params;
	list[0]->nparams = loads.nr;
	loads.handed_out++;
	*records = list;
	return 1;
}

static void free_stats(virDomainStatsRecordPtr *records)
{
	loads.handed_out--;
	free(records[0]);
	free(records);
}

static const virTypedParameter *param_of(virTypedParameterPtr params, int nr, const char *name,
					 int type)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(params[i].field, name) && params[i].type == type)
			return &params[i];
	return NULL;
}

static int get_uint(virTypedParameterPtr params, int nr, const char *name, unsigned int *value)
{
	const virTypedParameter *p = param_of(params, nr, name, VIR_TYPED_PARAM_UINT);

	if (p)
		*value = p->value.ui;
	return p != NULL;
}

static int get_ullong(virTypedParameterPtr params, int nr, const char *name,
		      unsigned long long *value)
{
	const virTypedParameter *p = param_of(params, nr, name, VIR_TYPED_PARAM_ULLONG);

	if (p)
		*value = p->value.ul;
	return p != NULL;
}

/* ------------------------------------------------------------------------------------------------
 */

static virErrorPtr last_error_whole(void)
{
	static virError error = {.code = VIR_ERR_SYSTEM_ERROR, .domain = VIR_FROM_QEMU};

	error.int1 = lv.started <= lv.lost ? ECONNREFUSED : ENOENT;
	return &error;
}

static const char *last_error(void)
{
	return "it does not want to\nand says more";
}

static void no_errors(void *arg, virErrorFunc handler)
{
	(void)arg;
	(void)handler;
}

static int no_events(void)
{
	return 0;
}

int libvirt_load(char *err, size_t errlen)
{
	(void)err;
	(void)errlen;
	return 0;
}

const struct libvirt *libvirt(void)
{
	static const struct libvirt table = {
		.virConnectClose = disconnect,
		.virConnectDomainEventDeregisterAny = listen_no_more,
		.virConnectDomainEventRegisterAny = listen_to,
		.virConnectGetAllDomainStats = stats_of_all,
		.virConnectGetURI = uri_of,
		.virConnectIsAlive = is_alive,
		.virConnectListAllDomains = list_all,
		.virConnectOpen = connect_to,
		.virConnectSetKeepAlive = keep_alive,
		.virDomainCreateXML = create,
		.virDomainDestroy = destroy,
		.virDomainFree = let_go,
		.virDomainGetID = get_id,
		.virDomainGetInfo = get_info,
		.virDomainGetName = get_name,
		.virDomainGetState = get_state,
		.virDomainGetUUIDString = get_uuid,
		.virDomainGetXMLDesc = get_xml,
		.virDomainLookupByID = by_id,
		.virDomainLookupByName = by_name,
		.virDomainLookupByUUIDString = by_uuid,
		.virDomainQemuMonitorCommand = monitor_command,
		.virDomainResume = resume,
		.virDomainStatsRecordListFree = free_stats,
		.virEventAddTimeout = add_timer,
		.virEventRegisterDefaultImpl = no_events,
		.virEventRemoveTimeout = remove_timer,
		.virEventRunDefaultImpl = run_events,
		.virGetLastError = last_error_whole,
		.virGetLastErrorMessage = last_error,
		.virSetErrorFunc = no_errors,
		.virTypedParamsGetUInt = get_uint,
		.virTypedParamsGetULLong = get_ullong,
	};

	return &table;
}

#endif
