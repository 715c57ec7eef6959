// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-near.c - what becomes of what another host sends: which files there are afterwards, what is
 * told of it, and that a recording goes on to its end. The other host, and the ssh that leads to
 * it, is this program once more: the user of the URI says what it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/lib/exit.h"
#include "frontend/remote/near.h"
#include "frontend/remote/protocol.h"
#include "frontend/remote/remote.h"
#include "frontend/remote/request.h"
#include "tests/unit/made-journal.h"
#include "tests/unit/remove-tree.h"

#define URI(user) "qemu+ssh://" user "@far/system?command=/proc/self/exe"

/* --- the other host ----------------------------------------------------------------------------
 */

enum { BLOCK = 32 << 10, BLOCKS = 64 };

static void write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0)
			_exit(99);
		at += n;
		len -= (size_t)n;
	}
}

static void read_all(void *to, size_t len)
{
	char *at = to;

	while (len) {
		ssize_t n = read(STDIN_FILENO, at, len);

		if (n <= 0)
			_exit(98);
		at += n;
		len -= (size_t)n;
	}
}

static void frame(unsigned int kind, const void *bytes, size_t len)
{
	uint8_t head[REMOTE_FRAME_HEAD] = {(uint8_t)kind};

	bytes_put32(head + 1, (uint32_t)len);
	write_all(STDOUT_FILENO, head, sizeof(head));
	write_all(STDOUT_FILENO, bytes, len);
}

static void says(unsigned int kind, const char *text)
{
	frame(kind, text, strlen(text));
}

static void ends(uint8_t status)
{
	frame(REMOTE_STATUS, &status, 1);
}

/* The words of the request, each in a line. */
static void echo_request(uint8_t *rest, size_t len)
{
	for (size_t i = 12; i < len; i++)
		rest[i] = rest[i] ? rest[i] : '\n';
	frame(REMOTE_STDOUT, rest + 12, len - 12);
}

static void record_until_asked(void)
{
	static const char block[BLOCK];
	char word;

	for (int i = 0; i < BLOCKS; i++)
		frame(REMOTE_STDOUT, block, sizeof(block));
	do
		read_all(&word, 1);
	while (word != REMOTE_INTERRUPT);
	says(REMOTE_STDOUT, "END");
}

/* A recording, but for so many bytes of its end. */
static void record(size_t missing)
{
	int fd = made_file();
	struct journal *j;
	struct rlimit room;
	char bytes[4096];
	size_t len;

	/* That of the other end, see do_near_without_room(), is none of this one's. */
	getrlimit(RLIMIT_FSIZE, &room);
	room.rlim_cur = room.rlim_max;
	setrlimit(RLIMIT_FSIZE, &room);
	j = made_journal(fd, 7, true, 2);
	made_put(j, JOURNAL_SECTION, DAT_OPTION_HEADER_INFO, 0, "header", 6);
	made_put(j, JOURNAL_BUFFER, 0, 0, "\0global", 8);
	made_put_pages(j, 0, 1, 'a', 3);
	len = journal_size(j) - missing;
	if (journal_size(j) > sizeof(bytes) || bytes_read(fd, 0, bytes, len))
		_exit(97);
	frame(REMOTE_STDOUT, bytes, len);
	journal_free(j);
}

static int far_end(const char *deed)
{
	uint8_t head[REQUEST_HEAD], rest[4096];
	size_t len;

	write_all(STDOUT_FILENO, REMOTE_HELLO "1 " HVTRACE_VERSION "\n",
		  strlen(REMOTE_HELLO "1 " HVTRACE_VERSION "\n"));
	read_all(head, sizeof(head));
	len = (size_t)request_length(head);
	read_all(rest, len < sizeof(rest) ? len : sizeof(rest));
	if (!strcmp(deed, "works")) {
		echo_request(rest, len);
		says(REMOTE_FILE, "<svg/>\n");
		says(REMOTE_FILE + 1, "{\"status\": 0, \"output\": {\"file\": null}}\n");
		ends(0);
	} else if (!strcmp(deed, "fails")) {
		says(REMOTE_STDERR, "hvtrace: no such guest\n");
		ends(EXIT_FAILED);
	} else if (!strcmp(deed, "dies")) {
		says(REMOTE_FILE, "<svg");
		ends(128 + SIGTERM);
	} else if (!strcmp(deed, "prints-nothing")) {
		ends(0);
	} else if (!strcmp(deed, "lies")) {
		says(REMOTE_STDERR, "sudo: the password is needed\n\nhvtrace: true\nhvtrace:\nx");
		ends(0);
	} else if (!strcmp(deed, "records-all") || !strcmp(deed, "records-less")) {
		record(!strcmp(deed, "records-less"));
		ends(0);
	} else if (!strcmp(deed, "records")) {
		record_until_asked();
		ends(0);
	}
	return 0;
}

