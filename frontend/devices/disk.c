// SPDX-License-Identifier: GPL-2.0-or-later
/* disk.c - an image, and the words of --disk. */
#include "frontend/devices/local.h"
#include "frontend/devices/words.h"
#include "frontend/image/image.h"

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
	d->machine.ndisk++;
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return 0;
	return devices_wrong(-EINVAL, err, errlen, "%s: a disk is a file or a block device", path);
}

static int disk_is(struct devices *d, const char *format)
{
	size_t i = d->machine.ndisk - 1;

	free(d->format[i]);
	d->disk[i].format = d->format[i] = strdup(format);
	return d->format[i] ? 0 : -ENOMEM;
}

/*
 * A file by what is in it; what a block device has in it is its guests' alone to say. One that
 * names other files would give these to its guest, whoever has written it: only who knows it can
 * want that.
 */
static int disk_look(struct devices *d, const struct cancel *cancel, char *err, size_t errlen)
{
	const char *path = d->path[d->machine.ndisk - 1];
	struct image_info info;
	char why[256];
	struct stat st;
	int rc = !stat(path, &st) && S_ISBLK(st.st_mode)
			 ? 1
			 : image_info(path, cancel, &info, why, sizeof(why));

	if (rc > 0)
		return disk_is(d, "raw");

	if (rc)
		return devices_wrong(rc, err, errlen, "%s: %s", path, why);
	if (info.is_encrypted)
		return devices_wrong(-EOPNOTSUPP, err, errlen,
				     "%s is encrypted: hvtrace has no key for it", path);
	if (info.has_backing || info.has_data_file)
		return devices_wrong(-EPERM, err, errlen,
				     "%s names another file, of which the guest would get what is "
				     "in it: ,format=%s behind it if that is wanted",
				     path, info.format);
	rc = image_check(path, info.format, cancel, why, sizeof(why));
	if (rc)
		return devices_wrong(rc, err, errlen,
				     "%s: %s (,format=%s behind it takes it as it is)", path, why,
				     info.format);
	return disk_is(d, info.format);
}

/* Of those behind the name. */
static int disk_word(struct devices *d, const char *word, char *err, size_t errlen)
{
	struct machine_disk *disk = &d->disk[d->machine.ndisk - 1];
	const char *format = words_value(word, "format");

	if (format && *format)
		return disk_is(d, format);
	if (!strcmp(word, "ro"))
		disk->read_only = true;
	else if (!strcmp(word, "snapshot"))
		disk->keep = false;
	else if (!strcmp(word, "write"))
		disk->keep = true;
	else
		return devices_wrong(
			-EINVAL, err, errlen,
			"a disk: \"%s\" is none of ro, snapshot, write, format=NAME (a "
			"comma of a file's name is written twice)",
			word);
	return 0;
}

int devices_disk(struct devices *d, const char *words, const struct devices_request *req, char *err,
		 size_t errlen)
{
	char *word = words_next(&words);
	int rc = word ? disk_open(d, word, err, errlen) : -ENOMEM;
	struct machine_disk *disk = rc ? NULL : &d->disk[d->machine.ndisk - 1];

	if (disk)
		disk->keep = req->opt->write;
	while (!rc && words) {
		free(word);
		word = words_next(&words);
		rc = word ? disk_word(d, word, err, errlen) : -ENOMEM;
	}
	free(word);
	if (!rc && disk->read_only)
		disk->keep = true; /* nothing is written */
	if (!rc && !disk->format)
		rc = disk_look(d, req->cancel, err, errlen);
	return rc == -ENOMEM ? devices_wrong(rc, err, errlen, "no memory") : rc;
}
