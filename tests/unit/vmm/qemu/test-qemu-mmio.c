// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-mmio.c - QEMU's log is a pipe of ours for as long as accesses to devices are told: what
 * comes out of it, that the guest never waits for it, and that nothing of it stays.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"
#include "vmm/qemu/mmio-pipe.h"

#define FLOOD 40000 /* lines: more than a pipe holds */
#define OWN   "/dev/null"

/* Its monitor, and its log. */
struct world {
	const char *version, *items; /* what it says, NULL: as it should be */
	const char *events;	     /* likewise, that it has and how they are */
	bool opens_none;	     /* and says that there is no such file */
	bool switches_none;
	bool on[2]; /* reading, writing */
	FILE *log;
	char name[128];	   /* of the log, once it was changed */
	unsigned int told; /* accesses */
	struct machine_mmio last;
	pthread_mutex_t hold; /* who is told of one waits for it */
	char said[256];
};

static void log_open(struct world *w, const char *command, char *text, size_t size)
{
	snprintf(w->name, sizeof(w->name), "%.*s", (int)strcspn(command + 9, "\""), command + 9);
	if (w->log)
		fclose(w->log);
	w->log = w->opens_none ? NULL : fopen(w->name, "w");
	if (!w->log)
		snprintf(text, size, "Error opening logfile %s: No such file or directory\r\n",
			 w->name);
}

static bool says(struct fake_qemu *q, const char *command, char *text, size_t size)
{
	struct world *w = q->arg;
	bool *on = strstr(command, "_read ") ? &w->on[0] : &w->on[1];

	if (!strcmp(command, "info version"))
		snprintf(text, size, "%s\r\n", w->version ? w->version : "7.2.22Debian 1:7.2");
	else if (!strcmp(command, "help log"))
		snprintf(text, size, "%s\r\n", w->items ? w->items : "trace:PATTERN   enable");
	else if (!strncmp(command, "logfile \"", 9))
		log_open(w, command, text, size);
	else if (!strncmp(command, "trace-event memory_region_ops_", 30))
		*on = strstr(command, " on") && !w->switches_none;
	else if (!strcmp(command, "info trace-events memory_region_ops_*") && w->events)
		snprintf(text, size, "%s", w->events);
	else if (!strcmp(command, "info trace-events memory_region_ops_*"))
		snprintf(
			text, size,
			"memory_region_ops_write : state %d\r\nmemory_region_ops_read : state %d\r\n",
			w->on[1], w->on[0]);
	else
		return false;
	return true;
}

static void on_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct fake_qemu *q = arg;
	struct world *w = q->arg;

	(void)m;
	pthread_mutex_lock(&w->hold);
	w->told++;
	w->last = *access;
	pthread_mutex_unlock(&w->hold);
}

static void on_message(void *arg, enum machine_msg_level level, const char *text)
{
	struct fake_qemu *q = arg;
	struct world *w = q->arg;

	(void)level;
	snprintf(w->said, sizeof(w->said), "%s", text);
}

static struct fake_qemu *guest(struct world *w)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	q->monitor = says;
	q->arg = w;
	fake_put(q, FAKE_RAM / 2, 0x1234);
	pthread_mutex_init(&w->hold, NULL);
	fake_start(q);
	return q;
}

static struct machine *attach(struct fake_qemu *q)
{
	struct machine_attach_config cfg = {
		.target = q->target, .mmio = on_mmio, .message = on_message, .arg = q};
	char err[256];
	struct machine *m = machine_attach(&cfg, err, sizeof(err));

	if (!m)
		fail_msg("%s", err);
	fake_wait_running(q);
	return m;
}

static void watch(struct machine *m, struct fake_qemu *q, bool on)
{
	char err[256];

	if (machine_mmio_watch(m, on, err, sizeof(err)))
		fail_msg("%s", err);
	fake_wait_running(q);
}

static void access_write(struct world *w, unsigned int cpu, unsigned int value)
{
	fprintf(w->log,
		"memory_region_ops_write cpu %u mr 0x1 addr 0xfe000010 value 0x%x size 4 name 'a'\n",
		cpu, value);
	fflush(w->log);
}

/* A pause comes behind what the guest did before; what it does is done while it runs. */
static unsigned int told_by_now(struct machine *m, struct fake_qemu *q)
{
	struct world *w = q->arg;
	unsigned int told;

	machine_pause(m);
	told = w->told;
	machine_resume(m);
	fake_wait_running(q);
	return told;
}

static void let_go(struct machine *m, struct fake_qemu *q)
{
	struct world *w = q->arg;

	machine_free(m);
	fake_end(q);
	if (w->log)
		fclose(w->log);
	w->log = NULL;
	pthread_mutex_destroy(&w->hold);
	assert_int_equal(access(q->dir, F_OK), -1); /* nothing else was in it */
	free(q);
}

/* --- what is told ------------------------------------------------------------------------------
 */

