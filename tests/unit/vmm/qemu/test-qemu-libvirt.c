// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-libvirt.c - finding domains, starting their stubs and listing them, with a libvirt of
 * our own that fails, refuses, answers nonsense, or does not answer.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/core/backend.h"
#include "vmm/core/errand.h"
#include "vmm/qemu/libvirt/connect.h"
#include "vmm/qemu/libvirt/domain.h"

/* --- libvirt ---------------------------------------------------------------------------------- */

#define UUID "c7a5fdbd-edaf-9455-926a-d65c16db1809"
#define XML                                                                                        \
	"<domain type='kvm' id='7'><name>it</name><os><type arch='x86_64'>hvm</type>"              \
	"<kernel>/boot/vmlinuz</kernel></os></domain>"
#define CHARDEVS                                                                                   \
	"charserial0: filename=pty:/dev/pts/3\r\n"                                                 \
	"charmonitor: filename=unix:/run/domain-7/monitor.sock,server=on\r\n"
#define STUB "gdbserver \"unix:/run/domain-7/hvtrace.gdb,server=on,wait=off\""

/* What it says; NULL, and -1, where it fails. */
static struct {
	const char *uri;
	const char *xml;
	const char *chardevs;
	const char *answer; /* of the monitor's other commands */
	int state, listed;
	bool has_uuid, has_info, has_domain;
	/* What it was told. */
	char command[600];
	unsigned int resumed, removed;
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

static int set_up(void **state)
{
	(void)state;
	memset(&lv, 0, sizeof(lv));
	lv.uri = "qemu:///system";
	lv.xml = XML;
	lv.chardevs = CHARDEVS;
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

static bool it_is_stuck(void)
{
	bool stuck;

	pthread_mutex_lock(&silence.lock);
	stuck = silence.stuck;
	pthread_mutex_unlock(&silence.lock);
	return stuck;
}

static void it_answers_at_last(void)
{
	pthread_mutex_lock(&silence.lock);
	silence.answers = true;
	pthread_cond_broadcast(&silence.changed);
	pthread_mutex_unlock(&silence.lock);
}

/* All that was handed out has been given back. */
static int tear_down(void **state)
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
	return "it";
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
	else if (!strcmp(command, "gdbserver none"))
		lv.removed++;
	else
		snprintf(lv.command, sizeof(lv.command), "%s", command);
	lv.stub = !strncmp(command, "gdbserver ", 10) ? strcmp(command, "gdbserver none") : lv.stub;
	*said = copy(text);
	return text ? 0 : -1;
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
		.virConnectGetURI = uri_of,
		.virConnectListAllDomains = list_all,
		.virConnectOpen = connect_to,
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
		.virEventRegisterDefaultImpl = no_events,
		.virGetLastErrorMessage = last_error,
		.virSetErrorFunc = no_errors,
	};

	return &table;
}

/* --- finding a domain ------------------------------------------------------------------------- */

static const struct errand_patience patient = {.ms = 0};
static const struct machine_patience forever = {NULL, NULL};

static struct qemu_domain *opens(const char *which)
{
	char err[512] = "";
	struct qemu_domain *d = qemu_domain_open(NULL, which, &patient, err, sizeof(err));

	if (!d)
		fail_msg("%s", err);
	return d;
}

static void closes(struct qemu_domain *d)
{
	char err[512] = "";

	if (qemu_domain_close(d, err, sizeof(err)))
		fail_msg("%s", err);
}

/* One line that says this. */
static void refuses(const char *uri, const char *which, const char *expected)
{
	char err[512] = "";

	assert_null(qemu_domain_open(uri, which, &patient, err, sizeof(err)));
	assert_string_equal(err, expected);
}

static void by_each_of_its_names(void **state)
{
	static const char *const names[] = {"7", UUID, "it"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct qemu_domain *d = opens(names[i]);

		assert_string_equal(qemu_domain_name(d), "it");
		assert_string_equal(qemu_domain_uuid(d), UUID);
		assert_string_equal(qemu_domain_kernel(d), "/boot/vmlinuz");
		assert_true(qemu_domain_is_kvm(d) && qemu_domain_was_running(d));
		closes(d);
	}
	assert_int_equal(lv.removed, 0); /* no stub was started */
}

