/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workplace.h - a folder of a test's own, with programs in it that stand for those of others: $PATH
 * begins with it. For tests that include cmocka.h before it.
 */
#ifndef HVTRACE_TESTS_WORKPLACE_H
#define HVTRACE_TESTS_WORKPLACE_H

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char workplace[64];

/* A path in it, until the thread's next call but three. */
static inline const char *in_workplace(const char *name)
{
	static _Thread_local char path[4][PATH_MAX];
	static _Thread_local unsigned int n;
	char *to = path[n++ % 4];

	snprintf(to, PATH_MAX, "%s/%s", workplace, name);
	return to;
}

/* With the folders that it is in. */
static inline void put_bytes(const char *name, const void *bytes, size_t len)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s", in_workplace(name));
	for (char *at = path + strlen(workplace) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(path, 0700);
	}
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static inline void put_text(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static inline void put_program(const char *name, const char *text)
{
	put_text(name, text);
	assert_int_equal(chmod(in_workplace(name), 0700), 0);
}

static inline void search_only_there(void)
{
	setenv("PATH", workplace, 1);
}

static inline int remove_from_workplace(const char *path, const struct stat *st, int type,
					struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline int make_workplace(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(workplace, sizeof(workplace), "/tmp/hvtrace-image-XXXXXX");
	if (!mkdtemp(workplace))
		return -1;
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", workplace);
	return setenv("PATH", path, 1);
}

static inline int leave_workplace(void **state)
{
	(void)state;
	return nftw(workplace, remove_from_workplace, 16, FTW_DEPTH | FTW_PHYS);
}

/* How many things are in a folder of it. */
static inline unsigned int count_in(const char *name)
{
	DIR *d = opendir(in_workplace(name));
	struct dirent *e;
	unsigned int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

/* Something that comes true by itself, looked at for a minute. */
#define wait_until(condition)                                                                      \
	do {                                                                                       \
		unsigned int left_ = 6000;                                                         \
		while (!(condition) && left_--)                                                    \
			poll(NULL, 0, 10);                                                         \
		assert_true(condition);                                                            \
	} while (0)

/* A number that a program has written to a file there, once it has. */
static inline long number_in(const char *name)
{
	FILE *f = fopen(in_workplace(name), "re");
	long n = 0;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static inline bool is_gone(long pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

#endif
