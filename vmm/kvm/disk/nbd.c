// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nbd.c - an image of any format that QEMU knows: a qemu-nbd of our own has it open, and each
 * thread of the disk a connection to that.
 *
 * qemu-nbd ends by itself when nobody is connected any more, so also when this process is killed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm/kvm/disk/libnbd.h"
#include "vmm/kvm/disk/local.h"
#include "vmm/program.h"

/* More at once is more than servers take. */
#define PART_MAX (1u << 20)

#define END_MS 10000 /* of qemu-nbd, which has to write what it has of the image */

struct nbd {
	struct disk disk; /* first */
	const struct libnbd *lib;
	struct program_server server;
	struct nbd_handle *connection[DISK_WORKERS];
	int fd[DISK_WORKERS]; /* its socket, which is libnbd's */
};

static struct nbd *nbd(struct disk *d)
{
	return (struct nbd *)d;
}

/* --- requests -------------------------------------------------------------------------------- */

/* The server is gone, or has had an error: which one of the host's it was is not always told. */
static int result(int rc)
{
	return rc ? -EIO : 0;
}

static int nbd_transfer(struct nbd *n, bool write, unsigned int worker, uint8_t *at, size_t len,
			uint64_t off)
{
	struct nbd_handle *h = n->connection[worker];
	int rc = 0;

	while (len && !rc) {
		size_t part = len < PART_MAX ? len : PART_MAX;

		rc = write ? n->lib->nbd_pwrite(h, at, part, off, 0)
			   : n->lib->nbd_pread(h, at, part, off, 0);
		at += part;
		off += part;
		len -= part;
	}
	return result(rc);
}

static int nbd_transfer_all(struct disk *d, bool write, unsigned int worker,
			    const struct iovec *iov, unsigned int n, uint64_t off)
{
	int rc = 0;

	for (unsigned int i = 0; i < n && !rc; i++) {
		rc = nbd_transfer(nbd(d), write, worker, iov[i].iov_base, iov[i].iov_len, off);
		off += iov[i].iov_len;
	}
	return rc;
}

static int nbd_read(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
		    uint64_t off)
{
	return nbd_transfer_all(d, false, worker, iov, n, off);
}

static int nbd_write(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
		     uint64_t off)
{
	return nbd_transfer_all(d, true, worker, iov, n, off);
}

static int nbd_flush_all(struct disk *d, unsigned int worker)
{
	struct nbd *n = nbd(d);

	return result(n->lib->nbd_flush(n->connection[worker], 0));
}

static int nbd_zero_range(struct disk *d, unsigned int worker, enum disk_op op, uint64_t off,
			  uint64_t len)
{
	struct nbd *n = nbd(d);
	struct nbd_handle *h = n->connection[worker];

	if (!len)
		return 0;
	if (op == DISK_DISCARD)
		return result(n->lib->nbd_trim(h, len, off, 0));
	return result(n->lib->nbd_zero(h, len, off, op == DISK_ZERO ? LIBNBD_CMD_FLAG_NO_HOLE : 0));
}

/* --- life ------------------------------------------------------------------------------------ */

/* libnbd waits for an answer as long as somebody is there. */
static void nbd_give_up(struct disk *d)
{
	for (unsigned int i = 0; i < DISK_WORKERS; i++)
		shutdown(nbd(d)->fd[i], SHUT_RDWR);
}

/* Not nbd_shutdown(), which waits for ever for a server that does not close its end. */
static void nbd_close_all(struct disk *d)
{
	struct nbd *n = nbd(d);

	for (unsigned int i = 0; i < DISK_WORKERS; i++) {
		if (n->connection[i])
			n->lib->nbd_close(n->connection[i]);
	}
	program_leave(&n->server, END_MS);
	free(n);
}

static const struct disk_ops nbd_ops = {
	.read = nbd_read,
	.write = nbd_write,
	.flush = nbd_flush_all,
	.zero = nbd_zero_range,
	.close = nbd_close_all,
	.give_up = nbd_give_up,
};

/* The connections, and a server at their other end. */
static int serve(struct nbd *n, const struct disk_config *cfg, int fds[DISK_WORKERS])
{
	const char *how = cfg->read_only ? "--read-only"
			  : cfg->keep	 ? "--discard=unmap"
					 : "--snapshot";
	char shared[24];
	const char *const argv[] = {"qemu-nbd", "--format", cfg->format, shared,
				    how,	cfg->path,  NULL};

	snprintf(shared, sizeof(shared), "--shared=%d", DISK_WORKERS);
	return program_serve_connected(&n->server, argv, fds, DISK_WORKERS);
}

/* Gets the socket. libnbd waits for the server; one that has ended closes it. */
static int shake_hands(struct nbd *n, unsigned int i, int fd)
{
	struct nbd_handle *h = n->lib->nbd_create();

	n->connection[i] = h;
	n->fd[i] = fd;
	if (!h) {
		close(fd);
		return -1;
	}
	/* All of what it reads is the guest's, who is told of an error. */
	n->lib->nbd_set_pread_initialize(h, false);
	return n->lib->nbd_connect_socket(h, fd);
}

static int open_connections(struct nbd *n, const struct disk_config *cfg, char *err, size_t errlen)
{
	int fds[DISK_WORKERS], rc = serve(n, cfg, fds);
	char words[256];
	int64_t size;

	if (rc)
		snprintf(err, errlen, "the disk %s: cannot start qemu-nbd: %s", cfg->path,
			 strerror(-rc));
	for (unsigned int i = 0; i < DISK_WORKERS; i++) {
		if (!rc)
			rc = shake_hands(n, i, fds[i]);
		else if (fds[i] >= 0)
			close(fds[i]);
	}
	if (n->server.pid > 0 && rc) {
		program_words(&n->server, "qemu-nbd", words, sizeof(words));
		snprintf(err, errlen, "the disk %s: %s", cfg->path, words);
	}
	size = rc ? 0 : n->lib->nbd_get_size(n->connection[0]);
	n->disk.size = size > 0 ? (uint64_t)size & ~(uint64_t)(DISK_SECTOR - 1) : 0;
	if (!rc && !n->disk.size) {
		snprintf(err, errlen, "the disk %s is empty", cfg->path);
		rc = -1;
	}
	return rc;
}

struct disk *nbd_open(const struct disk_config *cfg, char *err, size_t errlen)
{
	struct nbd *n = calloc(1, sizeof(*n));

	if (!n) {
		snprintf(err, errlen, "no memory for a disk");
		return NULL;
	}
	n->disk.ops = &nbd_ops;
	n->server.pid = -1;
	n->lib = libnbd();
	if (!n->lib)
		snprintf(err, errlen,
			 "the disk %s: images of format %s need libnbd (libnbd.so.0), which is not "
			 "installed here",
			 cfg->path, cfg->format);
	if (n->lib && !open_connections(n, cfg, err, errlen))
		return &n->disk;
	nbd_close_all(&n->disk);
	return NULL;
}
