// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-attach.c - attaching to stubs that hang up, fall silent or do not let their memory be
 * read: one clear line each, in bounded time, and the guest runs on if it can be told.
 */
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"
#include "vmm/qemu/gdb/gdb.h"

#define RELEASE "[^C][Qqemu.PhyMemMode:0][?][D;1]" /* what the keeper says */

struct told {
	unsigned int warnings;
	char last[256];
};

static void on_message(void *arg, enum machine_msg_level level, const char *text)
{
	struct told *told = arg;

	told->warnings += level == MACHINE_MSG_WARN;
	snprintf(told->last, sizeof(told->last), "%s", text);
}

static struct machine *attach(const char *target, struct told *told, char err[256])
{
	struct machine_attach_config cfg = {
		.target = target,
		.limits = {.stand_ms =
				   3600000}, /* what the stub itself is given is what counts here */
		.message = on_message,
		.arg = told,
	};

	err[0] = '\0';
	return machine_attach(&cfg, err, 256);
}

static struct fake_qemu *fake_new(unsigned int limit, enum fake_end end)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = limit;
	q->end = end;
	return q;
}

/* It answers so many questions, and then talks without end. */
static struct fake_qemu *fake_talking(unsigned int limit, const char *talk)
{
	struct fake_qemu *q = fake_new(limit, FAKE_TALKS);

	q->talk = talk;
	return q;
}

static void fake_free(struct fake_qemu *q)
{
	fake_end(q);
	free(q);
}

static void one_line(const char *err)
{
	assert_true(*err);
	assert_null(strchr(err, '\n'));
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len >= strlen(end) && !strcmp(text + len - strlen(end), end);
}

/* --- as it should be ----------------------------------------------------------------------------
 */

/* Gives how many answers it takes until the guest runs on. */
static unsigned int attach_and_use(struct told *told)
{
	struct fake_qemu *q = fake_new(~0u, FAKE_HANGS_UP);
	struct machine_patch patch = {.pa = 0x3000, .size = 2, .bytes = {1, 2}};
	struct machine_info info;
	unsigned int answers;
	char err[256];
	struct machine *m;
	uint8_t two[2];

	fake_start(q);
	m = attach(q->target, told, err);
	if (!m)
		fail_msg("%s", err);
	fake_wait_running(q);
	machine_pause(m);
	answers = q->answered;
	machine_get_info(m, &info);
	assert_int_equal(info.memory, FAKE_RAM);
	assert_int_equal(info.vcpus, 1);
	assert_true(info.was_running);
	assert_int_equal(machine_patch_text(m, &patch, 1), 0);
	assert_int_equal(machine_read(m, 0x3000, two, sizeof(two)), 0);
	assert_memory_equal(two, patch.bytes, 2);
	assert_int_equal(machine_read(m, FAKE_RAM - 1, two, sizeof(two)), -EFAULT);
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	assert_true(ends_with(q->heard, "[D;1]"));
	free(q);
	return answers - 2; /* vCont;c and ^C */
}

/* The monitor tells those of all vCPUs at a time, in pages: for each one that grows with the
 * square. */
static void test_tables_are_asked_for_once_at_a_stop(void **state)
{
	/* info registers -a */
	static const char ask[] = "[qRcmd,696e666f20726567697374657273202d61]";
	struct fake_qemu *q = fake_new(~0u, FAKE_HANGS_UP);
	struct machine_sregs sregs;
	struct told told = {0};
	unsigned int asked = 0;
	struct machine *m;
	char err[256];

	(void)state;
	fake_start(q);
	m = attach(q->target, &told, err);
	if (!m)
		fail_msg("%s", err);
	for (unsigned int stop = 0; stop < 2; stop++) {
		fake_wait_running(q);
		machine_pause(m);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(machine_get_sregs(m, 0, &sregs), 0);
			assert_int_equal(sregs.idt_base, 0x2000);
		}
		machine_resume(m);
	}
	machine_free(m);
	fake_end(q);
	for (const char *at = q->heard; (at = strstr(at, ask)); at++)
		asked++;
	assert_int_equal(asked, 1 + 2); /* the first when it was attached to */
	free(q);
}

static void test_attach(void **state)
{
	struct told told = {0};

	(void)state;
	assert_true(attach_and_use(&told) > 10);
	assert_int_equal(told.warnings, 0);
}

/* --- given up -----------------------------------------------------------------------------------
 */

static bool count_down(void *arg)
{
	unsigned int *left = arg;

	return !*left || !--*left;
}

