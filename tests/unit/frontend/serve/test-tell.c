// SPDX-License-Identifier: GPL-2.0-or-later
/* test-tell.c - what the daemon tells of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "frontend/serve/daemon.h"
#include "frontend/serve/notify.h"
#include "tests/unit/remove-tree.h"

static char dir[64];
static struct config_rule rules[2] = {{.name = "a", .keep = true}, {.name = "b", .keep = true}};
static struct serve_config config;
static struct conf conf = {&config, 1};
static struct daemon d;

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hvtell.XXXXXX");
	config = (struct serve_config){.serve.state = dir, .rules = rules, .nr_rules = 2};
	config.ship.spool_bytes = 4096;
	d = (struct daemon){.conf = &conf, .metrics = metrics_new()};
	return mkdtemp(dir) && d.metrics ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	metrics_free(d.metrics);
	guests_free(&d.guests);
	return remove_tree(dir);
}

/* -1: it is not told. */
static double value_of(const char *sample)
{
	struct text out = {0};
	char line[128];
	const char *at;
	double value;

	metrics_print(d.metrics, METRICS_TEXT, &out);
	text_putc(&out, '\0');
	assert_false(out.failed);
	snprintf(line, sizeof(line), "\n%s ", sample);
	at = strstr(out.buf, line);
	value = at ? strtod(at + strlen(line), NULL) : -1;
	text_free(&out);
	return value;
}

/* --- the disk -----------------------------------------------------------------------------------
 */

static void test_disk(void **state)
{
	const struct keep_result of_rule[2] = {{.bytes = 10}, {.bytes = 20, .removed = {1, 2}}};
	const struct keep_result all = {.bytes = 35, .removed = {4, 2}};

	(void)state;
	tell_disk(&d, of_rule, &all);
	assert_true(value_of("hvtrace_disk_bytes{rule=\"a\"}") == 10);
	assert_true(value_of("hvtrace_disk_bytes{rule=\"b\"}") == 20);
	assert_true(value_of("hvtrace_disk_bytes") == 35);
	assert_true(value_of("hvtrace_removed_recordings_total{rule=\"a\",reason=\"disk\"}") == 0);
	assert_true(value_of("hvtrace_removed_recordings_total{rule=\"b\",reason=\"disk\"}") == 1);
	assert_true(value_of("hvtrace_removed_recordings_total{rule=\"b\",reason=\"age\"}") == 2);
	assert_true(value_of("hvtrace_removed_recordings_total{reason=\"disk\"}") == 3);
	assert_true(value_of("hvtrace_removed_recordings_total{reason=\"age\"}") == 0);
	assert_true(value_of("hvtrace_disk_free_bytes") > 0);
}

/* --- what waits for a server --------------------------------------------------------------------
 */

static void made(const char *path, size_t bytes, time_t age_s)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool is_about(double value, double expected)
{
	return value >= expected && value <= expected + 60;
}

static void test_spool(void **state)
{
	char path[128];

	(void)state;
	tell_shipping(&d);
	assert_true(value_of("hvtrace_ship_spool_bytes") == 0);
	assert_true(value_of("hvtrace_ship_spool_limit_bytes") == 4096);
	assert_true(value_of("hvtrace_ship_lag_seconds") == 0);
	snprintf(path, sizeof(path), "%s/.spool", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/new");
	made(path, 100, 3000);
	strcpy(strrchr(path, '/'), "/00000000000000000001.batch");
	made(path, 1000, 700);
	strcpy(strrchr(path, '/'), "/00000000000000000002.batch");
	made(path, 300, 500);
	tell_shipping(&d);
	assert_true(value_of("hvtrace_ship_spool_bytes") == 1300);
	assert_true(is_about(value_of("hvtrace_ship_lag_seconds"), 700));
	unlink(path);
	strcpy(strrchr(path, '/'), "/00000000000000000001.batch");
	unlink(path);
	tell_shipping(&d);
	assert_true(value_of("hvtrace_ship_spool_bytes") == 0);
	assert_true(value_of("hvtrace_ship_lag_seconds") == 0);
}

/* A recording whose turn has not come waits, too; one that is being made does not. */
static void test_turn(void **state)
{
	struct round r = {.conf = &conf, .kind = {PLAN_RECORD, PLAN_WAKEUPS, PLAN_SHIP}, .nr = 3};
	struct round *round[1] = {&r};

	(void)state;
	snprintf(r.recording, sizeof(r.recording), "%s/trace.dat", dir);
	made(r.recording, 10, 2000);
	d.round = round;
	d.nr_rounds = 1;
	tell_shipping(&d);
	assert_true(value_of("hvtrace_ship_lag_seconds") == 0);
	r.at = 1;
	tell_shipping(&d);
	assert_true(is_about(value_of("hvtrace_ship_lag_seconds"), 2000));
	r.kind[2] = PLAN_SYSCALLS;
	tell_shipping(&d);
	assert_true(value_of("hvtrace_ship_lag_seconds") == 0);
}

/* --- what it takes itself, and systemd ----------------------------------------------------------
 */

static void test_own(void **state)
{
	double before;

	(void)state;
	tell_own(&d);
	assert_true(value_of("hvtrace_resident_bytes") > 100000);
	before = value_of("hvtrace_cpu_seconds_total");
	assert_true(before > 0);
	while (d.cpu_s <= before)
		tell_own(&d);
	assert_true(value_of("hvtrace_cpu_seconds_total") >= d.cpu_s * 0.999);
	assert_true(value_of("hvtrace_cpu_seconds_total") <= d.cpu_s * 1.001);
}

static void says(int fd, const char *expected)
{
	char text[512] = "";
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	assert_string_equal(n > 0 ? text : "", expected);
}

/* What it does is told also where there is no watchdog, and when it is something else. */
static void test_systemd(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/notify", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
	assert_int_equal(notify_begin(), 0);
	tell_systemd(&d, 100000);
	says(fd, "STATUS=0 guests, 0 of them traced");
	tell_systemd(&d, 200000);
	says(fd, "");
	d.alive_ms = 30000;
	tell_systemd(&d, 300000);
	says(fd, "WATCHDOG=1");
	tell_systemd(&d, 329999);
	says(fd, "");
	tell_systemd(&d, 330000);
	says(fd, "WATCHDOG=1");
	close(fd);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_disk), TEST(test_spool),   TEST(test_turn),
		TEST(test_own),	 TEST(test_systemd),
	};

	return cmocka_run_group_tests_name("tell", tests, NULL, NULL);
}
