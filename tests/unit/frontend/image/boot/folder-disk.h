/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folder-disk.h - a folder as a disk: its file "disk" has the kind of partition table, then a line
 * for each volume: partition, type, UUID and label. What is in a volume is in the folder that has
 * its number.
 */
#ifndef HVTRACE_TESTS_FOLDER_DISK_H
#define HVTRACE_TESTS_FOLDER_DISK_H

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/image/boot/boot.h"

struct folder_disk {
	char dir[PATH_MAX / 2];
	struct boot_volume volumes[8];
	struct boot_disk disk;
	unsigned int asked; /* how often */
	int error;	    /* -errno that each question gets; 0: none */
};

static inline int folder_path(struct folder_disk *f, unsigned int volume, const char *path,
			      char to[PATH_MAX])
{
	f->asked++;
	snprintf(to, PATH_MAX, "%s/%u%s", f->dir, volume, path);
	return f->error;
}

static inline int64_t folder_size(void *arg, unsigned int volume, const char *path)
{
	struct folder_disk *f = arg;
	char real[PATH_MAX];
	struct stat st;

	if (folder_path(f, volume, path, real))
		return f->error;
	return stat(real, &st) || !S_ISREG(st.st_mode) ? -ENOENT : st.st_size;
}

static inline int folder_read(void *arg, unsigned int volume, const char *path, size_t max,
			      struct text *to)
{
	int64_t size = folder_size(arg, volume, path);
	char real[PATH_MAX], *at;
	FILE *in;

	if (size < 0)
		return (int)size;
	if ((uint64_t)size > max)
		return -EFBIG;
	folder_path(arg, volume, path, real);
	in = fopen(real, "re");
	at = in ? text_begin(to, (size_t)size) : NULL;
	if (at)
		text_end(to, at + fread(at, 1, (size_t)size, in));
	if (in)
		fclose(in);
	return at ? 0 : -EIO;
}

static inline int folder_list(void *arg, unsigned int volume, const char *folder, struct text *to)
{
	char real[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if (folder_path(arg, volume, folder, real))
		return ((struct folder_disk *)arg)->error;
	d = opendir(real);
	if (!d)
		return -ENOENT;
	while ((e = readdir(d)))
		if (*e->d_name != '.')
			text_printf(to, "%s\n", e->d_name);
	closedir(d);
	return 0;
}

static const struct boot_disk_ops folder_ops = {folder_size, folder_read, folder_list};

/* False: there is no such disk. */
static inline bool folder_disk_open(struct folder_disk *f, const char *dir)
{
	char path[PATH_MAX], line[256];
	FILE *in;

	*f = (struct folder_disk){.disk = {.ops = &folder_ops, .arg = f, .volumes = f->volumes}};
	snprintf(f->dir, sizeof(f->dir), "%s", dir);
	snprintf(path, sizeof(path), "%s/disk", dir);
	in = fopen(path, "re");
	if (!in)
		return false;
	while (f->disk.nr_volumes < 8 && fgets(line, sizeof(line), in)) {
		struct boot_volume *v = &f->volumes[f->disk.nr_volumes];

		if (sscanf(line, "%u %31s %63s %127s", &v->partition, v->type, v->uuid, v->label) >=
		    3)
			f->disk.nr_volumes++;
	}
	fclose(in);
	return true;
}

#endif