static void accesses_are_told(void **state)
{
	struct world w = {0};
	struct fake_qemu *q = guest(&w);
	struct machine *m = attach(q);
	struct machine_info info;
	struct stat st;

	(void)state;
	machine_get_info(m, &info);
	assert_true(info.mmio);
	assert_string_equal(w.name, "");
	watch(m, q, true);
	assert_true(w.on[0] && w.on[1]);
	assert_int_equal(lstat(w.name, &st), -1); /* it is nobody else's */
	access_write(&w, 0, 0xabc);
	fputs("anything else\n", w.log);
	fputs("memory_region_ops_read cpu 0 mr 0x1 addr 0x3f8 value 0x1 size 1 name 'port'\n",
	      w.log);
	access_write(&w, 1, 0); /* there is no such vCPU */
	assert_int_equal(told_by_now(m, q), 1);
	assert_int_equal(w.last.pa, 0xfe000010);
	assert_int_equal(w.last.value, 0xabc);
	assert_int_equal(w.last.size, 4);
	assert_true(w.last.is_write);
	assert_null(w.last.regs);
	let_go(m, q);
	assert_false(w.on[0] || w.on[1]);
	assert_string_equal(w.said, "");
}

/* The log stays a pipe, and nothing is told. */
static void switched_off_and_on(void **state)
{
	struct world w = {0};
	struct fake_qemu *q = guest(&w);
	struct machine *m = attach(q);

	(void)state;
	watch(m, q, true);
	access_write(&w, 0, 1);
	watch(m, q, false);
	assert_int_equal(w.told, 1); /* it was before that */
	assert_false(w.on[0] || w.on[1]);
	access_write(&w, 0, 2);
	assert_int_equal(told_by_now(m, q), 1);
	watch(m, q, true);
	assert_true(w.on[0] && w.on[1]);
	access_write(&w, 0, 3);
	assert_true(told_by_now(m, q) >= 2);
	assert_int_equal(w.last.value, 3);
	let_go(m, q);
}

/* Whatever is in the pipe when the guest stops is told before anything that comes of the stop. */
static void a_stop_comes_behind(void **state)
{
	struct world w = {0};
	struct fake_qemu *q = guest(&w);
	struct machine *m = attach(q);

	(void)state;
	watch(m, q, true);
	for (unsigned int i = 1; i <= 200; i++) {
		for (int k = 0; k < 20; k++)
			access_write(&w, 0, i);
		assert_int_equal(told_by_now(m, q), 20 * i);
	}
	let_go(m, q);
}

/* QEMU's end does not wait, as QEMU's would if nobody read. */
static void who_does_not_read_holds_nobody(void **state)
{
	struct world w = {0};
	struct fake_qemu *q = guest(&w);
	struct machine *m = attach(q);

	(void)state;
	watch(m, q, true);
	pthread_mutex_lock(&w.hold);
	for (unsigned int i = 0; i < FLOOD; i++)
		access_write(&w, 0, i);
	clearerr(w.log);
	pthread_mutex_unlock(&w.hold);
	assert_in_range(told_by_now(m, q), 100, FLOOD - 100);
	assert_non_null(strstr(w.said, "some may be missing"));
	let_go(m, q);
}

/* --- who cannot have it -------------------------------------------------------------------------
 */

static void is_refused(struct world w, const char *why)
{
	struct fake_qemu *q = guest(&w);
	struct machine *m = attach(q);
	char err[256] = "", want[256];

	snprintf(want, sizeof(want), "accesses to devices are not told: %s", why);
	assert_true(machine_mmio_watch(m, true, err, sizeof(err)) < 0);
	assert_string_equal(err, want);
	assert_int_equal(told_by_now(m, q), 0);
	let_go(m, q);
	assert_false(w.on[0] || w.on[1]);
}

static void other_qemus_are_refused(void **state)
{
	static const char none[] = "this QEMU was built without trace events in its log "
				   "(--enable-trace-backends=log)";
	static const char old[] = "QEMU is older than 7.1, or does not tell its version";

	(void)state;
	is_refused((struct world){.version = "7.0.0"}, old);
	is_refused((struct world){.version = "6.2.0"}, old);
	is_refused((struct world){.version = "what?"}, old);
	is_refused((struct world){.items = "cpu_reset"}, none);
	is_refused((struct world){.events = "unknown command: 'info trace-events'\r\n"}, none);
	is_refused((struct world){.events = "memory_region_ops_read : state 0\r\n"}, none);
	is_refused((struct world){.events = "memory_region_ops_write : state 0\r\n"
					    "memory_region_ops_read : state 1\r\n"},
		   "someone else has them traced (in the monitor: trace-event memory_region_ops_* "
		   "off)");
	is_refused((struct world){.switches_none = true},
		   "QEMU does not switch its trace events on");
}

static void a_qemu_that_opens_nothing(void **state)
{
	struct world w = {.opens_none = true};
	struct fake_qemu *q = guest(&w);
	struct machine *m = attach(q);
	char err[256] = "";

	(void)state;
	assert_int_equal(machine_mmio_watch(m, true, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "QEMU does not open a pipe for them: Error opening logfile "));
	assert_non_null(strstr(err, "No such file or directory"));
	assert_non_null(strstr(w.name, "/dev/")); /* that was tried afterwards */
	let_go(m, q);
}