static void one_that_stands(void **state)
{
	struct qemu_domain *d;

	(void)state;
	lv.state = VIR_DOMAIN_PAUSED;
	lv.has_uuid = false;
	lv.xml = "<domain type='qemu'><os><type arch='x86_64'>hvm</type></os></domain>";
	d = opens("it");
	assert_false(qemu_domain_was_running(d));
	assert_false(qemu_domain_is_kvm(d));
	assert_string_equal(qemu_domain_uuid(d), "");
	assert_null(qemu_domain_kernel(d));
	closes(d);
}

static void no_such_connection(void **state)
{
	(void)state;
	lv.uri = NULL;
	refuses(NULL, "it", "cannot connect to libvirt at qemu:///system: it does not want to");
	lv.uri = "qemu+ssh://other/system";
	refuses("alias", "it", "alias is no QEMU of this host: only its guests can be traced");
	refuses("qemu+ssh://other/system", "it",
		"qemu+ssh://other/system is no QEMU of this host: only its guests can be traced");
}

static void no_such_domain(void **state)
{
	(void)state;
	refuses(NULL, "8",
		"qemu:///system has no domain 8: virsh -c qemu:///system list --all shows them");
	lv.state = -1;
	refuses(NULL, "it", "cannot get the state of domain it: it does not want to");
	lv.state = VIR_DOMAIN_SHUTOFF;
	refuses(NULL, "it", "domain it is not running: start it with virsh start");
}

