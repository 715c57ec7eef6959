// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache.c - unpacked images, kept so that the next start need not unpack them.
 *
 * $XDG_CACHE_HOME/hvtrace/images (or ~/.cache/..., see cache-dir.c), private to the user, holds
 *
 *   <file>-<hash64 of the image>.elf      the unpacked image; <file> has the same numbers as
 *   <file>-<hash64 of the image>.digest   what was found in it
 *   <dev>-<inode>-<size>-<mtime>-<ctime>  a link with the name (without .elf) of what was unpacked
 *                                         from that file
 *
 * Files with the same image do not share it: who takes over what parses one of them would have a
 * say in what is known of the other.
 *
 * An image that does not have the hash of its name is not used. What passes is read with the same
 * checks as any other image: a cache that somebody tampered with can do no more than a bad kernel.
 */
#include "guestsym/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of the cache's own, as nothing else in its place is read. */
static int open_file(int dir, const char *name, const char *suffix, struct stat *st)
{
	char file[CACHE_NAME_LEN + 8];
	int fd;

	snprintf(file, sizeof(file), "%s%s", name, suffix);
	fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

/* The same, of a size that makes sense, which is used once more; there is room for it. */
static int use_file(int dir, const char *name, const char *suffix, struct blob *b)
{
	struct stat st;
	int fd = open_file(dir, name, suffix, &st);

	if (fd < 0)
		return -ENOENT;
	futimens(fd, NULL); /* cache_prune() removes what was not used for long */
	if (st.st_size > 0 && (uint64_t)st.st_size <= IMAGE_MAX_UNPACKED &&
	    !blob_alloc(b, (size_t)st.st_size))
		return fd;
	close(fd);
	return -ENOENT;
}

static int read_digest(int dir, const char *name, struct blob *b)
{
	int fd = use_file(dir, name, ".digest", b), err = fd < 0 ? fd : blob_fill(b, fd);

	if (fd >= 0)
		close(fd);
	return err ? -ENOENT : 0;
}

static void fetch(struct cached *c)
{
	c->good = !blob_fill(&c->elf, c->fd) && hash64(c->elf.data, c->elf.len) == c->hash;
	close(c->fd);
	c->fd = -1;
}

static void *run_fetch(void *arg)
{
	fetch(arg);
	return NULL;
}

static int open_both(struct cached *c, const struct stat *st)
{
	char name[CACHE_NAME_LEN];
	int dir = cache_dir(false);
	int err = -ENOENT;
	ssize_t n;

	if (dir < 0)
		return err;
	cache_source_name(c->source, st);
	n = readlinkat(dir, c->source, name, sizeof(name) - 1);
	if (n > 0) {
		name[n] = 0;
		if (!cache_name_to_hash(name, &c->hash))
			err = read_digest(dir, name, &c->digest);
		if (!err)
			c->fd = use_file(dir, name, ".elf", &c->elf);
		if (!err && c->fd < 0)
			err = -ENOENT;
	}
	close(dir);
	return err;
}

/* Another thread gets the image: that takes as long as taking over the digest does. */
int cached_open(struct cached *c, const struct stat *st, bool later)
{
	int err;

	*c = (struct cached){.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
	err = open_both(c, st);
	if (!err && !later)
		c->fetching = !pthread_create(&c->fetcher, NULL, run_fetch, c);
	if (!err)
		return 0;
	cached_close(c);
	blob_free(&c->elf);
	blob_free(&c->digest);
	return err;
}

/* Whoever opens it next does without. */
static void forget(const struct cached *c)
{
	int dir = cache_dir(false);

	if (dir < 0)
		return;
	unlinkat(dir, c->source, 0);
	close(dir);
}

bool cached_check(struct cached *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->fetching)
		pthread_join(c->fetcher, NULL);
	else if (c->fd >= 0)
		fetch(c);
	c->fetching = false;
	if (!c->good && !c->told) {
		c->told = true;
		forget(c);
	}
	pthread_mutex_unlock(&c->lock);
	return c->good;
}

void cached_close(struct cached *c)
{
	if (c->fetching)
		pthread_join(c->fetcher, NULL);
	if (c->fd >= 0)
		close(c->fd);
	pthread_mutex_destroy(&c->lock);
}

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= n;
	}
	return 0;
}

/* Readers see the whole file or none. */
static int write_file(int dir, const char *name, const char *suffix, const char *tmp,
		      const struct blob *b)
{
	int fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	char file[CACHE_NAME_LEN + 8];
	int err;

	if (fd < 0)
		return -errno;
	snprintf(file, sizeof(file), "%s%s", name, suffix);
	err = write_all(fd, b->data, b->len);
	if (close(fd) || err || renameat(dir, tmp, dir, file)) {
		unlinkat(dir, tmp, 0);
		return -EIO;
	}
	return 0;
}

static void write_link(int dir, const char *name, const char *tmp, const char *target)
{
	if (symlinkat(target, dir, tmp))
		return;
	if (renameat(dir, tmp, dir, name))
		unlinkat(dir, tmp, 0);
}

void cached_store(const struct stat *st, const struct blob *elf, const struct blob *digest)
{
	char source[CACHE_NAME_LEN], name[CACHE_NAME_LEN], tmp[CACHE_NAME_LEN];
	int dir = cache_dir(true);

	if (dir < 0)
		return;
	cache_temporary_name(tmp);
	cache_image_name(name, st, hash64(elf->data, elf->len));
	cache_source_name(source, st);
	if (!write_file(dir, name, ".elf", tmp, elf) &&
	    !write_file(dir, name, ".digest", tmp, digest))
		write_link(dir, source, tmp, name);
	cache_prune(dir);
	close(dir);
}
