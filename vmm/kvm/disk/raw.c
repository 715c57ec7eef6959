// SPDX-License-Identifier: GPL-2.0-or-later
/* raw.c - an image that is the disk byte by byte: a file, or a block device of the host's. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vmm/kvm/disk/local.h"

#define ZEROS_SIZE 65536u

struct raw {
	struct disk disk; /* first */
	int fd;
};

static int raw_fd(const struct disk *d)
{
	return ((const struct raw *)d)->fd;
}

/* --- transfers ------------------------------------------------------------------------------- */

static void advance(struct iovec **iov, unsigned int *n, size_t bytes)
{
	while (*n && bytes >= (*iov)->iov_len) {
		bytes -= (*iov)->iov_len;
		++*iov;
		--*n;
	}
	if (!*n)
		return;
	(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + bytes;
	(*iov)->iov_len -= bytes;
}

int raw_transfer(int fd, bool write, struct iovec *iov, unsigned int n, uint64_t off)
{
	while (n) {
		ssize_t done = write ? pwritev(fd, iov, (int)n, (off_t)off)
				     : preadv(fd, iov, (int)n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		off += (uint64_t)done;
		advance(&iov, &n, (size_t)done);
	}
	return 0;
}

static int write_zeros(int fd, uint64_t off, uint64_t len)
{
	static const uint8_t zeros[ZEROS_SIZE];
	int rc = 0;

	while (len && !rc) {
		size_t part = len < ZEROS_SIZE ? len : ZEROS_SIZE;
		ssize_t done = pwrite(fd, zeros, part, (off_t)off);

		if (done < 0 && errno != EINTR)
			rc = -errno;
		if (done > 0) {
			off += (uint64_t)done;
			len -= (uint64_t)done;
		}
	}
	return rc;
}

/* What a file system cannot do is written. */
int raw_zero(int fd, enum disk_op op, uint64_t off, uint64_t len)
{
	int how = op == DISK_ZERO ? FALLOC_FL_ZERO_RANGE : FALLOC_FL_PUNCH_HOLE;

	if (!len || !fallocate(fd, how | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len))
		return 0;
	if (errno != EOPNOTSUPP && errno != EINVAL && errno != EPERM)
		return -errno;
	return op == DISK_DISCARD ? 0 : write_zeros(fd, off, len);
}

static int raw_read(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
		    uint64_t off)
{
	(void)worker;
	return raw_transfer(raw_fd(d), false, iov, n, off);
}

static int raw_write(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
		     uint64_t off)
{
	(void)worker;
	return raw_transfer(raw_fd(d), true, iov, n, off);
}

static int raw_flush(struct disk *d, unsigned int worker)
{
	(void)worker;
	return fdatasync(raw_fd(d)) ? -errno : 0;
}

static int raw_zero_range(struct disk *d, unsigned int worker, enum disk_op op, uint64_t off,
			  uint64_t len)
{
	(void)worker;
	return raw_zero(raw_fd(d), op, off, len);
}

/* --- life ------------------------------------------------------------------------------------ */

static void raw_close(struct disk *d)
{
	close(raw_fd(d));
	free(d);
}

static const struct disk_ops raw_ops = {
	.read = raw_read,
	.write = raw_write,
	.flush = raw_flush,
	.zero = raw_zero_range,
	.close = raw_close,
	.image = raw_fd,
};

static int check_size(const struct disk_config *cfg, int fd, uint64_t *size, char *err,
		      size_t errlen)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char text[512];
	struct stat st;

	if (end < 0 || fstat(fd, &st) || !(S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))) {
		snprintf(err, errlen, "the disk %s is neither a file nor a block device",
			 cfg->path);
		return -1;
	}
	*size = (uint64_t)end & ~(uint64_t)(DISK_SECTOR - 1);
	if (!*size) {
		snprintf(err, errlen, "the disk %s is empty: an image has %u bytes at least",
			 cfg->path, DISK_SECTOR);
		return -1;
	}
	if (*size != (uint64_t)end && cfg->warn) {
		snprintf(
			text, sizeof(text),
			"the disk %s ends within a sector: the guest does not see its last %u bytes",
			cfg->path, (unsigned int)((uint64_t)end - *size));
		cfg->warn(cfg->arg, text);
	}
	return 0;
}

int raw_open_file(const struct disk_config *cfg, bool write, uint64_t *size, char *err,
		  size_t errlen)
{
	/* Not to wait for who writes to a FIFO. */
	int fd = open(cfg->path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		snprintf(err, errlen, "cannot open the disk %s%s: %s", cfg->path,
			 write ? " for writing" : "", strerror(errno));
		return -1;
	}
	if (!check_size(cfg, fd, size, err, errlen) &&
	    !disk_lock(fd, cfg->path, write, err, errlen))
		return fd;
	close(fd);
	return -1;
}

struct disk *raw_open(const struct disk_config *cfg, char *err, size_t errlen)
{
	struct raw *r = calloc(1, sizeof(*r));

	if (!r) {
		snprintf(err, errlen, "no memory for a disk");
		return NULL;
	}
	r->disk.ops = &raw_ops;
	r->fd = raw_open_file(cfg, cfg->keep && !cfg->read_only, &r->disk.size, err, errlen);
	if (r->fd >= 0)
		return &r->disk;
	free(r);
	return NULL;
}