static void others_than_x86_64(void **state)
{
	static const struct {
		const char *xml, *err;
	} cases[] = {
		{NULL, "domain it is of type unknown: only qemu and kvm can be traced"},
		{"", "domain it is of type unknown: only qemu and kvm can be traced"},
		{"<domain type='xen'></domain>",
		 "domain it is of type xen: only qemu and kvm can be traced"},
		{"<domain type='kvm'></domain>",
		 "domain it is a unknown machine: only x86_64 can be traced"},
		{"<domain type='kvm'><os><type arch='x86_64'>",
		 "domain it is a unknown machine: only x86_64 can be traced"},
		{"<domain type='kvm'><os><type arch='aarch64'>hvm</type></os></domain>",
		 "domain it is a aarch64 machine: only x86_64 can be traced"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lv.xml = cases[i].xml;
		refuses(NULL, "it", cases[i].err);
	}
}

/* --- its stub --------------------------------------------------------------------------------- */

static void stub_starts(const char *answer, bool takeover, const char *command)
{
	struct qemu_domain *d = opens("it");
	char address[300] = "", err[512] = "";

	lv.answer = answer;
	if (qemu_domain_stub_start(d, takeover, address, sizeof(address), err, sizeof(err)))
		fail_msg("%s", err);
	assert_string_equal(address, "unix:/run/domain-7/hvtrace.gdb");
	assert_string_equal(lv.command, command);
	closes(d);
	assert_int_equal(lv.removed, 1);
}

/* Nothing is started, so nothing is taken out. */
static void stub_fails(int rc, const char *expected)
{
	struct qemu_domain *d = opens("it");
	char address[300] = "", err[1024] = "";

	assert_int_equal(
		qemu_domain_stub_start(d, false, address, sizeof(address), err, sizeof(err)), rc);
	assert_string_equal(err, expected);
	closes(d);
	assert_int_equal(lv.removed, 0);
}

static void a_stub(void **state)
{
	(void)state;
	stub_starts("Waiting for gdb connection on device 'unix:...'\r\n", false, STUB);
}

static void a_stub_that_a_killed_one_has_left(void **state)
{
	(void)state;
	lv.chardevs =
		CHARDEVS "gdb: filename=disconnected:unix:/run/domain-7/hvtrace.gdb,server=on\r\n";
	stub_fails(-EBUSY, "a tracer of domain it was killed: recover the domain first");
	lv.state = VIR_DOMAIN_PAUSED;
	stub_starts("", true, "");
	assert_int_equal(lv.resumed, 1); /* what that tracer had stopped */
}

static void a_stub_of_others(void **state)
{
	(void)state;
	lv.chardevs = CHARDEVS "gdb: filename=disconnected:tcp:0.0.0.0:1234,server=on\r\n";
	stub_fails(-EBUSY, "domain it has a gdb stub in use already "
			   "(disconnected:tcp:0.0.0.0:1234,server=on): another tracer or debugger "
			   "is attached (one that was killed lets go within seconds)");
}

static void no_stub(void **state)
{
	(void)state;
	lv.answer = NULL;
	stub_fails(-EACCES, "domain it cannot start its gdb stub: it does not want to");
	lv.answer = "unknown command: 'gdbserver'\r\nand more";
	stub_fails(-EACCES, "domain it cannot start its gdb stub: unknown command: 'gdbserver'");
	lv.chardevs = NULL;
	stub_fails(-EACCES, "no answer from the monitor of domain it: it does not want to");
}

/* Answers of a QEMU that lies, or of one that is configured in another way. */
static void no_place_for_a_stub(void **state)
{
	static const char *const chardevs[] = {
		"",
		"charmonitor",
		"charmonitor: filename=",
		"charmonitor: filename=pty:/dev/pts/4\r\n",
		"charmonitor: filename=unix:monitor.sock\r\n",
		"xcharmonitor: filename=unix:/run/domain-7/monitor.sock\r\n",
	};
	char *longer;

	(void)state;
	for (size_t i = 0; i < sizeof(chardevs) / sizeof(chardevs[0]); i++) {
		lv.chardevs = chardevs[i];
		stub_fails(-EOPNOTSUPP,
			   "the monitor of domain it has no socket beside which another could be");
	}
	/* There is no room for our name behind it, or not even for its own. */
	for (int len = 245; len < 600; len += 5) {
		assert_true(asprintf(&longer, "charmonitor: filename=unix:/%0*d/m\r\n", len, 0) >
			    0);
		lv.chardevs = longer;
		stub_fails(-EOPNOTSUPP,
			   "the monitor of domain it has no socket beside which another could be");
		free(longer);
	}
}

/* --- its serial port ---------------------------------------------------------------------------
 */

static void serial(const char *answer, int rc, const char *expected)
{
	struct qemu_domain *d = opens("it");
	char path[300] = "", err[512] = "";

	lv.answer = answer;
	assert_int_equal(qemu_domain_serial_open(d, path, sizeof(path), err, sizeof(err)), rc);
	assert_string_equal(rc ? err : path, expected);
	closes(d);
}

static void a_serial_port(void **state)
{
	(void)state;
	lv.chardevs = "charmonitor: filename=unix:/run/a,,b/monitor.sock,server=on\r\n";
	serial("", 0, "/run/a,b/hvtrace.tty");
	assert_string_equal(lv.command, "chardev-change charserial0 socket,path=/run/a,,b/"
					"hvtrace.tty,server=on,wait=off");
	serial(NULL, -EIO, "domain it has no serial port for its console: it does not want to");
	serial("Error: no such chardev\r\n", -EIO,
	       "domain it has no serial port for its console: Error: no such chardev");
	lv.chardevs = "";
	serial("", -EOPNOTSUPP,
	       "the monitor of domain it has no socket beside which another could be");
	lv.chardevs = NULL;
	serial("", -EACCES, "no answer from the monitor of domain it: it does not want to");
}

/* --- lists ------------------------------------------------------------------------------------ */

static void each_state(void **state)
{
	static const struct {
		int state;
		const char *name;
	} states[] = {
		{VIR_DOMAIN_RUNNING, "running"}, {VIR_DOMAIN_BLOCKED, "running"},
		{VIR_DOMAIN_PAUSED, "paused"},	 {VIR_DOMAIN_PMSUSPENDED, "suspended"},
		{VIR_DOMAIN_SHUTDOWN, "ending"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct machine_listing *list = NULL;
		char err[256];

		lv.state = states[i].state;
		assert_int_equal(qemu_list(NULL, &forever, &list, err, sizeof(err)), 1);
		assert_string_equal(list->name, "it");
		assert_string_equal(list->uuid, UUID);
		assert_string_equal(list->state, states[i].name);
		assert_string_equal(list->accel, "kvm");
		assert_string_equal(list->kernel, "/boot/vmlinuz");
		assert_int_equal(list->id, 7);
		assert_int_equal(list->vcpus, 4);
		free(list);
	}
}

static void nothing_is_known(void **state)
{
	struct machine_listing *list = NULL;
	char err[256];

	(void)state;
	lv.has_uuid = lv.has_info = false;
	lv.xml = NULL;
	lv.listed = 3;
	assert_int_equal(qemu_list(NULL, &forever, &list, err, sizeof(err)), 3);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(list[i].state, "unknown");
		assert_string_equal(list[i].uuid, "");
		assert_string_equal(list[i].accel, "");
		assert_string_equal(list[i].kernel, "");
	}
	free(list);
	lv.listed = 0;
	assert_int_equal(qemu_list(NULL, &forever, &list, err, sizeof(err)), 0);
	free(list);
}

static void no_list(void **state)
{
	struct machine_listing *list = NULL;
	char err[256];

	(void)state;
	lv.listed = -1;
	assert_int_equal(qemu_list(NULL, &forever, &list, err, sizeof(err)), -EIO);
	assert_string_equal(err, "libvirt does not list its domains: it does not want to");
	lv.uri = NULL;
	assert_int_equal(qemu_list(NULL, &forever, &list, err, sizeof(err)), -ECONNREFUSED);
}

/* --- silent ----------------------------------------------------------------------------------- */

#define LONG_MS 3600000

/* Yes, as soon as libvirt does not answer. */
static bool stuck(void *arg)
{
	(void)arg;
	return it_is_stuck();
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static const struct errand_patience gives_up = {LONG_MS, stuck, NULL};
static const struct errand_patience in_a_hurry = {1, never, NULL};

/* What was handed out comes back once it answers, the one connection last of all. */
static void all_is_given_back(void)
{
	it_answers_at_last();
	while (!lv.closed)
		sched_yield();
	assert_int_equal(lv.connections, 0);
	assert_int_equal(lv.domains, 0);
}

static void does_not_open(unsigned int call, const struct errand_patience *patience,
			  const char *expected)
{
	char err[512] = "";

	silence.call = call;
	assert_null(qemu_domain_open(NULL, "it", patience, err, sizeof(err)));
	assert_string_equal(err, expected);
	all_is_given_back();
	set_up(NULL);
}

/* In whichever call; there are more of them than it takes to be connected. */
static void a_silent_one(void **state)
{
	struct qemu_domain *d;
	unsigned int calls;

	(void)state;
	d = opens("it");
	calls = silence.calls;
	closes(d);
	assert_true(calls > 3);
	for (unsigned int call = 1; call <= calls; call++) {
		set_up(NULL);
		does_not_open(call, &gives_up,
			      "libvirt does not answer (qemu:///system) yet: given up");
		does_not_open(call, &in_a_hurry,
			      "libvirt does not answer (qemu:///system): waited for 1 s; is its "
			      "daemon stopped, or the domain's QEMU?");
	}
}

/* Whoever lets go of the domain does not wait for ever, and no stub stays in it. */
static void a_stub_is_silent(unsigned int call)
{
	struct qemu_domain *d;
	char address[300] = "", err[512] = "";

	lv.answer = "Waiting for gdb connection on device 'unix:...'\r\n";
	d = qemu_domain_open(NULL, "it", &gives_up, err, sizeof(err));
	assert_non_null(d);
	silence.call = silence.calls + call;
	assert_int_equal(
		qemu_domain_stub_start(d, false, address, sizeof(address), err, sizeof(err)),
		-ECANCELED);
	assert_string_equal(err, "libvirt does not answer (qemu:///system) yet: given up");
	assert_string_equal(address, "");
	assert_int_equal(qemu_domain_close(d, err, sizeof(err)), -ETIMEDOUT);
	assert_non_null(strstr(err, "libvirt does not answer (qemu:///system): waited for "));
	all_is_given_back();
	assert_false(lv.stub);
}

static void a_stub_that_nobody_waits_for(void **state)
{
	(void)state;
	a_stub_is_silent(1);
	set_up(NULL);
	a_stub_is_silent(2);
	assert_int_equal(lv.removed, 1); /* it was started in the end */
}

static void a_silent_list(void **state)
{
	const struct machine_patience patience = {stuck, NULL};
	struct machine_listing *list = NULL;
	char err[512] = "";

	(void)state;
	for (unsigned int call = 1; call <= 4; call++) {
		set_up(NULL);
		silence.call = call;
		assert_int_equal(qemu_list(NULL, &patience, &list, err, sizeof(err)), -ECANCELED);
		assert_string_equal(err, "libvirt does not answer (qemu:///system) yet: given up");
		assert_null(list);
		all_is_given_back();
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_each_of_its_names),
		TEST(one_that_stands),
		TEST(no_such_connection),
		TEST(no_such_domain),
		TEST(others_than_x86_64),
		TEST(a_stub),
		TEST(a_stub_that_a_killed_one_has_left),
		TEST(a_stub_of_others),
		TEST(no_stub),
		TEST(no_place_for_a_stub),
		TEST(a_serial_port),
		TEST(each_state),
		TEST(nothing_is_known),
		TEST(no_list),
		TEST(a_silent_one),
		TEST(a_stub_that_nobody_waits_for),
		TEST(a_silent_list),
	};

	return cmocka_run_group_tests_name("libvirt", tests, NULL, NULL);
}
