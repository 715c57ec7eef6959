// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * up.c - when a guest has come up: as the init says that is there in the end, or, of one that says
 * nothing, once it waits for something.
 */
#include "frontend/exec/guest/guest.h"

#include <linux/fcntl.h>
#include <asm/signal.h>
#include <linux/stat.h>
#include <linux/wait.h>

#define LOOK_MS	 50
#define AGAIN_MS 300
#define STILL	 2 /* looks in a row at which init has done nothing */
#define TEXT	 4096

#define INIT_ROOT "1/root" /* in a procfs; it leads there whatever lies over it */

struct up {
	const struct guest *g;
	char said; /* to the host: what is waited for */
};

static void say_waits(struct up *u, char what)
{
	if (u->said != what)
		port_send(u->g->port, EXEC_WAITS, &what, 1);
	u->said = what;
}

/* --- the root -------------------------------------------------------------------------------- */

struct place {
	uint64_t dev, ino;
};

static bool place_of(int dir, const char *path, struct place *at)
{
	struct statx st = {0};

	if (sys(__NR_statx, dir, path, 0, STATX_INO, &st))
		return false;
	at->dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	at->ino = st.stx_ino;
	return true;
}

/* Init has gone on to another root, and is a program of that by now. */
static bool has_gone_on(const struct guest *g, const struct place *first)
{
	struct place root, exe;

	return place_of(g->proc, INIT_ROOT, &root) && place_of(g->proc, "1/exe", &exe) &&
	       (root.dev != first->dev || root.ino != first->ino) && exe.dev != first->dev;
}

/* What is in the archives only looks for the system, and goes on to that. */
static bool goes_on(const struct guest *g)
{
	char text[TEXT];

	if (g->stays)
		return false;
	return !sys(__NR_access, "/etc/initrd-release", 0) ||
	       text_has_word(read_text(g->proc, "cmdline", text, sizeof(text)), "root=");
}

static void wait_for_root(struct up *u)
{
	struct place first;

	if (!goes_on(u->g) || !place_of(AT_FDCWD, "/", &first))
		return;
	while (!has_gone_on(u->g, &first)) {
		say_waits(u, EXEC_WAITS_ROOT);
		nap_ms(LOOK_MS);
	}
}

static void enter_root(const struct guest *g)
{
	long fd = sys(__NR_openat, g->proc, INIT_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !sys(__NR_fchdir, fd))
		sys(__NR_chroot, ".");
	if (fd >= 0)
		sys(__NR_close, fd);
}

/* --- systemd --------------------------------------------------------------------------------- */

static bool is_systemd(const struct guest *g)
{
	char path[TEXT];
	long len = sys(__NR_readlinkat, g->proc, "1/exe", path, sizeof(path) - 1);

	path[len < 0 ? 0 : len] = '\0';
	return len > 8 && text_is(path + len - 8, "/systemd");
}

/* What systemctl says, up to its first line end, and "" when it says nothing. */
static const char *ask_systemctl(const struct guest *g, bool wait, char *buf, size_t size)
{
	const char *const argv[] = {"systemctl", "is-system-running", wait ? "--wait" : 0, 0};
	size_t len = 0;
	int fds[2] = {-1, -1};
	long pid, n;

	*buf = '\0';
	if (sys(__NR_pipe2, fds, O_CLOEXEC))
		return buf;
	pid = sys(__NR_fork);
	if (!pid) {
		use_files(g->null, fds[1], g->null);
		sys(__NR_execve, "/bin/systemctl", argv, g->env);
		sys(__NR_execve, "/usr/bin/systemctl", argv, g->env);
		sys(__NR_exit_group, 127);
	}
	sys(__NR_close, fds[1]);
	while (len < size - 1 && (n = sys(__NR_read, fds[0], buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	sys(__NR_close, fds[0]);
	if (pid > 0)
		sys(__NR_wait4, pid, 0, 0, 0);
	for (n = 0; (size_t)n < len && buf[n] != '\n'; n++)
		;
	buf[n] = '\0';
	return buf;
}

/* One of before 240 cannot wait: that is asked again and again. */
static void wait_for_systemd(struct up *u)
{
	char state[64] = "";

	say_waits(u, EXEC_WAITS_SYSTEMD);
	while (sys(__NR_access, "/run/systemd/system", 0))
		nap_ms(LOOK_MS);
	for (bool wait = true;; wait = !wait) {
		ask_systemctl(u->g, wait, state, sizeof(state));
		if (text_is(state, "running") || text_is(state, "degraded"))
			return;
		if (text_is(state, "maintenance") || text_is(state, "stopping")) {
			port_fail(u->g->port, "its systemd says that it is: ", state, 0);
			sys(__NR_exit_group, 1);
		}
		nap_ms(AGAIN_MS);
	}
}

/* --- others ---------------------------------------------------------------------------------- */

/* Whether its init sleeps, and how often it has stopped running: that is in *count. */
static bool init_sleeps(const struct guest *g, uint64_t *count)
{
	char text[TEXT];
	const char *at = read_text(g->proc, "1/status", text, sizeof(text));
	bool sleeps = text_has_word(at, "State:\tS");

	*count = 0;
	for (; *at; at++)
		if (text_has_word(at, "voluntary_ctxt_switches:"))
			break;
	while (*at && (*at < '0' || *at > '9'))
		at++;
	while (*at >= '0' && *at <= '9')
		*count = *count * 10 + (uint64_t)(*at++ - '0');
	return sleeps;
}

static void wait_for_init(struct up *u)
{
	unsigned int still = 0;
	uint64_t last = 0, now;

	while (still < STILL) {
		bool sleeps = init_sleeps(u->g, &now);

		still = sleeps && now == last ? still + 1 : 0;
		last = now;
		if (still < STILL) {
			say_waits(u, EXEC_WAITS_INIT);
			nap_ms(LOOK_MS);
		}
	}
}

/* OpenRC's own files say which runlevel it is in, and that it is still on its way. */
static void wait_for_openrc(struct up *u)
{
	char level[64];

	for (;;) {
		read_text(AT_FDCWD, "/run/openrc/softlevel", level, sizeof(level));
		if (*level && !text_has_word(level, "sysinit") && !text_has_word(level, "boot") &&
		    sys(__NR_access, "/run/openrc/rc.starting", 0))
			return;
		say_waits(u, EXEC_WAITS_OPENRC);
		nap_ms(LOOK_MS);
	}
}

void up_wait(const struct guest *g)
{
	struct up u = {.g = g};

	wait_for_root(&u);
	enter_root(g);
	if (is_systemd(g))
		wait_for_systemd(&u);
	else if (!sys(__NR_access, "/sbin/openrc", 0))
		wait_for_openrc(&u);
	else
		wait_for_init(&u);
	port_send(g->port, EXEC_UP, "", 0);
}
