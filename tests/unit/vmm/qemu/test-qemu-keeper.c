// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-keeper.c - the keeper releases the guest when its tracer dies, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vmm/qemu/keeper-local.h"

/* A process that starts a keeper for the socket, has it told something, and waits to be killed. */
static pid_t tracer_fork(int ends[2], bool run_on, void (*tell)(struct keeper *k, const void *arg),
			 const void *arg)
{
	int ready[2], mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	pid_t pid;
	char c;

	assert_true(mem >= 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct keeper k;

		close(ends[1]);
		close(ready[0]);
		setpgid(0, 0);
		if (keeper_start(&k, ends[0], run_on) || keeper_memory(&k, mem))
			_exit(1);
		tell(&k, arg);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	close(ends[0]);
	close(ready[1]);
	close(mem);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

struct words {
	const char *const *first; /* what comes first, each text in the place of the one before */
	bool goodbye;
	const char *detach; /* the last packet, or NULL */
};

static void tell_words(struct keeper *k, const void *arg)
{
	const struct words *words = arg;

	for (const char *const *first = words->first; first && *first; first++)
		if (keeper_first(k, **first ? *first : NULL))
			_exit(1);
	if (words->goodbye)
		keeper_stop(k);
	if (words->detach && keeper_detach(k, words->detach))
		_exit(1);
}

static pid_t tracer_start_with(int ends[2], bool run_on, bool goodbye, const char *const *first)
{
	return tracer_fork(ends, run_on, tell_words, &(struct words){first, goodbye, NULL});
}

static pid_t tracer_start(int ends[2], bool run_on, bool goodbye)
{
	return tracer_start_with(ends, run_on, goodbye, NULL);
}

/* Be the stub: all that comes until the other side closes; each packet gets an answer. */
static size_t stub_listen(int sock, char *got, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size - 1 && (n = read(sock, got + len, size - 1 - len)) > 0) {
		len += (size_t)n;
		if (send(sock, "$OK#9a", 6, MSG_NOSIGNAL) < 0)
			break;
	}
	got[len] = '\0';
	return len;
}

/* Nobody holds the other end any more. */
static bool hung_up(int sock)
{
	struct pollfd fd = {.fd = sock, .events = POLLRDHUP};

	return poll(&fd, 1, 60000) == 1;
}

static void kill_tracer(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void killed_tracer_lets_the_guest_run(void **state)
{
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start(ends, true, false);
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, "\x03#00$Qqemu.PhyMemMode:0#76$?#3f$D;1#b0");
	close(ends[1]);
}

/* --- one that is stopped ------------------------------------------------------------------------
 */

static void tell_stands(struct keeper *k, const void *arg)
{
	keeper_stands(k, *(const bool *)arg);
}

static void stop_tracer(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

/* It is killed, and nothing is left of it in the guest. */
static void is_released(int sock, pid_t pid)
{
	char got[256];
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	stub_listen(sock, got, sizeof(got));
	assert_string_equal(got, "\x03#00$Qqemu.PhyMemMode:0#76$?#3f$D;1#b0");
	close(sock);
}

static void stopped_while_the_guest_stands(void **state)
{
	bool stands = true;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_fork(ends, true, tell_stands, &stands);
	stop_tracer(pid);
	is_released(ends[1], pid);
}

/* The guest has met a trap, which nobody hears of. */
static void stopped_before_the_guest(void **state)
{
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start(ends, true, false);
	stop_tracer(pid);
	assert_int_equal(write(ends[1], "$T05#b9", 7), 7);
	is_released(ends[1], pid);
}

/* --- one that was taken over --------------------------------------------------------------------
 */

static void tell_lies(struct keeper *k, const void *arg)
{
	struct keeper_shared *share = k->share;

	(void)arg;
	memset(share->first, '+', sizeof(share->first));
	memset(share->pin, '+', sizeof(share->pin));
	atomic_store(&share->which, UINT32_MAX - 1);
	share->n[0] = SIZE_MAX;
	for (size_t i = 0; i < KEEPER_BYTES_MAX; i++)
		share->byte[0][i].hva = UINT64_MAX;
}

static void lies_are_not_believed(void **state)
{
	static const char begin[] = "\x03#00$Qqemu.PhyMemMode:0#76", halt[] = "$?#3f",
			  end[] = "$D;1#b0";
	char got[KEEPER_FIRST_MAX + KEEPER_PIN_MAX + 256];
	int ends[2];
	size_t len;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	kill_tracer(tracer_fork(ends, true, tell_lies, NULL));
	len = stub_listen(ends[1], got, sizeof(got));
	assert_int_equal(len, strlen(begin) + KEEPER_FIRST_MAX + strlen(halt) + KEEPER_PIN_MAX +
				      strlen(end));
	assert_memory_equal(got, begin, strlen(begin));
	assert_non_null(strstr(got, halt));
	assert_string_equal(got + len - strlen(end), end);
	close(ends[1]);
}

/* --- in groups ----------------------------------------------------------------------------------
 */

/* By then it has got as far as that; one that does not is waited for no longer. */
static void tell_when_apart(struct keeper *k, const void *arg)
{
	const struct timespec look = {.tv_nsec = 10000000};

	(void)arg;
	for (int i = 0; i < 3000 && getsid(k->pid) != k->pid; i++)
		nanosleep(&look, NULL);
}

/* As a shell ends a job, or a service manager a service. */
static void a_group_is_killed_without_the_keeper(void **state)
{
	char got[256];
	int ends[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_fork(ends, true, tell_when_apart, NULL);
	assert_int_equal(kill(-pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_non_null(strstr(got, "$D;1#b0"));
	close(ends[1]);
}

static void first_things_come_first(void **state)
{
	static const char *const twice[] = {"$a much longer text#00", "$P0=1#a2", NULL};
	static const char *const taken_back[] = {"$P0=1#a2", "", NULL};
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start_with(ends, true, false, twice);
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, "\x03#00$Qqemu.PhyMemMode:0#76$P0=1#a2$?#3f$D;1#b0");
	close(ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start_with(ends, true, false, taken_back);
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, "\x03#00$Qqemu.PhyMemMode:0#76$?#3f$D;1#b0");
	close(ends[1]);
}

static void too_much_is_refused(void **state)
{
	char text[KEEPER_FIRST_MAX + 1] = "", got[256];
	struct keeper k;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(keeper_start(&k, ends[0], true), 0);
	memset(text, '$', sizeof(text) - 1);
	assert_int_equal(keeper_first(&k, text), -EMSGSIZE);
	text[KEEPER_FIRST_MAX - 1] = '\0';
	assert_int_equal(keeper_first(&k, text), 0);
	keeper_stop(&k);
	assert_int_equal(keeper_first(&k, text), 0); /* there is nobody to tell it */
	close(ends[0]);
	assert_int_equal(read(ends[1], got, sizeof(got)), 0);
	close(ends[1]);
}

static int held[2]; /* a pipe */

static void tell_also(struct keeper *k, const void *arg)
{
	if (keeper_first(k, "$P0=1#a2") || keeper_also(k, arg, held[0]))
		_exit(1);
	close(held[0]);
	close(held[1]);
}

/* Nobody else has the end of the pipe that is read: as long as it has one, writing to it works. */
static void what_is_to_be_said_also(void **state)
{
	static const char want[] = "\x03#00$Qqemu.PhyMemMode:0#76$P0=1#a2$qRcmd,00#00$?#3f$D;1#b0";
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(held), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_fork(ends, true, tell_also, "$qRcmd,00#00");
	close(held[0]);
	assert_int_equal(write(held[1], "a", 1), 1);
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, want);
	signal(SIGPIPE, SIG_IGN);
	assert_true(hung_up(ends[1]));
	close(ends[1]);
	while (write(held[1], "a", 1) == 1)
		; /* until it has ended, which nothing else tells */
	assert_int_equal(errno, EPIPE);
	close(held[1]);
}

static void tell_pinned(struct keeper *k, const void *arg)
{
	if (keeper_first(k, "$P0=1#a2") || keeper_pinned(k, arg))
		_exit(1);
}

/* Behind all that is written and all breakpoints, and before it runs on. */
static void a_pinned_guest_is_free_to_go(void **state)
{
	static const char want[] = "\x03#00$Qqemu.PhyMemMode:0#76$P0=1#a2$?#3f$qRcmd,00#00$D;1#b0";
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_fork(ends, true, tell_pinned, "$qRcmd,00#00");
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, want);
	close(ends[1]);
}

static void standing_guest_is_left_standing(void **state)
{
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start(ends, false, false);
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, "\x03#00$Qqemu.PhyMemMode:0#76$?#3f");
	close(ends[1]);
}

static void goodbye_sends_nothing(void **state)
{
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start(ends, true, true);
	kill_tracer(pid);
	assert_int_equal(stub_listen(ends[1], got, sizeof(got)), 0);
	close(ends[1]);
}

/* It hangs up amid the answers: the keeper ends, rather than wait for more of them. */
static void a_stub_that_hangs_up_is_left(void **state)
{
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	pid = tracer_start(ends, true, false);
	kill_tracer(pid);
	assert_true(read(ends[1], got, sizeof(got)) > 0);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	while (read(ends[1], got, sizeof(got)) > 0)
		; /* until the keeper has ended, too */
	close(ends[1]);
}

static void a_stub_that_is_gone_does_no_harm(void **state)
{
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_start(ends, true, false);
	close(ends[1]);
	kill_tracer(pid);
}

/* It takes nothing, and there is no room left for what it is told: the keeper ends all the same. */
static void a_stub_that_takes_nothing_is_left(void **state)
{
	char junk[4096] = "";
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	while (send(ends[0], junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
	pid = tracer_start(ends, true, false);
	kill_tracer(pid);
	assert_true(hung_up(ends[1]));
	close(ends[1]);
}

/* --- bytes under breakpoints ---------------------------------------------------------------- */

static uint8_t *text; /* of a guest: this process's memory stands for QEMU's */

static void tell_bytes(struct keeper *k, const size_t *places, size_t n)
{
	struct keeper_byte *bytes = keeper_bytes_begin(k, n);

	if (!bytes)
		_exit(1);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (struct keeper_byte){(uintptr_t)text + places[i],
						(uint8_t)(0x10 + places[i])};
	keeper_bytes_end(k, n);
}

/* Two lists, the second one, of so many bytes, in the place of the first. */
static void tell_two_lists(struct keeper *k, const void *arg)
{
	static const size_t earlier[] = {5}, later[] = {0, 1, 2};

	tell_bytes(k, earlier, 1);
	tell_bytes(k, later, *(const size_t *)arg);
}

static pid_t tracer_with_bytes(int ends[2], size_t last)
{
	return tracer_fork(ends, true, tell_two_lists, &last);
}

/* Those that it was told of last and that are breakpoints still; and before the stub forgets them.
 */
static void bytes_are_written_back(void **state)
{
	static uint8_t now[8];
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	text = now;
	memset(now, 0xcc, sizeof(now));
	now[1] = 0x90; /* the guest's own by now */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_with_bytes(ends, 3);
	kill_tracer(pid);
	assert_true(read(ends[1], got, sizeof(got)) > 0);
	assert_int_equal(now[0], 0xcc); /* the stub has not answered yet */
	assert_int_equal(send(ends[1], "$OK#9a", 6, MSG_NOSIGNAL), 6);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, "$?#3f$D;1#b0");
	assert_int_equal(now[0], 0x10);
	assert_int_equal(now[1], 0x90);
	assert_int_equal(now[2], 0x12);
	for (size_t i = 3; i < sizeof(now); i++)
		assert_int_equal(now[i], 0xcc);
	close(ends[1]);
}

static void no_bytes_no_waiting(void **state)
{
	char got[256];
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_with_bytes(ends, 0);
	kill_tracer(pid);
	stub_listen(ends[1], got, sizeof(got));
	assert_string_equal(got, "\x03#00$Qqemu.PhyMemMode:0#76$?#3f$D;1#b0");
	close(ends[1]);
}

static void too_many_bytes_are_refused(void **state)
{
	struct keeper k, none = {0};
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(keeper_start(&k, ends[0], true), 0);
	assert_null(keeper_bytes_begin(&k, KEEPER_BYTES_MAX + 1));
	assert_non_null(keeper_bytes_begin(&k, KEEPER_BYTES_MAX));
	keeper_stop(&k);
	assert_null(keeper_bytes_begin(&none, 1));
	close(ends[0]);
	close(ends[1]);
}

/* --- the word that says that the tracer lives ------------------------------------------------- */

#define WORD_HERE 0x1122334455667788
#define WORD_GONE 9

struct told_words {
	const struct keeper_word *word[2]; /* one after the other; NULL: none any more */
};

static void tell_two_words(struct keeper *k, const void *arg)
{
	const struct told_words *told = arg;

	for (int i = 0; i < 2; i++)
		keeper_word(k, told->word[i]);
}

/* It comes before all that the stub is told. */
static void killed_with_words(struct told_words told)
{
	char got[256];
	int ends[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = tracer_fork(ends, true, tell_two_words, &told);
	kill_tracer(pid);
	assert_true(read(ends[1], got, sizeof(got)) > 0);
	close(ends[1]);
}

static void the_last_word_is_written(void **state)
{
	uint64_t word[2] = {WORD_HERE, WORD_HERE};
	const struct keeper_word first = {(uintptr_t)&word[0], WORD_HERE, WORD_GONE},
				 second = {(uintptr_t)&word[1], WORD_HERE, WORD_GONE};

	(void)state;
	killed_with_words((struct told_words){{&first, &second}});
	assert_int_equal(word[0], WORD_HERE);
	assert_int_equal(word[1], WORD_GONE);
}

/* Neither one that it was told to forget, nor what is something else by now. */
static void no_other_word_is_written(void **state)
{
	uint64_t word[2] = {WORD_HERE, WORD_HERE + 1};
	const struct keeper_word first = {(uintptr_t)&word[0], WORD_HERE, WORD_GONE},
				 second = {(uintptr_t)&word[1], WORD_HERE, WORD_GONE};

	(void)state;
	killed_with_words((struct told_words){{&first, NULL}});
	assert_int_equal(word[0], WORD_HERE);
	killed_with_words((struct told_words){{&first, &second}});
	assert_int_equal(word[0], WORD_HERE);
	assert_int_equal(word[1], WORD_HERE + 1);
}

/* Who is killed behind that has nothing said once more. */
static void the_last_packet_is_sent_once(void **state)
{
	char got[64] = "";
	ssize_t n = 0, part;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	/* The answer, in pieces and behind others, is there before it is asked for. */
	assert_int_equal(write(ends[1], "+$E01#a6$$O+$OK#9a", 18), 18);
	pid = tracer_fork(ends, true, tell_words, &(struct words){.detach = "$D;1#b0"});
	kill_tracer(pid);
	while ((part = read(ends[1], got + n, sizeof(got) - 1 - (size_t)n)) > 0)
		n += part;
	assert_string_equal(got, "$D;1#b0");
	close(ends[1]);
}

static void a_detach_that_nobody_answers_is_told(void **state)
{
	struct keeper k, none = {0};
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(keeper_start(&k, ends[0], true), 0);
	close(ends[0]);
	assert_int_equal(write(ends[1], "$OK#9", 5), 5);
	shutdown(ends[1], SHUT_WR);
	assert_int_equal(keeper_detach(&k, "$D#44"), -ETIMEDOUT);
	close(ends[1]);
	assert_int_equal(keeper_detach(&none, "$D#44"), -ESRCH);
	/* A keeper that is gone has said nothing. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(keeper_start(&k, ends[0], true), 0);
	kill_tracer(k.pid);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(keeper_detach(&k, "$D#44"), -ESRCH);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_packet_is_sent_once),
		cmocka_unit_test(a_detach_that_nobody_answers_is_told),
		cmocka_unit_test(killed_tracer_lets_the_guest_run),
		cmocka_unit_test(stopped_while_the_guest_stands),
		cmocka_unit_test(stopped_before_the_guest),
		cmocka_unit_test(lies_are_not_believed),
		cmocka_unit_test(a_group_is_killed_without_the_keeper),
		cmocka_unit_test(first_things_come_first),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(what_is_to_be_said_also),
		cmocka_unit_test(a_pinned_guest_is_free_to_go),
		cmocka_unit_test(standing_guest_is_left_standing),
		cmocka_unit_test(goodbye_sends_nothing),
		cmocka_unit_test(a_stub_that_hangs_up_is_left),
		cmocka_unit_test(a_stub_that_is_gone_does_no_harm),
		cmocka_unit_test(a_stub_that_takes_nothing_is_left),
		cmocka_unit_test(bytes_are_written_back),
		cmocka_unit_test(no_bytes_no_waiting),
		cmocka_unit_test(too_many_bytes_are_refused),
		cmocka_unit_test(the_last_word_is_written),
		cmocka_unit_test(no_other_word_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
