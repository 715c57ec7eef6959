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

/* The same, of a size that makes sense, which is used once more. */
static int use_file(int dir, const char *name, const char *suffix, struct stat *st)
{
	int fd = open_file(dir, name, suffix, st);

	if (fd < 0)
		return -ENOENT;
	if (st->st_size > 0 && (uint64_t)st->st_size <= IMAGE_MAX_UNPACKED) {
		futimens(fd, NULL); /* cache_prune() removes what was not used for long */
		return fstat(fd, st) ? -ENOENT : fd;
	}
	close(fd);
	return -ENOENT;
}

static int read_digest(int dir, const char *name, struct blob *b)
{
	struct stat st;
	int fd = use_file(dir, name, ".digest", &st), err = fd < 0 ? fd : blob_read(b, fd, &st);

	if (fd >= 0)
		close(fd);
	return err ? -ENOENT : 0;
}

static int open_image(int dir, const char *name, struct cached *c)
{
	c->fd = use_file(dir, name, ".elf", &c->st);
	return c->fd < 0 || blob_alloc(&c->elf, (size_t)c->st.st_size) ? -ENOENT : 0;
}

static void *fetch(void *arg)
{
	struct cached *c = arg;

	c->good = !blob_fill(&c->elf, c->fd, &c->st) && hash64(c->elf.data, c->elf.len) == c->hash;
	close(c->fd);
	return NULL;
}

/* Another thread gets the image: that takes as long as taking over the digest does. */
int cached_open(struct cached *c, const struct stat *st)
{
	char source[CACHE_NAME_LEN], name[CACHE_NAME_LEN];
	int dir = cache_dir(false);
	int err = -ENOENT;
	ssize_t n;

	*c = (struct cached){.fd = -1};
	if (dir < 0)
		return err;
	cache_source_name(source, st);
	n = readlinkat(dir, source, name, sizeof(name) - 1);
	if (n > 0) {
		name[n] = 0;
		if (!cache_name_to_hash(name, &c->hash))
			err = read_digest(dir, name, &c->digest);
		if (!err)
			err = open_image(dir, name, c);
	}
	close(dir);
	if (!err && pthread_create(&c->checker, NULL, fetch, c))
		err = -ENOENT;
	if (err) {
		if (c->fd >= 0)
			close(c->fd);
		blob_free(&c->elf);
		blob_free(&c->digest);
	}
	return err;
}

bool cached_check(struct cached *c)
{
	pthread_join(c->checker, NULL);
	return c->good;
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