/* Gives whether it was attached to, for nobody has asked so often whether it was still wanted. */
static bool attach_given_up(unsigned int asked)
{
	struct fake_qemu *q = fake_new(~0u, FAKE_HANGS_UP);
	struct machine_attach_config cfg = {
		.target = NULL,
		.limits = {.stand_ms = 3600000},
		.cancelled = count_down,
		.arg = &asked,
	};
	char err[256] = "";
	struct machine *m;

	fake_start(q);
	cfg.target = q->target;
	m = machine_attach(&cfg, err, sizeof(err));
	if (m)
		machine_free(m);
	else
		one_line(err);
	fake_end(q);
	if (!ends_with(q->heard, "[D;1]"))
		fail_msg("%s", q->heard);
	free(q);
	return m;
}

/* Also before it is known whose vCPUs they are: the guest stands since we are connected. */
static void test_given_up(void **state)
{
	unsigned int times = 1;

	(void)state;
	while (!attach_given_up(times))
		times++;
	assert_true(times > 2);
}

/* --- gone ----------------------------------------------------------------------------------------
 */

/* Whatever is the last that it has answered. */
static void test_hangs_up(void **state)
{
	struct told told = {0};
	unsigned int answers = attach_and_use(&told);
	char err[256];

	(void)state;
	for (unsigned int limit = 0; limit < answers; limit++) {
		struct fake_qemu *q = fake_new(limit, FAKE_HANGS_UP);
		time_t start = time(NULL);

		fake_start(q);
		if (attach(q->target, &told, err))
			fail_msg("attached with %u of %u answers", limit, answers);
		one_line(err);
		assert_non_null(strstr(err, "stub"));
		/* Nobody waits for one that has gone, as they do for one that is silent. */
		assert_true(time(NULL) - start < 20);
		fake_free(q);
	}
	if (told.warnings)
		fail_msg("more than one line: %s", told.last);
}

static void test_hangs_up_later(void **state)
{
	struct told told = {0};
	unsigned int answers = attach_and_use(&told);
	struct fake_qemu *q = fake_new(answers + 1, FAKE_HANGS_UP);
	struct machine_trap trap = {.va = 0x1000, .pa = 0x1000, .size = 2};
	struct machine_event ev;
	struct machine *m;
	char err[256];

	(void)state;
	fake_start(q);
	m = attach(q->target, &told, err);
	assert_non_null(m);
	fake_wait_running(q);
	machine_pause(m);
	assert_true(machine_traps_set(m, &trap, 1) < 0);
	machine_resume(m);
	assert_int_equal(machine_wait(m, &ev, -1), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_ERROR);
	assert_non_null(strstr(ev.text, "connection to QEMU is lost"));
	one_line(ev.text);
	assert_true(machine_traps_set(m, &trap, 1) < 0);
	machine_free(m);
	fake_free(q);
}

static void patch_is_refused(struct fake_qemu *q, struct machine *m)
{
	const struct machine_patch patch = {.pa = 0x3000, .size = 2, .bytes = {1, 2}};
	struct machine_info info;

	machine_get_info(m, &info);
	assert_true(info.direct); /* nothing else is in the way */
	assert_int_equal(machine_patch_text(m, &patch, 1), -ECONNRESET);
	assert_int_equal(q->ram[0x3000], 0);
}

/* The guest may run on: no vCPU is to meet the half of an instruction. */
static void test_lost_while_it_runs(void **state)
{
	struct told told = {0};
	unsigned int answers = attach_and_use(&told);
	struct fake_qemu *q = fake_new(answers + 1, FAKE_HANGS_UP);
	struct machine *m;
	char err[256];

	(void)state;
	q->kvm = true;
	fake_start(q);
	m = attach(q->target, &told, err);
	assert_non_null(m);
	fake_wait_running(q);
	machine_pause(m); /* there is nothing to wait for */
	patch_is_refused(q, m);
	machine_resume(m);
	machine_free(m);
	fake_free(q);
}

/* --- dialling ------------------------------------------------------------------------------------
 */

struct dialled {
	unsigned int calls;
	bool connected;
	int say;
};

static int on_socket(void *arg, int fd)
{
	struct sockaddr_un peer;
	socklen_t len = sizeof(peer);
	struct dialled *d = arg;

	d->calls++;
	d->connected = !getpeername(fd, (struct sockaddr *)&peer, &len);
	return d->say;
}

/* Whoever is to let the guest go is there before the stub can have stopped it. */
static void test_ready_comes_first(void **state)
{
	struct fake_qemu *q = fake_new(0, FAKE_HANGS_UP);
	const char *address = q->target + strlen("gdb:");
	struct dialled d = {.say = -ENOMEM};
	const struct gdb_caller caller = {.ready = on_socket, .arg = &d};
	char err[256] = "";
	int fd;

	(void)state;
	fake_start(q);
	assert_int_equal(gdb_dial(address, &caller, err, sizeof(err)), -ENOMEM);
	assert_int_equal(d.calls, 1);
	one_line(err);
	d = (struct dialled){0};
	fd = gdb_dial(address, &caller, err, sizeof(err));
	assert_true(fd >= 0);
	assert_int_equal(d.calls, 1);
	assert_false(d.connected);
	close(fd);
	fake_free(q);
}

