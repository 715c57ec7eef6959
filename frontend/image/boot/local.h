/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - for the files in here: what they ask of a disk, and texts. */
#ifndef HVTRACE_FRONTEND_IMAGE_BOOT_LOCAL_H
#define HVTRACE_FRONTEND_IMAGE_BOOT_LOCAL_H

#include "frontend/image/boot/boot.h"

struct boot_why {
	char *err;
	size_t len;
};

/*
 * A kind of configuration. 0: its default is in e; -ENOENT with no line in why: there is none of
 * that kind; anything else ends the search, with a line.
 */
struct boot_kind {
	const char *loader;
	int (*find)(const struct boot_disk *disk, struct boot_entry *e, const struct boot_why *why);
};

int boot_find_systemd(const struct boot_disk *disk, struct boot_entry *e,
		      const struct boot_why *why);
int boot_find_grub(const struct boot_disk *disk, struct boot_entry *e, const struct boot_why *why);
int boot_find_syslinux(const struct boot_disk *disk, struct boot_entry *e,
		       const struct boot_why *why);
int boot_find_newest(const struct boot_disk *disk, struct boot_entry *e,
		     const struct boot_why *why);

/* A line for why; gives ret. */
int boot_fail(const struct boot_why *why, int ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- the disk -------------------------------------------------------------------------------- */

/* The size of a regular file; -ENOENT also for a path that is too long or no path at all. */
int64_t boot_size(const struct boot_disk *disk, const struct boot_file *f);
/* A file of configuration, ended by a 0 that is not counted. */
int boot_read(const struct boot_disk *disk, const struct boot_file *f, struct text *to);
/*
 * The names in a folder that end like that, as strings behind each other: for boot_next(). None,
 * if there is no such folder.
 */
int boot_list(const struct boot_disk *disk, const struct boot_file *folder, const char *ending,
	      struct text *to);
/* The next one of them, "" before the first: NULL behind the last. */
const char *boot_next(const struct text *names, const char *name);

/* --- paths and strings ----------------------------------------------------------------------- */

/*
 * The path behind the folder, if it is not absolute itself: without //, . and .. in it. -ENOENT: it
 * is too long, or has control characters.
 */
int boot_path(struct boot_file *f, unsigned int volume, const char *folder, const char *path);
/* The folder that a file is in: "/" or without a slash at its end. */
void boot_folder_of(const struct boot_file *f, char folder[BOOT_PATH_MAX]);
/* As much of it as there is room for, and a 0. */
void boot_copy(char *to, size_t size, const char *from, size_t len);
/* What is too long is cut, and control characters are spaces. */
void boot_set_title(struct boot_entry *e, const char *title);
/*
 * One more word of a command line, and a space before it where there is a word; control characters
 * are spaces. False: too long.
 */
bool boot_add_word(char *cmdline, size_t size, const char *word, size_t len);
/* One more initrd. False: there are too many. */
bool boot_add_initrd(struct boot_entry *e, const struct boot_file *f);
/*
 * Which of two versions is newer: <0 the first is older, 0 they are the same, >0 it is newer. The
 * order of the UAPI group's version format specification.
 */
int boot_version_compare(const char *a, const char *b);

/* --- lines of the form KEY VALUE ---------------------------------------------------------------
 */

struct boot_line {
	const char *key, *value; /* strings: within the text, which is changed */
};

/* The next line of a text with a key in it, from *at on. False: there is none any more. */
bool boot_next_line(char **at, struct boot_line *line);

#endif
