// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-initrd.c - an initrd with an archive before it, in a file of its own. QEMU has read it when
 * its guest stands at the reset, so it is gone then.
 */
#include "vmm/qemu/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who may read the one that was named may read this one. */
static mode_t mode_of(const char *path)
{
	struct stat st;

	return 0600 | (path && stat(path, &st) ? 0 : path ? st.st_mode & 0044 : 0044);
}

static int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int fill(int fd, const struct machine_config *cfg)
{
	int rc = fchmod(fd, mode_of(cfg->initrd_path)) ? -errno : 0;

	if (!rc)
		rc = write_all(fd, cfg->overlay, cfg->overlay_size);
	if (!rc && cfg->initrd)
		rc = write_all(fd, cfg->initrd, cfg->initrd_size);
	return rc;
}

int qemu_start_initrd_make(char **path, const struct machine_config *cfg, char *err, size_t errlen)
{
	const char *tmp = getenv("TMPDIR");
	int fd, rc;

	*path = NULL;
	if (!cfg->overlay)
		return 0;
	if (asprintf(path, "%s/hvtrace-initrd-XXXXXX", tmp && *tmp ? tmp : "/var/tmp") < 0) {
		*path = NULL;
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	fd = mkstemp(*path);
	rc = fd < 0 ? -errno : fill(fd, cfg);
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc)
		return 0;
	snprintf(err, errlen, "cannot write an initrd for the guest to %s: %s", *path,
		 strerror(-rc));
	if (fd < 0) {
		free(*path);
		*path = NULL;
	}
	qemu_start_initrd_unlink(*path);
	*path = NULL;
	return rc;
}

void qemu_start_initrd_unlink(char *path)
{
	if (path)
		unlink(path);
	free(path);
}