/* As one that is far away, or stands: its queue is full, so that no more calls are answered. */
struct deaf {
	int listens, waits[2];
	char address[32];
};

static int dial_once(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		assert_int_equal(errno, EINPROGRESS);
	poll(&p, 1, 100);
	return fd;
}

static void deaf_start(struct deaf *d)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);

	d->listens = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(d->listens >= 0);
	assert_int_equal(bind(d->listens, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(d->listens, 0), 0);
	assert_int_equal(getsockname(d->listens, (struct sockaddr *)&at, &len), 0);
	for (int i = 0; i < 2; i++)
		d->waits[i] = dial_once(&at);
	snprintf(d->address, sizeof(d->address), "127.0.0.1:%u", ntohs(at.sin_port));
}

static void deaf_end(struct deaf *d)
{
	close(d->listens);
	for (int i = 0; i < 2; i++)
		close(d->waits[i]);
}

/* Nobody waits for the call to be answered, nor for its own bound, who is asked to end. */
static void test_call_given_up(void **state)
{
	const unsigned int looks = 3;
	unsigned int left = looks;
	const struct gdb_caller caller = {.idle = count_down, .arg = &left};
	struct deaf d;
	char err[256] = "";

	(void)state;
	deaf_start(&d);
	assert_int_equal(gdb_dial(d.address, &caller, err, sizeof(err)), -ECANCELED);
	assert_int_equal(left, 0);
	one_line(err);
	assert_non_null(strstr(err, "given up while the gdb stub at 127.0.0.1:"));
	deaf_end(&d);
}

/* --- silent --------------------------------------------------------------------------------------
 */

/* Who was told to have a disk (drive_add) is told to have it no more (drive_del). */
static const char *release_of(const struct fake_qemu *q)
{
	return strstr(q->heard, "[qRcmd,64726976655f616464")
		       ? "[^C][Qqemu.PhyMemMode:0][?][qRcmd,64726976655f64656c2068767472616365][D;1]"
		       : RELEASE;
}

/* Silence takes time to be noticed, so all of these wait at once. */
struct attempt {
	struct fake_qemu *q;
	struct machine *m;
	struct machine_event ev;
	struct told told;
	char err[256];
	pthread_t thread;
};

static void *attempt_thread(void *arg)
{
	struct attempt *a = arg;

	a->m = attach(a->q->target, &a->told, a->err);
	while (a->m && a->ev.type == MACHINE_EVENT_NONE) {
		machine_pause(a->m); /* if it runs already: until it is given up */
		machine_resume(a->m);
		machine_wait(a->m, &a->ev, 10);
	}
	return NULL;
}

static void attempt_start(struct attempt *a, struct fake_qemu *q)
{
	a->q = q;
	fake_start(q);
	assert_int_equal(pthread_create(&a->thread, NULL, attempt_thread, a), 0);
}

static void attempt_fails(struct attempt *a, const char *why)
{
	pthread_join(a->thread, NULL);
	assert_null(a->m);
	if (!strstr(a->err, why))
		fail_msg("'%s' does not say '%s'", a->err, why);
	one_line(a->err);
	fake_end(a->q);
	if (!ends_with(a->q->heard, release_of(a->q)))
		fail_msg("the guest was not let go: %s", a->q->heard);
	free(a->q);
}

/* It never stops: then it is told that it may run on, should it stop yet. */
static void attempt_is_lost(struct attempt *a)
{
	pthread_join(a->thread, NULL);
	if (!a->m)
		fail_msg("%s", a->err);
	assert_int_equal(a->ev.type, MACHINE_EVENT_ERROR);
	one_line(a->ev.text);
	patch_is_refused(a->q, a->m);
	machine_free(a->m);
	fake_end(a->q);
	if (!ends_with(a->q->heard, "[^C][Qqemu.PhyMemMode:0][D;1]"))
		fail_msg("the guest was not let go: %s", a->q->heard);
	free(a->q);
}

/* It may say something all the time, and yet be silent. */
static void test_silent(void **state)
{
	struct attempt at_once = {0}, later = {0}, never_stops = {0}, stops = {0}, prints = {0};
	struct told told = {0};
	unsigned int answers = attach_and_use(&told);
	struct fake_qemu *deaf = fake_new(~0u, FAKE_FALLS_SILENT);

	(void)state;
	deaf->deaf = true;
	deaf->kvm = true;
	attempt_start(&at_once, fake_new(0, FAKE_FALLS_SILENT)); /* another debugger has it */
	attempt_start(&later, fake_new(answers - 1, FAKE_FALLS_SILENT));
	attempt_start(&never_stops, deaf);
	attempt_start(&stops, fake_talking(answers - 1, "T05thread:p01.01;"));
	attempt_start(&prints, fake_talking(answers - 1, "O20"));
	attempt_fails(&at_once, "is another debugger or tracer attached to it?");
	attempt_fails(&later, "the gdb stub stopped answering");
	attempt_is_lost(&never_stops);
	attempt_fails(&stops, "the gdb stub stopped answering");
	attempt_fails(&prints, "the gdb stub stopped answering");
}

