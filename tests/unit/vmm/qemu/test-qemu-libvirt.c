// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-libvirt.c - finding domains, starting their stubs and listing them, with a libvirt of
 * our own that fails, refuses, or answers nonsense.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake-libvirt.h"
#include "vmm/core/backend.h"
#include "vmm/core/errand.h"
#include "vmm/qemu/libvirt/domain.h"

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

/* libvirt is late, or the domain was still being started. */
static void the_monitor_knows_whether_it_runs(void **state)
{
	static const struct {
		int state;
		const char *status;
		bool runs;
	} cases[] = {
		{VIR_DOMAIN_PAUSED, "VM status: running\r\n", true},
		{VIR_DOMAIN_RUNNING, "VM status: paused\r\n", false},
		{VIR_DOMAIN_PAUSED, "VM status: paused (prelaunch)\r\n", false},
		{VIR_DOMAIN_RUNNING, "what is a status?\r\n", true},
		{VIR_DOMAIN_PAUSED, "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char address[64], err[512] = "";
		struct qemu_domain *d;

		lv.state = cases[i].state;
		lv.status = cases[i].status;
		d = opens("it");
		lv.answer = "Waiting for gdb connection on device 'unix:...'\r\n";
		assert_int_equal(qemu_domain_stub_start(d, false, address, sizeof(address), err,
							sizeof(err)),
				 0);
		assert_int_equal(qemu_domain_was_running(d), cases[i].runs);
		closes(d);
	}
}

static void its_power_button(void **state)
{
	struct qemu_domain *d = opens("it");
	char err[512];

	(void)state;
	assert_int_equal(qemu_domain_power_button(d, err, sizeof(err)), 0);
	assert_string_equal(lv.command, "system_powerdown");
	lv.answer = NULL;
	assert_int_equal(qemu_domain_power_button(d, err, sizeof(err)), -EIO);
	assert_string_equal(err,
			    "the power button of domain it cannot be pressed: it does not want to");
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

#define STUB "gdbserver \"unix:/run/domain-7/hvtrace.gdb,server=on,wait=off\""

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

/* --- its serial port -------------------------------------------------------------------------- */

static void serial(const char *answer, int rc, const char *expected)
{
	struct qemu_domain *d = opens("it");
	char path[300] = "", err[512] = "";

	lv.answer = answer;
	assert_int_equal(qemu_domain_serial_open(d, 0, path, sizeof(path), err, sizeof(err)), rc);
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
		qemu_list_free(list, 1);
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
	qemu_list_free(list, 3);
	lv.listed = 0;
	assert_int_equal(qemu_list(NULL, &forever, &list, err, sizeof(err)), 0);
	qemu_list_free(list, 0);
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

/* --- a domain of our own ---------------------------------------------------------------------- */

static char *its_xml(const void *arg, bool kvm)
{
	(void)kvm;
	return strdup(arg);
}

static struct qemu_domain *creates(char *err, size_t errlen)
{
	return qemu_domain_create(NULL, false, its_xml, XML, &patient, err, errlen);
}

/* What it has to say of the next one is what its user is told. */
static void one_whose_qemu_has_gone(void **state)
{
	struct qemu_domain *d;
	char err[512] = "";

	(void)state;
	lv.lost = 2;
	d = creates(err, sizeof(err));
	if (!d)
		fail_msg("%s", err);
	assert_int_equal(lv.started, 3);
	closes(d);
	assert_int_equal(lv.destroyed, 1);
}

static void one_that_does_not_start(void **state)
{
	char err[512] = "";

	(void)state;
	lv.has_domain = false;
	assert_null(creates(err, sizeof(err)));
	assert_string_equal(
		err, "libvirt at qemu:///system does not start the guest: it does not want to");
	assert_int_equal(lv.started, 1);
	lv.lost = 2; /* and then it says why */
	lv.started = 0;
	assert_null(creates(err, sizeof(err)));
	assert_int_equal(lv.started, 3);
	lv.lost = 1000;
	lv.started = 0;
	assert_null(creates(err, sizeof(err)));
	assert_in_range(lv.started, 2, 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, libvirt_set_up, libvirt_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_each_of_its_names),
		TEST(one_that_stands),
		TEST(the_monitor_knows_whether_it_runs),
		TEST(no_such_connection),
		TEST(no_such_domain),
		TEST(others_than_x86_64),
		TEST(its_power_button),
		TEST(a_stub),
		TEST(a_stub_that_a_killed_one_has_left),
		TEST(a_stub_of_others),
		TEST(no_stub),
		TEST(no_place_for_a_stub),
		TEST(a_serial_port),
		TEST(each_state),
		TEST(nothing_is_known),
		TEST(no_list),
		TEST(one_whose_qemu_has_gone),
		TEST(one_that_does_not_start),
	};

	return cmocka_run_group_tests_name("libvirt", tests, NULL, NULL);
}