/* As ssh is called. */
static const char *user_of(char **argv)
{
	while (*argv && strcmp(*argv, "-l") != 0)
		argv++;
	return *argv && argv[1] ? argv[1] : "";
}

/* --- this host ---------------------------------------------------------------------------------
 */

static char dir[] = "/tmp/hvtrace-near-XXXXXX";

static const char *in_dir(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_has(const char *name, const char *text)
{
	char got[4096];
	FILE *f = fopen(in_dir(name), "r");
	size_t len;

	assert_non_null(f);
	len = fread(got, 1, sizeof(got) - 1, f);
	fclose(f);
	got[len] = '\0';
	assert_string_equal(got, text);
}

static void assert_files(size_t nr)
{
	static const char *const known[] = {"out", "svg", "json", "stdout", "stderr"};
	size_t found = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		found += !access(in_dir(known[i]), F_OK);
	assert_int_equal(found, nr);
}

/* With stdout to that, and stderr to a file. */
static pid_t start(int (*run)(const void *arg), const void *arg, int out)
{
	int err = open(in_dir("stderr"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pid_t pid;

	assert_true(err >= 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		_exit(run(arg));
	}
	close(err);
	assert_true(pid > 0);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(int (*what)(const void *arg), const void *arg)
{
	int out = open(in_dir("stdout"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status = status_of(start(what, arg, out));

	close(out);
	return status;
}

static void ask(void *arg, const char *far, struct request *r)
{
	const struct near_work *work = arg;

	assert_string_equal(far, "qemu:///system");
	request_add(r, "command");
	if (work->out.file)
		request_add(r, request_file(r));
	if (work->out.summary)
		request_add(r, request_file(r));
}

static int do_near(const void *arg)
{
	struct near_work work = *(const struct near_work *)arg;

	work.out.no_sandbox = true;
	work.ask = ask;
	work.arg = &work;
	return near_do(&work);
}

static int print(const void *uri)
{
	const char *connect = uri, *output = in_dir("out"), *svg = in_dir("svg"),
		   *summary = in_dir("json");
	char name[] = "guest", *names[] = {name};
	const struct option_row rows[] = {
		OPT_STRING('o', "output", &output, "FILE", ""),
		OPT_STRING(0, "summary", &summary, "FILE", ""),
		OPT_STRING(0, "svg", &svg, "FILE", ""),
		OPT_STRING(0, "connect", &connect, "URI", ""),
		OPT_END,
	};

	return remote_print(&(struct remote_print){
		.command = "latency",
		.rows = rows,
		.connect = &connect,
		.output = &output,
		.file = &svg,
		.summary = &summary,
		.operands = names,
		.nr_operands = 1,
	});
}

/* --- files -------------------------------------------------------------------------------------
 */

static int setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return remove_tree(dir);
}

/* No name of a file of this host goes there; what is of one comes here. */
static void printed(void **state)
{
	(void)state;
	put("out", "much more than what takes its place, which is to be gone by then: mine, mine, "
		   "mine, mine, mine, mine, mine");
	assert_int_equal(run(print, URI("works")), 0);
	assert_has("out", "latency\n--summary=/dev/fd/4\n--svg=/dev/fd/3\n"
			  "--connect=qemu:///system\n--\nguest\n");
	assert_has("svg", "<svg/>\n");
	assert_has("json", "{\"status\": 0, \"output\": {\"file\": null}}\n");
	assert_has("stdout", "");
	assert_has("stderr", "");
}

/* Nothing is lost of what was there, but the summary says what has happened. */
static void failed(void **state)
{
	(void)state;
	put("out", "mine");
	put("svg", "mine");
	assert_int_equal(run(print, URI("fails")), EXIT_FAILED);
	assert_has("out", "mine");
	assert_has("svg", "mine");
	assert_has("json", "{\n  \"status\": 1,\n  \"end\": \"error\",\n  \"reason\": \"the other "
			   "host has said nothing of it\",\n  \"output\": {\"file\": null, "
			   "\"bytes\": null, \"record_bytes\": null, \"error\": null}\n}\n");
	assert_has("stderr", "hvtrace: far: no such guest\n");
}

/* Nor is anything made. */
static void failed_anew(void **state)
{
	(void)state;
	assert_int_equal(run(print, URI("fails")), EXIT_FAILED);
	assert_files(3); /* json, and what is told */
	remove(in_dir("json"));
	for (int i = 0; i < 2; i++) {
		const struct near_work work = {
			.connect = i ? "qemu+ssh://far/system?command=/nowhere/ssh" : URI("fails"),
			.out = {.output = in_dir("out"), .file = in_dir("svg")},
		};

		assert_int_equal(run(do_near, &work), EXIT_FAILED);
		assert_files(2);
	}
}

/* What was being written when it was killed is no picture. */
static void died(void **state)
{
	(void)state;
	put("svg", "mine");
	assert_int_equal(run(print, URI("dies")), 128 + SIGTERM);
	assert_has("svg", "mine");
	assert_int_equal(access(in_dir("out"), F_OK), -1);
}

/* What is empty is that here, too; a picture is not. */
static void nothing(void **state)
{
	struct near_work work = {.connect = URI("prints-nothing"),
				 .out = {.output = in_dir("out")}};

	(void)state;
	put("out", "mine");
	put("svg", "mine");
	assert_int_equal(run(do_near, &work), 0);
	assert_has("out", "");
	work.out.file = in_dir("svg");
	assert_int_equal(run(do_near, &work), EXIT_FAILED);
	assert_has("svg", "mine");
}

/* --- what is told ------------------------------------------------------------------------------
 */

static void named(void **state)
{
	const struct near_work work = {.connect = URI("lies"), .out = {.output = "-"}};

	(void)state;
	assert_int_equal(run(do_near, &work), 0);
	assert_has("stderr", "far: sudo: the password is needed\nfar: \nhvtrace: far: true\n"
			     "far: hvtrace:\nfar: x\n");
}

/* --- a recording -------------------------------------------------------------------------------
 */

static void wait_until_full(int fd)
{
	int size = fcntl(fd, F_GETPIPE_SZ), len;

	do {
		assert_int_equal(ioctl(fd, FIONREAD, &len), 0);
		poll(NULL, 0, 1);
	} while (len < size);
}

/* What is whole of it is in the file, and what is missing is told. */
static void whole_or_not(void **state)
{
	struct near_work work = {.connect = URI("records-all"),
				 .out = {.output = in_dir("out"), .record = true, .unheard = true}};
	char told[2 * PATH_MAX];

	(void)state;
	assert_int_equal(run(do_near, &work), 0);
	assert_has("stderr", "");
	work.connect = URI("records-less");
	assert_int_equal(run(do_near, &work), EXIT_FAILED);
	snprintf(told, sizeof(told), "hvtrace: %s: what has come ends within a record\n",
		 work.out.output);
	assert_has("stderr", told);
	assert_int_equal(access(work.out.output, F_OK), 0);
}

static int do_near_without_room(const void *work)
{
	struct rlimit room;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &room);
	room.rlim_cur = 64;
	setrlimit(RLIMIT_FSIZE, &room);
	return do_near(work);
}

/* Not even its head can be written: there is no file then. */
static void no_room(void **state)
{
	const struct near_work work = {.connect = URI("records-all"),
				       .out = {.output = in_dir("out"), .record = true}};

	(void)state;
	assert_int_equal(run(do_near_without_room, &work), EXIT_FAILED);
	assert_files(2);
	assert_int_equal(access(in_dir("out.part"), F_OK), -1);
}

/* A signal comes while nobody reads: what is recorded comes to its end nevertheless. */
static void interrupted(void **state)
{
	const struct near_work work = {.connect = URI("records"),
				       .out = {.output = "-", .record = true}};
	static char got[BLOCK];
	size_t all = 0;
	char last[3] = "";
	ssize_t n;
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = start(do_near, &work, fds[1]);
	close(fds[1]);
	wait_until_full(fds[0]);
	kill(pid, SIGINT);
	while ((n = read(fds[0], got, sizeof(got))) > 0) {
		all += (size_t)n;
		if (n >= 3)
			memcpy(last, got + n - 3, 3);
	}
	close(fds[0]);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(all, BLOCK * BLOCKS + 3);
	assert_memory_equal(last, "END", 3);
	assert_has("stderr", "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(printed, setup, teardown),
		cmocka_unit_test_setup_teardown(failed, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(died, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(named, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_or_not, setup, teardown),
		cmocka_unit_test_setup_teardown(no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupted, setup, teardown),
	};

	if (argc > 1 && !strcmp(argv[1], "-T"))
		return far_end(user_of(argv));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
