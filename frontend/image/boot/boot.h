/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot.h - what the boot loader of a disk would start by default, by its configuration.
 *
 * All that is on the disk may be of anybody's making. It is looked at through a struct boot_disk,
 * whose owner reads file systems; in here are only texts.
 */
#ifndef HVTRACE_FRONTEND_IMAGE_BOOT_BOOT_H
#define HVTRACE_FRONTEND_IMAGE_BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/tracer.h"

#define BOOT_CONFIG_MAX	 (UINT64_C(1) << 20) /* bytes of a file of configuration */
#define BOOT_VOLUMES_MAX 64
#define BOOT_INITRDS_MAX 16
#define BOOT_PATH_MAX	 1024
#define BOOT_CMDLINE_MAX 4096 /* the kernel takes half of that */

/* A file system of the disk. */
struct boot_volume {
	char device[160];	/* as the reader calls it */
	char type[32];		/* ext4, vfat, ... */
	char uuid[64];		/* "": not known */
	char label[128];	/* likewise */
	char subvolume[128];	/* of btrfs, without a slash at its ends; "": it is not one */
	unsigned int partition; /* its number in the partition table; 0: it is in none */
};

/*
 * How the owner of a disk reads it. Paths are absolute, from the top of the volume; symbolic links
 * are followed within it. -ENOENT: there is no such thing; any other -errno ends the search.
 */
struct boot_disk_ops {
	/* The size of a regular file. */
	int64_t (*size)(void *arg, unsigned int volume, const char *path);
	/* All of it, which is an error (-EFBIG) beyond max. */
	int (*read)(void *arg, unsigned int volume, const char *path, size_t max, struct text *to);
	/* The names in a folder, each ended by '\n'. */
	int (*list)(void *arg, unsigned int volume, const char *folder, struct text *to);
};

struct boot_disk {
	const struct boot_disk_ops *ops;
	void *arg;
	const struct boot_volume *volumes;
	unsigned int nr_volumes;
};

struct boot_file {
	unsigned int volume;
	char path[BOOT_PATH_MAX];
};

struct boot_entry {
	const char *loader; /* whose configuration that was; static */
	char title[256];
	struct boot_file source; /* which file said so; with an empty path: none did */
	struct boot_file kernel;
	struct boot_file initrd[BOOT_INITRDS_MAX]; /* loaded behind each other */
	unsigned int nr_initrds;
	char cmdline[BOOT_CMDLINE_MAX];
};

/*
 * The entry that is started when nobody touches a key. 0; -ENOENT (there is nothing to boot, or
 * what is booted is no Linux) or -errno, with a line in err that begins with what is wrong.
 */
int boot_find(const struct boot_disk *disk, struct boot_entry *e, char *err, size_t errlen);

#endif
