/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache-dir.h - a cache directory of a fuzz target's own, in memory, with what is sound: an image,
 * what the cache has of it, and a directory outside of which nothing may change.
 */
#ifndef HVTRACE_TESTS_CACHE_DIR_H
#define HVTRACE_TESTS_CACHE_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "guestsym/digest.h"
#include "tests/unit/made-image.h"
#include "tests/unit/remove-tree.h"

#define SHM	 "/dev/shm"
#define OWN_NAME "fuzz-cache-"

struct bytes {
	uint8_t *v;
	size_t len;
};

/* The directory, and all that is sound. */
static struct {
	char root[40], image[64], dir[64], outside[64];
	char name[CACHE_NAME_LEN], source[CACHE_NAME_LEN]; /* of the image in the cache; the link */
	struct bytes elf, digest;
	struct guestsym *gs; /* of the image alone */
} sound;

static char base[PATH_MAX]; /* in the environment */

static void at(char path[PATH_MAX], const char *dir, const char *name, const char *suffix)
{
	snprintf(path, PATH_MAX, "%s/%s%s", dir, name, suffix);
}

static struct bytes take(const char *path)
{
	FILE *f = fopen(path, "re");
	struct bytes b = {malloc(1 << 20), 0};

	if (!f || !b.v)
		abort();
	b.len = fread(b.v, 1, 1 << 20, f);
	fclose(f);
	return b;
}

static void put_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		      0600);

	if (fd < 0)
		return;
	if (write(fd, bytes, len) < 0 && len)
		abort();
	close(fd);
}

static struct bytes copy_of(const struct bytes *b)
{
	struct bytes copy = {malloc(b->len + 1), b->len};

	if (!copy.v)
		abort();
	memcpy(copy.v, b->v, b->len);
	return copy;
}

/* Its checksum is right, and so is its length. */
static void seal(struct bytes *digest)
{
	struct digest_header h;

	if (digest->len < sizeof(h))
		return;
	memcpy(&h, digest->v, sizeof(h));
	h.size = digest->len;
	memcpy(digest->v, &h, sizeof(h));
	h.hash = hash64(digest->v + DIGEST_HASHED_FROM, digest->len - DIGEST_HASHED_FROM);
	memcpy(digest->v, &h, sizeof(h));
}

/* In place: the C library keeps what is given to setenv(). */
static void set_base(const char *dir, const char *below)
{
	snprintf(base, sizeof(base), "XDG_CACHE_HOME=%s%s", dir, below);
}

static void put_links(void)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/link", sound.root);
	snprintf(target, sizeof(target), "%s/cache", sound.root);
	if (symlink(target, path))
		abort();
	snprintf(path, sizeof(path), "%s/loop", sound.root);
	if (symlink(path, path))
		abort();
}

/* All but the image is made anew. */
static void make_tree(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cache", sound.root);
	remove_tree(path);
	mkdir(path, 0700);
	set_base(path, "");
	snprintf(path, sizeof(path), "%s/cache/hvtrace", sound.root);
	mkdir(path, 0700);
	mkdir(sound.dir, 0700);
	remove_tree(sound.outside);
	mkdir(sound.outside, 0700);
	at(path, sound.outside, "file", "");
	put_file(path, "what is outside", 15);
	at(path, sound.outside, sound.name, ".elf");
	put_file(path, sound.elf.v, sound.elf.len);
	at(path, sound.outside, sound.name, ".digest");
	put_file(path, sound.digest.v, sound.digest.len);
}

static void write_image(void)
{
	static const uint8_t call[5] = {0xe8};
	static struct made_image m;
	static uint8_t packed[1 << 18];
	size_t elf_len, len, n;
	uint8_t *elf, *file;

	made_init(&m);
	made_function(&m, "one", 0x300, call, sizeof(call));
	made_function(&m, "two", 0x400, call, sizeof(call));
	elf = made_kernel(&m, MADE_DEBIAN, &elf_len);
	n = ZSTD_compress(packed, sizeof(packed), elf, elf_len, 3);
	file = made_bzimage(packed, n, elf_len, &len);
	put_file(sound.image, file, len);
	free(file);
	free(elf);
}

/* What the cache has of the image when nobody has tampered with it. */
static void learn(void)
{
	char path[PATH_MAX], err[256];
	struct stat st;
	struct bytes again;
	ssize_t n;

	sound.gs = guestsym_open(NULL, sound.image, GUESTSYM_FL_NOCACHE, err, sizeof(err));
	guestsym_close(guestsym_open(NULL, sound.image, 0, err, sizeof(err)));
	if (!sound.gs || stat(sound.image, &st))
		abort();
	cache_source_name(sound.source, &st);
	at(path, sound.dir, sound.source, "");
	n = readlink(path, sound.name, sizeof(sound.name) - 1);
	if (n < 0)
		abort();
	at(path, sound.dir, sound.name, ".elf");
	sound.elf = take(path);
	at(path, sound.dir, sound.name, ".digest");
	sound.digest = take(path);
	again = copy_of(&sound.digest);
	seal(&again);
	/* Otherwise no digest that lies would get past its checksum. */
	if (memcmp(again.v, sound.digest.v, sound.digest.len) != 0)
		abort();
	free(again.v);
}

/* What belongs to processes that are no more: one that has found something, or is told to go,
 * leaves it. */
static void remove_those_left(void)
{
	DIR *d = opendir(SHM);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];
		long pid = strncmp(e->d_name, OWN_NAME, strlen(OWN_NAME))
				   ? 0
				   : strtol(e->d_name + strlen(OWN_NAME), NULL, 10);

		if (pid <= 0 || !kill((pid_t)pid, 0))
			continue;
		at(path, SHM, e->d_name, "");
		remove_tree(path);
	}
	if (d)
		closedir(d);
}

static void clean_up(void)
{
	remove_tree(sound.root);
}

/* To be called once. */
static void cache_dir_make(void)
{
	remove_those_left();
	snprintf(sound.root, sizeof(sound.root), SHM "/" OWN_NAME "%d", getpid());
	if (mkdir(sound.root, 0700))
		abort();
	atexit(clean_up);
	snprintf(sound.image, sizeof(sound.image), "%s/vmlinuz", sound.root);
	snprintf(sound.dir, sizeof(sound.dir), "%s/cache/hvtrace/images", sound.root);
	snprintf(sound.outside, sizeof(sound.outside), "%s/outside", sound.root);
	put_links();
	make_tree();
	putenv(base);
	write_image();
	learn();
}

#endif
