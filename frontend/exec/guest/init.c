// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * init.c - the first process of a guest in which a command is to be run. It leaves a child behind
 * that will do that, and goes on as the init that the guest has anyway.
 *
 * The child needs nothing of the archive that it came in, which that init may throw away: it has
 * open what it needs. Its name begins with an @, by which systemd spares it when it goes on to the
 * system's root and kills what is left of the initrd (systemd's ROOT_STORAGE_DAEMONS).
 */
#include "frontend/exec/guest/guest.h"

#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/prctl.h>

#define MNT_DETACH 2
#define PATH_ROOM  4096
#define KEEP_FDS   3

static long open_at(const char *path, int flags)
{
	return sys(__NR_openat, AT_FDCWD, path, flags | O_CLOEXEC);
}

/* Nobody else sees it: it is there by its descriptor alone. */
static int open_proc(void)
{
	long fd;

	sys(__NR_mount, "proc", EXEC_PROC, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0);
	fd = open_at(EXEC_PROC, O_RDONLY | O_DIRECTORY);
	sys(__NR_umount2, EXEC_PROC, MNT_DETACH);
	return (int)fd;
}

/* The guest sees nothing of it. */
static void remove_files(void)
{
	static const char *const files[] = {EXEC_INIT, EXEC_NEXT, EXEC_NULL, EXEC_PORT};
	static const char *const folders[] = {EXEC_PROC, EXEC_DEVICES, EXEC_ROOT, EXEC_FOLDER};

	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		sys(__NR_unlink, files[i]);
	for (unsigned int i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		sys(__NR_rmdir, folders[i]);
}

static void stay(struct guest *g, char *name)
{
	name[0] = '@';
	sys(__NR_prctl, PR_SET_NAME, "hvtrace-exec");
	sys(__NR_setsid);
	/* Where the kernel has found no console the first of what was opened is one of these. */
	if (g->null < KEEP_FDS)
		g->null = (int)sys(__NR_fcntl, g->null, F_DUPFD_CLOEXEC, KEEP_FDS);
	if (g->proc < KEEP_FDS)
		g->proc = (int)sys(__NR_fcntl, g->proc, F_DUPFD_CLOEXEC, KEEP_FDS);
	if (g->port < KEEP_FDS)
		g->port = (int)sys(__NR_fcntl, g->port, F_DUPFD_CLOEXEC, KEEP_FDS);
	use_files(g->null, g->null, g->null);
	up_wait(g);
	run_command(g);
	sys(__NR_exit_group, 0);
}

/* The init that is in the archives beside this one. */
static const char *next_init(char *path, size_t size)
{
	long len = sys(__NR_readlink, EXEC_NEXT, path, size - 1);

	path[len < 0 ? 0 : len] = '\0';
	return path;
}

/* There is none in the archives. NULL: nor anywhere else, which the host has been told. */
static const char *next_elsewhere(struct guest *g, const char *next)
{
	if (!g->stays) {
		g->stays = true;
		return root_mount(g);
	}
	port_fail(g->port, "its initrd has no ", next, 0);
	return NULL;
}

/* Called by the code below, with what the kernel has put on the stack. */
__attribute__((noreturn)) void begin(long *stack);

void begin(long *stack)
{
	char **argv = (char **)(stack + 1), **env = argv + stack[0] + 1;
	struct guest g = {.env = env};
	char path[PATH_ROOM];
	const char *next = next_init(path, sizeof(path));
	bool here = !sys(__NR_access, next, 0);
	char *name = argv[0];

	g.stays = !text_is(next, "/init");
	g.proc = open_proc();
	g.null = (int)open_at(EXEC_NULL, O_RDWR);
	g.port = (int)open_at(EXEC_PORT, O_RDWR | O_NOCTTY);
	port_begin(g.port);
	if (here)
		remove_files();
	else
		next = next_elsewhere(&g, next);
	if (next && !sys(__NR_fork))
		stay(&g, name);
	if (next) {
		argv[0] = path;
		memcpy(path, next, text_len(next) + 1);
		port_fail(g.port, "its init does not start: ", path,
			  sys(__NR_execve, path, argv, env));
	}
	/* The host has been told, and ends it: better than a panic. */
	for (;;)
		sys(__NR_pause);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xorl %ebp, %ebp\n"
	"	movq %rsp, %rdi\n"
	"	andq $-16, %rsp\n"
	"	call begin\n");
