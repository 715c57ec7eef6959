// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock.c - an image is locked as QEMU locks it, so that neither opens what the other one has.
 *
 * QEMU's block/file-posix.c: what is done with an image, and what others must not do meanwhile, are
 * bits; each is a lock on one byte of the file, shared so that several can say the same. For a bit
 * that is done it is byte 100 + bit, for one that others must not do byte 200 + bit. Who has taken
 * his own looks whether another one's are against it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vmm/kvm/disk/local.h"

#define DONE_BASE      100
#define FORBIDDEN_BASE 200

/* enum BlockPermission of QEMU's include/block/block-common.h */
enum { BIT_READ = 0, BIT_WRITE = 1, BIT_RESIZE = 3, BITS = 4 };

static struct flock byte_lock(short type, int byte)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

/* -EAGAIN: another one's lock is in the way. */
static int say(int fd, int byte)
{
	struct flock l = byte_lock(F_RDLCK, byte);

	return fcntl(fd, F_OFD_SETLK, &l) ? -errno : 0;
}

static int look(int fd, int byte)
{
	struct flock l = byte_lock(F_WRLCK, byte);

	if (fcntl(fd, F_OFD_GETLK, &l))
		return -errno;
	return l.l_type == F_UNLCK ? 0 : -EAGAIN;
}

int disk_lock(int fd, const char *path, bool write, char *err, size_t errlen)
{
	const unsigned int done = 1u << BIT_READ | (unsigned int)write << BIT_WRITE;
	const unsigned int forbidden = 1u << BIT_WRITE | 1u << BIT_RESIZE;
	int rc = 0;

	for (int bit = 0; bit < BITS && !rc; bit++) {
		if (done >> bit & 1)
			rc = say(fd, DONE_BASE + bit);
		if (!rc && forbidden >> bit & 1)
			rc = say(fd, FORBIDDEN_BASE + bit);
	}
	for (int bit = 0; bit < BITS && !rc; bit++) {
		if (done >> bit & 1)
			rc = look(fd, FORBIDDEN_BASE + bit);
		if (!rc && forbidden >> bit & 1)
			rc = look(fd, DONE_BASE + bit);
	}
	if (rc != -EAGAIN && rc != -EACCES)
		return 0; /* file systems without such locks: QEMU goes on as well */
	snprintf(err, errlen,
		 "the disk %s is in use by another guest: end that first, or give this one a copy",
		 path);
	return -1;
}
