// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-qemu-peer.c - whose memory is written: that of the process that serves the stub, whoever
 * called listen(2), and never that of the program which it becomes.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"
#include "vmm/qemu/peer.h"

#define PLACE 0x3000

/* A process that serves for one that listens, until it is told to become another program. */
struct server {
	struct fake_qemu *q;
	pid_t pid;
	int go;	  /* closed: become another program */
	int gone; /* closes when it has */
};

_Noreturn static void serve(struct fake_qemu *q, int go, int gone)
{
	char c;

	fcntl(gone, F_SETFD, FD_CLOEXEC);
	fake_serve(q);
	while (read(go, &c, 1) > 0)
		;
	execlp("sleep", "sleep", "600", (char *)NULL);
	_exit(1);
}

static void server_start(struct server *s)
{
	int go[2], gone[2];

	s->q = calloc(1, sizeof(*s->q));
	assert_non_null(s->q);
	s->q->limit = ~0u;
	s->q->kvm = true;
	fake_listen(s->q);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(gone, O_CLOEXEC), 0);
	s->pid = fork();
	if (s->pid == 0) {
		close(go[1]);
		serve(s->q, go[0], gone[1]);
	}
	assert_true(s->pid > 0);
	close(go[0]);
	close(gone[1]);
	s->go = go[1];
	s->gone = gone[0];
}

static void server_becomes_another(struct server *s)
{
	char c;

	close(s->go);
	s->go = -1;
	assert_int_equal(read(s->gone, &c, 1), 0);
}

static void server_end(struct server *s, struct machine *m)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	machine_free(m);
	if (s->go >= 0)
		close(s->go);
	close(s->gone);
	close(s->q->listener);
	unlink(s->q->target + strlen("gdb:unix:"));
	rmdir(s->q->dir);
	free(s->q);
}

static struct machine *attach(struct server *s)
{
	struct machine_attach_config cfg = {.target = NULL};
	struct machine_info info;
	struct machine *m;
	char err[256];

	server_start(s);
	cfg.target = s->q->target;
	m = machine_attach(&cfg, err, sizeof(err));
	if (!m)
		fail_msg("%s", err);
	machine_get_info(m, &info);
	assert_true(info.direct);
	return m;
}

/* This process has called listen(2), and has memory at the same places. */
static void it_is_the_servers(void **state)
{
	const uint8_t word[4] = "abcd";
	uint8_t now[4];
	struct server s;
	struct machine *m = attach(&s);

	(void)state;
	assert_int_equal(machine_write(m, PLACE, word, sizeof(word)), 0);
	assert_int_equal(machine_read(m, PLACE, now, sizeof(now)), 0);
	assert_memory_equal(now, word, sizeof(word));
	for (size_t i = 0; i < sizeof(word); i++)
		assert_int_equal(s.q->ram[PLACE + i], 0);
	server_end(&s, m);
}

/* Under the same number there is another program then. */
static void what_it_becomes_is_left_alone(void **state)
{
	const uint8_t word[4] = "abcd";
	uint8_t now[4];
	struct server s;
	struct machine *m = attach(&s);

	(void)state;
	server_becomes_another(&s);
	assert_int_equal(machine_write(m, PLACE, word, sizeof(word)), -ECONNRESET);
	assert_int_equal(machine_read(m, PLACE, now, sizeof(now)), -ECONNRESET);
	server_end(&s, m);
}

/* A process that has, or may have, rights that its user has not; and one that is gone. */
static void more_rights_than_its_users(void **state)
{
	struct ucred server = {.uid = 65534, .gid = 65534}, listener = server;
	int ready[2];
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	server.pid = fork();
	if (server.pid == 0) {
		if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 0);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(server.pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_true(qemu_peer_memory(&server, &listener) < 0);
	kill(server.pid, SIGKILL);
	waitpid(server.pid, NULL, 0);
	assert_int_equal(qemu_peer_memory(&server, &listener), -ESRCH);
	server.pid = 0;
	assert_int_equal(qemu_peer_memory(&server, &listener), -ESRCH);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_servers),
		cmocka_unit_test(what_it_becomes_is_left_alone),
		cmocka_unit_test(more_rights_than_its_users),
	};

	return cmocka_run_group_tests_name("whose memory it is", tests, NULL, NULL);
}