/* --- no permission -------------------------------------------------------------------------------
 */

/* As someone who may not look into this process. 0: all was as it should be. */
static int child_attaches(const char *target)
{
	struct told told = {0};
	struct machine *m;
	char err[256];
	uint8_t four[4];
	int rc;

	if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 77;
	m = attach(target, &told, err);
	if (!m)
		return 1;
	rc = machine_read(m, 0x1234, four, sizeof(four));
	machine_free(m);
	if (rc || memcmp(four, "abcd", sizeof(four)))
		return 2; /* the stub has it */
	fprintf(stderr, "# %s\n", told.last);
	return told.warnings == 1 && strstr(told.last, "no permission for the memory of QEMU") ? 0
											       : 3;
}

static void test_no_permission(void **state)
{
	struct fake_qemu *q = fake_new(~0u, FAKE_HANGS_UP);
	int status;
	pid_t pid;

	(void)state;
	memcpy(q->ram + 0x1234, "abcd", 4);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0); /* this process is QEMU */
	fake_listen(q);
	assert_int_equal(chmod(q->dir, 0755), 0);
	assert_int_equal(chmod(q->target + strlen("gdb:unix:"), 0777), 0);
	pid = fork();
	if (pid == 0)
		_exit(child_attaches(q->target));
	fake_serve(q); /* ThreadSanitizer wants no other thread when a child is to have some */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	fake_free(q);
}

/* --- killed --------------------------------------------------------------------------------------
 */

#define KILLS_MAX 128

/* A whole trace of it, in a process of its own. */
static pid_t client_fork(const struct fake_qemu *q)
{
	const struct machine_patch patch = {.pa = 0x3000, .size = 2, .bytes = {1, 2}};
	const struct machine_trap trap = {.va = 0x1000, .pa = 0x1000, .size = 2};
	struct told told = {0};
	struct machine *m;
	char err[256];
	pid_t pid = fork();

	if (pid)
		return pid;
	m = attach(q->target, &told, err);
	if (!m)
		_exit(1);
	machine_pause(m);
	if (machine_traps_set(m, &trap, 1) || machine_patch_text(m, &patch, 1))
		_exit(2);
	machine_resume(m);
	machine_pause(m);
	if (machine_traps_clear(m, &trap.va, 1))
		_exit(3);
	machine_resume(m);
	machine_free(m);
	_exit(told.warnings != 0);
}

static void is_let_go(struct fake_qemu *q)
{
	const char *first;

	fake_end(q);
	first = strstr(q->heard, "[D;1]");
	if (!q->detached || !first || !ends_with(q->heard, "[D;1]") || strstr(first + 1, "[D;1]"))
		fail_msg("not let go, once, of one that was killed behind %u packets: %s", q->come,
			 q->heard);
}

/* How many packets it takes. */
static unsigned int whole_life(void)
{
	struct fake_qemu *q = fake_new(~0u, FAKE_HANGS_UP);
	unsigned int came;
	int status;
	pid_t pid;

	fake_listen(q);
	pid = client_fork(q);
	fake_serve(q);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	is_let_go(q);
	came = q->came;
	free(q);
	return came;
}

/* Whatever is the last that the stub has got from it; all at once, as keepers listen for a while.
 */
static void test_killed(void **state)
{
	static struct fake_qemu *all[KILLS_MAX];
	unsigned int n = whole_life();
	int status;

	(void)state;
	assert_true(n > 10 && n < KILLS_MAX);
	for (unsigned int come = 0; come <= n; come++) {
		all[come] = fake_new(~0u, FAKE_HANGS_UP);
		all[come]->come = come;
		fake_listen(all[come]);
		all[come]->client = client_fork(all[come]);
		assert_true(all[come]->client > 0);
	}
	for (unsigned int come = 0; come <= n; come++)
		fake_serve(all[come]);
	for (unsigned int come = 0; come <= n; come++) {
		assert_int_equal(waitpid(all[come]->client, &status, 0), all[come]->client);
		is_let_go(all[come]);
		free(all[come]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_tables_are_asked_for_once_at_a_stop),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_call_given_up),
		cmocka_unit_test(test_hangs_up),
		cmocka_unit_test(test_hangs_up_later),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_no_permission),
		cmocka_unit_test(test_ready_comes_first),
		cmocka_unit_test(test_lost_while_it_runs),
	};

	return cmocka_run_group_tests_name("attaching to odd stubs", tests, NULL, NULL);
}
