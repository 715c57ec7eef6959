// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * overlay.c - a raw image that is only read: what is written goes into a file without a name, which
 * is gone with this process, however that may end.
 *
 * A disk that was saved has a third file between the two, which is only read as well: what was
 * written before that.
 *
 * A bit per block says whether it is there. Of a block that is written in part for the first time
 * the rest is copied before; that, and setting the bit, happens under a lock. What is there already
 * is written without.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vmm/kvm/disk/local.h"

#define BLOCK	    DISK_BLOCK
#define WORD_BLOCKS 64u

struct overlay {
	struct disk disk; /* first */
	int image, changes;
	_Atomic uint64_t *changed; /* a bit per block */
	int before;		   /* -1: there is none, else: */
	uint64_t before_at;	   /* where the disk begins in it */
	uint64_t *was_changed;
	pthread_mutex_t copying;
};

static struct overlay *overlay(struct disk *d)
{
	return (struct overlay *)d;
}

static bool is_changed(const struct overlay *o, uint64_t block)
{
	return o->changed[block / WORD_BLOCKS] >> block % WORD_BLOCKS & 1;
}

static bool was_changed(const struct overlay *o, uint64_t block)
{
	return o->was_changed && o->was_changed[block / WORD_BLOCKS] >> block % WORD_BLOCKS & 1;
}

/* Where a block is: which file, and at which place in that the disk begins. */
struct source {
	int fd;
	uint64_t at;
};

static struct source source_of(const struct overlay *o, uint64_t block)
{
	if (is_changed(o, block))
		return (struct source){o->changes, 0};
	if (was_changed(o, block))
		return (struct source){o->before, o->before_at};
	return (struct source){o->image, 0};
}

static void set_changed(struct overlay *o, uint64_t block)
{
	atomic_fetch_or(&o->changed[block / WORD_BLOCKS], UINT64_C(1) << block % WORD_BLOCKS);
}

