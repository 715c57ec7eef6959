// SPDX-License-Identifier: GPL-2.0-or-later
/* disk.c - what is asked of a disk; see local.h. */
#include "frontend/image/boot/local.h"

#include <errno.h>
#include <string.h>

static int boot_no_path(const struct boot_disk *disk, const struct boot_file *f)
{
	return *f->path == '/' && f->volume < disk->nr_volumes ? 0 : -ENOENT;
}

int64_t boot_size(const struct boot_disk *disk, const struct boot_file *f)
{
	if (boot_no_path(disk, f))
		return -ENOENT;
	return disk->ops->size(disk->arg, f->volume, f->path);
}

int boot_read(const struct boot_disk *disk, const struct boot_file *f, struct text *to)
{
	int ret = boot_no_path(disk, f);

	if (!ret)
		ret = disk->ops->read(disk->arg, f->volume, f->path, BOOT_CONFIG_MAX, to);
	if (!ret) {
		text_putc(to, '\0');
		ret = to->failed ? -ENOMEM : 0;
	}
	if (!ret)
		to->len--;
	return ret;
}

static bool ends_in(const char *name, size_t len, const char *ending)
{
	size_t n = strlen(ending);

	return len >= n && !memcmp(name + len - n, ending, n);
}

int boot_list(const struct boot_disk *disk, const struct boot_file *folder, const char *ending,
	      struct text *to)
{
	struct text all = {0};
	int ret = boot_no_path(disk, folder);

	if (!ret)
		ret = disk->ops->list(disk->arg, folder->volume, folder->path, &all);
	for (size_t at = 0, len; !ret && at < all.len; at += len + 1) {
		const char *name = all.buf + at, *end = memchr(name, '\n', all.len - at);

		len = end ? (size_t)(end - name) : all.len - at;
		if (!len || memchr(name, '\0', len) || !ends_in(name, len, ending))
			continue;
		text_add(to, name, len);
		text_putc(to, '\0');
	}
	if (!ret && (all.failed || to->failed))
		ret = -ENOMEM;
	text_free(&all);
	return ret == -ENOENT ? 0 : ret;
}

const char *boot_next(const struct text *names, const char *name)
{
	const char *next = *name ? name + strlen(name) + 1 : names->buf;

	return names->len && next < names->buf + names->len ? next : NULL;
}
