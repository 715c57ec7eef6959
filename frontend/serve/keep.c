// SPDX-License-Identifier: GPL-2.0-or-later
/* keep.c - see keep.h */
#include "frontend/serve/keep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define END	  ".dat"
#define PART	  ".dat.part"
#define FILES_MAX (1U << 20)

struct kept {
	char *path;
	char rule[64];
	uint64_t bytes;
	int64_t time_s;
	bool gone;
	enum keep_why why;
};

struct kept_files {
	struct kept *file;
	size_t nr, room;
	bool failed;
};

/* --- names --------------------------------------------------------------------------------------
 */

/* FNV-1a, for names that were not safe: two of them stay two. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619;
	return hash;
}

void keep_safe_name(char *to, size_t size, const char *name)
{
	bool changed = !*name || *name == '.' || strlen(name) + 10 > size;
	size_t n = 0;

	if (changed)
		to[n++] = '_';
	for (const char *c = name; *c && n + 10 < size; c++) {
		bool safe = isalnum((unsigned char)*c) || strchr("-_.:+@", *c);

		changed |= !safe;
		to[n++] = safe ? *c : '_';
	}
	to[n] = '\0';
	if (changed)
		snprintf(to + n, size - n, "-%08x", hash_of(name));
}

/* The length of STATE/GUEST/RULE, or -errno. */
static int name_rule(char path[KEEP_PATH_LEN], const char *state, const char *guest,
		     const char *rule)
{
	char folder[128];
	int len;

	keep_safe_name(folder, sizeof(folder), guest);
	len = snprintf(path, KEEP_PATH_LEN, "%s/%s", state, folder);
	if (len >= KEEP_PATH_LEN)
		return -ENAMETOOLONG;
	if (mkdir(path, 0750) && errno != EEXIST)
		return -errno;
	len = snprintf(path, KEEP_PATH_LEN, "%s/%s/%s", state, folder, rule);
	return len < KEEP_PATH_LEN ? len : -ENAMETOOLONG;
}

int keep_base(char path[KEEP_PATH_LEN], const char *state, const char *guest, const char *rule)
{
	int len = name_rule(path, state, guest, rule);

	if (len < 0)
		return len;
	return snprintf(path + len, KEEP_PATH_LEN - (size_t)len, END) < KEEP_PATH_LEN - len
		       ? 0
		       : -ENAMETOOLONG;
}