/* Take the first `bytes` of iov into part, which has room for n; iov goes on behind them. */
static unsigned int split(struct iovec **iov, unsigned int *n, size_t bytes, struct iovec *part)
{
	unsigned int nr = 0;

	while (bytes) {
		size_t here = (*iov)->iov_len < bytes ? (*iov)->iov_len : bytes;

		part[nr++] = (struct iovec){(*iov)->iov_base, here};
		(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + here;
		(*iov)->iov_len -= here;
		bytes -= here;
		if (!(*iov)->iov_len) {
			++*iov;
			--*n;
		}
	}
	return nr;
}

static size_t total(const struct iovec *iov, unsigned int n)
{
	size_t sum = 0;

	while (n--)
		sum += iov[n].iov_len;
	return sum;
}

/* Bytes from off on, at most len, that are all in the same of the files. */
static uint64_t run_length(const struct overlay *o, uint64_t off, uint64_t len, struct source *from)
{
	uint64_t block = off / BLOCK, end = off + len, at;

	*from = source_of(o, block);
	do
		at = ++block * BLOCK;
	while (at < end && source_of(o, block).fd == from->fd);
	return (at < end ? at : end) - off;
}

static int overlay_read(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
			uint64_t off)
{
	struct overlay *o = overlay(d);
	uint64_t left = total(iov, n);
	struct iovec *part = malloc(n * sizeof(*part));
	int rc = part ? 0 : -ENOMEM;

	(void)worker;
	while (left && !rc) {
		struct source from;
		uint64_t len = run_length(o, off, left, &from);
		unsigned int nr = split(&iov, &n, len, part);

		rc = raw_transfer(from.fd, false, part, nr, from.at + off);
		off += len;
		left -= len;
	}
	free(part);
	return rc;
}

/* A block as it is now, of so many bytes: its end may be behind the disk's. */
static int read_block(const struct overlay *o, uint64_t block, uint8_t bytes[BLOCK], size_t *len)
{
	uint64_t off = block * BLOCK, rest = o->disk.size - off;
	struct source from = source_of(o, block);
	struct iovec v;

	*len = rest < BLOCK ? rest : BLOCK;
	v = (struct iovec){bytes, *len};
	return raw_transfer(from.fd, false, &v, 1, from.at + off);
}

/* Called with the lock held. */
static int copy_block(struct overlay *o, uint64_t block)
{
	uint64_t off = block * BLOCK;
	uint8_t bytes[BLOCK];
	size_t len;
	int rc = read_block(o, block, bytes, &len);
	struct iovec v = {bytes, len};

	return rc ? rc : raw_transfer(o->changes, true, &v, 1, off);
}

/* Called with the lock held. The first and the last block may be written in part only. */
static int copy_edges(struct overlay *o, uint64_t off, uint64_t len)
{
	uint64_t first = off / BLOCK, last = (off + len - 1) / BLOCK;
	int rc = 0;

	if (off % BLOCK && !is_changed(o, first))
		rc = copy_block(o, first);
	if (!rc && (off + len) % BLOCK && off + len < o->disk.size && !is_changed(o, last) &&
	    (last != first || !(off % BLOCK)))
		rc = copy_block(o, last);
	return rc;
}

static bool all_changed(const struct overlay *o, uint64_t off, uint64_t len)
{
	for (uint64_t block = off / BLOCK; block * BLOCK < off + len; block++)
		if (!is_changed(o, block))
			return false;
	return true;
}

typedef int change_fn(struct overlay *o, uint64_t off, uint64_t len, void *arg);

/* Have fn change bytes in the file of changes, all of which are to be found there then. */
static int change(struct overlay *o, uint64_t off, uint64_t len, change_fn *fn, void *arg)
{
	int rc;

	if (!len)
		return 0;
	if (all_changed(o, off, len))
		return fn(o, off, len, arg);
	pthread_mutex_lock(&o->copying);
	rc = copy_edges(o, off, len);
	if (!rc)
		rc = fn(o, off, len, arg);
	for (uint64_t block = off / BLOCK; block * BLOCK < off + len && !rc; block++)
		set_changed(o, block);
	pthread_mutex_unlock(&o->copying);
	return rc;
}

struct buffers {
	struct iovec *iov;
	unsigned int n;
};

static int write_changes(struct overlay *o, uint64_t off, uint64_t len, void *arg)
{
	const struct buffers *b = arg;

	(void)len;
	return raw_transfer(o->changes, true, b->iov, b->n, off);
}

static int zero_changes(struct overlay *o, uint64_t off, uint64_t len, void *arg)
{
	(void)arg;
	/* The file is gone soon: nobody counts on its room. */
	return raw_zero(o->changes, DISK_UNMAP, off, len);
}

static int overlay_write(struct disk *d, unsigned int worker, struct iovec *iov, unsigned int n,
			 uint64_t off)
{
	struct buffers b = {iov, n};

	(void)worker;
	return change(overlay(d), off, total(iov, n), write_changes, &b);
}

/* Nobody will ever look for it after a crash. */
static int overlay_flush(struct disk *d, unsigned int worker)
{
	(void)d;
	(void)worker;
	return 0;
}

static int overlay_zero(struct disk *d, unsigned int worker, enum disk_op op, uint64_t off,
			uint64_t len)
{
	(void)worker;
	(void)op;
	return change(overlay(d), off, len, zero_changes, NULL);
}

/* --- saving ----------------------------------------------------------------------------------- */

static int overlay_image(const struct disk *d)
{
	return ((const struct overlay *)d)->image;
}

static size_t map_words(const struct overlay *o)
{
	return o->disk.size / BLOCK / WORD_BLOCKS + 1;
}

static uint64_t *overlay_changed(struct disk *d, size_t *words)
{
	struct overlay *o = overlay(d);
	uint64_t *map = calloc(map_words(o), sizeof(*map));

	*words = map_words(o);
	for (size_t i = 0; map && i < *words; i++)
		map[i] = o->changed[i] | (o->was_changed ? o->was_changed[i] : 0);
	return map;
}

static int overlay_save(struct disk *d,
			int (*put)(void *arg, const void *data, size_t len, uint64_t at), void *arg,
			uint64_t at)
{
	struct overlay *o = overlay(d);
	uint8_t bytes[BLOCK];
	int rc = 0;

	for (uint64_t block = 0; block * BLOCK < d->size && !rc; block++) {
		size_t len;

		if (!is_changed(o, block) && !was_changed(o, block))
			continue;
		rc = read_block(o, block, bytes, &len);
		if (!rc)
			rc = put(arg, bytes, len, at + block * BLOCK);
	}
	return rc;
}

/* --- life ------------------------------------------------------------------------------------ */

static void overlay_close(struct disk *d)
{
	struct overlay *o = overlay(d);

	if (o->image >= 0)
		close(o->image);
	if (o->changes >= 0)
		close(o->changes);
	if (o->before >= 0)
		close(o->before);
	free(o->was_changed);
	pthread_mutex_destroy(&o->copying);
	free(o->changed);
	free(o);
}

static const struct disk_ops overlay_ops = {
	.read = overlay_read,
	.write = overlay_write,
	.flush = overlay_flush,
	.zero = overlay_zero,
	.close = overlay_close,
	.image = overlay_image,
	.changed = overlay_changed,
	.save = overlay_save,
};

/* Not /tmp, which is memory on many hosts. */
static int open_changes(struct overlay *o, char *err, size_t errlen)
{
	const char *folder = getenv("TMPDIR");

	if (!folder || !*folder)
		folder = "/var/tmp";
	o->changes = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* As long as the disk, so that what is in no hole is in no gap behind the end either. */
	if (o->changes >= 0 && !ftruncate(o->changes, (off_t)o->disk.size))
		return 0;
	snprintf(err, errlen,
		 "cannot keep what the guest writes in %s: %s; name another folder with TMPDIR",
		 folder, strerror(errno));
	return -1;
}

/* What is known of it before is its map, of the disk's own size. */
static int open_before(struct overlay *o, const struct disk_changes *c)
{
	if (c->words != map_words(o))
		return -EINVAL;
	o->before = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);
	o->before_at = c->at;
	o->was_changed = malloc(c->words * sizeof(*c->map));
	if (o->before < 0 || !o->was_changed)
		return -ENOMEM;
	memcpy(o->was_changed, c->map, c->words * sizeof(*c->map));
	return 0;
}

struct disk *overlay_open(const struct disk_config *cfg, char *err, size_t errlen)
{
	struct overlay *o = calloc(1, sizeof(*o));

	if (!o) {
		snprintf(err, errlen, "no memory for a disk");
		return NULL;
	}
	o->disk.ops = &overlay_ops;
	o->changes = o->before = -1;
	pthread_mutex_init(&o->copying, NULL);
	o->image = raw_open_file(cfg, false, &o->disk.size, err, errlen);
	if (o->image < 0 || open_changes(o, err, errlen)) {
		overlay_close(&o->disk);
		return NULL;
	}
	o->changed = calloc(map_words(o), sizeof(*o->changed));
	if (o->changed && (!cfg->changes || !open_before(o, cfg->changes)))
		return &o->disk;
	snprintf(err, errlen, "no memory for what is changed of the disk %s", cfg->path);
	overlay_close(&o->disk);
	return NULL;
}
