/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs-golden.h - what tracefs of a 6.1 kernel was seen to have and to say (tests/data/
 * tracefs-6.1), row by row, and which rows are not for us (yet).
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

/* Files that there are not: what they need is not built yet. */
static const struct golden_absence {
	const char *glob, *why;
} golden_absent[] = {
	{"available_events", "events"},
	{"set_event*", "events"},
	{"events/enable", "events"},
	{"events/sched/*", "events"},
	{"events/ftrace/function/hist", "hist triggers"},
	{"dynamic_events", "dynamic events"},
	{"kprobe_*", "kprobes"},
	{"uprobe_*", "uprobes"},
	{"synthetic_events", "synthetic events"},
	{"options/funcgraph-*", "the function_graph tracer"},
	{"options/sleep-time", "the function_graph tracer"},
	{"options/blk_*", "the blk tracer"},
	{"stack_*", "the stack tracer"},
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

/* Each line: "drwxr-x--- 750 [0:0 0] directory ./PATH"; "" is the directory itself. */
static inline void golden_each_listed(const char *name, golden_listed check, void *arg)
{
	unsigned int mode, lines = 0;
	char line[256], kind[16];
	FILE *f = golden_open(name);

	while (fgets(line, sizeof(line), f)) {
		const char *path = strrchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!path || path[1] != '.' || sscanf(line, "%15s %o", kind, &mode) != 2)
			fail_msg("%s: no row: %s", name, line);
		path += path[2] == '/' ? 3 : 2;
		mode |= *kind == 'd' ? S_IFDIR : S_IFREG;
		check(arg, path, golden_offered(path) ? mode : 0);
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

/* --- what is said to writes ---------------------------------------------------------------- */

struct golden_write {
	char path[64], flags[32], text[256], result[32];
	size_t len;
};

/* Rows about files that there are, of things that are not built yet. */
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

/* FILE [FLAGS] write("TEXT", LENGTH) = RESULT; a long text was cut and ends with "... */
static inline void golden_parse_write(char *line, struct golden_write *w)
{
	char *text = strstr(line, "write(\""), *end = strstr(line, "\", "), *cut;
	int at = 0;

	cut = strstr(line, "\"..., ");
	if (cut)
		end = cut;
	if (!text || !end || sscanf(line, "%63s [%31[^]]]", w->path, w->flags) != 2)
		fail_msg("no row: %s", line);
	*end = '\0';
	snprintf(w->text, sizeof(w->text), "%s", text + 7);
	if (sscanf(end + (cut ? 6 : 3), "%zu) = %n", &w->len, &at) != 1 || !at)
		fail_msg("no row: %s", line);
	snprintf(w->result, sizeof(w->result), "%s", end + (cut ? 6 : 3) + at);
	at = (int)golden_unescape(w->text);
	while (cut && (size_t)at < w->len && (size_t)at < sizeof(w->text) - 1)
		w->text[at++] = 'x';
	w->text[at] = '\0';
	if ((size_t)at != w->len && golden_write_offered(w))
		fail_msg("a text of %d bytes is not %zu long", at, w->len);
}

/* What writing gave: the bytes taken, or -errno. The result is a number, or "-1 ENAME (...". */
static inline void golden_check_write(const struct golden_write *w, ssize_t got)
{
	const char *name = got < 0 ? strerrorname_np((int)-got) : "";
	char want[32] = "";

	if (sscanf(w->result, "-1 %31s", want) == 1 ? !strcmp(name, want) : got == atoi(w->result))
		return;
	fail_msg("%s [%s] write(\"%s\") gives %zd %s, not %s", w->path, w->flags, w->text, got,
		 name, w->result);
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

		golden_parse_write(line, &w);
		if (!golden_write_offered(&w))
			continue;
		check(arg, &w);
		rows++;
	}
	fclose(f);
	return rows;
}

#endif