int keep_name(char path[KEEP_PATH_LEN], const char *state, const char *guest, const char *rule)
{
	int len = name_rule(path, state, guest, rule);
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	if (len < 0)
		return len;
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	return snprintf(path + len, KEEP_PATH_LEN - (size_t)len, ".%s" END, when) <
			       KEEP_PATH_LEN - len
		       ? 0
		       : -ENAMETOOLONG;
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

/* --- looking ------------------------------------------------------------------------------------
 */

/* False ends it. */
typedef bool found_fn(void *arg, int dir, const char *folder, const char *name);

static bool walk_folder(int state, const char *folder, found_fn *found, void *arg)
{
	int fd = openat(state, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool on = true;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	while (on && (entry = readdir(dir)))
		on = found(arg, dirfd(dir), folder, entry->d_name);
	closedir(dir);
	return on;
}

static int walk(const char *state, found_fn *found, void *arg)
{
	DIR *dir = opendir(state);
	const struct dirent *entry;
	bool on = true;

	if (!dir)
		return -errno;
	while (on && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			on = walk_folder(dirfd(dir), entry->d_name, found, arg);
	closedir(dir);
	return 0;
}

struct search {
	const char *state;
	struct kept_files *files;
	void (*tell)(void *arg, const char *path);
	void *arg;
};

static struct kept *new_file(struct kept_files *f)
{
	struct kept *more;

	if (f->nr == f->room) {
		more = f->room < FILES_MAX
			       ? reallocarray(f->file, f->room ? 2 * f->room : 64, sizeof(*f->file))
			       : NULL;
		if (!more)
			return NULL;
		f->file = more;
		f->room = f->room ? 2 * f->room : 64;
	}
	return &f->file[f->nr];
}

static bool take_file(void *arg, int dir, const char *folder, const char *name)
{
	const struct search *s = arg;
	struct kept *to;
	struct stat st;

	if (!ends_with(name, END) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return true;
	to = new_file(s->files);
	if (to) {
		*to = (struct kept){.bytes = (uint64_t)st.st_blocks * 512,
				    .time_s = st.st_mtim.tv_sec};
		snprintf(to->rule, sizeof(to->rule), "%.*s", (int)strcspn(name, "."), name);
		if (asprintf(&to->path, "%s/%s/%s", s->state, folder, name) < 0)
			to = NULL;
	}
	s->files->nr += to != NULL;
	s->files->failed |= !to;
	return to;
}

/* Nobody knows of what cannot be opened, by want of descriptors for one, whether it is. */
static bool is_locked(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd < 0 ? errno != ENOENT : flock(fd, LOCK_EX | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Its recorder was killed before there was anything in it: what it had made goes. */
static bool was_nothing_recorded(int dir, const char *part)
{
	char name[NAME_MAX + 1];
	struct stat st;

	snprintf(name, sizeof(name), "%.*s", (int)(strlen(part) - strlen(".part")), part);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ? errno != ENOENT
							 : !S_ISREG(st.st_mode) || st.st_size)
		return false;
	if (is_locked(dir, name))
		return true;
	unlinkat(dir, name, 0);
	unlinkat(dir, part, 0);
	return true;
}

/* "FILE.dat.part" is there until FILE.dat is whole. */
static bool take_unfinished(void *arg, int dir, const char *folder, const char *name)
{
	const struct search *s = arg;
	char path[KEEP_PATH_LEN];
	int len;

	if (!ends_with(name, PART) || is_locked(dir, name))
		return true;
	if (was_nothing_recorded(dir, name))
		return true;
	len = snprintf(path, sizeof(path), "%s/%s/%.*s", s->state, folder,
		       (int)(strlen(name) - strlen(".part")), name);
	if (len < (int)sizeof(path))
		s->tell(s->arg, path);
	return true;
}

int keep_find_unfinished(const char *state, void (*tell)(void *arg, const char *path), void *arg)
{
	struct search s = {.state = state, .tell = tell, .arg = arg};

	return walk(state, take_unfinished, &s);
}

/* --- removing -----------------------------------------------------------------------------------
 */

static int by_time(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->time_s != y->time_s ? (x->time_s > y->time_s) - (x->time_s < y->time_s)
				      : strcmp(x->path, y->path);
}

/* Somebody may have removed it, or be recording to it. */
static int remove_file(struct kept *f, enum keep_why why)
{
	if (is_locked(AT_FDCWD, f->path))
		return -EBUSY;
	if (unlink(f->path) && errno != ENOENT)
		return -errno;
	f->gone = true;
	f->why = why;
	return 0;
}

static bool is_about(const struct keep_limit *limit, const struct kept *f)
{
	return !limit->rule || !strcmp(limit->rule, f->rule);
}

static int apply(const struct keep_limit *limit, struct kept_files *f)
{
	int64_t oldest = limit->age_s ? (int64_t)time(NULL) - limit->age_s : INT64_MIN;
	uint64_t bytes = 0;
	int rc = 0, one;

	for (size_t i = 0; i < f->nr; i++)
		if (!f->file[i].gone && is_about(limit, &f->file[i]))
			bytes += f->file[i].bytes;
	for (size_t i = 0; i < f->nr; i++) {
		struct kept *k = &f->file[i];
		bool much = limit->bytes && bytes > limit->bytes;

		if (k->gone || !is_about(limit, k) || (!much && k->time_s >= oldest))
			continue;
		one = remove_file(k, much ? KEEP_FOR_DISK : KEEP_FOR_AGE);
		if (!one)
			bytes -= k->bytes;
		else if (one != -EBUSY)
			rc = one;
	}
	return rc;
}

static void count(const struct keep_limit *limit, const struct kept_files *f,
		  struct keep_result *result)
{
	*result = (struct keep_result){0};
	for (size_t i = 0; i < f->nr; i++) {
		const struct kept *k = &f->file[i];

		if (!is_about(limit, k))
			continue;
		if (k->gone) {
			result->removed[k->why]++;
			continue;
		}
		result->bytes += k->bytes;
		result->files++;
	}
}

int keep_within(const char *state, const struct keep_limit *limits, size_t nr,
		struct keep_result *result)
{
	struct kept_files files = {0};
	struct search s = {.state = state, .files = &files};
	int rc = walk(state, take_file, &s), one;

	if (files.failed)
		rc = -ENOMEM;
	if (files.nr)
		qsort(files.file, files.nr, sizeof(*files.file), by_time);
	for (size_t i = 0; i < nr; i++) {
		one = apply(&limits[i], &files);
		rc = rc ? rc : one;
	}
	for (size_t i = 0; i < nr; i++)
		count(&limits[i], &files, &result[i]);
	for (size_t i = 0; i < files.nr; i++)
		free(files.file[i].path);
	free(files.file);
	return rc;
}
