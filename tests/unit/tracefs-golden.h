/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs-golden.h - what tracefs of a 6.1 kernel was seen to have and to say (tests/data/
 * tracefs-6.1), row by row, and which rows are not for a trace of a made-up guest.
 */
#ifndef HVTRACE_TESTS_TRACEFS_GOLDEN_H
#define HVTRACE_TESTS_TRACEFS_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define GOLDEN_DATA "tests/data/tracefs-6.1"

/*
 * Files that there are not. Those of events need a kernel that has some:
 * tests/e2e/tracefs-conformance and others look at them.
 */
static const struct golden_absence {
	const char *glob, *why;
} golden_absent[] = {
	{"available_events", "events"},
	{"set_event*", "events"},
	{"events/enable", "events"},
	{"events/sched/*", "events"},
	{"events/ftrace/function/hist", "events"},
	{"dynamic_events", "events"},
	{"kprobe_*", "events"},
	{"synthetic_events", "events"},
	{"uprobe_*", "events"},
	{"options/blk_cg*", "events do not tell the control group"},
};

#define GOLDEN_NR(array) (sizeof(array) / sizeof((array)[0]))

static inline bool golden_offered(const char *path)
{
	for (size_t i = 0; i < GOLDEN_NR(golden_absent); i++)
		if (!fnmatch(golden_absent[i].glob, path, 0))
			return false;
	return true;
}

static inline FILE *golden_open(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), GOLDEN_DATA "/%s", name);
	f = fopen(path, "re");
	if (!f)
		fail_msg("cannot open %s", path);
	return f;
}

/* --- the listing --------------------------------------------------------------------------- */

/* mode: of a file that is there; 0: there must not be one. */
typedef void (*golden_listed)(void *arg, const char *path, mode_t mode);

/* "drwxr-x--- 750 [0:0 0] directory ./PATH"; the path of "." is "". NULL: no such line. */
static inline const char *golden_parse_listed(char *line, mode_t *mode)
{
	char *path = strrchr(line, ' '), *modes = strchr(line, ' ');

	if (!path || path[1] != '.' || modes == path)
		return NULL;
	*mode = (mode_t)strtoul(modes, NULL, 8) | (*line == 'd' ? S_IFDIR : S_IFREG);
	path[strcspn(path, "\n")] = '\0';
	return path + (path[2] == '/' ? 3 : 2);
}

static inline void golden_each_listed(const char *name, golden_listed check, void *arg)
{
	FILE *f = golden_open(name);
	unsigned int lines = 0;
	char line[256];
	mode_t mode = 0;

	while (fgets(line, sizeof(line), f)) {
		const char *path = golden_parse_listed(line, &mode);

		if (path)
			check(arg, path, golden_offered(path) ? mode : 0);
		else
			fail_msg("%s: no row: %s", name, line);
		lines++;
	}
	fclose(f);
	assert_true(lines > 20);
}

/* --- what files read ----------------------------------------------------------------------- */

typedef void (*golden_text)(void *arg, const char *path, const char *text);