/* --- behind a tracer that was killed ------------------------------------------------------------
 */

/* As it leaves it, and its keeper too: QEMU writes to nobody. */
static void what_was_left_is_switched_off(void **state)
{
	struct world w = {.on = {true, true}};
	struct ucred self = {getpid(), getuid(), getgid()};
	struct fake_qemu *q = guest(&w);
	struct mmio_pipe p;
	struct machine *m;

	(void)state;
	assert_int_equal(mmio_pipe_make(&p, q->dir, &self), 0);
	w.log = fopen(p.path, "w");
	assert_non_null(w.log);
	assert_int_equal(mmio_pipe_take(&p, self.pid), 0);
	mmio_pipe_close(&p);
	assert_true(mmio_pipe_is_left(self.pid));
	m = attach(q);
	assert_false(w.on[0] || w.on[1]);
	assert_false(mmio_pipe_is_left(self.pid));
	assert_non_null(strstr(w.said, "that is off again"));
	watch(m, q, true);
	access_write(&w, 0, 1);
	assert_int_equal(told_by_now(m, q), 1);
	let_go(m, q);
}

/* --- the process --------------------------------------------------------------------------------
 */

enum { READY = 9 };

/* One that waits, with these words and this stderr. */
static pid_t process(const char *option, int err)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(err, STDERR_FILENO);
		dup2(ready[1], READY);
		fcntl(READY, F_SETFD, 0);
		execl("/bin/sh", "sh", "-c", "echo >&9; read never", "qemu", option, "x", NULL);
		_exit(1);
	}
	assert_true(pid > 0);
	close(ready[1]);
	/* It is the program, which says so: descriptors are closed before its words are there. */
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_log_of_its_own_is_found(void **state)
{
	static const char *const words[][2] = {
		{"-D", "-D"}, {"-d", "-d"}, {"--trace", "-trace"}, {"-m", NULL}, {"-drive", NULL}};
	int in[2], save = dup(STDIN_FILENO);

	(void)state;
	assert_int_equal(pipe(in), 0);
	dup2(in[0], STDIN_FILENO);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		pid_t pid = process(words[i][0], STDERR_FILENO);
		const char *used = mmio_log_is_used(pid);

		end_process(pid);
		if (words[i][1])
			assert_string_equal(used, words[i][1]);
		else
			assert_null(used);
	}
	dup2(save, STDIN_FILENO);
	close(save);
	close(in[0]);
	close(in[1]);
}

static void place_is(int err, const char *want)
{
	pid_t pid = process("x", err);
	char name[64];

	mmio_log_place(pid, name, sizeof(name));
	end_process(pid);
	close(err);
	assert_string_equal(name, want);
}

static void the_log_goes_back(void **state)
{
	int in[2], pipe_err[2], save = dup(STDIN_FILENO);
	FILE *file = tmpfile();

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(pipe_err), 0);
	dup2(in[0], STDIN_FILENO);
	place_is(open("/dev/zero", O_WRONLY | O_CLOEXEC), "/dev/zero");
	place_is(pipe_err[1], "/proc/self/fd/2");
	place_is(dup(fileno(file)), OWN); /* which would be emptied */
	place_is(socket(AF_UNIX, SOCK_STREAM, 0), OWN);
	dup2(save, STDIN_FILENO);
	fclose(file);
	close(save);
	close(pipe_err[0]);
	close(in[0]);
	close(in[1]);
}

/* The folder may be somebody's who puts another thing there. */
static void a_name_that_is_taken(void **state)
{
	char folder[] = "/tmp/hvq.XXXXXX", path[128];
	struct ucred self = {getpid(), getuid(), getgid()};
	struct mmio_pipe p;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/hvtrace-mmio.%d", folder, (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(mmio_pipe_make(&p, folder, &self), -EEXIST);
	assert_int_equal(unlink(path), 0); /* it was left alone */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(mmio_pipe_make(&p, folder, &self), 0); /* that of one who was killed */
	assert_int_equal(mmio_pipe_take(&p, self.pid), -ENOENT);
	mmio_pipe_close(&p);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_are_told),
		cmocka_unit_test(switched_off_and_on),
		cmocka_unit_test(a_stop_comes_behind),
		cmocka_unit_test(who_does_not_read_holds_nobody),
		cmocka_unit_test(other_qemus_are_refused),
		cmocka_unit_test(a_qemu_that_opens_nothing),
		cmocka_unit_test(what_was_left_is_switched_off),
		cmocka_unit_test(a_log_of_its_own_is_found),
		cmocka_unit_test(the_log_goes_back),
		cmocka_unit_test(a_name_that_is_taken),
	};

	return cmocka_run_group_tests_name("qemu mmio", tests, NULL, NULL);
}
