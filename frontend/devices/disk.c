// SPDX-License-Identifier: GPL-2.0-or-later
/* disk.c - an image, and the words of --disk. */
#include "frontend/devices/local.h"
#include "frontend/devices/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int disk_open(struct devices *d, const char *path, char *err, size_t errlen)
{
	size_t i = d->machine.ndisk;
	struct stat st;

	if (i == MACHINE_MAX_DISKS)
		return devices_wrong(-EINVAL, err, errlen, "--disk: more than %u disks",
				     MACHINE_MAX_DISKS);
	d->path[i] = realpath(path, NULL);
	if (!d->path[i] || stat(d->path[i], &st))
		return devices_wrong(-errno, err, errlen, "cannot open the image %s: %s", path,
				     strerror(errno));
	d->disk[i].path = d->path[i];
	d->disk[i].format = "raw";
	d->machine.ndisk++;
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return 0;
	return devices_wrong(-EINVAL, err, errlen, "%s: a disk is a file or a block device", path);
}

int devices_image(struct devices *d, const char *path, bool write, char *err, size_t errlen)
{
	int rc = disk_open(d, path, err, errlen);

	if (!rc)
		d->disk[d->machine.ndisk - 1].keep = write;
	return rc;
}

/* Takes the word. */
static int disk_word(struct devices *d, char *word, char *err, size_t errlen)
{
	size_t i = d->machine.ndisk - 1;
	struct machine_disk *disk = &d->disk[i];
	const char *format = words_value(word, "format");
	int rc = 0;

	if (!strcmp(word, "ro"))
		disk->read_only = true;
	else if (!strcmp(word, "snapshot"))
		disk->keep = false;
	else if (!strcmp(word, "write"))
		disk->keep = true;
	else if (format && *format && !d->format[i])
		disk->format = d->format[i] = strdup(format);
	else
		rc = devices_wrong(-EINVAL, err, errlen,
				   "--disk: \"%s\" is none of ro, snapshot, write, format=NAME (a "
				   "comma of a file's name is written twice)",
				   word);
	free(word);
	return rc;
}

int devices_disk(struct devices *d, const char *words, bool write, char *err, size_t errlen)
{
	char *path = words_next(&words);
	int rc;

	if (!path)
		return devices_wrong(-ENOMEM, err, errlen, "no memory");
	rc = devices_image(d, path, write, err, errlen);
	free(path);
	while (!rc && words) {
		char *word = words_next(&words);

		rc = word ? disk_word(d, word, err, errlen) : -ENOMEM;
	}
	if (!rc && d->disk[d->machine.ndisk - 1].read_only)
		d->disk[d->machine.ndisk - 1].keep = true; /* nothing is written */
	return rc;
}
