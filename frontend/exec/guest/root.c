// SPDX-License-Identifier: GPL-2.0-or-later
/* root.c - the root of a guest without an initrd, mounted as its kernel would (init/do_mounts.c).
 */
#include "frontend/exec/guest/guest.h"

#include <linux/fcntl.h>
#include <linux/mount.h>

#define TEXT	4096
#define LOOK_MS 50
#define LOOKS	200

/* The value of a word of the kernel's command line, the last of that name. False: there is none. */
static bool option(const char *cmdline, const char *name, char *value, size_t size)
{
	bool found = false;

	while (*cmdline) {
		const char *at = cmdline, *of = name;
		size_t len = 0;

		while (*of && *at == *of) {
			at++;
			of++;
		}
		if (!*of) {
			for (; at[len] && at[len] != ' ' && at[len] != '\n' && len < size - 1;
			     len++)
				value[len] = at[len];
			value[len] = '\0';
			found = true;
		}
		while (*cmdline && *cmdline != ' ' && *cmdline != '\n')
			cmdline++;
		while (*cmdline == ' ' || *cmdline == '\n')
			cmdline++;
	}
	return found;
}

/* Drivers find their devices while this process runs already. */
static bool device_comes(const char *path)
{
	for (unsigned int i = 0; i < LOOKS; i++) {
		if (!sys(__NR_access, path, 0))
			return true;
		nap_ms(LOOK_MS);
	}
	return false;
}

/* As each file system that is for disks, until one fits. */
static long mount_as_any(const struct guest *g, const char *device, unsigned long flags)
{
	char list[TEXT], *at = list;
	long error = -1;

	read_text(g->proc, "filesystems", list, sizeof(list));
	while (*at) {
		char *name = at;
		bool disk = *at == '\t'; /* else it begins with "nodev" */

		while (*at && *at != '\n')
			at++;
		if (*at)
			*at++ = '\0';
		if (!disk)
			continue;
		error = sys(__NR_mount, device, EXEC_ROOT, name + 1, flags, 0);
		if (!error)
			return 0;
	}
	return error;
}

static bool mount_device(const struct guest *g, const char *cmdline)
{
	static const char dev[] = "/dev/";
	char path[TEXT] = EXEC_DEVICES "/", root[TEXT];
	size_t start = sizeof(EXEC_DEVICES), skip = sizeof(dev) - 1;
	long error;

	if (!option(cmdline, "root=", root, sizeof(root) - sizeof(EXEC_DEVICES)) ||
	    !text_has_word(root, dev)) {
		port_fail(g->port,
			  "there is neither an init in an initrd nor a root=/dev/NAME for "
			  "its kernel",
			  "", 0);
		return false;
	}
	sys(__NR_mount, "dev", EXEC_DEVICES, "devtmpfs", MS_NOSUID, 0);
	memcpy(path + start, root + skip, text_len(root + skip) + 1);
	if (!device_comes(path)) {
		port_fail(g->port, "there is no device ", root, 0);
		return false;
	}
	error = mount_as_any(g, path, text_has_word(cmdline, "rw") ? 0 : MS_RDONLY);
	if (error)
		port_fail(g->port, "its root cannot be mounted: ", root, error);
	return !error;
}

const char *root_mount(const struct guest *g)
{
	static const char *const inits[] = {"/sbin/init", "/etc/init", "/bin/init", "/bin/sh"};
	static char cmdline[TEXT], named[TEXT];

	read_text(g->proc, "cmdline", cmdline, sizeof(cmdline));
	if (!mount_device(g, cmdline))
		return NULL;
	sys(__NR_mount, EXEC_DEVICES, EXEC_ROOT "/dev", 0, MS_MOVE, 0);
	sys(__NR_chdir, EXEC_ROOT);
	sys(__NR_mount, ".", "/", 0, MS_MOVE, 0);
	sys(__NR_chroot, ".");
	sys(__NR_chdir, "/");
	if (option(cmdline, "init=", named, sizeof(named)))
		return named;
	for (unsigned int i = 0; i < sizeof(inits) / sizeof(inits[0]); i++)
		if (!sys(__NR_access, inits[i], 0))
			return inits[i];
	port_fail(g->port, "there is no init on its root", "", 0);
	return NULL;
}