static inline void golden_one_text(const char *file, const char *path, golden_text check, void *arg)
{
	FILE *f = fopen(file, "re");
	char text[16384];
	size_t len;

	assert_non_null(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	assert_true(len < sizeof(text) - 1);
	text[len] = '\0';
	fclose(f);
	check(arg, path, text);
}

/* path: within the directory of defaults, "" for all of it. How many files. */
static inline unsigned int golden_each_text(const char *path, golden_text check, void *arg)
{
	char dir[512], below[512], whole[1100];
	unsigned int files = 0;
	struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(dir, sizeof(dir), GOLDEN_DATA "/defaults/%s", path);
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", e->d_name);
		snprintf(whole, sizeof(whole), GOLDEN_DATA "/defaults/%s", below);
		assert_int_equal(stat(whole, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			files += golden_each_text(below, check, arg);
		} else {
			golden_one_text(whole, below, check, arg);
			files++;
		}
	}
	closedir(d);
	return files;
}

/* --- what is said to read, lseek and poll -------------------------------------------------- */

struct golden_read {
	char path[64];
	size_t len;
	const char *result; /* "-1 ENAME (...", or a number */
	bool seeks, ready;
};

/* FILE read(LENGTH) = RESULT ; lseek(0,SEEK_SET) = 0 or -1ESPIPE ; poll(POLLIN,0) = 0 or 1... */
static inline bool golden_parse_read(const char *line, struct golden_read *r)
{
	const char *call = strstr(line, " read("), *result = strstr(line, ") = ");
	const char *seek = strstr(line, "SEEK_SET) = "), *poll = strstr(line, "POLLIN,0) = ");

	if (!call || !result || !seek || !poll)
		return false;
	snprintf(r->path, sizeof(r->path), "%.*s", (int)(call - line), line);
	r->len = strtoul(call + 6, NULL, 10);
	r->result = result + 4;
	r->seeks = seek[12] == '0';
	r->ready = poll[12] == '1';
	return true;
}

static inline unsigned int golden_each_read(void (*check)(void *arg, const struct golden_read *r),
					    void *arg)
{
	FILE *f = golden_open("reads.txt");
	unsigned int rows = 0;
	char line[256];

	while (fgets(line, sizeof(line), f)) {
		struct golden_read r = {0};

		if (!golden_parse_read(line, &r)) {
			fail_msg("reads.txt: no row: %s", line);
			continue;
		}
		if (!golden_offered(r.path))
			continue;
		check(arg, &r);
		rows++;
	}
	fclose(f);
	return rows;
}

/* got: bytes, or -errno; as "-1 ENAME (...", or a number. */
static inline bool golden_same(const char *result, ssize_t got)
{
	const char *name = got < 0 ? strerrorname_np((int)-got) : "";
	size_t len = strlen(name);

	if (strncmp(result, "-1 ", 3) != 0)
		return got == strtol(result, NULL, 10);
	return len && !strncmp(result + 3, name, len) && result[3 + len] == ' ';
}

/* --- what is said to writes ---------------------------------------------------------------- */

struct golden_write {
	char path[64], flags[32], text[256], result[32];
	size_t len;
};

/* Rows about files that there are, of what that guest does not have. */
static const struct golden_later {
	const char *path, *text, *why;
} golden_later[] = {
	{"set_ftrace_filter", "*enable_event:sched:*", "events"},
};

static inline bool golden_write_offered(const struct golden_write *w)
{
	for (size_t i = 0; i < GOLDEN_NR(golden_later); i++)
		if (!strcmp(w->path, golden_later[i].path) &&
		    !fnmatch(golden_later[i].text, w->text, 0))
			return false;
	return golden_offered(w->path);
}

static inline size_t golden_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool line_end = from[0] == '\\' && from[1] == 'n';

		*to++ = line_end ? '\n' : *from;
		from += line_end;
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* Make a text that was cut as long as it was. False: it is not. */
static inline bool golden_fill(struct golden_write *w, bool cut)
{
	size_t len = golden_unescape(w->text);

	if (cut && len < w->len && w->len < sizeof(w->text)) {
		memset(w->text + len, 'x', w->len - len);
		len = w->len;
	}
	w->text[len] = '\0';
	return len == w->len;
}

/* FILE [FLAGS] write("TEXT", LENGTH) = RESULT; a long text was cut: "TEXT"..., LENGTH */
static inline bool golden_parse_write(char *line, struct golden_write *w)
{
	char *flags = strstr(line, " ["), *text = strstr(line, "] write(\""), *cut, *end, *result;

	end = text ? strstr(text, "\", ") : NULL;
	cut = text ? strstr(text, "\"..., ") : NULL;
	end = cut ? cut : end;
	result = end ? strstr(end, ") = ") : NULL;
	if (!flags || !result)
		return false;
	w->len = strtoul(end + (cut ? 6 : 3), NULL, 10);
	snprintf(w->path, sizeof(w->path), "%.*s", (int)(flags - line), line);
	snprintf(w->flags, sizeof(w->flags), "%.*s", (int)(text - flags - 2), flags + 2);
	snprintf(w->text, sizeof(w->text), "%.*s", (int)(end - text - 9), text + 9);
	snprintf(w->result, sizeof(w->result), "%s", result + 4);
	return golden_fill(w, cut) || !golden_write_offered(w);
}

static inline void golden_check_write(const struct golden_write *w, ssize_t got)
{
	if (!golden_same(w->result, got))
		fail_msg("%s [%s] write(\"%s\") gives %zd, not %s", w->path, w->flags, w->text, got,
			 w->result);
}

static inline int golden_flags(const struct golden_write *w)
{
	return O_WRONLY | (strstr(w->flags, "O_TRUNC") ? O_TRUNC : O_APPEND);
}

/* Those that are offered, in their order: they build on one another. How many. */
static inline unsigned int golden_each_write(void (*check)(void *arg, const struct golden_write *w),
					     void *arg)
{
	FILE *f = golden_open("writes.txt");
	unsigned int rows = 0;
	char line[512];

	while (fgets(line, sizeof(line), f)) {
		struct golden_write w = {0};

		if (!golden_parse_write(line, &w))
			fail_msg("writes.txt: no row: %s", line);
		if (!golden_write_offered(&w))
			continue;
		check(arg, &w);
		rows++;
	}
	fclose(f);
	return rows;
}

#endif
