/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache-tamper.h - what an input of a fuzz target does to the cache of cache-dir.h: names, links,
 * sizes, owners, what is in images and digests, their checksums made right again, and many entries
 * that look like the cache's own.
 */
#ifndef HVTRACE_TESTS_CACHE_TAMPER_H
#define HVTRACE_TESTS_CACHE_TAMPER_H

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guestsym/digest.h"
#include "tests/fuzz/cache-dir.h"
#include "tests/fuzz/input.h"

enum {
	NAME_ROOM = 300,
	MANY = 256, /* entries that one byte of an input makes */
	MANY_MAX = 3,
};

/* What an input has made of it. */
static struct {
	struct input in;
	struct bytes elf, digest;
	bool lies;  /* a checksum may be right although what it is of is not */
	bool moved; /* it may be another directory, or one that is not used */
	unsigned int many;
} now;

static void some_text(char *to, size_t room)
{
	size_t len = input_byte(&now.in) % 40, n = 0;

	while (n < len && n + 1 < room) {
		char c = (char)input_byte(&now.in);

		to[n++] = c && c != '/' ? c : '-';
	}
	to[n] = '\0';
}

/* One that the cache has, one like it, or any other. */
static void some_name(char name[NAME_ROOM])
{
	static const char *const suffixes[] = {".elf", ".digest", "", ".elf.", ".ELF", ".tmp"};
	uint8_t kind = input_byte(&now.in);
	unsigned int n = input_byte(&now.in);
	char text[48];

	some_text(text, sizeof(text));
	switch (kind % 6) {
	case 0:
		snprintf(name, NAME_ROOM, "%s%s", sound.name, suffixes[n % 6]);
		break;
	case 1:
		snprintf(name, NAME_ROOM, "%x%s-%016x%s", n, text, n * 77, suffixes[n % 6]);
		break;
	case 2:
		snprintf(name, NAME_ROOM, "tmp-%u-%x.%09u%s", n, n, n, text);
		break;
	case 3:
		snprintf(name, NAME_ROOM, "%x-%x-%x-%x.%09u-%x.%09u%s", n, n, n, n, n, n, n, text);
		break;
	case 4:
		snprintf(name, NAME_ROOM, "%s", sound.source);
		break;
	default:
		snprintf(name, NAME_ROOM, "x%s", text);
	}
}

static void age(const char *path)
{
	struct timespec times[2] = {{.tv_sec = input_u16(&now.in)}, {.tv_sec = 0}};

	times[1] = times[0];
	utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static void put_link(const char *path)
{
	char target[PATH_MAX], text[48];
	uint8_t kind = input_byte(&now.in);

	some_text(text, sizeof(text));
	if (kind % 4 == 0)
		snprintf(target, sizeof(target), "%s/file", sound.outside);
	else if (kind % 4 == 1)
		snprintf(target, sizeof(target), "../../../outside/%s", sound.name);
	else if (kind % 4 == 2)
		snprintf(target, sizeof(target), "%.60s-%016x", text, input_u16(&now.in));
	else
		snprintf(target, sizeof(target), "%s", text[0] ? text : path);
	if (symlink(target, path))
		return;
}

static void put_entry(const char *name)
{
	char path[PATH_MAX];

	at(path, sound.dir, name, "");
	if (input_byte(&now.in) & 1 && remove(path))
		return;
	switch (input_byte(&now.in) % 6) {
	case 0:
		mkdir(path, 0700);
		break;
	case 1:
		mkfifo(path, 0600);
		break;
	case 2:
	case 3:
		put_link(path);
		break;
	default:
		put_file(path, "text", input_byte(&now.in) % 5);
	}
	age(path);
	if (input_byte(&now.in) > 240 && lchown(path, 1, 1))
		return;
}

static void put_many(void)
{
	uint8_t kind = input_byte(&now.in);

	if (now.many++ == MANY_MAX)
		return;
	for (unsigned int i = 0; i < MANY; i++) {
		char name[NAME_ROOM], path[PATH_MAX];
		unsigned int n = now.many * MANY + i;

		snprintf(name, sizeof(name),
			 kind & 1   ? "%x-%016x.elf"
			 : kind & 2 ? "%x-%016x.digest"
			 : kind & 4 ? "tmp-%u-%x.1"
			 : kind & 8 ? "%x-%x-1-1.1-1.1"
				    : "%x-%x",
			 n, n);
		at(path, sound.dir, name, "");
		if (kind & 16 && !(kind & 7) && symlink(sound.name, path))
			return;
		put_file(path, "", 0);
	}
}

static void damage(struct bytes *b)
{
	size_t pos = input_u16(&now.in), n = input_byte(&now.in);

	if (n >= 240) {
		/* As long as memory for it. */
		b->len = pos % (b->len + 1);
		return;
	}
	for (n %= 8; n != SIZE_MAX && b->len; n--)
		b->v[pos++ % b->len] = input_byte(&now.in);
}

/* A number in the header or in one of the parts: as small or large as it gets, or nearly as it was.
 */
static void change_number(struct bytes *b)
{
	size_t pos = input_byte(&now.in) & 1 ? input_byte(&now.in) : input_u16(&now.in);
	uint8_t how = input_byte(&now.in), by = input_byte(&now.in);
	uint64_t v;

	pos = pos * 8 % (b->len + 1);
	if (b->len - pos < sizeof(v))
		return;
	memcpy(&v, b->v + pos, sizeof(v));
	switch (how % 6) {
	case 0:
		v = by;
		break;
	case 1:
		v += by;
		break;
	case 2:
		v -= by;
		break;
	case 3:
		v = ~(uint64_t)by;
		break;
	case 4:
		v ^= UINT64_C(1) << by % 64;
		break;
	default:
		v = v << 32 | v >> 32;
	}
	memcpy(b->v + pos, &v, sizeof(v));
}

static void move_cache(void)
{
	static const char *const bases[] = {"/cache",	 "/cache/../cache", "/link",
					    "/loop",	 "/outside",	    "/missing/cache",
					    "",		 "/cache/hvtrace",  "/link/../x",
					    "/cache//./"};
	uint8_t which = input_byte(&now.in);

	now.moved = true;
	if (which > 200)
		chmod(sound.dir, which & 1 ? 0755 : 0700);
	set_base(which < 250 ? sound.root : "", bases[which % 10]);
}

static void act(void)
{
	char name[NAME_ROOM];

	switch (input_byte(&now.in) % 8) {
	case 0:
		damage(&now.digest);
		break;
	case 1:
		change_number(&now.digest);
		break;
	case 2:
		damage(&now.elf);
		break;
	case 3:
		seal(&now.digest);
		now.lies = true;
		break;
	case 4:
	case 5:
		some_name(name);
		put_entry(name);
		break;
	case 6:
		put_many();
		break;
	default:
		move_cache();
	}
}

/* The image and its digest, under the name that its content has when that is to be right. */
static void put_image(bool right)
{
	char path[PATH_MAX], name[CACHE_NAME_LEN];

	snprintf(name, sizeof(name), "%s", sound.name);
	if (right)
		snprintf(name, sizeof(name), "ab-%016" PRIx64, hash64(now.elf.v, now.elf.len));
	at(path, sound.dir, name, ".elf");
	put_file(path, now.elf.v, now.elf.len);
	at(path, sound.dir, name, ".digest");
	put_file(path, now.digest.v, now.digest.len);
	at(path, sound.dir, sound.source, "");
	if (right)
		unlink(path);
	if (symlink(name, path))
		return;
}

#endif
